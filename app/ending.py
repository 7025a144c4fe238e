# SPDX-License-Identifier: Apache-2.0
"""How a process ends when it is told to, so that it leaves nothing behind."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

TOLD_TO_END = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals by which a process is told to end: from a service manager, and from a terminal that is closed."""


@contextlib.contextmanager
def leaving_on(*signals: signal.Signals, status: int | None = None) -> Iterator[None]:
    """
    Inside the block these signals end the process as ``sys.exit`` does.

    By default they end it on the spot: nothing that Python does at exit is done, and the embedded database would run
    on until the next command. A signal that was to be ignored (``nohup``) still is. Only the main thread can set this;
    in another one nothing changes.

    :param status: of the exit; ``None`` for 128 and the number of the signal, as a shell counts it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)  # a second one must not end the clearing up
        raise SystemExit(128 + number if status is None else status)

    heard = [number for number in signals if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, leave) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
