# SPDX-License-Identifier: Apache-2.0
"""Why each result stands where it stands, computed from what the stages gave: they carry no trace code (E1)."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

from haystack import Document, Pipeline
from haystack_integrations.components.pincite.reciprocal_rank_joiner import bonus_values
from pincite.pipeline_trace import JOINER, Outputs, Trace, searched_text, trace

BONUS = "bonus"
_CAP = "diversifier"
_ROUNDING = 1e-12


class LegHit(TypedDict):
    """A span in one leg: its rank, from 1, and the leg's own score (of no use beside those of other legs)."""

    rank: int
    score: float | None


class Fused(TypedDict):
    """
    The fused score and what it is made of.

    ``contributions``: per leg ``weight / (k + rank)``, and the ``bonus`` for a top rank, both times the scale that
    makes 1 the largest sum possible. ``math.fsum(contributions.values()) == score``, to the last bit: rounding is
    settled in the smallest of them.
    """

    score: float
    contributions: dict[str, float]


class Move(TypedDict):
    """A stage that changed a result's place, from 1; ``before`` is ``None`` for one that the stage brought in."""

    stage: str
    before: int | None
    after: int


class CappedSpan(TypedDict):
    """A candidate that the diversity cap dropped; ``position`` is the place that it had."""

    span_id: str
    source_id: str
    title: str
    position: int


class ResultExplanation(TypedDict):
    """
    One result. ``reserved``: the cutoff had left it out, and its title brought it back. ``recovered``: its rank inside
    its source, where best-extent recovery found it. ``promoted``: its document is the one that the query names.
    """

    rank: int
    span_id: str
    legs: dict[str, LegHit]
    fused: Fused
    reserved: bool
    recovered: int | None
    promoted: bool
    rerank_score: float | None
    positions: dict[str, int | None]
    moves: list[Move]


class StageFacts(TypedDict):
    """A stage of the run: documents received and given (``None`` where it takes or gives none), milliseconds."""

    stage: str
    received: int | None
    gave: int | None
    ms: float | None


class Explanation(TypedDict):
    """
    How a search came to its answer. ``texts``: what each searching stage searched for. ``capped``: what the cap dropped
    above the last result; ``capped_below``: how many more it would have dropped.
    """

    texts: dict[str, str]
    formula: str
    stages: list[StageFacts]
    results: list[ResultExplanation]
    capped: list[CappedSpan]
    capped_below: int


class _Weighing(NamedTuple):
    """What the fusion of this run multiplied ranks by."""

    weights: Mapping[str, float]
    k: int
    bonus: tuple[float, float]
    scale: float


def explain(pipeline: Pipeline, outputs: Outputs, timings: Mapping[str, float]) -> Explanation:
    """
    Explain a search.

    :param outputs: those of all components, as ``Service.observe`` gives them.
    :param timings: milliseconds by stage.
    """
    seen = trace(pipeline, outputs)
    places = {stage: _places(documents) for stage, documents in seen.line.items()}
    hits = {leg: _hits(documents) for leg, documents in seen.legs.items()}
    weighing = _weighing(pipeline, outputs)
    *_, results = seen.line.values()
    above, below = _capped(outputs, seen)
    return {
        "texts": _texts(pipeline, outputs, seen),
        "formula": _formula(weighing),
        "stages": _stages(pipeline, outputs, timings),
        "results": [_result(rank, document, hits, places, weighing) for rank, document in enumerate(results, 1)],
        "capped": above,
        "capped_below": below,
    }


def _formula(weighing: _Weighing) -> str:
    weights = ", ".join(f"{leg} {weight:g}" for leg, weight in weighing.weights.items())
    return f"sum of weight / ({weighing.k} + rank), times {weighing.scale:.6g}; weights: {weights}"


def _places(documents: Sequence[Document]) -> dict[str, int]:
    return {document.id: place for place, document in enumerate(documents, 1)}


def _hits(documents: Sequence[Document]) -> dict[str, LegHit]:
    hits: dict[str, LegHit] = {}
    for rank, document in enumerate(documents, 1):
        hits.setdefault(document.id, {"rank": rank, "score": document.score})
    return hits


def _weighing(pipeline: Pipeline, outputs: Outputs) -> _Weighing:
    joiner: Any = pipeline.get_component(JOINER)
    weights = {leg: weight for leg, weight in joiner.weights.items() if weight > 0} | joiner.later_weights
    return _Weighing(weights, joiner.k, bonus_values(joiner.bonus, joiner.k), outputs[JOINER]["scale"])


