# SPDX-License-Identifier: Apache-2.0
"""
Numbers of clauses in Word files.

Word stores "4.2" not in the text but as a level of a list (ECMA-376, part 1, 17.9); without it nobody finds clause 4.2.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml.ns import qn

_LEVELS = 9
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Level:
    start: int
    format: str
    text: str
    legal: bool


class ClauseNumbers:
    """Counts the numbered paragraphs of a document; ask for each paragraph once, in order."""

    def __init__(self, document: Document) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._lists: dict[str, str] = {}
        self._restarts: dict[tuple[str, int], int] = {}
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)
        for relation in document.part.rels.values():
            if relation.reltype == RELATIONSHIP_TYPE.NUMBERING:
                self._read(relation.target_part.element)

    def label(self, paragraph: Any) -> str:
        """The number that Word shows before a paragraph, "-" for a bullet, or an empty string."""
        list_id, level = _list_place(paragraph)
        abstract = self._lists.get(list_id)
        if abstract is None or level not in self._levels.get(abstract, {}):
            return ""
        return self._label(self._levels[abstract], self._count(list_id, abstract, level), level)

    def _count(self, list_id: str, abstract: str, level: int) -> dict[int, int]:
        counts, levels = self._counts[abstract], self._levels[abstract]
        restart = self._restarts.pop((list_id, level), None)
        counts[level] = restart if restart is not None else counts.get(level, levels[level].start - 1) + 1
        for deeper in range(level + 1, _LEVELS):
            counts.pop(deeper, None)
        return counts

    @staticmethod
    def _label(levels: dict[int, _Level], counts: dict[int, int], level: int) -> str:
        shown = levels[level]
        if shown.format == "bullet":
            return "-"
        label = shown.text
        for each in range(level + 1):
            if each in levels:
                number = counts.get(each, levels[each].start)
                label = label.replace(
                    f"%{each + 1}", _written(number, "decimal" if shown.legal else levels[each].format)
                )
        return label.strip()

    def _read(self, numbering: Any) -> None:
        for abstract in numbering.iterchildren(qn("w:abstractNum")):
            levels = {int(level.get(qn("w:ilvl"))): _level(level) for level in abstract.iterchildren(qn("w:lvl"))}
            self._levels[abstract.get(qn("w:abstractNumId"))] = levels
        for number in numbering.iterchildren(qn("w:num")):
            list_id = number.get(qn("w:numId"))
            self._lists[list_id] = _value(number, "w:abstractNumId")
            for override in number.iterchildren(qn("w:lvlOverride")):
                restart = _value(override, "w:startOverride")
                if restart:
                    self._restarts[list_id, int(override.get(qn("w:ilvl")))] = int(restart)


def _list_place(paragraph: Any) -> tuple[str, int]:
    """List and level of a paragraph, its own or those of its style."""
    properties = [paragraph._p.pPr]
    style = paragraph.style
    while style is not None and len(properties) < 20:  # a style may, wrongly, be its own base
        properties.append(style.element.pPr)
        style = style.base_style
    for each in properties:
        place = each.find(qn("w:numPr")) if each is not None else None
        if place is not None:
            return _value(place, "w:numId"), int(_value(place, "w:ilvl") or 0)
    return "", 0


def _level(level: Any) -> _Level:
    return _Level(
        start=int(_value(level, "w:start") or 1),
        format=_value(level, "w:numFmt") or "decimal",
        text=_value(level, "w:lvlText"),
        legal=level.find(qn("w:isLgl")) is not None,
    )


def _value(parent: Any, name: str) -> str:
    child = parent.find(qn(name))
    return "" if child is None else str(child.get(qn("w:val")) or "")


def _written(number: int, form: str) -> str:
    if form in {"lowerRoman", "upperRoman"}:
        written = _roman(number)
    elif form in {"lowerLetter", "upperLetter"}:
        written = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)  # after z comes aa, then bb
    elif form == "none":
        return ""
    else:
        return f"{number:02}" if form == "decimalZero" else str(number)
    return written.upper() if form.startswith("upper") else written


def _roman(number: int) -> str:
    written = ""
    for value, sign in _ROMAN:
        written += sign * (number // value)
        number %= value
    return written
