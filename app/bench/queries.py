# SPDX-License-Identifier: Apache-2.0
"""Labelled questions: what a query file holds, and how it is read."""

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

import yaml
from haystack_integrations.document_stores.pincite.errors import BadInputError
from pincite.bench.labelling import sheet_records

DEFAULT_FIELD = "query"
_YAML = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Label:
    """
    Where an answer stands: a document, and in it characters, pages, both or neither.

    ``start`` and ``end`` are code points, half-open; ``pages`` the first and the last page, from 1. ``quote`` is the
    answer's text where the file gives that instead of a range; :func:`pincite.bench.corpus_facts.located` finds it.
    """

    doc: str
    start: int | None = None
    end: int | None = None
    pages: tuple[int, int] | None = None
    quote: str | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A question and where its answers stand; no labels mean that the corpus holds no answer (``absent``)."""

    id: str
    text: str
    labels: tuple[Label, ...] = ()
    family: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """The whole record of the file: what families are derived from."""

    @property
    def documents(self) -> list[str]:
        """The labelled documents, each once, in the order of the labels."""
        return list(dict.fromkeys(label.doc for label in self.labels))


def read_queries(path: Path, *, field_name: str = DEFAULT_FIELD, as_name: str | None = None) -> list[Query]:
    """
    Read a query file: JSON lines, YAML with a list, or a filled-in sheet (``bench --from-log``) as CSV.

    A record has ``id``, the question in the field named, and ``relevant``: ``[{doc, start, end, pages?}]``. A YAML
    record may have ``source`` and ``answer`` instead (a document and a passage quoted from it, or lists of both), and
    ``family``.

    :param field_name: the field that holds the question; records without it are skipped.
    :param as_name: the prefix that the documents were ingested with (``ingest --as``).
    :raises BadInputError: one line that names the file, the record and what is wrong; also when no question is left.
    """
    queries = []
    seen: set[str] = set()
    for place, record in _records(path):
        if field_name not in record or record[field_name] in (None, ""):
            continue
        query = _query(f"{path.name}, {place}", record, field_name, as_name)
        if query.id in seen:
            raise BadInputError(f"{path.name}, {place}: id {query.id!r:.80} is there twice; each id names one question")
        seen.add(query.id)
        queries.append(query)
    if not queries:
        raise BadInputError(f"{path.name}: no record has a question in field '{field_name}'; nothing can be measured")
    return queries


def sampled(queries: Sequence[Query], limit: int | None, seed: int) -> list[Query]:
    """
    ``limit`` of the questions, drawn with a fixed seed and in the order of the file; all where there are no more.

    The draw hangs on the ids alone, so that the fields of one file give the same questions.
    """
    if limit is None or limit >= len(queries):
        return list(queries)
    chosen = set(random.Random(seed).sample(sorted(query.id for query in queries), limit))  # noqa: S311 - no secret
    return [query for query in queries if query.id in chosen]


def in_files_of(queries: Iterable[Query], suffix: str) -> list[Query]:
    """
    The questions, labelled in files of the same name with another suffix (``.pdf`` beside ``.txt``).

    Character ranges belong to the text of the labelled file, so documents and pages remain.
    """
    return [
        replace(
            query, labels=tuple(Label(_with_suffix(label.doc, suffix), pages=label.pages) for label in query.labels)
        )
        for query in queries
    ]


def _with_suffix(doc: str, suffix: str) -> str:
    return PurePosixPath(doc).with_suffix(suffix).as_posix()


def in_family(queries: Iterable[Query], family: str) -> list[Query]:
    """The questions, said to be of a family."""
    return [replace(query, family=family) for query in queries]


def _records(path: Path) -> Iterable[tuple[str, dict[str, Any]]]:
    if path.suffix.lower() == ".csv":
        return sheet_records(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInputError(f"{path}: not UTF-8 text (byte {error.start})") from error
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read: {error.strerror or error}") from error
    return _yaml_records(path, text) if path.suffix.lower() in _YAML else json_lines(path, text)


def _yaml_records(path: Path, text: str) -> Iterable[tuple[str, dict[str, Any]]]:
    try:
        records = yaml.safe_load(text)
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise BadInputError(f"{path.name}: no valid YAML: {reason:.200}") from error
    if not isinstance(records, list):
        raise BadInputError(f"{path.name}: a {type(records).__name__}; a query file is a list of records")
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise BadInputError(f"{path.name}, record {number}: a {type(record).__name__}; a record is a mapping")
        yield f"record {number}", record


def json_lines(path: Path, text: str) -> Iterable[tuple[str, dict[str, Any]]]:
    """
    The records of a JSON lines file, each with its place.

    :raises BadInputError: the line that is no JSON mapping.
    """
    # Not splitlines: a text may hold U+2028, which is no end of a JSON line.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise BadInputError(f"{path.name}, line {number}: no valid JSON: {error.msg}") from error
        if not isinstance(record, dict):
            raise BadInputError(f"{path.name}, line {number}: a {type(record).__name__}; a line is a JSON mapping")
        yield f"line {number}", record


def _query(place: str, record: dict[str, Any], field_name: str, as_name: str | None) -> Query:
    if not isinstance(record.get("id"), str) or not record["id"]:
        raise BadInputError(f"{place}: id is {record.get('id')!r:.40}; it must be text")
    text = record[field_name]
    if not isinstance(text, str):
        raise BadInputError(f"{place}: {field_name} is {text!r:.60}; it must be text")
    family = record.get("family")
    if family is not None and not isinstance(family, str):
        raise BadInputError(f"{place}: family is {family!r:.60}; it must be text")
    labels = _labels(place, record)
    if as_name:
        labels = tuple(replace(label, doc=f"{as_name}/{label.doc}") for label in labels)
    return Query(record["id"], text, labels, family, record)


def _labels(place: str, record: dict[str, Any]) -> tuple[Label, ...]:
    if "relevant" in record:
        entries = record["relevant"]
        if not isinstance(entries, list):
            raise BadInputError(f"{place}: relevant is {entries!r:.60}; it must be a list of labels")
        return tuple(_label(place, entry) for entry in entries)
    sources, answers = record.get("source"), record.get("answer")
    if sources is None:
        return ()
    if isinstance(sources, str):
        sources, answers = [sources], [answers]
    if not isinstance(sources, list) or not isinstance(answers, list) or len(sources) != len(answers):
        raise BadInputError(f"{place}: 'source' and 'answer' must be two texts, or two lists of equal length")
    return tuple(_quoted(place, source, answer) for source, answer in zip(sources, answers, strict=True))


def _quoted(place: str, source: object, answer: object) -> Label:
    if not isinstance(source, str) or not isinstance(answer, str) or not answer.strip():
        raise BadInputError(f"{place}: source {source!r:.60} and answer {answer!r:.60} must be texts")
    return Label(source, quote=answer)


def _label(place: str, entry: object) -> Label:
    if not isinstance(entry, dict) or not isinstance(entry.get("doc"), str) or not entry["doc"]:
        raise BadInputError(f"{place}: a label is {entry!r:.80}; it must name its 'doc'")
    start, end, pages = entry.get("start"), entry.get("end"), entry.get("pages")
    if (start is None) != (end is None) or (start is not None and not _is_range(start, end)):
        raise BadInputError(f"{place}: start {start!r:.20} and end {end!r:.20} must be 0 <= start < end")
    if pages is not None and not _are_pages(pages):
        raise BadInputError(f"{place}: pages is {pages!r:.40}; it must be [first, last], counted from 1")
    return Label(entry["doc"], start, end, tuple(pages) if pages else None)


def _are_pages(pages: object) -> bool:
    return isinstance(pages, list) and len(pages) == 2 and all(map(_is_whole, pages)) and 1 <= pages[0] <= pages[1]


def _is_range(start: object, end: object) -> bool:
    return _is_whole(start) and _is_whole(end) and 0 <= start < end  # type: ignore[operator]


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)  # bool is an int to Python
