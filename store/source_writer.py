# SPDX-License-Identifier: Apache-2.0
"""Writing whole sources: each appears at once with all its spans, or not at all (I2)."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np
from psycopg.sql import SQL, Composed, Identifier, Literal
from psycopg.types.json import Jsonb

from .connections import SyncConnection
from .corpora import check_corpus_name, schema_name
from .database import Database
from .errors import BadInputError
from .index_definitions import BULK_INDEXES, drop_index, ensure_indexes
from .source_changes import keep_by_hand, mark_overridden
from .spans import SourceRecord, SpanRecord, span_id
from .vector_columns import IN_FORCE, VectorColumn, column_in
from .writer_session import writer_session

_SOURCE_COLUMNS = {
    "source_id": "text",
    "title": "text",
    "text": "text",
    "content_hash": "text",
    "media_type": "text",
    "status": "text",
    "groups": "text[]",
    "meta": "jsonb",
    "identity": "text",
}
_SPAN_COLUMNS = {
    "id": "text",
    "embedding": "vector",
    "content": "text",
    "meta": "jsonb",
    "source_id": "text",
    "kind": "text",
    "number": "int4",
    "start_offset": "int4",
    "end_offset": "int4",
    "page": "int4",
    "page_end": "int4",
    "section": "text",
    "quote": "text",
    "parent_start": "int4",
    "parent_end": "int4",
    "embedding_fingerprint": "text",
    "statement": "text",
    "review_status": "text",
}

# Keys of a source's metadata that a span has of its own, or that are of no use to filters.
_NOT_OF_SPANS = frozenset(
    "source_id corpus kind number start end page page_end section quote statement review_status parent "
    "parent_start parent_end embedding_fingerprint title_source parties".split()
)

_MERGE_LEXEMES = """
WITH counted AS MATERIALIZED (SELECT word, ndoc FROM ts_stat({query})),
    gone AS (DELETE FROM {table} AS old WHERE NOT EXISTS (SELECT FROM counted WHERE word = old.lexeme))
INSERT INTO {table} AS old (lexeme, df) SELECT word, ndoc FROM counted
ON CONFLICT (lexeme) DO UPDATE SET df = EXCLUDED.df WHERE old.df <> EXCLUDED.df
"""

_CLEAN_PENDING = """
SELECT gin_clean_pending_list(c.oid::regclass)
FROM pg_class c JOIN pg_am ON pg_am.oid = c.relam JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE amname = 'gin' AND relkind = 'i' AND nspname = %s
"""

_COUNT = """
UPDATE corpus_stats SET
    (spans, average_length) = (SELECT count(*), coalesce(avg(length), 0) FROM spans WHERE searchable),
    sources = (SELECT count(*) FROM sources WHERE searchable),
    version = version + 1
