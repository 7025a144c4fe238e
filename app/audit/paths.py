# SPDX-License-Identifier: Apache-2.0
"""
Every path by which a row can leave a corpus, each as a function that tries to reach one particular row.

``docs/isolation.md`` lists the same paths with what guards them. The audit, the tests and the benchmark of crossings
run them against rows of another corpus, of another group and of nobody's.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from haystack import Document, Pipeline
from haystack_integrations.document_stores.pincite import why_statements
from haystack_integrations.document_stores.pincite.case_statements import case_profile
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.errors import BadInputError
from haystack_integrations.document_stores.pincite.leg_statements import (
    Name,
    dense,
    extents,
    lexical,
    texts,
    title,
    title_whole,
)
from haystack_integrations.document_stores.pincite.scopes import within
from haystack_integrations.document_stores.pincite.spans import plain_outputs
from haystack_integrations.document_stores.pincite.statements import Statement
from pincite.passage import passage
from pincite.why import why

_ROWS = 20
_EXCERPT = 600
_NAME_WORDS = 6
_ID_COLUMNS = ("id", "source_id")


class Target(NamedTuple):
    """The row that an attempt tries to reach; ``scope`` is the one that its corpus requires, as key and value."""

    span_id: str
    source_id: str
    title: str
    text: str
    embedding: list[float]
    fingerprint: str | None
    scope: tuple[tuple[str, str], ...] = ()

    def within(self, groups: list[str] | None) -> list[str] | None:
        """The groups of whoever asks for the row, in its scope."""
        return within(groups, dict(self.scope))


def reached(rows: Iterable[Mapping[str, Any]]) -> set[str]:
    """Ids of spans and sources in the rows of a statement."""
    found: set[str] = set()
    for row in rows:
        found.update(str(row[column]) for column in _ID_COLUMNS if row.get(column) is not None)
        found.update(map(str, row.get("ids") or []))
    return found


def _title_named(target: Target, text_search: str) -> Statement:
    words = target.title.split()[:_NAME_WORDS] or [target.title]
    name: Name = {"words": words, "naming": [True] * len(words), "phrase": target.title, "aliases": []}
    return title(name, target.text[:_EXCERPT], limit=_ROWS, min_coverage=0.0, margin=1.0)


def _extents(target: Target, text_search: str) -> Statement:
    return extents(
        [target.source_id],
        target.text[:_EXCERPT],
        target.embedding,
        limit=_ROWS,
        lexical_weight=1.0,
        dense_weight=1.0,
        k=10,
        fingerprint=target.fingerprint,
    )


def _same_source(target: Target) -> dict[str, Any]:
    # By the column and by the metadata that filters name: the index of the first spares reading every row.
    value = target.source_id
    conditions = [{"field": field, "operator": "==", "value": value} for field in ("source_id", "meta.source_id")]
    return {"operator": "AND", "conditions": conditions}


def _same_span(target: Target) -> dict[str, Any]:
    return {"field": "id", "operator": "==", "value": target.span_id}


def _dense(target: Target, text_search: str) -> Statement:
    return dense(target.embedding, limit=_ROWS, ef_search=100, fingerprint=target.fingerprint)


def _lexical(target: Target, text_search: str) -> Statement:
    return lexical(target.text[:_EXCERPT], limit=_ROWS, rows=2000, words=32)


# Everything that components and commands ask of the database under the reader role.
STATEMENTS: dict[str, Callable[[Target, str], Statement]] = {
    "dense leg": _dense,
    "dense leg, filtered": lambda target, _: dense(
        target.embedding, limit=_ROWS, ef_search=100, fingerprint=target.fingerprint, filters=_same_source(target)
    ),
    "lexical leg": _lexical,
    "title leg, named": _title_named,
    "title leg, whole question": lambda target, text_search: title_whole(target.title, limit=_ROWS),
    "best extents": _extents,
    "fetch by id": lambda target, _: texts([target.span_id]),
    "why: rank of a span": lambda target, _: why_statements.dense_rank(
        [target.span_id], target.embedding, fingerprint=target.fingerprint, filters=None
    ),
    "why: source": lambda target, _: why_statements.source(target.source_id, target.title, filters=None),
    "why: ids that resemble": lambda target, _: why_statements.alike(target.source_id),
}


def _show(store: CorpusDocumentStore, target: Target, groups: list[str] | None) -> set[str]:
    try:
        found = passage(store, target.span_id, groups=target.within(groups))
    except BadInputError:
        return set()
    return {found["span_id"], found["source_id"]}


def _profile(store: CorpusDocumentStore, target: Target, groups: list[str] | None) -> set[str]:
    rows = store.fetch(case_profile(filters=_same_source(target), words=8), groups=target.within(groups))
    return {target.source_id} if rows[0]["embedding"] is not None or rows[0]["words"] else set()


def stock_store(store: CorpusDocumentStore, groups: list[str] | None, scope: dict[str, str]) -> CorpusDocumentStore:
    """The corpus as stock Haystack code opens it for somebody: with a connection of its own, which wants closing."""
    return CorpusDocumentStore(
        store.corpus,
        database_url=store.database_url,
        groups=groups,
        scope=scope,
        embedding_dimension=store.embedding_dimension,
    )


# Through Haystack's own code.
STOCK_PATHS: dict[str, Callable[[CorpusDocumentStore, Target], list[Document]]] = {
    "stock: filter by id": lambda stock, target: stock.filter_documents(_same_span(target)),
    "stock: embedding retriever": lambda stock, target: stock._embedding_retrieval(target.embedding, top_k=_ROWS),
    # Stock code makes the text search vector of each row anew: without the filter it would take minutes.
    "stock: keyword retriever": lambda stock, target: stock._keyword_retrieval(
        " ".join(target.text.split()[:3]), top_k=_ROWS, filters=_same_span(target)
    ),
}


def stock_ids(name: str, stock: CorpusDocumentStore, target: Target) -> set[str]:
    """Ids that a path of stock code gives to whom the store was opened for."""
    return {str(document.id) for document in STOCK_PATHS[name](stock, target)}


def _stock_path(name: str) -> Callable[[CorpusDocumentStore, Target, list[str] | None], set[str]]:
    def path(store: CorpusDocumentStore, target: Target, groups: list[str] | None) -> set[str]:
        stock = stock_store(store, groups, dict(target.scope))
        try:
            return stock_ids(name, stock, target)
        finally:
            stock.close()

    return path


# What reads more than one statement, or opens a connection of its own.
STORE_PATHS: dict[str, Callable[[CorpusDocumentStore, Target, list[str] | None], set[str]]] = {
    "show": _show,
    "similar cases": _profile,
    **{name: _stock_path(name) for name in STOCK_PATHS},
}


def pipeline_ids(pipeline: Pipeline, request: Mapping[str, Any]) -> set[str]:
    """Ids of every span and source that any stage of a search held."""
    outputs = plain_outputs(pipeline.run({"request": dict(request)}, include_outputs_from=set(pipeline.graph.nodes)))
    found: set[str] = set()
    for stage in outputs.values():
        for value in stage.values():
            for item in value if isinstance(value, list) else []:
                if hasattr(item, "meta") and hasattr(item, "id"):
                    found |= {str(item.id), str(item.meta.get("source_id", item.id))}
                elif isinstance(item, dict) and "source_id" in item:
                    found.add(str(item["source_id"]))
    return found


def why_ids(pipeline: Pipeline, request: Mapping[str, Any], target: Target) -> set[str]:
    """The target's source if ``why`` says anything of it but that it is not there."""
    answer = why(pipeline, request, target.source_id)
    return {target.source_id} if answer["title"] is not None or answer["rank"] is not None else set()
