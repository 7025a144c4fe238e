# SPDX-License-Identifier: Apache-2.0
"""The title leg over any retriever: which of its hits carry the name, and where to search for the topic (N3, A5)."""

from typing import Any

from haystack import Document, component
from haystack_integrations.components.pincite.intents import Intent, NamedSource
from haystack_integrations.components.pincite.named_instrument_partition import NamedInstrumentPartition
from haystack_integrations.components.pincite.stages.inline_async import inline_async
from haystack_integrations.components.pincite.stages.ordering import source_of


@component
@inline_async
class TitleMatcher:
    """
    Takes the place of :class:`TitleRetriever` where the documents are not in PostgreSQL.

    Any retriever looks the name up among documents that stand for whole sources; this stage decides which of its hits
    carry the name. It asks what :class:`NamedInstrumentPartition` asks later, so what matches here is promoted there:
    the display title holds the recognised type, and shares a distinguishing word with the name. The order of the hits
    is kept, and is all that their scores are used for.
    """

    def __init__(self, vocabulary: str | None = None, max_matches: int = 8) -> None:
        """
        :param vocabulary: path of the vocabulary file; ``None`` is the configured one.
        :param max_matches: at most so many sources carry one name.
        """
        self.vocabulary = vocabulary
        self.max_matches = max_matches
        self._partition = NamedInstrumentPartition(vocabulary)

    def warm_up(self) -> None:
        """Read the vocabulary, once."""
        self._partition.warm_up()

    @component.output_types(matches=list[NamedSource], filters=dict[str, Any], search_query=str)
    def run(self, titles: list[Document], intents: list[Intent], query: str, topic_query: str) -> dict[str, Any]:
        """
        Match the hits with the names.

        :param titles: hits of a search for the name, best first; ``meta["title"]`` is the display title,
            ``meta["source_id"]`` the source.
        :param intents: the instruments that the query names.
        :param query: the whole query.
        :param topic_query: what is asked, names removed.
        :returns: ``matches``: the sources that carry a name, best first; empty when none does. ``filters``: a Haystack
            filter that passes the spans of these sources, and no span without a match. ``search_query``: what to search
            for: the topic where a name is carried, otherwise the whole query, as without a name (N10).
        """
        matches = [match for number in range(len(intents)) for match in self._carrying(titles, intents, number)]
        sources = list(dict.fromkeys(match["source_id"] for match in matches))
        return {
            "matches": matches,
            "filters": {"field": "meta.source_id", "operator": "in", "value": sources},
            "search_query": topic_query if matches else query,
        }

    def _carrying(self, titles: list[Document], intents: list[Intent], number: int) -> list[NamedSource]:
        offered = {source_of(document): str(document.meta.get("title") or "") for document in titles}
        named: list[NamedSource] = [
            {"source_id": source_id, "title": title, "intent": number} for source_id, title in offered.items()
        ]
        carrying: list[NamedSource] = self._partition.run(titles, intents, named)["named"]["sources"]
        return carrying[: self.max_matches]
