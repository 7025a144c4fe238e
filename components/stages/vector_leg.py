# SPDX-License-Identifier: Apache-2.0
"""How a leg that compares vectors finds the set that holds those of its embedder (S3)."""

from collections.abc import Callable, Generator
from typing import NamedTuple

import psycopg
from haystack_integrations.components.pincite.intents import Degradation
from haystack_integrations.components.pincite.stages.leg import Rows, rows_of, rows_of_async
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.errors import BadInputError
from haystack_integrations.document_stores.pincite.statements import Statement
from haystack_integrations.document_stores.pincite.vector_columns import SETS, KnownColumns, VectorColumn, column_of

Build = Callable[[VectorColumn], Statement]
"""The statement of the leg, for one set of vectors."""

_Answer = tuple[Rows, list[Degradation]]


class _Outcome(NamedTuple):
    rows: Rows
    degraded: list[Degradation]
    refused: BadInputError | None = None


def vector_rows(
    store: CorpusDocumentStore,
    build: Build,
    *,
    fingerprint: str | None,
    groups: list[str] | None,
    timeout: float,
    stage: str,
) -> _Answer:
    """
    As :func:`~.leg.rows_of`, from whichever set of the corpus holds the vectors of an embedder.

    The ordinary search is one statement. Only one that finds nothing, or vectors of another length, looks where those
    of its embedder are, and asks there. If the corpus has none of them, a note says so, and the other legs go on.

    :param fingerprint: identity of the query's embedder; ``None`` for that of the corpus.
    :raises BadInputError: the query's vector is of another length than the stored ones of the same fingerprint.
    """
    steps = _steps(store, build, fingerprint, groups, stage)
    try:
        statement = next(steps)
        while True:
            try:
                outcome = _Outcome(*rows_of(store, statement, groups, timeout, stage))
            except BadInputError as error:
                outcome = _refused(error)
            statement = steps.send(outcome)
    except StopIteration as done:
        answer: _Answer = done.value
        return answer


async def vector_rows_async(
    store: CorpusDocumentStore,
    build: Build,
    *,
    fingerprint: str | None,
    groups: list[str] | None,
    timeout: float,
    stage: str,
) -> _Answer:
    """As :func:`vector_rows`, on the event loop."""
    steps = _steps(store, build, fingerprint, groups, stage)
    try:
        statement = next(steps)
        while True:
            try:
                outcome = _Outcome(*await rows_of_async(store, statement, groups, timeout, stage))
            except BadInputError as error:
                outcome = _refused(error)
            statement = steps.send(outcome)
    except StopIteration as done:
        answer: _Answer = done.value
        return answer


def _steps(
    store: CorpusDocumentStore, build: Build, fingerprint: str | None, groups: list[str] | None, stage: str
) -> Generator[Statement, _Outcome, _Answer]:
    """What to ask, one statement after the other."""
    known = KnownColumns.of(store.database, store.corpus)
    column = known.column(fingerprint)
    rows, degraded, refused = yield build(column)
    nobody = groups is None and refused is None  # sees nothing, wherever it looks
    if rows or degraded or nobody or fingerprint is None:
        return _answer(rows, degraded, refused)
    sets, degraded, _ = yield SETS
    if not sets:
        return [], degraded
    found = column_of(fingerprint, sets[0])
    known.learn(fingerprint, found)
    if found is None:
        return [], [{"stage": stage, "reason": _absent(store.corpus, fingerprint, sets[0]["in_force"])}]
    if found is not column:
        rows, degraded, refused = yield build(found)
    return _answer(rows, degraded, refused)


def _answer(rows: Rows, degraded: list[Degradation], refused: BadInputError | None) -> _Answer:
    if refused is not None:
        raise refused
    return rows, degraded


def _refused(error: BadInputError) -> _Outcome:
    """A vector of another length than those of the set; any other error is the caller's."""
    cause = error.__cause__
    if isinstance(cause, psycopg.errors.DataException) and "dimensions" in str(cause):
        return _Outcome([], [], error)
    raise error


def _absent(corpus: str, fingerprint: str, in_force: str) -> str:
    return (
        f"corpus '{corpus}' has no vectors of this search's embedder ({fingerprint:.80}), it is for {in_force:.80}; "
        f"search with the configuration in force, or run: pincite reembed {corpus}"
    )
