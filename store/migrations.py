# SPDX-License-Identifier: Apache-2.0
"""
Numbered SQL files, applied once each, in order, a transaction per file.

``sql/database`` makes what all corpora share, ``sql/corpus`` what each has for itself. What was applied, and the hash
of its text, stands in ``pincite.migrations``. Nothing here runs at query time.
"""

import hashlib
from collections.abc import Iterable
from importlib import resources
from typing import Any, NamedTuple

import psycopg
from psycopg.sql import SQL, Composable, Identifier, Literal

from .corpora import CorpusDefinition, check_corpus_name, reader_role, schema_name, writer_role
from .database import Database, extension_schemas
from .errors import ConfigurationError, DatabaseUnavailableError
from .index_definitions import ensure_indexes
from .scopes import scope_indexes, scope_statements
from .text_search import is_ours, server_configuration, word_functions

DATABASE_SCOPE = ""
"""Scope of the files in ``sql/database``; the scope of the others is the name of their corpus."""

_LOCK_KEY = 0x70696E63697465  # "pincite": one init at a time

_BOOTSTRAP = """
CREATE SCHEMA IF NOT EXISTS pincite;
CREATE TABLE IF NOT EXISTS pincite.migrations (
    scope text, name text, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (scope, name)
)
"""


class Migration(NamedTuple):
    """One SQL file: ``scope`` is :data:`DATABASE_SCOPE` or a corpus name."""

    scope: str
    name: str
    text: str

    @property
    def sha256(self) -> str:
        """Hash of the text, as recorded when it was applied."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def pending(database: Database, corpora: Iterable[str] = ()) -> list[Migration]:
    """
    The files that ``init`` would apply, in order, for the database and the given corpora. Reads only.

    :raises ConfigurationError: an applied file has another text now.
    """
    with database.admin() as connection:
        return _pending(connection, [DATABASE_SCOPE, *map(check_corpus_name, corpora)])


def initialise(database: Database, corpora: Iterable[CorpusDefinition] = ()) -> list[Migration]:
    """
    Bring the database and the given corpora up to date, and return what was applied.

    Safe to repeat: it makes missing indexes, and applies changed settings of a corpus to its rows.

    :raises DatabaseUnavailableError: an extension is missing, or the login may not create what is needed.
    :raises ConfigurationError: a corpus exists with another text search configuration, or an applied file has another
        text now.
    """
    definitions = list(corpora)
    with database.admin() as connection:
        connection.execute("SET synchronous_commit = on")  # the embedded server has it off: what is made stays made
        connection.execute("SELECT pg_advisory_lock(%s)", [_LOCK_KEY])
        try:
            _ensure_extensions(connection)
            connection.execute(_BOOTSTRAP)
            applied = _apply(connection, _pending(connection, [DATABASE_SCOPE]), database.database_values())
            for definition in definitions:
                applied += _initialise_corpus(connection, definition)
        except psycopg.errors.InsufficientPrivilege as error:
            login = connection.info.user
            msg = f"login {login!r} may not set up the database ({_first_line(error)}): run pincite init as its owner"
            raise DatabaseUnavailableError(msg) from error
        finally:
            if not connection.closed:
                connection.execute("SELECT pg_advisory_unlock(%s)", [_LOCK_KEY])
    database.forget()
    return applied


def _initialise_corpus(connection: psycopg.Connection[Any], definition: CorpusDefinition) -> list[Migration]:
    corpus = check_corpus_name(definition.name)
    row = connection.execute("SELECT dimension, text_search FROM pincite.corpora WHERE name = %s", [corpus]).fetchone()
    wanted = (definition.dimension, definition.text_search)
    # Another dimension is another embedder, to which `pincite reembed` changes over while searches go on (S3).
    if row is not None and row[1] != wanted[1]:
        msg = (
            f"corpus {corpus!r} was made with text search {row[1]!r}, and is configured with {wanted[1]!r}: "
            "set it back, or ingest into a new corpus"
        )
        raise ConfigurationError(msg)
    found = connection.execute("SELECT 1 FROM pg_ts_config WHERE cfgname = %s", [definition.text_search]).fetchone()
    if found is None and not is_ours(definition.text_search):
        msg = f"corpus {corpus!r}: the server has no text search configuration {definition.text_search!r}"
        raise ConfigurationError(msg)
    with connection.transaction():
        applied = _apply(connection, _pending(connection, [corpus]), _corpus_values(connection, definition))
        if row is None:
            connection.execute(
                "INSERT INTO pincite.corpora (name, dimension, text_search) VALUES (%s, %s, %s)", [corpus, *wanted]
            )
        _apply_settings(connection, definition)
        _apply_scopes(connection, definition)
        _index_scopes(connection, definition)
    ensure_indexes(connection, corpus)
    if applied:
        _analyse(connection, corpus)
    return applied


def _analyse(connection: psycopg.Connection[Any], corpus: str) -> None:
    """A migration that rewrites a column leaves the planner without statistics of it, and searches slow."""
    schema = Identifier(schema_name(corpus))
    with connection.transaction():
        connection.execute(SQL("SET LOCAL ROLE {}").format(Identifier(writer_role(corpus))))
        connection.execute(SQL("ANALYZE {schema}.sources, {schema}.spans").format(schema=schema))


def _apply_settings(connection: psycopg.Connection[Any], definition: CorpusDefinition) -> None:
    schema = Identifier(schema_name(definition.name))
    values = {
        "minimum_characters": definition.minimum_characters,
        "minimum_rule_characters": definition.minimum_rule_characters,
        "required_meta": list(definition.required_meta),
        "span_kinds": list(definition.span_kinds),
        "source_kind": definition.source_kind,
    }
    columns = SQL(", ").join(map(Identifier, values))
    given = SQL(
        "%(minimum_characters)s, %(minimum_rule_characters)s, %(required_meta)s::text[], %(span_kinds)s::text[],"
        " %(source_kind)s::text"
    )
    changed = connection.execute(
        SQL(
            "UPDATE {schema}.settings SET ({columns}) = ROW ({given}) WHERE ({columns}) IS DISTINCT FROM ({given})"
        ).format(schema=schema, columns=columns, given=given),
        values,
    ).rowcount
    if changed:  # the triggers judge each row anew
        connection.execute(SQL("UPDATE {}.sources SET title = title").format(schema))
        connection.execute(SQL("UPDATE {}.spans SET kind = kind").format(schema))


def _apply_scopes(connection: psycopg.Connection[Any], definition: CorpusDefinition) -> None:
    """The policies of the required scopes: made anew only when these change, since that locks the tables."""
    schema, keys = schema_name(definition.name), list(definition.required_scopes)
    state = connection.execute(
        SQL(
            "SELECT required_scopes, (SELECT count(*) FROM pg_policies WHERE schemaname = %s AND policyname = 'scope')"
            " FROM {}.settings"
        ).format(Identifier(schema)),
        [schema],
    ).fetchone()
    if state == (keys, 2 if keys else 0):
        return
    for statement in scope_statements(schema, reader_role(definition.name), keys):
        connection.execute(statement)
    connection.execute(SQL("UPDATE {}.settings SET required_scopes = %s").format(Identifier(schema)), [keys])


def _index_scopes(connection: psycopg.Connection[Any], definition: CorpusDefinition) -> None:
    schema = schema_name(definition.name)
    rows = connection.execute("SELECT indexname FROM pg_indexes WHERE schemaname = %s", [schema]).fetchall()
    wanted = scope_indexes(schema, list(dict.fromkeys([*definition.required_scopes, *definition.scopes])))
    missing = wanted.keys() - {row[0] for row in rows}
    for name in sorted(missing):
        connection.execute(wanted[name])
    if missing:  # an index on an expression has statistics of its own
        connection.execute(SQL("ANALYZE {}").format(Identifier(schema, "spans")))


def _apply(
    connection: psycopg.Connection[Any], migrations: list[Migration], values: dict[str, Composable]
) -> list[Migration]:
    for migration in migrations:
        with connection.transaction():
            connection.execute(SQL(migration.text).format(**values))
            connection.execute(
                "INSERT INTO pincite.migrations (scope, name, sha256) VALUES (%s, %s, %s)",
                [migration.scope, migration.name, migration.sha256],
            )
    return migrations


def _pending(connection: psycopg.Connection[Any], scopes: list[str]) -> list[Migration]:
    applied: dict[tuple[str, str], str] = {}
    exists = connection.execute("SELECT to_regclass('pincite.migrations')").fetchone()
    if exists and exists[0] is not None:
        rows = connection.execute("SELECT scope, name, sha256 FROM pincite.migrations").fetchall()
        applied = {(scope, name): sha256 for scope, name, sha256 in rows}
    waiting = []
    for scope in scopes:
        for migration in _files(scope):
            sha256 = applied.get((scope, migration.name))
            if sha256 is None:
                waiting.append(migration)
            elif sha256 != migration.sha256:
                msg = (
                    f"migration {migration.name} of {scope or 'the database'} was applied with another text: "
                    "an applied file must not change, add a new number instead"
                )
                raise ConfigurationError(msg)
    return waiting


def _files(scope: str) -> list[Migration]:
    folder = resources.files(__package__).joinpath("sql", "corpus" if scope else "database")
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    return [Migration(scope, file.name, file.read_text(encoding="utf-8")) for file in files]


def _corpus_values(connection: psycopg.Connection[Any], definition: CorpusDefinition) -> dict[str, Composable]:
    schemas = extension_schemas(connection)
    return {
        "schema": Identifier(schema_name(definition.name)),
        "reader": Identifier(reader_role(definition.name)),
        "writer": Identifier(writer_role(definition.name)),
        "reader_name": Literal(reader_role(definition.name)),
        "writer_name": Literal(writer_role(definition.name)),
        "dimension": Literal(definition.dimension),
        "text_search": Literal(server_configuration(definition.text_search)),
        **word_functions(definition.text_search),
        "vector_schema": Identifier(schemas["vector"]),
        "trigram_schema": Identifier(schemas["pg_trgm"]),
    }


def _ensure_extensions(connection: psycopg.Connection[Any]) -> None:
    present = extension_schemas(connection)
    offered = {row[0] for row in connection.execute("SELECT name FROM pg_available_extensions").fetchall()}
    major = connection.info.server_version // 10000
    packages = {"vector": f"postgresql-{major}-pgvector", "pg_trgm": f"postgresql-contrib-{major}"}
    place = f"in database {connection.info.dbname!r}: CREATE EXTENSION {{}};"
    for name, package in packages.items():
        if name in present:
            continue
        if name not in offered:
            msg = f"the server has no extension {name!r}: install it there (apt install {package}) and run, "
            raise DatabaseUnavailableError(msg + place.format(name))
        try:
            connection.execute(SQL("CREATE EXTENSION {}").format(Identifier(name)))
        except psycopg.errors.InsufficientPrivilege as error:
            msg = f"login {connection.info.user!r} may not create extension {name!r}: run once, as a superuser "
            raise DatabaseUnavailableError(msg + place.format(name)) from error


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
