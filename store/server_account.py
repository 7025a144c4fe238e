# SPDX-License-Identifier: Apache-2.0
"""The operating system account that the embedded server runs under. PostgreSQL refuses to run as root."""

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import DatabaseUnavailableError

# In this order: the account made for the purpose, then the one that owns nothing.
_PREFERRED = ("postgres", "nobody")


@dataclass(frozen=True, slots=True)
class ServerAccount:
    """Who runs the server; ``switch`` is true when that is somebody else than the caller (who is root then)."""

    uid: int
    gid: int
    name: str
    switch: bool

    def popen_arguments(self) -> dict[str, Any]:
        """Keyword arguments that make ``subprocess`` run a command under this account."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if self.switch else {}

    def give(self, path: Path) -> None:
        """Hand a path of ours over to the account (never a folder that was there before)."""
        if self.switch:
            os.chown(path, self.uid, self.gid)

    def can_use(self, path: Path) -> bool:
        """Whether the account can reach ``path``, that is, may pass through every folder above it."""
        if not self.switch:
            return True
        test = subprocess.run(  # noqa: S603
            ["/bin/sh", "-c", 'test -x "$0"', str(path)],
            cwd="/",
            check=False,
            **self.popen_arguments(),
        )
        return test.returncode == 0


def server_account(data: Path | None) -> ServerAccount:
    """
    The account for a server on the data folder ``data`` (``None`` or absent: a new one).

    :raises DatabaseUnavailableError: the folder belongs to somebody whom we cannot act for, or we are root and the
        system has no other account.
    """
    uid = os.geteuid()
    owner = data.stat().st_uid if data is not None and data.exists() else None
    if uid != 0:
        if owner not in (None, uid):
            msg = (
                f"the data folder {data} belongs to user {_name(owner)}, not to {_name(uid)}: run as that user or as "
                "root, set PINCITE_HOME to a folder of your own, or set PINCITE_DATABASE_URL"
            )
            raise DatabaseUnavailableError(msg)
        return ServerAccount(uid, os.getegid(), _name(uid), switch=False)
    entry = _entry(owner) if owner else _unprivileged()
    return ServerAccount(entry.pw_uid, entry.pw_gid, entry.pw_name, switch=True)


def _entry(uid: int) -> pwd.struct_passwd:
    try:
        return pwd.getpwuid(uid)
    except KeyError:
        msg = f"the data folder of the embedded server belongs to user id {uid}, which this system does not know"
        raise DatabaseUnavailableError(msg) from None


def _unprivileged() -> pwd.struct_passwd:
    entries = {entry.pw_name: entry for entry in pwd.getpwall() if entry.pw_uid != 0}
    for name in _PREFERRED:
        if name in entries:
            return entries[name]
    if entries:
        return max(entries.values(), key=lambda entry: entry.pw_uid)
    msg = (
        "running as root, and this system has no other account for the embedded PostgreSQL: "
        "add one (useradd --system postgres) or set PINCITE_DATABASE_URL"
    )
    raise DatabaseUnavailableError(msg)


def _name(uid: int | None) -> str:
    try:
        return pwd.getpwuid(uid if uid is not None else -1).pw_name
    except (KeyError, OverflowError):
        return str(uid)
