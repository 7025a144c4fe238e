# SPDX-License-Identifier: Apache-2.0
"""What follows an instrument's type and still names it: parties, dates, numbers (N2)."""

import re

from haystack_integrations.components.pincite.naming.name_before_type import name_start, reach, trading_name
from haystack_integrations.components.pincite.naming.query_sentence import Sentence
from haystack_integrations.components.pincite.naming.vocabulary import TypeMatch

_LONGEST = 40
_LONGEST_PLAIN = 16
_LONGEST_BRACKET = 8
_MOST_PARTS = 5
_NUMBER_WORDS = frozenset({"no", "nos", "number", "nr"})
_ROMAN = re.compile(r"[ivx]{1,4}")
_ORDINAL = re.compile(r"\d{1,2}(st|nd|rd|th)")
# Forms that end a company's name, also where no mark follows.
_ENDING_FORMS = frozenset({"inc", "llc", "llp", "ltd", "gmbh", "plc", "corp", "lp"})
# These always introduce parties; "with", "of", "for" do so only where a name follows.
_PARTY_WORDS = frozenset({"between", "among", "amongst"})


def name_end(sentence: Sentence, match: TypeMatch) -> int:
    """
    The position after the last word that names the instrument.

    :param sentence: the query.
    :param match: the instrument's type.
    :returns: ``match.end`` if nothing after the type belongs to the name.
    """
    end = match.end
    for _ in range(_MOST_PARTS):
        longer = _number(sentence, end) or _bracket(sentence, end) or _other_instrument(sentence, match, end)
        longer = longer or _date(sentence, end) or _parties(sentence, match, end)
        if not longer:
            break
        end = longer
    return end


def _number(sentence: Sentence, position: int) -> int:
    """ "No. 3", "#2", "Addendum I"."""
    if position >= len(sentence) or sentence.hard[position] or sentence.comma[position] or sentence.bracket[position]:
        return 0
    word = sentence.words[position]
    if word in _NUMBER_WORDS and any(sign.isdigit() for sign in sentence.word(position + 1)):
        return position + 2
    if word.isdigit() and not sentence.dash[position]:
        return position + 1
    raw = sentence.tokens[position].raw
    numeral = (
        raw.isupper() and _ROMAN.fullmatch(word) and not (word == "i" and sentence.word(position + 1) in ("am", "have"))
    )
    return position + 1 if numeral else 0


def _bracket(sentence: Sentence, position: int) -> int:
    """A bracket right after the type that is part of the title: "(2014 Amendment)", "(Licensed Products)"."""
    if position >= len(sentence) or not sentence.bracket[position] or sentence.hard[position]:
        return 0
    for end in range(position, min(position + _LONGEST_BRACKET, len(sentence))):
        last = end + 1 == len(sentence)
        if last or sentence.closing[end + 1]:
            inside = range(position, end + 1)
            title = all(sentence.named[word] or word in sentence.match_at for word in inside)
            digits = any(sign.isdigit() for word in inside for sign in sentence.words[word])
            return end + 1 if title or digits else 0
    return 0


def _other_instrument(sentence: Sentence, match: TypeMatch, position: int) -> int:
    """The instrument that an amendment changes: "Amendment No. 3 to the Acme supply agreement"."""
    if match.type not in sentence.vocabulary.modifying or sentence.word(position) not in ("to", "of"):
        return 0
    first = position + 1 + (sentence.word(position + 1) in ("the", "that"))
    for other in sentence.matches:
        if other.start >= first:
            if other.start - first > _LONGEST_PLAIN or sentence.hard[position]:
                return 0
            reaches = other.start == first or name_start(sentence, other.start) <= first
            return other.end if reaches or reach(sentence, other.start) <= first else 0
    return 0


def _date(sentence: Sentence, position: int) -> int:
    """ "dated May 8, 2014", "dated as of 5/8/14", "of May 8, 2014"."""
    if position >= len(sentence) or sentence.hard[position]:
        return 0
    introduced = sentence.stands(sentence.classes.dating, position)
    if not introduced and sentence.words[position] in ("of", "from"):
        introduced = 1
    elif not introduced:
        return 0
    end = position + introduced
    while end < len(sentence) and not sentence.hard[end] and _is_date_word(sentence, end):
        end += 1
    while end > position and not any(sign.isdigit() for sign in sentence.words[end - 1]):
        if sentence.words[end - 1] in sentence.classes.months:
            break
        end -= 1
    return end if end > position + introduced - (sentence.words[position] == "dated") and end > position + 1 else 0


