# SPDX-License-Identifier: Apache-2.0
"""The REST API as an ASGI application, which also runs inside someone else's server (A2)."""

import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from importlib import metadata
from typing import Any

from fastapi import FastAPI
from haystack_integrations.document_stores.pincite.errors import PinciteError
from pincite.api.auth import CallerGate
from pincite.api.limits import BodyLimit, Turnstile
from pincite.api.metrics import Metrics, RequestMetrics
from pincite.api.openapi import completed
from pincite.api.problems import add_problem_handlers
from pincite.api.routes import Endpoints, routes
from pincite.api.settings import ServerSettings
from pincite.api.upkeep import Upkeep
from pincite.pipelines.corpora import load_corpora
from pincite.service import Service
from pincite.web.assets import ASSETS, asset_routes
from pincite.web.routes import WebEndpoints, web_routes

OPEN_PATHS = frozenset({"/health", "/openapi.json", *ASSETS})
"""Answered without a token: they say nothing of what is stored. The page asks for the token itself."""

DESCRIPTION = """\
Retrieval that finds the right document and pins every passage to its source.

Ask `POST /search`; each result has a locator (page, section, character range) and a `span_id`, with which
`GET /show` gives the passage in its context. Send `Authorization: Bearer TOKEN`; `pincite token add` makes one. Errors
are `application/problem+json`. A server that is busy answers 429 with `Retry-After`, one that took too long 504.
"""
_log = logging.getLogger("pincite.api")


def create_app(service: Service, settings: ServerSettings | None = None) -> FastAPI:
    """
    The application.

    :param service: asked for everything; whoever made it closes it.
    :param settings: limits, and who asks without a token.
    """
    settings = settings or ServerSettings()
    turnstile = Turnstile(running=settings.running, waiting=settings.waiting, seconds=settings.seconds)
    metrics = Metrics(turnstile)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await warm_up(service)
        upkeep = Upkeep(settings.upkeep_seconds)
        upkeep.start()
        yield
        upkeep.end()
        turnstile.close()

    app = FastAPI(
        title="Pincite",
        version=metadata.version("pincite-haystack"),
        description=DESCRIPTION,
        lifespan=lifespan,
        # Their pages load scripts from elsewhere; everything here works offline (F7).
        docs_url=None,
        redoc_url=None,
    )
    app.state.ending = turnstile.end
    add_problem_handlers(app)
    endpoints = Endpoints(service, turnstile, metrics)
    app.include_router(routes(endpoints))
    app.include_router(web_routes(WebEndpoints(endpoints, settings.reports)))
    app.include_router(asset_routes())
    app.openapi = _with_errors(app.openapi)  # type: ignore[method-assign]
    # The last one added is the first to see a request.
    app.add_middleware(BodyLimit, max_bytes=settings.body_bytes)
    app.add_middleware(
        CallerGate,
        database=lambda: service.database,
        principal=settings.principal,
        token_needed=settings.token_needed,
        open_paths=OPEN_PATHS,
        hosts=settings.hosts,
    )
    app.add_middleware(RequestMetrics, metrics=metrics)
    return app


async def warm_up(service: Service) -> None:
    """Load each pipeline and open connections before the first request, by searches that nobody asks."""
    for corpus in load_corpora().corpora.values():
        scope = dict.fromkeys(corpus.required_scopes, "warm-up")
        try:
            await service.search_async(corpus.name, "warm up", scope=scope or None)
        except PinciteError as error:
            _log.warning("corpus '%s' cannot be searched yet: %s", corpus.name, error)


def _with_errors(make: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    return lambda: completed(make())
