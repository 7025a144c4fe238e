# SPDX-License-Identifier: Apache-2.0
"""Writing through Haystack's own document store methods: on a second connection, under the writer role."""

from typing import Any, cast

import psycopg
from haystack import Document
from haystack.document_stores.types import DuplicatePolicy
from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore
from psycopg.sql import SQL, Identifier

from .corpora import writer_role

_TABLE = "spans"
_DELETE_FAILED = "Could not delete all documents"


class _Writer(PgvectorDocumentStore):
    """The stock store as the writer role: it sees every row, so it never answers a reader."""

    def __init__(self, store: "StockWriting") -> None:
        self._store = store
        super().__init__(
            connection_string=store.connection_string,
            create_extension=False,
            schema_name=store.schema_name,
            table_name=_TABLE,  # the view that readers have shows vectors by an expression
            embedding_dimension=store.embedding_dimension,
        )

    def _create_connection(self) -> psycopg.Connection[Any]:
        conninfo = self._store._stock_conninfo("writer")
        try:
            return psycopg.Connection.connect(conninfo)
        except psycopg.Error as error:
            raise self._store._connection_error(error) from error

    async def _create_connection_async(self) -> psycopg.AsyncConnection[Any]:
        conninfo = self._store._stock_conninfo("writer")
        try:
            return await psycopg.AsyncConnection.connect(conninfo)
        except psycopg.Error as error:
            raise self._store._connection_error(error) from error

    def _initialize_table(self) -> None:
        self._table_initialized = True

    async def _initialize_table_async(self) -> None:
        self._table_initialized = True

    # Stock code truncates, which a view does not allow.
    def delete_all_documents(self) -> None:
        self._ensure_db_setup()
        cursor = cast(psycopg.Cursor, self._cursor)
        self._execute_sql(cursor, self._delete_all(), error_msg=_DELETE_FAILED)

    async def delete_all_documents_async(self) -> None:
        await self._ensure_db_setup_async()
        cursor = cast(psycopg.AsyncCursor, self._async_cursor)
        await self._execute_sql_async(cursor, self._delete_all(), error_msg=_DELETE_FAILED)

    def _delete_all(self) -> Any:
        return SQL("DELETE FROM {}.{}").format(Identifier(self.schema_name), Identifier(self.table_name))


class StockWriting(PgvectorDocumentStore):
    """The writing half of a corpus store. Each method is Haystack's own, run by :class:`_Writer`."""

    corpus: str
    _writing: _Writer | None = None

    def _stock_conninfo(self, kind: Any) -> str:
        raise NotImplementedError

    def _connection_error(self, error: psycopg.Error) -> Exception:
        raise NotImplementedError

    def _writer_role(self) -> str:
        return writer_role(self.corpus)

    def _writer(self) -> _Writer:
        if self._writing is None:
            self._writing = _Writer(self)
        return self._writing

    def write_documents(self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE) -> int:
        """Write stock documents; one that names no source of the corpus gets one made from its content."""
        return self._writer().write_documents(documents, policy)

    async def write_documents_async(
        self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE
    ) -> int:
        """See :meth:`write_documents`."""
        return await self._writer().write_documents_async(documents, policy)

    def delete_documents(self, document_ids: list[str]) -> None:
        """Delete spans by id, whoever may see them."""
        self._writer().delete_documents(document_ids)

    async def delete_documents_async(self, document_ids: list[str]) -> None:
        """See :meth:`delete_documents`."""
        await self._writer().delete_documents_async(document_ids)

    def delete_all_documents(self) -> None:
        """Delete every span; sources that a stock writer made go with them."""
        self._writer().delete_all_documents()

    async def delete_all_documents_async(self) -> None:
        """See :meth:`delete_all_documents`."""
        await self._writer().delete_all_documents_async()

    def delete_by_filter(self, filters: dict[str, Any]) -> int:
        """Delete the spans whose metadata match, whoever may see them; returns how many."""
        return self._writer().delete_by_filter(filters)

    async def delete_by_filter_async(self, filters: dict[str, Any]) -> int:
        """See :meth:`delete_by_filter`."""
        return await self._writer().delete_by_filter_async(filters)

    def update_by_filter(self, filters: dict[str, Any], meta: dict[str, Any]) -> int:
        """Change metadata of the spans that match, whoever may see them; returns how many."""
        return self._writer().update_by_filter(filters, meta)

    async def update_by_filter_async(self, filters: dict[str, Any], meta: dict[str, Any]) -> int:
        """See :meth:`update_by_filter`."""
        return await self._writer().update_by_filter_async(filters, meta)

    def close(self) -> None:
        """Close the connections of the stock methods; pools belong to the process and stay."""
        super().close()
        if self._writing is not None:
            self._writing.close()

    async def close_async(self) -> None:
        """See :meth:`close`."""
        await super().close_async()
        if self._writing is not None:
            await self._writing.close_async()
