# SPDX-License-Identifier: Apache-2.0
"""
The statements of the legs: what each search asks of the database.

Builders return a :class:`Statement` and touch no database. The SQL is in ``sql/query/``, one file a statement; tables
are named without a schema, because ``CorpusDocumentStore.fetch`` puts the corpus in force (C1), and no condition on
groups or status stands here, because row level security holds them (C3).
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from itertools import count, pairwise
from typing import Any, LiteralString, TypedDict

from haystack_integrations.document_stores.pgvector.filters import _convert_filters_to_where_clause_and_params
from haystack_integrations.document_stores.pincite.spans import SpanDocument
from haystack_integrations.document_stores.pincite.statements import Statement
from haystack_integrations.document_stores.pincite.vector_columns import IN_FORCE, VectorColumn
from psycopg.sql import SQL, Composable, Composed, Identifier

# What a leg fetches of a span: never its embedding, which no later stage needs and each would copy.
COLUMNS = SQL(
    "s.id, s.source_id, s.content, s.kind, s.start_offset, s.end_offset, s.page, s.page_end, s.section, s.quote,"
    " s.parent_start, s.parent_end, s.statement, s.meta"
)
# Which vectors may be compared with that of a query (S3): fresh ones of its own embedder; of the corpus's, where the
# caller names none.
_SAME_FINGERPRINT = SQL("{fresh}s.{mark} = %(fingerprint)s")
_CORPUS_FINGERPRINT = SQL("{fresh}s.{mark} IS NOT DISTINCT FROM (SELECT embedding_fingerprint FROM settings)")
# Planning some statements takes as long as running them, and their plan is the same whoever asks: it is made once a
# connection. Not for those where the policy's share of visible rows decides which index is good.
_ONE_PLAN = {"plan_cache_mode": "force_generic_plan"}
# A word in a span's section heading counts as one in its text; ts_rank takes weights in the order D, C, B, A.
SPAN_WEIGHTS = [1.0, 1.0, 1.0, 1.0]


@cache
def _query(name: str) -> LiteralString:
    path = resources.files(__package__ or "") / "sql" / "query" / f"{name}.sql"
    # Ours, shipped beside this file: as literal as a string in the source.
    return path.read_text(encoding="utf-8")


def compose(
    name: str,
    filters: dict[str, Any] | None = None,
    *,
    fingerprint: str | None = None,
    column: VectorColumn = IN_FORCE,
) -> tuple[Composed, dict[str, Any]]:
    """
    The SQL of a file in ``sql/query``, and the values of the filter in it.

    :param fingerprint: of the vector that rows are compared with; ``None``: that of the corpus's embedder.
    :param column: which set of vectors to compare with.
    """
    clause, values = _filter_clause(filters)
    comparable = _SAME_FINGERPRINT if fingerprint is not None else _CORPUS_FINGERPRINT
    parts = {
        "columns": COLUMNS,
        "filter": SQL(clause),
        "vector": Identifier("s", column.vector),
        "comparable": comparable.format(fresh=column.fresh, mark=Identifier(column.fingerprint)),
    }
    return SQL(_query(name)).format(**parts), values


def _filter_clause(filters: dict[str, Any] | None) -> tuple[LiteralString, dict[str, Any]]:
    """
    A Haystack filter as ``AND ...`` with named placeholders; the translation is that of the pgvector integration.

    It numbers its placeholders by place. Ours have names, since most values stand in several places.
    """
    if not filters:
        return "", {}
    clause, values = _convert_filters_to_where_clause_and_params(filters, operator="AND")
    numbers = count()
    named = "".join(_named_placeholders(clause, numbers))
    # Ours and the integration's; the names of keys in it are quoted literals.
    return named, {f"filter_{number}": value for number, value in enumerate(values)}


def _named_placeholders(part: Composable, numbers: Iterator[int]) -> Iterator[str]:
    """The pieces of a clause with its placeholders named; a ``%`` in the name of a key is no placeholder."""
    if isinstance(part, Composed):
        for inner in part:
            yield from _named_placeholders(inner, numbers)
    elif isinstance(part, SQL):
        yield re.sub("%s", lambda _: f"%(filter_{next(numbers)})s", part.as_string(None))
    else:
        yield part.as_string(None).replace("%", "%%")


def dense(
    embedding: Sequence[float],
    *,
    limit: int,
    ef_search: int,
    fingerprint: str | None = None,
    column: VectorColumn = IN_FORCE,
    filters: dict[str, Any] | None = None,
) -> Statement:
    """
    Nearest spans by cosine distance.

    :param embedding: vector of the query.
    :param fingerprint: identity of its embedder; only fresh vectors of the same are compared (S3). ``None``: those of
        the embedder that the corpus is for.
    :param column: where its vectors stand; in another set no row has its fingerprint.
    :param limit: rows wanted.
    :param ef_search: candidate list of the HNSW search, raised to ``limit`` at least: below it rows would be missing.
    """
    sql, values = compose("dense", filters, fingerprint=fingerprint, column=column)
    params = {"embedding": _vector(embedding), "limit": limit, "fingerprint": fingerprint, **values}
    # Filters and row level security take rows away after the index gave them: the scan then goes on for more.
    settings = {"hnsw.ef_search": str(max(ef_search, limit)), "hnsw.iterative_scan": "relaxed_order"}
    return Statement(sql, params, settings)


def lexical(query: str, *, limit: int, rows: int, words: int, filters: dict[str, Any] | None = None) -> Statement:
    """
    Spans by words, rare ones first.

    :param rows: the rarest words are looked up until the rows that hold them add up to this.
    :param words: at most so many of the query's rarest words take part, however long the query.
    """
    sql, values = compose("lexical", filters)
    params = {
        "query": query,
        "limit": limit,
        "rows": rows,
        "words": words,
        "weights": SPAN_WEIGHTS,
        **values,
    }
    return Statement(sql, params)


class Name(TypedDict):
    """
    The name to look up: its words, and which of them identify (the others belong to the type).

    ``phrase`` is the instrument phrase as asked, ``aliases`` the other ways to say its type.
    """

    words: list[str]
    naming: list[bool]
    phrase: str
    aliases: list[str]


def title(
    name: Name,
    topic: str,
    *,
    limit: int,
    min_coverage: float,
    margin: float,
    filters: dict[str, Any] | None = None,
) -> Statement:
    """
    Sources that share words with a name, best first; those that carry it with their best span for the topic.

    A row has ``source``, ``score``, ``coverage`` (0..1, of the name's identifying words), ``typed`` (its title or
    opening speaks of such an instrument) and ``carries``; the columns of the span are null where it does not.

    :param min_coverage: what a source must hold of the name to carry it.
    :param margin: how far below the best carrier's score another carrier may be, as a share of it.
    """
    sql, values = compose("title", filters)
    qualifiers = [word for word, naming in zip(name["words"], name["naming"], strict=True) if naming]
    params = {
        **name,
        "pairs": [f"{first} {second}" for first, second in pairwise(qualifiers)],
        "topic": topic,
        "limit": limit,
        "min_coverage": min_coverage,
        "margin": margin,
        **_TITLE_CONSTANTS,
        **values,
    }
    return Statement(sql, params, _ONE_PLAN)


# Chosen by measurement on 510 contracts (docs/decisions/title-leg.md).
_TITLE_CONSTANTS: dict[str, Any] = {
    "opening": 0.8,
    "body": 0.2,
    "body_most": 0.7,
    "body_rows": 300,
    "rows": 500,
    "likeness": 0.5,
    "slip": 0.8,
    "phrase_bonus": 3.0,
    "alias_bonus": 2.0,
    "pair_bonus": 0.3,
    "excess": 0.02,
    "topic_words": 32,
    "most_words": 64,
    "weights": SPAN_WEIGHTS,
}


def title_whole(query: str, *, limit: int, filters: dict[str, Any] | None = None) -> Statement:
    """Titles that resemble a whole question by trigrams, each with its best span."""
    sql, values = compose("title_whole", filters)
    params = {
        "query": query,
        "limit": limit,
        "topic_words": 32,
        "weights": SPAN_WEIGHTS,
        **values,
    }
    return Statement(sql, params, _ONE_PLAN)


def extents(
    sources: Sequence[str],
    topic: str,
    embedding: Sequence[float],
    *,
    limit: int,
    lexical_weight: float,
    dense_weight: float,
    k: int,
    fingerprint: str | None = None,
) -> Statement:
    """
    The best spans for a topic inside each of some sources.

    :param limit: spans of each source.
    :param lexical_weight: weight of the word ranking inside a source; ``dense_weight`` of the vector ranking.
    :param k: constant of the reciprocal rank fusion inside a source.
    """
    sql, _ = compose("extents", fingerprint=fingerprint)
    params = {
        "sources": list(sources),
        "query": topic,
        "embedding": _vector(embedding),
        "limit": limit,
        "lexical_weight": lexical_weight,
        "dense_weight": dense_weight,
        "k": k,
        "words": 32,
        "weights": SPAN_WEIGHTS,
        "fingerprint": fingerprint,
    }
    return Statement(sql, params, _ONE_PLAN)


def texts(ids: Sequence[str]) -> Statement:
    """
    What stands at the locators of some spans; :func:`texts_by_id` reads the rows.

    One row a source, with the stretch from its first span to its last: PostgreSQL reads a text from its beginning to
    find a character's place, so a piece for each span would read a long text as often.
    """
    return Statement(SQL(_query("texts")), {"ids": list(ids)}, _ONE_PLAN)


def texts_by_id(rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    """From the rows of :func:`texts`: what stands at the locator of each span, by its id."""
    return {
        span: row["text"][start - row["first"] : end - row["first"]]
        for row in rows
        for span, start, end in zip(row["ids"], row["starts"], row["ends"], strict=True)
    }


def _vector(embedding: Sequence[float]) -> str | None:
    if not embedding:  # the embedder failed: nothing is near
        return None
    return "[" + ",".join(map(repr, map(float, embedding))) + "]"


def span_document(row: dict[str, Any], corpus: str) -> SpanDocument:
    """A row of a leg as the Document that stages pass on."""
    meta = {
        **(row["meta"] or {}),
        "corpus": corpus,
        "source_id": row["source_id"],
        "kind": row["kind"],
        "start": row["start_offset"],
        "end": row["end_offset"],
        "page": row["page"],
        "page_end": row["page_end"],
        "section": row["section"],
        "quote": row["quote"],
        "parent_start": row["parent_start"],
        "parent_end": row["parent_end"],
    }
    if row["statement"] is not None:
        meta["statement"] = row["statement"]
    return SpanDocument.of(row["id"], row["content"], row.get("score"), meta)
