# SPDX-License-Identifier: Apache-2.0
"""Each check of the audit, tried by breaking what it looks for (C2)."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from haystack_integrations.document_stores.pincite.database import SyncConnection
from pincite.audit.answer import Check
from pincite.audit.catalog import corpus_checks, database_checks
from pincite.audit.configuration import configuration_check, migrations_check, registry_check
from pincite.audit.contents import content_checks
from pincite.cli import run
from pincite.embedders import document_embedder
from pincite.pipelines.corpora import load_corpora
from pincite.pipelines.loader import load_pipeline
from pincite.service import Service

CORPORA = ("audited_law", "audited_notes")
REQUIRED: dict[str, list[str]] = {"audited_law": ["court"], "audited_notes": []}


@pytest.fixture(scope="module")
def service(audited_service: Service) -> Service:
    """Two corpora of a configuration of their own: one with rules, groups and a required scope, one without."""
    return audited_service


@pytest.fixture
def owner(service: Service) -> Iterator[SyncConnection]:
    """A session of the owner in the first corpus; what it breaks is whole again after the test."""
    with service.database.admin() as connection, connection.transaction(force_rollback=True):
        path = service.database.search_path("pincite_audited_law")
        connection.execute(f"SET LOCAL search_path = {path}")  # type: ignore[call-overload]
        yield connection


def found(checks: list[Check], name: str) -> dict[str, str]:
    """The failures of a check, by subject."""
    (check,) = [check for check in checks if check.name == name]
    return {item["subject"]: item["reason"] for item in check.findings if not item["notice"]}


def contents(owner: SyncConnection) -> list[Check]:
    fingerprint = document_embedder(load_pipeline("audited_law", "indexing"), "audited_law").fingerprint
    return content_checks(owner, "audited_law", fingerprint)


def test_a_whole_database_passes(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    answer = service.audit()
    failed = {check["check"]: check["findings"] for check in answer["checks"] if check["status"] == "failed"}
    assert failed == {}
    assert answer["passed"]
    looked_at = {(check["check"], check["corpus"]): check["looked_at"] for check in answer["checks"]}
    assert looked_at["leaks", "audited_law"] > 150
    assert looked_at["quotes", "audited_law"] == 1
    assert run(["audit", "audited_law", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["passed"]
    assert run(["audit", "audited_notes"]) == 0
    assert "passed in" in capsys.readouterr().out


BROKEN_CONTENTS = [
    (
        "UPDATE sources SET meta = meta - 'court' WHERE source_id = 'two.md'",
        "backlog",
        "source two.md",
        "it lacks court",
    ),
    (
        "UPDATE sources SET meta = meta || '{\"source_kind\": \"internal_committee\"}' WHERE source_id = 'two.md'",
        "backlog",
        "source two.md",
        "its source_kind is 'internal_committee', that of the corpus 'external_upload'",
    ),
    ("UPDATE sources SET title = ' ' WHERE source_id = 'two.md'", "backlog", "source two.md", "it has no title"),
    (
        "UPDATE spans SET embedding = NULL WHERE source_id = 'two.md'",
        "backlog",
        "span audited_law:two.md#chunk-0",
        "it has no embedding",
    ),
    (
        "UPDATE spans SET end_offset = 99999 WHERE source_id = 'two.md'",
        "backlog",
        "span audited_law:two.md#chunk-0",
        "its locator lies outside its source",
    ),
    (
        "ALTER TABLE spans DISABLE TRIGGER ALL; UPDATE spans SET searchable = true, embedding = NULL "
        "WHERE source_id = 'two.md'",
        "backlog",
        "span audited_law:two.md#chunk-0",
        "it is searchable although it has no embedding",
    ),
    (
        "ALTER TABLE sources DISABLE TRIGGER ALL; UPDATE sources SET status = 'draft' WHERE source_id = 'two.md'",
        "backlog",
        "source two.md",
        "it is marked searchable and should not be",
    ),
    (
        "UPDATE spans SET content = content || '.' WHERE source_id = 'two.md'",
        "stale",
        "span audited_law:two.md#chunk-0",
        "its text or embedded metadata changed after it was embedded",
    ),
    (
        "UPDATE spans SET embedding_fingerprint = 'another' WHERE source_id = 'two.md'",
        "stale",
        "span audited_law:two.md#chunk-0",
        "its vector was made by 'another'",
    ),
    (
        "UPDATE sources SET text = 'x' || text WHERE source_id = 'two.md'",
        "locators",
        "span audited_law:two.md#chunk-0",
        "another text stands at its locator",
    ),
    (
        "UPDATE spans SET quote = 'never said' WHERE kind = 'rule'",
        "quotes",
        "rule audited_law:one.md#rule-0",
        "its quote is not in source 'one.md'",
    ),
    (
        "UPDATE spans SET review_status = 'pending' WHERE kind = 'rule'",
        "reviews",
        "rule audited_law:one.md#rule-0",
        "nobody has reviewed it",
    ),
    (
        "ALTER TABLE sources DISABLE TRIGGER ALL; UPDATE sources SET groups = '{carl}' WHERE source_id = 'two.md'",
        "visibility",
        "span audited_law:two.md#chunk-0",
        "it is visible to ['ann', '*'], its source to ['carl', '*']",
    ),
    ("DELETE FROM spans WHERE source_id = 'two.md'", "orphans", "source two.md", "and no span"),
    (
        "ALTER TABLE spans DROP CONSTRAINT spans_source_id_fkey; DELETE FROM sources WHERE source_id = 'two.md'",
        "orphans",
        "span audited_law:two.md#chunk-0",
        "its source 'two.md' is not there",
    ),
    ("DELETE FROM spans WHERE source_id = 'two.md'", "statistics", "corpus audited_law", "are counted and"),
    ("DELETE FROM span_lexemes", "statistics", "corpus audited_law", "no words are counted"),
]


@pytest.mark.parametrize(("breakage", "check", "subject", "reason"), BROKEN_CONTENTS)
def test_what_is_broken_in_a_corpus_is_found(
    owner: SyncConnection, breakage: str, check: str, subject: str, reason: str
) -> None:
    before = {name.name: len(found(contents(owner), name.name)) for name in contents(owner)}
    assert set(before.values()) == {0}
    owner.execute(breakage)  # type: ignore[call-overload]
    findings = found(contents(owner), check)
    assert reason in findings[subject]


BROKEN_CATALOG = [
    ("ALTER ROLE pincite_app BYPASSRLS", "roles", "role pincite_app", "it is BYPASSRLS"),
    ("ALTER ROLE pincite_app SUPERUSER", "roles", "role pincite_app", "it is SUPERUSER"),
    ("ALTER ROLE pincite_app INHERIT", "roles", "role pincite_app", "it inherits"),
    ("ALTER ROLE pincite_audited_law_reader LOGIN", "roles", "role pincite_audited_law_reader", "it may log in"),
    (
        "GRANT pincite_audited_notes_reader TO pincite_audited_law_reader",
        "roles",
        "role pincite_audited_law_reader",
        "it is a member of pincite_audited_notes_reader",
    ),
    (
        "GRANT pincite_audited_law_reader TO pincite_app WITH INHERIT TRUE",
        "roles",
        "role pincite_app",
        "it has the rights of pincite_audited_law_reader without taking that role",
    ),
    (
        "CREATE ROLE intruder; GRANT pincite_audited_law_writer TO intruder",
        "roles",
        "role intruder",
        "it may act as pincite_audited_law_writer",
    ),
    ("ALTER TABLE span_lexemes OWNER TO pincite_app", "roles", "role pincite_app", "it owns class span_lexemes"),
    ("ALTER TABLE spans OWNER TO pincite_audited_law_reader", "roles", "role pincite_audited_law_reader", "it owns"),
    (
        "GRANT SELECT ON spans TO pincite_app",
        "rights",
        "role pincite_app",
        "it has SELECT on table pincite_audited_law.spans",
    ),
    (
        "GRANT UPDATE ON spans TO pincite_audited_law_reader",
        "rights",
        "role pincite_audited_law_reader",
        "it has UPDATE on table pincite_audited_law.spans",
    ),
    (
        "GRANT SELECT (text) ON sources TO pincite_audited_notes_reader",
        "rights",
        "role pincite_audited_notes_reader",
        "it has SELECT on column pincite_audited_law.sources.text",
    ),
    (
        "GRANT USAGE ON SCHEMA pincite_audited_law TO PUBLIC",
        "rights",
        "role PUBLIC",
        "it has USAGE on schema pincite_audited_law",
    ),
    (
        "CREATE FUNCTION all_texts() RETURNS SETOF text SECURITY DEFINER LANGUAGE sql AS 'SELECT text FROM sources'",
        "rights",
        "function pincite_audited_law.all_texts",
        "it runs with its owner's rights",
    ),
    (
        "CREATE FUNCTION pincite.all_texts() RETURNS SETOF text SECURITY DEFINER LANGUAGE sql AS 'SELECT text "
        "FROM pincite_audited_law.sources'",
        "rights",
        "role PUBLIC",
        "it has EXECUTE on function pincite.all_texts",
    ),
    ("ALTER FUNCTION ts_match_vq NOT LEAKPROOF", "leakproof", "function ts_match_vq(tsvector,tsquery)", "LEAKPROOF"),
    (
        "ALTER TABLE spans DISABLE ROW LEVEL SECURITY",
        "policies",
        "table pincite_audited_law.spans",
        "row level security is off",
    ),
    (
        "DROP POLICY reader ON sources",
        "policies",
        "table pincite_audited_law.sources",
        "the policy of its readers is not there",
    ),
    (
        "ALTER POLICY reader ON spans USING (true)",
        "policies",
        "policy reader on pincite_audited_law.spans",
        "nothing that Pincite made",
    ),
    (
        "DROP POLICY scope ON spans",
        "policies",
        "table pincite_audited_law.spans",
        "the policy of its required scopes is not there",
    ),
    (
        "ALTER POLICY scope ON sources USING (true)",
        "policies",
        "policy scope on pincite_audited_law.sources",
        "nothing that Pincite made",
    ),
    (
        "CREATE POLICY wide ON spans FOR SELECT TO PUBLIC USING (true)",
        "policies",
        "policy wide on pincite_audited_law.spans",
        "nothing that Pincite made",
    ),
    (
        "ALTER VIEW documents SET (security_invoker = false)",
        "policies",
        "view pincite_audited_law.documents",
        "it reads with its owner's rights",
    ),
    (
        "ALTER VIEW fresh_documents RESET (security_invoker)",
        "policies",
        "view pincite_audited_law.fresh_documents",
        "it reads with its owner's rights",
    ),
    (
        "ALTER TABLE spans DISABLE TRIGGER span_fill",
        "triggers",
        "trigger span_fill on pincite_audited_law.spans",
        "it is disabled",
    ),
    (
        "DROP TRIGGER span_stale ON spans",
        "triggers",
        "trigger span_stale on pincite_audited_law.spans",
        "it is not there",
    ),
    ("DROP INDEX spans_scope_court", "indexes", "index pincite_audited_law.spans_scope_court", "it is not there"),
    ("DROP INDEX spans_embedding", "indexes", "index pincite_audited_law.spans_embedding", "it is not there"),
    (
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'spans_tsv'::regclass",
        "indexes",
        "index pincite_audited_law.spans_tsv",
        "it is not valid",
    ),
]


@pytest.mark.parametrize(("breakage", "check", "subject", "reason"), BROKEN_CATALOG)
def test_what_is_broken_in_the_catalog_is_found(
    owner: SyncConnection, breakage: str, check: str, subject: str, reason: str
) -> None:
    def checks() -> list[Check]:
        return [
            *database_checks(owner, list(CORPORA), superuser=True),
            *corpus_checks(owner, "audited_law", required_scopes=REQUIRED["audited_law"], scopes=["court"]),
        ]

    assert found(checks(), check) == {}
    owner.execute(breakage)  # type: ignore[call-overload]
    (reported,) = [one for one in checks() if one.name == check]
    reasons = [item["reason"] for item in reported.findings if item["subject"] == subject and not item["notice"]]
    assert any(reason in one for one in reasons)


def test_without_a_superuser_a_missing_mark_is_a_notice(owner: SyncConnection) -> None:
    owner.execute("ALTER FUNCTION ts_match_vq NOT LEAKPROOF")
    (check,) = [check for check in database_checks(owner, [], superuser=False) if check.name == "leakproof"]
    assert check.answer()["status"] == "notice"


BROKEN_CONFIGURATION = [
    ("UPDATE pincite.corpora SET dimension = 7 WHERE name = 'audited_law'", "embedding_dimension of audited_law"),
    (
        "UPDATE pincite.corpora SET text_search = 'simple' WHERE name = 'audited_law'",
        "text_search_config of audited_law",
    ),
    ("UPDATE settings SET minimum_characters = 3", "minimum_characters of audited_law"),
    ("UPDATE settings SET required_meta = '{}'", "required_metadata of audited_law"),
    ("UPDATE settings SET span_kinds = '{rule}'", "spans of audited_law"),
    ("UPDATE settings SET source_kind = 'other'", "source_kind of audited_law"),
    ("UPDATE settings SET required_scopes = '{}'", "required_scopes of audited_law"),
    ("UPDATE settings SET embedding_fingerprint = 'another'", "embedder of audited_law"),
    ("UPDATE settings SET embedded_meta = '{title}'", "embedded metadata of audited_law"),
]


@pytest.mark.parametrize(("breakage", "subject"), BROKEN_CONFIGURATION)
def test_a_database_that_the_configuration_contradicts(owner: SyncConnection, breakage: str, subject: str) -> None:
    settings = load_corpora().corpus("audited_law")
    assert configuration_check(owner, settings)[0].findings == []
    owner.execute(breakage)  # type: ignore[call-overload]
    assert subject in {item["subject"] for item in configuration_check(owner, settings)[0].findings}


def test_pipelines_of_two_embedders(owner: SyncConnection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for file in Path(os.environ["PINCITE_CONFIG"]).iterdir():
        text = file.read_text(encoding="utf-8")
        if file.name == "audited_law.yaml":
            text = text.replace("prefix_meta: [statement]", "prefix_meta: [statement, title]")
        (tmp_path / file.name).write_text(text, encoding="utf-8")
    monkeypatch.setenv("PINCITE_CONFIG", str(tmp_path))
    check, _ = configuration_check(owner, load_corpora().corpus("audited_law"))
    assert [item["subject"] for item in check.findings] == ["query pipeline of audited_law"]


def test_migrations_and_corpora_that_nobody_made(service: Service, owner: SyncConnection) -> None:
    assert migrations_check(service.database, list(CORPORA)).findings == []
    assert found([migrations_check(service.database, [*CORPORA, "unborn"])], "migrations").keys() == {"corpus unborn"}
    assert found([registry_check(owner, list(CORPORA))], "corpora") == {}
    owner.execute("CREATE SCHEMA pincite_left_behind; INSERT INTO pincite.corpora VALUES ('lost', 3, 'simple')")
    assert found([registry_check(owner, [*CORPORA, "unborn"])], "corpora").keys() == {
        "corpus unborn",
        "corpus lost",
        "schema pincite_left_behind",
    }
