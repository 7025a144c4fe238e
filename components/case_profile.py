# SPDX-License-Identifier: Apache-2.0
"""What a case is about, as the legs can search for it: its mean vector and its most telling words."""

import json
from typing import Any

from haystack import component
from haystack_integrations.document_stores.pincite.case_statements import case_profile
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.errors import BadInputError
from haystack_integrations.document_stores.pincite.statements import Statement


@component
class CaseProfile:
    """
    Reads the spans of one case, as far as the principal may see them, in one statement.

    Words are chosen by how often the case uses them, weighed by how few spans of the corpus do; a word that stands in
    no other span cannot make cases alike and is left out.
    """

    def __init__(self, document_store: CorpusDocumentStore, words: int = 32) -> None:
        """
        :param document_store: the corpus.
        :param words: most words of a profile.
        """
        self.document_store = document_store
        self.words = words

    @component.output_types(embedding=list[float], fingerprint=str | None, search_query=str)
    def run(
        self, case_id: str, query: str = "", groups: list[str] | None = None, filters: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """
        :param case_id: the case, for the message when it is not there.
        :param query: words that the likeness should be about; they stand before those of the case.
        :param groups: groups of the principal; ``None`` sees nothing.
        :param filters: the rows of the case (:class:`~.case_request.CaseRequest`).
        :returns: ``embedding``, the mean of the vectors of the case, with the ``fingerprint`` of their embedder;
            ``search_query``, its words.
        :raises BadInputError: this principal sees no such case.
        """
        rows = self.document_store.fetch(self._statement(filters), groups=groups)
        return self._profile(case_id, query, rows)

    @component.output_types(embedding=list[float], fingerprint=str | None, search_query=str)
    async def run_async(
        self, case_id: str, query: str = "", groups: list[str] | None = None, filters: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """As :meth:`run`."""
        rows = await self.document_store.fetch_async(self._statement(filters), groups=groups)
        return self._profile(case_id, query, rows)

    def _statement(self, filters: dict[str, Any] | None) -> Statement:
        return case_profile(filters=filters, words=self.words)

    def _profile(self, case_id: str, query: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
        if not rows or rows[0]["embedding"] is None:
            raise BadInputError(f"no case '{case_id:.80}' in corpus '{self.document_store.corpus}' in this scope")
        words = rows[0]["words"] or ""
        return {
            "embedding": json.loads(rows[0]["embedding"]),
            "fingerprint": rows[0]["fingerprint"],
            "search_query": f"{query} {words}".strip(),
        }
