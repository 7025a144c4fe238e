# SPDX-License-Identifier: Apache-2.0
"""Brings files and folders into a corpus: only what changed, each source whole, and what is gone removed (I1, I2)."""

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from haystack_integrations.components.pincite.reading.rule_sidecar import RULES_KEY, Rule
from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.errors import BadInputError, DatabaseUnavailableError
from haystack_integrations.document_stores.pincite.source_writer import HeldSource, SourceWriter
from pincite.indexing_settings import settings_hash
from pincite.ingest_batches import Item, batches, run_batches
from pincite.pipelines.corpora import CorpusSettings
from pincite.reembed import ready_to_write, refresh
from pincite.source_files import Walk, checked_prefix, walk
from pincite.source_metadata import RULES_SUFFIX, given_meta, given_rules, option_meta, sidecar_of

READING = "reading"
INDEXING = "indexing"
EMBEDDING = "embedding"
_DELETED_AT_ONCE = 500
# Bytes of a file per span of it, to guess whether the indexes are better built anew; PDF and DOCX are mostly layout.
_BYTES_PER_SPAN = {".pdf": 4_000, ".docx": 8_000}
_TEXT_BYTES_PER_SPAN = 1_000


@dataclass(frozen=True, slots=True)
class Progress:
    """
    How far an ingestion is: ``done`` of ``total`` changed files, the last of them ``source_id``.

    ``stage`` is ``reading``, then ``embedding`` (``done`` counts stale spans), then ``indexing`` while the database
    builds its indexes.
    """

    stage: str
    done: int
    total: int
    source_id: str | None = None


@dataclass(frozen=True, slots=True)
class FileReport:
    """A file and what there is to say about it, in one line."""

    path: str
    reason: str


@dataclass(slots=True)
class IngestReport:
    """
    What an ingestion did.

    ``added``, ``updated``, ``unchanged`` and ``removed`` count sources; ``failed`` are files that are not in, or only
    in their earlier version, with the reason; ``notes`` files that are in with something missing; ``spans`` written;
    ``reembedded`` spans that were stale before; ``seconds`` it took.
    """

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    failed: list[FileReport] = field(default_factory=list)
    notes: list[FileReport] = field(default_factory=list)
    spans: int = 0
    reembedded: int = 0
    seconds: float = 0.0


