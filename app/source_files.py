# SPDX-License-Identifier: Apache-2.0
"""Finds the files below the paths given to ``ingest``, and the source id of each."""

import os
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from haystack_integrations.document_stores.pincite.errors import BadInputError
from haystack_integrations.document_stores.pincite.source_writer import HeldSource
from pincite.source_metadata import META_SUFFIX, RULES_SUFFIX, is_sidecar


@dataclass(frozen=True, slots=True)
class SourceFile:
    """
    A file to bring in.

    ``path`` is absolute; ``root`` the folder its id is counted from (or the file itself); ``prefix`` that of ``--as``.
    """

    source_id: str
    path: Path
    root: Path
    prefix: str


@dataclass(slots=True)
class Walk:
    """
    What is below the paths given.

    ``files`` by source id, in order; ``unreadable`` folders with their reason; ``orphans`` are sidecars without file;
    ``paths`` the absolute paths that were given.
    """

    files: dict[str, SourceFile] = field(default_factory=dict)
    unreadable: list[tuple[Path, str]] = field(default_factory=list)
    orphans: list[Path] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)

    def covers(self, path: str) -> bool:
        """Whether a file of this path would have been seen if it were there."""
        below = any(_is_below(path, given) for given in self.paths)
        return below and not any(_is_below(path, folder) for folder, _ in self.unreadable)


def walk(paths: Sequence[Path], as_name: str | None, held: Mapping[str, HeldSource]) -> Walk:
    """
    Files below ``paths``, sorted. Hidden files, sidecars and Word's lock files are no sources; links are followed once.

    A source id is the path below the folder given, with ``/``, in NFC, after ``as_name/`` where one is given. A path
    inside a folder that was ingested before under the same name is a part of that set and keeps its ids.

    :param held: What the corpus holds, by source id.
    :raises BadInputError: A path that is not there, or two files with one id.
    """
    prefix = checked_prefix(as_name)
    roots = sorted({source.root for source in held.values() if source.prefix == prefix and source.root}, key=len)
    found = Walk()
    for given in paths:
        if not given.exists():
            raise BadInputError(f"no file or folder {str(given)!r:.300}")
        if is_sidecar(given.name):
            raise BadInputError(f"{given.name!r:.200} is a sidecar and no source; ingest the file that it belongs to")
        path = given.resolve()
        found.paths.append(path)
        root = _root(path, roots)
        for file in _files(path, found, ()):
            _add(found, SourceFile(_source_id(file, root, prefix), file, root, prefix), held)
    return found


def checked_prefix(as_name: str | None) -> str:
    """
    ``NAME/`` for ``--as NAME``, in NFC; empty without one.

    :raises BadInputError: It could not be the beginning of a path.
    """
    if as_name is None:
        return ""
    parts = as_name.strip("/").split("/")
    if any(part.strip() in {"", ".", ".."} or not part.isprintable() for part in parts):
        raise BadInputError(f"--as is {as_name!r:.80}; it must be a name such as matters or matters/2024")
    return unicodedata.normalize("NFC", "/".join(parts)) + "/"


def _root(path: Path, known: Sequence[str]) -> Path:
    """The ingested folder that ``path`` belongs to: itself, or the nearest one around it that is in the corpus."""
    around = [root for root in known if root != str(path) and _is_below(str(path), Path(root))]
    return path if str(path) in known or not around else Path(around[-1])


def _source_id(file: Path, root: Path, prefix: str) -> str:
    relative = file.name if file == root else file.relative_to(root).as_posix()
    return prefix + unicodedata.normalize("NFC", relative)


def _add(found: Walk, file: SourceFile, held: Mapping[str, HeldSource]) -> None:
    try:
        file.source_id.encode()
    except UnicodeEncodeError:
        found.unreadable.append((file.path, "its name is not valid UTF-8; rename it"))
        return
    same = found.files.setdefault(file.source_id, file)
    other = same.path if same.path != file.path else _other_file(file, held.get(file.source_id))
    if other is not None:
        raise BadInputError(
            f"two files would be source {file.source_id!r}: {other} and {file.path}; "
            "ingest one of their folders with --as NAME"
        )


def _other_file(file: SourceFile, held: HeldSource | None) -> Path | None:
    """The file that the corpus holds under this id, if it is another one and still there (not moved)."""
    if held is None or not held.path or held.path == str(file.path):
        return None
    path = Path(held.path)
    try:
        return None if not path.exists() or path.samefile(file.path) else path
    except OSError:
        return None


def _files(path: Path, found: Walk, above: tuple[tuple[int, int], ...]) -> Iterator[Path]:
    try:
        if not path.is_dir():
            yield path
            return
        status = path.stat()
        place = (status.st_dev, status.st_ino)
        if place in above:  # a link to a folder that it is in
            return
        names = sorted(entry.name for entry in path.iterdir())
    except OSError as error:
        found.unreadable.append((path, f"cannot be opened: {error.strerror or error}"))
        return
    for name in names:
        if name.startswith((".", "~$")):
            continue
        if is_sidecar(name):
            if name.removesuffix(META_SUFFIX).removesuffix(RULES_SUFFIX) not in names:
                found.orphans.append(path / name)
            continue
        yield from _files(path / name, found, (*above, place))


def _is_below(path: str, folder: Path) -> bool:
    return path == str(folder) or path.startswith(str(folder).rstrip(os.sep) + os.sep)