def _texts(pipeline: Pipeline, outputs: Outputs, seen: Trace) -> dict[str, str]:
    texts = {leg: searched_text(pipeline, outputs, sender) for leg, sender in seen.senders.items()}
    if outputs["recognizer"]["intents"]:
        names = " / ".join(intent["title_query"] for intent in outputs["recognizer"]["intents"])
        # A name that no source carries is looked up first; then the leg, like the others, takes the whole query.
        texts["title"] = names if outputs["title"]["matches"] else f"{names}, then {texts['title']}"
    if outputs["title"]["matches"]:
        texts["recovery"] = searched_text(pipeline, outputs, "recovery")
    if outputs["reranker"]["reranked"]:
        texts["reranker"] = searched_text(pipeline, outputs, "reranker")
    return {stage: text for stage, text in texts.items() if text is not None}


def _stages(pipeline: Pipeline, outputs: Outputs, timings: Mapping[str, float]) -> list[StageFacts]:
    facts: list[StageFacts] = []
    for stage in pipeline.graph.nodes:
        received = [
            len(outputs[sender][data["from_socket"].name])
            for sender, _, data in pipeline.graph.in_edges(stage, data=True)
            if _holds_documents(outputs[sender].get(data["from_socket"].name))
        ]
        gave = outputs[stage].get("documents")
        facts.append(
            {
                "stage": stage,
                "received": sum(received) if received else None,
                "gave": None if gave is None else len(gave),
                "ms": None if stage not in timings else round(timings[stage], 3),
            }
        )
    return facts


def _holds_documents(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Document)


def _capped(outputs: Outputs, seen: Trace) -> tuple[list[CappedSpan], int]:
    """What the cap dropped above the last result, and how many below it."""
    line = list(seen.line)
    before = seen.line[line[line.index(_CAP) - 1]]
    places = _places(before)
    reach = max((places[document.id] for document in seen.line[_CAP]), default=0)
    dropped = {span["id"] for span in outputs[_CAP]["dropped"]}
    above: list[CappedSpan] = [
        {
            "span_id": document.id,
            "source_id": str(document.meta.get("source_id")),
            "title": str(document.meta.get("title")),
            "position": places[document.id],
        }
        for document in before[:reach]
        if document.id in dropped
    ]
    return above, len(dropped) - len(above)


def _result(
    rank: int,
    document: Document,
    hits: Mapping[str, Mapping[str, LegHit]],
    places: Mapping[str, Mapping[str, int]],
    weighing: _Weighing,
) -> ResultExplanation:
    meta = document.meta
    reranked = meta.get("_score_kind") == "rerank"
    fused = (meta["_fused_score"] if reranked else document.score) or 0.0
    ranks: dict[str, int] = meta.get("_legs", {})
    positions = {stage: found.get(document.id) for stage, found in places.items()}
    return {
        "rank": rank,
        "span_id": document.id,
        "legs": {leg: found[document.id] for leg, found in hits.items() if document.id in found},
        "fused": {"score": fused, "contributions": _contributions(ranks, fused, weighing)},
        "reserved": bool(meta.get("_reserved")),
        "recovered": ranks.get("recovery"),
        "promoted": bool(meta.get("_promoted")),
        "rerank_score": document.score if reranked else None,
        "positions": positions,
        "moves": _moves(positions),
    }


def _moves(positions: Mapping[str, int | None]) -> list[Move]:
    moves: list[Move] = []
    before: int | None = None
    for stage, after in positions.items():
        if after is not None and after != before and stage != JOINER:
            moves.append({"stage": stage, "before": before, "after": after})
        before = after
    return moves


def _contributions(ranks: Mapping[str, int], total: float, weighing: _Weighing) -> dict[str, float]:
    """The parts of a fused score, whose sum is the score itself."""
    parts = {
        leg: weighing.scale * weighing.weights[leg] / (weighing.k + rank)
        for leg, rank in ranks.items()
        if leg in weighing.weights
    }
    best = min((rank for leg, rank in ranks.items() if leg != "recovery"), default=0)
    extra = weighing.bonus[0] if best == 1 else weighing.bonus[1] if best in (2, 3) else 0.0
    if extra:
        parts[BONUS] = weighing.scale * extra
    return _settled(parts, total)


def _settled(parts: dict[str, float], total: float) -> dict[str, float]:
    """
    The parts with the rounding of the fusion put into the smallest, so that ``math.fsum`` gives the total to the bit.

    The stages round at each step (a sum, a division, a second sum), so that separately rounded parts may miss the
    total by its last digits. The smallest has the finest digits: what is left over there is less than half of the
    total's last. A larger difference is no rounding, and stays to be seen.
    """
    missing = math.fsum([total, *(-part for part in parts.values())])
    if parts and abs(missing) < _ROUNDING:
        smallest = min(parts, key=parts.__getitem__)
        parts[smallest] += missing
    return parts
