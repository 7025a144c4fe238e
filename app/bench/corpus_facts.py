# SPDX-License-Identifier: Apache-2.0
"""What the corpus knows of labelled documents: that they are there, where a quote stands, which spans are relevant."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.errors import BadInputError
from haystack_integrations.document_stores.pincite.scopes import ANY_SCOPE, within
from haystack_integrations.document_stores.pincite.statements import Statement
from pincite.bench.metrics import Hit, touches
from pincite.bench.queries import Label, Query

# Labels say what is right, whoever asks: they are looked up for one who sees all, in every scope.
_ALL = within(["*"], ANY_SCOPE)

_SOURCES = "SELECT source_id FROM sources WHERE source_id = ANY(%(ids)s)"
_TEXTS = "SELECT source_id, text FROM sources WHERE source_id = ANY(%(ids)s)"
_SPANS = (
    "SELECT id, source_id, start_offset, end_offset, page, page_end FROM spans"
    " WHERE source_id = ANY(%(ids)s) AND start_offset IS NOT NULL ORDER BY source_id, start_offset, id"
)
_BY_ID = (
    "SELECT id, source_id, start_offset, end_offset, page, page_end FROM spans"
    " WHERE id = ANY(%(ids)s) AND start_offset IS NOT NULL"
)
_KNOWN = "SELECT id FROM spans WHERE id = ANY(%(ids)s)"


@dataclass(frozen=True, slots=True)
class CorpusFacts:
    """
    The searchable spans of the labelled documents, in the order of their text.

    :param corpus: its name.
    :param spans: per document its spans.
    """

    corpus: str
    spans: dict[str, list[Hit]]

    def relevant_spans(self, labels: Sequence[Label]) -> list[str]:
        """
        Ids of the spans that share a character with a label; the qrels of span-level measures.

        A label that no stored span touches stands as an id that no search can return, so that an answer lost in
        ingestion counts as not found, instead of leaving the question out.
        """
        found: dict[str, None] = {}
        for label in labels:
            here = [hit.span_id for hit in self.spans.get(label.doc, []) if touches([label], hit)]
            missing = f"{self.corpus}:{label.doc}#missing-{label.start}-{label.end}"
            found.update(dict.fromkeys(here or [missing]))
        return list(found)

    def unstored(self, labels: Sequence[Label]) -> int:
        """How many labels no stored span touches."""
        return sum(not any(touches([label], hit) for hit in self.spans.get(label.doc, [])) for label in labels)

    def has_pages(self, doc: str) -> bool:
        """Whether the spans of a document know their pages; plain text has none."""
        return any(hit.page is not None for hit in self.spans.get(doc, []))


def located(store: CorpusDocumentStore, queries: Sequence[Query]) -> list[Query]:
    """
    The questions with every label's document checked, and quotes turned into ranges.

    :raises BadInputError: a document that the corpus lacks, or a quote that does not stand in it exactly once.
    """
    wanted = sorted({label.doc for query in queries for label in query.labels})
    present = {row["source_id"] for row in store.fetch(Statement(_SOURCES, {"ids": wanted}), groups=_ALL)}
    for query in queries:
        for label in query.labels:
            if label.doc not in present:
                raise BadInputError(
                    f"query '{query.id}': document {label.doc!r} is not in corpus '{store.corpus}', or not searchable "
                    "there; ingest it, and if it was ingested with --as NAME, say --as NAME here"
                )
    quoted = sorted({label.doc for query in queries for label in query.labels if label.quote is not None})
    texts = {row["source_id"]: row["text"] for row in store.fetch(Statement(_TEXTS, {"ids": quoted}), groups=_ALL)}
    return [replace(query, labels=tuple(_located(query, label, texts) for label in query.labels)) for query in queries]


def about_present(store: CorpusDocumentStore, queries: Sequence[Query]) -> list[Query]:
    """
    The questions whose labelled documents are all in the corpus.

    :raises BadInputError: there are none.
    """
    present = sources_present(store, (doc for query in queries for doc in query.documents))
    kept = [query for query in queries if query.documents and present.issuperset(query.documents)]
    if not kept:
        raise BadInputError(f"none of the {len(queries)} questions is about documents of corpus '{store.corpus}'")
    return kept


def facts(store: CorpusDocumentStore, queries: Iterable[Query]) -> CorpusFacts:
    """The spans of the documents that the questions' labels name."""
    wanted = sorted({label.doc for query in queries for label in query.labels})
    spans: dict[str, list[Hit]] = {}
    for row in store.fetch(Statement(_SPANS, {"ids": wanted}), groups=_ALL):
        spans.setdefault(row["source_id"], []).append(Hit(*row.values()))
    return CorpusFacts(store.corpus, spans)


def hits_by_id(store: CorpusDocumentStore, span_ids: Iterable[str]) -> dict[str, Hit]:
    """Where spans stand, for ids that come from elsewhere (a run file); unknown ids are left out."""
    rows = store.fetch(Statement(_BY_ID, {"ids": sorted(set(span_ids))}), groups=_ALL)
    return {row["id"]: Hit(*row.values()) for row in rows}


def sources_present(store: CorpusDocumentStore, source_ids: Iterable[str]) -> set[str]:
    """Those of the ids that are sources of the corpus."""
    rows = store.fetch(Statement(_SOURCES, {"ids": sorted(set(source_ids))}), groups=_ALL)
    return {row["source_id"] for row in rows}


def foreign_spans(store: CorpusDocumentStore, span_ids: Iterable[str], groups: list[str] | None) -> set[str]:
    """Ids that a search returned and that are no span of this corpus which these groups may see (C1, C3)."""
    wanted = set(span_ids)
    rows = store.fetch(Statement(_KNOWN, {"ids": sorted(wanted)}), groups=within(groups, ANY_SCOPE))
    return wanted - {row["id"] for row in rows}


def _located(query: Query, label: Label, texts: dict[str, str]) -> Label:
    if label.quote is None:
        return label
    # A quote may be broken into other lines than the text of a PDF is.
    pattern = r"\s+".join(re.escape(word) for word in label.quote.split())
    places = list(re.finditer(pattern, texts[label.doc]))
    if len(places) != 1:
        raise BadInputError(
            f"query '{query.id}': its answer stands {len(places)} times in {label.doc!r} and must stand there once: "
            f"{label.quote!r:.60}"
        )
    return replace(label, start=places[0].start(), end=places[0].end())
