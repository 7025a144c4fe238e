# SPDX-License-Identifier: Apache-2.0
"""
The two expensive indexes of a corpus: dropped before a bulk load, built after it, made whenever one is missing. While
its embedder changes there is a third one.
"""

from typing import Any

import psycopg
from psycopg.sql import SQL, Composed, Identifier

from .corpora import schema_name

BULK_INDEXES = ("spans_embedding", "spans_tsv")
BESIDE_INDEX = "spans_embedding_beside"


_VECTORS = (
    "CREATE INDEX {how} {name} ON {schema}.spans USING hnsw ({column} {vector_schema}.vector_cosine_ops) "
    "WITH (m = 16, ef_construction = 64)"
)


def _definitions(corpus: str, vector_schema: str) -> dict[str, Composed]:
    schema = Identifier(schema_name(corpus))
    vectors = {"schema": schema, "vector_schema": Identifier(vector_schema)}
    return {
        "spans_embedding": SQL(_VECTORS).format(
            how=SQL(""), name=Identifier("spans_embedding"), column=Identifier("embedding"), **vectors
        ),
        BESIDE_INDEX: SQL(_VECTORS).format(
            how=SQL("CONCURRENTLY"), name=Identifier(BESIDE_INDEX), column=Identifier("embedding_beside"), **vectors
        ),
        "spans_tsv": SQL("CREATE INDEX spans_tsv ON {}.spans USING gin (tsv)").format(schema),
    }


def missing_indexes(connection: psycopg.Connection[Any], corpus: str) -> list[str]:
    """Names of the expensive indexes that are not there (a bulk load was interrupted) or not valid."""
    there = _valid_indexes(connection, corpus)
    return [name for name in BULK_INDEXES if name not in there]


def _valid_indexes(connection: psycopg.Connection[Any], corpus: str) -> set[str]:
    rows = connection.execute(
        "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
        "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND i.indisvalid",
        [schema_name(corpus)],
    ).fetchall()
    return {row[0] for row in rows}


def ensure_indexes(connection: psycopg.Connection[Any], corpus: str) -> list[str]:
    """Build what :func:`missing_indexes` names, as the owner of the tables; returns the names of the built ones."""
    missing = missing_indexes(connection, corpus)
    if missing:
        definitions = _definitions(corpus, _vector_schema(connection))
        for name in missing:
            with connection.transaction():
                drop_index(connection, corpus, name)
                connection.execute(definitions[name])
    return missing


def build_beside_index(connection: psycopg.Connection[Any], corpus: str) -> bool:
    """
    Build the vector index of the second set of vectors if it is missing or not valid; returns whether it was.

    Nobody waits for it, neither readers nor writers.

    :param connection: of the owner of the tables, in autocommit mode.
    """
    if BESIDE_INDEX in _valid_indexes(connection, corpus):
        return False
    drop_index(connection, corpus, BESIDE_INDEX)  # a build that was killed leaves one that is not valid
    connection.execute(_definitions(corpus, _vector_schema(connection))[BESIDE_INDEX])
    return True


def _vector_schema(connection: psycopg.Connection[Any]) -> str:
    row = connection.execute(
        "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
    ).fetchone()
    return row[0] if row else "public"


def drop_index(connection: psycopg.Connection[Any], corpus: str, name: str) -> None:
    """Drop one of the expensive indexes, as the owner of the tables."""
    connection.execute(SQL("DROP INDEX IF EXISTS {}.{}").format(Identifier(schema_name(corpus)), Identifier(name)))
