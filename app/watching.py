# SPDX-License-Identifier: Apache-2.0
"""Waits for files to change, so that ``pincite ingest --watch`` brings in what was edited (A6)."""

import os
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from haystack_integrations.document_stores.pincite.errors import PinciteError

# Looking, not listening: it needs no package, and works on network drives and in containers, where notices get lost.
LOOK_SECONDS = 1.0
SETTLE_SECONDS = 1.0

State = dict[str, tuple[int, int, int]]


def stay(paths: Sequence[Path], bring_in: Callable[[], int]) -> int:
    """
    ``ingest --watch``: bring in, then :func:`watch` until Ctrl-C, which is no failure while nothing is being read.

    :returns: exit status of what was brought in first; only that may fail as a whole.
    """
    known = files_state(paths)
    status = bring_in()
    _say("watching; Ctrl-C ends it")
    try:
        watch(paths, bring_in, threading.Event(), known=known, complain=_say)
    except KeyboardInterrupt:
        _say("no longer watching")
    return status


def watch(
    paths: Sequence[Path],
    bring_in: Callable[[], object],
    stop: threading.Event,
    *,
    known: State,
    complain: Callable[[str], None],
    look: float = LOOK_SECONDS,
    settle: float = SETTLE_SECONDS,
) -> None:
    """
    Bring in each time that something below the paths changed, until ``stop`` is set.

    :param bring_in: does it. What fails with a :class:`PinciteError` is tried again at the next look.
    :param known: the files as they were brought in before.
    :param complain: told of such a failure, once for each reason.
    :param look: seconds between two looks.
    :param settle: seconds without a change before files count as written: editors save in several steps.
    """
    complaint = ""
    while not stop.wait(look):
        now = _settled(paths, known, stop, settle)
        if now == known or stop.is_set():
            continue
        try:
            bring_in()
        except PinciteError as error:
            if str(error) != complaint:
                complain(f"pincite: {error}")
            complaint = str(error)
        else:
            # The state from before it was read: what changes meanwhile is seen at the next look.
            known, complaint = now, ""


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _settled(paths: Sequence[Path], known: State, stop: threading.Event, settle: float) -> State:
    """The state of the files, once it is the known one or has stayed the same for a while."""
    now = files_state(paths)
    while now != known and not stop.wait(settle):
        later = files_state(paths)
        if later == now:
            break
        now = later
    return now


def files_state(paths: Sequence[Path]) -> State:
    """Time, size and number of each file below the paths; sidecars count, hidden files do not."""
    state: State = {}
    for path in paths:
        if path.is_dir():
            seen: set[str] = set()  # a link may lead back into a folder above
            for folder, folders, names in os.walk(path, followlinks=True):
                place = os.path.realpath(folder)
                if place in seen:
                    folders.clear()
                    continue
                seen.add(place)
                folders[:] = [name for name in folders if not name.startswith(".")]
                for name in names:
                    if not name.startswith((".", "~$")):
                        _note(state, Path(folder, name))
        else:
            _note(state, path)
    return state


def _note(state: State, path: Path) -> None:
    try:
        status = path.stat()
    except OSError:  # it went away meanwhile, or may not be seen: then it counts as not there
        return
    state[str(path)] = (status.st_mtime_ns, status.st_size, status.st_ino)
