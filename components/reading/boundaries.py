# SPDX-License-Identifier: Apache-2.0
"""Places where text may be cut, and what a cut there costs; the search for the cheapest cuts."""

import re
import unicodedata
from typing import NamedTuple

from haystack_integrations.components.pincite.reading.sections import Heading

# What a cut costs, by the kind of place, in units of the cost of an empty span.
HEADING = 0.0
PARAGRAPH = 0.05
LINE_END = 0.08
SENTENCE = 0.12
CLAUSE = 0.3
LINE_WRAP = 0.4
WORD = 0.6
AFTER_HEADING = 1.0  # parts a heading from what it heads
INSIDE_WORD = 1.5
SPAN_COST = 0.25  # each further span: fewer, fuller spans
_CELLS = 24  # candidate cuts kept per maximum length: bounds the work on text made of tiny lines

_LABEL_LOSS = 12  # characters that a heading may have in the text beyond its label: blanks, dots, marks
_LONGEST_CLUSTER = 16  # characters; more accents on one letter are noise, and may be parted

_ABBREVIATIONS = (
    "Inc|Ltd|Corp|Co|No|Nos|Art|Sec|Secs|Dr|Mr|Mrs|Ms|Prof|St|vs|v|cf|e\\.g|i\\.e|al|approx|Fig|Ex|Exh|"
    "Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec|U\\.S|p|pp|para|paras"
)
_ABBREVIATED = re.compile(rf"(?:^|[\s(“\"])(?:{_ABBREVIATIONS}|[A-Z])\.\Z")
# Every alternative takes a whole run of blanks from its start: no run is scanned more than a few times.
_CUT = re.compile(
    r"(?<!\s)(?:(?P<paragraph>[^\S\n\f]*(?:\f|\n[^\S\n\f]*[\n\f])\s*)"
    r"|(?P<line>[^\S\n]*\n[^\S\n]*)"
    r"|(?<=[.!?…׃。！？])(?P<sentence>[^\S\n]+)(?=[^a-z\s])"
    r"|(?<=[.!?…:;][)\]\"'”’»])(?P<quoted>[^\S\n]+)(?=[^a-z\s])"
    r"|(?<=[;:])(?P<clause>[^\S\n]+)"
    r"|(?P<item>[^\S\n]+)(?=\([a-zA-Z0-9]{1,4}\)[^\S\n]))"
)
_SPACE = re.compile(r"\s+")


class Cut(NamedTuple):
    """A place to cut: text before it ends at ``end``, text after it begins at ``start``; blanks are in between."""

    end: int
    start: int
    cost: float


def find_cuts(text: str, headings: list[Heading], maximum: int) -> list[Cut]:
    """
    Candidate cuts in order of place, with the two ends of the text, never further apart than ``maximum``.

    :param text: Text with at least one character that is not blank.
    :param headings: Headings of the text, in order of place.
    :param maximum: Most characters of a span.
    """
    first = len(text) - len(text.lstrip())
    last = len(text.rstrip())
    cuts = {cut.start: cut for cut in _natural(text) if first < cut.end and cut.start < last}
    below = -1  # where the last heading ends, about: its label has lost dots and blanks
    for heading in headings:
        if first < heading.start < last:
            before = cuts.get(heading.start)
            end = before.end if before else _blank_start(text, heading.start)
            cost = HEADING if heading.start > below else AFTER_HEADING
            cuts[heading.start] = Cut(end, heading.start, cost)
        below = heading.start + len(heading.label) + _LABEL_LOSS
        _keep_with_next(cuts, heading, below)
    kept = _thinned(sorted(cuts.values()), max(1, maximum // _CELLS))
    return _bridged(text, [Cut(first, first, 0.0), *kept, Cut(last, last, 0.0)], maximum)


def cheapest(cuts: list[Cut], maximum: int, target: int) -> list[int]:
    """
    Indices of the cuts that give the cheapest spans, from the first to the last (dynamic programming).

    A span costs :data:`SPAN_COST`, the square of what it lacks to ``target`` as a share of it, and the cut at its end.
    Linear: a span holds a bounded number of candidates. Ties go to the longer span.

    :param cuts: From :func:`find_cuts`; neighbours at most ``maximum`` apart.
    """
    ends = [cut.end for cut in cuts]
    starts = [cut.start for cut in cuts]
    lack = [((target - length) / target) ** 2 if length < target else 0.0 for length in range(maximum + 1)]
    total = [0.0] * len(cuts)
    came_from = [0] * len(cuts)
    low = 0
    for index in range(1, len(cuts)):
        end = ends[index]
        while end - starts[low] > maximum:
            low += 1
        best, origin = float("inf"), low
        for start in range(low, index):
            cost = total[start] + lack[end - starts[start]]
            if cost < best:
                best, origin = cost, start
        total[index] = best + SPAN_COST + cuts[index].cost
        came_from[index] = origin
    path = [len(cuts) - 1]
    while path[-1]:
        path.append(came_from[path[-1]])
    return path[::-1]


def _keep_with_next(cuts: dict[int, Cut], heading: Heading, below: int) -> None:
    """Make the cut dear that parts a heading from what it heads."""
    for place in range(heading.start + len(heading.label), below + 1):
        if place in cuts and place > heading.start:
            cuts[place] = cuts[place]._replace(cost=AFTER_HEADING)


def _natural(text: str) -> list[Cut]:
    found = []
    for match in _CUT.finditer(text):
        end, start = match.span()
        kind = match.lastgroup
        if kind == "paragraph":
            cost = PARAGRAPH
        elif kind == "line":
            cost = LINE_END if text[end - 1 : end] in {".", ";", ":", "!", "?", ")", '"', "”"} else LINE_WRAP
        elif kind in {"sentence", "quoted"}:
            cost = CLAUSE if _ABBREVIATED.search(text, max(0, end - 8), end) else SENTENCE
        else:
            cost = CLAUSE
        found.append(Cut(end, start, cost))
    return found


def _blank_start(text: str, place: int) -> int:
    while place and text[place - 1].isspace():
        place -= 1
    return place


def _thinned(cuts: list[Cut], cell: int) -> list[Cut]:
    """At most one cut in each cell of the text, the cheapest, the last of equals."""
    kept: list[Cut] = []
    for cut in cuts:
        if kept and kept[-1].start // cell == cut.start // cell:
            if cut.cost <= kept[-1].cost:
                kept[-1] = cut
        elif not kept or cut.end > kept[-1].start:
            kept.append(cut)
    return kept


def _bridged(text: str, cuts: list[Cut], maximum: int) -> list[Cut]:
    """Cuts between words, or inside one, where natural ones are too far apart for a span."""
    step = max(1, maximum // 8)
    bridged = [cuts[0]]
    for cut in cuts[1:]:
        while cut.end - bridged[-1].start > maximum:
            bridged.append(_word_cut(text, bridged[-1].start, step))
        bridged.append(cut)
    return bridged


def _word_cut(text: str, place: int, step: int) -> Cut:
    """The last blank within ``step`` characters after ``place``; else a place that keeps accents with their letter."""
    limit = place + step
    for index in range(limit, place, -1):
        if text[index].isspace():
            after = _SPACE.match(text, index)
            assert after is not None  # noqa: S101 - text[index] is blank
            return Cut(_blank_start(text, index), after.end(), WORD)
    index = limit
    while index > max(place + 1, limit - _LONGEST_CLUSTER) and (
        unicodedata.combining(text[index]) or text[index] in "\u200d\ufe0f"
    ):
        index -= 1
    return Cut(index, index, INSIDE_WORD)
