# SPDX-License-Identifier: Apache-2.0
"""How far a measurement is, on stderr: a bar on a terminal, and nothing where there is none."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from pincite.plain_text import plain
from pincite.render import console_for
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def measuring_progress(stream: TextIO, title: str, total: int) -> Iterator[Callable[[int, str], None]]:
    """
    A function to call with the number of questions done and the id of the last.

    :param title: what is measured.
    :param total: how many questions there are.
    """
    console = console_for(stream)
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[name]}", markup=False),
        console=console,
        transient=True,
        expand=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task(plain(title), total=total, name="")
        yield lambda done, name: bar.update(task, completed=done, name=plain(name)[:40])
