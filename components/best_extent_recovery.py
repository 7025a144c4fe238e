# SPDX-License-Identifier: Apache-2.0
"""Best-extent recovery: the spans that answer the topic, from inside the sources that the query names (N5)."""

from typing import Any

from haystack import Document, component
from haystack_integrations.components.pincite.intents import Degradation, NamedSource
from haystack_integrations.components.pincite.stages.counts import check_counts
from haystack_integrations.components.pincite.stages.leg import Rows, rows_of, rows_of_async
from haystack_integrations.components.pincite.stages.ordering import source_of
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.leg_statements import extents, span_document
from haystack_integrations.document_stores.pincite.spans import restated, shared
from haystack_integrations.document_stores.pincite.statements import Statement


@component
class BestExtentRecovery:
    """
    Fetches, from each source admitted by name, its best spans for the topic, in one statement.

    The legs rank a clause against the whole corpus, where the clause of the named document is one among hundreds that
    say nearly the same. Ranked against its own document alone, it comes first. The recovered spans stand together
    where the first candidate of a named source stood, best first; the sources of two instruments take turns. A
    recovered span gains ``weight / (k + rank)`` in the unit of the fused score, and ``recovery`` among its legs.
    """

    def __init__(
        self,
        document_store: CorpusDocumentStore,
        max_sources: int = 8,
        spans_per_source: int = 10,
        weight: float = 1.0,
        k: int = 60,
        lexical_weight: float = 2.0,
        dense_weight: float = 1.0,
        source_k: int = 10,
        fingerprint: str | None = None,
        timeout: float = 5.0,
    ) -> None:
        """
        :param document_store: the corpus.
        :param max_sources: named sources that are searched inside, best first; the bound is the same with a cache.
        :param spans_per_source: spans fetched from each.
        :param weight: weight of the recovered rank in the fused score; the joiner's ``later_weights`` says the same.
        :param k: the constant of the fusion.
        :param lexical_weight: weight of the word ranking inside a source.
        :param dense_weight: weight of the vector ranking inside a source.
        :param source_k: constant of the fusion inside a source: smaller than ``k``, since its lists are short.
        :param fingerprint: identity of the query's embedder, where no embedder says so at run time (S3).
        :param timeout: seconds after which nothing is recovered and the search goes on.
        :raises ConfigurationError: a count below 1.
        """
        check_counts("BestExtentRecovery", max_sources=max_sources, spans_per_source=spans_per_source)
        self.document_store = document_store
        self.max_sources = max_sources
        self.spans_per_source = spans_per_source
        self.weight = weight
        self.k = k
        self.lexical_weight = lexical_weight
        self.dense_weight = dense_weight
        self.source_k = source_k
        self.fingerprint = fingerprint
        self.timeout = timeout

    @component.output_types(documents=list[Document], degraded=list[Degradation])
    def run(
        self,
        documents: list[Document],
        matches: list[NamedSource],
        topic_query: str,
        query_embedding: list[float],
        scale: float,
        groups: list[str] | None = None,
        fingerprint: str | None = None,
    ) -> dict[str, Any]:
        """
        :param documents: the candidates, best first.
        :param matches: the sources that carry the name, best first; with none, nothing changes.
        :param topic_query: what is asked, names removed.
        :param query_embedding: its vector.
        :param scale: what a fused sum is multiplied by to be a score (joiner).
        :param groups: groups of the principal; ``None`` sees nothing.
        :param fingerprint: identity of the embedder that made ``query_embedding``; no other's vectors are compared.
        :returns: ``documents``: the candidates with the recovered spans among them; none is lost or doubled.
            ``degraded``: why nothing was recovered.
        :raises PinciteError: unreachable database, breach of isolation, corpus not set up.
        """
        sources = self._sources(matches)
        if not sources:
            return {"documents": documents, "degraded": []}
        statement = self._statement(sources, topic_query, query_embedding, fingerprint)
        rows, degraded = rows_of(self.document_store, statement, groups, self.timeout, "recovery")
        return {"documents": shared(self._placed(documents, rows, matches, scale)), "degraded": degraded}

    @component.output_types(documents=list[Document], degraded=list[Degradation])
    async def run_async(
        self,
        documents: list[Document],
        matches: list[NamedSource],
        topic_query: str,
        query_embedding: list[float],
        scale: float,
        groups: list[str] | None = None,
        fingerprint: str | None = None,
    ) -> dict[str, Any]:
        """As :meth:`run`."""
        sources = self._sources(matches)
        if not sources:
            return {"documents": documents, "degraded": []}
        statement = self._statement(sources, topic_query, query_embedding, fingerprint)
        rows, degraded = await rows_of_async(self.document_store, statement, groups, self.timeout, "recovery")
        return {"documents": shared(self._placed(documents, rows, matches, scale)), "degraded": degraded}

    def _sources(self, matches: list[NamedSource]) -> list[str]:
        return list(dict.fromkeys(match["source_id"] for match in matches))[: self.max_sources]

    def _statement(
        self, sources: list[str], topic_query: str, query_embedding: list[float], fingerprint: str | None
    ) -> Statement:
        return extents(
            sources,
            topic_query,
            query_embedding,
            limit=self.spans_per_source,
            lexical_weight=self.lexical_weight,
            dense_weight=self.dense_weight,
            k=self.source_k,
            fingerprint=fingerprint or self.fingerprint,
        )

    def _placed(
        self, documents: list[Document], rows: Rows, matches: list[NamedSource], scale: float
    ) -> list[Document]:
        known = {document.id: document for document in documents}
        recovered: dict[str, list[Document]] = {}
        for row in rows:
            span = known.get(row["id"]) or span_document({**row, "score": 0.0}, self.document_store.corpus)
            recovered.setdefault(row["source_id"], []).append(self._recovered(span, row["extent_rank"], scale))
        named = set(recovered)  # before the turns, which empty the queues
        block = _in_turns(recovered, matches)
        moved = {span.id for span in block}
        place = next((place for place, span in enumerate(documents) if source_of(span) in named), len(documents))
        before = documents[:place]
        after = [span for span in documents[place:] if span.id not in moved]
        return [*before, *block, *after]

    def _recovered(self, span: Document, rank: int, scale: float) -> Document:
        score = (span.score or 0.0) + scale * self.weight / (self.k + rank)
        legs = {**span.meta.get("_legs", {}), "recovery": rank}
        return restated(span, {**span.meta, "_legs": legs, "_score_kind": "fused", "_recovered": True}, score)


def _in_turns(recovered: dict[str, list[Document]], matches: list[NamedSource]) -> list[Document]:
    """Spans of the best source first, then of the next; the instruments of a query take turns, span by span (N12)."""
    queues: dict[int, list[Document]] = {}
    for match in matches:
        # pop: a source that carries both names is placed once.
        queues.setdefault(match["intent"], []).extend(recovered.pop(match["source_id"], []))
    longest = max(map(len, queues.values()), default=0)
    return [queue[turn] for turn in range(longest) for _, queue in sorted(queues.items()) if turn < len(queue)]
