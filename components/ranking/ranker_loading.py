# SPDX-License-Identifier: Apache-2.0
"""Loads a ranker beside the searches: they wait for it a while, once, and go on without it if it takes longer."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait

from haystack.core.component import Component
from haystack_integrations.document_stores.pincite.errors import PinciteError

logger = logging.getLogger(__name__)


class RankerLoading:
    """
    Builds a ranker and calls its ``warm_up`` in a thread of its own, once.

    Until ``limit`` seconds after the start every caller waits; later ones do not. Thread-safe.
    """

    def __init__(self, build: Callable[[], Component], limit: float) -> None:
        """
        :param build: makes the ranker; may fail.
        :param limit: seconds that searches wait for it.
        """
        self._build = build
        self._limit = limit
        self._lock = threading.Lock()
        self._deadline = 0.0
        self._loaded: Future[Component] | None = None

    @property
    def ranker(self) -> Component | None:
        """The ranker, once it is loaded."""
        done = self._loaded is not None and self._loaded.done() and self._loaded.exception() is None
        return self._loaded.result() if done and self._loaded is not None else None

    @property
    def fault(self) -> str | None:
        """Why it cannot be used now; ``None`` once it is loaded."""
        if self._loaded is None:
            return "ranker is not loaded yet"
        if not self._loaded.done():
            return "ranker is still loading"
        error = self._loaded.exception()
        return None if error is None else f"ranker could not be loaded: {_told(error)}"

    def start(self) -> None:
        """Start loading if nobody did, without waiting."""
        self._start()

    def wait(self) -> None:
        """Start loading if nobody did, and wait for it within the limit."""
        loaded = self._start()
        if not loaded.done():
            wait({loaded}, max(0.0, self._deadline - time.monotonic()))

    async def wait_async(self) -> None:
        """As :meth:`wait`, without holding up the event loop; a ranker's ``warm_up_async`` runs on it."""
        loaded = self._start(asynchronous=True)
        if not loaded.done():
            await asyncio.wait({asyncio.wrap_future(loaded)}, timeout=max(0.0, self._deadline - time.monotonic()))

    def _start(self, asynchronous: bool = False) -> "Future[Component]":
        with self._lock:
            if self._loaded is None:
                self._loaded = Future()
                self._deadline = time.monotonic() + self._limit
                loop = asyncio.get_running_loop() if asynchronous else None
                arguments = (self._loaded, loop)
                threading.Thread(target=self._load, args=arguments, name="pincite-ranker-load", daemon=True).start()
            return self._loaded

    def _load(self, loaded: "Future[Component]", loop: asyncio.AbstractEventLoop | None) -> None:
        try:
            ranker = self._build()
            if loop is not None and (load_async := getattr(ranker, "warm_up_async", None)):
                asyncio.run_coroutine_threadsafe(load_async(), loop).result()
            elif load := getattr(ranker, "warm_up", None):
                load()
        except BaseException as error:  # also SystemExit: it would end this thread without a word
            logger.warning("The ranker could not be loaded, searches go on without it: %s", error)
            loaded.set_exception(error)
        else:
            loaded.set_result(ranker)


def _told(error: BaseException) -> str:
    # Of others the kind only: a message may hold an address or a key.
    return str(error) if isinstance(error, PinciteError) else type(error).__name__
