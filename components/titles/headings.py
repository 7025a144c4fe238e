# SPDX-License-Identifier: Apache-2.0
"""The heading under which a document goes: found in its opening, without exhibit numbers, notices and debris (I4)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from haystack_integrations.components.pincite.titles.name_words import (
    HEBREW_HEADS,
    MONTHS,
    SMALL_WORDS,
    STRONG_HEADS,
    WEAK_HEADS,
)
from haystack_integrations.components.pincite.titles.opening_text import (
    BLANK,
    BREAK,
    Token,
    is_capital,
    is_caseless,
    is_upper,
)
from haystack_integrations.components.pincite.titles.title_runs import (
    STOPS,
    all_upper,
    is_head,
    joined,
    position_after,
    skip_prefix,
    strip_prefix,
    title_end,
    title_run,
    without_front,
)

_REACH_CHARS = 4_000
_MAX_CANDIDATES = 12
_UNSUPPORTED_REACH = 800
_RESTARTS = frozenset({".", BREAK, BLANK, '"', "]", ")"})
_AMENDING = re.compile(
    r"(?:first|second|third|fourth|fifth|sixth)?\s*(?:amendment|addendum|supplement)"
    r"(?:\s*(?:no|nr|number|n)?[\s.°#]*\d{1,3})?$",
    re.IGNORECASE,
)
_AMENDED_REACH_CHARS = 700
_AMENDED_BEFORE = frozenset("the that certain fully executed existing original above-referenced".split())
_EMPTY_WORDS = frozenset("the no this first second third fourth fifth n nr form of letter".split())
_NOTICE = re.compile(
    r"\b(?:omitted|redacted|confidential treatment|securities and exchange commission|filed separately|regulation s-k|"
    r"competitive harm|asterisks?|not material|rule 24b|rule 406|portions of this|confidential portions)\b",
    re.IGNORECASE,
)
_DATE_LINE = re.compile(
    r"(?:dated?:?\s*)?(?:as of\s*)?"
    r"(?:[\d./\-]{6,12}|(?:\d{1,2}(?:st|nd|rd|th)?\s+)?[A-Z][a-z]{2,8}\.?\s*(?:\d{1,2},?\s*)?\d{4})$",
    re.IGNORECASE,
)
_HEAD_WORDS = frozenset(w.removesuffix("s") for w in STRONG_HEADS | WEAK_HEADS)
_MARKDOWN = re.compile(r"^#{1,3}[ \t]+([^\n#]{2,200})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading as it stands in the opening: its words, and where it begins and ends; ``marked`` as one by Markdown."""

    text: str
    start: int
    end: int
    marked: bool = False


def is_generic(title: str) -> bool:
    """Whether a title names a kind so wide that it tells nothing: "Agreement", "Contract", "Amendment No. 1"."""
    words = [w for w in re.findall(r"[^\W\d_]+", title.casefold()) if w not in _EMPTY_WORDS]
    return len(words) <= 1


def find_heading(text: str, tokens: list[Token], kind: str = "", *, trusted: bool = False) -> Heading | None:
    """
    Find the heading of the document whose squeezed opening is ``text``.

    ``kind`` is what the file name says the document is; among several candidates (a cover, a table of contents, the
    form attached to another document) the one that agrees with it and with the first sentence wins. Returns ``None``
    where nothing looks like a heading; with ``trusted`` (a file name of a known form) also where no candidate shares a
    telling word with ``kind``.
    """
    sentence = _sentence_title(tokens)
    candidates = list(_candidates(text, tokens))
    wanted = _content(sentence.text if sentence else "") | _content(kind)
    if not wanted:
        # Nothing else tells what the document is: a title deep in the text would be that of something it mentions.
        candidates = [c for c in candidates if c.start < _UNSUPPORTED_REACH]
    best = max(candidates, key=lambda c: (_score(c, wanted, tokens), -c.start), default=None)
    telling = _content(kind) - _HEAD_WORDS
    if (
        best is not None
        and trusted
        and not sentence
        and telling
        and not telling & _content(best.text)
        and _doubtful(best)
    ):
        return None
    if sentence and (best is None or is_generic(best.text) or _score(best, wanted, tokens) < 0):
        best = sentence
    elif best and sentence and _content(best.text) < _content(sentence.text) and best.start < sentence.start:
        best = Heading(sentence.text, best.start, sentence.end)
    if best is not None and _AMENDING.match(best.text):
        return _with_amended(best, tokens)
    return best


def _doubtful(heading: Heading) -> bool:
    """Whether a candidate is no certain title: of a weak kind, generic, or deep in the text."""
    strong = not _heads(heading.text).isdisjoint(STRONG_HEADS | HEBREW_HEADS)
    return not strong or is_generic(heading.text) or heading.start > _UNSUPPORTED_REACH


