# SPDX-License-Identifier: Apache-2.0
"""Stdin that ends when the process is told to end."""

import contextlib
import io
import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

_CHUNK = 65536
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextlib.contextmanager
def stdin_until_signal() -> Iterator[None]:
    """
    Inside the block ``sys.stdin`` comes to its end on SIGTERM and SIGINT, as if the client had gone.

    A server that reads stdin does so in a thread, and a thread that waits for a line cannot be told anything: without
    this the process would stay until its client closes the pipe, whatever signal it gets. So another thread waits for
    input and signals alike, and copies the input to a pipe whose end it decides.
    """
    reader, writer = os.pipe()
    woken, wake = os.pipe()
    os.set_blocking(wake, False)

    def end(number: int, frame: FrameType | None) -> None:
        with contextlib.suppress(BlockingIOError):  # it was told so often that it must know
            os.write(wake, b".")

    before = sys.stdin
    handlers = {number: signal.signal(number, end) for number in _SIGNALS}
    threading.Thread(target=_copy, args=(before.fileno(), woken, writer), daemon=True).start()
    sys.stdin = io.TextIOWrapper(os.fdopen(reader, "rb"), encoding="utf-8")
    try:
        yield
    finally:
        sys.stdin = before
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _copy(source: int, woken: int, target: int) -> None:
    """Copy ``source`` to ``target`` until its end, or until ``woken`` has something to read; then close ``target``."""
    try:
        while woken not in (ready := select.select([source, woken], [], [])[0]):
            if source in ready and not _pass_on(source, target):
                break
    except OSError:
        return  # nobody reads the pipe any more, or stdin is gone
    finally:
        os.close(target)


def _pass_on(source: int, target: int) -> bool:
    left = memoryview(os.read(source, _CHUNK))
    some = bool(left)
    while left:
        left = left[os.write(target, left) :]
    return some
