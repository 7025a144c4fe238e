# SPDX-License-Identifier: Apache-2.0
"""Writing sources: all of one or nothing, also when the process is killed; indexes and statistics."""

import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.errors import BadInputError
from haystack_integrations.document_stores.pincite.index_definitions import missing_indexes
from haystack_integrations.document_stores.pincite.source_writer import SourceWriter
from haystack_integrations.document_stores.pincite.spans import SourceRecord, SpanRecord
from haystack_integrations.document_stores.pincite.statements import Statement

ALL = ["*"]


def source(source_id: str, spans: int, word: str = "liability", **fields: object) -> SourceRecord:
    texts = [
        f"Clause {i} of {source_id} limits the {word} of the parties to the amounts that were paid. "
        for i in range(spans)
    ]
    records, position = [], 0
    for number, text in enumerate(texts):
        vector = [float((number + i) % 7) + 0.5 for i in range(256)]
        records.append(SpanRecord("chunk", number, position, position + len(text), text, embedding=vector))
        position += len(text)
    values: dict[str, object] = {"title": f"Contract {source_id}", "content_hash": word, "media_type": "text/plain"}
    return SourceRecord(source_id, text="".join(texts), spans=records, **(values | fields))  # type: ignore[arg-type]


@pytest.fixture
def writer(database: Database, corpus_store: CorpusDocumentStore) -> SourceWriter:
    return SourceWriter(database, corpus_store.corpus)


def test_what_is_written_can_be_read_back_exactly(writer: SourceWriter, corpus_store: CorpusDocumentStore) -> None:
    text = "Zażółć \U0001f600 שלום: " + "the Guarantor guarantees payment of all sums due. " * 3
    span = SpanRecord("chunk", 0, 3, 100, text[3:100], 2, 3, "Article 1", None, 0, 120, [0.25] * 256)
    record = SourceRecord("d/ü.txt", "Guaranty", text, "h", "text/plain", "of Ann", meta={"matter": "M1"}, spans=[span])
    assert writer.write_sources([record], fingerprint="model-1") == 1
    row = corpus_store.fetch(
        Statement(
            "SELECT span.id, page, page_end, section, parent_end, embedding_fingerprint, span.meta, content, "
            "substr(text, start_offset + 1, end_offset - start_offset) AS cut, embedding::text AS embedding "
            "FROM spans AS span JOIN sources USING (source_id)"
        ),
        groups=ALL,
    )[0]
    assert row["id"] == f"{writer.corpus}:d/ü.txt#chunk-0"
    assert row["cut"] == row["content"] == text[3:100]
    assert (row["page"], row["page_end"], row["section"], row["parent_end"]) == (2, 3, "Article 1", 120)
    assert row["embedding_fingerprint"] == "model-1"
    assert row["meta"] == {
        "matter": "M1", "source_id": "d/ü.txt", "title": "Guaranty", "kind": "chunk", "start": 3, "end": 100,
        "page": 2, "page_end": 3, "section": "Article 1",
    }  # fmt: skip
    assert row["embedding"].startswith("[0.25,")


def test_known_sources_by_path(writer: SourceWriter) -> None:
    writer.write_sources([source(s, 1) for s in ("a/x.txt", "a/b/y.txt", "ab/z.txt", "a.txt")])
    assert set(writer.known_sources(["a"])) == {"a/x.txt", "a/b/y.txt"}
    assert set(writer.known_sources(["a/b/", "a.txt"])) == {"a/b/y.txt", "a.txt"}
    assert writer.known_sources()["ab/z.txt"] == "liability"
    assert writer.known_sources([]) == {}


def test_the_same_text_twice_is_two_results(writer: SourceWriter, corpus_store: CorpusDocumentStore) -> None:
    one = source("one", 2)
    writer.write_sources([one, replace(one, source_id="two")])
    assert corpus_store.fetch(
        Statement("SELECT count(*) AS n, count(DISTINCT content) AS d FROM spans"), groups=ALL
    ) == [{"n": 4, "d": 2}]


@pytest.mark.parametrize(
    ("field", "value", "what"),
    [("text", "a\0b", "NUL"), ("title", "\ud800", "surrogate"), ("identity", "x\0", "NUL")],
)
def test_text_that_the_database_cannot_hold(writer: SourceWriter, field: str, value: str, what: str) -> None:
    bad = replace(source("bad", 1), **{field: value})
    with pytest.raises(BadInputError, match=f"source 'bad': its {field} holds a .*{what}"):
        writer.write_sources([source("good", 1), bad])
    assert writer.known_sources() == {}


def test_a_wrong_dimension_and_a_repeated_source_write_nothing(writer: SourceWriter) -> None:
    span = replace(source("bad", 1).spans[0], embedding=[1.0] * 3)
    with pytest.raises(BadInputError, match="dimension"):
        writer.write_sources([source("good", 1), replace(source("bad", 1), spans=[span])])
    with pytest.raises(BadInputError, match="twice"):
        writer.write_sources([source("x", 1), source("x", 2)])
    assert writer.known_sources() == {}


