# SPDX-License-Identifier: Apache-2.0
"""What the database holds about rules and kinds by itself, whoever writes (C5, S1, S3)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from haystack_integrations.document_stores.pincite.corpora import CorpusDefinition
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.leg_statements import lexical
from haystack_integrations.document_stores.pincite.migrations import initialise
from haystack_integrations.document_stores.pincite.source_writer import SourceWriter
from haystack_integrations.document_stores.pincite.spans import SourceRecord, SpanRecord
from haystack_integrations.document_stores.pincite.statements import Statement
from psycopg.sql import SQL, Identifier

QUOTE = "A neighbour who was not served may object within thirty days of learning of the application."
TEXT = f"The court says: {QUOTE} So it is ordered, and the registrar will send the file back."
START = TEXT.index(QUOTE)
RULE = SpanRecord(
    "rule", 0, START, START + len(QUOTE), QUOTE, quote=QUOTE, embedding=[1.0] * 256,
    statement="Those left out of the notice are heard late.", review_status="approved",
)  # fmt: skip
CHUNK = SpanRecord("chunk", 0, 0, len(TEXT), TEXT, embedding=[0.5] * 256)


@pytest.fixture
def write(database: Database, corpus_store: CorpusDocumentStore) -> Callable[..., None]:
    """Write one source with the given spans and metadata."""

    def write(*spans: SpanRecord, **meta: Any) -> None:
        record = SourceRecord("j.md", "Judgment", TEXT, "h", "text", meta=meta, spans=list(spans))
        SourceWriter(database, corpus_store.corpus).write_sources([record], fingerprint="m")

    return write


def kinds(store: CorpusDocumentStore) -> list[str]:
    rows = store.fetch(Statement("SELECT kind FROM spans ORDER BY kind"), groups=["*"])
    return [row["kind"] for row in rows]


def change(database: Database, store: CorpusDocumentStore, sql: str) -> None:
    with database.admin() as owner:
        owner.execute(SQL("SET search_path = {}, public").format(Identifier(store.schema_name)))
        owner.execute(sql)  # type: ignore[call-overload]


@pytest.mark.parametrize(("status", "found"), [("approved", True), ("pending", False), ("rejected", False)])
def test_only_approved_rules_are_searchable(
    write: Callable[..., None], corpus_store: CorpusDocumentStore, status: str, found: bool
) -> None:
    write(CHUNK, replace(RULE, review_status=status))
    assert kinds(corpus_store) == (["chunk", "rule"] if found else ["chunk"])


@pytest.mark.parametrize(
    "changes",
    [
        {"review_status": None},
        {"statement": "  "},
        {"statement": None},
        {"quote": "Another quote than the text of the span"},
        {"quote": None},
        {"start": None, "end": None},
        {"start": START + 1, "end": START + 1 + len(QUOTE)},
        {"start": -1, "end": len(QUOTE) - 1},
        {"embedding": None},
        {"text": "too short", "quote": "too short", "start": 0, "end": 9},
    ],
)
def test_a_rule_that_lacks_something_is_kept_and_not_searchable(
    write: Callable[..., None], database: Database, corpus_store: CorpusDocumentStore, changes: dict[str, Any]
) -> None:
    write(CHUNK, replace(RULE, **changes))
    assert kinds(corpus_store) == ["chunk"]
    with database.admin() as owner:
        count = SQL("SELECT count(*) FROM {}.spans").format(Identifier(corpus_store.schema_name))
        assert owner.execute(count).fetchone() == (2,)


@pytest.mark.parametrize("status", ["yes", ""])
def test_an_unknown_review_status_is_refused(write: Callable[..., None], status: str) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        write(replace(RULE, review_status=status))


def test_a_review_reaches_the_search_at_once(
    write: Callable[..., None], database: Database, corpus_store: CorpusDocumentStore
) -> None:
    write(replace(RULE, review_status="pending"))
    for status, found in (("approved", ["rule"]), ("rejected", []), ("approved", ["rule"])):
        change(database, corpus_store, f"UPDATE spans SET review_status = '{status}'")
        assert kinds(corpus_store) == found


@pytest.mark.parametrize("column", ["statement", "content"])
def test_an_approval_is_of_the_wording(
    write: Callable[..., None], database: Database, corpus_store: CorpusDocumentStore, column: str
) -> None:
    write(CHUNK, RULE)
    change(database, corpus_store, f"UPDATE spans SET {column} = upper({column}) WHERE kind = 'rule'")
    assert kinds(corpus_store) == ["chunk"]
    with database.admin() as owner:
        query = SQL("SELECT review_status, stale FROM {}.spans WHERE kind = 'rule'")
        assert owner.execute(query.format(Identifier(corpus_store.schema_name))).fetchone() == ("pending", True)


def test_only_rules_have_a_review(
    write: Callable[..., None], database: Database, corpus_store: CorpusDocumentStore
) -> None:
    write(replace(CHUNK, review_status="pending"))
    assert kinds(corpus_store) == ["chunk"]
    change(database, corpus_store, "UPDATE spans SET review_status = 'rejected'")
    assert kinds(corpus_store) == ["chunk"]


def test_a_rule_is_found_by_its_statement(
    write: Callable[..., None], corpus_store: CorpusDocumentStore, database: Database
) -> None:
    write(CHUNK, RULE, case_name="Lantern Court", headnote="service on strangers", tags=["posting"])
    SourceWriter(database, corpus_store.corpus).refresh_statistics()

    def found(query: str) -> set[str]:
        statement = lexical(query, limit=9, rows=100, words=9)
        return {row["kind"] for row in corpus_store.fetch(statement, groups=["*"])}

    assert found("left out") == {"rule"}
    assert found("registrar") == {"chunk"}
    # Metadata that people search by is a part of every span of the source (S3).
    assert found("lantern") == found("strangers") == found("posting") == {"chunk", "rule"}


def test_kinds_that_a_corpus_does_not_hold_are_not_searchable(
    make_corpus: Callable[..., str], database: Database
) -> None:
    name = make_corpus(span_kinds=["chunk"], source_kind="external_upload")
    store, writer = CorpusDocumentStore(name), SourceWriter(database, name)
    records = [
        SourceRecord(
            kind or "none", "J", TEXT, "h", "text", meta={"source_kind": kind} if kind else {}, spans=[CHUNK, RULE]
        )
        for kind in ("", "external_upload", "internal_committee")
    ]
    writer.write_sources(records)

    def found() -> set[tuple[str, str]]:
        rows = store.fetch(Statement("SELECT source_id, kind FROM spans"), groups=["*"])
        return {(row["source_id"], row["kind"]) for row in rows}

    assert found() == {("none", "chunk"), ("external_upload", "chunk")}
    initialise(database, [CorpusDefinition(name, minimum_rule_characters=len(QUOTE))])
    assert found() == {
        (source, kind) for source in ("none", "external_upload", "internal_committee") for kind in ("chunk", "rule")
    }
    initialise(database, [CorpusDefinition(name, minimum_rule_characters=len(QUOTE) + 1)])
    assert {kind for _, kind in found()} == {"chunk"}
