# SPDX-License-Identifier: Apache-2.0
"""Names of instruments in Hebrew, where the name follows the type: "הסכם השכירות של אלפא" (N1, N2)."""

import re
from functools import lru_cache

from haystack_integrations.components.pincite.naming.query_sentence import Sentence
from haystack_integrations.components.pincite.naming.vocabulary import TypeMatch, Vocabulary

_HEBREW = re.compile(r"[\u05d0-\u05ea]")
_LONGEST = 16
_BETWEEN = "בין"
_TO = "ל"


class HebrewClasses:
    """The vocabulary's classes of Hebrew words, read once."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.deictic = vocabulary.words("deictic", "he")
        self.saying = vocabulary.words("saying", "he")
        self.about = vocabulary.words("about", "he")
        self.questions = vocabulary.words("questions", "he")
        self.stops = self.questions | self.saying | self.about | vocabulary.words("stops", "he")
        self.suffixes = vocabulary.words("suffixes", "he")
        self.common = self.suffixes | vocabulary.words("roles", "he") | vocabulary.words("modifiers", "he")
        self.before = vocabulary.phrases("before", "he")
        self.parties = vocabulary.phrases("parties", "he")
        self.dating = vocabulary.phrases("dating", "he")
        self.topics = vocabulary.phrases("topics", "he")
        self.ties = {word for phrase in self.parties | self.dating for word in phrase}
        self.longest_topic = max((len(phrase) for phrase in self.topics), default=0)


@lru_cache(maxsize=8)
def hebrew_classes(vocabulary: Vocabulary) -> HebrewClasses:
    """The Hebrew classes of a vocabulary."""
    return HebrewClasses(vocabulary)


def is_hebrew(text: str) -> bool:
    """Whether there is a Hebrew letter in the text."""
    return bool(_HEBREW.search(text))


def hebrew_name_end(sentence: Sentence, match: TypeMatch) -> int:
    """
    The position after the last word of the name that follows a Hebrew type.

    :returns: ``match.end`` if what follows names no particular instrument ("הסכם זה", "ההסכם").
    """
    classes = hebrew_classes(sentence.vocabulary)
    end = match.end
    if sentence.word(end) in classes.deictic or (match.weak and sentence.word(end) not in classes.ties):
        return match.end
    while end < min(match.end + _LONGEST, len(sentence)) and not _ends(sentence, classes, end):
        end += 1
    end = _without_topic(sentence, classes, match.end, end)
    while end > match.end and sentence.words[end - 1] in classes.ties:
        end -= 1
    names = (word for word in sentence.words[match.end : end] if word not in classes.ties)
    return end if any(_is_strong(sentence, classes, word) for word in names) else match.end


def hebrew_qualifiers(sentence: Sentence, start: int, end: int) -> tuple[str, ...]:
    """The words of a name without those that tie it together; "בין אלפא לביתא" names "אלפא" and "ביתא"."""
    classes = hebrew_classes(sentence.vocabulary)
    words = sentence.words[start:end]
    pair = _BETWEEN in words and not any(word.endswith(_BETWEEN) for word in words[words.index(_BETWEEN) + 1 :])
    opened, qualifiers = False, []
    for number, word in enumerate(words):
        if word in classes.ties:
            opened = opened or word == _BETWEEN
        elif pair and opened and word.startswith(_TO) and len(word) > 2 and words[number - 1] != _BETWEEN:
            qualifiers.append(word[1:])
            pair = False
        else:
            qualifiers.append(word)
    return tuple(qualifiers)


def _ends(sentence: Sentence, classes: HebrewClasses, position: int) -> bool:
    word = sentence.words[position]
    if sentence.hard[position] or sentence.dash[position] or sentence.bracket[position]:
        return True
    if sentence.comma[position] and word not in classes.suffixes:
        return True
    if position in sentence.match_at and word not in classes.ties:
        return True
    return word in classes.stops or word in classes.deictic


def _without_topic(sentence: Sentence, classes: HebrewClasses, first: int, end: int) -> int:
    for start in range(max(first + 1, end - classes.longest_topic), end):
        if tuple(sentence.words[start:end]) in classes.topics:
            return start
    return end


def _is_strong(sentence: Sentence, classes: HebrewClasses, word: str) -> bool:
    if word in classes.common or (word[:1] in "הולבמ" and word[1:] in classes.common):
        return False
    return not sentence.vocabulary.is_generic(word)
