# SPDX-License-Identifier: Apache-2.0
"""Files that change are brought in while ``ingest --watch`` runs (A6)."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from haystack_integrations.document_stores.pincite.errors import BadInputError
from pincite.service import Service
from pincite.watching import files_state, watch


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "office").mkdir(parents=True)
    (folder / "office" / "keys.md").write_text("# Keys\n\nThe spare keys hang behind the door of the archive room.\n")
    return folder


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)


class Watching:
    """A watcher in a thread; ``brought`` are the states that it brought in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.known = files_state([folder])
        self.stop = threading.Event()
        self.brought: list[set[str]] = []
        self.complaints: list[str] = []
        self.fails = False
        self.thread = threading.Thread(target=self.run)

    def bring_in(self) -> None:
        if self.fails:
            raise BadInputError("no such folder")
        self.brought.append({Path(path).name for path in files_state([self.folder])})

    def run(self) -> None:
        watch(
            [self.folder],
            self.bring_in,
            self.stop,
            known=self.known,
            complain=self.complaints.append,
            look=0.02,
            settle=0.05,
        )


@pytest.fixture
def watching(notes: Path) -> Iterator[Watching]:
    watcher = Watching(notes)
    watcher.thread.start()
    yield watcher
    watcher.stop.set()
    watcher.thread.join(60)
    assert not watcher.thread.is_alive()


def test_new_changed_and_removed_files_are_seen(watching: Watching, notes: Path) -> None:
    for change in (
        lambda: (notes / "new.md").write_text("new"),
        lambda: (notes / "office" / "keys.md").write_text("other"),
        lambda: (notes / "new.md.meta.yaml").write_text("tags: [a]"),
        (notes / "new.md").unlink,
        lambda: (notes / "office").rename(notes / "house"),
    ):
        before = len(watching.brought)
        change()
        until(lambda before=before: len(watching.brought) > before)
    assert watching.brought[-1] == {"keys.md", "new.md.meta.yaml"}


def test_nothing_is_brought_in_while_nothing_changes(watching: Watching, notes: Path) -> None:
    (notes / ".hidden.md").write_text("x")
    (notes / "~$lock.docx").write_text("x")
    time.sleep(0.5)
    assert watching.brought == []


def test_a_file_that_is_being_written_is_waited_for(watching: Watching, notes: Path) -> None:
    with (notes / "long.md").open("w") as file:
        for _ in range(15):
            file.write("more\n")
            file.flush()
            time.sleep(0.02)
    until(lambda: bool(watching.brought))
    assert len(watching.brought) <= 2


def test_a_failure_is_told_once_and_tried_again(watching: Watching, notes: Path) -> None:
    watching.fails = True
    (notes / "new.md").write_text("new")
    until(lambda: bool(watching.complaints))
    time.sleep(0.3)
    assert watching.complaints == ["pincite: no such folder"]
    watching.fails = False
    until(lambda: bool(watching.brought))


def test_links_in_a_circle_end(notes: Path) -> None:
    (notes / "office" / "again").symlink_to(notes)
    assert {Path(path).name for path in files_state([notes])} == {"keys.md"}


def test_the_command_follows_a_folder_until_it_is_interrupted(home: Path, notes: Path) -> None:
    command = [sys.executable, "-m", "pincite.cli", "ingest", "kb", str(notes), "--as", "watched", "--watch"]
    code = "import sys; from pincite.cli import main; sys.argv = sys.argv[1:]; main()"
    command[1:3] = ["-c", code, "pincite"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        assert "kb: 1 added" in process.stdout.readline()
        for line in process.stderr:
            if "watching" in line:
                break
        (notes / "office" / "alarm.md").write_text(
            "# Alarm\n\nThe alarm code changes on the first Monday of a quarter.\n"
        )
        assert "kb: 1 added, 1 unchanged" in process.stdout.readline()
        with Service() as service:
            found = service.search("kb", "when does the alarm code change", principal="local-owner")
            assert found["results"][0]["source_id"] == "watched/office/alarm.md"
            assert found["results"][0]["meta"]["tags"] == ["office"]
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        assert process.stderr.read().strip().endswith("no longer watching")
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
