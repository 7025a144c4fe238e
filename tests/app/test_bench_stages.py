# SPDX-License-Identifier: Apache-2.0
"""Where an answer is lost: each way of losing one, planted."""

from typing import Any

import pytest
from haystack import Document
from pincite.bench.queries import Label
from pincite.bench.stages import (
    BELOW,
    CAPPED,
    CUT,
    MAIN_LINE,
    NOT_FOUND,
    lost_source,
    lost_span,
    lost_summary,
    stage_summary,
    stage_views,
)
from pincite.service import LEGS

LABELS = [Label("right.txt", 100, 200)]


def span(name: str, source: str = "right.txt", start: int = 150) -> Document:
    meta = {"source_id": source, "start": start, "end": start + 100, "page": None, "page_end": None}
    return Document(id=name, content="x", meta=meta)


ANSWER, ELSEWHERE, OTHER = span("answer"), span("elsewhere", start=900), span("other", "wrong.txt")


def outputs(held: dict[str, list[Document]], dropped: list[str] | None = None) -> dict[str, Any]:
    """Outputs of a run in which each stage holds what ``held`` says, and one wrong span besides."""
    found: dict[str, Any] = {stage: {"documents": [OTHER, *held.get(stage, [])]} for stage in (*LEGS, *MAIN_LINE)}
    found["diversifier"]["dropped"] = [{"id": name, "source_id": "right.txt"} for name in dropped or []]
    return found


def until(stage: str) -> list[str]:
    return ["lexical", *MAIN_LINE[: MAIN_LINE.index(stage)]]


@pytest.mark.parametrize(
    ("stages", "dropped", "lost"),
    [
        ([], None, NOT_FOUND),
        (["dense"], None, CUT),
        (until("reservation"), None, "in reservation"),
        (until("named"), None, "in named"),
        (until("diversifier"), ["answer"], CAPPED),
        (until("diversifier"), [], BELOW),
        (until("attribution"), None, "in attribution"),
        (["recovery"], None, "in parents"),  # brought in late, and lost again
        (["lexical", *MAIN_LINE], None, None),
    ],
)
def test_each_way_of_losing_an_answer(stages: list[str], dropped: list[str] | None, lost: str | None) -> None:
    run = outputs({stage: [ANSWER] for stage in stages}, dropped)
    views = stage_views(LABELS, run)
    assert lost_span(views, LABELS, run) == lost
    assert lost_source(views, LABELS, run) == lost


def test_the_source_may_arrive_without_the_span() -> None:
    run = outputs({stage: [ELSEWHERE] for stage in ("title", *MAIN_LINE)})
    views = stage_views(LABELS, run)
    assert lost_source(views, LABELS, run) is None
    assert lost_span(views, LABELS, run) == NOT_FOUND


def test_a_stage_is_judged_by_all_that_it_holds() -> None:
    view = stage_views(LABELS, outputs({"dense": [ELSEWHERE, ANSWER]}))["dense"]
    assert (view.source, view.span, view.characters, view.count) == (True, True, 0.5, 3)


def test_summaries_are_shares() -> None:
    found = stage_views(LABELS, outputs({"title": [ANSWER]}))
    missed = stage_views(LABELS, outputs({}))
    summary = stage_summary([found, missed])
    assert tuple(summary) == ("title", "dense", "lexical", *MAIN_LINE)
    assert summary["title"] == {"source_recall": 0.5, "span_recall": 0.5, "characters": 0.25, "spans": 1.5}
    assert lost_summary([None, CUT, NOT_FOUND, CUT]) == {CUT: 2, NOT_FOUND: 1}
