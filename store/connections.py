# SPDX-License-Identifier: Apache-2.0
"""The connections of the pools: a transaction in three round trips, and nothing left behind for the next borrower."""

import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import Any, TypeAlias

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool

# Nothing should be left, since every query is a transaction of its own; this keeps one that forgot from leaking its
# role to the next borrower. Not DISCARD ALL: that would also drop psycopg's prepared statements.
RESET = b"RESET ROLE; RESET ALL"
_COMMIT = b"COMMIT; " + RESET
_ROLLBACK = b"ROLLBACK; " + RESET


class Connection(psycopg.Connection[TupleRow]):
    """A connection of :class:`Pool`; ``clean`` while nothing was done with it since it was reset."""

    clean = False

    @contextlib.contextmanager
    def reading(self, session: str) -> Iterator[None]:
        """
        A transaction that begins with a query (see ``execution.session_query``) and ends with a reset.

        ``BEGIN`` travels with the first query and the reset with ``COMMIT``: two round trips besides those of the body,
        where psycopg's own ``transaction()`` and the pool's reset take four.
        """
        self.clean = False
        try:
            self.execute(_beginning(session), prepare=False)
            yield
        except BaseException:
            if not self.closed and self.pgconn.transaction_status != TransactionStatus.ACTIVE:
                self.execute(_ROLLBACK, prepare=False)
                self.clean = True
            raise
        self.execute(_COMMIT, prepare=False)
        self.clean = True


class AsyncConnection(psycopg.AsyncConnection[TupleRow]):
    """A connection of ``AsyncPool``; see :class:`Connection`."""

    clean = False

    @contextlib.asynccontextmanager
    async def reading(self, session: str) -> AsyncIterator[None]:
        """As :meth:`Connection.reading`."""
        self.clean = False
        try:
            await self.execute(_beginning(session), prepare=False)
            yield
        except Exception:
            if not self.closed and self.pgconn.transaction_status != TransactionStatus.ACTIVE:
                await self.execute(_ROLLBACK, prepare=False)
                self.clean = True
            raise
        await self.execute(_COMMIT, prepare=False)
        self.clean = True


def _beginning(session: str) -> bytes:
    return b"BEGIN; " + session.encode()


class Pool(ConnectionPool[Connection]):
    """
    A pool whose connections are reset when they come back, by the thread that brings them, and lent again at once.

    The pool's own order is first in, first out: two connections would take turns at the statements of one search, each
    with plans and caches of its own, and each cold again when its turn comes.
    """

    def _add_to_pool(self, conn: Connection) -> None:
        super()._add_to_pool(conn)
        with self._lock:
            self._pool.rotate(1)  # the last one in stands where the next borrower takes

    def putconn(self, conn: Connection) -> None:
        """
        Reset and give back; a connection that cannot be reset is closed, and the pool makes another.

        The pool's own ``reset`` would hand each connection to a worker thread, which then competes with the search.
        """
        if not conn.clean and conn.pgconn.transaction_status == TransactionStatus.IDLE:
            try:
                conn.execute(RESET, prepare=False)
            except psycopg.Error:
                conn.close()
        conn.clean = False
        super().putconn(conn)


SyncConnection: TypeAlias = psycopg.Connection[TupleRow]
AnyConnection: TypeAlias = psycopg.Connection[Any] | psycopg.AsyncConnection[Any]
