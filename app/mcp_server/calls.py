# SPDX-License-Identifier: Apache-2.0
"""Every tool call counted and timed, also one that never reached its tool."""

import time
from collections.abc import Collection
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from pincite.api.metrics import Metrics

_OTHER = "other"


class CountedCalls:
    """
    SDK middleware: tells Prometheus of each tool call. All calls of one MCP server share a route, so the route of the
    HTTP request says nothing about them.

    :param metrics: told of the calls.
    :param tools: names of the tools there are; a call of any other counts as ``other``.
    """

    def __init__(self, metrics: Metrics, tools: Collection[str]) -> None:
        self.metrics = metrics
        self.tools = frozenset(tools)

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method != "tools/call" or ctx.request_id is None:
            return await call_next(ctx)
        name = (ctx.params or {}).get("name")
        tool = name if isinstance(name, str) and name in self.tools else _OTHER
        started, failed = time.perf_counter(), True
        try:
            result = await call_next(ctx)
            failed = _is_error(result)
            return result
        finally:
            self.metrics.called(tool, failed=failed, seconds=time.perf_counter() - started)


def _is_error(result: HandlerResult) -> bool:
    if isinstance(result, dict):
        return bool(result.get("isError"))
    return bool(getattr(result, "is_error", False))
