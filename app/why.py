# SPDX-License-Identifier: Apache-2.0
"""Follows one document through a search and says where it was lost, and what would have kept it (E2)."""

from collections.abc import Mapping
from typing import Any

from haystack import Pipeline
from pincite.why_answer import Change, Step, WhyAnswer
from pincite.why_presence import Absence, filter_step, presence
from pincite.why_remedies import obstacle, remedies
from pincite.why_run import Run, Target
from pincite.why_steps import steps


def why(pipeline: Pipeline, request: Mapping[str, Any], source_id: str, span_id: str | None = None) -> WhyAnswer:
    """
    Why a document, or one span of it, is where it is in the answer, or not in it.

    :param pipeline: a query pipeline, warmed up.
    :param request: the inputs of its component ``request``.
    :param source_id: the document.
    :param span_id: one span of it; ``None`` asks for its best.
    :raises PinciteError: bad input, configuration or database.
    """
    run = Run(pipeline, request)
    found = presence(run, source_id, span_id)
    if isinstance(found, Absence):
        step: Step = {"stage": "corpus", "outcome": "out", "rank": None, "of": None, "text": found.reason}
        answer = _answer(run, source_id, span_id)
        answer |= {"title": found.title, "lost_at": "corpus", "reason": found.reason}
        answer |= {"steps": [step], "remedies": found.remedies}
        return answer
    return _followed(run, *found)


def _followed(run: Run, target: Target, facts: dict[str, Any]) -> WhyAnswer:
    count = len(facts["ids"])
    here: Step = {
        "stage": "corpus",
        "outcome": "in",
        "rank": None,
        "of": None,
        "text": f"there, with {count} searchable passage{'' if count == 1 else 's'}",
    }
    answer = _answer(run, target.source_id, target.ids[0] if target.one_span else None)
    filtered = filter_step(run, target, facts)
    if filtered["outcome"] == "out":
        change: Change = {"parameter": "filters", "value": None, "text": "leave out that --filter or --scope"}
        answer |= {"lost_at": "filters", "reason": filtered["text"], "steps": [here, filtered], "passes_with": change}
        answer |= {"remedies": [{"changes": [change], "rank": None}]}
        answer |= {"title": target.title}
        return answer
    answer |= {"title": target.title, "steps": [here, filtered, *steps(run, target, facts)]}
    stopped = obstacle(run, target)
    if stopped is None:
        rank = run.rank(target)
        answer |= {"rank": rank, "reason": f"it is result {rank}"}
        return answer
    mends, note = remedies(run, target)
    answer |= {"lost_at": stopped.stage, "reason": stopped.reason, "passes_with": stopped.passes_with}
    answer |= {"remedies": mends, "note": note}
    return answer


def _answer(run: Run, source_id: str, span_id: str | None) -> WhyAnswer:
    """An answer that says nothing yet."""
    return {
        "corpus": run.store.corpus,
        "query": str(run.outputs["request"]["query"]),
        "source_id": source_id,
        "title": None,
        "span_id": span_id,
        "rank": None,
        "lost_at": None,
        "reason": "",
        "steps": [],
        "passes_with": None,
        "remedies": [],
        "note": None,
    }
