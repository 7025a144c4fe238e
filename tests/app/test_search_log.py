# SPDX-License-Identifier: Apache-2.0
"""The search log (E6): what it holds, that it holds nothing up, and the sheet that is made of it."""

import asyncio
import csv
import json
import logging
import threading
from pathlib import Path
from typing import Any

import pytest
from haystack_integrations.document_stores.pincite.errors import BadInputError, ConfigurationError
from pincite.bench.labelling import COLUMNS, asked_questions, shower, write_sheet
from pincite.bench.queries import read_queries
from pincite.search_log import SearchLog, asked_through, query_hash, search_log
from pincite.service import Service

QUERY = "What does the HFA bond mortgage say about limitation on liability?"


@pytest.fixture
def log_file(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "searches.jsonl"


def response(query: str = "q", corpus: str = "knowledge", spans: tuple[str, ...] = ("a", "b")) -> dict[str, Any]:
    return {
        "corpus": corpus,
        "query": query,
        "intents": [],
        "named": {"matched": False, "sources": []},
        "reranked": False,
        "degraded": [],
        "timings_ms": {"total": 1.5},
        "results": [{"span_id": span} for span in spans],
    }


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def logging_service(monkeypatch: pytest.MonkeyPatch, path: Path, queries: str = "text") -> Service:
    monkeypatch.setenv("PINCITE_SEARCH_LOG", str(path))
    monkeypatch.setenv("PINCITE_SEARCH_LOG_QUERIES", queries)
    return Service()


def test_it_is_off_by_default(demo_service: Service, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    for value in (None, "", "off", "0"):
        monkeypatch.delenv("PINCITE_SEARCH_LOG", raising=False)
        if value is not None:
            monkeypatch.setenv("PINCITE_SEARCH_LOG", value)
        assert search_log() is None
    demo_service.search("knowledge", QUERY, principal="local-owner")
    assert not (home / "logs" / "searches.jsonl").exists()


def test_searches_are_logged_whatever_asks(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch, log_file: Path
) -> None:
    service = logging_service(monkeypatch, log_file)
    found = service.search("knowledge", QUERY, principal="local-owner", top_k=3)
    service.search("knowledge", "nobody asks")
    asyncio.run(service.tool_async("search_knowledge", "שכר דירה", principal="local-owner"))
    assert service._log is not None
    service._log.close()
    first, second, third = entries(log_file)
    assert first["result_ids"] == [result["span_id"] for result in found["results"]]
    assert (first["query"], first["corpus"], first["tool"], first["results"]) == (QUERY, "knowledge", None, 3)
    assert (first["named"], first["intents"], first["reranked"], first["degraded"]) == (True, 1, False, [])
    assert first["timings_ms"] == found["timings_ms"]
    assert first["time"].endswith("+00:00")
    assert (second["results"], second["result_ids"]) == (0, [])
    assert (third["tool"], third["query"]) == ("search_knowledge", "שכר דירה")
    assert log_file.stat().st_mode & 0o777 == 0o600


def test_a_question_may_stay_a_hash(demo_service: Service, monkeypatch: pytest.MonkeyPatch, log_file: Path) -> None:
    service = logging_service(monkeypatch, log_file, "hash")
    service.search("knowledge", QUERY, principal="local-owner")
    service.search("knowledge", f"  {QUERY.upper()} ", principal="local-owner")
    assert service._log is not None
    service._log.close()
    assert "mortgage say" not in log_file.read_text().lower()
    assert {entry["query_sha256"] for entry in entries(log_file)} == {query_hash(QUERY)}


def test_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PINCITE_HOME", str(tmp_path))
    monkeypatch.delenv("PINCITE_SEARCH_LOG_QUERIES", raising=False)
    for value, path in (
        ("on", tmp_path / "logs" / "searches.jsonl"),
        ("mine.jsonl", tmp_path / "mine.jsonl"),
        (str(tmp_path / "x" / "y.jsonl"), tmp_path / "x" / "y.jsonl"),
    ):
        monkeypatch.setenv("PINCITE_SEARCH_LOG", value)
        log = search_log()
        assert log is not None
        assert (log.path, log.with_text) == (path, False)
    monkeypatch.setenv("PINCITE_SEARCH_LOG_QUERIES", "both")
    with pytest.raises(ConfigurationError, match="PINCITE_SEARCH_LOG_QUERIES is 'both': expected hash or text"):
        search_log()


class Stuck(SearchLog):
    """A log whose disk does not answer until it is let go."""

    def __init__(self, path: Path, waiting: int) -> None:
        super().__init__(path, with_text=True, waiting=waiting)
        self.let_go = threading.Event()
        self.reached = threading.Event()

    def _append(self, batch: list[dict[str, Any]]) -> None:
        self.reached.set()
        self.let_go.wait(60)
        super()._append(batch)


def test_a_full_queue_drops_and_counts(log_file: Path) -> None:
    log = Stuck(log_file, waiting=5)
    log.record(response("first"))
    assert log.reached.wait(60)
    for number in range(12):
        log.record(response(f"q{number}"))  # returns at once, though nothing is written
    log.let_go.set()
    log.close()
    written = entries(log_file)
    assert [entry["query"] for entry in written] == ["first", *(f"q{number}" for number in range(5))]
    assert sum(entry.get("dropped_before", 0) for entry in written) == 7


def test_a_log_that_cannot_be_written_harms_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("in the way")
    log = SearchLog(tmp_path / "file" / "log.jsonl", with_text=True)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            log.record(response())
        log.close()
    assert len([record for record in caplog.records if "cannot be written" in record.message]) == 1


def test_it_may_be_rotated_and_used_again_after_closing(log_file: Path) -> None:
    log = SearchLog(log_file, with_text=True)
    log.record(response("one"))
    log.close()
    log_file.rename(log_file.with_suffix(".1"))
    log.record(response("two"))
    log.close()
    assert [entry["query"] for entry in entries(log_file)] == ["two"]


def test_many_threads_write_whole_lines(log_file: Path) -> None:
    log = SearchLog(log_file, with_text=True)

    def ask(name: str) -> None:
        with asked_through(name):
            for number in range(100):
                log.record(response(f"{name} {number} \ud800"))

    threads = [threading.Thread(target=ask, args=(f"tool{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log.close()
    written = entries(log_file)
    assert len(written) == 800
    assert all(entry["query"].startswith(entry["tool"]) for entry in written)


def lines(path: Path, *found: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(entry) + "\n" for entry in found), encoding="utf-8")
    return path


def test_questions_of_the_log_most_asked_first(log_file: Path) -> None:
    asked = {"corpus": "kb", "result_ids": ["x"]}
    lines(
        log_file,
        {**asked, "query": "once"},
        {**asked, "query": "Twice"},
        {**asked, "query": " twice", "result_ids": ["y"]},
        {**asked, "query": "another corpus", "corpus": "knowledge"},
        {**asked, "query_sha256": "ab"},
    )
    log_file.write_text(log_file.read_text() + '{"corpus": "kb", "que', encoding="utf-8")
    found = asked_questions(log_file, "kb")
    assert [(question.query, question.times, question.result_ids) for question in found] == [
        (" twice", 2, ["y"]),
        ("once", 1, ["x"]),
    ]


def test_a_log_without_words_says_how_to_keep_them(log_file: Path, tmp_path: Path) -> None:
    lines(log_file, {"corpus": "kb", "query_sha256": "ab"})
    with pytest.raises(BadInputError, match="1 are there as hashes only; log the words with"):
        asked_questions(log_file, "kb")
    with pytest.raises(BadInputError, match="is it the log of another corpus"):
        asked_questions(log_file, "knowledge")
    with pytest.raises(BadInputError, match="cannot be read"):
        asked_questions(tmp_path / "none", "kb")


def test_a_sheet_is_made_filled_in_and_read(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch, log_file: Path, tmp_path: Path
) -> None:
    from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore

    service = logging_service(monkeypatch, log_file)
    for query in (QUERY, "=HYPERLINK(rent)", "asked and not judged"):
        service.search("knowledge", query, principal="local-owner", top_k=3)
    service.search("knowledge", "found nothing")
    assert service._log is not None
    service._log.close()
    store, sheet = CorpusDocumentStore("knowledge"), tmp_path / "sheet.csv"
    asked = asked_questions(log_file, "knowledge")
    assert write_sheet(asked, shower(store, ["*"]), sheet) == (4, 10)
    assert write_sheet(asked, shower(store, None), tmp_path / "nobody.csv") == (4, 1)
    with pytest.raises(BadInputError, match=r"sheet\.csv is there already"):
        write_sheet(asked, shower(store, ["*"]), sheet)
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == list(COLUMNS)
    assert not any(value.startswith("=") for row in rows for value in row.values())
    assert {row["query"] for row in rows} >= {QUERY, "'=HYPERLINK(rent)"}
    for row in rows:
        if row["query"] == QUERY:
            row["relevant"] = "1" if row["doc"] == "hfa-bond-mortgage-riverside.txt" else "0"
        elif row["query"].startswith("'"):
            row["relevant"] = "0"
    with sheet.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    read = {query.text: query for query in read_queries(sheet)}
    assert set(read) == {QUERY, "=HYPERLINK(rent)"}
    assert read["=HYPERLINK(rent)"].labels == ()
    label = read[QUERY].labels[0]
    passage = service.show("knowledge", asked_by(asked, QUERY), principal="local-owner")
    assert (label.doc, label.start, label.end) == (
        "hfa-bond-mortgage-riverside.txt",
        passage["locator"]["start"],
        passage["locator"]["end"],
    )


def asked_by(asked: list[Any], query: str) -> str:
    return next(question.result_ids[0] for question in asked if question.query == query)


def test_a_mark_that_is_no_number(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    sheet.write_text(",".join(COLUMNS) + "\nlog-1,q,1,1,d,t,,0,5,text,yes\n")
    with pytest.raises(BadInputError, match=r"sheet\.csv, line 2: relevant is 'yes'; it must be 0 or more, or empty"):
        read_queries(sheet)
    sheet.write_text("query,relevant\nq,1\n")
    with pytest.raises(BadInputError, match="a sheet has the columns id, query"):
        read_queries(sheet)
