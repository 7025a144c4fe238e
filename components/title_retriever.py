# SPDX-License-Identifier: Apache-2.0
"""The title leg: which sources carry the name that the query gives (N3)."""

from itertools import zip_longest
from typing import Any

from haystack import Document, component
from haystack_integrations.components.pincite.intents import Degradation, Intent, NamedSource
from haystack_integrations.components.pincite.naming.vocabulary import Vocabulary
from haystack_integrations.components.pincite.stages.counts import check_counts, check_shares
from haystack_integrations.components.pincite.stages.leg import Rows, rows_of, rows_of_async
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.leg_statements import Name, span_document, title, title_whole
from haystack_integrations.document_stores.pincite.spans import shared
from haystack_integrations.document_stores.pincite.statements import Statement


@component
class TitleRetriever:
    """
    Looks up named instruments among titles, and decides what the other legs search for.

    A source carries a name when it speaks of such an instrument in its title or opening, and holds enough of the name's
    distinguishing words, weighed by rarity. Where one does,
    the other legs search for the topic alone: the name has done its work, and would drown the question. Where none
    does, the document is not here: this leg and the others then search for the whole query, exactly as they would
    without the named-instrument policy (N7, N10).
    """

    def __init__(
        self,
        document_store: CorpusDocumentStore,
        top_k: int = 8,
        min_coverage: float = 0.5,
        margin: float = 0.08,
        vocabulary: str | None = None,
        timeout: float = 5.0,
    ) -> None:
        """
        :param document_store: the corpus.
        :param top_k: sources fetched for each name.
        :param min_coverage: share of the distinguishing words of a name, weighed by rarity, that a source must hold
            to carry it; 0..1.
        :param margin: how far below the best score a source may be and still carry the name, as a share of it; 0..1.
        :param vocabulary: path of the vocabulary file; ``None`` is the configured one.
        :param timeout: seconds after which the leg gives up and the search goes on without it.
        :raises ConfigurationError: a count below 1, a share outside 0..1.
        """
        check_counts("TitleRetriever", top_k=top_k)
        check_shares("TitleRetriever", min_coverage=min_coverage, margin=margin)
        self.document_store = document_store
        self.top_k = top_k
        self.min_coverage = min_coverage
        self.margin = margin
        self.vocabulary = vocabulary
        self.timeout = timeout
        self._vocabulary: Vocabulary | None = None

    def warm_up(self) -> None:
        """Read the vocabulary, once."""
        if self._vocabulary is None:
            self._vocabulary = Vocabulary.load(self.vocabulary)

    @component.output_types(
        documents=list[Document], matches=list[NamedSource], search_query=str, degraded=list[Degradation]
    )
    def run(
        self,
        query: str,
        intents: list[Intent],
        topic_query: str,
        groups: list[str] | None = None,
        filters: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """
        :param query: the whole query.
        :param intents: the instruments that it names.
        :param topic_query: what is asked, names removed.
        :param groups: groups of the principal; ``None`` sees nothing.
        :param filters: Haystack filter on ``meta`` fields.
        :returns: ``documents``: one span a source, its best for the topic, best source first; the instruments of a
            query take turns. ``matches``: the sources that carry a name, best first; empty when none does.
            ``search_query``: what the other legs search for. ``degraded``: what failed.
        :raises PinciteError: unreachable database, breach of isolation, corpus not set up.
        """
        degraded: list[Degradation] = []
        found: list[Rows] = []
        for intent in intents:
            rows, notes = rows_of(
                self.document_store, self.name_statement(intent, topic_query, filters), groups, self.timeout, "title"
            )
            found.append(rows)
            degraded += notes
        if matches := self._matches(found):
            return self._answer(found, matches, topic_query, degraded)
        rows, notes = rows_of(self.document_store, self.whole_statement(query, filters), groups, self.timeout, "title")
        return self._answer([rows], [], query, [*degraded, *notes])

    @component.output_types(
        documents=list[Document], matches=list[NamedSource], search_query=str, degraded=list[Degradation]
    )
    async def run_async(
        self,
        query: str,
        intents: list[Intent],
        topic_query: str,
        groups: list[str] | None = None,
        filters: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """As :meth:`run`."""
        degraded: list[Degradation] = []
        found: list[Rows] = []
        for intent in intents:
            statement = self.name_statement(intent, topic_query, filters)
            rows, notes = await rows_of_async(self.document_store, statement, groups, self.timeout, "title")
            found.append(rows)
            degraded += notes
        if matches := self._matches(found):
            return self._answer(found, matches, topic_query, degraded)
        statement = self.whole_statement(query, filters)
        rows, notes = await rows_of_async(self.document_store, statement, groups, self.timeout, "title")
        return self._answer([rows], [], query, [*degraded, *notes])

    def name_statement(self, intent: Intent, topic: str, filters: dict[str, Any] | None) -> Statement:
        """What is asked of the database for one named instrument: ``score`` and ``coverage`` of each source."""
        return title(
            self._name(intent),
            topic,
            limit=self.top_k,
            min_coverage=self.min_coverage,
            margin=self.margin,
            filters=filters,
        )

    def _name(self, intent: Intent) -> Name:
        self.warm_up()
        vocabulary = self._vocabulary
        assert vocabulary is not None  # noqa: S101 - warm_up has just set it
        # A generic word ("Services") ranks, but is no evidence that the source is the one named, unless the whole name
        # is made of such words ("National Processing").
        naming = [(word, not vocabulary.is_generic(word)) for word in intent["qualifiers"]]
        if not any(flag for _, flag in naming):
            naming = [(word, True) for word, _ in naming]
        words = [*naming, *((word, False) for word in intent["phrase"].split())]
        return {
            "words": [word for word, _ in words],
            "naming": [flag for _, flag in words],
            "phrase": intent["phrase"],
            "aliases": vocabulary.aliases(intent["type"]),
        }

    def whole_statement(self, query: str, filters: dict[str, Any] | None) -> Statement:
        """What is asked of the database for a query that names nothing."""
        return title_whole(query, limit=self.top_k, filters=filters)

    def _matches(self, found: list[Rows]) -> list[NamedSource]:
        matches: list[NamedSource] = []
        for number, rows in enumerate(found):
            for row in rows:
                if row["carries"] and row["id"]:
                    title_text = str((row["meta"] or {}).get("title", row["source"]))
                    matches.append({"source_id": row["source"], "title": title_text, "intent": number})
        return matches

    def _answer(
        self, found: list[Rows], matches: list[NamedSource], search_query: str, degraded: list[Degradation]
    ) -> dict[str, Any]:
        # Where a name is carried, sources of the same type that do not carry it have no business in this leg.
        carrying = {match["source_id"] for match in matches}
        kept = [[row for row in rows if row["id"] and (not matches or row["source_id"] in carrying)] for rows in found]
        in_turns = {row["id"]: row for turn in zip_longest(*kept) for row in turn if row is not None}
        documents = [span_document(row, self.document_store.corpus) for row in in_turns.values()]
        return {
            "documents": shared(documents),
            "matches": shared(matches),
            "search_query": search_query,
            "degraded": degraded,
        }