def test_a_reader_never_sees_half_a_document(writer: SourceWriter, corpus_store: CorpusDocumentStore) -> None:
    writer.write_sources([source("x", 40, "liability")])
    versions = [source("x", 40, "damages"), source("x", 25, "losses")]
    done = threading.Event()

    def replace_all_the_time() -> None:
        for turn in range(30):
            writer.write_sources([versions[turn % 2]])
        done.set()

    thread = threading.Thread(target=replace_all_the_time)
    thread.start()
    count = Statement(
        "SELECT content_hash, (SELECT count(*) FROM spans) AS spans, "
        "(SELECT count(*) FROM spans WHERE content LIKE '%%' || content_hash_of || '%%') AS fitting "
        "FROM (SELECT content_hash, content_hash AS content_hash_of FROM sources) AS source"
    )
    seen = set()
    while not done.is_set():
        (row,) = corpus_store.fetch(count, groups=ALL)
        assert row["spans"] == row["fitting"] == {"liability": 40, "damages": 40, "losses": 25}[row["content_hash"]]
        seen.add(row["content_hash"])
    thread.join()
    assert len(seen) > 1


def test_two_writers_of_the_same_sources(database: Database, writer: SourceWriter) -> None:
    errors: list[Exception] = []

    def write(word: str) -> None:
        try:
            for _ in range(5):
                SourceWriter(database, writer.corpus).write_sources([source("x", 5, word), source("y", 5, word)])
        except Exception as error:  # the main thread reports it
            errors.append(error)

    threads = [threading.Thread(target=write, args=[word]) for word in ("liability", "damages")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert set(writer.known_sources()) == {"x", "y"}


_KILLED = """
import sys
from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.source_writer import SourceWriter
sys.path.insert(0, {tests!r})
from test_source_writer import source
writer = SourceWriter(Database.current(), {corpus!r})
writer.begin_bulk()
for turn in range(10_000):
    writer.write_sources([source(f"s{{turn}}-{{i}}", 20) for i in range(20)])
    print(turn, flush=True)
"""


def test_kill_during_a_write_leaves_nothing_half(
    writer: SourceWriter, corpus_store: CorpusDocumentStore, database: Database
) -> None:
    code = _KILLED.format(tests=str(Path(__file__).parent), corpus=writer.corpus)
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=dict(os.environ))
    assert child.stdout is not None
    for _ in range(2):
        assert child.stdout.readline()
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    rows = corpus_store.fetch(Statement("SELECT count(*) AS n FROM spans GROUP BY source_id"), groups=ALL)
    assert len(rows) % 20 == 0
    assert len(rows) >= 40
    assert {row["n"] for row in rows} == {20}
    with database.admin() as owner:
        assert missing_indexes(owner, writer.corpus) == ["spans_embedding", "spans_tsv"]
        assert writer.ensure_indexes() == ["spans_embedding", "spans_tsv"]
        assert missing_indexes(owner, writer.corpus) == []


def test_bulk_mode_only_when_it_pays(writer: SourceWriter, database: Database) -> None:
    assert writer.begin_bulk()
    writer.write_sources([source("x", 10)])
    assert writer.finish_bulk() == ["spans_embedding", "spans_tsv"]
    assert writer.finish_bulk() == []
    assert not writer.begin_bulk(5)
    assert writer.begin_bulk(50)
    with database.admin() as owner:
        assert missing_indexes(owner, writer.corpus) == ["spans_embedding", "spans_tsv"]


def test_statistics_follow_the_corpus(writer: SourceWriter, corpus_store: CorpusDocumentStore) -> None:
    stats = Statement("SELECT spans, sources, average_length, version FROM corpus_stats")
    frequencies = Statement("SELECT lexeme, df FROM span_lexemes WHERE lexeme IN ('liabil', 'damag', 'claus')")
    (before,) = corpus_store.fetch(stats, groups=ALL)
    writer.write_sources([source("x", 3), source("y", 2, "damages"), source("z", 4, status="draft")])
    writer.refresh_statistics()
    (after,) = corpus_store.fetch(stats, groups=ALL)
    assert (after["spans"], after["sources"]) == (5, 2)
    assert after["average_length"] == pytest.approx(9, abs=3)
    assert after["version"] > before["version"]
    rows = corpus_store.fetch(frequencies, groups=ALL)
    assert {row["lexeme"]: row["df"] for row in rows} == {"liabil": 3, "damag": 2, "claus": 5}
    assert writer.delete_sources(["y", "unknown"]) == 1
    writer.refresh_statistics()
    rows = corpus_store.fetch(frequencies, groups=ALL)
    assert {row["lexeme"]: row["df"] for row in rows} == {"liabil": 3, "claus": 3}
    names = corpus_store.fetch(Statement("SELECT lexeme FROM identity_lexemes ORDER BY lexeme"), groups=ALL)
    assert [row["lexeme"] for row in names] == ["contract", "x"]


def test_the_version_changes_with_its_write(writer: SourceWriter, corpus_store: CorpusDocumentStore) -> None:
    version = Statement("SELECT version FROM corpus_stats")
    seen = [corpus_store.fetch(version, groups=ALL)[0]["version"]]
    for write in (
        lambda: writer.write_sources([source("x", 1)]),
        lambda: writer.delete_sources(["x"]),
    ):
        write()
        seen.append(corpus_store.fetch(version, groups=ALL)[0]["version"])
    assert seen == sorted(set(seen))


def test_spans_carry_what_a_user_wrote_of_their_source(writer: SourceWriter, corpus_store: CorpusDocumentStore) -> None:
    meta = {"judge": "Ann", "_path": "x", "parties": ["A"], "kind": "memo", "page": 9, "statement": "s", "empty": ""}
    writer.write_sources([source("a", 1, meta=meta)])
    (row,) = corpus_store.fetch(Statement("SELECT meta - 'start' - 'end' AS meta FROM spans"), groups=ALL)
    assert row["meta"] == {"judge": "Ann", "source_id": "a", "title": "Contract a", "kind": "chunk"}
