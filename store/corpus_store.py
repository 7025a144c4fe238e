# SPDX-License-Identifier: Apache-2.0
"""The documents of one corpus: stock Haystack components read and write them, ours fetch them by statement."""

import asyncio
import contextlib
import copy
from collections.abc import Iterator
from typing import Any, Literal

import psycopg
from haystack import default_to_dict
from haystack.document_stores.errors import DocumentStoreError
from haystack.utils import Secret
from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore
from psycopg.rows import dict_row

from .corpora import check_corpus_name, reader_role, schema_name
from .database import Database
from .errors import BadInputError
from .execution import group_list, session_query, translate, unknown_corpus
from .scopes import scope_setting, within
from .statements import Statement
from .stock_writer import StockWriting
from .text_search import server_configuration

_STOCK_EF_SEARCH = 200
_DEFAULT_URL = Secret.from_env_var("PINCITE_DATABASE_URL", strict=False)


class CorpusDocumentStore(StockWriting, PgvectorDocumentStore):
    """
    The spans of one corpus.

    Nothing is opened before the first use. Reads run under the reader role of the corpus: they give what is
    searchable and visible to the principal, and nothing of any other corpus (C1, C3).

    :param corpus: name of the corpus; ``pincite init`` makes it.
    :param database_url: a PostgreSQL URL; unset or empty for the embedded server of ``PINCITE_HOME``.
    :param groups: groups of the principal for whom the *stock* methods read (``filter_documents``, stock retrievers).
        ``None`` sees nothing, ``["*"]`` everything. :meth:`fetch` takes its groups with each call.
    :param scope: the required scopes of the corpus (``{"practice_area": ..}``), for the stock methods as well.
    :param embedding_dimension: dimension of the embeddings, as the corpus was made with.
    :param text_search: text search of the corpus (``english``, ``hebrew``); the stock keyword retriever, which knows
        only configurations of the server, has to do with ``simple`` for Hebrew.
    """

    def __init__(
        self,
        corpus: str,
        *,
        database_url: Secret | None = _DEFAULT_URL,
        groups: list[str] | None = None,
        scope: dict[str, str] | None = None,
        embedding_dimension: int = 256,
        text_search: str = "english",
    ) -> None:
        self.corpus = check_corpus_name(corpus)
        self.database_url = database_url
        self.groups = groups
        self.scope = scope
        self.text_search = text_search
        super().__init__(
            connection_string=database_url or _DEFAULT_URL,
            create_extension=False,
            schema_name=schema_name(corpus),
            table_name="documents",
            language=server_configuration(text_search),
            embedding_dimension=embedding_dimension,
            search_strategy="hnsw",
            hnsw_ef_search=_STOCK_EF_SEARCH,
        )

    def to_dict(self) -> dict[str, Any]:
        """The store as constructor arguments; the URL only as the name of its environment variable."""
        return default_to_dict(
            self,
            corpus=self.corpus,
            database_url=self.database_url.to_dict() if self.database_url else None,
            groups=self.groups,
            scope=self.scope,
            embedding_dimension=self.embedding_dimension,
            text_search=self.text_search,
        )

    @property
    def database(self) -> Database:
        """The database of this store, shared by all stores of the process with the same URL."""
        return Database.for_url(self.database_url.resolve_value() if self.database_url else None)

    # -- statements ----------------------------------------------------------------------------------------------

    def fetch(
        self, statement: Statement, *, groups: list[str] | None, timeout_ms: int | None = None
    ) -> list[dict[str, Any]]:
        """
        Run a statement in a read-only transaction under the reader role of the corpus.

        :param statement: its tables are named without a schema; they are those of this corpus.
        :param groups: groups of the principal; ``None`` sees no row, ``["*"]`` all.
        :param timeout_ms: the server cancels the statement after so many milliseconds.
        :returns: the rows, by column name.
        :raises IsolationError: it reached for something outside the corpus.
        :raises UnknownCorpusError: the corpus was never initialised.
        :raises DatabaseUnavailableError: the database cannot be reached.
        :raises psycopg.errors.QueryCanceled: the time was up.
        """
        database = self.database
        generation = database.generation
        try:
            return self._fetch_once(database, statement, groups, timeout_ms)
        except psycopg.OperationalError as error:
            if not _connection_lost(error):
                raise
            database.recover(generation)  # a read may be repeated: once, on a new connection
            try:
                return self._fetch_once(database, statement, groups, timeout_ms)
            except psycopg.OperationalError as again:
                if not _connection_lost(again):
                    raise
                raise database.unavailable(again) from again

    async def fetch_async(
        self, statement: Statement, *, groups: list[str] | None, timeout_ms: int | None = None
    ) -> list[dict[str, Any]]:
        """:meth:`fetch` for the running event loop: the same rows, the same errors."""
        database = self.database
        generation = database.generation
        try:
            return await self._fetch_once_async(database, statement, groups, timeout_ms)
        except psycopg.OperationalError as error:
            if not _connection_lost(error):
                raise
            await asyncio.to_thread(database.recover, generation)
            try:
                return await self._fetch_once_async(database, statement, groups, timeout_ms)
            except psycopg.OperationalError as again:
                if not _connection_lost(again):
                    raise
                raise database.unavailable(again) from again

    def _fetch_once(
        self, database: Database, statement: Statement, groups: list[str] | None, timeout_ms: int | None
    ) -> list[dict[str, Any]]:
        pool = database.sync_pool()
        with self._translated(), pool.connection() as connection:
            with connection.reading(self._session(database, statement, groups, timeout_ms)):
                cursor = connection.cursor(row_factory=dict_row)
                cursor.execute(statement.sql, statement.params)
            return cursor.fetchall()

    async def _fetch_once_async(
        self, database: Database, statement: Statement, groups: list[str] | None, timeout_ms: int | None
    ) -> list[dict[str, Any]]:
        pool = await database.async_pool()
        with self._translated():
            async with pool.connection() as connection:
                async with connection.reading(self._session(database, statement, groups, timeout_ms)):
                    cursor = connection.cursor(row_factory=dict_row)
                    await cursor.execute(statement.sql, statement.params)
                return await cursor.fetchall()

    def _session(
        self, database: Database, statement: Statement, groups: list[str] | None, timeout_ms: int | None
    ) -> str:
        return session_query(
            self.corpus,
            search_path=database.search_path(self.schema_name),
            groups=groups,
            settings=statement.settings,
            timeout_ms=timeout_ms,
        )

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except UnicodeEncodeError as error:
            msg = f"corpus {self.corpus!r}: the query is no valid Unicode text ({error.reason})"
            raise BadInputError(msg) from error
        except psycopg.Error as error:
            known = translate(error, self.corpus)
            if known is None:
                raise
            raise known from error

    # -- the connection of stock Haystack code -------------------------------------------------------------------

    def _session_settings(self, role: str, groups: list[str] | None) -> dict[str, str]:
        listed = ",".join('"' + g.replace("\\", "\\\\").replace('"', '\\"') + '"' for g in group_list(groups))
        return {
            "role": role,
            "pincite.groups": "{" + listed + "}",
            **scope_setting(groups),
            "search_path": self.database.search_path(self.schema_name),
            "hnsw.ef_search": str(_STOCK_EF_SEARCH),
            "hnsw.iterative_scan": "strict_order",
        }

    def _stock_conninfo(self, kind: Literal["reader", "writer"]) -> str:
        database = self.database
        database.prepare()
        role = reader_role(self.corpus) if kind == "reader" else self._writer_role()
        return database.session_conninfo(self._session_settings(role, within(self.groups, self.scope or {})))

    def _create_connection(self) -> psycopg.Connection[Any]:
        conninfo = self._stock_conninfo("reader")
        try:
            return psycopg.Connection.connect(conninfo)
        except psycopg.Error as error:
            raise self._connection_error(error) from error

    async def _create_connection_async(self) -> psycopg.AsyncConnection[Any]:
        conninfo = self._stock_conninfo("reader")
        try:
            return await psycopg.AsyncConnection.connect(conninfo)
        except psycopg.Error as error:
            raise self._connection_error(error) from error

    def _connection_error(self, error: psycopg.Error) -> Exception:
        if f"pincite_{self.corpus}_" in str(error):
            return unknown_corpus(self.corpus)
        return self.database.unavailable(error)

    def _check_and_build_embedding_retrieval_query(self, *args: Any, **kwargs: Any) -> Any:
        """The query of stock embedding retrievers, on the view that only has vectors which may be compared (S3)."""
        reader = copy.copy(self)
        reader.table_name = "fresh_documents"
        return super(CorpusDocumentStore, reader)._check_and_build_embedding_retrieval_query(*args, **kwargs)

    def _initialize_table(self) -> None:
        """Nothing is made at query time; tables come from ``pincite init``."""
        self._table_initialized = True

    async def _initialize_table_async(self) -> None:
        """See :meth:`_initialize_table`."""
        self._table_initialized = True

    def delete_table(self) -> None:
        """Refused: the tables of a corpus hold more than its documents."""
        msg = f"corpus {self.corpus!r}: its tables are not dropped through a document store; use delete_all_documents"
        raise DocumentStoreError(msg)

    async def delete_table_async(self) -> None:
        """See :meth:`delete_table`."""
        self.delete_table()


def _connection_lost(error: psycopg.OperationalError) -> bool:
    """Whether the connection is gone; other operational errors (a timeout, no memory) carry the server's own code."""
    return error.sqlstate is None or (error.sqlstate[:2] in ("08", "57") and error.sqlstate != "57014")
