# SPDX-License-Identifier: Apache-2.0
"""
Where the vectors of an embedder stand: in the columns of the set in force, or in those of the set beside it (S3).

Two sets are there only while a corpus changes its embedder (docs/decisions/embedder-switch.md). A process takes a
fingerprint for that of the set in force until a search finds nothing there; then it looks once, and remembers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import psycopg
from psycopg.rows import dict_row
from psycopg.sql import SQL

from .database import Database
from .errors import ConfigurationError
from .statements import Statement


@dataclass(frozen=True, slots=True, eq=False)
class VectorColumn:
    """
    A set of vectors in table ``spans``.

    ``vector`` and ``fingerprint`` are columns; ``fresh`` is the condition under which a row's vector belongs to what
    the row says. Of the set beside, a vector that does not has no fingerprint. There are two, :data:`IN_FORCE` and
    :data:`BESIDE`.
    """

    vector: str
    fingerprint: str
    fresh: SQL


IN_FORCE = VectorColumn("embedding", "embedding_fingerprint", SQL("NOT s.stale AND "))
BESIDE = VectorColumn("embedding_beside", "beside_fingerprint", SQL(""))

SETS = Statement(SQL("SELECT embedding_fingerprint AS in_force, beside_fingerprint AS beside FROM settings"))
"""One row: the fingerprints of the two sets of a corpus, ``NULL`` where there is none."""


def column_of(fingerprint: str | None, sets: Mapping[str, Any]) -> VectorColumn | None:
    """
    Where the vectors of an embedder stand; ``None`` if the corpus has none of it.

    A corpus that is for no embedder yet takes any.

    :param sets: the row of :data:`SETS`.
    """
    if fingerprint is None or sets["in_force"] in (None, fingerprint):
        return IN_FORCE
    return BESIDE if sets["beside"] == fingerprint else None


def column_in(connection: psycopg.Connection[Any], corpus: str, fingerprint: str | None) -> VectorColumn:
    """
    Where to write the vectors of an embedder; the transaction decides how long that stays true.

    :raises ConfigurationError: the corpus has no place for them.
    """
    row = connection.cursor(row_factory=dict_row).execute(SETS.sql).fetchone()
    column = column_of(fingerprint, row) if row else None
    if column is None:
        held = row["in_force"] if row else None
        raise ConfigurationError(
            f"corpus '{corpus}' is for the vectors of {held!r:.120}, the configuration names {fingerprint!r:.120}: "
            f"change over first, searches go on meanwhile: pincite reembed {corpus}"
        )
    return column


class KnownColumns:
    """
    What this process knows of one corpus: which fingerprints stand beside.

    A wrong memory gives no rows, never those of another embedder, since every statement has the fingerprint among its
    conditions.
    """

    _of_database: ClassVar["WeakKeyDictionary[Database, dict[str, KnownColumns]]"] = WeakKeyDictionary()
    _lock: ClassVar[Lock] = Lock()

    def __init__(self) -> None:
        self._beside: set[str] = set()

    @classmethod
    def of(cls, database: Database, corpus: str) -> "KnownColumns":
        """The one of a corpus, shared by the whole process."""
        with cls._lock:
            return cls._of_database.setdefault(database, {}).setdefault(corpus, cls())

    def column(self, fingerprint: str | None) -> VectorColumn:
        """Where to look first."""
        return BESIDE if fingerprint in self._beside else IN_FORCE

    def learn(self, fingerprint: str, column: VectorColumn | None) -> None:
        """Where they really were."""
        if column is BESIDE:
            self._beside.add(fingerprint)
        else:
            self._beside.discard(fingerprint)
