# SPDX-License-Identifier: Apache-2.0
"""
How a corpus changes its embedder while searches go on (S3): a second set of vectors, a switch, and an end.

The set in force has the columns ``embedding`` and ``embedding_fingerprint``, the other one ``embedding_beside`` and
``beside_fingerprint``. The switch lets them change names, which writes no row, and so holds searches up only for a
moment. Each step is one transaction, and can be repeated after a kill.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import psycopg
from psycopg.rows import dict_row
from psycopg.sql import SQL, Identifier, Literal

from .connections import SyncConnection
from .corpora import check_corpus_name, schema_name, writer_role
from .database import Database
from .errors import ConfigurationError, PinciteError
from .index_definitions import build_beside_index
from .vector_columns import BESIDE, VectorColumn, column_of
from .writer_session import writer_session

MOST_DIMENSIONS = 2000
"""The longest vector that pgvector's HNSW index takes."""

_PATIENCE_SECONDS = 120.0  # for a moment without searches and writers; backups hold tables for longer
_PAUSE_SECONDS = 0.2
# Shorter than deadlock_timeout (1 s): of two that wait for each other it is we who give up, never a search.
_TABLE_WAIT = "500ms"
_WRITER_WAIT = "10s"

_STATE = "SELECT embedding_fingerprint AS in_force, beside_fingerprint AS beside, beside_old FROM settings"
_PROGRESS = (
    "SELECT count(*) FILTER (WHERE s.beside_fingerprint = c.beside_fingerprint), count(*)"
    " FROM spans AS s CROSS JOIN settings AS c"
)
# New columns and not emptied ones: no row is written, and the index goes as well.
_EMPTY = SQL(
    "ALTER TABLE spans DROP COLUMN embedding_beside, DROP COLUMN beside_fingerprint,"
    " ADD COLUMN embedding_beside vector({dimension}), ADD COLUMN beside_fingerprint text"
)
_BEGUN = (
    "UPDATE settings SET beside_fingerprint = %(fingerprint)s, beside_meta = %(meta)s, beside_old = false,"
    " reembedded_up_to = NULL"
)
_MISSING = "SELECT count(*) FROM spans WHERE beside_fingerprint IS DISTINCT FROM %(fingerprint)s"
# Of the set in force a stale vector is known by its hash, of the one beside by its missing fingerprint.
_MARK_STALE = (
    "UPDATE spans SET embedding_fingerprint = NULL WHERE embedding_fingerprint IS NOT NULL"
    " AND (stale OR embedding_fingerprint IS DISTINCT FROM %(in_force)s)"
)
_MARK_FRESH = "UPDATE spans SET content_hash = md5(embedded_text(statement, content)) WHERE stale"
_SWAP = """
ALTER TABLE spans RENAME COLUMN embedding TO embedding_swapped;
ALTER TABLE spans RENAME COLUMN embedding_beside TO embedding;
ALTER TABLE spans RENAME COLUMN embedding_swapped TO embedding_beside;
ALTER TABLE spans RENAME COLUMN embedding_fingerprint TO fingerprint_swapped;
ALTER TABLE spans RENAME COLUMN beside_fingerprint TO embedding_fingerprint;
ALTER TABLE spans RENAME COLUMN fingerprint_swapped TO beside_fingerprint;
ALTER INDEX IF EXISTS spans_embedding RENAME TO spans_embedding_swapped;
ALTER INDEX IF EXISTS spans_embedding_beside RENAME TO spans_embedding;
ALTER INDEX IF EXISTS spans_embedding_swapped RENAME TO spans_embedding_beside;
SELECT make_views();
"""
_SWITCHED = (
    "UPDATE settings SET embedding_fingerprint = beside_fingerprint, embedded_meta = beside_meta,"
    " beside_fingerprint = embedding_fingerprint, beside_meta = embedded_meta, beside_old = true,"
    " reembedded_up_to = NULL"
)
_REGISTER = (
    "UPDATE pincite.corpora SET dimension = (SELECT a.atttypmod FROM pg_attribute AS a"
    " WHERE a.attrelid = to_regclass(%(table)s) AND a.attname = 'embedding') WHERE name = %(corpus)s"
)
_NOTHING_BESIDE = "UPDATE settings SET beside_fingerprint = NULL, beside_meta = '{}', beside_old = false"
_JUDGE_ANEW = "UPDATE spans SET kind = kind WHERE embedding IS NULL"

_Answer = TypeVar("_Answer")


class VectorState(NamedTuple):
    """
    Whose vectors a corpus holds: fingerprints, ``None`` where there are none.

    ``beside_old``: the set beside is the one from before a switch, not one that is being made.
    """

    in_force: str | None
    beside: str | None
    beside_old: bool

    def column(self, fingerprint: str) -> VectorColumn | None:
        """Where the vectors of an embedder stand; ``None`` if there are none."""
        return column_of(fingerprint, {"in_force": self.in_force, "beside": self.beside})

    def coming(self, fingerprint: str) -> bool:
        """Whether this embedder is the one that the corpus is changing to."""
        return self.column(fingerprint) is BESIDE and not self.beside_old


