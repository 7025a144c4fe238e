# SPDX-License-Identifier: Apache-2.0
"""Which types in a query stand for one particular instrument, and by which words it is named (N1, N2, N12)."""

from typing import NamedTuple

from haystack_integrations.components.pincite.name_after_type import name_end
from haystack_integrations.components.pincite.name_before_type import name_start, reach
from haystack_integrations.components.pincite.query_sentence import Sentence
from haystack_integrations.components.pincite.vocabulary import TypeMatch

# Words that only tie a name together; they say nothing about which instrument it is.
_TIES = frozenset(
    "the a an and or of for to by with between among amongst from dated as others no nos nr number".split()
)
_OBJECTS = frozenset("the a an any all its his her their our this that these those it them such".split())


class NamedInstrument(NamedTuple):
    """
    An instrument named in words ``start`` to ``end`` (half-open) of the query.

    ``before`` and ``after`` are the qualifiers on either side of the type, normalised.
    """

    start: int
    end: int
    match: TypeMatch
    before: tuple[str, ...]
    after: tuple[str, ...]


def find_instruments(sentence: Sentence) -> list[NamedInstrument]:
    """The instruments that a query names, in its order; a type that is only talked about is none."""
    found: list[NamedInstrument] = []
    covered = 0
    last: NamedInstrument | None = None
    for match in _heads(sentence):
        if match.start < covered:
            continue
        start, end = max(covered, name_start(sentence, match.start)), name_end(sentence, match)
        instrument = _instrument(sentence, match, start, end)
        if _is_named(sentence, instrument):
            parts = _split_plural(sentence, instrument)
            found += parts
            last, covered = instrument, end
        elif last and _shares_name(sentence, last, match):
            last = last._replace(start=match.start, end=match.end, match=match)
            found.append(last)
            covered = match.end
    return found


def _heads(sentence: Sentence) -> list[TypeMatch]:
    """The types that are not part of a later type's name ("*Guaranty* Bank loan agreement")."""
    heads: list[TypeMatch] = []
    for match in sentence.matches:
        furthest = reach(sentence, match.start)
        while heads and heads[-1].start >= furthest:
            heads.pop()
        heads.append(match)
    return heads


def _instrument(sentence: Sentence, match: TypeMatch, start: int, end: int) -> NamedInstrument:
    return NamedInstrument(
        start, end, match, _qualifiers(sentence, start, match.start), _qualifiers(sentence, match.end, end)
    )


def _qualifiers(sentence: Sentence, start: int, end: int) -> tuple[str, ...]:
    return tuple(sentence.words[position] for position in range(start, end) if not _is_tie(sentence, position))


def _is_tie(sentence: Sentence, position: int) -> bool:
    """A small word between words of a name; one that a hyphen binds to its neighbour ("A-B") is part of the name."""
    bound = sentence.tight[position] or (position + 1 < len(sentence) and sentence.tight[position + 1])
    return sentence.words[position] in _TIES and not bound


def _is_named(sentence: Sentence, instrument: NamedInstrument) -> bool:
    """Whether the words around the type name one instrument, and not any of its kind (N1)."""
    start, end, match = instrument.start, instrument.end, instrument.match
    if _is_verb(sentence, match, start):
        return False
    if end > match.end and instrument.after:
        return True
    before = range(start, match.start)
    determiner = sentence.word(start - 1) if start and not sentence.hard[start] else ""
    strong = [position for position in before if sentence.is_strong(position)]
    classes = sentence.classes
    if sentence.informative:
        names = [position for position in strong if sentence.named[position]]
        if names:
            return True
        if _only_common_name(sentence, before) and determiner not in classes.deictic | classes.indefinite:
            return True
    if determiner in classes.deictic or determiner in classes.indefinite or not strong:
        return False
    owned = any(sentence.tokens[position].possessive for position in before)
    return not match.weak or determiner == "the" or owned


def _only_common_name(sentence: Sentence, before: range) -> bool:
    """A name of common words alone, written as a name: "the Housing Services lease"."""
    common = [position for position in before if sentence.words[position] not in sentence.classes.kinds]
    return bool(common) and all(
        sentence.named[position] for position in before if sentence.words[position] not in _TIES
    )


def _is_verb(sentence: Sentence, match: TypeMatch, start: int) -> bool:
    """ "Can Acme lease the premises": a verb with its object, and no lease."""
    if (
        match.end - match.start > 1
        or match.text != sentence.words[match.start].rstrip("s")
        or match.end >= len(sentence)
    ):
        return False
    if sentence.words[match.end] not in _OBJECTS or sentence.hard[match.end] or sentence.comma[match.end]:
        return False
    before = sentence.word(start - 1)
    return before in sentence.classes.sentence or before == "to" or sentence.word(match.start - 1) == "to"


def _split_plural(sentence: Sentence, instrument: NamedInstrument) -> list[NamedInstrument]:
    """ "The Acme and Beta leases" are two instruments."""
    match = instrument.match
    if (
        not sentence.words[match.end - 1].endswith("s")
        or match.text.endswith(("ss", "by laws", "bylaws"))
        or match.end < instrument.end
    ):
        return [instrument]
    joints = [
        position for position in range(instrument.start + 1, match.start - 1) if sentence.words[position] == "and"
    ]
    if len(joints) != 1:
        return [instrument]
    first = _qualifiers(sentence, instrument.start, joints[0])
    second = _qualifiers(sentence, joints[0] + 1, match.start)
    if not first or not second or all(sentence.vocabulary.is_generic(word) for word in first):
        return [instrument]
    return [instrument._replace(before=first), instrument._replace(before=second)]


def _shares_name(sentence: Sentence, last: NamedInstrument, match: TypeMatch) -> bool:
    """ "The Acme lease and guaranty": the second type is named by the first one's words."""
    return match.start == last.end + 1 and sentence.words[last.end] == "and" and not sentence.hard[match.start]
