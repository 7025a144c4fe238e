# SPDX-License-Identifier: Apache-2.0
"""
The search log (E6): what was asked and found, in JSON lines; off unless ``PINCITE_SEARCH_LOG`` is set.

A thread of its own writes; a search puts its entry into a bounded queue and goes on. When the queue is full the entry
is dropped, and the next one that is written says how many were.
"""

import atexit
import contextlib
import contextvars
import hashlib
import json
import logging
import os
import queue
import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from haystack_integrations.document_stores.pincite.database import pincite_home
from haystack_integrations.document_stores.pincite.errors import ConfigurationError

logger = logging.getLogger(__name__)

LOG_VARIABLE = "PINCITE_SEARCH_LOG"
QUERIES_VARIABLE = "PINCITE_SEARCH_LOG_QUERIES"
DEFAULT_FILE = "logs/searches.jsonl"
WAITING = 10_000  # entries; some 10 MB
_CLOSING_SECONDS = 5.0
_ON, _OFF = {"1", "true", "yes", "on"}, {"", "0", "false", "no", "off"}
_TOOL: contextvars.ContextVar[str | None] = contextvars.ContextVar("pincite_tool", default=None)


@contextlib.contextmanager
def asked_through(tool: str) -> Iterator[None]:
    """Searches inside are logged as those of this tool."""
    token = _TOOL.set(tool)
    try:
        yield
    finally:
        _TOOL.reset(token)


class SearchLog:
    """
    Appends entries to a file. Nothing here raises or waits: a log that cannot be written holds no search up.

    :param path: the file; its folder is made. It is opened for each batch, so that it may be rotated or removed.
    :param with_text: whether the question itself is kept, or only its hash.
    :param waiting: entries that may wait to be written.
    """

    def __init__(self, path: Path, *, with_text: bool = False, waiting: int = WAITING) -> None:
        self.path = path
        self.with_text = with_text
        self._queue: queue.Queue[dict[str, Any] | None] = queue.Queue(waiting)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._dropped = 0
        self._failing = False

    def record(self, response: Mapping[str, Any]) -> None:
        """Put an answer (contract, "A search result") into the queue."""
        self._start()
        try:
            self._queue.put_nowait(self._entry(response))
        except queue.Full:
            with self._lock:
                self._dropped += 1

    def close(self) -> None:
        """Write what waits, within five seconds, and stop."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is None:
            return
        atexit.unregister(self.close)
        with contextlib.suppress(queue.Full):
            self._queue.put(None, timeout=_CLOSING_SECONDS)
            thread.join(_CLOSING_SECONDS)

    def _entry(self, response: Mapping[str, Any]) -> dict[str, Any]:
        query = str(response["query"])
        asked = {"query": query} if self.with_text else {"query_sha256": query_hash(query)}
        return {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "corpus": response["corpus"],
            "tool": _TOOL.get(),
            **asked,
            "results": len(response["results"]),
            "intents": len(response["intents"]),
            "named": response["named"]["matched"],
            "reranked": response["reranked"],
            "degraded": [note["stage"] for note in response["degraded"]],
            "timings_ms": response["timings_ms"],
            "result_ids": [result["span_id"] for result in response["results"]],
        }

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._write, name="pincite-search-log", daemon=True)
                self._thread.start()
                atexit.register(self.close)  # a daemon thread would be ended with entries in its hands

    def _write(self) -> None:
        while (entry := self._queue.get()) is not None:
            batch = [entry]
            with contextlib.suppress(queue.Empty):
                while len(batch) < 500:
                    following = self._queue.get_nowait()
                    if following is None:
                        self._append(batch)
                        return
                    batch.append(following)
            self._append(batch)

    def _append(self, batch: list[dict[str, Any]]) -> None:
        with self._lock:
            dropped, self._dropped = self._dropped, 0
        if dropped:
            batch[0]["dropped_before"] = dropped
        lines = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in batch)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Questions may be confidential: for the owner alone.
            with open(self.path, "ab", buffering=0, opener=_private) as file:
                file.write(lines.encode("utf-8", "replace"))
            self._failing = False
        except OSError as error:
            with self._lock:
                self._dropped += dropped + len(batch)
            if not self._failing:
                logger.warning("The search log %s cannot be written: %s", self.path, error.strerror or error)
            self._failing = True


def search_log() -> SearchLog | None:
    """
    The log that the environment asks for; ``None`` where it is off.

    ``PINCITE_SEARCH_LOG`` is off by default, ``on`` for ``logs/searches.jsonl`` below ``PINCITE_HOME``, or a file,
    relative to that. ``PINCITE_SEARCH_LOG_QUERIES``: ``hash`` (default) keeps a hash of each question, ``text`` itself.

    :raises ConfigurationError: another word for the second.
    """
    value = os.environ.get(LOG_VARIABLE, "").strip()
    if value.lower() in _OFF:
        return None
    kept = os.environ.get(QUERIES_VARIABLE, "").strip().lower() or "hash"
    if kept not in ("hash", "text"):
        raise ConfigurationError(f"{QUERIES_VARIABLE} is {kept!r:.40}: expected hash or text")
    name = DEFAULT_FILE if value.lower() in _ON else value
    return SearchLog(pincite_home() / Path(name).expanduser(), with_text=kept == "text")


def query_hash(query: str) -> str:
    """SHA-256 of a question, blanks and case evened out: alike for those who ask the same."""
    return hashlib.sha256(" ".join(query.casefold().split()).encode("utf-8", "replace")).hexdigest()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