"""


class HeldSource(NamedTuple):
    """
    A source as an ingestion finds it.

    ``path`` and ``root`` are absolute: the file it was read from, and the folder its id is counted from; both empty if
    no ingestion wrote it. ``prefix`` is that of ``--as``, with its slash.
    """

    content_hash: str | None
    path: str
    root: str
    prefix: str


class SourceWriter:
    """
    Writes into one corpus, under its writer role.

    :param database: where the corpus is.
    :param corpus: its name; made by ``pincite init``.

    Every method raises :class:`~.errors.UnknownCorpusError` if the corpus was never made, and
    :class:`~.errors.DatabaseUnavailableError` if the database cannot be reached.
    """

    def __init__(self, database: Database, corpus: str) -> None:
        self.database = database
        self.corpus = check_corpus_name(corpus)

    def known_sources(self, paths: Sequence[str] = ("",)) -> dict[str, str | None]:
        """
        ``content_hash`` by ``source_id`` of what the corpus holds at or below the given paths.

        :param paths: source ids or folders of source ids, with ``/`` and no trailing one; ``""`` is everything.
        """
        wanted = [path.rstrip("/") for path in paths]
        with self._transaction() as connection:
            rows = connection.execute(
                "SELECT source_id, content_hash FROM sources WHERE EXISTS (SELECT FROM unnest(%s::text[]) AS path "
                "WHERE path = '' OR source_id = path OR starts_with(source_id, path || '/'))",
                [wanted],
            ).fetchall()
        return dict(rows)

    def held_sources(self) -> dict[str, HeldSource]:
        """What the corpus holds, by ``source_id``, with the file that each source was read from."""
        with self._transaction() as connection:
            rows = connection.execute(
                "SELECT source_id, content_hash, coalesce(meta ->> '_path', ''), coalesce(meta ->> '_root', ''), "
                "coalesce(meta ->> '_prefix', '') FROM sources"
            ).fetchall()
        return {source_id: HeldSource(*rest) for source_id, *rest in rows}

    def write_sources(self, records: Sequence[SourceRecord], *, fingerprint: str | None = None) -> int:
        """
        Write sources with their spans in one transaction, each in place of what the corpus held under its id.

        :param fingerprint: of the model that made the embeddings (S3): they go where the corpus keeps those of it.
        :returns: the number of spans written.
        :raises BadInputError: a text that PostgreSQL cannot hold (a NUL or a lone surrogate), an embedding of another
            dimension, or an id given twice; nothing is written then.
        :raises ConfigurationError: the corpus is for another embedder.
        """
        for record in records:
            _check(record)
        ids = [record.source_id for record in records]
        if len(set(ids)) < len(ids):
            twice = next(source_id for source_id in ids if ids.count(source_id) > 1)
            msg = f"source {twice!r} is given twice: each source has one id"
            raise BadInputError(msg)
        if not records:
            return 0
        with self._transaction() as connection:
            self._serialise(connection)
            columns = _span_columns(column_in(connection, self.corpus, fingerprint))
            records = keep_by_hand(connection, records)
            connection.execute("DELETE FROM sources WHERE source_id = ANY(%s)", [ids])
            with connection.cursor() as cursor:
                with cursor.copy(_copy("sources", _SOURCE_COLUMNS)) as copy:
                    copy.set_types(list(_SOURCE_COLUMNS.values()))
                    for record in records:
                        copy.write_row(_source_row(record))
                with cursor.copy(_copy("spans", columns)) as copy:
                    copy.set_types(list(columns.values()))
                    for record in records:
                        meta = _span_meta(record)
                        for span in record.spans:
                            copy.write_row(self._span_row(record, span, meta, fingerprint))
            mark_overridden(connection, ids)
        return sum(len(record.spans) for record in records)

    def delete_sources(self, source_ids: Sequence[str]) -> int:
        """Delete sources with their spans; returns how many there were."""
        with self._transaction() as connection:
            self._serialise(connection)
            return connection.execute("DELETE FROM sources WHERE source_id = ANY(%s)", [list(source_ids)]).rowcount

    def begin_bulk(self, new_spans: int | None = None) -> bool:
        """
        Drop the expensive indexes if that pays: the corpus is empty, or fewer spans are there than will come.

        Searches still work meanwhile, only slower. :meth:`finish_bulk` builds the indexes; after a crash the next
        ``ingest`` or ``init`` does.

        :param new_spans: how many spans will be written, if known.
        :returns: whether they were dropped.
        """
        with self._transaction() as connection:
            row = connection.execute("SELECT count(*) FROM spans").fetchone()
            there = row[0] if row else 0
            if there and there >= (new_spans or 0):
                return False
            for name in BULK_INDEXES:
                drop_index(connection, self.corpus, name)
        return True

    def finish_bulk(self) -> list[str]:
        """Build the expensive indexes that are missing; returns their names."""
        with self._transaction() as connection:
            return ensure_indexes(connection, self.corpus)

    def ensure_indexes(self) -> list[str]:
        """The same as :meth:`finish_bulk`: for the start of an ingestion, in case the last one was killed."""
        return self.finish_bulk()

    def refresh_statistics(self) -> None:
        """
        Count anew what ranking and planning need: document frequencies, numbers of spans and sources, their average
        length, and the planner's own statistics. Call it after each ingestion that changed something.
        """
        schema = Identifier(schema_name(self.corpus))
        with self._transaction() as connection:
            # The embedded server does not wait for the disk; this commit does, and with it all that came before.
            connection.execute("SET LOCAL synchronous_commit = on")
            for table, column, lexemes in (
                ("spans", "tsv", "span_lexemes"),
                ("sources", "identity_tsv", "identity_lexemes"),
            ):
                query = SQL("SELECT {} FROM {}.{} WHERE searchable").format(
                    Identifier(column), schema, Identifier(table)
                )
                connection.execute(
                    SQL(_MERGE_LEXEMES).format(query=Literal(query.as_string(connection)), table=Identifier(lexemes))
                )
            connection.execute(_COUNT)
            # Words that came in one by one wait in a list that every search reads through.
            connection.execute(_CLEAN_PENDING, [schema_name(self.corpus)])
            connection.execute(
                "ANALYZE spans (source_id, kind, number, tsv, visible_to, searchable, stale, length,"
                " embedding_fingerprint, beside_fingerprint)"
            )
            connection.execute("ANALYZE sources, span_lexemes, identity_lexemes")

    # -- inside --------------------------------------------------------------------------------------------------

    def _transaction(self) -> AbstractContextManager[SyncConnection]:
        return writer_session(self.database, self.corpus)

    def _serialise(self, connection: SyncConnection) -> None:
        """One writer at a time: two that replace the same source would otherwise both insert it."""
        connection.execute("SELECT FROM corpus_stats FOR UPDATE")

    def _span_row(
        self, record: SourceRecord, span: SpanRecord, meta: dict[str, Any], fingerprint: str | None
    ) -> tuple[Any, ...]:
        place = {"kind": span.kind, "start": span.start, "end": span.end}
        optional = {"page": span.page, "page_end": span.page_end, "section": span.section, "quote": span.quote}
        optional |= {"statement": span.statement}
        place |= {key: value for key, value in optional.items() if value is not None}
        return (
            span_id(self.corpus, record.source_id, span.kind, span.number),
            None if span.embedding is None else np.asarray(span.embedding, dtype=np.float32),
            span.text,
            Jsonb(meta | place),
            record.source_id,
            span.kind,
            span.number,
            span.start,
            span.end,
            span.page,
            span.page_end,
            span.section,
            span.quote,
            span.parent_start,
            span.parent_end,
            None if span.embedding is None else fingerprint,
            span.statement,
            span.review_status,
        )


def _span_columns(column: VectorColumn) -> dict[str, str]:
    """The columns of a span in the order of :meth:`SourceWriter._span_row`, its vector where it belongs."""
    places = {IN_FORCE.vector: column.vector, IN_FORCE.fingerprint: column.fingerprint}
    return {places.get(name, name): kind for name, kind in _SPAN_COLUMNS.items()}


def _source_row(record: SourceRecord) -> tuple[Any, ...]:
    return (
        record.source_id,
        record.title,
        record.text,
        record.content_hash,
        record.media_type,
        record.status,
        list(record.groups),
        Jsonb(record.meta),
        record.identity,
    )


def _span_meta(record: SourceRecord) -> dict[str, Any]:
    """What filters and readers of a span want to know about its source: all that a user wrote."""
    told = {
        key: value
        for key, value in record.meta.items()
        if not key.startswith("_") and key not in _NOT_OF_SPANS and value not in (None, "", [])
    }
    return told | {"source_id": record.source_id, "title": record.title}


def _copy(table: str, columns: dict[str, str]) -> Composed:
    names = SQL(", ").join(map(Identifier, columns))
    return SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(Identifier(table), names)


def _check(record: SourceRecord) -> None:
    for name, value in (("text", record.text), ("title", record.title), ("identity", record.identity)):
        if "\0" in value:
            msg = f"source {record.source_id!r}: its {name} holds a NUL character at {value.index(chr(0))}"
            raise BadInputError(msg)
        try:
            value.encode()
        except UnicodeEncodeError as error:
            msg = f"source {record.source_id!r}: its {name} holds a lone surrogate at {error.start}"
            raise BadInputError(msg) from error
