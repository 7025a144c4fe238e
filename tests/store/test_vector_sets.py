# SPDX-License-Identifier: Apache-2.0
"""The second set of vectors of a corpus: what it holds, who sees it, and the switch (S3, C3)."""

import random
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from haystack_integrations.components.pincite.dense_retriever import DenseRetriever
from haystack_integrations.document_stores.pincite import vector_sets
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.errors import BadInputError, ConfigurationError, PinciteError
from haystack_integrations.document_stores.pincite.leg_statements import dense, extents
from haystack_integrations.document_stores.pincite.source_writer import SourceWriter
from haystack_integrations.document_stores.pincite.spans import SourceRecord, SpanRecord
from haystack_integrations.document_stores.pincite.stale_spans import StaleSpans
from haystack_integrations.document_stores.pincite.vector_columns import BESIDE
from haystack_integrations.document_stores.pincite.vector_sets import VectorSets, VectorState

OLD, NEW = "old;dim=8", "new;dim=12"
TEXT = "The Landlord warrants good title to the Premises and quiet enjoyment of them to tenant number {}."
SOURCES = 12


def vector(seed: str, length: int) -> list[float]:
    rng = random.Random(seed)
    return [rng.gauss(0, 1) for _ in range(length)]


@pytest.fixture
def store(make_corpus: Callable[..., str]) -> CorpusDocumentStore:
    """A dozen sources with vectors of eight numbers; one is for Ann alone."""
    store = CorpusDocumentStore(make_corpus(dimension=8))
    writer = SourceWriter(store.database, store.corpus)
    records = []
    for number in range(SOURCES):
        text = TEXT.format(number)
        span = SpanRecord("chunk", 0, 0, len(text), text, embedding=vector(f"old {number}", 8))
        groups = ["ann"] if number == 0 else []
        records.append(SourceRecord(f"s{number}", f"Lease {number}", text, "h", "text", groups=groups, spans=[span]))
    writer.write_sources(records, fingerprint=OLD)
    StaleSpans(store.database, store.corpus, OLD).expect([])
    writer.refresh_statistics()
    return store


@pytest.fixture
def sets(store: CorpusDocumentStore) -> VectorSets:
    return VectorSets(store.database, store.corpus)


def fill(store: CorpusDocumentStore, limit: int = SOURCES) -> int:
    stale = StaleSpans(store.database, store.corpus, NEW)
    spans = stale.batch("", limit)
    return stale.store([(span, vector(f"new {span.document.id}", 12)) for span in spans])


def begin(sets: VectorSets) -> None:
    sets.begin(NEW, dimension=12, embedded_meta=["title"])


def changed(store: CorpusDocumentStore, sets: VectorSets) -> None:
    begin(sets)
    fill(store)
    assert sets.build_index()
    assert sets.switch(NEW) == 0


def test_steps_can_be_repeated(store: CorpusDocumentStore, sets: VectorSets) -> None:
    assert sets.state() == VectorState(OLD, None, False)
    assert sets.drop() is None
    for _ in range(2):
        begin(sets)
        assert fill(store, 5) == 5
    assert sets.progress() == (10, SOURCES)
    assert sets.switch(NEW) == 2  # and nothing happened
    assert sets.state() == VectorState(OLD, NEW, False)
    assert fill(store) == 2
    assert [sets.build_index(), sets.build_index()] == [True, False]
    assert [sets.switch(NEW), sets.switch(NEW)] == [0, 0]
    assert sets.state() == VectorState(NEW, OLD, True)
    assert sets.progress() == (SOURCES, SOURCES)
    assert sets.drop() == OLD
    with pytest.raises(ConfigurationError, match="has no vectors of 'old;dim=8' to switch to"):
        sets.switch(OLD)
    with store.database.admin() as connection:
        row = connection.execute("SELECT dimension FROM pincite.corpora WHERE name = %s", [store.corpus]).fetchone()
    assert row == (12,)


def test_what_has_no_room_or_no_index(store: CorpusDocumentStore, sets: VectorSets) -> None:
    with pytest.raises(ConfigurationError, match="vectors of 3,072 numbers cannot be indexed, at most 2,000 can"):
        sets.begin("long", dimension=3072, embedded_meta=[])
    begin(sets)
    with pytest.raises(ConfigurationError, match="a third embedder; drop those beside first: pincite reembed"):
        sets.begin("third", dimension=8, embedded_meta=[])
    stale = StaleSpans(store.database, store.corpus, NEW)
    (span,) = stale.batch("", 1)
    with pytest.raises(BadInputError, match="wrong dimension"):
        stale.store([(span, vector("x", 8))])


