# SPDX-License-Identifier: Apache-2.0
"""The dense leg: spans whose vectors are nearest to that of the query."""

from typing import Any

from haystack import Document, component
from haystack_integrations.components.pincite.intents import Degradation
from haystack_integrations.components.pincite.stages.leg import Rows
from haystack_integrations.components.pincite.stages.vector_leg import Build, vector_rows, vector_rows_async
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.errors import ConfigurationError
from haystack_integrations.document_stores.pincite.leg_statements import dense, span_document
from haystack_integrations.document_stores.pincite.spans import shared

_MOST = 1000  # of hnsw.ef_search


@component
class DenseRetriever:
    """
    Approximate nearest spans of one corpus by cosine distance (HNSW).

    The vectors stay in the database: later stages would only copy them.
    """

    def __init__(
        self,
        document_store: CorpusDocumentStore,
        top_k: int = 60,
        ef_search: int = 100,
        fingerprint: str | None = None,
        timeout: float = 5.0,
    ) -> None:
        """
        :param document_store: the corpus.
        :param top_k: spans fetched, 1 to 1,000.
        :param ef_search: candidate list of the HNSW search, 1 to 1,000, at least ``top_k``: larger finds more, slower.
        :param fingerprint: identity of the query's embedder, where no embedder says so at run time.
        :param timeout: seconds after which the leg gives up and the search goes on without it.
        :raises ConfigurationError: ``top_k`` or ``ef_search`` is outside what pgvector can do.
        """
        for name, value in (("top_k", top_k), ("ef_search", ef_search)):
            if not 1 <= value <= _MOST:
                raise ConfigurationError(
                    f"DenseRetriever: {name} is {value}, expected 1 to {_MOST:,} (the most that pgvector's HNSW gives)"
                )
        self.document_store = document_store
        self.top_k = top_k
        self.ef_search = ef_search
        self.fingerprint = fingerprint
        self.timeout = timeout

    @component.output_types(documents=list[Document], degraded=list[Degradation])
    def run(
        self,
        query_embedding: list[float],
        groups: list[str] | None = None,
        filters: dict[str, Any] | None = None,
        fingerprint: str | None = None,
    ) -> dict[str, Any]:
        """
        :param query_embedding: vector of what is asked, names removed; empty if its embedder failed.
        :param groups: groups of the principal; ``None`` sees nothing.
        :param filters: Haystack filter on ``meta`` fields, applied before ``top_k``.
        :param fingerprint: identity of the embedder that made ``query_embedding``: only fresh vectors of the same are
            compared (S3), whichever set of the corpus holds them. Without one here or at construction: those of the
            embedder that the corpus is for.
        :returns: ``documents``, nearest first, score is cosine similarity; ``degraded``, why there are none.
        :raises PinciteError: unreachable database, breach of isolation, corpus not set up.
        """
        if not query_embedding:
            return {"documents": [], "degraded": []}  # the embedder has said why
        asked = self._asked(groups, fingerprint)
        build = self._statement(query_embedding, filters, asked["fingerprint"])
        return self._answer(*vector_rows(self.document_store, build, **asked))

    @component.output_types(documents=list[Document], degraded=list[Degradation])
    async def run_async(
        self,
        query_embedding: list[float],
        groups: list[str] | None = None,
        filters: dict[str, Any] | None = None,
        fingerprint: str | None = None,
    ) -> dict[str, Any]:
        """As :meth:`run`."""
        if not query_embedding:
            return {"documents": [], "degraded": []}
        asked = self._asked(groups, fingerprint)
        build = self._statement(query_embedding, filters, asked["fingerprint"])
        return self._answer(*await vector_rows_async(self.document_store, build, **asked))

    def _asked(self, groups: list[str] | None, fingerprint: str | None) -> dict[str, Any]:
        told = {"fingerprint": fingerprint or self.fingerprint, "groups": groups}
        return {**told, "timeout": self.timeout, "stage": "dense"}

    def _statement(
        self, query_embedding: list[float], filters: dict[str, Any] | None, fingerprint: str | None
    ) -> Build:
        return lambda column: dense(
            query_embedding,
            limit=self.top_k,
            ef_search=self.ef_search,
            fingerprint=fingerprint,
            column=column,
            filters=filters,
        )

    def _answer(self, rows: Rows, degraded: list[Degradation]) -> dict[str, Any]:
        return {
            "documents": shared([span_document(row, self.document_store.corpus) for row in rows]),
            "degraded": degraded,
        }
