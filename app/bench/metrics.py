# SPDX-License-Identifier: Apache-2.0
"""
Our metrics, for one question each; what they mean stands in the docstrings, and figures of a set are plain means.

Ranges are code points, half-open. Overlapping ranges of one document count once, among labels as among results.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pincite.bench.queries import Label

Ranges = dict[str, list[tuple[int, int]]]


class Hit(NamedTuple):
    """A result as metrics see it: its id, and where its text stands."""

    span_id: str
    source_id: str
    start: int
    end: int
    page: int | None = None
    page_end: int | None = None


def span_recall(labels: Sequence[Label], hits: Sequence[Hit]) -> float:
    """Share of the labelled characters that lie in the ranges of the results; 0..1. Labels must have ranges."""
    wanted = label_ranges(labels)
    return _overlap(wanted, hit_ranges(hits)) / _size(wanted)


def span_precision(labels: Sequence[Label], hits: Sequence[Hit]) -> float:
    """Share of the characters of the results that are labelled; 0..1, and 0 for no results."""
    found = hit_ranges(hits)
    return _overlap(label_ranges(labels), found) / _size(found) if hits else 0.0


def right_document_first(labels: Sequence[Label], hits: Sequence[Hit]) -> float:
    """1 if the first result comes from a labelled document, else 0; 0 for no results."""
    return float(bool(hits) and hits[0].source_id in {label.doc for label in labels})


def wrong_document_rate(labels: Sequence[Label], hits: Sequence[Hit]) -> float:
    """Share of the results that come from documents without a label; 0..1, and 1 for no results."""
    right = {label.doc for label in labels}
    return sum(hit.source_id not in right for hit in hits) / len(hits) if hits else 1.0


def documents_found(labels: Sequence[Label], hits: Sequence[Hit]) -> float:
    """Share of the labelled documents that have a result; 0..1. Below 1 where one of two named documents is missing."""
    right = {label.doc for label in labels}
    return len(right & {hit.source_id for hit in hits}) / len(right)


def page_hit(labels: Sequence[Label], hits: Sequence[Hit]) -> float:
    """
    1 if a result lies on a labelled page of its document, else 0.

    A span that runs over a page break lies on both pages, and a label of several pages is met by any of them.
    """
    return float(any(label.pages and _on_pages(hit, label.doc, label.pages) for hit in hits for label in labels))


def named_document_first(labels: Sequence[Label], hits: Sequence[Hit], named: Mapping[str, Any]) -> float:
    """
    1 if the response says that a labelled document is the one named, and the first result comes from one.

    A question whose name was not recognised counts as 0: on questions that name nothing this figure means nothing.

    :param named: ``named`` of the response (contract, "A search result").
    """
    right = {label.doc for label in labels}
    said = any(source["source_id"] in right for source in named["sources"])
    return float(bool(named["matched"]) and said and right_document_first(labels, hits) == 1.0)


def false_promotion(labels: Sequence[Label], named: Mapping[str, Any]) -> float:
    """
    1 if the response takes documents for the one named and none of them is labelled, else 0.

    For a question without labels any match is false: what it names is not there (N6).
    """
    right = {label.doc for label in labels}
    return float(bool(named["matched"]) and not any(source["source_id"] in right for source in named["sources"]))


def percentile(values: Sequence[float], share: float) -> float:
    """
    The value below which ``share`` of the values lie, by linear interpolation between neighbours.

    :param share: 0..1; 0.5 is the median.
    """
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def label_ranges(labels: Iterable[Label]) -> Ranges:
    """The labelled ranges of each document, merged; labels without a range have none."""
    return _merged((label.doc, label.start, label.end) for label in labels)


def hit_ranges(hits: Iterable[Hit]) -> Ranges:
    """The ranges of the results in each document, merged."""
    return _merged((hit.source_id, hit.start, hit.end) for hit in hits)


def touches(labels: Sequence[Label], hit: Hit) -> bool:
    """Whether a span shares a character with a labelled range of its document: what makes it a relevant span."""
    return any(
        label.doc == hit.source_id
        and label.start is not None
        and label.start < hit.end
        and hit.start < (label.end or 0)
        for label in labels
    )


def _share(label: Label, hit: Hit) -> bool:
    return label.start is not None and label.end is not None and label.start < hit.end and hit.start < label.end


def _on_pages(hit: Hit, doc: str, pages: tuple[int, int]) -> bool:
    if hit.source_id != doc or hit.page is None:
        return False
    return hit.page <= pages[1] and pages[0] <= (hit.page_end or hit.page)


def _merged(ranges: Iterable[tuple[str, int | None, int | None]]) -> Ranges:
    merged: Ranges = {}
    for doc, start, end in sorted((d, s, e) for d, s, e in ranges if s is not None and e is not None):
        held = merged.setdefault(doc, [])
        if held and start <= held[-1][1]:
            held[-1] = (held[-1][0], max(held[-1][1], end))
        else:
            held.append((start, end))
    return merged


def _size(ranges: Ranges) -> int:
    return sum(end - start for held in ranges.values() for start, end in held)


def _overlap(one: Ranges, other: Ranges) -> int:
    return sum(
        max(0, min(end, other_end) - max(start, other_start))
        for doc, held in one.items()
        for start, end in held
        for other_start, other_end in other.get(doc, [])
    )
