# SPDX-License-Identifier: Apache-2.0
"""Which types in a query stand for one particular instrument, and by which words it is named (N1, N2, N12)."""

from typing import NamedTuple

from haystack_integrations.components.pincite.naming.hebrew_names import hebrew_name_end, hebrew_qualifiers, is_hebrew
from haystack_integrations.components.pincite.naming.name_after_type import name_end
from haystack_integrations.components.pincite.naming.name_before_type import name_start, reach
from haystack_integrations.components.pincite.naming.query_sentence import Sentence
from haystack_integrations.components.pincite.naming.vocabulary import TypeMatch

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
        if is_hebrew(match.text):
            end = hebrew_name_end(sentence, match)
            if end > match.end:
                after = hebrew_qualifiers(sentence, match.end, end)
                found.append(NamedInstrument(match.start, end, match, (), after))
                covered = end
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
        if _may_absorb(sentence, match):
            furthest = reach(sentence, match.start)
            while heads and heads[-1].start >= furthest:
                heads.pop()
        heads.append(match)
    return heads


def _may_absorb(sentence: Sentence, match: TypeMatch) -> bool:
    """An everyday word after a type is the topic ("acme nda *license* grant"), unless it is written as a title's."""
    if not match.weak or sentence.named[match.start]:
        return True
    following = sentence.word(match.end)
    ends = match.end >= len(sentence) or sentence.hard[match.end] or following.isdigit() or following in ("no", "to")
    return match.type in sentence.vocabulary.modifying and ends


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
    if sentence.has_name(range(match.end, end)) or _names_two(sentence, instrument):
        return True
    before = range(start, match.start)
    determiner = sentence.word(start - 1) if start and not sentence.hard[start] else ""
    strong = [position for position in before if sentence.is_strong(position)]
    classes = sentence.classes
    if any(sentence.named[position] for position in strong):
        return True
    if determiner in classes.deictic or determiner in classes.indefinite:
        return False
    if not strong and not _is_common_name(sentence, before):
        return False
    owned = any(sentence.tokens[position].possessive for position in before)
    return not match.weak or determiner == "the" or owned


def _names_two(sentence: Sentence, instrument: NamedInstrument) -> bool:
    """A title that says by two types which paper it is: "Franchise Agreement Addendum to Lease Agreement"."""
    before = range(instrument.start, instrument.match.start)
    after = range(instrument.match.end, instrument.end)
    return all(any(position in sentence.match_at for position in side) for side in (before, after))


def _is_common_name(sentence: Sentence, before: range) -> bool:
    """A name of common words alone: "the Housing Services lease", "electric city distributor agreement"."""
    organisations = sentence.classes.organisations
    words = [position for position in before if sentence.words[position] not in _TIES]
    common = [p for p in words if sentence.words[p] in organisations and not sentence.is_kind(p)]
    function = sentence.classes.sentence | {"the"}
    if len(before) > 1 and sentence.named[before.start] and sentence.words[before.start] in function:
        return True  # "in The Joint lease", "Does Energy lease": the capital shows that it is part of the name
    return (len(words) > 1 and bool(common)) or (bool(common) and all(sentence.named[position] for position in words))


def _is_verb(sentence: Sentence, match: TypeMatch, start: int) -> bool:
    """ "Can Acme lease the premises": a verb with its object, and no lease."""
    before = sentence.word(match.start - 1)
    if match.text == "by laws" and (before.endswith("ed") or before in sentence.classes.sentence):
        return True  # "governed by laws of New York"
    if match.end - match.start > 1 or match.text != sentence.words[match.start] or match.end >= len(sentence):
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
