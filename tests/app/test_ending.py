# SPDX-License-Identifier: Apache-2.0
"""A command that is told to end takes the embedded database with it, at whatever moment it is told."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from haystack_integrations.document_stores.pincite.processes import start_time
from pincite.ending import leaving_on

TEXTS = Path(__file__).resolve().parents[2] / "app" / "demo" / "corpora" / "kb"
COMMAND = [sys.executable, "-c", "from pincite.cli import main; main()", "ingest", "kb", str(TEXTS)]


def postmaster(home: Path) -> list[str]:
    """The lines of the server's pid file, none where it is not there."""
    try:
        return (home / "database" / "data" / "postmaster.pid").read_text().splitlines()
    except OSError:
        return []


def creates_its_cluster(home: Path, process: subprocess.Popen[str]) -> bool:
    return any((home / "database").glob("data.new-*"))


def starts_its_server(home: Path, process: subprocess.Popen[str]) -> bool:
    return bool(postmaster(home))


def has_its_server(home: Path, process: subprocess.Popen[str]) -> bool:
    lines = postmaster(home)
    return len(lines) > 7 and lines[7].strip() == "ready"


def watches(home: Path, process: subprocess.Popen[str]) -> bool:
    assert process.stderr is not None
    return any("watching" in line for line in process.stderr)


@pytest.fixture(scope="module")
def own_folder() -> Path:
    """A home that no command has used yet; the tests of this module use it one after the other."""
    folder = Path(tempfile.mkdtemp(prefix="pincite ending "))
    folder.chmod(0o755)  # as root, the server runs under another account
    return folder / "home"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("moment", [creates_its_cluster, starts_its_server, has_its_server, watches])
def test_a_command_that_is_told_to_end_leaves_no_database(
    own_folder: Path, moment: Callable[[Path, subprocess.Popen[str]], bool], number: int
) -> None:
    if moment is creates_its_cluster and number == signal.SIGHUP:
        pytest.skip("a home has its cluster created once")
    arguments = [*COMMAND, "--watch"] if moment is watches else COMMAND
    sockets = own_folder.parent / "sockets"
    sockets.mkdir(exist_ok=True)
    sockets.chmod(0o777)
    environment = os.environ | {"PINCITE_HOME": str(own_folder), "TMPDIR": str(sockets)}
    with subprocess.Popen(
        arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
    ) as it:
        while not moment(own_folder, it):
            assert it.poll() is None
            time.sleep(0.001)
        lines = postmaster(own_folder)
        it.send_signal(number)
        _, err = it.communicate()
    assert (it.returncode, err) == (128 + number, "")
    assert postmaster(own_folder) == []
    assert not lines or start_time(int(lines[0])) is None
    assert not list((own_folder / "database" / "users").iterdir())
    # A signal between the making of the socket's folder and its being known leaves it behind, empty.
    assert not [folder for folder in sockets.iterdir() if any(folder.iterdir())]


def test_a_signal_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        with leaving_on(signal.SIGHUP):
            signal.raise_signal(signal.SIGHUP)
        with pytest.raises(SystemExit) as left, leaving_on(signal.SIGTERM, status=0):
            signal.raise_signal(signal.SIGTERM)
        assert left.value.code == 0
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
