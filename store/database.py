# SPDX-License-Identifier: Apache-2.0
"""
The database behind a URL: the embedded server or any PostgreSQL, one pool per kind of caller, one object per process.

Every connection of a pool is ``pincite_app``, a role that owns and may read nothing; a query gets its corpus by taking
that corpus's role inside its transaction, and one that forgets to is refused by PostgreSQL (C1).
"""

import asyncio
import atexit
import contextlib
import os
import threading
import weakref
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import platformdirs
import psycopg
from pgvector.psycopg.vector import register_vector_info
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.sql import SQL, Composable
from psycopg.types import TypeInfo
from psycopg_pool import PoolTimeout

from .async_pool import AsyncPool
from .connections import AnyConnection, Connection, Pool, SyncConnection
from .errors import ConfigurationError, DatabaseUnavailableError

if TYPE_CHECKING:
    from .embedded import EmbeddedServer

APPLICATION_ROLE = "pincite_app"

_MINIMUM_VERSION = 15  # views with security_invoker
_POOL_SIZE = 10
_POOL_WAIT_SECONDS = 30.0
_CONNECT_SECONDS = 10
_SESSION_SETTINGS = {
    # psycopg prepares a repeated statement, and a generic plan would freeze the one that suited the first principal.
    "plan_cache_mode": "force_custom_plan",
    # Nothing useful: a query that forgets its corpus finds no table.
    "search_path": "pg_catalog",
    # Row level security filters after the vector index: go on until enough rows are visible.
    "hnsw.iterative_scan": "relaxed_order",
    # The planner thinks the title leg costly; compiling its plan at each search would take longer than the search.
    "jit": "off",
}


class _Ready(NamedTuple):
    """What is known once the database was reached."""

    conninfo: str
    vector: TypeInfo
    schemas: dict[str, str]


def pincite_home() -> Path:
    """``PINCITE_HOME``, by default the platform's folder for a user's data; absolute, not necessarily there."""
    configured = os.environ.get("PINCITE_HOME")
    return Path(configured).expanduser().absolute() if configured else Path(platformdirs.user_data_path("pincite"))


def extension_schemas(connection: psycopg.Connection[Any]) -> dict[str, str]:
    """Schema of each installed extension, by the name of the extension."""
    rows = connection.execute(
        "SELECT extname, nspname FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace"
    ).fetchall()
    return dict(rows)


