# SPDX-License-Identifier: Apache-2.0
"""Requests made up from the OpenAPI document: whatever is sent, the answer is no failure of the server's."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from pincite.api.app import create_app
from pincite.service import Service

schemathesis = pytest.importorskip("schemathesis")
EXAMPLES = 25
WITH_PARAMETERS = ("search", "tool", "why", "show", "source", "source_page", "drawing")
WITHOUT = ("corpora", "status", "metrics", "health")


def operations(service: Service) -> dict[str, Any]:
    """The operations of the document by their ids."""
    schema = schemathesis.openapi.from_dict(create_app(service).openapi())
    found = [result.ok() for result in schema.get_all_operations()]
    return {operation.definition.raw["operationId"]: operation for operation in found}


@pytest.mark.parametrize(
    ("operation", "mode"),
    [
        *((name, "positive") for name in (*WITH_PARAMETERS, *WITHOUT)),
        *((name, "negative") for name in WITH_PARAMETERS),
    ],
)
def test_no_request_makes_the_server_fail(rest: Any, service: Service, operation: str, mode: str) -> None:
    strategy = operations(service)[operation].as_strategy(
        generation_mode=getattr(schemathesis.GenerationMode, mode.upper())
    )

    @given(case=strategy)
    @settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    def every(case: Any) -> None:
        check(rest, case)

    every()


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


def test_every_operation_is_tried(service: Service) -> None:
    # The audit is left out: it takes seconds, and has one optional parameter.
    assert set(operations(service)) == {*WITH_PARAMETERS, *WITHOUT, "audit"}
