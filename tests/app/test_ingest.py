# SPDX-License-Identifier: Apache-2.0
"""Ingestion into the real database: what changed and nothing else, whole sources, one set per folder (I1, I2)."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from haystack import Pipeline
from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.errors import BadInputError, UnknownCorpusError
from haystack_integrations.document_stores.pincite.source_writer import SourceWriter
from pincite.indexing_settings import pipeline_hash
from pincite.ingest import INDEXING, READING, IngestReport, Progress, ingest
from pincite.ingest_batches import BATCH_FILES, BATCH_SPANS, Item, batches, run_batch
from pincite.pipelines.corpora import corpus
from pincite.pipelines.loader import load_pipeline
from pincite.source_files import walk

CLAUSE = "The Borrower shall pay what is due under this clause and nothing besides. "


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three small sources, one of them in a folder below."""
    return fill(
        tmp_path / "set", {"a.txt": "Lease of Acme. " + CLAUSE, "b.md": "# Note\n" + CLAUSE, "sub/c.txt": CLAUSE}
    )


def fill(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def bring(*paths: Path, **options: Any) -> IngestReport:
    return ingest(corpus("knowledge"), list(paths), **options)


def counts(report: IngestReport) -> tuple[int, int, int, int]:
    return report.added, report.updated, report.unchanged, report.removed


def rows(database: Database, sql: str) -> list[tuple[Any, ...]]:
    with database.admin() as connection:
        return connection.execute(sql.replace("KNOWLEDGE", "pincite_knowledge")).fetchall()


def ids(database: Database) -> list[str]:
    return [row[0] for row in rows(database, 'SELECT source_id FROM KNOWLEDGE.sources ORDER BY source_id COLLATE "C"')]


def whole(database: Database) -> bool:
    """Every source has all its spans, each the text at its place, and no span is there twice."""
    torn = rows(
        database,
        """
        SELECT s.source_id FROM KNOWLEDGE.sources s LEFT JOIN KNOWLEDGE.spans p USING (source_id) GROUP BY s.source_id
        HAVING count(p.id) <> coalesce(max(p.number), -2) + 1 OR count(p.id) <> count(DISTINCT p.number)
            OR max(p.end_offset) <> length(rtrim(max(s.text), E' \\n\\f'))
            OR bool_or(p.content <> substr(s.text, p.start_offset + 1, p.end_offset - p.start_offset))
            OR bool_or(p.embedding IS NULL OR p.embedding_fingerprint IS NULL)
        """,
    )
    return torn == []


def test_only_what_changed_is_read_again(knowledge: Database, folder: Path) -> None:
    first = bring(folder)
    assert counts(first) == (3, 0, 0, 0)
    assert first.spans == 3
    assert ids(knowledge) == ["a.txt", "b.md", "sub/c.txt"]
    assert whole(knowledge)
    assert counts(bring(folder)) == (0, 0, 3, 0)
    (folder / "a.txt").write_text("Lease of Bolt. " + CLAUSE)
    (folder / "b.md").unlink()
    assert counts(bring(folder)) == (0, 1, 1, 1)
    assert ids(knowledge) == ["a.txt", "sub/c.txt"]
    assert rows(knowledge, "SELECT text FROM KNOWLEDGE.sources WHERE source_id = 'a.txt'") == [
        ("Lease of Bolt. " + CLAUSE,)
    ]


def test_metadata_counts_as_a_change_and_the_command_line_wins(knowledge: Database, folder: Path) -> None:
    (folder / "b.md").write_text("---\nmatter: front\nstatus: draft\ncourt: C\n---\nText of it. " + CLAUSE)
    (folder / "b.md.meta.yaml").write_text("matter: side\nstatus: active\ngroups: [staff]\n")
    assert counts(bring(folder)) == (3, 0, 0, 0)
    described = (
        "SELECT status, groups, meta ->> 'matter', meta ->> 'court' FROM KNOWLEDGE.sources WHERE source_id = 'b.md'"
    )
    assert rows(knowledge, described) == [("active", ["staff"], "side", "C")]
    assert counts(bring(folder, meta={"matter": "option"})) == (0, 3, 0, 0)
    assert rows(knowledge, described) == [("active", ["staff"], "option", "C")]
    (folder / "b.md.meta.yaml").write_text("status: final\n")
    report = bring(folder, meta={"matter": "option"})
    assert [(Path(f.path).name, f.reason.split(";")[0]) for f in report.failed] == [
        ("b.md", "sidecar b.md.meta.yaml: status is 'final'")
    ]
    assert ids(knowledge) == ["a.txt", "b.md", "sub/c.txt"]


def test_a_file_that_cannot_be_read_is_named_and_its_earlier_version_stays(knowledge: Database, folder: Path) -> None:
    bring(folder)
    (folder / "a.txt").write_bytes(b"\xff\xff")
    (folder / "new.txt").write_bytes(b"")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    report = bring(folder)
    assert counts(report) == (0, 0, 2, 0)
    assert {Path(f.path).name: f.reason for f in report.failed}.keys() == {"a.txt", "new.txt", "picture.png"}
    assert report.failed[0].reason.endswith("; its earlier version stays")
    assert ids(knowledge) == ["a.txt", "b.md", "sub/c.txt"]


def test_two_folders_are_two_sets(knowledge: Database, folder: Path, tmp_path: Path) -> None:
    other = fill(tmp_path / "other", {"d.txt": CLAUSE})
    bring(folder)
    bring(other)
    (folder / "a.txt").unlink()
    assert counts(bring(other)) == (0, 0, 1, 0)
    assert ids(knowledge) == ["a.txt", "b.md", "d.txt", "sub/c.txt"]
    assert counts(bring(folder)) == (0, 0, 2, 1)
    assert ids(knowledge) == ["b.md", "d.txt", "sub/c.txt"]


def test_files_of_one_name_in_two_folders_are_an_error_that_says_what_to_do(
    knowledge: Database, folder: Path, tmp_path: Path
) -> None:
    other = fill(tmp_path / "other", {"a.txt": "Another. " + CLAUSE})
    bring(folder)
    message = r"two files would be source 'a.txt': .*/set/a.txt and .*/other/a.txt; .* --as NAME"
    with pytest.raises(BadInputError, match=message):
        bring(other)
    assert counts(bring(other, as_name="second")) == (1, 0, 0, 0)
    assert ids(knowledge) == ["a.txt", "b.md", "second/a.txt", "sub/c.txt"]
    assert counts(bring(folder)) == (0, 0, 3, 0)
    with pytest.raises(BadInputError, match=message):
        bring(folder, other)


def test_a_folder_inside_an_ingested_one_is_a_part_of_that_set(knowledge: Database, folder: Path) -> None:
    bring(folder)
    (folder / "a.txt").unlink()
    (folder / "sub/c.txt").unlink()
    (folder / "sub/d.txt").write_text(CLAUSE)
    assert counts(bring(folder / "sub")) == (1, 0, 0, 1)
    assert ids(knowledge) == ["a.txt", "b.md", "sub/d.txt"]


def test_a_single_file_and_a_folder_that_moved(knowledge: Database, folder: Path, tmp_path: Path) -> None:
    assert counts(bring(folder / "a.txt")) == (1, 0, 0, 0)
    assert ids(knowledge) == ["a.txt"]
    assert counts(bring(folder)) == (2, 0, 1, 0)
    folder.rename(tmp_path / "moved")
    assert counts(bring(tmp_path / "moved")) == (0, 3, 0, 0)
    assert ids(knowledge) == ["a.txt", "b.md", "sub/c.txt"]


def test_hidden_files_sidecars_and_links(knowledge: Database, folder: Path, tmp_path: Path) -> None:
    fill(
        folder, {".git/x.txt": CLAUSE, "~$a.docx": "lock", "gone.txt.meta.yaml": "matter: m", "a.txt.rules.yaml": "[]"}
    )
    (folder / "sub/loop").symlink_to(folder)
    outside = fill(tmp_path / "outside", {"e.txt": CLAUSE})
    (folder / "link").symlink_to(outside)
    report = bring(folder)
    assert ids(knowledge) == ["a.txt", "b.md", "link/e.txt", "sub/c.txt"]
    assert [Path(note.path).name for note in report.notes] == ["gone.txt.meta.yaml"]
    with pytest.raises(BadInputError, match="is a sidecar"):
        bring(folder / "a.txt.rules.yaml")


def test_ids_are_in_nfc(knowledge: Database, tmp_path: Path) -> None:
    fill(tmp_path, {"cafe\u0301.txt": CLAUSE})
    bring(tmp_path)
    assert ids(knowledge) == ["caf\u00e9.txt"]
    fill(tmp_path, {"caf\u00e9.txt": CLAUSE})
    if len(list(tmp_path.iterdir())) == 2:  # some file systems normalise by themselves
        with pytest.raises(BadInputError, match="two files would be source"):
            bring(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open every folder")
def test_nothing_is_removed_from_a_folder_that_cannot_be_opened(knowledge: Database, folder: Path) -> None:
    bring(folder)
    (folder / "sub").chmod(0)
    try:
        report = bring(folder)
    finally:
        (folder / "sub").chmod(0o755)
    assert [Path(f.path).name for f in report.failed] == ["sub"]
    assert ids(knowledge) == ["a.txt", "b.md", "sub/c.txt"]


def test_bad_input(knowledge: Database, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="no file or folder"):
        bring(tmp_path / "missing")
    with pytest.raises(BadInputError, match="--meta: status is 'final'"):
        bring(tmp_path, meta={"status": "final"})
    for name in ("", "a//b", "../b"):
        with pytest.raises(BadInputError, match="--as is"):
            bring(tmp_path, as_name=name)


def test_a_corpus_that_was_never_made(database: Database, tmp_path: Path) -> None:
    with pytest.raises(UnknownCorpusError):
        bring(tmp_path)


def test_progress(knowledge: Database, folder: Path) -> None:
    steps: list[Progress] = []
    bring(folder, progress=steps.append)
    assert [(step.stage, step.done, step.total) for step in steps] == [
        (READING, 0, 3),
        (READING, 3, 3),
        (INDEXING, 3, 3),
    ]
    assert steps[1].source_id == "sub/c.txt"
    steps.clear()
    bring(folder, progress=steps.append)
    assert [(step.stage, step.done, step.total) for step in steps] == [(READING, 0, 0)]


def test_worker_processes_give_the_same(knowledge: Database, folder: Path) -> None:
    assert counts(bring(folder, workers=2)) == (3, 0, 0, 0)
    assert whole(knowledge)


def test_a_killed_ingestion_leaves_whole_sources_and_the_next_one_does_the_rest(
    knowledge: Database, tmp_path: Path
) -> None:
    total = 150
    fill(tmp_path / "set", {f"{n:03}.txt": f"Lease {n}. " + CLAUSE * 600 for n in range(total)})
    code = (
        "import sys; from pathlib import Path; from pincite.ingest import ingest\n"
        "from pincite.pipelines.corpora import corpus\n"
        "ingest(corpus('knowledge'), [Path(sys.argv[1])], progress=lambda step: print(step.done, flush=True))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "set")], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) > 0:
                break
        process.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 30
    while rows(knowledge, "SELECT FROM pg_locks l JOIN pg_class c ON c.oid = l.relation WHERE c.relname = 'spans'"):
        assert time.monotonic() < deadline, "the server still works for the killed process"
        time.sleep(0.1)
    there = len(ids(knowledge))
    assert 0 < there < total
    assert whole(knowledge)
    assert counts(bring(tmp_path / "set")) == (total - there, 0, there, 0)
    assert whole(knowledge)
    indexes = rows(knowledge, "SELECT indexname FROM pg_indexes WHERE schemaname = 'KNOWLEDGE' ORDER BY 1")
    assert {("spans_embedding",), ("spans_tsv",)} <= set(indexes)
    assert rows(knowledge, "SELECT sources FROM KNOWLEDGE.corpus_stats") == [(total,)]


def test_indexes_that_a_kill_left_out_are_built_by_the_next_run(knowledge: Database, folder: Path) -> None:
    bring(folder)
    assert SourceWriter(knowledge, "knowledge").begin_bulk(1000)
    assert counts(bring(folder)) == (0, 0, 3, 0)
    assert SourceWriter(knowledge, "knowledge").ensure_indexes() == []


def test_a_file_that_breaks_a_stage_is_named_and_the_rest_of_its_batch_goes_in(
    knowledge: Database, folder: Path
) -> None:
    items = [
        Item(str(folder / name), {"source_id": name, "content_hash": "x", **meta}, spans=1, known=False)
        for name, meta in (("a.txt", {}), ("b.md", {"groups": ["*"]}))
    ]
    result = run_batch("knowledge", items)
    assert result.written == {"a.txt"}
    assert [Path(path).name for path, _ in result.failures] == ["b.md"]
    assert ids(knowledge) == ["a.txt"]


def test_batches_are_bounded() -> None:
    items = [
        Item(f"{n}", {"source_id": f"{n}"}, spans=spans, known=False) for n, spans in enumerate([1] * 70 + [900, 1])
    ]
    grouped = list(batches(items))
    assert [item for batch in grouped for item in batch] == items
    assert all(len(batch) <= BATCH_FILES for batch in grouped)
    assert all(len(batch) == 1 or sum(item.spans for item in batch) <= BATCH_SPANS for batch in grouped)


def test_only_settings_that_change_the_result_count() -> None:
    def hash_with(stage: str, key: str, value: Any) -> str:
        described = load_pipeline("knowledge", "indexing").to_dict()
        described["components"][stage]["init_parameters"][key] = value
        return pipeline_hash(Pipeline.from_dict(described))

    now = pipeline_hash(load_pipeline("knowledge", "indexing"))
    assert hash_with("embedder", "batch_size", 3) == now
    assert hash_with("embedder", "prefix_meta", ["title"]) == now  # stale vectors, made anew without reading (S3)
    assert hash_with("splitter", "max_characters", 1300) != now


def test_walk_names_two_paths_to_one_file_once(tmp_path: Path) -> None:
    fill(tmp_path, {"a.txt": CLAUSE})
    found = walk([tmp_path, tmp_path / "a.txt"], None, {})
    assert list(found.files) == ["a.txt"]
