# SPDX-License-Identifier: Apache-2.0
"""Working off the backlog: metadata of a source, reviews of rules (S1, C5)."""

from collections.abc import Mapping

from haystack_integrations.components.pincite.reading.rule_sidecar import REVIEW_STATUSES
from haystack_integrations.components.pincite.reading.source_meta import checked_meta
from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.errors import BadInputError
from haystack_integrations.document_stores.pincite.source_changes import (
    ReviewedRule,
    SourceState,
    change_source,
    rules,
    set_review,
)
from haystack_integrations.document_stores.pincite.source_writer import SourceWriter
from haystack_integrations.document_stores.pincite.stale_spans import StaleSpans
from haystack_integrations.document_stores.pincite.vector_sets import VectorSets
from pincite.embedders import document_embedder
from pincite.pipelines.loader import load_pipeline


def set_meta(corpus: str, source_id: str, changes: Mapping[str, str | None]) -> SourceState:
    """
    Change metadata of a source; its spans, and what is searchable of them, follow at once.

    What is set here wins over the source's file also when that is ingested again. Spans whose embedded metadata
    changed are stale until they are embedded again.

    :param changes: values as ``--meta`` takes them (``groups`` and ``tags`` are divided at commas); ``None`` removes.
    :raises BadInputError: there is no such source, or a value that the contract does not allow.
    """
    if not changes:
        raise BadInputError(f"nothing to set for source {source_id!r:.200}: give key=value")
    # Names are checked also where the value goes.
    checked_meta({key: "2000" if key == "date" else "active" for key in changes}, "meta set")
    checked = checked_meta({key: value for key, value in changes.items() if value is not None}, "meta set")
    database = Database.current()
    embedder = document_embedder(load_pipeline(corpus, "indexing"), corpus)
    # The database has to know which metadata a vector depends on before it changes.
    if VectorSets(database, corpus).state().column(embedder.fingerprint) is not None:
        StaleSpans(database, corpus, embedder.fingerprint).expect(embedder.embedded_meta)
    state = change_source(database, corpus, source_id, {key: checked.get(key) for key in changes})
    SourceWriter(database, corpus).refresh_statistics()  # its words are new to the title and lexical legs
    return state


def list_rules(corpus: str, status: str | None = None) -> list[ReviewedRule]:
    """
    The rules of a corpus, those that wait for a review first.

    :param status: only those of this review status.
    :raises BadInputError: it is no review status.
    """
    if status is not None:
        _check(status)
    return rules(Database.current(), corpus, status)


def review(corpus: str, span_id: str, status: str) -> ReviewedRule:
    """
    Set the review of a rule; only approved rules are searchable. It outlives the next ingestion of its source.

    :raises BadInputError: there is no such rule, or the status is none of ``pending``, ``approved``, ``rejected``.
    """
    _check(status)
    database = Database.current()
    changed = set_review(database, corpus, span_id, status)
    SourceWriter(database, corpus).refresh_statistics()
    return changed


def _check(status: str) -> None:
    if status not in REVIEW_STATUSES:
        raise BadInputError(f"review status is {status!r:.80}; it must be one of {', '.join(REVIEW_STATUSES)}")
