# SPDX-License-Identifier: Apache-2.0
"""The leak check of the audit, tried by breaches that it has to find by crossing (C2)."""

import pytest
from haystack_integrations.document_stores.pincite.database import Database
from pincite.audit.probes import leak_check, opened
from pincite.pipelines.corpora import load_corpora
from pincite.service import Service

CORPORA = ("audited_law", "audited_notes")

LEAKS = [
    ("ALTER TABLE {law}.spans DISABLE ROW LEVEL SECURITY", "ALTER TABLE {law}.spans ENABLE ROW LEVEL SECURITY"),
    (  # a search within one scope finds what is of another
        "ALTER POLICY scope ON {law}.spans USING (true)",
        "DROP POLICY scope ON {law}.spans; CREATE POLICY scope ON {law}.spans AS RESTRICTIVE FOR SELECT "
        "TO pincite_audited_law_reader USING (meta ->> 'court' = current_setting('pincite.scope')::jsonb ->> 'court' "
        "OR current_setting('pincite.scope')::jsonb = '\"*\"')",
    ),
    (
        "CREATE POLICY wide ON {law}.sources FOR SELECT TO pincite_audited_law_reader USING (true)",
        "DROP POLICY wide ON {law}.sources",
    ),
    (
        "GRANT USAGE ON SCHEMA {law} TO pincite_app; GRANT SELECT ON {law}.settings, {law}.spans TO pincite_app; "
        "CREATE POLICY app ON {law}.spans TO pincite_app USING (true)",
        "DROP POLICY app ON {law}.spans; REVOKE ALL ON ALL TABLES IN SCHEMA {law} FROM pincite_app; "
        "REVOKE ALL ON SCHEMA {law} FROM pincite_app",
    ),
    (
        "GRANT USAGE ON SCHEMA {law} TO pincite_audited_notes_reader; "
        "GRANT SELECT ON {law}.spans TO pincite_audited_notes_reader",
        "REVOKE ALL ON {law}.spans FROM pincite_audited_notes_reader; "
        "REVOKE ALL ON SCHEMA {law} FROM pincite_audited_notes_reader",
    ),
    (  # the breach of the system that this one replaces: rows of another corpus in the same answer
        "ALTER TABLE {law}.spans RENAME TO own_spans; CREATE VIEW {law}.spans AS SELECT * FROM {law}.own_spans "
        "UNION ALL SELECT * FROM {notes}.spans; "
        "GRANT SELECT ON {law}.spans TO pincite_audited_law_reader, pincite_audited_law_writer",
        "DROP VIEW {law}.spans; ALTER TABLE {law}.own_spans RENAME TO spans",
    ),
]


@pytest.mark.parametrize(("breakage", "mending"), LEAKS)
def test_a_breach_is_found_by_trying_to_cross(audited_service: Service, breakage: str, mending: str) -> None:
    database, settings = audited_service.database, load_corpora()
    law, notes = (opened(database, settings.corpus(name)) for name in CORPORA)
    names = {"law": "pincite_audited_law", "notes": "pincite_audited_notes"}
    try:
        _commit(database, breakage.format(**names))
        check = leak_check(database, law, [notes])
    finally:
        _commit(database, mending.format(**names))
    reasons = [item["reason"] for item in check.findings]
    assert any("not theirs" in one or "not refused" in one or "may read" in one for one in reasons), reasons


def _commit(database: Database, statements: str) -> None:
    with database.admin() as connection:
        connection.execute(statements)  # type: ignore[call-overload]


def test_a_path_that_finds_nothing_of_its_own_proves_nothing(audited_service: Service) -> None:
    database, settings = audited_service.database, load_corpora()
    law = opened(database, settings.corpus("audited_law"))
    lost = law._replace(targets=[law.targets[0]._replace(span_id="gone", source_id="gone")])
    assert "it does not even find rows of its own, so it proves nothing" in {
        item["reason"] for item in leak_check(database, lost, []).findings
    }
