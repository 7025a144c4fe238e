# SPDX-License-Identifier: Apache-2.0
"""Tells code that works in a thread whether anybody still waits for it: a thread cannot be stopped from outside."""

import contextvars
import threading

_NEVER = threading.Event()
_CALLER_LEFT: contextvars.ContextVar[threading.Event] = contextvars.ContextVar("pincite_caller_left", default=_NEVER)


def given_up() -> bool:
    """Whether the caller of this thread's work has left; ``False`` where nobody said."""
    return _CALLER_LEFT.get().is_set()


def watched_context() -> tuple[contextvars.Context, threading.Event]:
    """A copy of the current context for a thread to run in, and the event to set when its caller leaves."""
    left, context = threading.Event(), contextvars.copy_context()
    context.run(_CALLER_LEFT.set, left)
    return context, left
