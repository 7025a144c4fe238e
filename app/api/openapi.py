# SPDX-License-Identifier: Apache-2.0
"""What the OpenAPI document says besides the shapes: examples of requests, and the errors."""

from typing import Any

from pincite.api.models import ProblemModel
from pincite.api.problems import MEDIA_TYPE
from pincite.api.requests import QUESTION

_BEARER = "bearer"


def _errors(*wanted: tuple[int, str]) -> dict[int | str, dict[str, Any]]:
    schema = {"$ref": f"#/components/schemas/{ProblemModel.__name__}"}
    return {status: {"description": text, "content": {MEDIA_TYPE: {"schema": schema}}} for status, text in wanted}


PROBLEMS = _errors(
    (400, "Bad input: the detail names the value and what would be right."),
    (401, "No token, or one that is unknown or revoked."),
    (403, "The token does not open this corpus."),
    (404, "There is no such thing, or this principal may not see it."),
    (408, "The body did not arrive in time."),
    (413, "The body is too large."),
    (421, "The server does not answer to this host name."),
    (422, "A field is missing, unknown or of the wrong type."),
    (429, "Busy: come again after Retry-After seconds."),
    (500, "Something went wrong inside."),
    (503, "The database is not reachable, or not set up."),
    (504, "No answer in time."),
)
"""Responses that every endpoint may give."""

SEARCH_EXAMPLES: dict[str, Any] = {
    "named instrument": {"value": {"corpus": "knowledge", "query": QUESTION}},
    "own matter first": {
        "value": {"corpus": "knowledge", "query": "cap on liability", "matter": "M-1042", "top_k": 5, "rerank": False}
    },
    "required scope": {
        "value": {
            "corpus": "case_documents",
            "query": "late filing excused",
            "scope": {"practice_area": "planning"},
            "filters": {"field": "meta.language", "operator": "==", "value": "en"},
        }
    },
    "explained": {"value": {"corpus": "knowledge", "query": QUESTION, "explain": True}},
}

WHY_EXAMPLES: dict[str, Any] = {
    "lost document": {
        "value": {"corpus": "knowledge", "query": QUESTION, "source": "environmental-indemnity-riverside.txt"}
    },
}

TOOL_EXAMPLES: dict[str, Any] = {
    "in one case": {"value": {"query": "who signed the notice", "scope": {"case_id": "C-7"}}},
    "question only": {"value": {"query": QUESTION, "top_k": 5}},
}


def completed(document: dict[str, Any]) -> dict[str, Any]:
    """The OpenAPI document with the shape of errors and the bearer token, which belong to no single endpoint."""
    components = document.setdefault("components", {})
    components.setdefault("schemas", {})[ProblemModel.__name__] = ProblemModel.model_json_schema()
    components["securitySchemes"] = {_BEARER: {"type": "http", "scheme": "bearer"}}
    document["security"] = [{_BEARER: []}, {}]
    return document
