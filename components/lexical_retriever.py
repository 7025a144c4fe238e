# SPDX-License-Identifier: Apache-2.0
"""The lexical leg: spans that hold the rare words of the query."""

from typing import Any

from haystack import Document, component
from haystack_integrations.components.pincite.intents import Degradation
from haystack_integrations.components.pincite.stages.counts import check_counts
from haystack_integrations.components.pincite.stages.environment import environment_flag
from haystack_integrations.components.pincite.stages.leg import Rows, rows_of, rows_of_async
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.leg_statements import lexical, span_document
from haystack_integrations.document_stores.pincite.spans import shared
from haystack_integrations.document_stores.pincite.statements import Statement


@component
class LexicalRetriever:
    """
    Spans of one corpus by inverse document frequency of the words they share with the query.

    Words are joined by OR: a long question must not have to stand in a span as a whole.
    """

    def __init__(
        self,
        document_store: CorpusDocumentStore,
        top_k: int = 60,
        rows: int = 300,
        max_words: int = 32,
        enabled: bool = True,
        timeout: float = 5.0,
    ) -> None:
        """
        :param document_store: the corpus.
        :param top_k: spans fetched.
        :param rows: rows looked at: the rarest words of the query are taken until their frequencies add up to this.
        :param max_words: the rarest words of a query that take part, however long it is.
        :param enabled: ``False`` gives an empty leg (``PINCITE_LEXICAL_ENABLED``).
        :param timeout: seconds after which the leg gives up and the search goes on without it.
        :raises ConfigurationError: a count below 1.
        """
        check_counts("LexicalRetriever", top_k=top_k, rows=rows, max_words=max_words)
        self.document_store = document_store
        self.top_k = top_k
        self.rows = rows
        self.max_words = max_words
        self.enabled = enabled
        self.timeout = timeout

    @component.output_types(documents=list[Document], degraded=list[Degradation])
    def run(self, query: str, groups: list[str] | None = None, filters: dict[str, Any] | None = None) -> dict[str, Any]:
        """
        :param query: what is asked, names removed.
        :param groups: groups of the principal; ``None`` sees nothing.
        :param filters: Haystack filter on ``meta`` fields, applied before ``top_k``.
        :returns: ``documents``, best first, score is the weighted sum; ``degraded``, why there are none.
        :raises PinciteError: unreachable database, breach of isolation, corpus not set up.
        """
        if not self._active():
            return self._answer([], [])
        statement = self._statement(query, filters)
        return self._answer(*rows_of(self.document_store, statement, groups, self.timeout, "lexical"))

    @component.output_types(documents=list[Document], degraded=list[Degradation])
    async def run_async(
        self, query: str, groups: list[str] | None = None, filters: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """As :meth:`run`."""
        if not self._active():
            return self._answer([], [])
        statement = self._statement(query, filters)
        return self._answer(*await rows_of_async(self.document_store, statement, groups, self.timeout, "lexical"))

    def _active(self) -> bool:
        return self.enabled and environment_flag("PINCITE_LEXICAL_ENABLED", default=True)

    def _statement(self, query: str, filters: dict[str, Any] | None) -> Statement:
        return lexical(
            query,
            limit=self.top_k,
            rows=self.rows,
            words=self.max_words,
            filters=filters,
        )

    def _answer(self, rows: Rows, degraded: list[Degradation]) -> dict[str, Any]:
        return {
            "documents": shared([span_document(row, self.document_store.corpus) for row in rows]),
            "degraded": degraded,
        }
