# SPDX-License-Identifier: Apache-2.0
"""Where the name before an instrument's type begins: "in the *Acme Holdings, Inc consulting* agreement" (N2)."""

from haystack_integrations.components.pincite.naming.query_sentence import Sentence

# A name longer than this is no name any more; the bound also keeps long queries linear.
_LONGEST = 30
_LONGEST_PLAIN = 14
_FRAME = 12
# Prepositions and conjunctions that stand inside names; the others only connect a name with its sentence.
_INSIDE = frozenset("of for and to on with at by if or in".split())
_OPENERS = frozenset("in under per to by from with regarding concerning within".split())


def name_start(sentence: Sentence, head: int) -> int:
    """
    The position of the first word of the name before a type.

    Reads from the type to the left until a word or a mark parts the name from its sentence, then removes from the
    front what is the topic of the question.

    :param sentence: the query.
    :param head: position of the type's first word.
    :returns: ``head`` if nothing that could be a name stands before it.
    """
    start = _scan(sentence, head)
    return _trim(sentence, start, head)


def reach(sentence: Sentence, head: int) -> int:
    """How far to the left a type's name could go at most; other types that lie inside are part of that name."""
    return _scan(sentence, head)


def _scan(sentence: Sentence, head: int) -> int:
    position, closed = head, 0
    longest = _LONGEST if sentence.informative else _LONGEST_PLAIN
    while position > 0 and head - position < longest:
        if sentence.hard[position]:
            break
        if sentence.opening[position]:
            # The mark opens what has not been closed on the way: the name begins here, unless only the type is quoted.
            if closed == 0 and not (position == head and not sentence.bracket[position]):
                break
            closed -= closed > 0
        closed += sentence.closing[position]
        left = _left_of(sentence, position, head)
        if left == position:
            break
        position = left
    return position


def _left_of(sentence: Sentence, position: int, head: int) -> int:
    """The new start when the word before ``position`` belongs to the name, else ``position``."""
    before = position - 1
    if sentence.tight[position]:
        return before
    word, classes = sentence.words[before], sentence.classes
    earlier = sentence.match_at.get(before)
    if earlier is not None:
        return earlier.start if _absorbs(sentence, position, head) else position
    if sentence.comma[position] and not _comma_inside(sentence, position):
        return position
    if sentence.dash[position] and not _dash_inside(sentence, position):
        return position
    if trading_name(sentence, position):
        return before
    named = sentence.named[before] and before > 0
    if word in classes.determiners:
        inside = _article_inside(sentence, before, named)
    elif word in classes.prepositions or word in classes.conjunctions:
        inside = _connective_inside(sentence, before, head, named)
    elif word in classes.sentence or word in classes.verbs:
        inside = named or _after_article(sentence, before) or _starts_heading(sentence, before, head)
    elif word in classes.requests:
        inside = not _begins_clause(sentence, before)
    else:
        inside = True
    return before if inside else position


def _absorbs(sentence: Sentence, position: int, head: int) -> bool:
    """
    Whether an earlier type that ends before ``position`` is part of the later type's name.

    "Franchise Agreement Addendum", "Guaranty Bank loan agreement", "License and Hosting Agreement" are one; "the lease
    and the guaranty agreement", "the lease, loan agreement" are two.
    """
    earlier = sentence.match_at[position - 1]
    if sentence.comma[position] or sentence.words[position] in ("and", "or"):
        ends = sentence.match_at[head].text.rsplit(" ", 1)[-1].rstrip("s")
        compound = earlier.end - earlier.start == 1 and ends in ("agreement", "contract", "deed")
        return (
            compound
            and not earlier.generic
            and all(
                sentence.is_kind(word) or sentence.words[word] in ("and", "or", "of") for word in range(position, head)
            )
        )
    if position < head and sentence.words[position] in sentence.classes.prepositions:
        return False
    return not sentence.dash[position]


