# SPDX-License-Identifier: Apache-2.0
"""Titles and names in the capitalisation a person would use, and the words in them that tell one from another (I4)."""

import re
from collections.abc import Sequence

from haystack_integrations.components.pincite.titles.name_words import COMMON_WORDS, SMALL_WORDS, SUFFIXES
from haystack_integrations.components.pincite.titles.opening_text import Token, is_upper

_WORD = re.compile(r"[^\W_]+(?:['.][^\W_]+)*")
_CLUSTERS = frozenset("tr dr pr fl sk th sh pl cr gr fr bl cl gl sl st sp tw wh ch".split())
_MAX_ACRONYM = 6
_VOWELS = frozenset("aeiouy")
_KEPT = frozenset(
    "usa us uk eu llc llp lp lllp nda it ip plc ii iii iv vi vii viii ix xi xii asp isp api usd ibm ceo "
    "cfo hvac".split()
)
_FORMS = {
    form.casefold(): form
    for form in "Inc Corp Ltd Co GmbH plc Pty Pte Pvt Limited Ltda KG Sàrl ApS AG SA NV BV AB SE SpA".split()
}


class CaseBook:
    """How the opening of a document writes its words, to give words in capitals back their usual form."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._looked_up: set[str] = set()
        self._mixed: dict[str, str] = {}
        self._lower: set[str] = set()
        self._acronyms: set[str] = set()

    def _look_up(self, phrase: str) -> None:
        """Find how the opening writes the words of ``phrase`` that are in capitals there."""
        wanted = {w.casefold() for w in _WORD.findall(phrase) if is_upper(w)} - self._looked_up
        if not wanted:
            return
        self._looked_up |= wanted
        for i, token in enumerate(self._tokens):
            if token.lower not in wanted:
                continue
            if is_upper(token.text):
                if len(token.text) <= _MAX_ACRONYM and self._stands_alone(i):
                    self._acronyms.add(token.lower)
            elif token.text.islower():
                self._lower.add(token.lower)
            else:
                self._mixed.setdefault(token.lower, token.text)

    def _stands_alone(self, i: int) -> bool:
        """Whether the words around a word in capitals are in small letters: an acronym, where several are a heading."""
        before = [t.text for t in self._tokens[max(0, i - 4) : i] if t.text[0].isalpha()]
        after = [t.text for t in self._tokens[i + 1 : i + 5] if t.text[0].isalpha()]
        return bool(before and after) and not is_upper(before[-1]) and not is_upper(after[0])

    def word(self, word: str, *, first: bool, name: bool) -> str:
        """One word in usual form; a word that is not in capitals alone is left as it is."""
        lower = word.casefold()
        bare = lower.strip(".'").replace(".", "")
        if not is_upper(word) or len(word) == 1:
            return word
        if name and bare in _FORMS:
            return word if "." in word[:-1] else _FORMS[bare] + word[len(word.rstrip(".")) :]
        if lower in SMALL_WORDS and not first:
            return lower
        if self._is_spelled(word, lower):
            return word
        return self._mixed.get(lower) or _capital(word)

    def _is_spelled(self, word: str, lower: str) -> bool:
        """Whether a word in capitals is an acronym or a number, which keeps them."""
        if lower.strip(".'") in _KEPT or any(c.isdigit() for c in word) or ("." in word.rstrip(".") and len(word) <= 8):
            return True
        if lower in self._mixed or lower in self._lower:
            return False
        return lower in self._acronyms or not _VOWELS.intersection(lower) or _unspeakable(lower)

    def phrase(self, text: str, *, name: bool = False) -> str:
        """A heading or a name in usual form; one that is not in capitals is only tidied."""
        self._look_up(text)
        count = 0

        def usual(match: re.Match[str]) -> str:
            nonlocal count
            count += 1
            return self.word(match.group(), first=count == 1, name=name)

        out = _WORD.sub(usual, " ".join(text.split()))
        if not name:
            out = re.sub(r"(?<=[a-zé,)] )(Of|And|For|The|To|In|By|With|Or|On)(?= )", lambda m: m.group().lower(), out)
            out = re.sub(
                r"^[a-zà-ÿ]", lambda m: m.group() if re.match(r"[a-z]-|[a-z]+[A-Z.]", out) else m.group().upper(), out
            )
        return out


def _capital(word: str) -> str:
    return re.sub(
        r"[^\W\d_]+",
        lambda m: m.group().capitalize() if m.start() == 0 or len(m.group()) > 2 else m.group().lower(),
        word,
    )


def _unspeakable(word: str) -> bool:
    """Whether a word of three letters must be spelled: "HFA", "ABP", but not "Tom", "Elm", "Oil", "The"."""
    if len(word) != 3:
        return False
    shape = "".join("v" if c in _VOWELS else "c" for c in word)
    if shape == "ccv":
        return word[:2] not in _CLUSTERS
    return shape == "vcc" and word[1] not in "lrnstc"


def distinguishing(name: str) -> set[str]:
    """The words that tell one name from another, case-folded: no legal forms, small words or single letters."""
    words = {w.casefold().replace(".", "").replace("'", "") for w in _WORD.findall(name)}
    telling = {w for w in words if w not in SUFFIXES and w not in SMALL_WORDS and len(w) > 1}
    narrow = telling - COMMON_WORDS
    return narrow or telling or words


def says(title: str, name: str) -> bool:
    """Whether ``title`` holds all words of ``name`` but legal forms and articles, in any order."""
    said = {w.casefold() for w in _WORD.findall(title)}
    words = {w.casefold() for w in _WORD.findall(name)}
    return all(w in said for w in words if w.replace(".", "") not in SUFFIXES and w != "the")


def covers(title: str, name: str) -> bool:
    """Whether ``title`` already says ``name``: all its distinguishing words are there, spaced or run together."""
    letters = "".join(c for c in title.casefold() if c.isalnum())
    return all(word in letters for word in distinguishing(name))