def _is_date_word(sentence: Sentence, position: int) -> bool:
    word = sentence.words[position]
    number = word.replace("/", "").replace(".", "").isdigit() or bool(_ORDINAL.fullmatch(word))
    return number or word in sentence.classes.months or word in ("the", "of", "day")


def _parties(sentence: Sentence, match: TypeMatch, position: int) -> int:
    """The parties after "between", "among", "with", "of", ..."""
    # One stray letter may have got between a title and its parties ("AGREEMENT, d between").
    if (
        position + 1 < len(sentence)
        and len(sentence.words[position]) == 1
        and sentence.words[position + 1] in _PARTY_WORDS
    ):
        position += 1
    if position >= len(sentence) or sentence.hard[position] or sentence.dash[position]:
        return 0
    introduced = sentence.stands(sentence.classes.parties, position)
    if not introduced:
        return 0
    first = position + introduced
    sure = not _PARTY_WORDS.isdisjoint(sentence.words[position:first])
    end = _named_parties(sentence, first) if sentence.informative else _plain_parties(sentence, first, sure=sure)
    names = range(first, end)
    if not sure and (
        _is_another(sentence, match, first, end) or not (sentence.informative or _is_likely(sentence, match, names))
    ):
        return 0
    return _with_type(sentence, first, end) if sentence.has_name(names) else 0


def _with_type(sentence: Sentence, first: int, end: int) -> int:
    """The end of the instrument that the words name: "guaranty of *the Acme lease*"."""
    other = sentence.match_at.get(end)
    named = other is not None and other.start == end and name_start(sentence, end) <= first + 1
    return other.end if other is not None and named else end


def _is_another(sentence: Sentence, match: TypeMatch, first: int, end: int) -> bool:
    """Whether these words name another instrument: "compare the Acme lease with *the Beta* lease"."""
    if sentence.words[first - 1] in ("of", "for") and not match.weak:
        return (
            False  # the guaranty *of the Acme lease*; but "is assignment of the Acme lease allowed" asks about a lease
        )
    others = (other for other in sentence.matches if first < other.start <= end and other.end >= end)
    return any(name_start(sentence, other.start) <= first + 1 for other in others)


def _is_likely(sentence: Sentence, match: TypeMatch, names: range) -> bool:
    """Whether words after "of", "with", "for" may be a party where no capital letter shows it."""
    suffix = any(sentence.words[name] in sentence.classes.suffixes for name in names)
    weak = match.weak and names.start <= match.end + 3
    return suffix or not (weak or sentence.words[names.start - 1] == "on")


def _named_parties(sentence: Sentence, first: int) -> int:
    """The end of the parties where capital letters show the names."""
    end = position = first
    while position < min(first + _LONGEST, len(sentence)):
        if position > first and not _continues(sentence, first, position):
            break
        word = sentence.words[position]
        counterparty = _counterparty(sentence, position) if position > first else 0
        if counterparty:
            end = position = counterparty
            continue
        if sentence.named[position] or word in sentence.classes.suffixes:
            if sentence.comma[position] and word in sentence.classes.sentence:
                break
            end = position + 1
        elif position > first and sentence.tight[position]:
            end = position + 1
        elif not (_links(sentence, position) or _before_suffix(sentence, position) or _inside_name(sentence, position)):
            break
        position += 1
    return end


def _continues(sentence: Sentence, first: int, position: int) -> bool:
    """Whether the mark before ``position`` leaves the list of parties open."""
    if sentence.hard[position]:
        return False
    if sentence.dash[position]:
        # "between Acme Group - Northern Branch and Beta": the second party is still to come.
        ahead = sentence.words[position : position + _LONGEST_PLAIN]
        return sentence.named[position] and "and" in ahead and "and" not in sentence.words[first:position]
    if sentence.comma[position] and not sentence.named[position]:
        word = sentence.words[position]
        return word in sentence.classes.suffixes | sentence.classes.connective | {"and"} or _before_suffix(
            sentence, position
        )
    return True


def _links(sentence: Sentence, position: int) -> bool:
    """A small word inside or between names, that counts only if a name follows: "Bank *of* America *and the* City"."""
    word = sentence.words[position]
    small = word in ("and", "or", "of", "for", "the", "to", "in", "on", "by") or word in sentence.classes.connective
    if not small:
        return False
    following = position + 1
    if following >= len(sentence) or sentence.hard[following] or sentence.comma[following]:
        return False
    if sentence.word(following) in ("the", "of"):
        following += 1
    if word in ("in", "on", "by", "to") and not sentence.named[position - 1]:
        return False
    if following >= len(sentence) or sentence.hard[following]:
        return False
    return (
        sentence.named[following]
        or _before_suffix(sentence, following)
        or (word == "and" and sentence.words[following] in sentence.classes.connective)
    )


