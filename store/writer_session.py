# SPDX-License-Identifier: Apache-2.0
"""A transaction of the owner of a corpus's tables: it sees every row of that corpus, and nothing of another."""

import contextlib
from collections.abc import Iterator

import psycopg

from .connections import SyncConnection
from .corpora import schema_name, writer_role
from .database import Database
from .execution import session_query, translate


@contextlib.contextmanager
def writer_session(database: Database, corpus: str, *, read_only: bool = False) -> Iterator[SyncConnection]:
    """
    A transaction under the writer role, for maintenance and never for a query of a user.

    :param read_only: refuse to change anything.
    :raises UnknownCorpusError: the corpus was never initialised.
    :raises DatabaseUnavailableError: the database cannot be reached.
    """
    session = session_query(
        corpus,
        search_path=database.search_path(schema_name(corpus)),
        groups=None,
        settings={},
        timeout_ms=None,
        role=writer_role(corpus),
        read_only=read_only,
    )
    try:
        with database.sync_pool().connection() as connection, connection.transaction():
            connection.execute(session)
            yield connection
    except psycopg.Error as error:
        known = translate(error, corpus)
        if known is not None:
            raise known from error
        if isinstance(error, psycopg.OperationalError) and error.sqlstate is None:
            raise database.unavailable(error) from error
        raise
