# SPDX-License-Identifier: Apache-2.0
"""Errors as ``application/problem+json`` (RFC 9457): which kind and status, and the one line that a user can act on."""

import json
import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from haystack_integrations.document_stores.pincite.errors import (
    AttributionError,
    BadInputError,
    ConfigurationError,
    DatabaseUnavailableError,
    IsolationError,
    PinciteError,
    UnknownCorpusError,
)
from pincite.plain_text import one_line
from starlette.exceptions import HTTPException
from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"
_log = logging.getLogger("pincite.api")


class RequestError(PinciteError):
    """
    A request that is refused for what it is, not for what it asks.

    :param status: of HTTP.
    :param kind: a name for programs.
    :param headers: of the answer.
    """

    def __init__(self, status: HTTPStatus, kind: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.kind = kind
        self.headers = dict(headers or {})


# The first class that an error belongs to. A database that is down or not set up is no fault of the request's: 503.
_STATUS: tuple[tuple[type[PinciteError], HTTPStatus, str], ...] = (
    (BadInputError, HTTPStatus.BAD_REQUEST, "bad-input"),
    (UnknownCorpusError, HTTPStatus.SERVICE_UNAVAILABLE, "not-ready"),
    (ConfigurationError, HTTPStatus.SERVICE_UNAVAILABLE, "configuration"),
    (DatabaseUnavailableError, HTTPStatus.SERVICE_UNAVAILABLE, "database-unavailable"),
    (AttributionError, HTTPStatus.INTERNAL_SERVER_ERROR, "attribution"),
    (IsolationError, HTTPStatus.INTERNAL_SERVER_ERROR, "isolation"),
)


def problem(
    status: int,
    kind: str,
    detail: str,
    *,
    headers: Mapping[str, str] | None = None,
    errors: Sequence[Mapping[str, str]] = (),
) -> Response:
    """
    The response for an error.

    :param kind: a name for programs; it ends the URN that RFC 9457 calls type.
    :param errors: per wrong field ``{"where", "what"}``.
    """
    phrase = HTTPStatus(status).phrase
    body: dict[str, Any] = {"type": f"urn:pincite:{kind}", "title": phrase, "status": int(status), "detail": detail}
    if errors:
        body["errors"] = list(errors)
    # ASCII: what a client sent may hold lone surrogates, which no encoding can write.
    content = json.dumps(body, ensure_ascii=True)
    return Response(content, status_code=int(status), media_type=MEDIA_TYPE, headers=dict(headers or {}))


def problem_of(error: PinciteError) -> Response:
    """The response for an error that names what is wrong."""
    detail = one_line(error)
    if isinstance(error, RequestError):
        return problem(error.status, error.kind, detail, headers=error.headers)
    for kind_of_error, status, kind in _STATUS:
        if isinstance(error, kind_of_error):
            if status is HTTPStatus.INTERNAL_SERVER_ERROR:
                _log.error("%s: %s", kind, detail)
            return problem(status, kind, detail)
    return problem(HTTPStatus.BAD_REQUEST, "bad-input", detail)


def add_problem_handlers(app: FastAPI) -> None:
    """Make every error of an application a problem, those of the framework too."""
    app.add_exception_handler(PinciteError, _pincite_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RecursionError, _recursion_error)
    app.add_exception_handler(Exception, _unexpected_error)


async def _pincite_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, PinciteError)  # noqa: S101 - registered for this class
    return problem_of(error)


async def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for this class
    errors = [
        {"where": ".".join(map(str, found["loc"]))[:200], "what": str(found["msg"])[:200]} for found in error.errors()
    ][:20]
    detail = one_line("; ".join(f"{found['where']}: {found['what']}" for found in errors[:3]))
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid-request", detail, errors=errors)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class
    return problem(error.status_code, "http", one_line(error.detail), headers=error.headers)


async def _recursion_error(request: Request, error: Exception) -> Response:
    return problem(HTTPStatus.BAD_REQUEST, "bad-input", "the request is nested too deeply")


async def _unexpected_error(request: Request, error: Exception) -> Response:
    # The server's log gets the trace (uvicorn writes it); a client gets no inside view.
    return problem(
        HTTPStatus.INTERNAL_SERVER_ERROR, "unexpected", "something went wrong inside; the server's log says what"
    )
