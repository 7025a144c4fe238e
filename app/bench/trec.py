# SPDX-License-Identifier: Apache-2.0
"""
TREC qrels and run files, which other tools read: ``query 0 id 1`` and ``query Q0 id rank score tag``.

Fields are separated by blanks, so blanks in an id, and the percent sign, are written as in a URL (``%20``).
"""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote

from haystack_integrations.document_stores.pincite.errors import BadInputError
from pincite.bench.ir_metrics import Qrels, Run, ranked

_UNSAFE = re.compile(r"[\s%]")
_QRELS_FIELDS, _RUN_FIELDS = 4, 6


def token(name: str) -> str:
    """An id as one field of a TREC file."""
    return _UNSAFE.sub(lambda match: quote(match.group(), safe=""), name)


def write_qrels(path: Path, qrels: Qrels) -> None:
    """
    Write judgements, all of relevance 1.

    :raises BadInputError: the file cannot be written.
    """
    _write(path, (f"{token(query)} 0 {token(name)} 1" for query, names in qrels.items() for name in names))


def write_run(path: Path, run: Run, tag: str) -> None:
    """
    Write a run, with scores that fall with the rank.

    :raises BadInputError: the file cannot be written.
    """
    lines = (
        f"{token(query)} Q0 {token(name)} {rank} {score:g} {token(tag)}"
        for query, names in run.items()
        for rank, (name, score) in enumerate(ranked(names), start=1)
    )
    _write(path, lines)


def read_qrels(path: Path) -> Qrels:
    """
    Per question the ids with a relevance above 0; a question with none has an empty list.

    :raises BadInputError: the line that is none of a qrels file.
    """
    qrels: Qrels = {}
    for number, fields in _lines(path, _QRELS_FIELDS, "query 0 id relevance"):
        held = qrels.setdefault(unquote(fields[0]), [])
        if _number(path, number, fields[3]) > 0:
            held.append(unquote(fields[2]))
    return qrels


def read_run(path: Path) -> Run:
    """
    Per question the ids, best score first; equal scores in the order of their ranks.

    :raises BadInputError: the line that is none of a run file.
    """
    scored: dict[str, list[tuple[float, float, str]]] = {}
    for number, fields in _lines(path, _RUN_FIELDS, "query Q0 id rank score tag"):
        rank, score = _number(path, number, fields[3]), _number(path, number, fields[4])
        scored.setdefault(unquote(fields[0]), []).append((-score, rank, unquote(fields[2])))
    return {query: list(dict.fromkeys(name for _, _, name in sorted(hits))) for query, hits in scored.items()}


def _lines(path: Path, fields: int, form: str) -> Iterator[tuple[int, list[str]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(f"{path}: cannot be read as UTF-8 text: {error}") from error
    for number, line in enumerate(text.splitlines(), start=1):
        parts = line.split()
        if parts and len(parts) != fields:
            raise BadInputError(f"{path.name}, line {number}: {len(parts)} fields; a line is '{form}'")
        if parts:
            yield number, parts
    if not text.strip():
        raise BadInputError(f"{path.name}: empty; a line is '{form}'")


def _number(path: Path, line: int, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadInputError(f"{path.name}, line {line}: {text!r:.30} is no number") from None


def _write(path: Path, lines: Iterator[str]) -> None:
    try:
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise BadInputError(f"{path}: cannot be written: {error.strerror or error}") from error
