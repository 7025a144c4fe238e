# SPDX-License-Identifier: Apache-2.0
"""How far an ingestion is, on stderr: a bar for people, a line now and then for logs; and what came of it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from pincite.plain_text import plain
from pincite.render import console_for
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from pincite.ingest import IngestReport
    from pincite.ingest import Progress as Step

_LINE_SECONDS = 10.0
_NAME_CHARACTERS = 40


@contextmanager
def ingest_progress(stream: TextIO) -> Iterator[Callable[["Step"], None]]:
    """
    A function to call with each step of an ingestion.

    On a terminal it moves a bar, which disappears at the end; elsewhere it writes a line every ten seconds.
    """
    console = console_for(stream)
    if not console.is_terminal:
        yield _lines(stream)
        return
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[name]}", markup=False),
        console=console,
        transient=True,
        expand=True,
    )
    with bar:
        yield _bar(bar, bar.add_task("reading", total=None, name=""))


def _bar(bar: Progress, task: TaskID) -> Callable[["Step"], None]:
    def moved(step: "Step") -> None:
        bar.update(task, completed=step.done, total=step.total, description=step.stage, name=_short(step.source_id))

    return moved


def _lines(stream: TextIO) -> Callable[["Step"], None]:
    written = time.monotonic()

    def moved(step: "Step") -> None:
        nonlocal written
        now = time.monotonic()
        if now - written >= _LINE_SECONDS:
            written = now
            print(
                f"{step.stage} {step.done} of {step.total} {_short(step.source_id)}".rstrip(), file=stream, flush=True
            )

    return moved


def _short(name: str | None) -> str:
    text = plain(name or "")
    # The end of a path says more than its beginning.
    return text if len(text) <= _NAME_CHARACTERS else "…" + text[1 - _NAME_CHARACTERS :]


def ingest_summary(corpus: str, report: "IngestReport") -> Iterator[str]:
    """What an ingestion did, in lines: counts, then each file that is not in or not all in, with the reason (I1)."""
    counts = {
        "added": report.added,
        "updated": report.updated,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "failed": len(report.failed),
    }
    told = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "nothing to do"
    yield f"{plain(corpus)}: {told}; {report.spans:,} spans written in {report.seconds:.1f} s"
    for failure in report.failed:
        yield f"not in: {plain(failure.path)}: {plain(failure.reason)}"
    for note in report.notes:
        yield f"note: {plain(note.path)}: {plain(note.reason)}"
