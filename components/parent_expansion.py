# SPDX-License-Identifier: Apache-2.0
"""The section around each candidate (N5)."""

from haystack import Document, component
from haystack_integrations.components.pincite.stages.inline_async import inline_async
from haystack_integrations.document_stores.pincite.spans import Extent, restated, shared


@component
@inline_async
class ParentExpansion:
    """Names the parent extent of every candidate, for ``show`` and ``parent``. The text stays the span's own."""

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """
        Set ``meta["parent"]``.

        :param documents: candidates with ``parent_start`` and ``parent_end`` in ``meta`` where they have a parent.
        :returns: ``documents`` in the same order; ``meta["parent"]`` is an :class:`Extent` or ``None``.
        """
        return {"documents": shared([_with_parent(document) for document in documents])}


def _with_parent(document: Document) -> Document:
    return restated(document, {**document.meta, "parent": _parent_of(document)}, document.score)


def _parent_of(document: Document) -> Extent | None:
    start, end = document.meta.get("parent_start"), document.meta.get("parent_end")
    if start is None or end is None:
        return None
    return Extent(start=start, end=end, section=document.meta.get("section"))
