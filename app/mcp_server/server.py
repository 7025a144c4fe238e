# SPDX-License-Identifier: Apache-2.0
"""The MCP server on the official SDK, over stdio or streamable HTTP (A1)."""

import contextlib
from collections.abc import AsyncIterator
from importlib import metadata
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import MCPServer
from pincite.api.auth import CALLER, CallerGate
from pincite.api.limits import BodyLimit, Turnstile
from pincite.api.metrics import CONTENT_TYPE, Metrics, RequestMetrics
from pincite.api.settings import ServerSettings
from pincite.mcp_server.calls import CountedCalls
from pincite.mcp_server.descriptions import INSTRUCTIONS
from pincite.mcp_server.tools import ToolBox
from pincite.pipelines.corpora import CorporaSettings, load_corpora
from pincite.service import Service
from pincite.tokens import Caller
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp

PATH = "/mcp"
OPEN_PATHS = frozenset({"/health"})
"""Answered without a token, as by REST."""


def create_server(service: Service, settings: ServerSettings) -> MCPServer[Any]:
    """
    The server with its tools.

    :param service: asked for everything; whoever made it closes it.
    :param settings: limits, and who asks where the transport does not say.
    """
    return _measured_server(service, settings)[0]


def _measured_server(service: Service, settings: ServerSettings) -> tuple[MCPServer[Any], Metrics]:
    turnstile = Turnstile(running=settings.running, waiting=settings.waiting, seconds=settings.seconds)
    metrics = Metrics(turnstile)
    corpora = load_corpora()
    tools = ToolBox(service, corpora, Caller(settings.principal), turnstile, metrics).tools()

    @contextlib.asynccontextmanager
    async def lifespan(server: MCPServer[Any]) -> AsyncIterator[dict[str, Any]]:
        yield {}
        turnstile.close()

    server = MCPServer(
        "pincite",
        title="Pincite",
        description="Passages from documents, pinned to their page.",
        instructions=INSTRUCTIONS,
        version=metadata.version("pincite-haystack"),
        tools=tools,
        log_level="WARNING",
        lifespan=lifespan,
        middleware=[CountedCalls(metrics, [tool.name for tool in tools]), _OwnTools(corpora)],
    )
    return server, metrics


def create_http_app(service: Service, settings: ServerSettings, host: str) -> ASGIApp:
    """
    The same over streamable HTTP, behind the gate that REST has, with its ``/health`` and ``/metrics``.

    Stateless: each request carries its token and is answered for its holder alone, so that no session can be taken over
    and nothing is kept between requests.
    """
    server, metrics = _measured_server(service, settings)
    app = server.streamable_http_app(streamable_http_path=PATH, stateless_http=True, json_response=True, host=host)

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "up"})

    async def figures(request: Request) -> Response:
        return Response(metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    app.add_route("/health", health, methods=["GET"])
    app.add_route("/metrics", figures, methods=["GET"])
    gate = CallerGate(
        BodyLimit(app, max_bytes=settings.body_bytes),
        database=lambda: service.database,
        principal=settings.principal,
        token_needed=settings.token_needed,
        open_paths=OPEN_PATHS,
        hosts=settings.hosts,
    )
    return RequestMetrics(gate, metrics)


class _OwnTools:
    """SDK middleware: a token sees only the tools of the corpora that it opens."""

    def __init__(self, corpora: CorporaSettings) -> None:
        self.corpora = corpora

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method != "tools/list" or ctx.request is None or not isinstance(result, dict):
            return result
        caller: Caller = ctx.request.scope.get(CALLER, Caller(None))
        tools = self.corpora.tools
        listed = result["tools"]
        kept = [it for it in listed if it["name"] not in tools or caller.may_use(tools[it["name"]].corpus)]
        return {**result, "tools": kept}
