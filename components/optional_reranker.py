# SPDX-License-Identifier: Apache-2.0
"""Any Haystack ranker, made optional: when it cannot help, the fused order stands (F3)."""

import logging
from dataclasses import replace
from typing import Any, TypedDict

from haystack import Document, component, default_to_dict
from haystack.core.component import Component
from haystack.core.serialization import component_to_dict
from haystack_integrations.components.pincite.ranking.circuit_breaker import CircuitBreaker
from haystack_integrations.components.pincite.ranking.configured_ranker import configured_ranker, shown_name
from haystack_integrations.components.pincite.ranking.ranker_call import (
    RankerDiedError,
    RankerOverdueError,
    UnusableRankingError,
    rank,
    rank_async,
)
from haystack_integrations.components.pincite.ranking.ranker_loading import RankerLoading
from haystack_integrations.components.pincite.stages.environment import (
    environment_count,
    environment_flag,
    environment_text,
)
from haystack_integrations.document_stores.pincite.errors import ConfigurationError, PinciteError

logger = logging.getLogger(__name__)

DEFAULT_CANDIDATES = 50


class RerankFacts(TypedDict):
    """
    What ``status`` says of a reranker (A2).

    ``enabled``: switched on and with a model; ``model`` its name; ``loaded``: ready to be used; ``reason``: why results
    come in fused order now, ``None`` where they are reranked.
    """

    enabled: bool
    model: str | None
    loaded: bool
    reason: str | None


