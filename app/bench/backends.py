# SPDX-License-Identifier: Apache-2.0
"""
Asking a question of the pipeline, and reading the answer as each backend would have given it.

No backend is a pipeline of its own. ``full`` is the search that users get; ``hybrid`` the same without the
named-instrument policy; ``dense``, ``lexical`` and ``title`` are the lists that these legs contributed to ``full``.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from haystack_integrations.document_stores.pincite.errors import PinciteError
from pincite.bench.metrics import Hit
from pincite.bench.queries import Query
from pincite.bench.stages import Outputs, hits_of
from pincite.response import Named, SearchResponse
from pincite.service import LEGS, Service

FULL, HYBRID = "full", "hybrid"
BACKENDS = ("lexical", "dense", "title", HYBRID, FULL)


class QueryFailedError(PinciteError):
    """A question of the set could not be asked, or not by all legs: the figures would measure something else."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How the questions are asked: of whom, by whom, and how many results."""

    corpus: str
    k: int = 10
    principal: str | None = None
    names: bool = True
    rerank: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """
    What one backend answered.

    ``named`` is ``None`` for a leg, which says nothing of it. ``milliseconds``: of the whole search, or of the leg's
    own stage. ``outputs``: of every stage, for ``full`` only.
    """

    hits: list[Hit]
    named: Named | None
    milliseconds: float
    outputs: Outputs | None = None


def answers(service: Service, asking: Asking, query: Query, backends: Collection[str]) -> dict[str, Answer]:
    """
    The answers of the backends to one question: one search for ``full`` and all legs, one more for ``hybrid``.

    :raises QueryFailedError: the search failed, or a stage was degraded; with the exit status of the cause.
    """
    found: dict[str, Answer] = {}
    if set(backends) - {HYBRID}:
        response, outputs = observed(service, asking, query, names=asking.names)
        timings = response["timings_ms"]
        found[FULL] = Answer(_results(response), response["named"], timings["total"], outputs)
        for leg in LEGS:
            found[leg] = Answer(hits_of(outputs[leg]["documents"])[: asking.k], None, timings[leg])
    if HYBRID in backends:
        response, _ = observed(service, asking, query, names=False)
        found[HYBRID] = Answer(_results(response), response["named"], response["timings_ms"]["total"])
    return {backend: found[backend] for backend in backends}


def observed(service: Service, asking: Asking, query: Query, *, names: bool) -> tuple[SearchResponse, Outputs]:
    """
    One search with what every stage gave.

    :raises QueryFailedError: see :func:`answers`.
    """
    try:
        response, outputs = service.observe(
            asking.corpus,
            query.text,
            principal=asking.principal,
            top_k=asking.k,
            names=names,
            rerank=asking.rerank,
        )
    except PinciteError as error:
        failed = QueryFailedError(f"query '{query.id}' failed: {error}")
        failed.exit_status = error.exit_status
        raise failed from error
    for note in response["degraded"]:
        raise QueryFailedError(f"query '{query.id}' was answered without '{note['stage']}': {note['reason']}")
    return response, outputs


def every_span(outputs: Outputs) -> set[str]:
    """Ids of all spans that any stage of a search held."""
    return {document.id for output in outputs.values() for document in _documents(output)}


def _documents(output: Mapping[str, Any]) -> Sequence[Any]:
    listed = output.get("documents")
    return listed if isinstance(listed, list) else []


def _results(response: SearchResponse) -> list[Hit]:
    return [
        Hit(
            result["span_id"],
            result["source_id"],
            result["locator"]["start"],
            result["locator"]["end"],
            result["locator"]["page"],
            result["locator"]["page_end"],
        )
        for result in response["results"]
    ]
