# SPDX-License-Identifier: Apache-2.0
"""What the legs have in common: run one statement, and give nothing rather than fail the search."""

from typing import Any

import psycopg
from haystack_integrations.components.pincite.intents import Degradation
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.statements import Statement

Rows = list[dict[str, Any]]


def rows_of(
    store: CorpusDocumentStore, statement: Statement, groups: list[str] | None, timeout: float, stage: str
) -> tuple[Rows, list[Degradation]]:
    """
    The rows of a statement, or none and why.

    A leg that runs past its time or meets an error of its own yields no rows and a note; the other legs go on. An
    unreachable database, a breach of isolation and a corpus that is not set up concern every leg, and are raised.

    :param groups: groups of the principal; ``None`` sees nothing.
    :param timeout: limit in seconds.
    :param stage: name of the leg, for the note.
    """
    try:
        return store.fetch(statement, groups=groups, timeout_ms=_milliseconds(timeout)), []
    except psycopg.Error as error:
        return [], [_note(stage, error, timeout)]


async def rows_of_async(
    store: CorpusDocumentStore, statement: Statement, groups: list[str] | None, timeout: float, stage: str
) -> tuple[Rows, list[Degradation]]:
    """As :func:`rows_of`, on the event loop."""
    try:
        return await store.fetch_async(statement, groups=groups, timeout_ms=_milliseconds(timeout)), []
    except psycopg.Error as error:
        return [], [_note(stage, error, timeout)]


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))


def _note(stage: str, error: psycopg.Error, timeout: float) -> Degradation:
    if isinstance(error, psycopg.errors.QueryCanceled):
        return {"stage": stage, "reason": f"took longer than {timeout:g} s"}
    lines = str(error).splitlines() or [type(error).__name__]
    return {"stage": stage, "reason": lines[0]}
