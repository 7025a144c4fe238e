# SPDX-License-Identifier: Apache-2.0
"""How long each stage took, by Haystack's own tracing: the stages know nothing of it."""

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from haystack.tracing.tracer import Span, Tracer, enable_tracing, is_tracing_enabled, tracer

_COMPONENT_RUN = "haystack.component.run"
_COMPONENT_NAME = "haystack.component.name"
_timings: ContextVar[dict[str, float] | None] = ContextVar("pincite_timings", default=None)


class _Quiet(Span):
    """A span that keeps nothing."""

    def set_tag(self, key: str, value: Any) -> None:
        return


class StageTimer(Tracer):
    """
    Times components for the search of the present context, and passes every span on to the application's own tracer.

    :param inner: the tracer that was there before, if it was a real one.
    """

    def __init__(self, inner: Tracer | None) -> None:
        self.inner = inner

    @contextlib.contextmanager
    def trace(
        self, operation_name: str, tags: dict[str, Any] | None = None, parent_span: Span | None = None
    ) -> Iterator[Span]:
        """Time one operation; only runs of components are kept."""
        timings = _timings.get()
        started = time.perf_counter()
        with (
            self.inner.trace(operation_name, tags, parent_span) if self.inner else contextlib.nullcontext(_Quiet()) as s
        ):
            yield s
        if timings is not None and operation_name == _COMPONENT_RUN and tags:
            timings[str(tags.get(_COMPONENT_NAME))] = (time.perf_counter() - started) * 1000

    def current_span(self) -> Span | None:
        """The application's current span."""
        return self.inner.current_span() if self.inner else None


@contextlib.contextmanager
def stage_timings() -> Iterator[dict[str, float]]:
    """
    Milliseconds per stage of the pipeline that runs inside the block, filled in as stages end.

    The tracer is put in place once per process, around whatever tracer the application had.
    """
    actual = tracer.actual_tracer
    if not isinstance(actual, StageTimer):
        enable_tracing(StageTimer(actual if is_tracing_enabled() else None))
    timings: dict[str, float] = {}
    token = _timings.set(timings)
    try:
        yield timings
    finally:
        _timings.reset(token)
