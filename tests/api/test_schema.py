# SPDX-License-Identifier: Apache-2.0
"""
Requests made up from the OpenAPI document: whatever is sent, the answer is no failure of the server's, and as declared.

``SCHEMA_EXAMPLES=1000 SCHEMA_SEED=7 pytest tests/api/test_schema.py`` tries more, and others.
"""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from pincite.api.app import create_app
from pincite.pipelines.corpora import load_corpora
from pincite.service import Service

schemathesis = pytest.importorskip("schemathesis")
from schemathesis.specs.openapi import checks  # noqa: E402

EXAMPLES = int(os.environ.get("SCHEMA_EXAMPLES", "20"))
SEED = os.environ.get("SCHEMA_SEED")
WITH_PARAMETERS = ("search", "tool", "why", "show", "source", "source_page", "drawing", "audit")
WITHOUT = ("corpora", "status", "metrics", "health")
DECLARED = [checks.status_code_conformance, checks.content_type_conformance, checks.response_schema_conformance]


@pytest.fixture(scope="module")
def spans(service: Service) -> list[str]:
    """Ids of spans, one of a page, that an answer may have given."""
    asked = (("knowledge", "boiler of Thornbury Place"), ("kb", "fees"), ("internal_decisions", "היטל"))
    found = [service.search(corpus, query, principal="local-owner")["results"][0] for corpus, query in asked]
    return [it["span_id"] for it in found]


@pytest.fixture(scope="module")
def operations(service: Service, spans: list[str]) -> Callable[[str], dict[str, Any]]:
    """``operations(mode)``: those of the document by their ids; mode ``known`` asks only for what is there."""

    def of(mode: str) -> dict[str, Any]:
        document = create_app(service).openapi()
        if mode == "known":
            _ask_for_what_is_there(document, spans)
        schema = schemathesis.openapi.from_dict(document)
        found = [result.ok() for result in schema.get_all_operations()]
        return {operation.definition.raw["operationId"]: operation for operation in found}

    return of


def _ask_for_what_is_there(document: dict[str, Any], spans: list[str]) -> None:
    """Made-up names are mostly no corpus's: with the real ones, made-up values come further inside."""
    known = {
        "corpus": list(load_corpora().corpora),
        "tool": list(load_corpora().tools),
        "span_id": spans,
        "source": [span.split(":", 1)[1].split("#")[0] for span in spans],
        "span": spans,
    }
    scope = {"practice_area": {"enum": ["betterment_levy"]}, "case_id": {"enum": ["BL-101"]}}
    for name, schema in _named(document):
        if name in known:
            schema.clear()
            schema |= {"type": "string", "enum": known[name]}
        elif name == "scope":
            schema.clear()
            schema |= {"type": "object", "properties": scope, "additionalProperties": False}


def _named(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The parameters of every path, but for ``k=v`` texts, and the fields of every body."""
    for path, methods in document["paths"].items():
        for operation in methods.values():
            if path != "/audit":  # asks for a list of corpora
                yield from (
                    (it["name"], it["schema"]) for it in operation.get("parameters", ()) if it["name"] != "scope"
                )
    for name, schema in document["components"]["schemas"].items():
        if name.endswith("Body"):
            yield from schema["properties"].items()


@pytest.mark.parametrize(
    ("operation", "mode"),
    [
        *((name, "positive") for name in (*WITH_PARAMETERS, *WITHOUT)),
        *(
            (name, mode)
            for name in WITH_PARAMETERS
            for mode in ("known", "negative")
            if (name, mode) != ("audit", "known")
        ),
    ],
)
def test_no_request_makes_the_server_fail(
    rest: Any, operations: Callable[[str], dict[str, Any]], operation: str, mode: str
) -> None:
    wanted = schemathesis.GenerationMode.NEGATIVE if mode == "negative" else schemathesis.GenerationMode.POSITIVE
    cases = operations(mode)[operation].as_strategy(generation_mode=wanted)
    if operation == "audit":  # one of everything takes seconds: ask for corpora, which are not there
        cases = cases.filter(lambda case: case.query.get("corpus"))

    @given(case=cases)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=SEED is None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    def every(case: Any) -> None:
        check(rest, case)

    (seed(int(SEED))(every) if SEED else every)()


def check(rest: Any, case: Any) -> None:
    sent = case.as_transport_kwargs(base_url="http://localhost")
    given = {key: sent[key] for key in ("params", "headers", "json") if sent.get(key) is not None}
    if isinstance(sent.get("data"), bytes | str):
        given["content"] = sent["data"]
    response = rest(sent["method"], sent["url"], **given)
    assert response.status_code < 500, (sent, response.text)
    if response.status_code >= 400:
        assert response.headers["content-type"] == "application/problem+json", (sent, response.text)
        assert response.json()["status"] == response.status_code
    case.validate_response(response, checks=DECLARED)


def test_every_operation_is_tried(operations: Callable[[str], dict[str, Any]]) -> None:
    assert set(operations("positive")) == {*WITH_PARAMETERS, *WITHOUT}
