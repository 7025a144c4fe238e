# SPDX-License-Identifier: Apache-2.0
"""Numbered SQL files: applied once, in order, and never silently changed."""

import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from haystack_integrations.document_stores.pincite import migrations
from haystack_integrations.document_stores.pincite.corpora import CorpusDefinition
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.errors import BadInputError, ConfigurationError
from haystack_integrations.document_stores.pincite.migrations import Migration, initialise, pending
from haystack_integrations.document_stores.pincite.source_writer import SourceWriter
from haystack_integrations.document_stores.pincite.spans import SourceRecord, SpanRecord
from haystack_integrations.document_stores.pincite.statements import Statement


def test_files_have_numbers_of_their_own_and_carry_the_licence() -> None:
    root = Path(migrations.__file__).parent / "sql"
    for folder in ("database", "corpus"):
        files = sorted((root / folder).glob("*.sql"))
        numbers = [int(file.name[:4]) for file in files if file.name[4] == "_"]
        assert len(set(numbers)) == len(files)
        assert all(file.read_text().startswith("-- SPDX-License-Identifier: Apache-2.0\n") for file in files)


def test_pending_reads_only_and_init_applies_once(database: Database, make_corpus: Callable[..., str]) -> None:
    name = f"test_{uuid.uuid4().hex[:8]}"
    waiting = pending(database, [name])
    assert {migration.scope for migration in waiting} == {name}
    assert [m.name for m in waiting] == sorted(m.name for m in waiting)
    assert pending(database, [name]) == waiting
    make_corpus(name)
    assert pending(database, [name]) == []
    assert initialise(database, [CorpusDefinition(name)]) == []
    with database.admin() as owner:
        rows = owner.execute("SELECT name, sha256 FROM pincite.migrations WHERE scope = %s", [name]).fetchall()
    assert dict(rows) == {migration.name: migration.sha256 for migration in waiting}


def test_a_changed_file_is_an_error(
    database: Database, make_corpus: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = make_corpus()
    files = migrations._files(name)
    changed = [Migration(name, files[0].name, files[0].text + "-- more"), *files[1:]]
    monkeypatch.setattr(migrations, "_files", lambda scope: changed if scope else [])
    for call in (lambda: pending(database, [name]), lambda: initialise(database, [CorpusDefinition(name)])):
        with pytest.raises(ConfigurationError, match=r"0001_tables\.sql .* must not change"):
            call()


def test_a_failing_file_leaves_nothing_and_the_next_init_goes_on(
    database: Database, make_corpus: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"test_{uuid.uuid4().hex[:8]}"
    bad = Migration(name, "0099_bad.sql", "CREATE TABLE {schema}.half (x int); SELECT 1 / 0")
    files = migrations._files(name)
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "_files", lambda scope: [*files, bad] if scope else [])
        with pytest.raises(Exception, match="division by zero"):
            initialise(database, [CorpusDefinition(name)])
        assert [m.name for m in pending(database, [name])] == [*(m.name for m in files), "0099_bad.sql"]
    make_corpus(name)
    assert pending(database, [name]) == []


def test_a_corpus_keeps_its_language(database: Database, make_corpus: Callable[..., str]) -> None:
    name = make_corpus(dimension=64, text_search="simple")
    with pytest.raises(ConfigurationError, match=f"corpus '{name}' was made with text search 'simple'"):
        initialise(database, [CorpusDefinition(name, 64, "english")])
    initialise(database, [CorpusDefinition(name, 256, "simple")])  # another embedder: `reembed` changes over to it
    with pytest.raises(ConfigurationError, match="klingon"):
        initialise(database, [CorpusDefinition("test_klingon", text_search="klingon")])
    with pytest.raises(BadInputError, match="corpus name"):
        initialise(database, [CorpusDefinition("No; DROP")])


def test_rules_of_a_corpus_can_change(database: Database, make_corpus: Callable[..., str]) -> None:
    name = make_corpus(minimum_characters=10)
    store = CorpusDocumentStore(name)
    text = "A short note of some words."
    span = SpanRecord("chunk", 0, 0, len(text), text, embedding=[1.0] * 256)
    records = [
        SourceRecord(s, s, text, "h", "text/plain", meta=meta, spans=[span])
        for s, meta in (("with", {"court": "X"}), ("without", {}), ("blank", {"court": ""}))
    ]
    SourceWriter(database, name).write_sources(records)

    def visible() -> set[str]:
        return {row["source_id"] for row in store.fetch(Statement("SELECT source_id FROM spans"), groups=["*"])}

    assert visible() == {"with", "without", "blank"}
    initialise(database, [CorpusDefinition(name, minimum_characters=10, required_meta=["court"])])
    assert visible() == {"with"}
    initialise(database, [CorpusDefinition(name, minimum_characters=50)])
    assert visible() == set()
    initialise(database, [CorpusDefinition(name, minimum_characters=5)])
    assert visible() == {"with", "without", "blank"}
