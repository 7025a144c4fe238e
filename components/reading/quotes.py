# SPDX-License-Identifier: Apache-2.0
"""Finds a quote in its source: the words must be the same, white space and the form of quotation marks need not."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

# Typing a quote turns typographic signs into those of the keyboard, and the other way round.
_SAME_SIGNS = ("'’‘ʼ׳`", '"“”„״', "-‐‑‒–—−־")
_SIGNS = {sign: f"[{re.escape(signs)}]" for signs in _SAME_SIGNS for sign in signs}


class Place(NamedTuple):
    """A stretch of a text, in code points, half-open."""

    start: int
    end: int


def find_quote(text: str, quote: str) -> Iterator[Place]:
    """
    Every place where a quote stands, in order.

    :param text: the source.
    :param quote: what to find; an empty one is nowhere.
    """
    words = quote.split()
    if not words:
        return
    pattern = r"\s+".join("".join(_SIGNS.get(sign) or re.escape(sign) for sign in word) for word in words)
    for match in re.finditer(pattern, text):
        yield Place(match.start(), match.end())


def best_place(places: Sequence[Place], pages: Sequence[int], page: int | None) -> int | None:
    """Index of the first place on the wanted page, or else of the first; ``None`` when there is none."""
    if not places:
        return None
    return next((index for index, found in enumerate(pages) if found == page), 0)
