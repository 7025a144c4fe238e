# SPDX-License-Identifier: Apache-2.0
"""Runs the indexing pipeline over batches of files, side by side in threads or processes."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")  # a process of ours imports this module first

from haystack import Pipeline
from haystack.core.errors import PipelineRuntimeError
from haystack_integrations.document_stores.pincite.errors import BadInputError, PinciteError
from pincite.pipelines.loader import load_pipeline

BATCH_FILES = 32
BATCH_SPANS = 500  # as estimated; about 10 MB of documents and vectors in flight per batch
_THREADS = 2  # while one embeds, on all cores, the other reads, cuts or waits for the database


@dataclass(frozen=True, slots=True)
class Item:
    """A file to read: its absolute path, what the converter is told about it, and about how many spans it will give."""

    path: str
    meta: dict[str, Any]
    spans: int
    known: bool

    @property
    def source_id(self) -> str:
        """Its identity in the corpus."""
        return str(self.meta["source_id"])


@dataclass(slots=True)
class BatchResult:
    """What became of a batch: ids ``written``, ``failures`` and ``notes`` as (path, reason), number of ``spans``."""

    items: list[Item]
    written: set[str] = field(default_factory=set)
    failures: list[tuple[str, str]] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    spans: int = 0


def batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Items in order, in groups of a bounded number of files and, as estimated, of spans; at least one in each."""
    batch: list[Item] = []
    spans = 0
    for item in items:
        if batch and (len(batch) == BATCH_FILES or spans + item.spans > BATCH_SPANS):
            yield batch
            batch, spans = [], 0
        batch.append(item)
        spans += item.spans
    if batch:
        yield batch


def run_batches(corpus: str, work: Iterator[list[Item]], workers: int | None = None) -> Iterator[BatchResult]:
    """
    Results as batches are done, in any order; a bounded number of batches is in flight.

    :param workers: More than one: so many processes. Else two threads of this process.
    :raises PinciteError: What is wrong with the database or the configuration ends the work.
    """
    with _executor(workers) as executor:
        pending: set[Future[BatchResult]] = set()
        try:
            for batch in work:
                pending.add(executor.submit(run_batch, corpus, batch))
                if len(pending) > 2 * max(_THREADS, workers or 1):
                    done, pending = wait(pending, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in done)
            while pending:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        except BrokenProcessPool as error:
            raise PinciteError("a worker process died, perhaps out of memory; try fewer --workers") from error
        finally:
            executor.shutdown(wait=True, cancel_futures=True)


def run_batch(corpus: str, items: list[Item]) -> BatchResult:
    """
    One batch through the indexing pipeline; if a file makes a stage fail, the others are done one by one.

    :raises PinciteError: The fault is not that of a file.
    """
    result = BatchResult(items)
    try:
        _run(_pipeline(corpus), items, result)
    except PipelineRuntimeError as error:
        cause = _cause(error)
        if isinstance(cause, PinciteError) and not isinstance(cause, BadInputError):
            raise cause from error
        if len(items) == 1:
            line = " ".join(str(cause).split())
            reason = line if isinstance(cause, PinciteError) else f"{type(cause).__name__}: {line}"
            result.failures.append((items[0].path, reason))
            return result
        for item in items:
            _add(result, run_batch(corpus, [item]))
    return result


def _run(pipeline: Pipeline, items: Sequence[Item], result: BatchResult) -> None:
    inputs = {"sources": [item.path for item in items], "meta": [item.meta for item in items]}
    outputs = pipeline.run({"converter": inputs})
    converted, written = outputs.get("converter", {}), outputs.get("writer", {})
    result.written |= set(written.get("source_ids", ()))
    result.spans += written.get("spans_written", 0)
    result.failures += [(failure["path"], failure["reason"]) for failure in converted.get("failures", ())]
    for stage in ("converter", "rules"):
        result.notes += [(note["path"], note["note"]) for note in outputs.get(stage, {}).get("notes", ())]
    # A converter of someone else's may drop a file without a word; we do not.
    named = {path for path, _ in result.failures}
    silent = [item.path for item in items if item.source_id not in result.written and item.path not in named]
    result.failures += [(path, "no text came out of it") for path in silent]


def _add(result: BatchResult, part: BatchResult) -> None:
    result.written |= part.written
    result.failures += part.failures
    result.notes += part.notes
    result.spans += part.spans


def _cause(error: BaseException) -> BaseException:
    """What a component raised, out of Haystack's wrapping; one of ours if there is one."""
    cause, found = error, error
    while cause.__cause__ is not None:
        cause = cause.__cause__
        if not isinstance(found, PinciteError):
            found = cause
    return found


class _Loaded(threading.local):
    def __init__(self) -> None:
        self.pipelines: dict[str, Pipeline] = {}


_LOADED = _Loaded()


def _pipeline(corpus: str) -> Pipeline:
    """A pipeline for each thread: its components keep state while they run."""
    if corpus not in _LOADED.pipelines:
        pipeline = load_pipeline(corpus, "indexing")
        pipeline.warm_up()
        _LOADED.pipelines[corpus] = pipeline
    return _LOADED.pipelines[corpus]


def _executor(workers: int | None) -> Executor:
    if workers is None or workers < 2:
        return ThreadPoolExecutor(_THREADS, thread_name_prefix="pincite-ingest")
    # Not fork: this process has threads and an open database.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_ignore_interrupt)


def _ignore_interrupt() -> None:
    """Ctrl-C is for the process that the user started; it ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
