# SPDX-License-Identifier: Apache-2.0
"""One call of a Haystack ranker within a time limit, with a check of what it answers."""

import asyncio
import copy
import functools
import inspect
import itertools
import math
import numbers
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any

from haystack import Document
from haystack.core.component import Component
from haystack_integrations.components.pincite.ranking.given_up import watched_context

# Span ids with their scores, best first.
Ranking = list[tuple[str, float]]


class RankerOverdueError(Exception):
    """A ranker that did not answer within its time. Not ``TimeoutError``: the ranker itself may raise that."""


class RankerDiedError(Exception):
    """A ranker that ended in the middle of its work: what did its work was killed, or it left its thread."""


class UnusableRankingError(Exception):
    """A ranker's answer that is no ranking of what it was given."""


def rank(
    ranker: Component, query: str, documents: list[Document], timeout: float, accept_fewer: bool = False
) -> Ranking:
    """
    Ids and scores that the ranker gives to the documents, in its order.

    :param timeout: seconds. A ranker that does not answer in time is left behind in its thread.
    :param accept_fewer: see :func:`scores_of`.
    :raises RankerOverdueError: no answer in time.
    :raises RankerDiedError: it ended without an answer.
    :raises UnusableRankingError: see :func:`scores_of`.
    """
    future, left = _start_thread(ranker, query, documents)
    try:
        wait({future}, timeout)
        if not future.done():
            raise RankerOverdueError
    finally:
        left.set()
    return scores_of(future.result(), documents, accept_fewer)


async def rank_async(
    ranker: Component, query: str, documents: list[Document], timeout: float, accept_fewer: bool = False
) -> Ranking:
    """As :func:`rank`, on the event loop where the ranker has ``run_async``, otherwise in a thread."""
    if run_async := getattr(ranker, "run_async", None):
        task = asyncio.ensure_future(run_async(**_arguments(ranker, query, documents)))
        return scores_of(await _within(task, timeout), documents, accept_fewer)
    future, left = _start_thread(ranker, query, documents)
    try:
        return scores_of(await _within(asyncio.wrap_future(future), timeout), documents, accept_fewer)
    finally:
        left.set()


def scores_of(answer: Any, documents: list[Document], accept_fewer: bool = False) -> Ranking:
    """
    Ids and scores in the ranker's order; equal scores that stand together are in the order of ``documents``.

    :param accept_fewer: whether the ranker may return a part of what it was given, as one with a threshold does.
    :raises UnusableRankingError: nothing, too few, strangers or twins returned, or a score missing or no number.
    """
    if not isinstance(answer, dict) or not isinstance(answer.get("documents"), list) or not answer["documents"]:
        raise UnusableRankingError("no documents")
    place = {document.id: index for index, document in enumerate(documents)}
    scores: dict[str, float] = {}
    for document in answer["documents"]:
        if document.id not in place:
            raise UnusableRankingError("a document that it was not given")
        if document.id in scores:
            raise UnusableRankingError("a document twice")
        if not isinstance(document.score, numbers.Real) or not math.isfinite(document.score):
            raise UnusableRankingError("a score that is no number")
        scores[document.id] = float(document.score)
    if len(scores) < len(documents) and not accept_fewer:
        raise UnusableRankingError(f"{len(scores)} scores for {len(documents)} documents")
    ties = itertools.groupby(scores.items(), key=lambda pair: pair[1])
    return [pair for _, tied in ties for pair in sorted(tied, key=lambda pair: place[pair[0]])]


def _arguments(ranker: Component, query: str, documents: list[Document]) -> dict[str, Any]:
    # Stock rankers return ten unless told otherwise, and those that rank by metadata take no query.
    offered = {"query": query, "top_k": len(documents)}
    accepted = inspect.signature(ranker.run).parameters
    copies = [_copy(document) for document in documents]
    return {"documents": copies, **{name: value for name, value in offered.items() if name in accepted}}


def _copy(document: Document) -> Document:
    # Some rankers write scores into what they get, and our spans are shared by all stages.
    meta = {key: copy.deepcopy(value) for key, value in document.meta.items() if not key.startswith("_")}
    return Document(id=document.id, content=document.content, blob=document.blob, meta=meta, score=document.score)


def _start_thread(ranker: Component, query: str, documents: list[Document]) -> tuple["Future[Any]", threading.Event]:
    # No pool: the interpreter waits for a pool's threads when it exits, and one that hangs would keep it.
    future: Future[Any] = Future()
    call = functools.partial(ranker.run, **_arguments(ranker, query, documents))
    context, left = watched_context()
    threading.Thread(target=context.run, args=(_settle, future, call), name="pincite-ranker", daemon=True).start()
    return future, left


def _settle(future: "Future[Any]", call: Callable[[], Any]) -> None:
    # Once running the future cannot be cancelled, so that a caller who leaves does not make the thread fail.
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(call())
    except Exception as error:
        future.set_exception(error)
    except BaseException as error:
        # SystemExit, for one: raised by the waiting search it would end the whole process.
        future.set_exception(RankerDiedError(type(error).__name__))


async def _within(task: "asyncio.Future[Any]", timeout: float) -> Any:
    # Not `wait_for`: that one waits on for a task that does not heed its cancellation.
    try:
        await asyncio.wait({task}, timeout=timeout)
        if not task.done():
            raise RankerOverdueError
        if task.cancelled():  # by itself: were it the search, this coroutine would have been cancelled
            raise RankerDiedError("cancelled")
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            task.add_done_callback(_let_go)


def _let_go(task: "asyncio.Future[Any]") -> None:
    # asyncio complains of an exception that nobody looked at.
    if not task.cancelled():
        task.exception()
