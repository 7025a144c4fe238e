# SPDX-License-Identifier: Apache-2.0
"""The two expensive indexes of a corpus: dropped before a bulk load, built after it, made whenever one is missing."""

from typing import Any

import psycopg
from psycopg.sql import SQL, Composed, Identifier

from .corpora import schema_name

BULK_INDEXES = ("spans_embedding", "spans_tsv")


def _definitions(corpus: str, vector_schema: str) -> dict[str, Composed]:
    schema = Identifier(schema_name(corpus))
    return {
        "spans_embedding": SQL(
            "CREATE INDEX spans_embedding ON {}.spans USING hnsw (embedding {}.vector_cosine_ops) "
            "WITH (m = 16, ef_construction = 64)"
        ).format(schema, Identifier(vector_schema)),
        "spans_tsv": SQL("CREATE INDEX spans_tsv ON {}.spans USING gin (tsv)").format(schema),
    }


def missing_indexes(connection: psycopg.Connection[Any], corpus: str) -> list[str]:
    """Names of the expensive indexes that are not there (a bulk load was interrupted) or not valid."""
    rows = connection.execute(
        "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
        "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND i.indisvalid",
        [schema_name(corpus)],
    ).fetchall()
    there = {row[0] for row in rows}
    return [name for name in BULK_INDEXES if name not in there]


def ensure_indexes(connection: psycopg.Connection[Any], corpus: str) -> list[str]:
    """Build what :func:`missing_indexes` names, as the owner of the tables; returns the names of the built ones."""
    missing = missing_indexes(connection, corpus)
    if missing:
        row = connection.execute(
            "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace "
            "WHERE e.extname = 'vector'"
        ).fetchone()
        definitions = _definitions(corpus, row[0] if row else "public")
        for name in missing:
            with connection.transaction():
                drop_index(connection, corpus, name)
                connection.execute(definitions[name])
    return missing


def drop_index(connection: psycopg.Connection[Any], corpus: str, name: str) -> None:
    """Drop one of the expensive indexes, as the owner of the tables."""
    connection.execute(SQL("DROP INDEX IF EXISTS {}.{}").format(Identifier(schema_name(corpus)), Identifier(name)))
