# SPDX-License-Identifier: Apache-2.0
"""Finds headings in extracted text: the names of sections, and where each section starts and ends."""

import re
from bisect import bisect_right
from dataclasses import dataclass

MAX_LABEL = 90  # characters; a longer line is a sentence, not a heading
MAX_PATH = 240  # characters of a section path
SCRAP = 80  # characters of a section that are too few to be known by it

# Levels, from the widest. Markdown headings keep their own depth, which is below the divisions of a contract only
# where a document mixes both.
_DIVISION, _CAPITALS, _CLAUSE = 1, 2, 3

_SMALL = r"(?:and|or|of|to|the|for|in|on|by|with|from|upon|a|an|as|at|&|/|-|–)"
_WORD = r"[A-Z][\w’'\-/]*"
# "Term and Termination", "Limitation of Liability; Indemnity"
_TITLE = rf"{_WORD}(?:[,;]?[ \t]+(?:{_WORD}|{_SMALL}(?=[ \t]))){{0,9}}"
_NUMBER = r"\d{1,3}(?:\.\d{1,3}){0,4}"
_ROMAN = r"[IVXLC]{1,7}"
_DIVISIONS = (
    r"ARTICLE|Article|PART|Part|CHAPTER|Chapter|SCHEDULE|Schedule|EXHIBIT|Exhibit|ANNEX|Annex|APPENDIX|Appendix"
)
_HEBREW_DIVISIONS = r"פרק|חלק|נספח|תוספת|שער"

