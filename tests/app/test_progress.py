# SPDX-License-Identifier: Apache-2.0
"""How an ingestion is told: steps to a log or a terminal, and the summary at its end."""

import contextlib
import io
import os
from itertools import count

import pytest
from pincite import progress as module
from pincite.ingest import FileReport, IngestReport, Progress
from pincite.progress import ingest_progress, ingest_summary


def steps(total: int) -> list[Progress]:
    reading = [Progress("reading", done, total, f"folder/{done}\x1b[31m.txt") for done in range(total + 1)]
    return [*reading, Progress("indexing", total, total)]


def test_a_log_gets_a_line_every_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = count(0, 4)  # seconds: four between one step and the next
    monkeypatch.setattr(module.time, "monotonic", lambda: float(next(clock)))
    stream = io.StringIO()
    with ingest_progress(stream) as tell:
        for step in steps(6):
            tell(step)
    assert stream.getvalue().splitlines() == [
        "reading 2 of 6 folder/2\ufffd[31m.txt",
        "reading 5 of 6 folder/5\ufffd[31m.txt",
    ]


def read_all(descriptor: int) -> str:
    """What was written to a terminal whose other end is closed."""
    parts = []
    # Linux ends it with an error, other systems with an empty read.
    with contextlib.suppress(OSError):
        while part := os.read(descriptor, 65536):
            parts.append(part)
    os.close(descriptor)
    return b"".join(parts).decode()


def test_a_terminal_gets_a_bar_that_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    controlling, terminal = os.openpty()
    with os.fdopen(terminal, "w") as stream, ingest_progress(stream) as tell:
        for step in steps(3):
            tell(step)
    written = read_all(controlling)
    assert "indexing" in written
    assert "3/3" in written
    assert written.endswith("\x1b[2K")
    assert "\x1b[31m.txt" not in written


def test_the_summary_names_each_file_that_is_not_in() -> None:
    report = IngestReport(
        added=1234,
        unchanged=2,
        failed=[FileReport("a\x1b.pdf", "locked: it needs a password")],
        notes=[FileReport("b.html", "2 pages without text")],
        spans=5678,
        seconds=3.21,
    )
    assert list(ingest_summary("knowledge", report)) == [
        "knowledge: 1,234 added, 2 unchanged, 1 failed; 5,678 spans written in 3.2 s",
        "not in: a\ufffd.pdf: locked: it needs a password",
        "note: b.html: 2 pages without text",
    ]
    assert next(ingest_summary("kb", IngestReport())) == "kb: nothing to do; 0 spans written in 0.0 s"
