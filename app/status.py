# SPDX-License-Identifier: Apache-2.0
"""What is there: the facts of ``pincite status``."""

from pathlib import Path
from typing import Any

import psycopg
from haystack_integrations.components.pincite.environment import environment_flag
from haystack_integrations.components.pincite.optional_reranker import OptionalReranker
from haystack_integrations.document_stores.pincite.corpora import schema_name
from haystack_integrations.document_stores.pincite.database import Database, extension_schemas
from pincite.pipelines.corpora import CorporaSettings
from pincite.pipelines.loader import load_pipeline
from psycopg.sql import SQL, Identifier

_COUNTS = SQL(
    "SELECT (SELECT count(*) FROM {schema}.sources), (SELECT count(*) FROM {schema}.sources WHERE searchable),"
    " (SELECT count(*) FROM {schema}.spans), (SELECT count(*) FROM {schema}.spans WHERE searchable),"
    " (SELECT version FROM {schema}.corpus_stats)"
)


def status(database: Database, settings: CorporaSettings, home: Path, version: str) -> dict[str, Any]:
    """
    Version, home, database, corpora and reranker, as JSON-able facts.

    :raises DatabaseUnavailableError: the database cannot be reached.
    """
    with database.admin() as connection:
        facts = {
            "version": version,
            "home": str(home),
            "configuration": settings.origin,
            "database": _database_facts(database, connection),
            "corpora": {name: _corpus_facts(connection, name) for name in settings.corpora},
        }
    return {**facts, "rerank": _rerank_facts(settings)}


def _database_facts(database: Database, connection: psycopg.Connection[Any]) -> dict[str, Any]:
    marked = connection.execute(
        "SELECT bool_and(proleakproof) FROM pg_proc WHERE proname IN ('ts_match_vq', 'similarity_op')"
    ).fetchone()
    return {
        "kind": "embedded" if database.embedded else "url",
        "where": database.describe(),
        "server_version": connection.info.parameter_status("server_version"),
        "extensions": sorted(extension_schemas(connection)),
        # Without the mark PostgreSQL keeps text search above the policy: the same rows, more slowly (C3).
        "row_level_security": "indexed"
        if marked and marked[0]
        else "sequential (needs a superuser once: pincite init)",
    }


def _corpus_facts(connection: psycopg.Connection[Any], name: str) -> dict[str, Any]:
    schema = schema_name(name)
    if connection.execute("SELECT to_regclass(%s)", [f"{schema}.corpus_stats"]).fetchone() == (None,):
        return {"ready": False, "mend": "pincite init"}
    row = connection.execute(_COUNTS.format(schema=Identifier(schema))).fetchone()
    assert row is not None  # noqa: S101 - a SELECT without FROM has one row
    sources, searchable_sources, spans, searchable, version = row
    return {
        "ready": True,
        "sources": sources,
        "searchable_sources": searchable_sources,
        "spans": spans,
        "searchable_spans": searchable,
        "version": version,
    }


def _rerank_facts(settings: CorporaSettings) -> dict[str, Any]:
    """The reranker of each corpus; enabled only if it is switched on and has a model (F3)."""
    switched_on = environment_flag("PINCITE_RERANK_ENABLED", "KB_RERANK_ENABLED", default=False)
    facts = {}
    for name in settings.corpora:
        stage = load_pipeline(name, "query").get_component("reranker")
        model = type(stage.ranker).__name__ if isinstance(stage, OptionalReranker) and stage.ranker else None
        on = switched_on and model is not None
        reason = None if on else "no ranker in the pipeline" if model is None else "PINCITE_RERANK_ENABLED is off"
        facts[name] = {"enabled": on, "model": model, "loaded": False, "reason": reason}
    return facts
