# SPDX-License-Identifier: Apache-2.0
"""Typing errors in the words of an instrument's type ("afiliate agrement")."""

from collections.abc import Iterable

from rapidfuzz import process
from rapidfuzz.distance import OSA

# A shorter word has too many right neighbours: "bond", "band", "bind".
_SHORTEST = 5
_LONG = 9
# Endings that make another right word of a type's word: "mortgage", "mortgagee", "mortgagor".
_ENDINGS = ("s", "d", "r", "e", "ed", "er", "or", "ee", "al", "ing", "able", "ly", "es")


class TypingErrors:
    """
    Finds the word that a mistyped one was meant to be.

    One slip (a letter more, less, other, or two swapped: optimal string alignment distance) in words of five letters
    and more, two in words of nine and more. The first letter must be right, since typists seldom err there and other
    right words often differ there.
    """

    def __init__(self, words: Iterable[str], known: Iterable[str]) -> None:
        """
        :param words: the words that a typing error may stand for.
        :param known: right words, which are never corrected.
        """
        self._words: dict[str, list[str]] = {}
        for word in sorted(set(words)):
            if len(word) >= _SHORTEST and word.isalpha():
                self._words.setdefault(word[0], []).append(word)
        self._known = frozenset(known) | {word for listed in self._words.values() for word in listed}

    def correct(self, word: str) -> str | None:
        """The word of the vocabulary that this one was meant to be, or ``None`` if it is right or unknown."""
        if len(word) < _SHORTEST - 1 or word in self._known or not word.isalpha():
            return None
        slips = 2 if len(word) >= _LONG else 1
        found = process.extractOne(word, self._words.get(word[0], []), scorer=OSA.distance, score_cutoff=slips)
        if found is None or not _is_slip(word, found[0]):
            return None
        return str(found[0])


def _is_slip(word: str, meant: str) -> bool:
    """Whether the word is no regular form of the other."""
    stem = meant.rstrip("e")
    return not any(word in (meant + ending, stem + ending, meant[:-1] + "i" + ending) for ending in _ENDINGS)