def _article_inside(sentence: Sentence, position: int, named: bool) -> bool:
    word, classes = sentence.words[position], sentence.classes
    if named and (word in classes.articles or sentence.named[position - 1] or sentence.named[position + 1]):
        return True
    if word == "no" and sentence.word(position + 1).isdigit():
        return True
    if word == "the" and sentence.word(position - 1) in ("of", "for"):
        owner = position - 2
        return owner >= 0 and _names_owner(sentence, owner)
    return word in classes.indefinite and word not in ("a", "an") and _after_article(sentence, position)


def _names_owner(sentence: Sentence, owner: int) -> bool:
    """Whether the noun before "of" or "for" begins a name: "Office of ..", and not "termination of .."."""
    word, classes = sentence.words[owner], sentence.classes
    if sentence.hard[owner + 1] or sentence.comma[owner + 1] or owner in sentence.match_at:
        return False
    if word in classes.naming:
        return True
    if word in classes.topic_ends or word.isdigit() or sentence.word(owner - 1) in classes.parts:
        return False
    return sentence.named[owner] and owner > 0


def _connective_inside(sentence: Sentence, position: int, head: int, named: bool) -> bool:
    word, before, after = sentence.words[position], position - 1, position + 1
    if named and word not in ("under", "per", "regarding"):
        return True
    if before < 0:
        return False
    if word in ("of", "for"):
        owned = sentence.named[after] or not sentence.informative or word == "of"
        if owned and (_names_owner(sentence, before) or _begins_with_name(sentence, before)):
            return True
    if word in ("and", "or"):
        return _joins(sentence, position, head)
    if _after_article(sentence, position):
        return True
    return word in _INSIDE and word != "in" and _in_frame(sentence, position)


def _begins_with_name(sentence: Sentence, position: int) -> bool:
    """A capitalised first word of the query that is no topic: "Fruit of Life lease"."""
    word = sentence.words[position]
    if position or word in sentence.classes.topic_ends or word in sentence.classes.requests:
        return False
    return sentence.tokens[0].raw[0].isupper() and sentence.named[min(2, len(sentence) - 1)]


def _joins(sentence: Sentence, position: int, head: int) -> bool:
    """Whether "and" joins two parts of one name, rather than two things that are asked about."""
    before, after, classes = position - 1, position + 1, sentence.classes
    if before in sentence.match_at:
        return _absorbs(sentence, position, head)
    if sentence.named[before] and (before > 0 or sentence.words[before] not in classes.topic_ends):
        return True
    if all(sentence.is_kind(side) or sentence.words[side] in classes.organisations for side in (before, after)):
        return True
    if sentence.informative:
        return _in_frame(sentence, position)
    return sentence.words[before] not in classes.stops


def _comma_inside(sentence: Sentence, position: int) -> bool:
    """Whether the comma before ``position`` is part of a name: before a corporate form, or in a list of a title."""
    classes, before = sentence.classes, position - 1
    word = sentence.words[position]
    if word in classes.suffixes or word in classes.connective:
        return True
    if sentence.is_kind(position) and sentence.is_kind(before) and sentence.words[before] not in classes.roles:
        return True
    named = sentence.named[before] and sentence.named[position] and word not in classes.sentence
    return named and _in_frame(sentence, position, commas=True)


def _dash_inside(sentence: Sentence, position: int) -> bool:
    return sentence.named[position - 1] and sentence.named[position] and _in_frame(sentence, position, commas=True)


def trading_name(sentence: Sentence, position: int) -> bool:
    """Whether the word before belongs to "doing business as" or its like, which joins two names of one party."""
    trading = sentence.classes.trading
    return any(
        first + sentence.stands(trading, first) >= position > first for first in range(max(0, position - 3), position)
    )


def _after_article(sentence: Sentence, position: int) -> bool:
    """Whether only function words part this one from "the" on its left; then they are a name's: "the At Home lease"."""
    for before in range(position - 1, max(-1, position - 4), -1):
        if sentence.hard[before + 1] or sentence.comma[before + 1]:
            return False
        if sentence.words[before] == "the":
            return True
        if sentence.words[before] not in sentence.classes.stops:
            return False
    return False


