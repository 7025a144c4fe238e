# SPDX-License-Identifier: Apache-2.0
"""Asks every question of a set and turns the answers into figures: per question, per backend and for the whole set."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.errors import BadInputError
from pincite.bench.backends import FULL, Answer, Asking, answers, every_span
from pincite.bench.corpus_facts import CorpusFacts, facts, foreign_spans, located
from pincite.bench.ir_metrics import UNITS, Qrels, Run, Scores, Unit, first_places, scores
from pincite.bench.metrics import (
    Hit,
    documents_found,
    false_promotion,
    named_document_first,
    page_hit,
    percentile,
    right_document_first,
    span_precision,
    span_recall,
    wrong_document_rate,
)
from pincite.bench.queries import Label, Query
from pincite.bench.stages import StageView, lost_source, lost_span, lost_summary, stage_summary, stage_views
from pincite.pipelines.corpora import load_corpora
from pincite.response import Named
from pincite.service import Service

Tick = Callable[[int, str], None]
"""Told after each question: how many are done, and the id of the last."""


@dataclass(slots=True)
class Measured:
    """One question and what one backend made of it."""

    query: Query
    hits: list[Hit]
    figures: dict[str, float]
    milliseconds: float
    named: Named | None
    views: dict[str, StageView] = field(default_factory=dict)
    lost_source: str | None = None
    lost_span: str | None = None


@dataclass(slots=True)
class BackendReport:
    """What one backend made of all questions."""

    backend: str
    measured: list[Measured]
    qrels: dict[Unit, Qrels]
    runs: dict[Unit, Run]
    scores: dict[Unit, Scores]

    def figures(self) -> dict[str, float]:
        """Each of our metrics: its mean over the questions that it applies to; and latency in milliseconds."""
        return {**mean_figures(one.figures for one in self.measured), **latency(self.measured)}

    def applies_to(self) -> dict[str, int]:
        """How many questions each of our metrics applies to."""
        return {name: sum(name in one.figures for one in self.measured) for name in mean_figures_names(self.measured)}


@dataclass(slots=True)
class SetReport:
    """A measured set of questions: per backend its report, and the spans that no search should have seen."""

    asking: Asking
    backends: dict[str, BackendReport]
    foreign: set[str]
    unstored_labels: int


def measure(
    service: Service,
    asking: Asking,
    queries: Sequence[Query],
    *,
    backends: Sequence[str] = (FULL,),
    measures: Sequence[Any] = (),
    tick: Tick = lambda done, name: None,
) -> SetReport:
    """
    Ask all questions and measure the answers.

    :param measures: of ``ir_measures``; see :func:`pincite.bench.ir_metrics.parsed_measures`.
    :raises BadInputError: no questions, or a label whose document the corpus lacks.
    :raises QueryFailedError: a question that failed. Nothing is measured then.
    """
    if not queries:
        raise BadInputError("there is no question to ask; nothing can be measured")
    store = CorpusDocumentStore(asking.corpus)
    questions = located(store, queries)
    known = facts(store, questions)
    # Once before the clock runs: models are read and connections opened by the first search.
    answers(service, asking, questions[0], backends)
    measured: dict[str, list[Measured]] = {backend: [] for backend in backends}
    seen: set[str] = set()
    for number, query in enumerate(questions, start=1):
        for backend, answer in answers(service, asking, query, backends).items():
            measured[backend].append(judged(query, answer, asking.k, known))
            seen.update(every_span(answer.outputs or {}), (hit.span_id for hit in answer.hits))
        tick(number, query.id)
    groups = None if asking.principal is None else list(load_corpora().principal(asking.principal).groups)
    return SetReport(
        asking,
        {backend: backend_report(backend, rows, known, measures) for backend, rows in measured.items()},
        foreign_spans(store, seen, groups),
        unstored(known, questions),
    )


def judged(query: Query, answer: Answer, k: int, known: CorpusFacts) -> Measured:
    """One answer, measured; stages only where the answer has their outputs."""
    hits = answer.hits[:k]
    figures = query_figures(query.labels, hits, answer.named, k, known)
    one = Measured(query, hits, figures, answer.milliseconds, answer.named)
    ranges = _with_ranges(query.labels)
    if answer.outputs is not None and ranges:
        one.views = stage_views(ranges, answer.outputs)
        one.lost_source = lost_source(one.views, ranges, answer.outputs)
        one.lost_span = lost_span(one.views, ranges, answer.outputs)
    return one


def query_figures(
    labels: Sequence[Label], hits: Sequence[Hit], named: Named | None, k: int, known: CorpusFacts
) -> dict[str, float]:
    """
    Our metrics for one question, those that apply to it.

    Without labels only ``false_promotions`` does; span metrics need labelled ranges, ``page_hit`` labelled pages and
    a document that has pages. A leg names no documents (``named`` is ``None``).
    """
    figures = {} if named is None else {"false_promotions": false_promotion(labels, named)}
    if not labels:
        return figures
    figures["right_document@1"] = right_document_first(labels, hits)
    if named is not None:
        figures["named_document@1"] = named_document_first(labels, hits, named)
    figures[f"documents_found@{k}"] = documents_found(labels, hits)
    figures[f"wrong_documents@{k}"] = wrong_document_rate(labels, hits)
    if ranges := _with_ranges(labels):
        figures[f"span_recall@{k}"] = span_recall(ranges, hits)
        figures[f"span_precision@{k}"] = span_precision(ranges, hits)
    if paged := [label for label in labels if label.pages and known.has_pages(label.doc)]:
        figures[f"page_hit@{k}"] = page_hit(paged, hits)
    return figures


def backend_report(
    backend: str, measured: list[Measured], known: CorpusFacts, measures: Sequence[Any]
) -> BackendReport:
    """Judgements, run and the scores of ``ir_measures`` for one backend's answers."""
    labelled = [one for one in measured if one.query.labels]
    ranged = [one for one in measured if _with_ranges(one.query.labels)]
    qrels: dict[Unit, Qrels] = {
        "document": {one.query.id: one.query.documents for one in labelled},
        "span": {one.query.id: known.relevant_spans(_with_ranges(one.query.labels)) for one in ranged},
    }
    runs: dict[Unit, Run] = {
        "document": {one.query.id: first_places([hit.source_id for hit in one.hits]) for one in measured},
        "span": {one.query.id: first_places([hit.span_id for hit in one.hits]) for one in measured},
    }
    scored = {unit: scores(measures, qrels[unit], runs[unit]) for unit in UNITS if measures and qrels[unit]}
    return BackendReport(backend, measured, qrels, runs, scored)


