# SPDX-License-Identifier: Apache-2.0
"""What the operating system says about a process: whether it lives, since when, and what it runs."""

import subprocess
from pathlib import Path

_PROC = Path("/proc/self/stat")


def start_time(pid: int) -> str | None:
    """
    When the process began, as an opaque text that is equal for equal processes; ``None`` if there is none.

    Pid and start time together name a process for good: pids are reused, and after a crash the pid in an old file
    may belong to somebody else. A zombie counts as gone.
    """
    if _PROC.exists():
        return _start_time_proc(pid)
    fields = _ps(pid, "stat=,lstart=").split(None, 1)
    return fields[1] if len(fields) == 2 and not fields[0].startswith("Z") else None


def command_line(pid: int) -> list[str]:
    """The arguments of a running process, ``[]`` if there is none. Where there is no /proc they come as one text."""
    if not _PROC.exists():
        text = _ps(pid, "command=")
        return [text] if text else []
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return []
    return [part.decode(errors="surrogateescape") for part in raw.split(b"\0") if part]


def _start_time_proc(pid: int) -> str | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    # The command name stands in brackets and may itself hold brackets and blanks: count from the last one.
    fields = text[text.rindex(")") + 2 :].split()
    return None if fields[0] in ("Z", "X") else fields[19]


def _ps(pid: int, columns: str) -> str:
    done = subprocess.run(  # noqa: S603
        ["ps", "-o", columns, "-p", str(pid)],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip()
