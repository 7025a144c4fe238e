# SPDX-License-Identifier: Apache-2.0
"""Whether two sets of words speak of the same party, place or project, typing errors and missing spaces allowed."""

import re
from collections.abc import Callable, Sequence, Set
from itertools import pairwise

from rapidfuzz.distance import OSA

# "BirchFirst" is two words to a reader, and one to a tokenizer once it is in lower case.
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_INNER_SIGN = re.compile(r"(?<=\w\w)[.&](?=\w\w)")
_LONGEST_COMPOUND = 4
_SHORTEST_MISTYPED = 5
_LONG = 9


def parted(text: str) -> str:
    """The text with a space where case rises inside a word, and for a dot or sign inside one ("Tickets.com")."""
    return _INNER_SIGN.sub(" ", _HUMP.sub(" ", text))


def names_overlap(qualifiers: Sequence[str], title: Sequence[str], is_generic: Callable[[str], bool]) -> bool:
    """
    Whether a title shares a distinguishing word with the qualifiers of an instrument (N6).

    A generic word ("Inc", "Housing") is no overlap; for names that have no other see :func:`common_name_stands`. Words
    count as the same when they are equal, when one side writes together what the other writes apart, or when they
    differ by a typing error.

    :param qualifiers: words of the query's name, normalised.
    :param title: words of the title, normalised.
    :param is_generic: tells words that many names share.
    """
    if not _spellings(qualifiers, is_generic).isdisjoint(_spellings(title, is_generic)):
        return True
    # Single words only: in a compound, a long generic part would hide that the short other part is another name.
    offered = [word for word in title if not is_generic(word)]
    return any(_mistyped(word, other) for word in qualifiers if not is_generic(word) for other in offered)


def common_name_stands(
    qualifiers: Sequence[str],
    title: Sequence[str],
    is_generic: Callable[[str], bool],
    organisations: Set[str],
    type_words: Set[str],
) -> bool:
    """
    Whether a title holds a name that consists of common words only ("United Technologies", "National Processing").

    One such word says nothing, but two or more in a row are a name. They count only where the query offers nothing
    better, all of them, and two in a row at least: "Acme Housing Services" is not "Brooklyn Housing Services".

    :param qualifiers: words of the query's name, normalised.
    :param title: words of the title, normalised.
    :param is_generic: tells words that many names share.
    :param organisations: the generic words that names of organisations are made of; not "Inc", not "amended".
    :param type_words: words of instrument types; they may stand in such a name, but make none by themselves.
    """
    name = [word for word in qualifiers if word in organisations or word in type_words]
    if not all(map(is_generic, qualifiers)) or not set(name) <= set(title):
        return False
    rows = {pair for pair in pairwise(name) if not organisations.isdisjoint(pair)}
    return not rows.isdisjoint(pairwise(title))


def _spellings(words: Sequence[str], is_generic: Callable[[str], bool]) -> set[str]:
    """Distinguishing words, and neighbours written together where one of them is distinguishing."""
    generic = [is_generic(word) for word in words]
    return {
        "".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, min(start + _LONGEST_COMPOUND, len(words)) + 1)
        if not all(generic[start:end])
    }


def _mistyped(one: str, other: str) -> bool:
    """
    One slip in words of five letters and more, two in words of nine and more; a swap of neighbours is one slip.

    Never in short words or numbers, where a slip makes another name, and never in the first letter, where typists
    seldom err and surnames often differ.
    """
    shorter = min(len(one), len(other))
    if shorter < _SHORTEST_MISTYPED or one[0] != other[0] or not (one.isalpha() and other.isalpha()):
        return False
    slips = 2 if shorter >= _LONG else 1
    return OSA.distance(one, other, score_cutoff=slips) <= slips
