# SPDX-License-Identifier: Apache-2.0
"""
Hebrew as it stands on paper, from left to right, put back into the order in which it is read.

Some PDF files hold their text that way; ``שלום`` comes out as ``םולש``, and nothing in it can be found.
"""

import re

_FINAL = "ךםןףץ"
_ORDINARY = "כמנפצ"  # the same letters anywhere but at the end of a word
_WORD = re.compile("[\u05d0-\u05ea]{2,}")
_RIGHTWARD = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff"
_CLUSTER = re.compile(
    "[^\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7][\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]*"
)
_HEBREW = re.compile("[\u05d0-\u05ea]")
_LATIN = re.compile("[A-Za-z]")
_LEFTWARD_LETTER = rf"[^\W\d_{_RIGHTWARD}]"
# What runs from left to right inside a line of Hebrew (Unicode Annex 9): Latin words with all between them, and each
# number with its own points, strokes, signs of currency and per cent.
_NUMBER = r"[$€£₪#]?\d+(?:[.,:/\-]\d+)*[%$€£₪]?"
_LEFTWARD = re.compile(
    rf"{_LEFTWARD_LETTER}(?:[^{_RIGHTWARD}\n]*(?:{_LEFTWARD_LETTER}|\d))?|{_NUMBER}(?:[^{_RIGHTWARD}\n]*{_LEFTWARD_LETTER})?"
)
_RUN = re.compile(rf"[\u05d0-\u05ea][\u0591-\u05ea]*|{_LEFTWARD.pattern}")
"""As :data:`_LEFTWARD`, where the letters of a Hebrew word stand in their order already."""
_NUMBERED = re.compile(r"^\.(\d{1,3})(?=\s)")
_MISPLACED = re.compile(r"(?:^|\s)[,:;]\S")
_PLACED = re.compile(r"\S[,:;.](?:\s|$)")
_MIRRORED = str.maketrans("()[]{}<>«»", ")(][}{><»«")
_BRACKETS = re.compile(r"[()]")
_LEAST_EVIDENCE = 2


def logical(page: str) -> str:
    """
    The text of a page in reading order.

    :param page: the text as extracted; lines end with ``\\n``.
    :returns: the same lines. Where the page holds Hebrew from left to right, lines with Hebrew are turned round. Where
        words are right, what PDFium leaves as drawn is put right: lines of both scripts whose parts stand in the wrong
        order; brackets that open where they should close; a list number behind its point. Any other page is unchanged.
    """
    if not _HEBREW.search(page):
        return page
    lines = page.split("\n")
    if is_visual(page):
        return "\n".join(_turned(line) if _HEBREW.search(line) else line for line in lines)
    lines = [_turned(line, _RUN) if _is_left_to_right(line) else line for line in lines]
    if _brackets_are_mirrored(lines):
        lines = [_with_brackets(line) if _is_hebrew(line) else line for line in lines]
    return "\n".join(_NUMBERED.sub(r"\1.", line) if _is_hebrew(line) else line for line in lines)


def is_visual(page: str) -> bool:
    """
    Whether Hebrew stands from left to right: five letters have a form of their own at the end of a word.

    Words that begin with that form, or end with the other, speak for it; all others that hold one at either end
    against it.
    """
    turned = straight = 0
    for match in _WORD.finditer(page):
        first, last = match.group()[0], match.group()[-1]
        turned += (first in _FINAL) + (last in _ORDINARY)
        straight += (last in _FINAL) + (first in _ORDINARY)
    return turned >= _LEAST_EVIDENCE and turned > straight


def _turned(line: str, kept: re.Pattern[str] = _LEFTWARD) -> str:
    """A line read from its right end, except what is in its order already."""
    parts: list[str] = []
    end = 0
    for match in kept.finditer(line):
        parts += [_reversed(line[end : match.start()]), match.group()]
        end = match.end()
    parts.append(_reversed(line[end:]))
    return "".join(reversed(parts))


def _reversed(text: str) -> str:
    return "".join(reversed(_CLUSTER.findall(text))).translate(_MIRRORED)


def _is_hebrew(line: str) -> bool:
    return len(_HEBREW.findall(line)) > sum(char.isascii() and char.isalpha() for char in line)


def _is_left_to_right(line: str) -> bool:
    """Whether a line of both scripts was laid out as Latin: its commas and colons then follow blanks."""
    return bool(_HEBREW.search(line) and _LATIN.search(line)) and len(_MISPLACED.findall(line)) > len(
        _PLACED.findall(line)
    )


def _brackets_are_mirrored(lines: list[str]) -> bool:
    """Whether brackets open where they should close: they have two forms and one code each, and are drawn mirrored."""
    turned = straight = 0
    for line in lines:
        if _is_hebrew(line):
            signs = "".join(_BRACKETS.findall(line))
            straight += signs.count("()")
            turned += signs.count(")(")
    return turned > straight


def _with_brackets(line: str) -> str:
    """Brackets the other way round, and the blank beside an opening one on its outer side."""
    # A bracket behind a Latin letter was drawn with it, and is right.
    turned = re.sub(r"(?<![A-Za-z])[()\[\]{}]", lambda match: match.group().translate(_MIRRORED), line)
    return re.sub(r"(?<=\S)([(\[{]) ", r" \1", turned)