_LINE_HEADING = re.compile(
    rf"""
    (?P<marks>\#{{1,6}})[ \t]+(?P<markdown>[^\n]+)                                      # Markdown
    | (?P<division>(?:{_DIVISIONS})[ \t]+(?:{_ROMAN}|[A-Z]|\d{{1,3}})(?:-\d+)?)\b(?P<division_rest>[^\n]*)
    | (?P<section>(?:SECTION|Section|§)[ \t]*(?P<section_number>{_NUMBER}))\b\.?(?P<section_rest>[^\n]*)
    | (?P<number>{_NUMBER})(?P<dot>[.)]?)[ \t]+(?P<number_rest>[^\n]+)
    | (?P<hebrew_division>(?:{_HEBREW_DIVISIONS})[ \t]+['"׳״א-ת\d]{{1,6}})(?P<hebrew_rest>[^\n]{{0,80}})
    | (?P<hebrew_section>סעיף[ \t]+(?P<hebrew_number>{_NUMBER}|[א-ת]{{1,2}}['׳]?))(?P<hebrew_section_rest>[^\n]{{0,80}})
    | (?P<capitals>[^a-z\n]{{4,{MAX_LABEL}}})(?=\n|\Z)
    """,
    re.VERBOSE,
)
_LINE_START = re.compile(r"(?:^|(?<=\f))[ \t\f\u200f\u200e*_]{0,200}(?=[#\dA-Z§\"“(\u05d0-\u05ea])", re.MULTILINE)
_RUN_IN_TITLE = re.compile(rf"[ \t]*[.:–—-]?[ \t]*(?P<title>{_TITLE})[ \t]*(?P<stop>[.:]|[–—-](?=[ \t])|$)")
_HEBREW_TITLE = re.compile(r"[ \t]*[.:–—-]?[ \t]*(?P<title>[א-ת][^\n.:]{1,70}?)[ \t]*(?:[.:]|$)")
# Inside a long line: after the end of a sentence, "4.2 Term." or "Section 5. Indemnification."
_INSIDE = re.compile(
    rf"(?<=[.;:)\]”\"])[ \t]+(?P<label>(?P<keyword>(?:SECTION|Section)[ \t]+)?(?P<number>{_NUMBER})\.?[ \t]+"
    rf"(?P<title>{_TITLE}))[ \t]*[.:](?=[ \t])"
)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: where it starts, its depth (1 is the widest) and its cleaned words."""

    start: int
    level: int
    label: str


@dataclass(frozen=True, slots=True)
class Section:
    """The text under a heading up to the next one of the same depth or wider. ``parent`` is an index, or -1."""

    start: int
    end: int
    level: int
    path: str
    parent: int


def find_headings(text: str) -> list[Heading]:
    """
    Headings in order of place, at most one per place; linear in the length of the text.

    Found are Markdown headings, divisions ("ARTICLE IV", "Exhibit B"), numbered clauses ("4.2 Term.", "Section 5.
    Indemnification"), also inside a line, lines in capitals, and their Hebrew forms ("סעיף 4", "פרק ב").
    """
    found: dict[int, Heading] = {}
    for line in _LINE_START.finditer(text):
        match = _LINE_HEADING.match(text, line.end())
        heading = _of_line(match) if match else None
        if heading:
            found[heading.start] = heading
    for match in _INSIDE.finditer(text):
        label = f"{match['keyword'] or ''}{match['number']} {match['title']}"
        heading = Heading(match.start("label"), _clause_level(match["number"]), _clean(label))
        found.setdefault(heading.start, heading)
    return [found[start] for start in sorted(found)]


def sections_of(headings: list[Heading], length: int) -> list[Section]:
    """
    The sections that headings open, in order of place. Text before the first heading belongs to none.

    :param headings: In order of place.
    :param length: Length of the text, in code points.
    """
    ends = [length] * len(headings)
    parents = [-1] * len(headings)
    paths = [""] * len(headings)
    open_sections: list[int] = []
    for index, heading in enumerate(headings):
        while open_sections and headings[open_sections[-1]].level >= heading.level:
            ends[open_sections.pop()] = heading.start
        if open_sections:
            parents[index] = open_sections[-1]
            paths[index] = _joined(paths[open_sections[-1]], heading.label)
        else:
            paths[index] = heading.label
        open_sections.append(index)
    return [
        Section(heading.start, ends[index], heading.level, paths[index], parents[index])
        for index, heading in enumerate(headings)
    ]


def governing(starts: list[int], start: int, end: int) -> int:
    """
    Index of the heading whose text fills most of ``[start, end)``; -1 where text before the first heading does.

    :param starts: Places of the headings, ascending.
    """
    first = bisect_right(starts, start) - 1
    best, most, place = first, 0, start
    for index in range(first, len(starts)):
        until = min(end, starts[index + 1]) if index + 1 < len(starts) else end
        if until - place > most:
            best, most = index, until - place
        place = until
        if until >= end:
            break
    return best


def place_name(sections: list[Section], starts: list[int], start: int, end: int) -> str | None:
    """
    What a reader looks for to find ``[start, end)``: the section around it, or the first and last of several.

    The rest of a section that ends within :data:`SCRAP` characters is no place to look.

    :param starts: Places of the sections, ascending.
    """
    first = max(bisect_right(starts, start) - 1, 0)
    last = bisect_right(starts, end - 1) - 1
    if last < first or (start < starts[0] and end - starts[0] < SCRAP):
        return None
    if first < last and starts[first + 1] - max(start, starts[first]) < SCRAP:
        first += 1
    if last > first and end - starts[last] < SCRAP:
        last -= 1
    if first == last or sections[last].path.startswith(sections[first].path):
        return sections[first].path
    around = sections[sections[first].parent].path if sections[first].parent >= 0 else ""
    own = sections[last].path.removeprefix(around).lstrip(" >")
    name = f"{sections[first].path} – {own}"
    return name if len(name) <= MAX_PATH else sections[first].path


def _of_line(match: re.Match[str]) -> Heading | None:
    start = match.start()
    found: Heading | None
    if match["markdown"]:
        found = Heading(start, len(match["marks"]), _clean(match["markdown"].rstrip("# \t")))
    elif match["division"]:
        found = _with_rest(start, _DIVISION, match["division"], match["division_rest"])
    elif match["section"]:
        found = _with_rest(start, _clause_level(match["section_number"]), match["section"], match["section_rest"])
    elif match["number"]:
        found = _numbered(match)
    elif match["hebrew_division"]:
        found = _with_hebrew_rest(start, _DIVISION, match["hebrew_division"], match["hebrew_rest"])
    elif match["hebrew_section"]:
        found = _with_hebrew_rest(start, _CLAUSE, match["hebrew_section"], match["hebrew_section_rest"])
    else:
        found = _in_capitals(start, match["capitals"])
    return found


def _with_rest(start: int, level: int, label: str, rest: str) -> Heading | None:
    """A keyword and number is a heading alone or with a title; "Section 4 of this Agreement" is a sentence."""
    if not rest.strip(" \t.:–—-"):
        return Heading(start, level, _clean(label))
    title = _RUN_IN_TITLE.match(rest)
    return Heading(start, level, _clean(f"{label} {title['title']}")) if title else None


def _with_hebrew_rest(start: int, level: int, label: str, rest: str) -> Heading | None:
    if not rest.strip(" \t.:–—-"):
        return Heading(start, level, _clean(label))
    title = _HEBREW_TITLE.match(rest)
    return Heading(start, level, _clean(f"{label} {title['title']}")) if title else None


def _numbered(match: re.Match[str]) -> Heading | None:
    """ "4.2 Term." and "4. TERM": a number with a short title; a number alone begins a list item or a date."""
    number, rest = match["number"], match["number_rest"]
    if not match["dot"] and "." not in number and not rest[:1].isupper():
        return None
    title = _RUN_IN_TITLE.match(rest) or _HEBREW_TITLE.match(rest)
    if not title or title.end() > MAX_LABEL:
        return None
    if not match["dot"] and "." not in number and title.end() < len(rest):
        return None  # "30 Days. After ..." is a sentence; "4 Term" alone on its line is a heading
    return Heading(match.start(), _clause_level(number), _clean(f"{number} {title['title']}"))


def _in_capitals(start: int, line: str) -> Heading | None:
    letters = sum(character.isupper() for character in line)
    if letters < 4 or letters * 2 < len(line.strip()) or line.rstrip().endswith((",", ";")):
        return None
    return Heading(start, _CAPITALS, _clean(line))


def _clause_level(number: str) -> int:
    return _CLAUSE + number.count(".")


def _clean(label: str) -> str:
    return re.sub(r"[\s*_]+", " ", label).strip(" .:;–—-")[:MAX_LABEL]


def _joined(path: str, label: str) -> str:
    joined = f"{path} > {label}"
    return joined if len(joined) <= MAX_PATH else label
