# SPDX-License-Identifier: Apache-2.0
"""The diversity cap and the page that the user asked for (F5)."""

from collections import Counter
from typing import Any, TypedDict

from haystack import Document, component
from haystack_integrations.components.pincite.intents import NamedSource
from haystack_integrations.components.pincite.stages.counts import check_counts
from haystack_integrations.components.pincite.stages.inline_async import inline_async
from haystack_integrations.components.pincite.stages.ordering import source_of


class CappedSpan(TypedDict):
    """A candidate that the cap dropped."""

    id: str
    source_id: str


@component
@inline_async
class SourceDiversifier:
    """
    Lets at most so many spans of one source pass, and cuts at ``top_k``.

    It drops and never reorders; what stands below fills the places up. A source that carries the name which the query
    gives may give more: somebody who asks one document wants the answer's parts from that document.
    """

    def __init__(self, max_per_source: int = 3, max_per_named_source: int = 10) -> None:
        """
        :param max_per_source: results of one source, where the request does not say.
        :param max_per_named_source: results of a source that the query names; never less than the ordinary cap.
        """
        check_counts("SourceDiversifier", max_per_source=max_per_source, max_per_named_source=max_per_named_source)
        self.max_per_source = max_per_source
        self.max_per_named_source = max_per_named_source

    @component.output_types(documents=list[Document], dropped=list[CappedSpan])
    def run(
        self,
        documents: list[Document],
        matches: list[NamedSource] | None = None,
        top_k: int = 10,
        max_per_source: int | None = None,
    ) -> dict[str, Any]:
        """
        Apply the cap, then the page size.

        :param documents: the candidates in their final order.
        :param matches: the sources that carry the name (title leg).
        :param top_k: results wanted.
        :param max_per_source: the request's own cap for sources that are not named.
        :returns: ``documents``, the first ``top_k`` within the cap; ``dropped``, all that are over the cap, in order.
        """
        cap = self.max_per_source if max_per_source is None else max_per_source
        named_cap = max(cap, self.max_per_named_source)
        named_ids = {match["source_id"] for match in matches or []}
        seen: Counter[str] = Counter()
        kept: list[Document] = []
        dropped: list[CappedSpan] = []
        for document in documents:
            source_id = source_of(document)
            seen[source_id] += 1
            if seen[source_id] <= (named_cap if source_id in named_ids else cap):
                kept.append(document)
            else:
                dropped.append(CappedSpan(id=document.id, source_id=source_id))
        return {"documents": kept[:top_k], "dropped": dropped}
