# SPDX-License-Identifier: Apache-2.0
"""A call that is left behind when it takes too long."""

import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

_Answer = TypeVar("_Answer")


class OverdueError(Exception):
    """No answer in time. Not ``TimeoutError``, which the call itself may raise."""


def within(seconds: float, call: Callable[[], _Answer]) -> _Answer:
    """
    What a call gives, or raises, within a time limit; a thread that is late is left to itself.

    :raises OverdueError: no answer in time.
    """
    # No pool: the interpreter waits for a pool's threads when it exits, and one that hangs would keep it.
    future: Future[_Answer] = Future()
    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(_settle, future, call), name="pincite-embedder", daemon=True).start()
    wait({future}, seconds)
    if not future.done():
        raise OverdueError
    return future.result()


def _settle(future: "Future[_Answer]", call: Callable[[], _Answer]) -> None:
    try:
        future.set_result(call())
    except BaseException as error:  # SystemExit, for one: it would end the thread without a word
        future.set_exception(error if isinstance(error, Exception) else RuntimeError(type(error).__name__))