@pytest.mark.parametrize(
    ("groups", "seen"), [(None, 0), ([], SOURCES - 1), (["bob"], SOURCES - 1), (["ann"], SOURCES), (["*"], SOURCES)]
)
def test_the_second_set_shows_nobody_more(
    store: CorpusDocumentStore, sets: VectorSets, groups: list[str] | None, seen: int
) -> None:
    begin(sets)
    fill(store)
    statement = dense(vector("q", 12), limit=50, ef_search=50, fingerprint=NEW, column=BESIDE)
    assert len(store.fetch(statement, groups=groups)) == seen
    sets.switch(NEW)
    statement = dense(vector("q", 8), limit=50, ef_search=50, fingerprint=OLD, column=BESIDE)
    assert len(store.fetch(statement, groups=groups)) == seen


def best(store: CorpusDocumentStore, mark: str, length: int) -> list[str]:
    """Best extents by vectors alone: a span without one that may be compared is none."""
    statement = extents(
        [f"s{number}" for number in range(SOURCES)],
        "title",
        vector("q", length),
        limit=1,
        lexical_weight=0.0,
        dense_weight=1.0,
        k=10,
        fingerprint=mark,
    )
    return [row["id"] for row in store.fetch(statement, groups=["*"])]


def test_extents_compare_with_whichever_set_is_the_query_s(store: CorpusDocumentStore, sets: VectorSets) -> None:
    assert [len(best(store, OLD, 8)), len(best(store, NEW, 12))] == [SOURCES, 0]
    begin(sets)
    fill(store, 5)
    assert [len(best(store, OLD, 8)), len(best(store, NEW, 12))] == [SOURCES, 5]
    fill(store)
    sets.switch(NEW)
    assert [len(best(store, OLD, 8)), len(best(store, NEW, 12))] == [SOURCES, SOURCES]
    sets.drop()
    assert [len(best(store, OLD, 8)), len(best(store, NEW, 12))] == [0, SOURCES]


def test_an_ordinary_search_is_one_statement(
    store: CorpusDocumentStore, sets: VectorSets, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    fetch = store.fetch

    def counting(statement: Any, **options: Any) -> list[dict[str, Any]]:
        asked.append(statement)
        return fetch(statement, **options)

    monkeypatch.setattr(store, "fetch", counting)
    retriever = DenseRetriever(store)

    def statements(mark: str, length: int) -> tuple[int, int]:
        asked.clear()
        outputs = retriever.run(query_embedding=vector("q", length), groups=["*"], fingerprint=mark)
        return len(asked), len(outputs["documents"])

    assert statements(OLD, 8) == (1, SOURCES)
    changed(store, sets)
    # Either looks once where its vectors are now, and remembers.
    assert [statements(OLD, 8), statements(OLD, 8)] == [(3, SOURCES), (1, SOURCES)]
    assert [statements(NEW, 12), statements(NEW, 12)] == [(1, SOURCES), (1, SOURCES)]
    with pytest.raises(BadInputError, match="wrong dimension"):  # of the same fingerprint: a mistake, not a change
        retriever.run(query_embedding=vector("q", 9), groups=["*"], fingerprint=NEW)
    assert retriever.run(query_embedding=vector("q", 12), groups=None, fingerprint=NEW)["degraded"] == []


def test_the_switch_waits_for_a_gap_and_says_when_there_is_none(
    store: CorpusDocumentStore, sets: VectorSets, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody reads the table for long, as a backup does; searches go on all the while."""
    begin(sets)
    fill(store)
    monkeypatch.setattr(vector_sets, "_PATIENCE_SECONDS", 1.0)
    statement = dense(vector("q", 8), limit=50, ef_search=50, fingerprint=OLD)
    with store.database.admin() as backup:
        with backup.transaction():
            backup.execute(f"LOCK TABLE pincite_{store.corpus}.spans IN ACCESS SHARE MODE")  # type: ignore[arg-type]
            with pytest.raises(PinciteError, match="was in use for 1 s without a gap"):
                sets.switch(NEW)
            assert sets.state().coming(NEW)
            monkeypatch.setattr(vector_sets, "_PATIENCE_SECONDS", 60.0)
            thread = threading.Thread(target=sets.switch, args=(NEW,))
            thread.start()
            for _ in range(5):
                assert len(store.fetch(statement, groups=["*"])) == SOURCES
                time.sleep(0.1)
            assert thread.is_alive()
        thread.join()
    assert sets.state() == VectorState(NEW, OLD, True)
