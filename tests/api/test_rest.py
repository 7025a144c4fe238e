# SPDX-License-Identifier: Apache-2.0
"""The REST API as an application sees it (A2)."""

import json
from typing import Any

import pytest
from pincite.service import Service

HFA = "What does the HFA bond mortgage say about limitation on liability?"
HFA_SOURCE = "hfa-bond-mortgage-riverside.txt"


def test_a_search_answers_in_the_contracts_shape(rest: Any, service: Service) -> None:
    answer = rest.search("knowledge", HFA, top_k=3)
    wanted = service.search("knowledge", HFA, principal="local-owner", top_k=3)
    assert {**answer, "timings_ms": {}} == {**wanted, "timings_ms": {}}
    assert answer["results"][0]["source_id"] == HFA_SOURCE
    assert "explain" not in answer


def test_explain_is_there_when_it_is_asked_for(rest: Any) -> None:
    answer = rest.search("knowledge", HFA, explain=True)
    assert [it["span_id"] for it in answer["explain"]["results"]] == [it["span_id"] for it in answer["results"]]


def test_options_reach_the_search(rest: Any) -> None:
    with_names = rest.search("knowledge", HFA)
    without = rest.search("knowledge", HFA, names=False, max_per_source=1)
    assert with_names["named"]["matched"]
    assert not without["named"]["matched"]
    sources = [it["source_id"] for it in without["results"]]
    assert len(sources) == len(set(sources))
    english = {"field": "meta.language", "operator": "==", "value": "he"}
    assert {it["meta"]["language"] for it in rest.search("knowledge", "החברה", filters=english)["results"]} == {"he"}


def test_a_required_scope_is_required(rest: Any) -> None:
    refused = rest("POST", "/search", json={"corpus": "case_documents", "query": "levy"})
    assert refused.status_code == 400
    assert "practice_area" in refused.json()["detail"]
    answer = rest.search("case_documents", "levy", scope={"practice_area": "betterment_levy"})
    assert {it["meta"]["practice_area"] for it in answer["results"]} == {"betterment_levy"}


def test_nobody_gets_no_rows_and_is_told_why(nobody: Any) -> None:
    answer = nobody.search("knowledge", HFA)
    assert answer["results"] == []
    assert not answer["named"]["matched"]
    (note,) = answer["degraded"]
    assert note["stage"] == "request"
    assert "pincite token add" in note["reason"]


def test_show_gives_the_passage_of_a_result(rest: Any, service: Service) -> None:
    first = rest.search("knowledge", HFA, top_k=1)["results"][0]
    shown = rest("GET", "/show", params={"corpus": "knowledge", "span_id": first["span_id"]})
    assert shown.json() == service.show("knowledge", first["span_id"], principal="local-owner")
    assert shown.json()["text"] == first["text"]


def test_what_is_not_there_is_not_found(rest: Any, nobody: Any) -> None:
    span = rest.search("knowledge", HFA, top_k=1)["results"][0]["span_id"]
    for who, parameters in (
        (rest, {"corpus": "knowledge", "span_id": "knowledge:none#chunk-0"}),
        (rest, {"corpus": "kb", "span_id": span}),
        (rest, {"corpus": "no_such", "span_id": span}),
        (nobody, {"corpus": "knowledge", "span_id": span}),
    ):
        response = who("GET", "/show", params=parameters)
        assert (response.status_code, response.json()["type"]) == (404, "urn:pincite:not-found")


def test_show_needs_the_scope_of_its_corpus(rest: Any) -> None:
    scope = {"practice_area": "betterment_levy"}
    span = rest.search("case_documents", "levy", scope=scope)["results"][0]["span_id"]
    parameters = {"corpus": "case_documents", "span_id": span}
    assert rest("GET", "/show", params=parameters).status_code == 404
    assert rest("GET", "/show", params={**parameters, "scope": "practice_area=building_permits"}).status_code == 404
    assert rest("GET", "/show", params={**parameters, "scope": "practice_area=betterment_levy"}).status_code == 200


def test_why_follows_a_document(rest: Any, service: Service) -> None:
    body = {"corpus": "knowledge", "query": HFA, "source": "term-sheet-kestrel-court.md"}
    answer = rest("POST", "/why", json=body).json()
    wanted = service.why("knowledge", HFA, source="term-sheet-kestrel-court.md", principal="local-owner")
    assert (answer["lost_at"], answer["reason"]) == (wanted["lost_at"], wanted["reason"])


def test_a_tool_asks_its_own_corpus(rest: Any, service: Service) -> None:
    body = {"query": "notice to neighbours", "scope": {"case_id": "BP-201"}}
    answer = rest("POST", "/tools/search_case_documents", json=body).json()
    assert {it["meta"]["case_id"] for it in answer["results"]} == {"BP-201"}
    similar = rest("POST", "/tools/find_similar_cases", json={"scope": {"case_id": "BP-201"}}).json()
    wanted = service.tool("find_similar_cases", principal="local-owner", scope={"case_id": "BP-201"})
    assert [it["span_id"] for it in similar["results"]] == [it["span_id"] for it in wanted["results"]]
    assert rest("POST", "/tools/no_such", json={"query": "x"}).status_code == 404


def test_the_corpora_say_how_they_are_asked(rest: Any) -> None:
    corpora = {it["name"]: it for it in rest("GET", "/corpora").json()["corpora"]}
    assert len(corpora) == 6
    assert corpora["case_documents"]["required_scopes"] == ["practice_area"]
    assert corpora["kb"]["tools"] == ["kb_search", "kb_status"]


