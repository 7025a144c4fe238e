# SPDX-License-Identifier: Apache-2.0
"""
Memory and processor time of a server and of its database under load, and whether memory is flat.

Flat is said of the trend and not of two readings. The readings of a minute depend on each other (an allocator keeps
what it was given, so memory moves in steps), which a plain regression would take for certainty. So the time is cut
into blocks of half a minute, a line is laid through their medians, and the bar is put to the upper end of the slope's
one-sided 95 % interval: too few or too unsteady readings cannot pass for flat.

The bar is in bytes per answered search, which is what a leak is made of and does not depend on how fast the machine
is. ``MOST_BYTES_A_SEARCH`` is about one empty Python dict: whoever keeps a single object of each request is beyond it.
"""

import math
import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

BLOCK_SECONDS = 30.0
MOST_BYTES_A_SEARCH = 64.0
# Student's t, one-sided 95 %, by degrees of freedom (blocks less two).
_T95 = {1: 6.314, 2: 2.920, 3: 2.353, 4: 2.132, 5: 2.015, 6: 1.943, 7: 1.895, 8: 1.860, 9: 1.833, 10: 1.812}


class Reading(NamedTuple):
    """Memory at one moment, in KiB. ``backends``: what the database's processes hold besides shared buffers."""

    at: float
    server: int
    backends: int
    processes: int


class Trend(NamedTuple):
    """A slope in KiB a minute, and the upper end of its one-sided 95 % interval."""

    slope: float
    upper: float


@dataclass(frozen=True)
class Watched:
    """The processes whose memory is read: the server, and the postmaster with its children."""

    server: int
    postmaster: int

    def read(self) -> Reading:
        """One reading."""
        backends = [_field(pid, "RssAnon") for pid in _children(self.postmaster)]
        return Reading(time.monotonic(), _field(self.server, "VmRSS"), sum(backends), len(backends))

    def processor_seconds(self) -> float:
        """What they have used of the processors so far; what ended processes used counts with the postmaster."""
        pids = [self.server, self.postmaster, *_children(self.postmaster)]
        return sum(map(_ticks, pids)) / os.sysconf("SC_CLK_TCK")


def trend(readings: Sequence[tuple[float, int]]) -> Trend:
    """How memory goes: a line through the medians of half minutes; an endless one where there are fewer than three."""
    blocks: dict[int, list[tuple[float, int]]] = {}
    for at, size in readings:
        blocks.setdefault(int((at - readings[0][0]) / BLOCK_SECONDS), []).append((at, size))
    whole = [block for block in blocks.values() if len(block) >= BLOCK_SECONDS / 3]
    if len(whole) < 3:
        return Trend(math.inf, math.inf)
    times = [statistics.fmean(at for at, _ in block) / 60 for block in whole]
    sizes = [statistics.median(size for _, size in block) for block in whole]
    line = statistics.linear_regression(times, sizes)
    rest = sum((size - line.intercept - line.slope * at) ** 2 for at, size in zip(times, sizes, strict=True))
    middle = statistics.fmean(times)
    freedom = len(whole) - 2
    error = math.sqrt(rest / freedom / sum((at - middle) ** 2 for at in times))
    return Trend(line.slope, line.slope + _T95.get(freedom, 1.812) * error)


def _field(pid: int, name: str) -> int:
    """A line of ``/proc/<pid>/status``, in KiB; 0 when the process is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(name + ":")), 0)


def _ticks(pid: int) -> int:
    try:
        after_the_name = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
    except OSError:
        return 0
    return sum(int(field) for field in after_the_name.split()[11:15])  # utime, stime and those of ended children


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []
