# SPDX-License-Identifier: Apache-2.0
"""Any Haystack ranker, made optional: when it cannot help, the fused order stands (F3)."""

import logging
import threading
from dataclasses import replace
from typing import Any

from haystack import Document, component, default_to_dict
from haystack.core.component import Component
from haystack.core.serialization import component_to_dict
from haystack_integrations.components.pincite.circuit_breaker import CircuitBreaker
from haystack_integrations.components.pincite.environment import environment_count, environment_flag
from haystack_integrations.components.pincite.ranker_call import (
    RankerOverdueError,
    UnusableRankingError,
    rank,
    rank_async,
)
from haystack_integrations.document_stores.pincite.errors import ConfigurationError

logger = logging.getLogger(__name__)

DEFAULT_CANDIDATES = 50


@component
class OptionalReranker:
    """
    Reranks the first candidates with any Haystack ranker, and leaves the fused order as it is when that fails.

    The order stays when reranking is off, has no ranker, could not be loaded, fails, takes too long, or gives an answer
    that is no ranking; ``rerank_reason`` then says which. Candidates beyond the window follow in their order. No
    candidate is lost, whatever the ranker drops.
    """

    def __init__(
        self,
        ranker: Component | None = None,
        *,
        enabled: bool | None = None,
        candidates: int | None = None,
        timeout: float = 5.0,
        failures_to_open: int = 3,
        reopen_after: float = 30.0,
    ) -> None:
        """
        :param ranker: a Haystack ranker: ``run(query, documents)`` gives ``documents`` with scores.
        :param enabled: ``None`` takes ``PINCITE_RERANK_ENABLED`` or ``KB_RERANK_ENABLED``, off where neither is set.
        :param candidates: how many are reranked; ``None`` takes ``PINCITE_RERANK_CANDIDATES`` or
            ``KB_RERANK_CANDIDATES``, 50 where neither is set.
        :param timeout: seconds that one reranking may take.
        :param failures_to_open: failures in a row after which the ranker is left alone.
        :param reopen_after: seconds that it is left alone for; then one search tries it.
        :raises ConfigurationError: a number that is not positive, or an environment variable that does not parse.
        """
        for name, value in (("candidates", candidates), ("timeout", timeout), ("failures_to_open", failures_to_open)):
            if value is not None and value <= 0:
                raise ConfigurationError(f"OptionalReranker: {name} is {value}, expected more than 0")
        self.ranker = ranker
        self.enabled = enabled
        self.candidates = candidates
        self.timeout = timeout
        self.failures_to_open = failures_to_open
        self.reopen_after = reopen_after
        self._enabled = enabled
        if enabled is None:
            self._enabled = environment_flag("PINCITE_RERANK_ENABLED", "KB_RERANK_ENABLED", default=False)
        self._window = candidates or environment_count(
            "PINCITE_RERANK_CANDIDATES", "KB_RERANK_CANDIDATES", default=DEFAULT_CANDIDATES
        )
        self._breaker = CircuitBreaker(failures_to_open, reopen_after)
        self._loading = threading.Lock()
        self._warm = False
        self._load_fault: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Serialise; the ranker may be a component that has no ``to_dict`` of its own."""
        return default_to_dict(
            self,
            ranker=component_to_dict(self.ranker, "ranker") if self.ranker is not None else None,
            enabled=self.enabled,
            candidates=self.candidates,
            timeout=self.timeout,
            failures_to_open=self.failures_to_open,
            reopen_after=self.reopen_after,
        )

    def warm_up(self) -> None:
        """Load the ranker, once and only if it is to be used. Each run reports one that cannot be loaded."""
        # A second thread waits for the first to have loaded it.
        with self._loading:
            if self._must_load() and (load := getattr(self.ranker, "warm_up", None)):
                try:
                    load()
                except Exception as error:
                    self._note_load_fault(error)

    async def warm_up_async(self) -> None:
        """Load the ranker, by its ``warm_up_async`` where it has one."""
        load = getattr(self.ranker, "warm_up_async", None)
        if load is None:
            self.warm_up()
        elif self._must_load():
            try:
                await load()
            except Exception as error:
                self._note_load_fault(error)

    def close(self) -> None:
        """Let the ranker release what it holds."""
        if close := getattr(self.ranker, "close", None):
            close()

    async def close_async(self) -> None:
        """Let the ranker release what it holds on the event loop."""
        if close := getattr(self.ranker, "close_async", None):
            await close()

    @component.output_types(documents=list[Document], reranked=bool, rerank_reason=str | None)
    def run(self, query: str, documents: list[Document], rerank: bool = True) -> dict[str, Any]:
        """
        Rerank, or say why not.

        :param query: what the candidates are scored against.
        :param documents: candidates in fused order.
        :param rerank: ``False`` skips the ranker for this request.
        :returns: ``documents``, every candidate once: those that the ranker returned, with its score, ``_score_kind``
            ``rerank`` and ``_fused_score`` in ``meta``; then the rest of the window; then those beyond it.
            ``reranked``; ``rerank_reason``, a few words where it is ``False``.
        """
        self.warm_up()
        reason = self._refusal(documents, rerank)
        if reason or self.ranker is None:
            return _unranked(documents, reason)
        try:
            scores = rank(self.ranker, query, documents[: self._window], self.timeout)
        except Exception as error:
            return self._failed(documents, error)
        except BaseException:
            self._breaker.release()
            raise
        return self._ranked(documents, scores)

    @component.output_types(documents=list[Document], reranked=bool, rerank_reason=str | None)
    async def run_async(self, query: str, documents: list[Document], rerank: bool = True) -> dict[str, Any]:
        """
        Rerank on the event loop where the ranker can, otherwise in a thread; see :meth:`run`.

        :param query: what the candidates are scored against.
        :param documents: candidates in fused order.
        :param rerank: ``False`` skips the ranker for this request.
        :returns: as :meth:`run`.
        """
        await self.warm_up_async()
        reason = self._refusal(documents, rerank)
        if reason or self.ranker is None:
            return _unranked(documents, reason)
        try:
            scores = await rank_async(self.ranker, query, documents[: self._window], self.timeout)
        except Exception as error:
            return self._failed(documents, error)
        except BaseException:
            self._breaker.release()
            raise
        return self._ranked(documents, scores)

    def _must_load(self) -> bool:
        if self._warm or not self._enabled or self.ranker is None:
            return False
        self._warm = True
        return True

    def _note_load_fault(self, error: Exception) -> None:
        self._load_fault = f"ranker could not be loaded: {type(error).__name__}"
        logger.warning("The ranker could not be loaded, searches go on without it: %s", error)

    def _refusal(self, documents: list[Document], rerank: bool) -> str | None:
        """Why the ranker is not called; ``None`` admits the call at the circuit breaker."""
        obstacles = (
            (not rerank, "switched off for this request"),
            (not self._enabled, "reranking is off"),
            (self.ranker is None, "no ranker is configured"),
            (self._load_fault is not None, self._load_fault),
            (not documents, "no candidates"),
        )
        for stands, reason in obstacles:
            if stands:
                return reason
        return None if self._breaker.admit() else f"ranker paused after {self.failures_to_open} failures"

    def _ranked(self, documents: list[Document], scores: list[tuple[str, float]]) -> dict[str, Any]:
        self._breaker.record(success=True)
        by_id = {document.id: document for document in documents}
        head = [_with_score(by_id[span], score) for span, score in scores]
        returned = {span for span, _ in scores}
        tail = [document for document in documents if document.id not in returned]
        return {"documents": head + tail, "reranked": True, "rerank_reason": None}

    def _failed(self, documents: list[Document], error: Exception) -> dict[str, Any]:
        self._breaker.record(success=False)
        if isinstance(error, RankerOverdueError):
            reason = f"ranker took longer than {self.timeout:g} s"
        elif isinstance(error, UnusableRankingError):
            reason = f"ranker's answer is no ranking: {error}"
        else:
            # The kind only: a message may hold an address or a key.
            reason = f"ranker failed: {type(error).__name__}"
        logger.debug("Reranking failed", exc_info=error)
        return _unranked(documents, reason)


def _unranked(documents: list[Document], reason: str | None) -> dict[str, Any]:
    return {"documents": documents, "reranked": False, "rerank_reason": reason}


def _with_score(document: Document, score: float) -> Document:
    meta = {**document.meta, "_score_kind": "rerank", "_fused_score": document.score}
    return replace(document, score=score, meta=meta)
