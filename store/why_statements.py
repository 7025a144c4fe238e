# SPDX-License-Identifier: Apache-2.0
"""
The statements of ``pincite why``: true ranks, and what a document has and lacks.

They run under the reader role of the corpus like those of the legs, so that a principal learns nothing about what he
may not see (C3); :func:`hidden` alone does not.
"""

from collections.abc import Sequence
from typing import Any

from psycopg.rows import dict_row
from psycopg.sql import SQL

from .corpora import schema_name, writer_role
from .database import Database
from .execution import session_query
from .leg_statements import _query, _vector, compose
from .statements import Statement
from .vector_columns import IN_FORCE, VectorColumn


def dense_rank(
    ids: Sequence[str],
    embedding: Sequence[float],
    *,
    fingerprint: str | None,
    column: VectorColumn = IN_FORCE,
    filters: dict[str, Any] | None,
) -> Statement:
    """The nearest of some spans and its rank among all that the filters let pass, by an exact search."""
    sql, values = compose("why_dense", filters, fingerprint=fingerprint, column=column)
    return Statement(sql, {"ids": list(ids), "embedding": _vector(embedding), "fingerprint": fingerprint, **values})


def words(query: str, ids: Sequence[str]) -> Statement:
    """The words of a query, rarest first, each with ``df``, ``cumulated`` and whether one of the spans holds it."""
    return Statement(SQL(_query("why_words")), {"query": query, "ids": list(ids)})


def name_words(source: str, words: Sequence[str], naming: Sequence[bool]) -> Statement:
    """The words of a name: whether they identify, and where the source has them."""
    params = {"source": source, "words": list(words), "naming": list(naming)}
    return Statement(SQL(_query("why_name")), params)


def source(source: str, query: str, *, filters: dict[str, Any] | None) -> Statement:
    """A source with the ids of its spans, how many the filters let pass, and how its title resembles the query."""
    sql, values = compose("why_source", filters)
    return Statement(sql, {"source": source, "query": query, **values})


def alike(source: str) -> Statement:
    """Ids of sources that resemble one that is not there."""
    return Statement(SQL(_query("why_alike")), {"source": source})


def hidden(database: Database, corpus: str, source: str, span: str | None) -> dict[str, Any] | None:
    """
    Why a source or a span is not searchable; ``None`` if there is no such source.

    Reads as the owner of the tables. The caller must have made sure that the principal sees all groups.
    """
    path = database.search_path(schema_name(corpus))
    session = session_query(corpus, search_path=path, groups=[], settings={}, timeout_ms=None, role=writer_role(corpus))
    sql, _ = compose("why_hidden")
    with database.sync_pool().connection() as connection, connection.transaction():
        connection.execute(session)
        row = connection.cursor(row_factory=dict_row).execute(sql, {"source": source, "span": span}).fetchone()
    return dict(row) if row else None