class Database:
    """
    One database: get it by :meth:`current` or :meth:`for_url`, which give the same object to all callers of a process.

    :param url: a libpq URL or ``key=value`` string; ``None`` for the embedded server of ``home``.
    :param home: ``PINCITE_HOME`` of the embedded server.
    """

    _known: ClassVar[dict[tuple[str | None, Path | None], "Database"]] = {}
    _known_lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, url: str | None, home: Path | None) -> None:
        self.url = url
        self.home = home
        self._lock = threading.RLock()
        self._loops_lock = threading.Lock()  # held for a moment only: a loop must not wait for a server that starts
        self._server: EmbeddedServer | None = None
        self._ready: _Ready | None = None
        self._sync_pool: Pool | None = None
        self._async_pools: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncPool] = weakref.WeakKeyDictionary()
        self._made_pools: list[AsyncPool] = []
        self.generation = 0  # grows with each recovery, so that of several callers only the first one recovers

    @classmethod
    def current(cls) -> "Database":
        """The database of ``PINCITE_DATABASE_URL``, or the embedded one of ``PINCITE_HOME``."""
        return cls.for_url(os.environ.get("PINCITE_DATABASE_URL"))

    @classmethod
    def for_url(cls, url: str | None) -> "Database":
        """The database of ``url``; ``None`` or an empty text means the embedded one of ``PINCITE_HOME``."""
        key = (url, None) if url else (None, pincite_home())
        with cls._known_lock:
            if key not in cls._known:
                cls._known[key] = cls(*key)
            return cls._known[key]

    @property
    def embedded(self) -> bool:
        """Whether this is the embedded server."""
        return self.url is None

    def describe(self) -> str:
        """Where the database is, in a few words and without a password."""
        if self.url is None:
            return f"embedded server of PINCITE_HOME {self.home}"
        try:
            parts = conninfo_to_dict(self.url)
        except psycopg.Error:
            return "the server of PINCITE_DATABASE_URL"
        place = f"{parts.get('host') or 'local socket'}:{parts.get('port') or 5432}"
        return f"database {parts.get('dbname') or parts.get('user') or '?'!r} at {place}"

    # -- connections ---------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def admin(self) -> Iterator[SyncConnection]:
        """
        A connection of the owner (embedded: the superuser; else the login of the URL), in autocommit mode.

        For schema changes, indexes and figures about the database; never for a query of a user.

        :raises DatabaseUnavailableError: not reachable, or older than PostgreSQL 15.
        """
        connection = self._connect(self._owner_conninfo())
        try:
            yield connection
        except psycopg.OperationalError as error:
            if connection.broken:
                raise self.unavailable(error) from error
            raise
        finally:
            connection.close()

    def sync_pool(self) -> Pool:
        """
        The open pool for blocking callers; starts the embedded server at first use.

        :raises DatabaseUnavailableError: the database cannot be used.
        :raises ConfigurationError: it was never initialised.
        """
        with self._lock:
            ready = self._prepare()
            if self._sync_pool is None:
                pool = Pool(
                    ready.conninfo,
                    connection_class=Connection,
                    min_size=1,
                    max_size=_POOL_SIZE,
                    timeout=_POOL_WAIT_SECONDS,
                    kwargs={"autocommit": True},
                    configure=partial(_configure, ready.vector),
                    name="pincite",
                    open=True,
                )
                try:
                    # A borrower who finds none ready makes the pool open a second one, in the background.
                    pool.wait(_POOL_WAIT_SECONDS)
                except PoolTimeout as error:
                    raise self.unavailable(error) from error
                self._sync_pool = pool
            return self._sync_pool

    async def async_pool(self) -> AsyncPool:
        """The pool of the running event loop; connections belong to a loop. Errors as in :meth:`sync_pool`."""
        loop = asyncio.get_running_loop()
        self._sweep()
        ready = self._ready
        if ready is None:
            ready = await asyncio.to_thread(self.prepare)
        pool = self._async_pools.get(loop)
        if pool is None or pool.conninfo != ready.conninfo:
            pool = AsyncPool(ready.conninfo, configure=partial(_configure, ready.vector), size=_POOL_SIZE)
            with self._loops_lock:
                self._async_pools[loop] = pool
                self._made_pools.append(pool)
        return pool

    def search_path(self, corpus_schema: str) -> str:
        """The schema of a corpus, followed by those of the extensions whose operators its queries use."""
        schemas = self.prepare().schemas
        path = [corpus_schema, *dict.fromkeys(schemas[name] for name in ("vector", "pg_trgm"))]
        return ", ".join('"' + name.replace('"', '""') + '"' for name in path)

    def session_conninfo(self, settings: dict[str, str]) -> str:
        """Connection string of a session of its own (stock Haystack code), with these settings from the start."""
        return self._app_conninfo(settings)

    # -- life ----------------------------------------------------------------------------------------------------

    def prepare(self) -> _Ready:
        """Reach the database once: start the server, check extensions. Errors as in :meth:`sync_pool`."""
        with self._lock:
            return self._prepare()

    def recover(self, generation: int) -> None:
        """
        After a lost connection: bring the database back (the embedded server is started again) with new pools.

        :param generation: :attr:`generation` as it was before the connection was borrowed.
        :raises DatabaseUnavailableError: it cannot be reached.
        """
        with self._lock:
            if generation != self.generation:
                return  # somebody else was here meanwhile
            self.generation += 1
            self._ready = None
            self._close_pools()
            self._prepare()

    def forget(self) -> None:
        """Look at extensions and roles anew at the next use (they have just been made)."""
        with self._lock:
            self._ready = None

    def close(self) -> None:
        """Close the pools and leave the embedded server, which stops when nobody else uses it."""
        with self._lock:
            self._close_pools()
            self._ready = None
            if self._server is not None:
                self._server.release()
                self._server = None

    def unavailable(self, error: Exception) -> DatabaseUnavailableError:
        """The one line for a connection that failed: where, why, and what else could be done."""
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = _without_password(lines[-1] if lines else type(error).__name__, self.url)
        if self.url is None:
            log = self._embedded_server().log
            return DatabaseUnavailableError(f"{self.describe()} is not reachable: {reason}; log: {log}")
        return DatabaseUnavailableError(
            f"{self.describe()} is not reachable: {reason}; check PINCITE_DATABASE_URL, or unset it to use the "
            "embedded server"
        )

    # -- inside --------------------------------------------------------------------------------------------------

    def _embedded_server(self) -> "EmbeddedServer":
        if self._server is None:
            if os.name != "posix":
                msg = "the embedded PostgreSQL runs on Linux and macOS only: set PINCITE_DATABASE_URL"
                raise DatabaseUnavailableError(msg)
            from .embedded import EmbeddedServer  # noqa: PLC0415 (needs POSIX modules)

            self._server = EmbeddedServer(self.home or pincite_home())
        return self._server

    def _owner_conninfo(self) -> str:
        if self.url is None:
            from .embedded import DATABASE, OWNER  # noqa: PLC0415

            with self._lock:
                socket = self._embedded_server().acquire()
            return make_conninfo(host=str(socket), user=OWNER, dbname=DATABASE, application_name="pincite")
        return self.url

    def _app_conninfo(self, settings: dict[str, str]) -> str:
        merged = _SESSION_SETTINGS | settings
        if self.url is None:
            owner = self._owner_conninfo()
            return make_conninfo(owner, user=APPLICATION_ROLE, options=_options(merged))
        given = conninfo_to_dict(self.url)
        if given.get("user") != APPLICATION_ROLE:
            merged = {"role": APPLICATION_ROLE} | merged
        options = f"{given.get('options') or ''} {_options(merged)}".strip()
        return make_conninfo(self.url, options=options)

    def _connect(self, conninfo: str) -> SyncConnection:
        try:
            timeout = {} if "connect_timeout" in conninfo else {"connect_timeout": _CONNECT_SECONDS}
            connection = psycopg.connect(conninfo, autocommit=True, **timeout)  # type: ignore[arg-type]
        except psycopg.Error as error:
            raise self.unavailable(error) from error
        if connection.info.server_version < _MINIMUM_VERSION * 10000:
            version = connection.info.parameter_status("server_version")
            connection.close()
            msg = f"{self.describe()} is PostgreSQL {version}; Pincite needs {_MINIMUM_VERSION} or later"
            raise DatabaseUnavailableError(msg)
        return connection

    def _prepare(self) -> _Ready:
        if self._ready is None:
            with self.admin() as owner:
                vector, schemas = self._check(owner)
            self._ready = _Ready(self._app_conninfo({}), vector, schemas)
        return self._ready

    def _check(self, owner: SyncConnection) -> tuple[TypeInfo, dict[str, str]]:
        schemas = extension_schemas(owner)
        if owner.execute("SELECT to_regclass('pincite.corpora')").fetchone() == (None,):
            msg = f"{self.describe()} is not initialised; run: pincite init"
            raise ConfigurationError(msg)
        for name in ("vector", "pg_trgm"):
            if name not in schemas:
                msg = f"{self.describe()} lacks extension {name!r}: run there CREATE EXTENSION {name}; or pincite init"
                raise DatabaseUnavailableError(msg)
        with owner.transaction():
            owner.execute("SELECT set_config('search_path', quote_ident(%s), true)", [schemas["vector"]])
            vector = TypeInfo.fetch(owner, "vector")
        if vector is None:
            msg = f"{self.describe()}: the login may not use type vector in schema {schemas['vector']!r}"
            raise DatabaseUnavailableError(msg)
        return vector, schemas

    def _close_pools(self) -> None:
        if self._sync_pool is not None:
            self._sync_pool.close()
            self._sync_pool = None
        with self._loops_lock:
            made, self._made_pools = self._made_pools, []
            self._async_pools = weakref.WeakKeyDictionary()
        for pool in made:
            pool.finish()

    def _sweep(self) -> None:
        """Close what closed event loops left behind."""
        with self._loops_lock:  # each event loop of the process comes here
            closed = [pool for pool in self._made_pools if pool.belongs_to_closed_loop()]
            self._made_pools = [pool for pool in self._made_pools if pool not in closed]
        for pool in closed:
            pool.finish()

    def database_values(self) -> dict[str, Composable]:
        """Placeholders of the SQL files in ``sql/database``."""
        return {"login": SQL("LOGIN" if self.url is None else "NOLOGIN")}


def _configure(vector: TypeInfo, connection: AnyConnection) -> None:
    """Teach a connection the vector type without asking the server each time."""
    register_vector_info(connection, vector)


def _options(settings: dict[str, str]) -> str:
    """libpq's ``options``: a blank or backslash inside a value is escaped by a backslash."""
    escaped = {name: value.replace("\\", "\\\\").replace(" ", "\\ ") for name, value in settings.items()}
    return " ".join(f"-c {name}={value}" for name, value in escaped.items())


def _without_password(text: str, url: str | None) -> str:
    try:
        password = conninfo_to_dict(url).get("password") if url else None
    except psycopg.Error:
        return "the URL cannot be read"  # libpq's message may hold a piece of the password
    return text.replace(str(password), "***") if password else text


@atexit.register
def _close_all() -> None:
    for database in list(Database._known.values()):
        with contextlib.suppress(Exception):
            database.close()


_INHERITED: list[object] = []


def _after_fork() -> None:
    # Connections and the place on the server's list of users belong to the parent: kept, so that nothing closes them.
    _INHERITED.append(Database._known)
    Database._known = {}
    Database._known_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