def mean_figures(rows: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Each figure's mean over the rows that have it, in the order in which they first appear."""
    held: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.items():
            held.setdefault(name, []).append(value)
    return {name: sum(values) / len(values) for name, values in held.items()}


def mean_figures_names(measured: Iterable[Measured]) -> list[str]:
    """Names of our metrics that apply to at least one question."""
    return list(dict.fromkeys(name for one in measured for name in one.figures))


def latency(measured: Sequence[Measured]) -> dict[str, float]:
    """Milliseconds of a question: ``p50_ms`` and ``p95_ms``."""
    times = [one.milliseconds for one in measured if one.milliseconds]
    if not times:  # a run of another system: nobody timed it
        return {}
    return {"p50_ms": percentile(times, 0.5), "p95_ms": percentile(times, 0.95)}


def stages_of(report: BackendReport) -> dict[str, Any]:
    """Per-stage recall and where answers were lost; empty where the stages were not seen."""
    seen = [one for one in report.measured if one.views]
    if not seen:
        return {}
    return {
        "recall": stage_summary([one.views for one in seen]),
        "lost_sources": lost_summary(one.lost_source for one in seen),
        "lost_spans": lost_summary(one.lost_span for one in seen),
        "queries": len(seen),
    }


def unstored(known: CorpusFacts, queries: Iterable[Query]) -> int:
    """How many labelled ranges no stored span touches."""
    return sum(known.unstored(_with_ranges(query.labels)) for query in queries)


def _with_ranges(labels: Sequence[Label]) -> list[Label]:
    return [label for label in labels if label.start is not None]
