# SPDX-License-Identifier: Apache-2.0
"""A corpus changes its embedder, also to vectors of another length, while searches with either go on (S3)."""

import asyncio
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from haystack_integrations.components.pincite.embedding.word_llama_model import fingerprint
from haystack_integrations.components.retrievers.pgvector import PgvectorEmbeddingRetriever
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.errors import ConfigurationError
from haystack_integrations.document_stores.pincite.source_writer import SourceWriter
from haystack_integrations.document_stores.pincite.spans import SourceRecord
from haystack_integrations.document_stores.pincite.vector_sets import VectorSets
from pincite.cli import run
from pincite.reembed import refresh
from pincite.service import Service

CORPUS = "switching"
OLD = fingerprint([])
NEW = "voyage-4;revision=1;output_dimension=1024;template=title+text"
LATER = NEW.replace("revision=1", "revision=2")
QUERY = "rent of the mill"
SOURCES = 30
# The command as a process of its own, with the stand-in for the service and small batches.
COMMAND = """
import sys, voyageai._base
voyageai._base.get_default_base_url = lambda key: sys.argv[1]
import pincite.reembed
pincite.reembed._BATCH = 4
from pincite.cli import run
sys.exit(run(sys.argv[2:]))
"""

Scores = dict[str, float]


class Switching:
    """The corpus, its texts, and one service with each configuration; loading either makes it the one of commands."""

    def __init__(self, configurations: dict[str, Path], texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.texts = texts
        self._configurations = configurations
        self._monkeypatch = monkeypatch
        self.services: dict[str, Service] = {}
        for name in configurations:
            self.service(name)._pipeline(CORPUS)  # it keeps its pipelines, as a server does

    def service(self, name: str) -> Service:
        self.configuration(name)
        return self.services.setdefault(name, Service())

    def configuration(self, name: str) -> Path:
        self._monkeypatch.setenv("PINCITE_CONFIG", str(self._configurations[name]))
        return self._configurations[name]

    def add(self, name: str) -> None:
        (self.texts / name).write_text(text(name), encoding="utf-8")

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        database = self.services["old"].database
        with database.admin() as connection:
            connection.execute(f"SET search_path = {database.search_path(f'pincite_{CORPUS}')}")
            cursor = connection.execute(statement)  # type: ignore[call-overload]
            while cursor.nextset():
                pass
            return cursor.fetchall() if cursor.description else []


def text(name: str) -> str:
    words = f"The tenant of the mill at {name} pays rent of {len(name)} on day {sum(map(ord, name)) % 97}. "
    return f"# Lease {name}\n\n{words * 3}"


@pytest.fixture
def switching(
    stand_in: Any,
    configure: Callable[..., Path],
    make_corpus: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Switching]:
    """Thirty leases with the vectors of the packaged embedder, and configurations for it and for others."""
    wanted = {"old": None, "new": NEW, "later": LATER}
    folders = {name: configure(tmp_path / name, CORPUS, mark) for name, mark in wanted.items()}
    (tmp_path / "texts").mkdir()
    make_corpus(CORPUS)
    it = Switching(folders, tmp_path / "texts", monkeypatch)
    for number in range(SOURCES):
        it.add(f"farm-{number}.md")
    assert it.service("old").ingest(CORPUS, [it.texts]).added == SOURCES
    yield it


def dense(service: Service) -> tuple[Scores, list[str]]:
    """What is found by meaning: ids with scores, which tell one embedder from another; and the notes of the leg."""
    return _leg(service.observe(CORPUS, QUERY, principal="local-owner").outputs["dense"])


def _leg(outputs: dict[str, Any]) -> tuple[Scores, list[str]]:
    scores = {document.id: round(document.score, 5) for document in outputs["documents"]}
    return scores, [note["reason"] for note in outputs["degraded"]]


class Reader(threading.Thread):
    """Asks without a pause until it is told to stop."""

    def __init__(self, service: Service, *, on_loop: bool = False) -> None:
        super().__init__()
        self.answers: list[tuple[Scores, list[str]]] = []
        self.error: BaseException | None = None
        self._service = service
        self._on_loop = on_loop
        self._ended = threading.Event()

    def run(self) -> None:
        try:
            asyncio.run(self._ask_on_loop()) if self._on_loop else self._ask()
        except BaseException as error:
            self.error = error

    def _ask(self) -> None:
        while not self._ended.is_set():
            self.answers.append(dense(self._service))

    async def _ask_on_loop(self) -> None:
        pipeline = self._service._pipeline(CORPUS)
        while not self._ended.is_set():
            request = {"query": QUERY, "groups": ["*"]}
            outputs = await pipeline.run_async({"request": request}, include_outputs_from={"dense"})
            self.answers.append(_leg(outputs["dense"]))

    def several_more(self) -> None:
        """Wait until it asked a few times from now on."""
        wanted = len(self.answers) + 3
        while len(self.answers) < wanted and self.is_alive():
            time.sleep(0.01)

    def end(self) -> None:
        self._ended.set()
        self.join()
        assert self.error is None
        assert self.answers


def kill_in_the_middle(switching: Switching, stand_in: Any) -> None:
    """``pincite reembed`` in a process of its own, killed while it waits for the vectors of its fourth batch."""
    switching.configuration("new")
    stand_in.documents_until_held = 3
    command = [sys.executable, "-c", COMMAND, stand_in.url, "reembed", CORPUS]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        assert stand_in.held.wait(60)
        process.send_signal(signal.SIGKILL)
    stand_in.documents_until_held = None
    stand_in.released.set()


def write_meanwhile(switching: Switching) -> None:
    """New sources by either configuration; a server leaves the change to whoever makes it."""
    switching.add("old-writer.md")
    assert switching.service("old").ingest(CORPUS, [switching.texts]).added == 1
    switching.add("new-writer.md")
    report = switching.service("new").ingest(CORPUS, [switching.texts])
    assert (report.added, report.unchanged, report.reembedded) == (1, SOURCES + 1, 0)
    assert refresh(CORPUS).embedded == 0


def sources(service: Service, query: str) -> set[str]:
    return {result["source_id"] for result in service.search(CORPUS, query, principal="local-owner")["results"]}


def change(switching: Switching) -> dict[str, Any]:
    facts: dict[str, Any] = switching.service("new").status()["corpora"][CORPUS]
    told: dict[str, Any] = facts["embedder_change"]
    return told


def test_the_whole_change_with_searches_all_the_while(switching: Switching, stand_in: Any) -> None:
    old, new = switching.services["old"], switching.services["new"]
    assert len(dense(old)[0]) == SOURCES
    found, notes = dense(new)
    assert found == {}
    assert notes[0].startswith(f"corpus '{CORPUS}' has no vectors of this search's embedder (voyage-4;")
    readers, successor = [Reader(old), Reader(old, on_loop=True)], Reader(new)
    for reader in (*readers, successor):
        reader.start()

    kill_in_the_middle(switching, stand_in)
    assert VectorSets(old.database, CORPUS).state().coming(NEW)
    found, notes = dense(new)
    assert (len(found), notes) == (12, [])
    assert change(switching) == {"new_vectors": 12, "of": SOURCES, "to": NEW}
    write_meanwhile(switching)
    assert "new-writer.md" in sources(old, "mill at new-writer.md")  # by its words
    report = switching.service("new").reembed(CORPUS)
    assert (report.embedded, report.left, report.replaces) == (SOURCES + 1 - 12, 0, OLD)
    assert change(switching) == {"old_vectors": SOURCES + 1, "of": SOURCES + 2, "from": OLD}
    for reader in (*readers, successor):
        reader.several_more()

    # Until here every answer was whole, and its scores were those of its own embedder.
    (before, notes), (after, more) = dense(old), dense(new)
    assert (len(before), notes, len(after), more) == (SOURCES + 1, [], SOURCES + 2, [])
    for reader in readers:
        reader.end()
        assert {len(scores) for scores, _ in reader.answers} <= {SOURCES, SOURCES + 1}
        assert all(not notes and scores.items() <= before.items() for scores, notes in reader.answers)
    successor.end()
    assert all(scores.items() <= after.items() for scores, _ in successor.answers)
    assert successor.answers[-1] == (after, [])

    assert switching.service("new").finish_reembedding(CORPUS).dropped == OLD
    found, notes = dense(old)
    assert found == {}
    assert "it is for voyage-4" in notes[0]
    assert sources(old, QUERY)  # by its words
    assert dense(new) == (after, [])


def test_the_configuration_before_writes_no_more_once_the_change_is_finished(switching: Switching) -> None:
    switching.service("new").reembed(CORPUS)
    switching.service("new").finish_reembedding(CORPUS)
    with pytest.raises(ConfigurationError, match=f"change over first, .* pincite reembed {CORPUS}"):
        switching.service("old").ingest(CORPUS, [switching.texts])
    assert refresh(CORPUS).embedded == 0
    assert VectorSets(switching.services["old"].database, CORPUS).state() == (NEW, None, False)


def test_stock_retrievers_follow_the_switch(switching: Switching) -> None:
    def found(dimension: int) -> int:
        store = CorpusDocumentStore(CORPUS, groups=["*"], embedding_dimension=dimension)
        retriever = PgvectorEmbeddingRetriever(document_store=store, top_k=100)
        count = len(retriever.run(query_embedding=[1.0] * dimension)["documents"])
        shown = sum(document.embedding is not None for document in store.filter_documents())
        store.close()
        assert shown == count
        return count

    assert found(256) == SOURCES
    switching.service("new").reembed(CORPUS)
    assert found(1024) == SOURCES
    switching.execute("UPDATE spans SET content_hash = NULL WHERE source_id = 'farm-1.md'")
    assert found(1024) == SOURCES - 1


def test_back_to_the_embedder_before_takes_what_is_missing_alone(switching: Switching) -> None:
    before, _ = dense(switching.services["old"])
    assert switching.service("new").reembed(CORPUS).embedded == SOURCES
    switching.add("one-more.md")
    assert switching.service("new").ingest(CORPUS, [switching.texts]).added == 1
    # An old server goes on keeping its vectors whole, and does not turn the corpus back.
    switching.configuration("old")
    assert refresh(CORPUS).embedded == 1
    assert VectorSets(switching.services["old"].database, CORPUS).state() == (NEW, OLD, True)
    report = switching.service("old").reembed(CORPUS)
    assert (report.embedded, report.replaces) == (0, NEW)
    found, _ = dense(switching.services["old"])
    assert before.items() <= found.items()
    assert len(dense(switching.services["new"])[0]) == len(found) == SOURCES + 1


def test_a_change_that_is_given_up(switching: Switching, stand_in: Any) -> None:
    stand_in.broken = True
    with pytest.raises(Exception, match="maintenance"):
        switching.service("new").reembed(CORPUS)
    with pytest.raises(ConfigurationError, match="the vectors beside are those of the configured embedder"):
        switching.service("new").finish_reembedding(CORPUS)
    with pytest.raises(ConfigurationError, match="the configuration names a third embedder; drop those beside first"):
        switching.service("later").reembed(CORPUS)
    before, _ = dense(switching.services["old"])
    switching.add("only-new.md")
    stand_in.broken = False
    assert switching.service("new").ingest(CORPUS, [switching.texts]).added == 1
    found = "SELECT searchable FROM spans WHERE source_id = 'only-new.md'"
    assert switching.execute(found) == [(True,)]
    assert switching.service("old").finish_reembedding(CORPUS).dropped == NEW
    assert switching.execute(found) == [(False,)]  # it has no vector at all now
    assert switching.service("old").reembed(CORPUS).embedded == 1
    assert switching.execute(found) == [(True,)]
    assert before.items() <= dense(switching.services["old"])[0].items()


def test_another_revision_of_the_same_length(switching: Switching) -> None:
    switching.service("new").reembed(CORPUS)
    switching.service("new").finish_reembedding(CORPUS)
    new, later = switching.services["new"], switching.services["later"]
    assert dense(later)[0] == {}
    assert switching.service("later").reembed(CORPUS).embedded == SOURCES
    assert len(dense(later)[0]) == len(dense(new)[0]) == SOURCES
    assert switching.execute("SELECT DISTINCT embedding_fingerprint, beside_fingerprint FROM spans") == [(LATER, NEW)]


@pytest.mark.parametrize("switched", [False, True])
def test_a_change_makes_both_vectors_stale(switching: Switching, switched: bool) -> None:
    """The second embedder embeds titles, the first one does not."""
    sets = VectorSets(switching.services["old"].database, CORPUS)
    switching.service("new").reembed(CORPUS)
    if not switched:
        switching.service("old").reembed(CORPUS)
    assert sets.state().in_force == (NEW if switched else OLD)
    old, new = switching.services["old"], switching.services["new"]
    for table, column in (("sources", "text"), ("spans", "content")):
        words = f"{column} = replace({column}, 'tenant', 'lessee')"
        switching.execute(f"UPDATE {table} SET {words} WHERE source_id = 'farm-1.md'")
    assert (len(dense(old)[0]), len(dense(new)[0])) == (SOURCES - 1, SOURCES - 1)
    switching.execute("UPDATE sources SET title = 'Another title' WHERE source_id = 'farm-2.md'")
    assert (len(dense(old)[0]), len(dense(new)[0])) == (SOURCES - 1, SOURCES - 2)
    assert switching.execute("SELECT count(*) FROM spans WHERE searchable") == [(SOURCES,)]  # found by words
    for name in ("old", "new"):
        report = switching.service(name).reembed(CORPUS)
        assert (report.embedded, report.left) == (1 if name == "old" else 2, 0)
    assert (len(dense(old)[0]), len(dense(new)[0])) == (SOURCES, SOURCES)


def test_the_index_of_the_second_set_is_used(switching: Switching) -> None:
    switching.service("new").reembed(CORPUS)
    plan = switching.execute(
        f"SET enable_seqscan = off; EXPLAIN SELECT id FROM spans ORDER BY embedding_beside <=> '{[1.0] * 256}' LIMIT 3"
    )
    assert any("spans_embedding_beside" in row[0] for row in plan)


def test_an_empty_corpus_takes_any_embedder(switching: Switching) -> None:
    for file in switching.texts.iterdir():
        file.unlink()
    switching.service("old").ingest(CORPUS, [switching.texts])
    switching.add("first.md")
    assert switching.service("new").ingest(CORPUS, [switching.texts]).added == 1
    assert VectorSets(switching.services["new"].database, CORPUS).state() == (NEW, None, False)
    assert len(dense(switching.services["new"])[0]) == 1


def test_writers_of_a_third_embedder_are_refused(switching: Switching) -> None:
    writer = SourceWriter(switching.services["old"].database, CORPUS)
    with pytest.raises(ConfigurationError, match="the configuration names 'third'"):
        writer.write_sources([SourceRecord("x", "X", "text", "h", "text/plain")], fingerprint="third")


def test_the_commands(switching: Switching, capsys: pytest.CaptureFixture[str]) -> None:
    switching.configuration("new")
    assert run(["reembed", CORPUS]) == 0
    output = capsys.readouterr().out
    assert f"{CORPUS}: {SOURCES} spans embedded" in output
    assert f"pincite reembed {CORPUS} --finish" in output
    assert run(["reembed", CORPUS, "--finish", "--all"]) == 2
    assert run(["reembed", CORPUS, "--finish"]) == 0
    assert capsys.readouterr().out == f"{CORPUS}: dropped the vectors of {OLD}\n"
    assert run(["reembed", CORPUS, "--finish", "--json"]) == 0
    assert '"dropped": null' in capsys.readouterr().out
