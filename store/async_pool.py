# SPDX-License-Identifier: Apache-2.0
"""
Connections for one event loop.

``psycopg_pool.AsyncConnectionPool`` is not used: it works through background tasks that swallow the cancellation which
``asyncio.run`` ends with, so that a program whose last act was a query could hang, and its connections stay open when
the loop is gone. Here nothing runs in the background, and :meth:`AsyncPool.finish` closes everything from outside.
"""

import asyncio
import contextlib
import weakref
from collections.abc import AsyncIterator, Callable

from psycopg.pq import TransactionStatus

from .connections import RESET, AsyncConnection
from .errors import DatabaseUnavailableError


class AsyncPool:
    """
    At most ``size`` connections, made when needed and kept for the next borrower.

    :param conninfo: how to connect.
    :param configure: called once with each new connection.
    :param wait_seconds: how long a borrower waits for a free connection.
    """

    def __init__(
        self,
        conninfo: str,
        *,
        configure: Callable[[AsyncConnection], None],
        size: int = 10,
        wait_seconds: float = 30.0,
    ) -> None:
        self.conninfo = conninfo
        self._configure = configure
        self._size = size
        self._wait_seconds = wait_seconds
        self._free = asyncio.Semaphore(size)
        self._idle: list[AsyncConnection] = []
        self._all: weakref.WeakSet[AsyncConnection] = weakref.WeakSet()
        self._loop = weakref.ref(asyncio.get_running_loop())

    @contextlib.asynccontextmanager
    async def connection(self) -> AsyncIterator[AsyncConnection]:
        """
        Borrow a connection (autocommit). One that is not idle at the end, or whose borrower failed, is closed.

        :raises DatabaseUnavailableError: none became free in time.
        :raises psycopg.OperationalError: no new one can be made.
        """
        try:
            async with asyncio.timeout(self._wait_seconds):
                await self._free.acquire()
        except TimeoutError as error:
            msg = f"all {self._size} database connections were busy for {self._wait_seconds:.0f} s: try again later"
            raise DatabaseUnavailableError(msg) from error
        try:
            connection = self._idle.pop() if self._idle else await self._connect()
            try:
                yield connection
                if connection.pgconn.transaction_status == TransactionStatus.IDLE:
                    if not connection.clean:
                        await connection.execute(RESET, prepare=False)
                    connection.clean = False
                    self._idle.append(connection)
            finally:
                if connection not in self._idle:
                    connection.pgconn.finish()
        finally:
            self._free.release()

    def belongs_to_closed_loop(self) -> bool:
        """Whether nobody can use this pool any more."""
        loop = self._loop()
        return loop is None or loop.is_closed()

    def finish(self) -> None:
        """Close every connection at once, without the loop."""
        for connection in list(self._all):
            connection.pgconn.finish()
        self._idle.clear()

    async def _connect(self) -> AsyncConnection:
        connection = await AsyncConnection.connect(self.conninfo, autocommit=True)
        self._configure(connection)
        self._all.add(connection)
        return connection
