# SPDX-License-Identifier: Apache-2.0
"""Cuts the text of sources into spans that can be pinned: exact offsets, page, section and parent extent."""

from bisect import bisect_left, bisect_right
from itertools import pairwise
from typing import Any, NamedTuple

from haystack import Document, component, default_from_dict, default_to_dict
from haystack_integrations.components.pincite.reading.boundaries import cheapest, find_cuts
from haystack_integrations.components.pincite.reading.sections import (
    Heading,
    Section,
    find_headings,
    governing,
    place_name,
    sections_of,
)
from haystack_integrations.document_stores.pincite.errors import ConfigurationError
from haystack_integrations.document_stores.pincite.spans import SpanDocument


class _Extent(NamedTuple):
    start: int
    end: int


@component
class SpanSplitter:
    """
    Splits each source into spans with ``text == source_text[start:end]``, in code points (I3, S2).

    Spans cover everything that is not blank, do not overlap unless told to, and end where the text ends something: a
    section, a paragraph, a sentence, a clause, a word, in this order of preference. Short sections share a span.
    Time is linear in the length of the text, whatever it holds.

    :param max_characters: Most characters of a span (contract: 1,200).
    :param target_characters: A shorter span costs the more the more it lacks to this; default: the maximum.
    :param overlap_characters: Characters of the span before that a span repeats at most.
    :param parent_characters: Most characters of a parent, the part of a section around a span.
    """

    def __init__(
        self,
        max_characters: int = 1200,
        target_characters: int | None = None,
        overlap_characters: int = 0,
        parent_characters: int = 6000,
    ) -> None:
        self.max_characters = max_characters
        self.target_characters = target_characters
        self.overlap_characters = overlap_characters
        self.parent_characters = parent_characters
        self._check()

    def _check(self) -> None:
        if self.max_characters < 24:
            raise ConfigurationError(f"SpanSplitter: max_characters is {self.max_characters}; at least 24 is needed")
        if not 0 < (self.target_characters or self.max_characters) <= self.max_characters:
            raise ConfigurationError(
                f"SpanSplitter: target_characters is {self.target_characters}; it must be 1 to {self.max_characters}"
            )
        if not 0 <= self.overlap_characters <= self.max_characters // 2:
            raise ConfigurationError(
                f"SpanSplitter: overlap_characters is {self.overlap_characters}; "
                f"it must be 0 to {self.max_characters // 2}"
            )
        if self.parent_characters < self.max_characters:
            raise ConfigurationError(
                f"SpanSplitter: parent_characters is {self.parent_characters}; "
                f"it must be at least max_characters ({self.max_characters})"
            )

    def to_dict(self) -> dict[str, Any]:
        """Constructor arguments for YAML."""
        return default_to_dict(
            self,
            max_characters=self.max_characters,
            target_characters=self.target_characters,
            overlap_characters=self.overlap_characters,
            parent_characters=self.parent_characters,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "SpanSplitter":
        """Rebuild from :meth:`to_dict`."""
        return default_from_dict(cls, data)

    @component.output_types(documents=list[Document], sources=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """
        :param documents: One per source, with text; ``meta["source_id"]`` names it (else its Document id), and
            ``meta["page_starts"]``, where there are pages, is the offset at which each page begins, ascending from 0.
        :returns: ``documents``: :class:`SpanDocument` with ``source_id``, ``title``, ``kind`` ("chunk"), ``number``
            and the locator in ``meta``; ``sources``: the input, for the writer.
        """
        spans: list[Document] = []
        for source in documents:
            spans += self._split(source)
        return {"documents": spans, "sources": documents}

    def _split(self, source: Document) -> list[Document]:
        text = source.content or ""
        if not text.strip():
            return []
        headings = find_headings(text)
        extents = self._extents(text, headings)
        sections = sections_of(headings, len(text))
        starts = [section.start for section in sections]
        homes = [governing(starts, extent.start, extent.end) for extent in extents]
        parents = _parents(extents, homes, sections, self.parent_characters)
        shared = {
            "source_id": source.meta.get("source_id", source.id),
            "title": source.meta.get("title"),
            "kind": "chunk",
            "quote": None,
        }
        page_starts = source.meta.get("page_starts") or []
        return [
            SpanDocument(
                id=f"{shared['source_id']}#chunk-{number}",
                content=text[extent.start : extent.end],
                meta={
                    **shared,
                    "number": number,
                    "start": extent.start,
                    "end": extent.end,
                    "page": bisect_right(page_starts, extent.start) or None,
                    "page_end": bisect_right(page_starts, extent.end - 1) or None,
                    "section": place_name(sections, starts, extent.start, extent.end),
                    "parent_start": parent.start,
                    "parent_end": parent.end,
                },
            )
            for number, (extent, parent) in enumerate(zip(extents, parents, strict=True))
        ]

    def _extents(self, text: str, headings: list[Heading]) -> list[_Extent]:
        most = self.max_characters - self.overlap_characters  # each span has room for what it repeats
        cuts = find_cuts(text, headings, most)
        chosen = cheapest(cuts, most, min(self.target_characters or most, most))
        starts = [cut.start for cut in cuts]
        extents: list[_Extent] = []
        for first, last in pairwise(chosen):
            start, end = starts[first], cuts[last].end
            if self.overlap_characters and first:
                start = starts[bisect_left(starts, start - self.overlap_characters)]
            extents.append(_Extent(start, end))
        return extents


def _parents(extents: list[_Extent], homes: list[int], sections: list[Section], most: int) -> list[_Extent]:
    """
    For each span the widest section of at most ``most`` characters around it, rounded to whole spans.

    A longer section is divided evenly; neighbours that fit together share a parent, so that a parent is more than
    its span wherever the source is.
    """
    roots = [_widest(sections, home, most) for home in homes]
    groups: list[tuple[int, int]] = []  # half-open ranges of spans
    first = 0
    for index in range(1, len(extents) + 1):
        if index == len(extents) or roots[index] != roots[first]:
            groups += _evenly(extents, first, index, most)
            first = index
    parents: list[_Extent] = []
    for begin, end in _merged(extents, groups, most):
        extent = _Extent(extents[begin].start, max(e.end for e in extents[begin:end]))
        parents += [extent] * (end - begin)
    return parents


def _widest(sections: list[Section], home: int, most: int) -> int:
    while home >= 0:
        parent = sections[home].parent
        if parent < 0 or sections[parent].end - sections[parent].start > most:
            return home
        home = parent
    return home


def _evenly(extents: list[_Extent], begin: int, end: int, most: int) -> list[tuple[int, int]]:
    """The range in as few parts of at most ``most`` characters as it takes, of about equal length."""
    length = extents[end - 1].end - extents[begin].start
    share = length / -(-length // most)
    ranges, first = [], begin
    for index in range(begin + 1, end + 1):
        whole = index == end
        grown = 0 if whole else extents[index].end - extents[first].start
        if whole or grown > most or extents[index - 1].end - extents[first].start >= share:
            ranges.append((first, index))
            first = index
    return ranges


def _merged(extents: list[_Extent], groups: list[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for begin, end in groups:
        if merged and extents[end - 1].end - extents[merged[-1][0]].start <= most // 2:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((begin, end))
    return merged