def test_the_status_has_a_rerank_block(rest: Any) -> None:
    status = rest("GET", "/status").json()
    assert status["rerank"]["kb"]["enabled"] is False
    assert status["rerank"]["kb"]["reason"]
    assert status["corpora"]["knowledge"]["searchable_spans"] > 0


def test_an_audit_passes_and_is_for_who_sees_all(rest: Any, nobody: Any) -> None:
    answer = rest("GET", "/audit", params={"corpus": "kb"})
    assert answer.status_code == 200, answer.text
    assert {check["corpus"] for check in answer.json()["checks"]} >= {"kb"}
    assert nobody("GET", "/audit").status_code == 403


def test_a_pipeline_is_drawn(rest: Any) -> None:
    drawn = rest("GET", "/pipelines/knowledge.svg")
    assert drawn.headers["content-type"] == "image/svg+xml"
    assert drawn.text.startswith("<svg") or drawn.text.startswith("<?xml")
    assert rest("GET", "/pipelines/knowledge.svg", params={"kind": "indexing"}).text != drawn.text
    assert rest("GET", "/pipelines/no_such.svg").status_code == 404


def test_prometheus_is_told_what_happened(rest: Any) -> None:
    rest.search("knowledge", HFA)
    rest("GET", "/no/such/place/of/anybody")
    text = rest("GET", "/metrics").text
    assert 'pincite_http_requests_total{method="POST",route="/search",status="200"} 1.0' in text
    assert 'pincite_searches_total{corpus="knowledge",named="true",reranked="false"} 1.0' in text
    assert 'pincite_stage_seconds_count{stage="dense"} 1.0' in text
    assert 'route="other",status="404"' in text
    assert "anybody" not in text
    assert "liability" not in text


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("/search", {"corpus": "knowledge", "query": "  "}, 400, "query is empty"),
        ("/search", {"corpus": "knowledge", "query": "a\0b"}, 200, ""),
        ("/search", {"corpus": "nope", "query": "x"}, 400, "unknown corpus"),
        ("/search", {"corpus": "knowledge"}, 422, "body.query"),
        ("/search", {"corpus": "knowledge", "query": "x", "topk": 3}, 422, "body.topk"),
        ("/search", {"corpus": "knowledge", "query": "x", "top_k": "3"}, 422, "body.top_k"),
        ("/search", {"corpus": "knowledge", "query": "x", "top_k": 101}, 422, "body.top_k"),
        ("/search", {"corpus": "knowledge", "query": "x", "filters": {"a": 1}}, 400, "filter condition"),
        ("/search", {"corpus": "knowledge", "query": "x", "scope": {"nope": "1"}}, 400, "nope"),
        ("/search", {"corpus": "knowledge", "query": "y" * 100_001}, 400, "at most 100,000"),
        ("/why", {"corpus": "knowledge", "query": "x"}, 422, "body.source"),
    ],
)
def test_bad_input_is_one_clear_line(rest: Any, path: str, body: dict[str, Any], status: int, says: str) -> None:
    response = rest("POST", path, json=body)
    if response.status_code != status and body.get("query") == "a\0b":
        status = 400  # cleaned or refused, never a failure
    assert response.status_code == status, response.text
    if status != 200:
        problem = response.json()
        assert response.headers["content-type"] == "application/problem+json"
        assert problem["status"] == status
        assert says in problem["detail"]
        assert "\n" not in problem["detail"]


@pytest.mark.parametrize(
    "raw",
    [
        b'{"corpus": "knowledge", "query": "\\ud800"}',
        b'{"corpus": "knowledge", "query": "x", "\\ud800": 1}',
        b'{"corpus": "\\ud800", "query": "x"}',
        b"\xff\xfe",
        b"{",
        b"[" * 100_000,
        b'{"corpus": "knowledge", "query": "x", "filters": ' + b'{"a":' * 5000 + b"1" + b"}" * 5001,
        b'{"corpus": "knowledge", "query": "x", "top_k": ' + b"9" * 5000 + b"}",
        b'{"corpus": "knowledge", "query": "x", "filters": {"field": "meta.a", "operator": ">", "value": NaN}}',
    ],
)
def test_no_bytes_are_too_odd_for_an_honest_answer(rest: Any, raw: bytes) -> None:
    response = rest("POST", "/search", content=raw, headers={"Content-Type": "application/json"})
    assert 400 <= response.status_code < 500 or response.json()["results"] is not None, response.text
    assert response.status_code < 500


def test_the_openapi_document_has_examples_and_problems(nobody: Any) -> None:
    document = nobody("GET", "/openapi.json").json()
    search = document["paths"]["/search"]["post"]
    assert "named instrument" in search["requestBody"]["content"]["application/json"]["examples"]
    assert search["responses"]["429"]["content"]["application/problem+json"]["schema"]["$ref"].endswith("ProblemModel")
    assert "ProblemModel" in document["components"]["schemas"]
    assert json.dumps(document)


def test_every_example_of_the_document_is_a_good_request(rest: Any, nobody: Any) -> None:
    document = nobody("GET", "/openapi.json").json()
    for path in ("/search", "/why"):
        examples = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["examples"]
        for name, example in examples.items():
            response = rest("POST", path, json=example["value"])
            assert response.status_code == 200, (name, response.text)
