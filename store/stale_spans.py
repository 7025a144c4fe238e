# SPDX-License-Identifier: Apache-2.0
"""Spans whose vectors no longer belong to them, and how they get new ones (S3)."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from psycopg.rows import dict_row
from psycopg.sql import SQL

from .corpora import check_corpus_name
from .database import Database
from .leg_statements import COLUMNS, span_document
from .spans import SpanDocument
from .vector_columns import BESIDE, IN_FORCE, column_in
from .writer_session import writer_session

# What a vector is made from: it may only be stored with a span that still says this.
_STATE = SQL("md5(concat_ws(E'\\x1f', s.statement, s.content, s.section, s.meta::text))")
_STALE = {
    IN_FORCE: SQL("(s.embedding IS NULL OR s.stale OR s.embedding_fingerprint IS DISTINCT FROM %(fingerprint)s)"),
    BESIDE: SQL("s.beside_fingerprint IS DISTINCT FROM %(fingerprint)s"),
}
_COUNT = SQL("SELECT count(*) FROM spans AS s WHERE {stale}")
_NEXT = SQL(
    "SELECT {columns}, {state} AS state FROM spans AS s"
    " WHERE s.id > %(after)s AND (%(everything)s OR {stale}) ORDER BY s.id LIMIT %(limit)s"
)
# `content_hash` is given, too: a new vector may happen to equal the old one, and is fresh all the same.
_SET = {
    IN_FORCE: SQL(
        "embedding = new.embedding, embedding_fingerprint = %(fingerprint)s,"
        " content_hash = md5(embedded_text(s.statement, s.content)), meta = s.meta - 'embedding_fingerprint'"
    ),
    BESIDE: SQL("embedding_beside = new.embedding, beside_fingerprint = %(fingerprint)s"),
}
_STORE = SQL(
    "UPDATE spans AS s SET {changes}"
    " FROM unnest(%(ids)s::text[], %(states)s::text[], %(vectors)s::vector[]) AS new(id, state, embedding)"
    " WHERE s.id = new.id AND {state} = new.state"
)
_EXPECT = {
    IN_FORCE: (
        "UPDATE settings SET embedded_meta = %(meta)s,"
        " embedding_fingerprint = coalesce(embedding_fingerprint, %(fingerprint)s)"
        " WHERE embedded_meta <> %(meta)s::text[] OR embedding_fingerprint IS NULL"
    ),
    BESIDE: "UPDATE settings SET beside_meta = %(meta)s WHERE beside_meta <> %(meta)s::text[]",
}


class StaleSpan(NamedTuple):
    """A span to embed, and the ``state`` in which it was read."""

    document: SpanDocument
    state: str


class StaleSpans:
    """
    The spans of one corpus that an embedder would have to embed.

    :param database: where the corpus is.
    :param corpus: its name; made by ``pincite init``.
    :param fingerprint: identity of the embedder. A span is stale when its content or embedded metadata changed, when
        it has no vector, or when another embedder made it.

    The vectors may be in force or beside (:mod:`.vector_sets`); each transaction looks where they are. Its methods
    raise :class:`~.errors.ConfigurationError` if the corpus has neither.
    """

    def __init__(self, database: Database, corpus: str, fingerprint: str) -> None:
        self.database = database
        self.corpus = check_corpus_name(corpus)
        self.fingerprint = fingerprint

    def count(self) -> int:
        """How many there are."""
        with writer_session(self.database, self.corpus, read_only=True) as connection:
            query = _COUNT.format(stale=_STALE[column_in(connection, self.corpus, self.fingerprint)])
            row = connection.execute(query, {"fingerprint": self.fingerprint}).fetchone()
        return int(row[0]) if row else 0

    def total(self) -> int:
        """How many spans the corpus has."""
        with writer_session(self.database, self.corpus, read_only=True) as connection:
            row = connection.execute("SELECT count(*) FROM spans").fetchone()
        return int(row[0]) if row else 0

    def batch(self, after: str, limit: int, *, everything: bool = False) -> list[StaleSpan]:
        """
        The next stale spans in the order of their ids.

        :param after: id of the last span of the batch before; ``""`` begins.
        :param everything: all spans, stale or not.
        """
        values = {"after": after, "limit": limit, "everything": everything, "fingerprint": self.fingerprint}
        with writer_session(self.database, self.corpus, read_only=True) as connection:
            stale = _STALE[column_in(connection, self.corpus, self.fingerprint)]
            query = _NEXT.format(columns=COLUMNS, state=_STATE, stale=stale)
            rows = connection.cursor(row_factory=dict_row).execute(query, values).fetchall()
        return [StaleSpan(span_document(row, self.corpus), row["state"]) for row in rows]

    def store(self, spans: Iterable[tuple[StaleSpan, Sequence[float]]]) -> int:
        """
        Give spans their vectors in one transaction; one that changed since it was read stays stale.

        :returns: how many were stored.
        :raises BadInputError: a vector of the wrong dimension.
        """
        pairs = list(spans)
        values: dict[str, Any] = {
            "fingerprint": self.fingerprint,
            "ids": [span.document.id for span, _ in pairs],
            "states": [span.state for span, _ in pairs],
            "vectors": [np.asarray(vector, dtype=np.float32) for _, vector in pairs],
        }
        with writer_session(self.database, self.corpus) as connection:
            connection.execute("SELECT FROM corpus_stats FOR UPDATE")  # no switch from here on
            changes = _SET[column_in(connection, self.corpus, self.fingerprint)]
            return connection.execute(_STORE.format(changes=changes, state=_STATE), values).rowcount

    def expect(self, embedded_meta: Sequence[str]) -> None:
        """
        Tell the database what it watches: metadata whose change makes a vector stale.

        A corpus that had no embedder is for this one from now on.
        """
        with writer_session(self.database, self.corpus) as connection:
            expect = _EXPECT[column_in(connection, self.corpus, self.fingerprint)]
            connection.execute(expect, {"meta": list(embedded_meta), "fingerprint": self.fingerprint})

    def reached(self) -> str:
        """Id of the last span that an interrupted re-embedding of everything has done; ``""`` if none was."""
        with writer_session(self.database, self.corpus, read_only=True) as connection:
            row = connection.execute("SELECT reembedded_up_to FROM settings").fetchone()
        return str(row[0] or "") if row else ""

    def remember(self, up_to: str | None) -> None:
        """Write down how far a re-embedding of everything has come; ``None``: it is complete."""
        with writer_session(self.database, self.corpus) as connection:
            connection.execute("UPDATE settings SET reembedded_up_to = %s", [up_to])
