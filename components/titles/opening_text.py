# SPDX-License-Identifier: Apache-2.0
"""
The opening of a document as tokens: the common ground of heading and party extraction (I4).

Everything here is linear in its input, and the input is cut before anything else looks at it: a title must not depend
on what stands in the middle of a long document, nor cost more for it.
"""

import re
from functools import lru_cache
from typing import NamedTuple

OPENING_CHARS = 5_000
CLOSING_CHARS = 4_500
# Blank pages, rules and dotted lines may fill the front of a file; they are squeezed before the opening is cut.
_RAW_OPENING_CHARS = 20_000

BLANK = "____"
BREAK = "\n"

_LINE_ENDS = frozenset("\n\r\f\v\x1c\x1d\x1e\x85\u2028\u2029")
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "’": "'", "‘": "'", "´": "'", "\u00a0": " "})
_PAGE_MARK = re.compile(r"</?(?:PAGE|TEXT|DOCUMENT|TITLE|CAPTION)>", re.IGNORECASE)
_MARKDOWN_MARK = re.compile(r"\*\*|__(?=\w)|(?<=\w)__(?!_)")
# White space that is not one plain space between words. Format characters (direction marks) go with it.
_FORMAT_MARKS = r"\u200b-\u200f\u202a-\u202e\ufeff"
_SPACE = re.compile(rf"(?:[^\S ]|[{_FORMAT_MARKS}])[\s{_FORMAT_MARKS}]*| [\s{_FORMAT_MARKS}]+")
# "_____", ".....", "[***]", "[●]", "[insert name]", "<Company name>": places left open or blacked out.
_OPEN_PLACE = re.compile(
    r"(?=[_.…\[<*xX])"
    r"(?:_[_ ]*_+|\.{4,}|…+|\[[\s*●•·.xX_\-]{0,40}\]|\[[^\[\]\n]{0,60}\]|<[^<>\n]{1,60}>|\*{3,}|\b[xX]{3,}\b)"
)
_RULE = re.compile(r"[-=~–—]{3,}(?:[ -]*[-=~–—]{3,})*")
# A plain quote inside a Hebrew word marks an abbreviation, not a quotation.
_GERSHAYIM = re.compile(r'(?<=[א-ת])"(?=[א-ת])')
# "B E T W E E N", "W I T N E S S E T H"
_SPACED_OUT = re.compile(r"[A-Z](?<!\S.) (?:[A-Z] ){3,20}[A-Z](?![^\s:,.])")
_COMPANY_INSIDE = re.compile(r"\b(?:Ltd|Limited|Inc|LLC|LLP|Corp|GmbH|plc)\b", re.IGNORECASE)
_TOKEN = re.compile(r"\n|____|[^\W_](?:[\w'&/+\-״׳]|\.(?=\w)|!(?=\s))*|\S")


class Token(NamedTuple):
    """A word, a sign, a line break or an open place: as written, case-folded, and its offsets in the squeezed text."""

    text: str
    lower: str
    start: int
    end: int


def squeeze(text: str, limit: int = OPENING_CHARS) -> str:
    """
    Return the front of ``text`` with white space, rules and open places reduced, at most ``limit`` characters.

    Line breaks and wide gaps become one ``\\n`` (a gap of three spaces is how centred headings arrive when a converter
    puts a page on one line); open places become ``____``; typographic quotes become plain ones.
    """
    for reach in (limit * 3 // 2, _RAW_OPENING_CHARS):
        squeezed = _squeeze(text[:reach])
        if len(squeezed) >= limit or len(text) <= reach:
            break
    return squeezed[:limit]


def _squeeze(raw: str) -> str:
    raw = _SPACE.sub(_reduce, _PAGE_MARK.sub(BREAK, raw.translate(_QUOTES)))
    raw = _GERSHAYIM.sub("״", _RULE.sub(BREAK, raw))
    raw = _OPEN_PLACE.sub(_fill, raw)
    raw = _MARKDOWN_MARK.sub("", raw) if "**" in raw else raw
    raw = _SPACED_OUT.sub(lambda m: m.group().replace(" ", ""), raw)
    return _SPACE.sub(_reduce, raw).strip()


def _reduce(match: re.Match[str]) -> str:
    gap = match.group()
    if len(gap) == 1 and gap not in _LINE_ENDS:
        return " " if gap.isspace() else ""
    return BREAK if len(gap) > 2 or not _LINE_ENDS.isdisjoint(gap) else " "


def _fill(match: re.Match[str]) -> str:
    place = match.group()
    # "[Acme Ltd]" is a draft with the party in brackets, not a place left open.
    return place[1:-1].strip() if place[0] in "[<" and _COMPANY_INSIDE.search(place) else f" {BLANK} "


def closing(text: str) -> str:
    """Return the squeezed end of ``text``, where signature blocks stand."""
    return squeeze(text[-CLOSING_CHARS:], CLOSING_CHARS)


def tokenize(text: str) -> list[Token]:
    """Split squeezed text into tokens; abbreviation dots inside a word ("L.P", "Women.com") stay in the word."""
    make = Token._make
    return [make((word := m.group(), word.casefold(), *m.span())) for m in _TOKEN.finditer(text)]


@lru_cache(maxsize=16_384)
def is_capital(word: str) -> bool:
    """Whether a word can be part of a name or a title: a capital or a digit among its first three characters."""
    return any(c.isupper() or c.isdigit() for c in word[:3]) or is_caseless(word)


@lru_cache(maxsize=16_384)
def is_upper(word: str) -> bool:
    """Whether a word is written in capitals alone."""
    return word.upper() == word and word.lower() != word


def is_caseless(word: str) -> bool:
    """Whether a word is of a script without case, such as Hebrew."""
    return word[:1].isalpha() and word.upper() == word.lower()
