# SPDX-License-Identifier: Apache-2.0
"""Reserved keys of the contract are checked; the others are kept."""

import datetime
from typing import Any

import pytest
from haystack_integrations.components.pincite.reading.source_meta import checked_meta
from haystack_integrations.document_stores.pincite.errors import BadInputError


def test_reserved_keys_take_their_stored_form() -> None:
    given = {"groups": "a, b,a", "tags": ["x", 3], "date": datetime.date(2024, 5, 6), "case_number": 12, "title": None}
    assert checked_meta(given, "here") == {
        "groups": ["a", "b"],
        "tags": ["x", "3"],
        "date": "2024-05-06",
        "case_number": "12",
    }


def test_other_keys_are_kept_as_json_can_hold_them() -> None:
    given = {"n": 1.5, "when": datetime.date(2024, 5, 6), "deep": {"a": [1, {2}]}, "odd": "a\0b", "nan": float("nan")}
    assert checked_meta(given, "here") == {
        "n": 1.5,
        "when": "2024-05-06",
        "deep": {"a": [1, ["2"]]},
        "odd": "a\ufffdb",
        "nan": "nan",
    }


@pytest.mark.parametrize(
    ("meta", "message"),
    [
        ({"status": "final"}, "here: status is 'final'; it must be one of active, draft, superseded, withdrawn"),
        ({"date": "06/05/2024"}, "here: date is '06/05/2024'; it must be YYYY-MM-DD"),
        ({"date": "2024-13"}, "here: date is '2024-13'"),
        ({"groups": "*"}, "here: groups holds '\\*'"),
        ({"groups": {"a": 1}}, "here: groups is"),
        ({"title": ["a"]}, "here: title is"),
        ({"_path": "x"}, "here: metadata key '_path'"),
        ({1: "x"}, "here: metadata key 1"),
    ],
)
def test_what_the_contract_does_not_allow(meta: dict[Any, Any], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        checked_meta(meta, "here")
