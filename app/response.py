# SPDX-License-Identifier: Apache-2.0
"""What a search answers: the shape of the contract, made from the outputs of a pipeline run."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from haystack import Document
from haystack_integrations.components.pincite.intents import Degradation, Intent, NamedSource
from haystack_integrations.document_stores.pincite.spans import RESERVED_META, Extent, Locator

if TYPE_CHECKING:
    from pincite.explain import Explanation


class Named(TypedDict):
    """Whether a document that the query names is here, and which (N10)."""

    matched: bool
    sources: list[NamedSource]


class SearchResult(TypedDict):
    """One passage. ``text == source_text[locator.start:locator.end]``; ``score_kind`` is ``fused`` or ``rerank``."""

    rank: int
    corpus: str
    span_id: str
    source_id: str
    title: str
    kind: str
    text: str
    score: float
    score_kind: str
    locator: Locator
    parent: Extent | None
    meta: dict[str, Any]


class SearchResponse(TypedDict):
    """The answer of command line, Service, REST and MCP (contract, "A search result")."""

    corpus: str
    query: str
    intents: list[Intent]
    topic_query: str
    named: Named
    reranked: bool
    rerank_reason: str | None
    degraded: list[Degradation]
    tag_contexts: dict[str, str]
    timings_ms: dict[str, float]
    results: list[SearchResult]
    explain: NotRequired["Explanation"]


# Stages whose outputs make the answer.
OBSERVED = {
    "request",
    "recognizer",
    "title",
    "text_embedder",
    "dense",
    "lexical",
    "recovery",
    "reranker",
    "named",
    "attribution",
}
_NOTING = ("title", "text_embedder", "dense", "lexical", "recovery")


def search_response(
    corpus: str, query: str, outputs: dict[str, dict[str, Any]], timings: dict[str, float], total_ms: float
) -> SearchResponse:
    """
    The answer from the outputs of the observed stages.

    :param outputs: per component its outputs, as ``Pipeline.run(include_outputs_from=OBSERVED)`` gives them.
    :param timings: milliseconds per stage.
    :param total_ms: of the whole run.
    """
    # Only an embedder that may fail says whether it did.
    degraded = [note for stage in _NOTING if stage in outputs for note in outputs[stage].get("degraded", [])]
    return {
        "corpus": corpus,
        "query": outputs["request"]["query"] if "request" in outputs else query,
        "intents": outputs["recognizer"]["intents"],
        "topic_query": outputs["recognizer"]["topic_query"],
        "named": outputs["named"]["named"],
        "reranked": outputs["reranker"]["reranked"],
        "rerank_reason": outputs["reranker"]["rerank_reason"],
        "degraded": degraded,
        "tag_contexts": {},
        "timings_ms": {"total": round(total_ms, 3)} | {stage: round(ms, 3) for stage, ms in timings.items()},
        "results": [
            result_of(rank, document) for rank, document in enumerate(outputs["attribution"]["documents"], start=1)
        ],
    }


def shown_meta(meta: Mapping[str, Any]) -> dict[str, Any]:
    """What a result says of its source: the reserved keys that are set, and of a rule what it holds."""
    keys = [key for key in (*RESERVED_META, "statement") if key != "title"]
    return {key: meta[key] for key in keys if meta.get(key) not in (None, "", [])}


def result_of(rank: int, document: Document) -> SearchResult:
    """A span as the contract gives it."""
    meta = document.meta
    return {
        "rank": rank,
        "corpus": meta["corpus"],
        "span_id": document.id,
        "source_id": meta["source_id"],
        "title": meta["title"],
        "kind": meta["kind"],
        "text": document.content or "",
        "score": document.score or 0.0,
        "score_kind": meta.get("_score_kind", "fused"),
        "locator": {
            "page": meta["page"],
            "page_end": meta["page_end"],
            "start": meta["start"],
            "end": meta["end"],
            "section": meta["section"],
            "quote": meta["quote"],
        },
        "parent": meta.get("parent"),
        "meta": shown_meta(meta),
    }
