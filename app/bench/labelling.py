# SPDX-License-Identifier: Apache-2.0
"""From the search log to labelled questions (E6): a sheet of real questions and what they found, to fill in."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.errors import BadInputError
from pincite.passage import Passage, passage

COLUMNS = ("id", "query", "asked", "rank", "doc", "title", "page", "start", "end", "text", "relevant")
_SHOWN = 400  # characters of a passage: enough to judge it, and a sheet that can be read


@dataclass(slots=True)
class Asked:
    """A question of the log: its words as last asked, how often, and what it found last."""

    query: str
    times: int = 0
    result_ids: list[str] = field(default_factory=list)


def asked_questions(log: Path, corpus: str) -> list[Asked]:
    """
    The questions that a corpus was asked, those asked most first; the same words in another case are one question.

    :raises BadInputError: the log cannot be read, or holds no question of this corpus in words.
    """
    found: dict[str, Asked] = {}
    hashed = 0
    for entry in _entries(log):
        if entry.get("corpus") != corpus:
            continue
        query = entry.get("query")
        if not isinstance(query, str) or not query.strip():
            hashed += "query_sha256" in entry
            continue
        asked = found.setdefault(" ".join(query.casefold().split()), Asked(query))
        asked.query, asked.times = query, asked.times + 1
        asked.result_ids = [str(span) for span in entry.get("result_ids") or []]
    if not found:
        why = (
            f"{hashed} are there as hashes only; log the words with PINCITE_SEARCH_LOG_QUERIES=text"
            if hashed
            else "is it the log of another corpus?"
        )
        raise BadInputError(f"{log.name}: no question to corpus '{corpus}' in words: {why}")
    return sorted(found.values(), key=lambda asked: (-asked.times, asked.query))


def write_sheet(questions: Iterable[Asked], show: Callable[[str], Passage | None], out: Path) -> tuple[int, int]:
    """
    Write the sheet as CSV: a row for each passage that a question found, ``relevant`` left empty.

    Whoever labels it writes 1 where the passage answers the question, 0 where not; ``pincite bench --queries`` reads
    the sheet then. A question that found nothing has one row without a passage.

    :param show: gives a passage by its span id; ``None`` for one that is not there any more.
    :returns: numbers of questions and of rows.
    :raises BadInputError: the sheet is there already, or cannot be written.
    """
    questions = list(questions)
    rows = [row for number, asked in enumerate(questions, start=1) for row in _rows(number, asked, show)]
    try:
        # "x": a sheet that somebody filled in is not written over. The mark in front tells Excel that it is UTF-8.
        with out.open("x", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)
    except FileExistsError as error:
        raise BadInputError(f"{out} is there already; name another file with --out") from error
    except OSError as error:
        raise BadInputError(f"{out} cannot be written: {error.strerror or error}") from error
    return len(questions), len(rows)


def shower(store: CorpusDocumentStore, groups: list[str] | None) -> Callable[[str], Passage | None]:
    """Reads passages for :func:`write_sheet`, as far as this principal may see them; each once."""

    @lru_cache(maxsize=10_000)
    def show(span_id: str) -> Passage | None:
        try:
            return passage(store, span_id, groups=groups)
        except BadInputError:  # gone since, or not for this principal
            return None

    return show


def sheet_records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """
    The labelled questions of a sheet that was filled in, as records of a query file, with their place.

    A question counts once any of its rows has a mark; its answers are the rows with a number above 0. One whose rows
    all have 0 is a question without an answer here.

    :raises BadInputError: no sheet of this form, or a mark that is no number.
    """
    records: dict[str, dict[str, Any]] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInputError(f"{path.name}: cannot be read as a sheet: {error}") from error
    for number, row in enumerate(rows, start=2):
        if not set(COLUMNS) <= set(row):
            raise BadInputError(f"{path.name}: a sheet has the columns {', '.join(COLUMNS)}")
        mark = (row["relevant"] or "").strip()
        if not mark:
            continue
        if not mark.isascii() or not mark.isdigit():
            raise BadInputError(f"{path.name}, line {number}: relevant is {mark!r:.40}; it must be 0 or more, or empty")
        record = records.setdefault(row["id"], {"id": row["id"], "query": _uncell(row["query"]), "relevant": []})
        if int(mark) > 0 and row["doc"]:
            record["relevant"].append({"doc": _uncell(row["doc"]), "start": int(row["start"]), "end": int(row["end"])})
    for identity, record in records.items():
        yield f"question {identity}", record


def _entries(log: Path) -> Iterator[dict[str, Any]]:
    try:
        with log.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    entry = json.loads(line)
                except ValueError:  # a line that was cut off when the machine stopped
                    continue
                if isinstance(entry, dict):
                    yield entry
    except OSError as error:
        raise BadInputError(f"{log} cannot be read: {error.strerror or error}") from error


def _rows(number: int, asked: Asked, show: Callable[[str], Passage | None]) -> Iterator[dict[str, Any]]:
    question = {"id": f"log-{number:04}", "query": _cell(asked.query), "asked": asked.times}
    if not asked.result_ids:
        yield question
    for rank, span in enumerate(asked.result_ids, start=1):
        found = show(span)
        if found is None:
            continue
        locator = found["locator"]
        yield {
            **question,
            "rank": rank,
            "doc": _cell(found["source_id"]),
            "title": _cell(found["title"]),
            "page": locator["page"],
            "start": locator["start"],
            "end": locator["end"],
            "text": _cell(" ".join(found["text"].split())[:_SHOWN]),
        }


def _cell(text: str) -> str:
    # A spreadsheet takes what begins so for a formula, and the words come from whoever asked.
    return "'" + text if text.lstrip().startswith(("=", "+", "-", "@")) else text


def _uncell(text: str) -> str:
    return text[1:] if text.startswith("'") and _cell(text[1:]) == text else text