@component
class OptionalReranker:
    """
    Reranks the first candidates with any Haystack ranker, and leaves the fused order as it is when that fails.

    The order stays when reranking is off, has no ranker, could not be loaded or is still loading, fails, takes too
    long, or gives an answer that is no ranking; ``rerank_reason`` then says which. Candidates beyond the window follow
    in their order. No candidate is lost, whatever the ranker drops.
    """

    def __init__(
        self,
        ranker: Component | None = None,
        *,
        enabled: bool | None = None,
        model: str | None = None,
        allow_external: bool = True,
        candidates: int | None = None,
        accept_fewer: bool = False,
        timeout: float = 5.0,
        failures_to_open: int = 3,
        reopen_after: float = 30.0,
    ) -> None:
        """
        :param ranker: a Haystack ranker: ``run(query, documents)`` gives ``documents`` with scores. ``None`` takes the
            one of ``model``.
        :param enabled: ``None`` takes ``PINCITE_RERANK_ENABLED`` or ``KB_RERANK_ENABLED``, off where neither is set.
        :param model: where no ranker is given: the folder of a cross-encoder, by its path or its name below ``models``
            in ``PINCITE_HOME``; or ``voyage:NAME``. ``None`` takes ``PINCITE_RERANKER_MODEL`` or ``KB_RERANKER_MODEL``.
        :param allow_external: whether ``model`` may be a service outside.
        :param candidates: how many are reranked; ``None`` takes ``PINCITE_RERANK_CANDIDATES`` or
            ``KB_RERANK_CANDIDATES``, 50 where neither is set.
        :param accept_fewer: whether the ranker may leave out some of them, as one with a threshold does; they follow
            in fused order. Otherwise such an answer is a fault.
        :param timeout: seconds that one reranking may take, and that searches wait for the ranker to be loaded.
        :param failures_to_open: failures in a row after which the ranker is left alone.
        :param reopen_after: seconds that it is left alone for; then one search tries it.
        :raises ConfigurationError: a number that is not positive, or an environment variable that does not parse.
        """
        for name, value in (("candidates", candidates), ("timeout", timeout), ("failures_to_open", failures_to_open)):
            if value is not None and value <= 0:
                raise ConfigurationError(f"OptionalReranker: {name} is {value}, expected more than 0")
        self.ranker = ranker
        self.enabled = enabled
        self.model = model
        self.allow_external = allow_external
        self.candidates = candidates
        self.accept_fewer = accept_fewer
        self.timeout = timeout
        self.failures_to_open = failures_to_open
        self.reopen_after = reopen_after
        self._enabled = enabled
        if enabled is None:
            self._enabled = environment_flag("PINCITE_RERANK_ENABLED", "KB_RERANK_ENABLED", default=False)
        self._model = model or environment_text("PINCITE_RERANKER_MODEL", "KB_RERANKER_MODEL")
        self._window = candidates or environment_count(
            "PINCITE_RERANK_CANDIDATES", "KB_RERANK_CANDIDATES", default=DEFAULT_CANDIDATES
        )
        self._breaker = CircuitBreaker(failures_to_open, reopen_after)
        self._last_failure: str | None = None
        self._loading = RankerLoading(self._build, timeout)

    def to_dict(self) -> dict[str, Any]:
        """Serialise; the ranker may be a component that has no ``to_dict`` of its own."""
        return default_to_dict(
            self,
            ranker=component_to_dict(self.ranker, "ranker") if self.ranker is not None else None,
            enabled=self.enabled,
            model=self.model,
            allow_external=self.allow_external,
            candidates=self.candidates,
            accept_fewer=self.accept_fewer,
            timeout=self.timeout,
            failures_to_open=self.failures_to_open,
            reopen_after=self.reopen_after,
        )

    def start_loading(self) -> None:
        """Begin to load the ranker if it is to be used, without waiting."""
        if self._off() is None:
            self._loading.start()

    def warm_up(self) -> None:
        """Load the ranker if it is to be used, waiting at most ``timeout`` for it. Each run reports one that is not."""
        if self._off() is None:
            self._loading.wait()

    async def warm_up_async(self) -> None:
        """As :meth:`warm_up`, by the ranker's ``warm_up_async`` where it has one."""
        if self._off() is None:
            await self._loading.wait_async()

    def close(self) -> None:
        """Let the ranker release what it holds."""
        if close := getattr(self._held(), "close", None):
            close()

    async def close_async(self) -> None:
        """Let the ranker release what it holds on the event loop."""
        if close := getattr(self._held(), "close_async", None):
            await close()

    def facts(self) -> RerankFacts:
        """What ``status`` says of it now; loads nothing."""
        off = self._off()
        reason = off or self._loading.fault
        if reason is None and self._breaker.open:
            reason = self._paused()
        return {
            "enabled": off is None,
            "model": self._model_name(),
            "loaded": self._loading.ranker is not None,
            "reason": reason,
        }

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
        reason, ranker = self._refusal(documents, rerank), self._loading.ranker
        if reason or ranker is None:
            return _unranked(documents, reason)
        try:
            scores = rank(ranker, query, documents[: self._window], self.timeout, self.accept_fewer)
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
        reason, ranker = self._refusal(documents, rerank), self._loading.ranker
        if reason or ranker is None:
            return _unranked(documents, reason)
        try:
            scores = await rank_async(ranker, query, documents[: self._window], self.timeout, self.accept_fewer)
        except Exception as error:
            return self._failed(documents, error)
        except BaseException:
            self._breaker.release()
            raise
        return self._ranked(documents, scores)

    def _build(self) -> Component:
        if self.ranker is not None:
            return self.ranker
        return configured_ranker(self._model or "", allow_external=self.allow_external, timeout=self.timeout)

    def _held(self) -> Component | None:
        return self._loading.ranker or self.ranker

    def _model_name(self) -> str | None:
        if self.ranker is not None:
            return type(self.ranker).__name__
        return shown_name(self._model) if self._model else None

    def _off(self) -> str | None:
        """Why nothing is ever reranked; ``None`` where it is switched on and has a model (F3)."""
        if not self._enabled:
            return "reranking is off"
        return "no ranker is configured" if self.ranker is None and not self._model else None

    def _paused(self) -> str:
        return f"ranker paused after {self.failures_to_open} failures, the last: {self._last_failure}"

    def _refusal(self, documents: list[Document], rerank: bool) -> str | None:
        """Why the ranker is not called; ``None`` admits the call at the circuit breaker."""
        if not rerank:
            return "switched off for this request"
        reason = self._off() or self._loading.fault or (None if documents else "no candidates")
        if reason is not None:
            return reason
        return None if self._breaker.admit() else self._paused()

    def _ranked(self, documents: list[Document], scores: list[tuple[str, float]]) -> dict[str, Any]:
        self._breaker.record(success=True)
        by_id = {document.id: document for document in documents}
        head = [_with_score(by_id[span], score) for span, score in scores]
        returned = {span for span, _ in scores}
        tail = [document for document in documents if document.id not in returned]
        return {"documents": head + tail, "reranked": True, "rerank_reason": None}

    def _failed(self, documents: list[Document], error: Exception) -> dict[str, Any]:
        if isinstance(error, RankerOverdueError):
            reason = f"ranker took longer than {self.timeout:g} s"
        elif isinstance(error, UnusableRankingError):
            reason = f"ranker's answer is no ranking: {error}"
        elif isinstance(error, RankerDiedError):
            reason = f"ranker ended in the middle of its work: {error}"
        else:
            # Of others the kind only: a message may hold an address or a key.
            reason = f"ranker failed: {error if isinstance(error, PinciteError) else type(error).__name__}"
        self._last_failure = reason
        self._breaker.record(success=False)
        logger.debug("Reranking failed", exc_info=error)
        return _unranked(documents, reason)


def _unranked(documents: list[Document], reason: str | None) -> dict[str, Any]:
    return {"documents": documents, "reranked": False, "rerank_reason": reason}


def _with_score(document: Document, score: float) -> Document:
    meta = {**document.meta, "_score_kind": "rerank", "_fused_score": document.score}
    return replace(document, score=score, meta=meta)