def _in_frame(sentence: Sentence, position: int, *, commas: bool = False) -> bool:
    """
    Whether a "the" on the left, with a name right after it, still holds its noun phrase open at ``position``.

    "In the Alaska intent *to* propose NDA": nothing between "the" and the type ends the phrase.
    """
    classes, words = sentence.classes, sentence.words
    for before in range(position - 1, max(-1, position - _FRAME - 1 - 20 * commas), -1):
        if sentence.hard[before + 1] or (
            sentence.comma[before + 1] and not commas and not _comma_inside(sentence, before + 1)
        ):
            return False
        word = words[before]
        if word == "the" and not (sentence.named[before] and before and sentence.named[before - 1]):
            return _opens_name(sentence, before)
        foreign = word in classes.sentence or word in classes.verbs or word in classes.determiners
        foreign = foreign or (word in classes.prepositions and word not in _INSIDE) or before in sentence.match_at
        if foreign and not sentence.named[before] and not _after_article(sentence, before):
            return False
    return False


def _opens_name(sentence: Sentence, article: int) -> bool:
    first = sentence.word(article + 1)
    if first in sentence.classes.topic_ends or first in sentence.classes.parts:
        return False
    if sentence.informative:
        return sentence.named[article + 1] or (article + 2 < len(sentence) and sentence.named[article + 2])
    opener = article - 1
    return (
        opener >= 0
        and sentence.words[opener] in _OPENERS
        and (opener <= 1 or sentence.hard[opener] or sentence.comma[opener])
    )


def _starts_heading(sentence: Sentence, position: int, head: int) -> bool:
    """Whether the first word is a name, since the question begins only later: "Does Energy lease: who pays?"."""
    end = sentence.match_at[head].end
    if position or not sentence.named[1] or end >= len(sentence):
        return False
    return (sentence.hard[end] or sentence.dash[end] or sentence.comma[end]) and sentence.words[
        end
    ] in sentence.classes.sentence


def _begins_clause(sentence: Sentence, position: int) -> bool:
    before = sentence.word(position - 1)
    return position == 0 or sentence.hard[position] or before in sentence.classes.sentence or before == "to"


def _trim(sentence: Sentence, start: int, head: int) -> int:
    """Move the start behind function words and the question's topic."""
    classes = sentence.classes
    definite = sentence.word(start - 1) == "the"
    names = [position for position in range(start, head) if _is_name_word(sentence, position)]
    if names and not definite:
        start = names[0]
    while start < head:
        topic = _topic_at(sentence, start, head)
        word = sentence.words[start]
        long = topic > 1 and not sentence.informative
        if topic and (not definite or long or (names and not sentence.named[start])):
            start += topic
        elif word in ("and", "or", "of") or (word in classes.stops and not definite and not sentence.named[start]):
            start += 1
        else:
            break
    return start


def _is_name_word(sentence: Sentence, position: int) -> bool:
    if position:
        return sentence.named[position]
    # The first letter of a sentence is a capital whatever the word is.
    topic = sentence.stands(sentence.classes.topics, 0)
    return sentence.named[0] and (topic == 0 or (topic == 1 and len(sentence) > 1 and sentence.named[1]))


def _topic_at(sentence: Sentence, start: int, head: int) -> int:
    """How many words from ``start`` belong to a topic, if something that may be a name is left after it."""
    classes = sentence.classes
    if sentence.named[start] and (start > 0 or _is_name_word(sentence, 0)):
        return 0
    length = sentence.stands(classes.topics, start)
    for first in range(max(0, start - classes.longest_topic), start):
        # The scan stopped inside a topic: "termination for | convenience acme".
        length = max(length, first + sentence.stands(classes.topics, first) - start)
    if length <= 0:
        return 0
    rest = range(start + length, head)
    found = any(sentence.is_strong(word) or sentence.named[word] or _is_common_name(sentence, word) for word in rest)
    return length if found else 0


def _is_common_name(sentence: Sentence, position: int) -> bool:
    word = sentence.words[position]
    return word in sentence.classes.organisations and not sentence.is_kind(position)
