# SPDX-License-Identifier: Apache-2.0
"""Our metrics against sets of characters, and their corner cases."""

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
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
    touches,
    wrong_document_rate,
)
from pincite.bench.queries import Label
from pincite.response import Named

DOCS = st.sampled_from(["a.txt", "b.txt", "c.txt"])
RANGES = st.tuples(st.integers(0, 60), st.integers(1, 25)).map(lambda pair: (pair[0], pair[0] + pair[1]))
LABELS = st.lists(st.builds(lambda doc, r: Label(doc, *r), DOCS, RANGES), min_size=1, max_size=5)
HITS = st.lists(st.builds(lambda doc, r, n: Hit(f"{doc}#{n}", doc, *r), DOCS, RANGES, st.integers(0, 9)), max_size=8)


def characters(ranges: list[Label] | list[Hit]) -> set[tuple[str, int]]:
    found = set()
    for one in ranges:
        doc = one.doc if isinstance(one, Label) else one.source_id
        assert one.start is not None
        assert one.end is not None
        found |= {(doc, place) for place in range(one.start, one.end)}
    return found


@given(LABELS, HITS)
def test_span_metrics_are_those_of_character_sets(labels: list[Label], hits: list[Hit]) -> None:
    wanted, found = characters(labels), characters(hits)
    assert span_recall(labels, hits) == pytest.approx(len(wanted & found) / len(wanted))
    assert span_precision(labels, hits) == pytest.approx(len(wanted & found) / len(found) if found else 0.0)


@given(LABELS, HITS)
def test_a_relevant_span_shares_a_character(labels: list[Label], hits: list[Hit]) -> None:
    for hit in hits:
        assert touches(labels, hit) == bool(characters([hit]) & characters(labels))


@given(LABELS, HITS)
def test_document_metrics_are_those_of_sets(labels: list[Label], hits: list[Hit]) -> None:
    right = {label.doc for label in labels}
    assert documents_found(labels, hits) == len({hit.source_id for hit in hits} & right) / len(right)
    wrong = [hit for hit in hits if hit.source_id not in right]
    assert wrong_document_rate(labels, hits) == (len(wrong) / len(hits) if hits else 1.0)


@given(st.lists(st.floats(0, 1000), min_size=2, max_size=30))
def test_percentiles_are_those_of_the_standard_library(values: list[float]) -> None:
    hundredths = statistics.quantiles(values, n=100, method="inclusive")
    assert percentile(values, 0.5) == pytest.approx(hundredths[49], abs=1e-9)
    assert percentile(values, 0.95) == pytest.approx(hundredths[94], abs=1e-9)


def test_one_value_is_its_own_percentile() -> None:
    assert percentile([7.0], 0.95) == 7.0


def test_no_results_are_never_right() -> None:
    labels = [Label("a.txt", 0, 5)]
    assert right_document_first(labels, []) == 0.0
    assert span_recall(labels, []) == 0.0
    assert span_precision(labels, []) == 0.0
    assert wrong_document_rate(labels, []) == 1.0


@pytest.mark.parametrize(
    ("page", "page_end", "hits"),
    [(3, None, 1.0), (2, 3, 1.0), (4, 4, 1.0), (5, 6, 0.0), (1, 2, 0.0), (None, None, 0.0)],
)
def test_a_page_is_hit_by_a_span_that_touches_it(page: int | None, page_end: int | None, hits: float) -> None:
    label = Label("a.pdf", 0, 5, pages=(3, 4))
    assert page_hit([label], [Hit("x", "a.pdf", 90, 95, page, page_end)]) == hits
    assert page_hit([label], [Hit("x", "b.pdf", 90, 95, page, page_end)]) == 0.0


def named(*sources: str) -> Named:
    return {"matched": bool(sources), "sources": [{"source_id": s, "title": s, "intent": 0} for s in sources]}


def test_a_named_document_is_first_only_if_the_response_says_so() -> None:
    labels, hits = [Label("a.txt", 0, 5)], [Hit("x", "a.txt", 0, 5)]
    assert named_document_first(labels, hits, named("a.txt")) == 1.0
    assert named_document_first(labels, hits, named("b.txt", "a.txt")) == 1.0
    assert named_document_first(labels, hits, named("b.txt")) == 0.0
    assert named_document_first(labels, hits, named()) == 0.0
    assert named_document_first(labels, [Hit("y", "b.txt", 0, 5)], named("a.txt")) == 0.0


def test_a_promotion_is_false_when_no_promoted_document_is_labelled() -> None:
    assert false_promotion([], named("a.txt")) == 1.0
    assert false_promotion([], named()) == 0.0
    assert false_promotion([Label("a.txt")], named("b.txt")) == 1.0
    assert false_promotion([Label("a.txt")], named("b.txt", "a.txt")) == 0.0
