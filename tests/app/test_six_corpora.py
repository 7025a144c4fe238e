# SPDX-License-Identifier: Apache-2.0
"""The corpora beside ``knowledge`` with their demo collections: each by itself, through its tools (C1, C3, C5, C6)."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from haystack_integrations.document_stores.pincite.errors import BadInputError
from pincite.cli import run
from pincite.pipelines.corpora import load_corpora
from pincite.response import SearchResponse
from pincite.service import Service

DEMO = Path(__file__).resolve().parents[2] / "app" / "demo" / "corpora"
CORPORA = ("case_documents", "precedent_library", "internal_decisions", "attached_citations", "kb")
OWNER = {"principal": "local-owner"}
LEVY, PERMITS = {"practice_area": "betterment_levy"}, {"practice_area": "building_permits"}
SHARED_QUOTE = "A neighbour who was not served may object within thirty days of the day on which he learned of the"


@pytest.fixture(scope="module")
def service(home: Path) -> Iterator[Service]:
    """All five demo collections, brought in as a user would."""

    service = Service()
    for corpus in CORPORA:
        report = service.ingest(corpus, [DEMO / corpus])
        assert (report.failed, report.notes) == ([], [])
    yield service


def asked(service: Service, tool: str, query: str = "", **options: Any) -> SearchResponse:
    return service.tool(tool, query, **{**OWNER, **options})


def column(response: SearchResponse, key: str) -> list[Any]:
    return [result["meta"].get(key) for result in response["results"]]


def sources(response: SearchResponse) -> list[str]:
    return [result["source_id"] for result in response["results"]]


def refusal(service: Service, tool: str, query: str = "", **options: Any) -> str:
    with pytest.raises(BadInputError) as raised:
        asked(service, tool, query, **options)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_the_collections_are_whole(service: Service) -> None:
    rules = [rule for file in DEMO.rglob("*.rules.yaml") for rule in yaml.safe_load(file.read_text(encoding="utf-8"))]
    assert len([rule for rule in rules if rule["review_status"] == "approved"]) >= 20
    facts = service.status()["corpora"]
    for corpus in CORPORA:
        files = [path for path in (DEMO / corpus).rglob("*.*") if not path.name.endswith((".meta.yaml", ".rules.yaml"))]
        assert 8 <= len(files) == facts[corpus]["searchable_sources"]


def test_c6_the_same_rule_in_two_corpora_stays_in_each(service: Service) -> None:
    found = {}
    for corpus in ("precedent_library", "internal_decisions"):
        for query in (SHARED_QUOTE, "object within thirty days of learning of the application", "neighbour not served"):
            response = asked(service, f"search_{corpus}", query, top_k=100, max_per_source=100)
            assert {result["corpus"] for result in response["results"]} == {corpus}
            assert all(result["span_id"].startswith(f"{corpus}:") for result in response["results"])
            rules = [result for result in response["results"] if result["kind"] == "rule"]
            assert response["results"][0] == rules[0]
            found[corpus] = rules[0]
    one, two = found.values()
    assert one["meta"]["statement"] == two["meta"]["statement"]
    assert " ".join(one["text"].split()) == " ".join(two["text"].split())
    assert one["span_id"] != two["span_id"]
    # By id, too: each corpus knows its own.
    for corpus, other in (("precedent_library", two), ("internal_decisions", one)):
        with pytest.raises(BadInputError, match="no span"):
            service.show(corpus, other["span_id"], **OWNER)
    assert service.show("precedent_library", one["span_id"], **OWNER)["text"] == one["text"]


def test_a_rule_can_be_read_again_at_its_quote(service: Service) -> None:
    response = asked(service, "search_precedent_library", "a hope that already stood in the price")
    rule = next(result for result in response["results"] if result["kind"] == "rule")
    assert rule["locator"]["quote"] == rule["text"]
    passage = service.show("precedent_library", rule["span_id"], **OWNER)
    assert passage["locator"] == rule["locator"]
    assert passage["context"]["text"] == rule["text"]
    assert passage["meta"]["statement"] == rule["meta"]["statement"]
    assert len(passage["context"]["before"]) > 200


@pytest.mark.parametrize("corpus", ["precedent_library", "internal_decisions"])
def test_rules_without_approval_are_in_no_result(service: Service, corpus: str) -> None:
    entries = [
        rule
        for file in (DEMO / corpus).rglob("*.rules.yaml")
        for rule in yaml.safe_load(file.read_text(encoding="utf-8"))
        if rule["review_status"] != "approved"
    ]
    assert entries
    for rule in entries:
        response = asked(service, f"search_{corpus}", rule["statement"], top_k=100, max_per_source=100)
        assert rule["statement"] not in column(response, "statement")


def test_the_committees_hebrew_decisions(service: Service) -> None:
    response = asked(service, "search_internal_decisions", "לכדאיות הכלכלית ובטעמים התכנוניים")
    assert response["results"][0]["source_id"].startswith("ערר-1310")
    response = asked(service, "search_internal_decisions", "כדאיות כלכלית אינה טעם תכנוני")
    assert response["results"][0]["kind"] == "rule"
    assert response["results"][0]["meta"]["case_number"] == "ערר 1310/23"


def test_decisions_of_one_practice_area(service: Service) -> None:
    response = asked(service, "search_decisions", "expectation in the price, light, relief", scope=LEVY, top_k=100)
    assert set(column(response, "practice_area")) == {"betterment_levy"}
    assert set(column(response, "document_type")) == {"decision"}
    assert {None, "BL-101", "BL-102"} <= set(column(response, "case_id"))
    permits = asked(service, "search_decisions", "expectation in the price, light, relief", scope=PERMITS, top_k=100)
    assert set(column(permits, "practice_area")) == {"building_permits"}


def test_documents_of_one_case_never_the_style_corpus(service: Service) -> None:
    query = "how to state the question, weighing light against floors, warehouses along a port"
    for case in ("BL-101", "BP-201"):
        response = asked(service, "search_case_documents", query, scope={"case_id": case}, top_k=100)
        assert set(column(response, "case_id")) == {case}
        assert len(set(sources(response))) == 3
    # A filter cannot widen what the scope narrows.
    other = {"field": "meta.case_id", "operator": "==", "value": None}
    assert asked(service, "search_case_documents", query, scope={"case_id": "BL-101"}, filters=other)["results"] == []


@pytest.mark.parametrize(
    ("case", "alike"), [("BL-101", "BL-102"), ("BL-102", "BL-101"), ("BP-201", "BP-202"), ("BP-202", "BP-201")]
)
def test_similar_cases(service: Service, case: str, alike: str) -> None:
    response = asked(service, "find_similar_cases", scope={"case_id": case})
    found = column(response, "case_id")
    assert found[0] == alike
    assert case not in found
    assert None not in found
    assert len(set(found)) == len(found)
    assert set(column(response, "practice_area")) == {"betterment_levy" if case < "BP" else "building_permits"}
    assert asked(service, "find_similar_cases", scope={"case_id": case}, top_k=1)["results"] == response["results"][:1]


def test_similar_cases_see_what_the_asker_sees(service: Service) -> None:
    with pytest.raises(BadInputError, match=r"^no case 'BL-101' in corpus 'case_documents'$"):
        service.tool("find_similar_cases", scope={"case_id": "BL-101"})
    with pytest.raises(BadInputError, match=r"^no case 'BL-101' in corpus 'case_documents' in this scope$"):
        asked(service, "find_similar_cases", scope={"case_id": "BL-101", **PERMITS})
    assert service.tool("search_decisions", "levy", scope=LEVY)["results"] == []


@pytest.mark.parametrize(
    ("tool", "options", "message"),
    [
        ("search_decisions", {}, "scope 'practice_area' is missing: search_decisions only searches within one"),
        ("search_case_documents", {}, "scope 'case_id' is missing: search_case_documents only searches within one"),
        ("search_case_documents", {"scope": PERMITS}, "scope 'case_id' is missing"),
        ("search_case_documents", {"scope": {"case_id": "X-1"}}, "no case 'X-1' in corpus 'case_documents'"),
        ("search_decisions", {"scope": {**LEVY, "court": "x"}}, "scope 'court' is unknown in this corpus"),
        ("search_decisions", {"scope": {"practice_area": " "}}, "scope 'practice_area' is ' ': expected"),
        ("find_similar_cases", {}, "scope 'case_id' is missing"),
        ("find_similar_cases", {"scope": {"case_id": "BL-101"}, "explain": True}, "option 'explain' is not known"),
        ("search", {}, "unknown tool 'search'; tools: search_knowledge, "),
        ("kb_status", {}, "tool 'kb_status' searches nothing: ask for its status"),
    ],
)
def test_refused_calls(service: Service, tool: str, options: dict[str, Any], message: str) -> None:
    assert refusal(service, tool, "relief", **options).startswith(message)


def test_no_search_of_case_documents_without_its_practice_area(service: Service) -> None:
    line = "^scope 'practice_area' is missing: this corpus is only searched within one practice_area$"
    with pytest.raises(BadInputError, match=line):
        service.search("case_documents", "relief", **OWNER)
    with pytest.raises(BadInputError, match=line):
        asyncio.run(service.search_async("case_documents", "relief", scope={"case_id": "BL-101"}, **OWNER))
    span = asked(service, "search_decisions", "relief", scope=PERMITS)["results"][0]["span_id"]
    with pytest.raises(BadInputError, match=line):
        service.show("case_documents", span, **OWNER)
    with pytest.raises(BadInputError, match="no span"):
        service.show("case_documents", span, scope=LEVY, **OWNER)
    assert service.show("case_documents", span, scope=PERMITS, **OWNER)["span_id"] == span


def test_quotes_attached_to_cases_are_no_case_law(service: Service) -> None:
    response = asked(service, "precedent_search_library", "a separate entrance and the exemption", top_k=100)
    assert {result["corpus"] for result in response["results"]} == {"attached_citations"}
    assert response["results"][0]["meta"]["case_id"] == "BL-103"
    one = asked(service, "precedent_search_library", "a hope in the price", scope={"case_id": "BL-101"})
    assert set(column(one, "case_id")) == {"BL-101"}


def test_notes_may_be_short_and_data_is_text(service: Service) -> None:
    assert sources(asked(service, "kb_search", "descale the coffee machine"))[0] == "office/coffee.md"
    response = asked(service, "kb_search", "which room has a projector")
    assert sources(response)[0] == "office/rooms.json"
    assert response["results"][0]["meta"]["tags"] == ["office", "data"]
    tagged = {"field": "meta.tags", "operator": "array_contains", "value": ["valuation"]}
    found = asked(service, "kb_search", "who pays the deciding valuer", filters=tagged)
    assert set(sources(found)) == {"procedures/deciding-valuers.md", "law/terms.md"}
    assert service.tool_status("kb_status")["rerank"]["enabled"] is False


@pytest.mark.parametrize(
    ("tool", "query", "scope"),
    [
        ("search_decisions", "expectation in the price", LEVY),
        ("search_case_documents", "the stay", {"case_id": "BL-101"}),
        ("find_similar_cases", "", {"case_id": "BL-101"}),
        ("search_internal_decisions", "הקלה", None),
    ],
)
def test_sync_and_async_give_the_same(service: Service, tool: str, query: str, scope: dict[str, str] | None) -> None:
    one = asked(service, tool, query, scope=scope)
    two = asyncio.run(service.tool_async(tool, query, scope=scope, **OWNER))
    assert {**one, "timings_ms": {}} == {**two, "timings_ms": {}}
    assert one["results"]


def test_every_tool_reaches_its_corpus_only(service: Service) -> None:
    scopes = {"case_documents": {"case_id": "BL-101", **LEVY}}
    for tool in load_corpora().tools.values():
        if tool.action == "status" or tool.corpus == "knowledge":
            continue
        response = asked(service, tool.name, "levy notice relief valuer", scope=scopes.get(tool.corpus), top_k=100)
        assert {result["corpus"] for result in response["results"]} == {tool.corpus}


def test_tools_from_the_command_line(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tool", "find_similar_cases", "--scope", "case_id=BL-101", "--json"]) == 0
    assert yaml.safe_load(capsys.readouterr().out)["results"][0]["meta"]["case_id"] == "BL-102"
    assert run(["search", "case_documents", "light", "--scope", "practice_area=building_permits"]) == 0
    assert "results" in capsys.readouterr().out
    assert run(["search", "case_documents", "light"]) == 2
    assert "scope 'practice_area' is missing" in capsys.readouterr().err
    assert run(["tool", "search_precedent_library", "planning reason for a relief", "--top-k", "1"]) == 0
    assert "not a planning reason for a relief" in capsys.readouterr().out.replace("«", "").replace("»", "")
    assert run(["tool", "kb_status"]) == 0
    assert yaml.safe_load(capsys.readouterr().out)["corpus"] == "kb"


def test_rules_go_where_rules_are_held(service: Service, tmp_path: Path) -> None:
    (tmp_path / "n.md").write_text("# A note\n\n" + "The clerk keeps the key of the archive room. " * 3)
    (tmp_path / "n.md.rules.yaml").write_text("- {statement: Keys, quote: The clerk keeps the key}\n")
    report = service.ingest("kb", [tmp_path], as_name="more")
    assert [note.reason for note in report.notes] == ["left out: this corpus holds no rules"]
    (tmp_path / "n.md.rules.yaml").write_text("- {statement: Keys}\n")
    report = service.ingest("precedent_library", [tmp_path], as_name="more")
    assert [failure.reason for failure in report.failed] == [
        "sidecar n.md.rules.yaml: rule 1: quote is None; it must be text"
    ]
    (tmp_path / "n.md.rules.yaml").write_text("- {statement: Keys, quote: The clerk lost the key}\n")
    report = service.ingest("precedent_library", [tmp_path], as_name="more")
    assert (report.added, len(report.notes)) == (1, 1)
    assert report.notes[0].reason.startswith("rule 1 is not searchable: its quote is not in the source")
    (tmp_path / "n.md.rules.yaml").write_text("- {statement: Keys, quote: The clerk keeps the key}\n")
    report = service.ingest("precedent_library", [tmp_path], as_name="more")
    assert (report.updated, report.notes) == (1, [])
    (tmp_path / "n.md").unlink()
    (tmp_path / "n.md.rules.yaml").unlink()
    assert [service.ingest(corpus, [tmp_path], as_name="more").removed for corpus in ("kb", "precedent_library")] == [
        1,
        1,
    ]
