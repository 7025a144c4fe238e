# SPDX-License-Identifier: Apache-2.0
"""The last stage: no result leaves without a locator that gives its text again (S2)."""

from typing import Any

from haystack import Document, component
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.errors import AttributionError
from haystack_integrations.document_stores.pincite.leg_statements import texts, texts_by_id
from haystack_integrations.document_stores.pincite.statements import Statement


@component
class AttributionGate:
    """
    Reads each result again at its locator, in one statement, and refuses to answer if the text is another.

    A result that cannot be found again means that the store is broken; that is an error, never a result less.
    """

    def __init__(self, document_store: CorpusDocumentStore) -> None:
        """:param document_store: the corpus."""
        self.document_store = document_store

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document], groups: list[str] | None = None) -> dict[str, Any]:
        """
        :param documents: the results.
        :param groups: groups of the principal.
        :returns: ``documents``, as they came, in a plain list.
        :raises AttributionError: a result whose locator does not resolve to its text.
        """
        if documents:
            self._check(documents, self.document_store.fetch(self._statement(documents), groups=groups))
        return {"documents": list(documents)}

    @component.output_types(documents=list[Document])
    async def run_async(self, documents: list[Document], groups: list[str] | None = None) -> dict[str, Any]:
        """As :meth:`run`."""
        if documents:
            self._check(documents, await self.document_store.fetch_async(self._statement(documents), groups=groups))
        return {"documents": list(documents)}

    def _statement(self, documents: list[Document]) -> Statement:
        return texts([document.id for document in documents])

    def _check(self, documents: list[Document], rows: list[dict[str, Any]]) -> None:
        there = texts_by_id(rows)
        for document in documents:
            if there.get(document.id) != document.content:
                place = f"{document.meta.get('source_id')} {document.meta.get('start')}-{document.meta.get('end')}"
                raise AttributionError(
                    f"span '{document.id}' does not stand at its locator ({place}): "
                    f"ingest the source again, or run: pincite audit {self.document_store.corpus}"
                )