def _inside_name(sentence: Sentence, position: int) -> bool:
    """A small-letter word right between capitalised ones: "Petro *data* Management"; or of "doing business as"."""
    if trading_name(sentence, position + 1):
        return True
    word, following = sentence.words[position], position + 1
    if word in sentence.classes.stops or sentence.says(position) or following >= len(sentence):
        return False
    plain = not (sentence.hard[following] or sentence.comma[following] or sentence.dash[following])
    return (
        plain
        and sentence.named[position - 1]
        and sentence.named[following]
        and word not in sentence.classes.topic_words
    )


def _counterparty(sentence: Sentence, position: int) -> int:
    """The end of a party without a name, as in "and others", "and all of its affiliates"; 0 if there is none."""
    if sentence.words[position] != "and":
        return 0
    end = position + 1
    while sentence.word(end) in ("the", "its", "their", "all", "of", "certain", "sales") and end < position + 5:
        end += 1
    return end + 1 if sentence.word(end) in sentence.classes.roles | {"you"} and not sentence.hard[end] else 0


def _before_suffix(sentence: Sentence, position: int) -> bool:
    """Whether a corporate form in the next words shows that these small letters are a name: "i-on interactive Inc"."""
    for following in range(position, min(position + 4, len(sentence))):
        word = sentence.words[following]
        if following > position:
            if sentence.hard[following]:
                return False
            if word in sentence.classes.suffixes and (
                sentence.named[following] or word not in ("as", "company", "limited")
            ):
                return True
        bound = sentence.tight[following] or (following + 1 < len(sentence) and sentence.tight[following + 1])
        if word in sentence.classes.stops and not bound:
            return False
    return False


def _plain_parties(sentence: Sentence, first: int, *, sure: bool) -> int:
    """The end of the parties where capital letters tell nothing: at a verb, a question word, a preposition, a topic."""
    position = first
    if sentence.word(position) == "the" and sentence.word(position + 1) not in sentence.classes.roles:
        position += 1
    while position < min(first + _LONGEST_PLAIN, len(sentence)):
        if position > first and (sentence.hard[position] or sentence.dash[position] or sentence.bracket[position]):
            break
        bound = sentence.is_bound(position) or sentence.tokens[position].raw == "&"
        if not bound and _ends_plain(sentence, first, position, sure=sure):
            break
        position += 1
    return _without_topic(sentence, first, position)


def _ends_plain(sentence: Sentence, first: int, position: int, *, sure: bool) -> bool:
    """Whether the parties end before this word; after "between" they may be several, after "of" only two."""
    classes, word = sentence.classes, sentence.words[position]
    joined = "and" in sentence.words[first:position]
    if sentence.comma[position] and position > first and word not in classes.suffixes | classes.connective:
        # A list of parties goes on until its "and"; after it, a comma ends the name.
        return joined or not sure or word in classes.stops or sentence.stands(classes.topics, position) > 0
    if (
        sentence.word(position - 1) in _ENDING_FORMS
        and word != "and"
        and word not in classes.suffixes | classes.connective
        and not sentence.stands(classes.trading, position)
        and position > first
    ):
        return True
    if word == "and":
        following = sentence.word(position + 1)
        again = sure or following == "others" or following in classes.organisations
        return (joined and not again) or _ends_list(sentence, position + 1)
    if word in classes.stops or sentence.says(position):
        before = sentence.word(position - 1)
        inside = (word in ("of", "for") and before in classes.naming) or (word == "the" and before in ("and", "of"))
        return not (inside or word in classes.suffixes or (word == "others" and joined))
    return position in sentence.match_at and sentence.match_at[position].text.endswith(("agreement", "contract"))


def _ends_list(sentence: Sentence, position: int) -> bool:
    word = sentence.word(position)
    if word in ("others", "the", ""):
        return word == ""
    topic = sentence.stands(sentence.classes.topics, position)
    if sentence.is_bound(position):
        return False
    return word in sentence.classes.stops or topic > 1 or (topic == 1 and word not in sentence.classes.organisations)


def _without_topic(sentence: Sentence, first: int, end: int) -> int:
    """The end before a topic that follows the parties directly: "between acme and beta *governing law*"."""
    classes = sentence.classes
    for start in range(max(first + 1, end - classes.longest_topic), end):
        topic = tuple(sentence.words[start:end])
        common = len(topic) == 1 and topic[0] in classes.organisations
        if topic in classes.topics and not common and any(sentence.is_strong(p) for p in range(first, start)):
            end = start
            break
    while end > first and sentence.words[end - 1] in ("and", "the", "of", "for"):
        end -= 1
    return end
