# SPDX-License-Identifier: Apache-2.0
"""What Prometheus is told: requests, their times, the line at the door, and how searches went. Never what was asked."""

import time
from collections.abc import Mapping

from pincite.api.limits import Turnstile
from pincite.response import SearchResponse
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """The figures of one server, in a registry of their own."""

    def __init__(self, turnstile: Turnstile) -> None:
        self.registry = CollectorRegistry()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self.registry)
        self.requests = Counter(
            "pincite_http_requests", "Requests answered.", ["method", "route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "pincite_http_request_seconds", "Time of requests.", ["route"], buckets=_SECONDS, registry=self.registry
        )
        self.searches = Counter(
            "pincite_searches", "Searches answered.", ["corpus", "reranked", "named"], registry=self.registry
        )
        self.empty = Counter("pincite_searches_empty", "Searches without a result.", ["corpus"], registry=self.registry)
        self.degraded = Counter(
            "pincite_searches_degraded", "Stages that gave less than they should.", ["stage"], registry=self.registry
        )
        self.stages = Histogram(
            "pincite_stage_seconds", "Time of pipeline stages.", ["stage"], buckets=_SECONDS, registry=self.registry
        )
        self.calls = Counter("pincite_mcp_calls", "Tool calls answered.", ["tool", "failed"], registry=self.registry)
        self.call_seconds = Histogram(
            "pincite_mcp_call_seconds", "Time of tool calls.", ["tool"], buckets=_SECONDS, registry=self.registry
        )
        for name, text, value in (
            ("pincite_running", "Requests worked on.", lambda: turnstile.running),
            ("pincite_waiting", "Requests in line.", lambda: turnstile.waiting),
            ("pincite_refused", "Requests told to come again.", lambda: turnstile.refused),
        ):
            Gauge(name, text, registry=self.registry).set_function(value)

    def searched(self, answer: SearchResponse) -> None:
        """Count a search by how it went."""
        corpus = answer["corpus"]
        self.searches.labels(corpus, _flag(answer["reranked"]), _flag(answer["named"]["matched"])).inc()
        if not answer["results"]:
            self.empty.labels(corpus).inc()
        for note in answer["degraded"]:
            self.degraded.labels(note["stage"]).inc()
        for stage, milliseconds in _stages(answer["timings_ms"]).items():
            self.stages.labels(stage).observe(milliseconds / 1000)

    def called(self, tool: str, *, failed: bool, seconds: float) -> None:
        """
        Count a tool call of an agent.

        :param tool: a tool that exists: any other name would be a new time series for a client's invention.
        :param failed: the agent was told of an error.
        :param seconds: from the call to its answer.
        """
        self.calls.labels(tool, _flag(failed)).inc()
        self.call_seconds.labels(tool).observe(seconds)

    def text(self) -> bytes:
        """All figures in Prometheus's text format."""
        return generate_latest(self.registry)


class RequestMetrics:
    """ASGI middleware: counts and times each request under the path of its route, whatever stands in the path."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 499  # as nginx counts a client that went away

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, watch)
        finally:
            # A path that no route answers is any client's invention: it must not make a new time series.
            route = getattr(scope.get("route"), "path", "other")
            method = scope["method"] if scope["method"] in ("GET", "POST") else "other"
            self.metrics.requests.labels(method, route, str(status)).inc()
            self.metrics.seconds.labels(route).observe(time.perf_counter() - started)


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _stages(timings: Mapping[str, float]) -> dict[str, float]:
    return {stage: milliseconds for stage, milliseconds in timings.items() if stage != "total"}
