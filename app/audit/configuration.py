# SPDX-License-Identifier: Apache-2.0
"""Whether the configuration fits the database, and the pipelines each other."""

from typing import Any

from haystack import Pipeline
from haystack_integrations.document_stores.pincite.connections import SyncConnection
from haystack_integrations.document_stores.pincite.corpora import schema_name
from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.errors import PinciteError
from haystack_integrations.document_stores.pincite.migrations import pending
from pincite.audit.answer import Check
from pincite.embedders import DocumentEmbedder, document_embedder, query_fingerprint
from pincite.pipelines.corpora import CorpusSettings
from pincite.pipelines.loader import load_pipeline
from psycopg.rows import dict_row
from psycopg.sql import SQL, Identifier

_MADE = """
SELECT r.dimension, r.text_search, (
    SELECT a.atttypmod FROM pg_attribute AS a
    WHERE a.attrelid = to_regclass(%(schema)s || '.spans') AND a.attname = 'embedding'
) AS column_dimension
FROM pincite.corpora AS r WHERE r.name = %(corpus)s
"""
_SETTINGS = SQL("SELECT * FROM {}.settings")


def migrations_check(database: Database, corpora: list[str]) -> Check:
    """Whether everything that ``init`` would do has been done."""
    check = Check("migrations", looked_at=len(corpora) + 1)
    try:
        waiting = pending(database, corpora)
    except PinciteError as error:
        check.fail("migrations", str(error), "restore the text of the file")
        return check
    for scope in dict.fromkeys(migration.scope for migration in waiting):
        names = [migration.name for migration in waiting if migration.scope == scope]
        reason = f"{len(names)} migrations are not applied ({', '.join(names)[:120]})"
        check.fail(f"corpus {scope}" if scope else "the database", reason, "pincite init")
    return check


def pending_scopes(database: Database, corpora: list[str]) -> set[str]:
    """Corpora whose tables are older than this program."""
    return {migration.scope for migration in pending(database, corpora)}


def registry_check(connection: SyncConnection, configured: list[str]) -> Check:
    """Whether corpora, schemas and configuration name each other."""
    rows = connection.execute("SELECT name FROM pincite.corpora").fetchall()
    known = {str(row[0]) for row in rows}
    schemas = connection.execute("SELECT nspname FROM pg_namespace WHERE starts_with(nspname, 'pincite_')").fetchall()
    there = {str(row[0]).removeprefix("pincite_") for row in schemas}
    check = Check("corpora", looked_at=len(known | there | set(configured)))
    for name in sorted(set(configured) - known):
        check.fail(f"corpus {name}", "it is configured and not in the database", "pincite init")
    for name in sorted(known - there):
        check.fail(f"corpus {name}", "it is registered and has no schema", "restore a backup")
    for name in sorted(there - known):
        check.fail(f"schema pincite_{name}", "no corpus is registered for it", f"DROP SCHEMA pincite_{name} CASCADE")
    for name in sorted((known & there) - set(configured)):
        check.notice(f"corpus {name}", "it is in the database and not configured", "corpora.yaml")
    return check


def configuration_check(connection: SyncConnection, settings: CorpusSettings) -> tuple[Check, str | None]:
    """
    Whether a corpus is what its configuration says.

    :returns: the check, and the fingerprint of the embedder that the indexing pipeline names, if it names one.
    """
    check = Check("configuration", settings.name)
    schema, corpus = schema_name(settings.name), settings.name
    cursor = connection.cursor(row_factory=dict_row)
    made = cursor.execute(_MADE, {"schema": schema, "corpus": corpus}).fetchone() or {}
    held = cursor.execute(_SETTINGS.format(Identifier(schema))).fetchone() or {}
    remake, change = "set it back, or ingest into a new corpus", f"set it back, or change: pincite reembed {corpus}"
    for subject, wanted, found, mend in (
        ("embedding_dimension", settings.embedding_dimension, made.get("dimension"), change),
        ("embedding_dimension", settings.embedding_dimension, made.get("column_dimension"), change),
        ("text_search_config", settings.text_search_config, made.get("text_search"), remake),
        ("minimum_characters", settings.minimum_characters, held.get("minimum_characters"), "pincite init"),
        (
            "minimum_rule_characters",
            settings.minimum_rule_characters,
            held.get("minimum_rule_characters"),
            "pincite init",
        ),
        (
            "required_metadata",
            [key for key in settings.required_metadata if key != "title"],
            held.get("required_meta"),
            "pincite init",
        ),
        ("spans", list(settings.spans), held.get("span_kinds"), "pincite init"),
        ("required_scopes", list(settings.required_scopes), held.get("required_scopes"), "pincite init"),
        ("source_kind", settings.source_kind, held.get("source_kind"), "pincite init"),
    ):
        check.looked_at += 1
        if wanted != found:
            check.fail(f"{subject} of {corpus}", f"corpora.yaml says {wanted!r}, the database {found!r}", mend)
    return check, _embedders(check, settings, held)


def _embedders(check: Check, settings: CorpusSettings, held: dict[str, Any]) -> str | None:
    corpus = settings.name
    try:
        query, embedder = load_pipeline(corpus, "query"), _indexing_embedder(corpus)
    except PinciteError as error:
        check.fail(f"pipelines of {corpus}", str(error), "correct the file")
        return None
    check.looked_at += 3
    asked, wanted = query_fingerprint(query), embedder.fingerprint
    if asked != wanted:
        reason = f"it asks for vectors of {asked!r:.120}, and ingestion makes those of {wanted!r:.120}"
        check.fail(f"query pipeline of {corpus}", reason, "give both pipelines the same embedder")
    if held.get("embedding_fingerprint") not in (None, wanted):
        reason = f"the corpus is for {held['embedding_fingerprint']!r:.120}, the configuration for {wanted!r:.120}"
        mend = f"pincite reembed {corpus}"
        if held.get("beside_old") and held["beside_fingerprint"] == wanted:  # somebody's configuration is out of date
            mend = f"bring the configuration up to date, or turn the corpus back: {mend}"
        check.fail(f"embedder of {corpus}", reason, mend)
    if held.get("embedding_fingerprint") == wanted and held.get("embedded_meta") != embedder.embedded_meta:
        reason = f"the database watches {held['embedded_meta']}, the embedder embeds {embedder.embedded_meta}"
        check.fail(f"embedded metadata of {corpus}", reason, f"pincite reembed {corpus} --all")
    if settings.embedder and not wanted.startswith(settings.embedder):
        check.fail(
            f"embedder of {corpus}",
            f"corpora.yaml says {settings.embedder!r}, the pipeline {wanted!r:.120}",
            "corpora.yaml",
        )
    return wanted


def _indexing_embedder(corpus: str) -> DocumentEmbedder:
    pipeline: Pipeline = load_pipeline(corpus, "indexing")
    return document_embedder(pipeline, corpus)
