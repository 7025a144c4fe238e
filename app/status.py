# SPDX-License-Identifier: Apache-2.0
"""What is there: the facts of ``pincite status``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg
from haystack import Pipeline
from haystack_integrations.components.pincite.optional_reranker import OptionalReranker, RerankFacts
from haystack_integrations.document_stores.pincite.corpora import schema_name
from haystack_integrations.document_stores.pincite.database import Database, extension_schemas
from pincite.pipelines.corpora import CorporaSettings
from pincite.pipelines.loader import load_pipeline
from psycopg.rows import dict_row
from psycopg.sql import SQL, Identifier

_COUNTS = SQL(
    "SELECT (SELECT count(*) FROM {schema}.sources), (SELECT count(*) FROM {schema}.sources WHERE searchable),"
    " (SELECT count(*) FROM {schema}.spans), (SELECT count(*) FROM {schema}.spans WHERE searchable),"
    " (SELECT version FROM {schema}.corpus_stats)"
)
_SETS = SQL("SELECT * FROM {schema}.settings")
_BESIDE = SQL("SELECT count(*) FROM {schema}.spans WHERE beside_fingerprint = %s")


def status(
    database: Database,
    settings: CorporaSettings,
    home: Path,
    version: str,
    pipelines: Mapping[str, Pipeline] | None = None,
) -> dict[str, Any]:
    """
    Version, home, database, corpora and reranker, as JSON-able facts.

    :param pipelines: the query pipelines that answer searches now, by corpus: of them the state of the reranker.
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
    return {**facts, "rerank": _rerank_facts(settings, pipelines or {})}


def _database_facts(database: Database, connection: psycopg.Connection[Any]) -> dict[str, Any]:
    marked = connection.execute(
        "SELECT bool_and(proleakproof) FROM pg_proc"
        " WHERE proname IN ('ts_match_vq', 'similarity_op', 'jsonb_object_field_text')"
    ).fetchone()
    return {
        "kind": "embedded" if database.embedded else "url",
        "where": database.describe(),
        "server_version": connection.info.parameter_status("server_version"),
        "extensions": sorted(extension_schemas(connection)),
        # Without the marks PostgreSQL keeps text search and filters above the policy: the same rows, more slowly (C3).
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
        **_embedder_change(connection, schema, spans),
    }


def _embedder_change(connection: psycopg.Connection[Any], schema: str, spans: int) -> dict[str, dict[str, Any]]:
    """How far a change of embedder is, or whose vectors are kept from before one; nothing without one."""
    placed = {"schema": Identifier(schema)}
    held = connection.cursor(row_factory=dict_row).execute(_SETS.format(**placed)).fetchone() or {}
    beside = held.get("beside_fingerprint")  # no such column: an older schema, before `pincite init`
    if beside is None:
        return {}
    (count,) = connection.execute(_BESIDE.format(**placed), [beside]).fetchone() or (0,)
    if held["beside_old"]:
        return {"embedder_change": {"old_vectors": count, "of": spans, "from": beside}}
    return {"embedder_change": {"new_vectors": count, "of": spans, "to": beside}}


def _rerank_facts(settings: CorporaSettings, pipelines: Mapping[str, Pipeline]) -> dict[str, RerankFacts]:
    """The reranker of each corpus: the one that answers searches, or else one that is loaded to see whether it can."""
    stages = {
        name: (pipelines.get(name) or load_pipeline(name, "query")).get_component("reranker")
        for name in settings.corpora
    }
    for stage in stages.values():  # side by side: a model that loads slowly is waited for once
        if isinstance(stage, OptionalReranker):
            stage.start_loading()
    return {name: _facts_of(stage) for name, stage in stages.items()}


def _facts_of(stage: object) -> RerankFacts:
    if not isinstance(stage, OptionalReranker):
        return {"enabled": True, "model": type(stage).__name__, "loaded": True, "reason": None}
    stage.warm_up()
    return stage.facts()
