# SPDX-License-Identifier: Apache-2.0
"""What a query asks, once the names of instruments and the words that tie them to the sentence are taken out (N2)."""

import re
from collections.abc import Sequence
from itertools import pairwise

from haystack_integrations.components.pincite.naming.hebrew_names import hebrew_classes
from haystack_integrations.components.pincite.naming.query_sentence import Sentence

_SPACES = re.compile(r"\s+")
_EMPTY = re.compile(r"\(\s*\)|\[\s*\]|\"\s*\"|“\s*”|'\s+'|‘\s*’|«\s*»")
_EDGES = " \t\r\n,;:.?!-–—/|\"'“”‘’«»()[]"
_OPENERS = "([\"“‘'«„"
_CLOSERS = ")]\"”’'»“®™"
_BEFORE_MARK = re.compile(r"\s+([,.;:?!])(?=\s|$)")
_ABOUT = ("about", "on", "regarding", "concerning", "for", "of", "as", "to", "with", "respect", "in", "relation")
# "the renewal clause": words for a place in the document, not for what it says there.
_PLACES = {"clause", "clauses", "provision", "provisions", "section", "sections", "paragraph", "paragraphs", "language"}
_LONGEST_TIE = 5


def topic_text(sentence: Sentence, names: Sequence[tuple[int, int]]) -> str:
    """
    The query without the named instruments.

    :param sentence: the query.
    :param names: word ranges (half-open) of the names, in order.
    :returns: the user's words in their order; the whole query if only names and function words stand in it.
    """
    gone = [False] * len(sentence)
    for start, end in names:
        gone[start:end] = [True] * (end - start)
    for start, _ in names:
        _untie(sentence, gone, start)
    for (_, end), (start, _) in pairwise(names):
        if all(
            gone[position] or sentence.words[position] in ("and", "or", "with", "to") for position in range(end, start)
        ):
            gone[end:start] = [True] * (start - end)
    for start, end in names:
        _remove_saying(sentence, gone, start, end)
    _remove_request(sentence, gone)
    if not any(_is_content(sentence, position) for position in range(len(sentence)) if not gone[position]):
        return sentence.query
    return _join(sentence, gone) or sentence.query


def _untie(sentence: Sentence, gone: list[bool], start: int) -> None:
    """Remove the article and the preposition before a name: "*according to the* Acme lease"."""
    ties = sentence.classes.before | hebrew_classes(sentence.vocabulary).before
    position = start
    if position and sentence.words[position - 1] in sentence.classes.determiners and not sentence.hard[position]:
        position -= 1
        gone[position] = True
    for length in range(_LONGEST_TIE, 0, -1):
        first = position - length
        if first < 0 or any(sentence.hard[first + 1 : position + 1]):
            continue
        if tuple(sentence.words[first:position]) in ties:
            gone[first:position] = [True] * length
            return


def _remove_saying(sentence: Sentence, gone: list[bool], start: int, end: int) -> None:
    """Remove "what does .. say about" around a name."""
    before = next((position for position in range(start - 1, -1, -1) if not gone[position]), -1)
    hebrew = hebrew_classes(sentence.vocabulary)
    if sentence.word(before) in hebrew.saying and sentence.word(end) in hebrew.about:
        question = before - (sentence.word(before - 1) in hebrew.questions)
        gone[question : before + 1] = [True] * (before + 1 - question)
        gone[end] = True
        return
    if (
        sentence.word(end) not in sentence.classes.saying
        or before < 0
        or sentence.words[before] not in ("does", "do", "did")
    ):
        return
    after = end + 1
    if sentence.word(after) in ("anything", "something"):
        after += 1
    question = before - 1 if before and sentence.words[before - 1] in ("what", "how") else before
    if sentence.word(after) not in _ABOUT:
        return
    while sentence.word(after) in _ABOUT:
        after += 1
    gone[question : before + 1] = [True] * (before + 1 - question)
    gone[end:after] = [True] * (after - end)


def _remove_request(sentence: Sentence, gone: list[bool]) -> None:
    """
    Remove what asks for the answer and says nothing of it: "*show me the clause on* renewal", "renewal *clause*".

    Words such as "show" and "clause" would be looked for in the document, where they are of no use.
    """
    left = [position for position in range(len(sentence)) if not gone[position]]
    content = [position for position in left if _is_content(sentence, position)]
    if not content:
        return
    removed = [position for position in left if position < content[0]] if _asks(sentence, left, content[0]) else []
    first = left.index(content[0])
    if sentence.words[content[0]] in _PLACES and len(left) > first + 1 and sentence.words[left[first + 1]] in _ABOUT:
        removed = left[: first + 2]
    last = content[-1]
    if sentence.words[last] in _PLACES and last not in removed and (last == left[-1] or gone[last + 1]):
        removed.append(last)
    if set(content) - set(removed):
        for position in removed:
            gone[position] = True


def _asks(sentence: Sentence, left: Sequence[int], until: int) -> bool:
    return any(position < until and sentence.words[position] in sentence.classes.requests for position in left)


def _is_content(sentence: Sentence, position: int) -> bool:
    classes, word = sentence.classes, sentence.words[position]
    hebrew = hebrew_classes(sentence.vocabulary)
    if word in hebrew.questions | hebrew.saying | hebrew.about | hebrew.deictic | hebrew.ties:
        return False
    return word in classes.verbs or not (word in classes.stops or word in classes.saying or word in classes.requests)


def _join(sentence: Sentence, gone: Sequence[bool]) -> str:
    """The words that are left, with the marks that stood between them."""
    pieces: list[str] = []
    for position, token in enumerate(sentence.tokens):
        if gone[position]:
            # Marks inside a name go with it; the mark before it may also end what is asked.
            pieces.append(token.gap.rstrip(_OPENERS) if position and not gone[position - 1] else " ")
        else:
            gap = token.gap.lstrip(_CLOSERS) if position and gone[position - 1] else token.gap
            pieces.append(gap + sentence.query[token.start : token.end])
    text = _EMPTY.sub(" ", _SPACES.sub(" ", "".join(pieces)))
    return _SPACES.sub(" ", _BEFORE_MARK.sub(r"\1", text)).strip(_EDGES)
