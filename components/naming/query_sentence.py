# SPDX-License-Identifier: Apache-2.0
"""A query as a sentence: its words with their classes, the marks between them, and what its capital letters tell."""

import re
from collections.abc import Sequence
from functools import lru_cache

from haystack_integrations.components.pincite.naming.vocabulary import TypeMatch, Vocabulary
from haystack_integrations.components.pincite.naming.word_tokens import Token

_HARD = re.compile(r"[?!;:\n\r\t|…\u05c3]")
_DASH = re.compile(r"\s[-–−]+\s|[—―]|--")
_TIGHT = re.compile(r"[-‐-–−\u05be/.,&'’_]?")
# Endings of nouns that say what is done under an instrument: "customization", "billing".
_ACTION = ("tion", "ment", "ing", "ance", "ence")
_OPENING = re.compile(r"(?:^|[\s(,:–—-])[\"“”'‘’«„״]$")
_CLOSING = re.compile(r"^[®™]?[.,]?[\"“”'’»״]")
_ABBREVIATIONS = frozenset(
    "no nos nr vs v mr mrs ms dr prof hon rev gen gov st jr sr mt ft ave dept est bros messrs".split()
)


class WordClasses:
    """The vocabulary's classes of words of one language, read once."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        words = vocabulary.words
        self.articles = words("articles")
        self.deictic = words("deictic")
        self.indefinite = words("indefinite") - self.articles | {"a", "an"}
        self.determiners = self.articles | self.deictic | self.indefinite
        self.sentence = words("questions") | words("auxiliaries") | words("pronouns") | words("particles")
        self.prepositions = words("prepositions")
        self.conjunctions = words("conjunctions")
        self.suffixes = words("suffixes")
        self.roles = words("roles")
        self.requests = words("requests")
        self.naming = words("naming")
        self.connective = words("connective")
        self.parts = words("parts")
        self.months = words("months")
        self.organisations = words("organisations")
        nouns = vocabulary.type_words | words("modifiers") | self.suffixes | self.naming
        self.verbs = words("verbs", inflect=True) - nouns
        self.saying = words("saying")
        self.kinds = vocabulary.type_words | words("modifiers") | words("subjects") | self.roles | self.articles
        self.trading = vocabulary.phrases("trading")
        self.topics = vocabulary.phrases("topics")
        self.topic_words = frozenset(phrase[0] for phrase in self.topics if len(phrase) == 1)
        self.topic_ends = frozenset(phrase[-1] for phrase in self.topics) | self.parts
        self.longest_topic = max((len(phrase) for phrase in self.topics), default=0)
        self.before = vocabulary.phrases("before")
        self.parties = vocabulary.phrases("parties")
        self.dating = vocabulary.phrases("dating")
        self.stops = self.sentence | self.verbs | self.determiners | self.prepositions | self.conjunctions


@lru_cache(maxsize=8)
def word_classes(vocabulary: Vocabulary) -> WordClasses:
    """The classes of a vocabulary."""
    return WordClasses(vocabulary)


class Sentence:
    """
    The words of a query and what stands between them.

    ``gaps[i]`` is the text before word ``i``; ``hard``, ``comma``, ``dash``, ``tight`` say what it is. ``named[i]``
    says that word ``i`` is written as a name (capital, digit, dot) in a query whose capitals mean something; in a query
    all in lower case, all in capitals or with a capital on every word they mean nothing, and ``informative`` is false.
    """

    def __init__(
        self, query: str, tokens: Sequence[Token], matches: Sequence[TypeMatch], vocabulary: Vocabulary
    ) -> None:
        self.query = query
        self.tokens = tokens
        self.words = [token.text for token in tokens]
        self.matches = matches
        self.vocabulary = vocabulary
        self.classes = word_classes(vocabulary)
        self.match_at: dict[int, TypeMatch] = {
            position: match for match in matches for position in range(match.start, match.end)
        }
        gaps = [token.gap for token in tokens]
        self.comma = ["," in gap for gap in gaps]
        self.dash = [bool(_DASH.search(gap)) for gap in gaps]
        self.tight = [number > 0 and bool(_TIGHT.fullmatch(gap)) for number, gap in enumerate(gaps)]
        self.opening = [gap.rstrip("\"“'‘«„").endswith(("(", "[")) or bool(_OPENING.search(gap)) for gap in gaps]
        self.closing = [")" in gap or "]" in gap or bool(_CLOSING.search(gap)) for gap in gaps]
        self.bracket = ["(" in gap or "[" in gap for gap in gaps]
        self.hard = [self._is_hard(number, gap) for number, gap in enumerate(gaps)]
        self.informative = self._capitals_mean_something()
        self.named = [self.informative and _written_as_name(token.raw) for token in tokens]

    def __len__(self) -> int:
        return len(self.tokens)

    def word(self, position: int) -> str:
        """The word there, or nothing beyond the ends."""
        return self.words[position] if 0 <= position < len(self.words) else ""

    def stands(self, phrases: frozenset[tuple[str, ...]], position: int) -> int:
        """How many words the longest of these phrases has that stands at a position; 0 if none does."""
        for length in range(min(5, len(self.words) - position), 0, -1):
            if tuple(self.words[position : position + length]) in phrases:
                return length
        return 0

    def is_strong(self, position: int) -> bool:
        """Whether this word can tell one instrument from another: no function word, no common word, no topic."""
        word = self.words[position]
        classes = self.classes
        if self.is_initial(position):
            return True
        if word in classes.kinds or word in classes.stops or word in classes.connective:
            return False
        if self.named[position] and not word.isdigit():
            return not self.vocabulary.is_generic(word)
        return not (word in classes.topic_words or self.vocabulary.is_generic(word))

    def is_bound(self, position: int) -> bool:
        """Whether a hyphen or the like binds this word to a neighbour."""
        return self.tight[position] or (position + 1 < len(self) and self.tight[position + 1])

    def has_name(self, positions: range) -> bool:
        """Whether these words can name one instrument: a strong word, a number, or several common words of names."""
        classes = self.classes
        common = classes.organisations - classes.kinds
        unsaying = classes.roles | classes.topic_words | classes.articles | {"and", "of"}
        said = [position for position in positions if self.words[position] not in unsaying]
        if len(said) > 1 and any(self.words[position] in common for position in said):
            return True
        return any(
            self.is_strong(position)
            or (self.named[position] and self.words[position] not in unsaying and position not in self.match_at)
            or self.words[position][:1].isdigit()
            for position in positions
        )

    def is_initial(self, position: int) -> bool:
        """Whether this is a letter or a digit that a hyphen binds to a word of a name: "I-Escrow", "BW-3"."""
        return self.is_bound(position) and position not in self.match_at and len(self.words[position]) == 1

    def says(self, position: int) -> bool:
        """Whether the word is the verb of "the lease *says* that", "*states* about", and not a word of a name."""
        if self.word(position) not in self.classes.saying:
            return False
        following = position + 1
        return following >= len(self) or self.hard[following] or self.words[following] in self.classes.stops

    def is_kind(self, position: int) -> bool:
        """Whether this word says what sort of instrument it is: "license", "exclusive", "customization"."""
        word = self.words[position]
        return word in self.classes.kinds or self.is_action(position)

    def is_action(self, position: int) -> bool:
        """Whether the word is a noun of something done, by its ending."""
        return len(self.words[position]) > 6 and self.words[position].endswith(_ACTION)

    def _is_hard(self, position: int, gap: str) -> bool:
        if _HARD.search(gap):
            return True
        if "." not in gap or position == 0:
            return False
        previous = self.tokens[position - 1]
        short = len(previous.text) == 1 or previous.text in self.classes.suffixes or previous.text in _ABBREVIATIONS
        return not short and self.tokens[position].text not in self.classes.suffixes

    def _capitals_mean_something(self) -> bool:
        words = [
            token.raw
            for position, token in enumerate(self.tokens)
            if position and position not in self.match_at and token.raw[0].isalpha() and not self._is_small(token)
        ]
        return any(word.islower() for word in words) and any(not word.islower() for word in words)

    def _is_small(self, token: Token) -> bool:
        """A word that a title, too, writes in small letters; all in capitals it is a name ("US", "IT")."""
        classes = self.classes
        small = token.text in classes.prepositions | classes.conjunctions | classes.determiners | classes.connective
        return small and not (token.raw.isupper() and len(token.raw) > 1)


def _written_as_name(raw: str) -> bool:
    return not raw.islower() or any(sign.isdigit() or sign in ".&" for sign in raw)
