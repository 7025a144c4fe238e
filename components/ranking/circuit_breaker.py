# SPDX-License-Identifier: Apache-2.0
"""Stops calling what keeps failing, and tries again later."""

import threading
import time
from collections.abc import Callable


class CircuitBreaker:
    """
    Opens after so many failures in a row; after a while it lets one trial through, which closes it or opens it anew.

    Thread-safe. A caller that was admitted must report how it went with :meth:`record`, or give the permission back
    with :meth:`release`.
    """

    def __init__(self, failures_to_open: int, reopen_after: float, clock: Callable[[], float] = time.monotonic) -> None:
        """
        :param failures_to_open: failures in a row that open it.
        :param reopen_after: seconds until a trial.
        :param clock: seconds that never go back.
        """
        self._failures_to_open = failures_to_open
        self._reopen_after = reopen_after
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._opened_at: float | None = None
        self._trial = False

    @property
    def open(self) -> bool:
        """Whether calls are being refused, until a trial goes well."""
        with self._lock:
            return self._opened_at is not None

    def admit(self) -> bool:
        """Whether a call may be made now."""
        with self._lock:
            if self._opened_at is None:
                return True
            if self._trial or self._clock() - self._opened_at < self._reopen_after:
                return False
            self._trial = True
            return True

    def record(self, success: bool) -> None:
        """How an admitted call went."""
        with self._lock:
            self._trial = False
            if success:
                self._failures, self._opened_at = 0, None
                return
            self._failures += 1
            if self._failures >= self._failures_to_open:
                self._opened_at = self._clock()

    def release(self) -> None:
        """An admitted call was given up by its caller and says nothing about the other side."""
        with self._lock:
            self._trial = False
