# SPDX-License-Identifier: Apache-2.0
"""Reserved places for sources whose title is what the query names (N4, N12)."""

from haystack import Document, component
from haystack_integrations.components.pincite.intents import NamedSource
from haystack_integrations.components.pincite.stages.counts import check_counts
from haystack_integrations.components.pincite.stages.inline_async import inline_async
from haystack_integrations.components.pincite.stages.ordering import source_of
from haystack_integrations.document_stores.pincite.spans import restated, shared


@component
@inline_async
class TitleReservation:
    """
    Adds the best title hits after the fusion's cutoff, so that a strong sign of identity in one leg is not lost.

    It only adds: what passed the cutoff stays where it is. Without matches it changes nothing.
    """

    def __init__(self, places: int = 8) -> None:
        """:param places: sources that get a place, those that passed the cutoff by themselves counted in."""
        check_counts("TitleReservation", 0, places=places)
        self.places = places

    @component.output_types(documents=list[Document])
    def run(
        self,
        documents: list[Document],
        overflow: list[Document],
        title_documents: list[Document],
        matches: list[NamedSource],
    ) -> dict[str, list[Document]]:
        """
        Admit the matched sources' title spans.

        :param documents: the fused candidates that passed the cutoff.
        :param overflow: the fused candidates that did not: an admitted span keeps the fused score it has there.
        :param title_documents: the title leg, one span per source.
        :param matches: the sources that carry the name, best first. The instruments of a query take turns.
        :returns: ``documents``, then the admitted ones, marked ``_reserved``.
        """
        passed = {document.id for document in documents}
        fused = {document.id: document for document in overflow}
        admitted = []
        for hit in self._entitled(title_documents, matches):
            if hit.id in passed:
                continue
            # A title leg of weight 0 is not in the fusion at all: its sum, and so its score, is 0.
            span = fused.get(hit.id) or restated(hit, {**hit.meta, "_legs": {}, "_score_kind": "fused"}, 0.0)
            admitted.append(restated(span, {**span.meta, "_reserved": True}, span.score))
        return {"documents": shared([*documents, *admitted])}

    def _entitled(self, title_documents: list[Document], matches: list[NamedSource]) -> list[Document]:
        by_source: dict[str, Document] = {}
        for document in title_documents:
            by_source.setdefault(source_of(document), document)
        entitled: dict[str, Document] = {}
        for match in _in_turns(matches):
            if match["source_id"] in by_source:
                entitled.setdefault(match["source_id"], by_source[match["source_id"]])
        return list(entitled.values())[: self.places]


def _in_turns(matches: list[NamedSource]) -> list[NamedSource]:
    """The best match of each instrument, then the second of each, and so on."""
    turn_of: dict[int, int] = {}
    turns = []
    for match in matches:
        turn = turn_of[match["intent"]] = turn_of.get(match["intent"], -1) + 1
        turns.append((turn, match["intent"], match))
    return [match for _, _, match in sorted(turns, key=lambda entry: entry[:2])]