def ingest(
    settings: CorpusSettings,
    paths: Sequence[Path],
    *,
    meta: Mapping[str, str] | None = None,
    as_name: str | None = None,
    workers: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> IngestReport:
    """
    Bring files and folders into a corpus that was made by ``init``.

    A source whose file, metadata and indexing settings are as they were is left alone. The others are read, cut,
    embedded and written in batches; each batch appears at once, so a run that is killed leaves whole sources, and the
    next run does the rest. A file that cannot be read is reported and its earlier version stays. What is gone below
    the paths, and only there, is removed.

    :param meta: Metadata for every source; wins over sidecars and front matter.
    :param as_name: Prefix of the source ids, for a folder whose names another one has too.
    :param workers: Processes that read files; by default this one does, with two threads. More pay for many PDFs.
    :param progress: Called after each batch, and before the indexes are built.
    :raises BadInputError: A path that is not there, metadata that the contract does not allow, or two files that would
        be one source; nothing is changed then.
    :raises ConfigurationError: The corpus is for another embedder than the indexing pipeline's.
    :raises DatabaseUnavailableError: The database went away; what was written stays.
    """
    started = time.monotonic()
    options = option_meta(meta)
    writer = SourceWriter(Database.current(), settings.name)
    ready_to_write(settings.name)
    held = writer.held_sources()
    found = walk(paths, as_name, held)
    report = IngestReport(
        failed=[FileReport(str(path), reason) for path, reason in found.unreadable],
        notes=[FileReport(str(path), "a sidecar whose file is not there") for path in found.orphans],
    )
    items = list(_changed(found, held, options, settings, report))
    tell = progress or (lambda step: None)
    bulk = bool(items) and writer.begin_bulk(sum(item.spans for item in items))
    mended = [] if bulk else writer.ensure_indexes()  # missing if the last run was killed
    gone = [source_id for source_id, source in held.items() if _is_gone(source_id, source, found, as_name)]
    try:
        for first in range(0, len(gone), _DELETED_AT_ONCE):
            report.removed += writer.delete_sources(gone[first : first + _DELETED_AT_ONCE])
        _read(settings.name, items, workers, report, tell)
        report.reembedded = _reembed(settings.name, tell)
    except DatabaseUnavailableError:
        raise
    except BaseException:  # also Ctrl-C: what is in must be found as fast as before
        _settle(writer)
        raise
    if bulk or mended or report.added or report.updated or report.removed or report.reembedded:
        tell(Progress(INDEXING, len(items), len(items)))
        _settle(writer)
    report.failed.sort(key=lambda failure: failure.path)
    report.seconds = time.monotonic() - started
    return report


def _reembed(corpus: str, tell: Callable[[Progress], None]) -> int:
    """What this run did not write anew, and whose vector does not belong to it any more (S3)."""
    return refresh(corpus, progress=lambda done, of, source_id: tell(Progress(EMBEDDING, done, of, source_id))).embedded


def _settle(writer: SourceWriter) -> None:
    # The indexes last: if this is killed, their absence tells the next run that the statistics are old, too.
    writer.refresh_statistics()
    writer.finish_bulk()


def _changed(
    found: Walk,
    held: Mapping[str, HeldSource],
    options: Mapping[str, Any],
    corpus: CorpusSettings,
    report: IngestReport,
) -> Iterator[Item]:
    settings, kinds = settings_hash(corpus.name), corpus.spans
    for file in found.files.values():
        try:
            rules = given_rules(file.path) if "rule" in kinds else _no_rules(file.path, report)
            # Nothing where there are no rules, so that the hash of such a file stays what it was.
            meta = given_meta(file.path, options) | ({RULES_KEY: rules} if rules else {})
            content_hash, file_hash, size = _hashes(file.path, meta, settings)
        except OSError as error:
            report.failed.append(FileReport(str(file.path), f"cannot be opened: {error.strerror or error}"))
            continue
        except BadInputError as error:
            report.failed.append(FileReport(str(file.path), str(error)))
            continue
        before = held.get(file.source_id)
        if before and (before.content_hash, before.path) == (content_hash, str(file.path)):
            report.unchanged += 1
        else:
            spans = size // _BYTES_PER_SPAN.get(file.path.suffix.lower(), _TEXT_BYTES_PER_SPAN) + 1
            place = {"_path": str(file.path), "_root": str(file.root), "_prefix": file.prefix}
            provenance = {**place, "_sha256": file_hash}
            identity = {"source_id": file.source_id, "content_hash": content_hash}
            yield Item(str(file.path), {**meta, **provenance, **identity}, spans, known=before is not None)


def _no_rules(path: Path, report: IngestReport) -> list[Rule]:
    """None, where the corpus holds no rules; that somebody wrote some is told."""
    if given_rules(path):
        report.notes.append(FileReport(str(sidecar_of(path, RULES_SUFFIX)), "left out: this corpus holds no rules"))
    return []


def _hashes(path: Path, meta: Mapping[str, Any], settings: str) -> tuple[str, str, int]:
    """Hash of everything that decides what the store holds of a file, that of its bytes alone, and their number."""
    if not path.is_file():
        raise BadInputError("no regular file")
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        size = file.tell()
    file_hash = digest.hexdigest()
    digest.update(json.dumps([meta, settings], sort_keys=True, ensure_ascii=False).encode())
    return digest.hexdigest(), file_hash, size


def _is_gone(source_id: str, source: HeldSource, found: Walk, as_name: str | None) -> bool:
    """Whether a source came from below the paths given, under the same name, and its file is not there any more."""
    same_set = bool(source.path) and source.prefix == checked_prefix(as_name)
    return same_set and source_id not in found.files and found.covers(source.path)


def _read(
    corpus: str, items: list[Item], workers: int | None, report: IngestReport, tell: Callable[[Progress], None]
) -> None:
    done = 0
    tell(Progress(READING, done, len(items)))
    for result in run_batches(corpus, batches(items), workers):
        for item in result.items:
            if item.source_id in result.written:
                report.updated += item.known
                report.added += not item.known
        report.spans += result.spans
        report.failed += [FileReport(path, reason + _kept(path, result.items)) for path, reason in result.failures]
        report.notes += [FileReport(path, note) for path, note in result.notes]
        done += len(result.items)
        tell(Progress(READING, done, len(items), result.items[-1].source_id))


def _kept(path: str, items: Sequence[Item]) -> str:
    return "; its earlier version stays" if any(item.known and item.path == path for item in items) else ""
