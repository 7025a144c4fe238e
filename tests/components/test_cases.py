# SPDX-License-Identifier: Apache-2.0
"""From a case to cases like it: what is asked, and each case once."""

from typing import Any

import pytest
from haystack import Document
from haystack_integrations.components.pincite.case_diversifier import CaseDiversifier
from haystack_integrations.components.pincite.case_request import CaseRequest
from haystack_integrations.document_stores.pincite.errors import BadInputError

REQUEST = CaseRequest(scopes=["practice_area"], required_scopes=["practice_area"])
AREA = {"field": "meta.practice_area", "operator": "==", "value": "levy"}


def case(operator: str, value: str | None) -> dict[str, Any]:
    return {"field": "meta.case_id", "operator": operator, "value": value}


def test_the_others_are_neither_the_case_nor_without_one() -> None:
    asked = REQUEST.run(" A-1 ", scope={"practice_area": "levy"}, groups=["x"])
    assert asked["own"] == {"operator": "AND", "conditions": [AREA, case("==", asked["case_id"])]}
    assert asked["others"] == {
        "operator": "AND",
        "conditions": [AREA, case("!=", asked["case_id"]), case("!=", None)],
    }
    groups = ["x", "scope:practice_area=levy"]
    assert (asked["groups"], asked["query"], asked["top_k"]) == (groups, "", 10)


def test_a_filter_narrows_the_others_only() -> None:
    wanted = {"field": "meta.court", "operator": "==", "value": "Haifa"}
    asked = REQUEST.run("A-1", scope={"practice_area": "levy"}, filters=wanted)
    assert wanted in asked["others"]["conditions"]
    assert wanted not in asked["own"]["conditions"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"case_id": " "}, "case_id is ' ': expected the case to start from"),
        ({"case_id": "A"}, "scope 'practice_area' is missing: this corpus is only searched within one practice_area"),
        ({"case_id": "A", "scope": {"practice_area": "a", "court": "b"}}, "scope 'court' is unknown in this corpus"),
        ({"case_id": "A", "scope": {"practice_area": "a"}, "top_k": 0}, "top_k is 0: expected a whole number"),
    ],
)
def test_bad_requests(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInputError) as raised:
        REQUEST.run(**arguments)
    assert str(raised.value).startswith(message)


def test_each_case_once_in_the_order_of_its_best() -> None:
    documents = [
        Document(id=f"{number}", content="x", meta={"source_id": f"s{number}", "case_id": case_id})
        for number, case_id in enumerate(["a", "b", "a", None, "b", "c"])
    ]
    found = CaseDiversifier().run(documents, top_k=3)
    assert [document.id for document in found["documents"]] == ["0", "1", "3"]
    assert [dropped["id"] for dropped in found["dropped"]] == ["2", "4"]
    assert [d.id for d in CaseDiversifier(2).run(documents)["documents"]] == ["0", "1", "2", "3", "4", "5"]
