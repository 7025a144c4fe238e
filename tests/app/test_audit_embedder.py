# SPDX-License-Identifier: Apache-2.0
"""What the audit says of a corpus that changes its embedder: each fault is made once, and found (S3)."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from haystack_integrations.document_stores.pincite.connections import SyncConnection
from haystack_integrations.document_stores.pincite.vector_sets import VectorSets
from pincite.audit.answer import Check
from pincite.audit.configuration import configuration_check
from pincite.audit.embedder import embedder_check
from pincite.embedders import document_embedder
from pincite.pipelines.corpora import load_corpora
from pincite.pipelines.loader import load_pipeline
from pincite.service import Service

CORPUS = "auditing"
Configure = Callable[[str], Service]


@pytest.fixture
def use(
    stand_in: Any,
    configure: Callable[..., Path],
    make_corpus: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Configure:
    """``use("old")`` and ``use("new")`` put a configuration in force; the corpus has the vectors of the old one."""
    folders = {
        name: configure(tmp_path / name, CORPUS, mark) for name, mark in (("old", None), ("new", "voyage-4;1024"))
    }

    def use(name: str) -> Service:
        monkeypatch.setenv("PINCITE_CONFIG", str(folders[name]))
        return Service()

    (tmp_path / "texts").mkdir()
    for name in ("one", "two", "three"):
        words = f"The tenant of {name} pays rent for the mill on the first day of each month. " * 2
        (tmp_path / "texts" / f"{name}.md").write_text(f"# Lease {name}\n\n{words}", encoding="utf-8")
    make_corpus(CORPUS)
    assert use("old").ingest(CORPUS, [tmp_path / "texts"]).added == 3
    return use


@pytest.fixture
def owner(use: Configure) -> Iterator[Callable[..., SyncConnection]]:
    """Runs a statement as the owner; all are taken back after the test."""
    database = use("old").database
    with database.admin() as connection, connection.transaction(force_rollback=True):
        path = database.search_path(f"pincite_{CORPUS}")

        def execute(*statements: str) -> SyncConnection:
            connection.execute(f"SET LOCAL search_path = {path}")  # type: ignore[call-overload]
            for statement in statements:
                connection.execute(statement)  # type: ignore[call-overload]
            return connection

        yield execute


def check(connection: SyncConnection) -> Check:
    settings = load_corpora().corpus(CORPUS)
    fingerprint = document_embedder(load_pipeline(CORPUS, "indexing"), CORPUS).fingerprint
    return embedder_check(connection, CORPUS, fingerprint, settings.embedding_dimension)


def told(check: Check) -> list[tuple[str, str]]:
    return [("notice" if one["notice"] else "failure", one["reason"]) for one in check.findings]


def failures(service: Service) -> set[tuple[str, str]]:
    checks = [one for one in service.audit([CORPUS])["checks"] if one["corpus"] == CORPUS]
    return {(one["check"], found["mend"]) for one in checks for found in one["findings"] if not found["notice"]}


def test_a_change_from_its_beginning_to_its_end(use: Configure, stand_in: Any) -> None:
    assert failures(use("old")) == set()
    stand_in.broken = True
    with pytest.raises(Exception, match="maintenance"):
        use("new").reembed(CORPUS)
    # Begun: the configuration is ahead of the database, and somebody who goes on with the old one sees what is left.
    ahead = {
        ("configuration", f"set it back, or change: pincite reembed {CORPUS}"),
        ("configuration", f"pincite reembed {CORPUS}"),
    }
    assert failures(use("new")) == ahead
    assert failures(use("old")) == {("embedder", f"pincite reembed {CORPUS} --finish")}
    stand_in.broken = False
    use("new").reembed(CORPUS)
    assert failures(use("new")) == set()
    behind = f"bring the configuration up to date, or turn the corpus back: pincite reembed {CORPUS}"
    assert ("configuration", behind) in failures(use("old"))
    use("new").finish_reembedding(CORPUS)
    assert failures(use("new")) == set()


def test_what_is_beside_is_told(use: Configure, owner: Callable[..., SyncConnection]) -> None:
    new = "voyage-4;1024"
    use("new")
    begun = owner(f"UPDATE settings SET beside_fingerprint = '{new}'", "ALTER TABLE spans DROP COLUMN embedding_beside")
    owner("ALTER TABLE spans ADD COLUMN embedding_beside vector(1024)")
    assert told(check(begun)) == [("notice", f"the change to '{new}' is not done: 0 of 3 new vectors are there")]
    use("old")
    assert told(check(begun)) == [("failure", f"a change to '{new}' was given up: 0 of 3 new vectors are there")]
    owner("UPDATE settings SET beside_old = true, beside_fingerprint = 'gone'")
    kept = "0 of 3 old vectors of 'gone' are kept for searches with the configuration before"
    assert told(check(begun)) == [("notice", kept), ("failure", "it is not there: searches read every vector")]


BROKEN = [
    ("DROP INDEX spans_embedding_beside", "it is not there: searches read every vector"),
    (
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'spans_embedding_beside'::regclass",
        "it is not valid: searches read every vector",
    ),
    (
        "UPDATE spans SET beside_fingerprint = 'stranger' WHERE source_id = 'one.md'",
        "1 spans have a vector beside of which the settings know nothing",
    ),
    (
        "UPDATE settings SET beside_fingerprint = NULL",
        "3 spans have a vector beside of which the settings know nothing",
    ),
    (
        "ALTER TABLE spans RENAME COLUMN embedding TO x; ALTER TABLE spans RENAME COLUMN embedding_beside TO embedding;"
        " ALTER TABLE spans RENAME COLUMN x TO embedding_beside",
        "it shows the vectors of the set beside, not those in force",
    ),
]


@pytest.mark.parametrize(("breakage", "reason"), BROKEN)
def test_each_fault_of_the_second_set_is_found(
    use: Configure, owner: Callable[..., SyncConnection], breakage: str, reason: str
) -> None:
    use("new").reembed(CORPUS)
    assert [level for level, _ in told(check(owner()))] == ["notice"]  # the old vectors
    connection = owner(*breakage.split(";"))
    assert ("failure", reason) in told(check(connection))


def test_new_vectors_of_a_length_that_the_configuration_does_not_name(
    use: Configure, owner: Callable[..., SyncConnection]
) -> None:
    service = use("new")
    VectorSets(service.database, CORPUS).begin("voyage-4;1024", dimension=512, embedded_meta=[])
    assert ("failure", "corpora.yaml says 1,024 numbers a vector, the new ones have 512") in told(check(owner()))
    settings = load_corpora().corpus(CORPUS)
    subjects = {one["subject"] for one in configuration_check(owner(), settings)[0].findings}
    assert subjects == {f"embedding_dimension of {CORPUS}", f"embedder of {CORPUS}"}


def test_a_span_with_the_vector_of_the_other_embedder_alone_is_stale(
    use: Configure, owner: Callable[..., SyncConnection]
) -> None:
    from pincite.audit.contents import content_checks

    use("new").reembed(CORPUS)
    connection = owner("UPDATE spans SET embedding = NULL, embedding_fingerprint = NULL WHERE source_id = 'one.md'")
    (stale,) = [one for one in content_checks(connection, CORPUS, "voyage-4;1024") if one.name == "stale"]
    assert [one["reason"] for one in stale.findings] == [
        "it has a vector of another embedder alone, whose configuration wrote it"
    ]
