# SPDX-License-Identifier: Apache-2.0
"""Tags of notes: from front matter, sidecars and folders, and what they mean (A6)."""

import asyncio
import json
from collections.abc import Iterator

import pytest
from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.errors import BadInputError, DatabaseUnavailableError
from pincite.cli import run
from pincite.service import Service

NOTES = {
    "office/keys.md": "---\ntags: [security]\n---\n# Keys\n\nThe spare keys hang behind the archive room's door.\n",
    "office/rooms.json": json.dumps({"rooms": [{"name": "archive", "keys": 2}, {"name": "hall", "keys": 1}]}),
    "law/limits.md": "# Limits\n\nAn appeal is filed within forty-five days of the handing over of the keys.\n",
    "plain.md": "# Plain\n\nA note without a folder, on keys that were lost and never found again.\n",
    "secret/pay.md": "---\ngroups: [partners]\n---\n# Pay\n\nThe keys to the pay sheets lie in the partners' safe.\n",
}


@pytest.fixture(scope="module")
def service(own_home: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("notes")
    for name, text in NOTES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "law" / "limits.md.meta.yaml").write_text("tags: [deadline, Law]\n")
    service = Service()
    report = service.ingest("kb", [folder])
    assert (report.added, report.failed) == (5, [])
    again = service.ingest("kb", [folder])
    assert (again.unchanged, again.added, again.updated) == (5, 0, 0)
    yield service


def found_tags(service: Service, query: str = "keys") -> dict[str, list[str]]:
    response = service.search("kb", query, principal="local-owner")
    return {result["source_id"]: result["meta"].get("tags", []) for result in response["results"]}


def test_tags_come_from_front_matter_sidecars_and_folders(service: Service) -> None:
    assert found_tags(service) == {
        "office/keys.md": ["security", "office"],
        "office/rooms.json": ["office"],
        "law/limits.md": ["deadline", "Law"],
        "plain.md": [],
        "secret/pay.md": ["secret"],
    }
    assert next(iter(found_tags(service, "deadline"))) == "law/limits.md"  # found by its tag


def test_a_search_may_ask_for_a_tag(service: Service) -> None:
    condition = {"field": "meta.tags", "operator": "==", "value": "office"}
    response = service.search("kb", "keys", principal="local-owner", filters=condition)
    assert {result["source_id"] for result in response["results"]} == {"office/keys.md", "office/rooms.json"}
    either = {"field": "meta.tags", "operator": "in", "value": ["Law", "security"]}
    response = service.search("kb", "keys", principal="local-owner", filters=either)
    assert {result["source_id"] for result in response["results"]} == {"office/keys.md", "law/limits.md"}


def test_results_say_what_their_tags_mean(service: Service) -> None:
    service.describe_tag("kb", "office", "How the office runs")
    service.describe_tag("kb", "unused", "On no note")
    expected = {"office": "How the office runs"}
    response = service.search("kb", "spare keys", principal="local-owner")
    assert response["tag_contexts"] == expected
    asked = asyncio.run(service.search_async("kb", "spare keys", principal="local-owner"))
    assert asked["tag_contexts"] == expected
    assert service.tool("kb_search", "spare keys", principal="local-owner")["tag_contexts"] == expected
    explained = service.search("kb", "spare keys", principal="local-owner", explain=True)
    assert explained["tag_contexts"] == expected
    service.describe_tag("kb", "office", "Keys, rooms, coffee")
    assert (
        service.search("kb", "spare keys", principal="local-owner")["tag_contexts"]["office"] == "Keys, rooms, coffee"
    )
    service.describe_tag("kb", "office", None)
    assert service.search("kb", "spare keys", principal="local-owner")["tag_contexts"] == {}


def test_a_description_is_told_only_with_a_note_that_may_be_seen(service: Service) -> None:
    service.describe_tag("kb", "secret", "What only partners read")
    assert service.search("kb", "pay sheets", principal="local-owner")["tag_contexts"]["secret"]
    assert service.search("kb", "pay sheets")["tag_contexts"] == {}
    filtered = service.search(
        "kb",
        "pay sheets",
        principal="local-owner",
        filters={"field": "meta.title", "operator": "==", "value": "Keys"},
    )
    assert filtered["results"]
    assert "secret" not in filtered["tag_contexts"]
    service.describe_tag("kb", "secret", None)


def test_a_search_goes_on_without_descriptions(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    from pincite import tags as module

    def fetch(*_: object, **__: object) -> None:
        raise DatabaseUnavailableError("corpus 'kb': the query ran past its limit of 1000 ms")

    class Broken:
        fetch_async = fetch

    Broken.fetch = fetch  # type: ignore[attr-defined]
    response = service.search("kb", "spare keys", principal="local-owner")
    told = module.with_tag_contexts(Broken(), response, ["*"])  # type: ignore[arg-type]
    assert told["degraded"] == [{"stage": "tags", "reason": "corpus 'kb': the query ran past its limit of 1000 ms"}]
    assert told["results"] == response["results"]


def test_the_list_of_tags(service: Service) -> None:
    service.describe_tag("kb", "unused", "On no note")
    assert [(tag["tag"], tag["sources"], tag["description"]) for tag in service.tags("kb")] == [
        ("Law", 1, None),
        ("deadline", 1, None),
        ("office", 2, None),
        ("secret", 1, None),
        ("security", 1, None),
        ("unused", 0, "On no note"),
    ]


@pytest.mark.parametrize(
    ("tag", "description", "message"),
    [
        ("", "x", "the tag is ''; it must be one line of 1 to 100 characters"),
        ("a\nb", "x", "the tag is 'a\\\\nb'"),
        ("a", " ", "the description is ' '; it must be one line of 1 to 300 characters"),
        ("a", "two\nlines", "the description is 'two"),
        ("a", "x" * 301, "the description is 'xxx"),
    ],
)
def test_what_is_no_description(service: Service, tag: str, description: str, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        service.describe_tag("kb", tag, description)


def test_a_tag_or_corpus_that_is_not_there(service: Service) -> None:
    with pytest.raises(BadInputError, match="no source of 'kb' carries the tag 'nope', and it has no description"):
        service.tags("kb", "nope")
    with pytest.raises(BadInputError, match="unknown corpus 'nope'"):
        service.describe_tag("nope", "a", "b")


def test_the_command(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tag-describe", "kb", "security", "Locks, alarms, badges"]) == 0
    assert capsys.readouterr().out == "security (1 source): Locks, alarms, badges\n"
    assert run(["tag-describe", "kb", "security"]) == 0
    assert capsys.readouterr().out == "security (1 source): Locks, alarms, badges\n"
    assert run(["tag-describe", "kb", "--json"]) == 0
    assert {"tag": "security", "sources": 1, "description": "Locks, alarms, badges"} in json.loads(
        capsys.readouterr().out
    )
    assert run(["tag-describe", "kb", "security", "--remove"]) == 0
    assert capsys.readouterr().out == "security (1 source): no description\n"
    assert run(["tag-describe", "kb", "--remove"]) == 2
    assert "--remove takes a TAG and no DESCRIPTION" in capsys.readouterr().err