class VectorSets:
    """
    The sets of vectors of one corpus.

    :param database: where the corpus is.
    :param corpus: its name; made by ``pincite init``.
    """

    def __init__(self, database: Database, corpus: str) -> None:
        self.database = database
        self.corpus = check_corpus_name(corpus)

    def state(self) -> VectorState:
        """Whose vectors there are."""
        with writer_session(self.database, self.corpus, read_only=True) as connection:
            return _state(connection)

    def progress(self) -> tuple[int, int]:
        """How many spans have a fresh vector in the set beside, and how many spans there are."""
        with writer_session(self.database, self.corpus, read_only=True) as connection:
            row = connection.execute(_PROGRESS).fetchone()
        return (int(row[0]), int(row[1])) if row else (0, 0)

    def begin(self, fingerprint: str, *, dimension: int, embedded_meta: Sequence[str]) -> None:
        """
        Make room beside for the vectors of another embedder; nothing happens if there is room already.

        :param dimension: length of its vectors.
        :param embedded_meta: metadata keys that it embeds with the text.
        :raises ConfigurationError: vectors of a third embedder are there, or no index takes such long vectors.
        """
        if dimension > MOST_DIMENSIONS:
            raise ConfigurationError(
                f"corpus '{self.corpus}': vectors of {dimension:,} numbers cannot be indexed, at most "
                f"{MOST_DIMENSIONS:,} can; choose a shorter output of the model"
            )

        def change(connection: SyncConnection) -> None:
            state = _state(connection)
            if state.column(fingerprint) is not None:
                return
            if state.beside is not None:
                raise ConfigurationError(
                    f"corpus '{self.corpus}' holds vectors of {state.in_force!r:.80} and of {state.beside!r:.80}, and "
                    f"the configuration names a third embedder; drop those beside first: "
                    f"pincite reembed {self.corpus} --finish"
                )
            connection.execute("LOCK TABLE documents IN ACCESS EXCLUSIVE MODE")
            connection.execute(_EMPTY.format(dimension=Literal(dimension)))
            connection.execute(_BEGUN, {"fingerprint": fingerprint, "meta": list(embedded_meta)})

        self._change(change)

    def build_index(self) -> bool:
        """Build the vector index of the set beside if it is missing, while searches and writers go on."""
        with self.database.admin() as connection:
            self._prepare(connection, "SESSION")
            return build_beside_index(connection, self.corpus)

    def switch(self, fingerprint: str) -> int:
        """
        Put the vectors of the set beside in force, if every span has one; the old ones stay beside.

        :param fingerprint: the embedder that is to be in force.
        :returns: how many spans have none yet; with any, nothing was changed.
        :raises ConfigurationError: the corpus has no vectors of it.
        """

        def change(connection: SyncConnection) -> int:
            state = _state(connection)
            if state.in_force == fingerprint:
                return 0
            if state.beside != fingerprint:
                raise ConfigurationError(f"corpus '{self.corpus}' has no vectors of {fingerprint!r:.120} to switch to")
            # Writers wait from here, searches only from the second lock.
            connection.execute("LOCK TABLE documents, fresh_documents IN SHARE ROW EXCLUSIVE MODE")
            row = connection.execute(_MISSING, {"fingerprint": fingerprint}).fetchone()
            if row is None or row[0]:
                return int(row[0]) if row else 0
            connection.execute(_MARK_STALE, {"in_force": state.in_force})
            connection.execute(_MARK_FRESH)
            connection.execute("LOCK TABLE documents, fresh_documents IN ACCESS EXCLUSIVE MODE")
            for statement in _SWAP.strip().removesuffix(";").split(";"):
                connection.execute(statement)
            connection.execute(_SWITCHED)
            connection.execute("RESET ROLE")  # the registry belongs to the owner of the database
            connection.execute(_REGISTER, {"table": f"{schema_name(self.corpus)}.spans", "corpus": self.corpus})
            return 0

        return self._change(change)

    def drop(self) -> str | None:
        """
        Drop the vectors of the set beside; returns whose they were.

        A span that had no others is not searchable until it is embedded.
        """

        def change(connection: SyncConnection) -> str | None:
            state = _state(connection)
            if state.beside is not None:
                connection.execute("LOCK TABLE documents IN ACCESS EXCLUSIVE MODE")
                connection.execute(_EMPTY.format(dimension=Literal(1)))
                connection.execute(_NOTHING_BESIDE)
                connection.execute(_JUDGE_ANEW)
            return state.beside

        return self._change(change)

    def _change(self, change: Callable[[SyncConnection], _Answer]) -> _Answer:
        """One transaction under the writer role, tried again until searches and writers leave a gap."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        with self.database.admin() as connection:
            while True:
                try:
                    with connection.transaction():
                        self._prepare(connection, "LOCAL")
                        connection.execute(f"SET LOCAL lock_timeout = '{_WRITER_WAIT}'")
                        connection.execute("SELECT FROM corpus_stats FOR UPDATE")  # one writer at a time
                        connection.execute(f"SET LOCAL lock_timeout = '{_TABLE_WAIT}'")
                        return change(connection)
                except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected) as error:
                    if time.monotonic() > deadline:
                        raise PinciteError(
                            f"corpus '{self.corpus}' was in use for {_PATIENCE_SECONDS:.0f} s without a gap (a backup, "
                            "or another ingestion?); run it again later"
                        ) from error
                time.sleep(_PAUSE_SECONDS)

    def _prepare(self, connection: SyncConnection, extent: str) -> None:
        path = self.database.search_path(schema_name(self.corpus))
        connection.execute(SQL("SET {} search_path = {}").format(SQL(extent), SQL(path)))
        connection.execute(SQL("SET {} synchronous_commit = on").format(SQL(extent)))
        connection.execute(SQL("SET {} ROLE {}").format(SQL(extent), Identifier(writer_role(self.corpus))))


def _state(connection: psycopg.Connection[Any]) -> VectorState:
    row = connection.cursor(row_factory=dict_row).execute(_STATE).fetchone()
    return VectorState(row["in_force"], row["beside"], row["beside_old"]) if row else VectorState(None, None, False)
