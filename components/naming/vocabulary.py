# SPDX-License-Identifier: Apache-2.0
"""What kinds of instruments there are, and which words never tell one instrument from another (N1, N2, N6)."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from haystack_integrations.components.pincite.naming.typing_errors import TypingErrors
from haystack_integrations.components.pincite.naming.vocabulary_file import inflections, phrases, read_vocabulary
from haystack_integrations.components.pincite.naming.word_tokens import Token, normal_form, tokenise
from haystack_integrations.document_stores.pincite.resources import CONFIG_VARIABLE

# Only these may part the words of one type ("Non - Disclosure", "Loan/Credit"); a comma or a dot ends it.
_JOINING = re.compile(r"[\s\-\u2010-\u2015\u2212\u05be/®™]*")
_HEBREW = re.compile(r"[\u05d0-\u05ea]")
_LONGEST_TYPE = 9
# Heads that several types share in one title, and how many words may stand between a type and the head.
_SHARED_HEADS = frozenset({"agreement", "contract", "deed", "letter"})
_LONGEST_LIST = 9
# Beyond so many words nobody typed the query by hand, and looking for slips costs more than it finds.
_MOST_CORRECTED = 400
_GENERIC = (
    "articles indefinite deictic questions auxiliaries pronouns prepositions conjunctions particles roles modifiers "
    "suffixes organisations connective parts"
).split()


class TypeMatch(NamedTuple):
    """
    A type found in tokens ``start`` to ``end`` (half-open).

    ``type`` is canonical, or a generic head if the vocabulary has no type for these words; ``weak`` marks words that
    are everyday words as well; ``text`` is what was read there, normalised and without typing errors.
    """

    start: int
    end: int
    type: str
    generic: bool
    weak: bool
    text: str


class _Entry(NamedTuple):
    type: str
    generic: bool
    weak: bool


class Vocabulary:
    """Types of instruments with their aliases, and the words of each language around them."""

    def __init__(self, path: str | None = None) -> None:
        """See :meth:`load`, which reads a file only once."""
        file = read_vocabulary(path)
        self._words = file.words
        self._types = file.types
        self._spelling = {normal_form(wrong): normal_form(right) for wrong, right in file.spelling.items()}
        self._hebrew_prefixes = tuple(sorted(self.words("prefixes", "he"), key=len, reverse=True))
        self._solid = _solid_words([*file.types, *(alias for names in file.types.values() for alias in names)])
        single = [name for names in file.types.values() for name in names if "-" in name and " " not in name]
        self._hyphened = {self._key(name): tuple(token.text for token in self.tokens(name)) for name in single}
        self._entries: dict[str, _Entry] = {}
        self._names: dict[str, set[str]] = {}
        self.modifying = file.modifying
        self._same_heads = {name: group for group in file.same_heads for name in group}
        weak = {self._key(phrase) for phrase in file.weak}
        for name, aliases in file.types.items():
            for alias in aliases:
                key = self._key(alias)
                self._add(key, _Entry(name, generic=False, weak=key in weak))
        self._heads = {self._key(alias): name for name, aliases in file.heads.items() for alias in aliases}
        for alias, name in self._heads.items():
            self._add(alias, _Entry(name, generic=True, weak=name in file.weak_heads))
        self._starts = {key[:length] for key in self._entries for length in range(1, len(key) + 1)}
        self.type_words = frozenset(self._type_words(file.types, file.heads))
        self._generic = self._generic_words()
        known = {*self._generic, *file.no_typing_errors, *self.words("verbs", inflect=True), *self.words("requests")}
        known |= {*self.words("saying"), *self.words("subjects"), *self.words("naming")}
        known |= {word for phrase in self.phrases("topics") for word in phrase}
        self._typing_errors = TypingErrors(self.type_words, known)

    @staticmethod
    def load(path: str | None = None) -> "Vocabulary":
        """
        Read a vocabulary, once per path, configuration folder and process.

        :param path: the file; ``None`` is ``instruments.yaml`` of the configuration.
        :raises ConfigurationError: the file is missing or malformed.
        """
        return _load(path, os.environ.get(CONFIG_VARIABLE))

    # -- words ---------------------------------------------------------------------------------------------------------

    def words(self, name: str, language: str = "en", *, inflect: bool = False) -> frozenset[str]:
        """A class of words; empty if the file does not list it. ``inflect`` adds the endings of English verbs."""
        listed = [normal_form(word) for word in self._words.get(language, {}).get(name, "").split()]
        return inflections(listed) if inflect else frozenset(listed)

    def phrases(self, name: str, language: str = "en") -> frozenset[tuple[str, ...]]:
        """A class of phrases, each as its normalised words."""
        listed = phrases(self._words.get(language, {}).get(name, ""))
        return frozenset(tuple(token.text for token in self.tokens(phrase)) for phrase in listed)

    def tokens(self, text: str) -> list[Token]:
        """The words of a text with their places; see :func:`tokenise`."""
        return tokenise(text, self._solid)

    def normalise(self, text: str) -> str:
        """The words of a text, normalised, one blank between them."""
        return " ".join(token.text for token in self.tokens(text))

    def is_generic(self, word: str) -> bool:
        """
        Whether a word (or all words of a phrase) never distinguishes one instrument from another: corporate forms,
        common words of organisations' names, function words, words of instruments and of amending them (N6).
        """
        return all(
            token.text in self._generic or self._lemma(token.text) in self._generic for token in self.tokens(word)
        )

    # -- types ---------------------------------------------------------------------------------------------------------

    def aliases(self, type: str) -> list[str]:
        """The ways to say a type, its own name first; a generic head is said by its name alone."""
        return list(dict.fromkeys([type, *self._types.get(type, [])]))

    def find_types(self, tokens: Sequence[Token]) -> list[TypeMatch]:
        """
        The types that a text names, longest first where two overlap, then in order of the text (N1).

        Plural forms, Hebrew prefixes and typing errors count; where no type is known, a generic head stands.
        """
        taken = [False] * len(tokens)
        chosen: list[TypeMatch] = []
        for match in sorted(
            self._matches(tokens), key=lambda match: (match.start - match.end, match.generic, match.start)
        ):
            if not any(taken[match.start : match.end]):
                taken[match.start : match.end] = [True] * (match.end - match.start)
                chosen.append(match)
        return sorted(chosen)

    def holds_type(self, title: str, type: str) -> bool:
        """
        Whether a title holds a type or one of its aliases; for a generic head, whether it holds that head (N6).

        :param title: a display title, or any text.
        :param type: a canonical type, or a generic head such as "agreement".
        """
        heads = self._same_heads.get(type, frozenset({type}))
        wanted = {normal_form(word) for head in heads for word in head.split()[-1:]}
        generic = type in self._heads.values()
        for match in self._matches(self.tokens(title)):
            if match.type == type or (
                generic and (match.type in heads or normal_form(match.type.split()[-1]) in wanted)
            ):
                return True
        return self._holds_in_list(title, type)

    def _holds_in_list(self, title: str, type: str) -> bool:
        """
        Whether a title in which several types share a head names this one.

        A "License, Supply and Marketing Agreement" is a supply agreement, and a license agreement too.
        """
        words = [self._lemma(token.text) for token in self.tokens(title)]
        for alias in self.aliases(type):
            *kind, head = [self._lemma(token.text) for token in self.tokens(alias)] or [""]
            if not kind or head not in _SHARED_HEADS:
                continue
            for end in range(len(kind), len(words)):
                if words[end - len(kind) : end] == kind and head in words[end : end + _LONGEST_LIST]:
                    between = words[end : words.index(head, end)]
                    if _SHARED_HEADS.isdisjoint(between):
                        return True
        return False

    def _matches(self, tokens: Sequence[Token]) -> Iterator[TypeMatch]:
        joined = [True, *(bool(_JOINING.fullmatch(token.gap)) for token in tokens[1:])]
        readings = [self._readings(token, correct=len(tokens) <= _MOST_CORRECTED) for token in tokens]
        for start in range(len(tokens)):
            partial: dict[str, str] = {"": ""}
            for end in range(start, min(start + _LONGEST_TYPE, len(tokens))):
                if (end > start and not joined[end]) or "." in tokens[end].raw:
                    break  # "S.p.A." is a company's form, and no SPA
                partial = {
                    key + lemma: f"{text} {word}".strip()
                    for key, text in partial.items()
                    for lemma, word in readings[end].items()
                    if key + lemma in self._starts
                }
                if not partial:
                    break
                for key, text in partial.items():
                    entry = self._entries.get(key)
                    if entry and not self._is_apart(tokens[start : end + 1], key):
                        yield TypeMatch(start, end + 1, entry.type, entry.generic, entry.weak, text)

    def _is_apart(self, tokens: Sequence[Token], key: str) -> bool:
        """Whether words stand apart that are a type only when written together: "by law" is no by-law."""
        hyphened = self._hyphened.get(key)
        if hyphened is None or len(tokens) < 2 or not any(sign.isspace() for sign in tokens[1].gap):
            return False
        return tuple(token.text for token in tokens) != hyphened

    def _readings(self, token: Token, *, correct: bool) -> dict[str, str]:
        """What a word may stand for in a type: its lemma, with the word to show for it."""
        word = token.text
        readings = {self._lemma(word): word}
        if _HEBREW.search(word):
            for prefix in self._hebrew_prefixes:
                rest = word[len(prefix) :]
                if word.startswith(prefix) and len(rest) > 1:
                    readings.setdefault(self._lemma(rest), rest)
        elif correct and (meant := self._typing_errors.correct(word)):
            readings[self._lemma(meant)] = meant
        return readings

    def _lemma(self, word: str) -> str:
        word = self._spelling.get(word, word)
        singular = _singular(word)
        return self._spelling.get(singular, singular)

    def _key(self, phrase: str) -> str:
        return "".join(self._lemma(token.text) for token in tokenise(phrase, self._solid))

    def _add(self, key: str, entry: _Entry) -> None:
        self._entries.setdefault(key, entry)
        if key.endswith("agreement") and not entry.generic:
            # People say "supply contract" for a supply agreement, and the other way round.
            self._entries.setdefault(key.removesuffix("agreement") + "contract", entry)

    def _type_words(self, *groups: Mapping[str, list[str]]) -> Iterator[str]:
        for aliases in groups:
            for alias in (alias for listed in aliases.values() for alias in listed):
                yield from (token.text for token in tokenise(alias, self._solid))
        yield from self._spelling

    def _generic_words(self) -> frozenset[str]:
        words = {word for language in self._words for name in _GENERIC for word in self.words(name, language)}
        return frozenset(words | self.type_words | {self._lemma(word) for word in self.type_words})


@lru_cache(maxsize=8)
def _load(path: str | None, folder: str | None) -> Vocabulary:
    """The vocabulary; ``folder`` is only part of the key, since without a path the configuration folder decides."""
    return Vocabulary(path)


def _singular(word: str) -> str:
    """An English word without its plural ending; one that has none stays, and so does one that only looks plural."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    return word[:-1]


def _solid_words(aliases: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Words that an alias writes with a hyphen, as written without: "cobranding" is "co-branding"."""
    hyphened = (word for alias in aliases for word in alias.split() if "-" in word)
    parts = (tuple(normal_form(part) for part in word.split("-")) for word in hyphened)
    return {"".join(words): words for words in parts}
