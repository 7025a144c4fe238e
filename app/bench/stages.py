# SPDX-License-Identifier: Apache-2.0
"""Where in the pipeline an answer is found, and where it is lost: read from what the stages gave, none is run again."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from haystack import Document
from pincite.bench.metrics import Hit, label_ranges, span_recall, touches
from pincite.bench.queries import Label
from pincite.pipelines.loader import STAGES
from pincite.service import LEGS

_FIRST_JOINT = "joiner"
MAIN_LINE = STAGES["query"][STAGES["query"].index(_FIRST_JOINT) :]
"""The stages that one list of candidates passes through, in order."""

NOT_FOUND = "not found by any leg"
CUT = "cut by the fusion"
CAPPED = "over the cap of its source"
BELOW = "below the results asked for"

Outputs = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class StageView:
    """
    What one stage gave, judged by the labels.

    ``source``: a labelled document is among it; ``span``: a span that touches a labelled range; ``characters``: share
    of the labelled characters that the whole list covers; ``count``: how many spans it holds.
    """

    source: bool
    span: bool
    characters: float
    count: int


def hits_of(documents: Iterable[Document]) -> list[Hit]:
    """The spans of a stage's list, as metrics see them."""
    return [
        Hit(d.id, d.meta["source_id"], d.meta["start"], d.meta["end"], d.meta["page"], d.meta["page_end"])
        for d in documents
        if d.meta["start"] is not None
    ]


def stage_views(labels: Sequence[Label], outputs: Outputs) -> dict[str, StageView]:
    """Each leg and each stage of the main line, in the order of the pipeline, judged by the labels."""
    present = [stage for stage in STAGES["query"] if stage in LEGS or stage in MAIN_LINE]
    return {stage: _view(labels, hits_of(outputs[stage]["documents"])) for stage in present}


def lost_source(views: Mapping[str, StageView], labels: Sequence[Label], outputs: Outputs) -> str | None:
    """The stage at which the labelled documents were lost, or ``None`` when one is among the results."""
    right = {label.doc for label in labels}
    return _lost(views, outputs, lambda view: view.source, lambda hit: hit.source_id in right)


def lost_span(views: Mapping[str, StageView], labels: Sequence[Label], outputs: Outputs) -> str | None:
    """The stage at which the labelled ranges were lost, or ``None`` when a result touches one."""
    return _lost(views, outputs, lambda view: view.span, lambda hit: touches(labels, hit))


def stage_summary(views: Sequence[Mapping[str, StageView]]) -> dict[str, dict[str, float]]:
    """Per stage, over the questions: shares that have the right source and span, mean coverage, mean list length."""
    return {
        stage: {
            "source_recall": _mean(view[stage].source for view in views),
            "span_recall": _mean(view[stage].span for view in views),
            "characters": _mean(view[stage].characters for view in views),
            "spans": _mean(view[stage].count for view in views),
        }
        for stage in (views[0] if views else {})
    }


def lost_summary(losses: Iterable[str | None]) -> dict[str, int]:
    """How many answers were lost at each stage, the most first."""
    return dict(Counter(loss for loss in losses if loss is not None).most_common())


def _view(labels: Sequence[Label], hits: Sequence[Hit]) -> StageView:
    right = {label.doc for label in labels}
    return StageView(
        source=any(hit.source_id in right for hit in hits),
        span=any(touches(labels, hit) for hit in hits),
        characters=span_recall(labels, hits) if label_ranges(labels) else 0.0,
        count=len(hits),
    )


def _lost(
    views: Mapping[str, StageView],
    outputs: Outputs,
    has: Callable[[StageView], bool],
    is_right: Callable[[Hit], bool],
) -> str | None:
    if has(views[MAIN_LINE[-1]]):
        return None
    # A stage may bring in what an earlier one lacked (reservation, recovery): the last one that had it counts.
    held = [place for place, stage in enumerate(MAIN_LINE) if has(views[stage])]
    if not held:
        return CUT if any(has(views[leg]) for leg in LEGS) else NOT_FOUND
    after = MAIN_LINE[held[-1] + 1]
    if after != "diversifier":
        return f"in {after}"
    capped = {span["id"] for span in outputs["diversifier"]["dropped"]}
    right = [hit for hit in hits_of(outputs[MAIN_LINE[held[-1]]]["documents"]) if is_right(hit)]
    return CAPPED if all(hit.span_id in capped for hit in right) else BELOW


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)
