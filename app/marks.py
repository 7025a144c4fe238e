# SPDX-License-Identifier: Apache-2.0
"""Which words of a passage answer the question, and which stretch of a long passage shows most of them."""

import re
import unicodedata
from typing import NamedTuple

_LETTERS = r"(?:[^\W_][\u0300-\u036f\u0591-\u05c7]*)+"  # each with its accents or Hebrew points
_WORD = re.compile(rf"{_LETTERS}(?:['’׳\"״]{_LETTERS})*")
_HEBREW = re.compile("[\u05d0-\u05ea]")
_HEBREW_PREFIXES = "והבלכמש"
# Marks inside abbreviations go, and final letters are ordinary ones: one word, whoever types it.
_HEBREW_SIGNS = str.maketrans("ךםןףץ", "כמנפצ", "'’׳\"״")
_JOINER_LENGTH = 12  # characters between two marked words that one mark may bridge ("limitation *of* liability")

# Longest first: the first that fits is taken off.
_SUFFIXES = (
    "ations", "ation", "ments", "ment", "ities", "ings", "ions", "ity", "ing", "ion", "ies", "ied", "ers", "ors",
    "es", "ed", "er", "or", "al", "ly", "s", "e", "y",
)  # fmt: skip
_SHORTEST_STEM = 4

_STOP_TEXT = """
    a about above after all also am an and any are as at be been before being below between both but by can could
    did do does doing during each for from further had has have having he her here him his how i if in into is it its
    may me more most must my no nor not of off on once only or other our out over own per say says same shall she
    should so some such than that the their them then there these they this those through to too under until up us
    very was we were what when where whether which while who whom whose why will with would you your
    של את על אל עם כי אם או גם לא כל זה זו זאת הוא היא הם הן מה מי איך אין יש אשר בין לפי אצל עד רק מהו מהי
    האם כמה מתי היכן איפה מדוע למה
"""
_STOP_WORDS = frozenset(_STOP_TEXT.split())


class Stretch(NamedTuple):
    """A half-open range of characters."""

    start: int
    end: int


def _bare(word: str) -> str:
    """Case, width, accents and Hebrew points removed."""
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def _stem(word: str) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM:
            return word.removesuffix(suffix)
    return word


def stems(word: str) -> frozenset[str]:
    """
    The forms under which two words count as the same; none for a stop word.

    English endings are cut without a dictionary; a Hebrew word also stands for itself without one-letter prefixes
    (and, the, in, to, as, from, that), of which no word has more than two that matter here.
    """
    bare = re.sub(r"['’]s?$", "", _bare(word))
    if bare in _STOP_WORDS or (len(bare) == 1 and not bare.isdigit()):
        return frozenset()
    if not _HEBREW.search(bare):
        return frozenset({_stem(bare)})
    bare = bare.translate(_HEBREW_SIGNS)
    forms = {bare}
    for cut in (1, 2):
        if len(bare) - cut >= 3 and all(char in _HEBREW_PREFIXES for char in bare[:cut]):
            forms.add(bare[cut:])
    return frozenset(forms)


def topic_stems(topic: str) -> frozenset[str]:
    """The stems of a topic's words, stop words left out."""
    return frozenset().union(*(stems(word) for word in _WORD.findall(topic)))


def _hits(text: str, topic: frozenset[str]) -> list[tuple[Stretch, str]]:
    found = []
    for match in _WORD.finditer(text):
        shared = stems(match.group()) & topic
        if shared:
            found.append((Stretch(*match.span()), min(shared)))
    return found


def marked(text: str, topic: frozenset[str]) -> list[Stretch]:
    """
    The stretches of ``text`` to mark: words of the topic, joined where only stop words stand between them.

    :param topic: from :func:`topic_stems`.
    :returns: stretches in order, not overlapping.
    """
    joined: list[Stretch] = []
    for stretch, _ in _hits(text, topic):
        if joined and _is_bridge(text[joined[-1].end : stretch.start]):
            joined[-1] = Stretch(joined[-1].start, stretch.end)
        else:
            joined.append(stretch)
    return joined


def _is_bridge(between: str) -> bool:
    if len(between) > _JOINER_LENGTH or re.search(r"[^\w\s-]", between):
        return False
    return all(_bare(word) in _STOP_WORDS for word in _WORD.findall(between))


def best_window(text: str, topic: frozenset[str], size: int) -> Stretch:
    """
    The stretch of at most ``size`` characters with the most different words of the topic, cut at words.

    Among equals the one with more marked words, then the earliest. What room is left goes before and behind, so that
    the words stand in their sentence; a sentence that begins a little earlier is taken from its beginning.

    :param topic: from :func:`topic_stems`.
    :param size: characters, at least 1.
    """
    if len(text) <= size:
        return Stretch(0, len(text))
    core = _densest(_hits(text, topic), size)
    room = max(0, size - (core.end - core.start))
    start = max(0, core.start - room // 2)
    if core.start == core.end or core.end <= size // 2:
        start = 0
    start = min(start, len(text) - size)
    start = _sentence_start(text, start, core.start)
    end = min(len(text), start + size)
    return Stretch(start, _word_end(text, start, end))


def _densest(hits: list[tuple[Stretch, str]], size: int) -> Stretch:
    best, best_key = Stretch(0, 0), (0, 0)
    for first in range(len(hits)):
        start = hits[first][0].start
        inside = [hit for hit in hits[first:] if hit[0].end - start <= size]
        key = (len({stem for _, stem in inside}), len(inside))
        if key > best_key:
            best, best_key = Stretch(start, inside[-1][0].end), key
    return best


def _sentence_start(text: str, start: int, core_start: int) -> int:
    """The first sentence or word that begins at or after ``start`` and no later than the words to show."""
    if start == 0:
        return 0
    sentence = re.compile(r"[.;:!?]\s+(?=\S)").search(text, start, core_start)
    if sentence and sentence.end() <= core_start:
        return sentence.end()
    if text[start - 1].isspace():
        return start
    space = text.find(" ", start, core_start)
    return space + 1 if space >= 0 else start


def _word_end(text: str, start: int, end: int) -> int:
    if end >= len(text) or text[end].isspace():
        return end
    space = text.rfind(" ", start, end)
    return space if space > start else end


def excerpt(text: str, topic: frozenset[str], size: int) -> str:
    """The best window of ``text`` with an ellipsis on each side that was cut, at most ``size`` characters in all."""
    if len(text) <= size:
        return text
    window = best_window(text, topic, max(1, size - 4))
    before = "… " if window.start else ""
    after = " …" if window.end < len(text) else ""
    return f"{before}{text[window.start : window.end].strip()}{after}"