def _with_amended(heading: Heading, tokens: list[Token]) -> Heading:
    """ "Amendment No. 2" is no name: add what is amended, "to that certain Supply Agreement"."""
    for i, token in enumerate(tokens):
        if token.start < heading.end or token.lower not in (
            "to",
            "amends",
            "amending",
            "amend",
            "of",
            "the",
            "certain",
        ):
            continue
        if token.start > heading.end + _AMENDED_REACH_CHARS:
            break
        place = i + 1
        while place < len(tokens) and tokens[place].lower in _AMENDED_BEFORE:
            place += 1
        run = title_run(tokens, place, across_lines=True)
        end = title_end(run)
        if end > 1 and not is_generic(joined(run[:end])) and not _AMENDING.match(joined(run[:end])):
            return Heading(f"{heading.text} to {joined(run[:end])}", heading.start, run[end - 1].end)
    return heading


def first_line(text: str) -> Heading | None:
    """The first line of a text that looks like a heading: Markdown's mark, or short and no sentence."""
    marked = _MARKDOWN.search(text)
    if marked:
        return Heading(marked.group(1).strip(), marked.start(1), marked.end(1), marked=True)
    for start, line in _lines(text, limit=6):
        body = strip_prefix(line)
        words = body.split()
        if not words or _NOTICE.search(body) or _DATE_LINE.match(body) or (body[0] == "(" and body[-1] == ")"):
            continue
        looks = len(body) <= 110 and len(words) <= 16 and body[-1] not in ".,;:" and any(c.isalpha() for c in body)
        alone = start + len(line) < len(text)
        if looks and alone and (is_capital(words[0]) or is_caseless(words[0])):
            offset = start + line.find(body)
            return Heading(body, offset, offset + len(body))
        return None
    return None


def _lines(text: str, limit: int) -> Iterator[tuple[int, str]]:
    start = 0
    for count, line in enumerate(text.split(BREAK)):
        if count >= limit:
            return
        yield start, line
        start += len(line) + 1


def _content(title: str) -> set[str]:
    words = re.findall(r"[^\W_]+", title.casefold().replace("'s", ""))
    return {w.removesuffix("s") for w in words} - SMALL_WORDS - {"this", "form"}


def _score(candidate: Heading, wanted: set[str], tokens: list[Token]) -> float:
    content = _content(candidate.text)
    shared = len(content & wanted) / max(1, len(wanted)) if wanted else 0.5
    foreign = len(content - wanted) / max(1, len(content)) if wanted else 0.0
    score = 3 * shared - 0.5 * foreign - candidate.start / 2_000
    score += 0.5 if _heads(candidate.text) & (STRONG_HEADS | HEBREW_HEADS) else -0.3
    return score - (0.7 if is_generic(candidate.text) else 0.0)


def _heads(title: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)?", title.casefold())) | set(
        re.findall(r"[^\W\d_]+", title.casefold())
    )


def _sentence_title(tokens: list[Token]) -> Heading | None:
    """The name an instrument gives itself: "This Marketing Affiliate Agreement (the "Agreement") is entered into"."""
    for i, token in enumerate(tokens[:-2]):
        if token.text not in ("This", "THIS", "this"):
            continue
        run = title_run(tokens, i + 1, across_lines=True)
        end = title_end(run)
        if 2 <= end <= 16 and not is_generic(joined(run[:end])):
            return Heading(joined(run[:end]), run[0].start, run[end - 1].end)
    return None


def _candidates(text: str, tokens: list[Token]) -> Iterator[Heading]:
    """Runs of title words that hold an instrument's head noun, in order of the text."""
    i = 0
    found = 0
    fresh = True
    while i < len(tokens) and found < _MAX_CANDIDATES and tokens[i].start < _REACH_CHARS:
        if tokens[i].text == BREAK:
            fresh, i = True, i + 1
            continue
        opened = fresh
        if fresh:
            i = skip_prefix(text, tokens, i)
            fresh = False
            if i >= len(tokens) or tokens[i].text == BREAK:
                continue
        # Inside a line a title can only be told by its capitals.
        if not opened and (not is_upper(tokens[i].text) or is_upper(tokens[i - 1].text)):
            fresh = tokens[i].text in _RESTARTS
            i += 1
            continue
        run = title_run(tokens, i, across_lines=True)
        end = title_end(run)
        if end and _plausible(run[:end], tokens, i, alone=opened):
            yield Heading(joined(without_front(run[:end])), run[0].start, run[end - 1].end)
            found += 1
        i = position_after(run[:end] if end else run[:1], tokens, i)
        fresh = tokens[i - 1].text in _RESTARTS


def _plausible(run: Sequence[Token], tokens: list[Token], i: int, *, alone: bool) -> bool:
    words = [t for t in run if t.text[0].isalpha()]
    if len(run) > 1 and run[0].text.isdigit() and run[1].text == ".":
        return False
    if not words or len(words) > 28 or all(t.lower in MONTHS for t in words):
        return False
    text = joined(run)
    if len(text) > 220 or _NOTICE.search(text):
        return False
    strong = any(is_head(t) and t.lower not in WEAK_HEADS for t in run)
    after = position_after(run, tokens, i)
    ends = after >= len(tokens) or tokens[after].text in (BREAK, "(", '"') or tokens[after].lower in STOPS
    if not (all_upper(run) or ends):
        return False
    return (strong and (len(words) > 1 or alone)) or (alone and ends and len(words) > 1)
