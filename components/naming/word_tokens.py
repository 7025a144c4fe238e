# SPDX-License-Identifier: Apache-2.0
"""Words of a text with their places in it, written one way whatever the typist's quotes, hyphens and case (N2)."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

# Vowel points and accents of Hebrew; the maqaf between them (05BE) is a hyphen and no part of a word.
_POINTS = "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
_LETTER = rf"(?:[^\W_]|[{_POINTS}\u0300-\u036f])"
_HEBREW = f"[\u05d0-\u05ea{_POINTS}]"
_APOSTROPHES = "'’‘ʼ′＇`"
_GERESH = f"{_APOSTROPHES}\u05f3"
_GERSHAYIM = '"”“„″\u05f4'

_WORD = re.compile(
    rf"""
      (?<![^\W_]) [^\W\d_] (?:\.[^\W\d_])+ (?![^\W_]) (?:[{_APOSTROPHES}]s\b | \.)?   # L.P.  S.A.S  L.L.C's
    | (?<![^\W_]) [^\W\d_] (?:/[^\W\d_])+ (?![^\W_]) (?:[{_APOSTROPHES}]s\b)?   # A/S  d/b/a
    | (?<![^\W_]) [^\W_]{{1,2}} & [^\W_]{{1,2}} (?![^\W_])     # AT&T  R&D
    | (?<![^\W_]) \d+ (?:[/.,]\d+)+ (?![^\W_])                 # 5/8/14  10.27  1,200
    | {_LETTER}+
      (?: (?: (?<={_HEBREW}) (?:[{_GERSHAYIM}] | [{_GERESH}]{{1,2}}) (?={_HEBREW})
          | [{_APOSTROPHES}] (?=[^\W_]) | \. (?=[^\W_]{{2}})
          ) {_LETTER}+ )*
      (?: (?<={_HEBREW}) \u05f3 | \.[{_APOSTROPHES}]s\b )?      # Inc.'s
    | &
    """,
    re.VERBOSE,
)
_POINT = re.compile(f"[{_POINTS}]")
_MARKS = re.compile(f"[{_GERESH}{_GERSHAYIM}]")
_POSSESSIVE = re.compile(rf"[{_APOSTROPHES}][sS]$")
_NUMBER_SIGN = re.compile(r"(no|nos|nr)\.(\d.*)", re.IGNORECASE)


class Token(NamedTuple):
    """
    One word of a text.

    ``text`` is the word, normalised; ``raw`` as it stands at ``start`` to ``end`` (code points; a possessive ending is
    part of the range and not of ``text``); ``gap`` what stands between it and the word before.
    """

    text: str
    raw: str
    start: int
    end: int
    gap: str
    possessive: bool = False


def tokenise(text: str, solid: Mapping[str, Sequence[str]] | None = None) -> list[Token]:
    """
    The words of a text, in order.

    NFKC and case folding; hyphens and slashes part words; "&" is "and"; dots in initials ("L.P.") and marks inside
    Hebrew words go; "Acme's" is "acme", possessive.

    :param text: any text, also one with characters that no encoding knows.
    :param solid: words that are also written apart, with their parts: ``{"cobranding": ("co", "branding")}``.
    """
    tokens: list[Token] = []
    end = 0
    for match in _WORD.finditer(text):
        token = _token(text, match, end)
        if token.text:  # a vowel point or an apostrophe by itself is no word
            tokens += _split(token, solid or {})
            end = tokens[-1].end
    return tokens


def _token(text: str, match: re.Match[str], previous_end: int) -> Token:
    raw, start, end = match.group(), match.start(), match.end()
    possessive = bool(_POSSESSIVE.search(raw)) and len(raw) > 2
    word = _POSSESSIVE.sub("", raw).rstrip(".") if possessive else raw
    if (
        not possessive
        and raw[-1] in "sS"
        and text[end : end + 1] in tuple(_APOSTROPHES)
        and text[end + 1 : end + 2] == " "
    ):
        # "the tenants' lease": the apostrophe is an ending, unless it closes a quotation that began with one.
        possessive = not any(mark in text[max(0, start - 80) : start] for mark in ("'", "‘"))
        end += possessive
    return Token(normal_form(word), raw, start, end, text[previous_end:start], possessive)


def _split(token: Token, solid: Mapping[str, Sequence[str]]) -> list[Token]:
    numbered = _NUMBER_SIGN.fullmatch(token.raw)
    parts = numbered.groups() if numbered else solid.get(token.text)
    if not parts:
        return [token]
    pieces: list[Token] = []
    start = token.start
    for number, part in enumerate(parts):
        end = token.end if number == len(parts) - 1 else min(token.end, start + len(part))
        raw = token.raw[start - token.start : end - token.start]
        pieces.append(Token(part.casefold(), raw, start, end, "" if number else token.gap))
        start = end
    pieces[-1] = pieces[-1]._replace(possessive=token.possessive)
    return pieces


def normal_form(word: str) -> str:
    """One word in the form in which words are compared."""
    if word == "&":
        return "and"
    word = "".join(unicodedata.normalize("NFKC", word).casefold().split())
    word = _MARKS.sub("", _POINT.sub("", word))
    letters = word.replace(".", "")
    return letters if len(letters) <= (len(word) + 1) // 2 and letters.isalpha() else word
