# SPDX-License-Identifier: Apache-2.0
"""Runs of title words among the tokens of an opening: where one begins, ends, and goes on over a line break (I4)."""

import re
from collections.abc import Sequence
from functools import lru_cache

from haystack_integrations.components.pincite.titles.name_words import (
    HEBREW_HEADS,
    INSTRUMENT_HEADS,
    SMALL_WORDS,
    SUFFIXES,
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

_PREFIX_REACH_CHARS = 400
_MAX_TITLE_TOKENS = 32
_MAX_HEBREW_TOKENS = 14
# Where the body of an instrument begins; no title runs across one of these.
STOPS = frozenset(
    "this between among amongst dated whereas witnesseth date made entered effective parties preamble "
    "recitals background contents article section dear בין לבין להלן page attn attention re ref subject "
    "source now whose i we you".split()
)
_LINKS = frozenset("of for to and & regarding concerning relating with in on under by or the".split())
_INNER_SIGNS = frozenset("&-/,('’)#:–—+®™°")
_INNER_WORDS = SMALL_WORDS | _LINKS | {"n", "no", "nr"}
# "e-business", "co-branding": small letters in a title, but plainly one of its words.
_COMPOUND = re.compile(r"[a-z]{1,5}-[a-z]{3,}$")
# What may stand before a heading and is none of it.
_PREFIX = re.compile(
    r"""(?:
      (?:exhibit|ex|annex|annexure|attachment|appendix|schedule|enclosure|tab)\b\.?\s*(?:no\.?\s*)?
          (?:["'(]?(?:[a-z]|[a-z]?[\d.]+)\)?(?:[-.(][\w.]{1,6}\)?){0,4}["')]?|\([a-z]\)(?:\(\w{1,4}\)){0,2}|[ivx]{1,5})
          (?=[\s:.\-–]|$)\s*[-–:.]?
    | (?:exhibit|annex|attachment|appendix)\b\s*$
    | (?:conformed|execution|executed|redacted|final|draft|signature|electronic|revised|working|public)\s+
          (?:copy|version|draft|form)\b
    | (?:draft|final|sample|specimen|copy)\s*$
    | (?:strictly\s+)?(?:(?:private|personal)\s+(?:and|&)\s+confidential\b)
    | (?:strictly\s+)?(?:private\s+(?:and|&)\s+)?confidential(?=\s|$)
          (?!\s*(?:and|&|disclosure|information|-|agreement|non))
    | confidential\s+treatment\s+(?:has\s+been\s+)?requested(?:\s+by\s+[^\n]{0,60})?
    | table\s+of\s+contents | (?:sample|template|specimen)\s*[:\-]
    | \d{1,3}(?=\s|$)(?!\s*[\w]*\s*(?:year|day|month)) | page\s+\d{1,4}(?:\s+of\s+\d{1,4})?
    | \[[^\[\]\n]{0,80}\] | quicklinks[^\n]{0,90} | last\s+updated:?[^\n]{0,40} | source:[^\n]{0,120}
    | ____ | [-–—*•.|]+(?=\s|$)
    )\s*""",
    re.IGNORECASE | re.VERBOSE,
)


def strip_prefix(line: str) -> str:
    line = line.strip().lstrip("#* ")
    for _ in range(6):
        match = _PREFIX.match(line)
        if not match or not match.end():
            break
        line = line[match.end() :].lstrip()
    return line


def skip_prefix(text: str, tokens: Sequence[Token], i: int) -> int:
    start = tokens[i].start
    line_end = text.find(BREAK, start)
    line = text[start : min(line_end if line_end >= 0 else len(text), start + _PREFIX_REACH_CHARS)]
    kept = strip_prefix(line)
    position = start + len(line.rstrip()) - len(kept.rstrip()) if kept else start + len(line)
    while i < len(tokens) and tokens[i].start < position and tokens[i].text != BREAK:
        i += 1
    return i


def title_run(tokens: Sequence[Token], i: int, *, across_lines: bool) -> Sequence[Token]:
    """The longest run of title words from token ``i``; a line break is crossed only where the title plainly goes on."""
    run: list[Token] = []
    headed_upper = False
    while i < len(tokens) and len(run) < _MAX_TITLE_TOKENS:
        token = tokens[i]
        word = token.lower
        if token.text == BREAK:
            if not (across_lines and run and _goes_on(run, tokens, i)):
                break
            i += 1
            continue
        if word in STOPS and (run or word != "re") and not _inside_title(run, tokens, i):
            break
        if token.text[0].isalnum():
            if not (
                is_capital(token.text)
                or is_caseless(token.text)
                or (run and word in _INNER_WORDS)
                or _COMPOUND.match(token.text)
            ):
                break
            if word == "the" and run and run[-1].text == ",":
                break
            if headed_upper and not is_upper(token.text) and word not in SMALL_WORDS and token.text[0].isalpha():
                break
            headed_upper = headed_upper or (is_head(token) and is_upper(token.text) and len(token.text) > 2)
        elif token.text == ".":
            if not (
                run
                and (run[-1].lower in SUFFIXES or run[-1].lower in ("no", "st", "v", "vs") or len(run[-1].text) == 1)
            ):
                break
        elif token.text not in _INNER_SIGNS or not run or (token.text == "(" and not _closes(tokens, i)):
            break
        run.append(token)
        i += 1
    return run


def _inside_title(run: Sequence[Token], tokens: Sequence[Token], i: int) -> bool:
    """Whether a stop word belongs to the title all the same: "Amendment to Section 2 of the Lease"."""
    return (
        bool(run) and tokens[i].lower in ("section", "article", "effective") and run[-1].lower in ("to", "of", "cost")
    )


def _closes(tokens: Sequence[Token], i: int) -> bool:
    """Whether a parenthesis holds a few title words and no defined term."""
    for token in tokens[i + 1 : i + 9]:
        if token.text == ")":
            return True
        if token.text in ('"', BREAK, BLANK, "(") or token.lower in ("the", "this", "hereinafter"):
            return False
    return False


def _goes_on(run: Sequence[Token], tokens: Sequence[Token], i: int) -> bool:
    following = next((t for t in tokens[i + 1 : i + 3] if t.text != BREAK), None)
    if following is None:
        return False
    last = run[-1]
    if last.lower in _LINKS or last.text in (",", "&", "/", "-"):
        return is_capital(following.text) or following.lower in _LINKS
    if following.lower in ("of", "for", "to", "&", "regarding", "concerning") or (
        following.lower == "and" and not _is_company(run)
    ):
        return True
    line = _line_from(tokens, i + 1)
    headed_next = any(is_head(t) for t in line)
    strong_next = any(is_head(t) and t.lower not in WEAK_HEADS for t in line)
    has_head = any(is_head(t) and not (strong_next and t.lower in WEAK_HEADS) for t in run)
    return not has_head and headed_next and len(line) <= 14 and _same_case(run, line) and not _is_company(run)


def _is_company(run: Sequence[Token]) -> bool:
    return any(t.lower in SUFFIXES for t in run[-2:])


def _same_case(run: Sequence[Token], line: Sequence[Token]) -> bool:
    return all_upper(run) == all_upper(line)


def all_upper(tokens: Sequence[Token]) -> bool:
    return all(is_upper(t.text) or is_caseless(t.text) for t in tokens if t.text[0].isalpha())


def _line_from(tokens: Sequence[Token], i: int) -> Sequence[Token]:
    line: list[Token] = []
    for token in tokens[i : i + 24]:
        if token.text == BREAK:
            if line:
                break
            continue
        line.append(token)
    return line


def title_end(run: Sequence[Token]) -> int:
    """The number of tokens of ``run`` up to its last head noun and what belongs to it; 0 without a head noun."""
    end = 0
    i = 0
    while i < len(run):
        if run[i].lower in HEBREW_HEADS:
            # Hebrew names the kind first; a head noun further on, or in a long line, stands in a sentence.
            return len(run) if i <= 1 and len(run) <= _MAX_HEBREW_TOKENS else 0
        if is_head(run[i]):
            end = i + 1
            if i + 1 < len(run):
                following = run[i + 1].lower
                if following in (
                    "not",
                    "required",
                    "of",
                    "for",
                    "regarding",
                    "concerning",
                    "relating",
                    "to",
                    "on",
                    "no",
                    "number",
                    "(",
                    "with",
                    "in",
                ):
                    end = max(end, _tail_end(run, i + 1))
                    i = max(i, end - 2)
        i += 1
    while end and (run[end - 1].lower in _LINKS or run[end - 1].text in (",", "-", "(", "/", "&", ":", "#")):
        end -= 1
    return end


def _tail_end(run: Sequence[Token], i: int) -> int:
    """Where the words after a head noun end: at a sign that closes them, at a second title, or with the run."""
    depth = 0
    for k in range(i, len(run)):
        depth += (run[k].text == "(") - (run[k].text == ")")
        if run[k].text == ")" and depth == 0 and run[i].text == "(":
            return k + 1
        if depth == 0 and run[k].text == ":" and k > i:
            return k
    return len(run)


def without_front(run: Sequence[Token]) -> Sequence[Token]:
    """Drop a company's name before the title ("ERCHONIA CORPORATION DISTRIBUTOR AGREEMENT") and a doubled title."""
    while len(run) > 2 and run[0].text[0].isdigit() and (len(run[0].text) > 4 or not run[1].text[0].isalnum()):
        run = run[1:] if run[1].text[0].isalnum() else run[2:]
    half = len(run) // 2
    if half and [t.lower for t in run[:half]] == [t.lower for t in run[half:]]:
        run = run[:half]
    first_head = next((k for k, t in enumerate(run) if is_head(t)), 0)
    for k in range(first_head - 2, 0, -1):
        if run[k].lower in SUFFIXES and run[k].lower not in ("se", "de", "co", "company", "limited", "as"):
            rest = run[k + 1 :]
            while rest and not rest[0].text[0].isalnum():
                rest = rest[1:]
            return rest if len(rest) > 1 else run
    return run


def position_after(run: Sequence[Token], tokens: Sequence[Token], i: int) -> int:
    """The position after a run that began at token ``i``; line breaks inside it are not in the run."""
    while i < len(tokens) and run and tokens[i].start <= run[-1].start:
        i += 1
    return i if run else i + 1


def joined(run: Sequence[Token]) -> str:
    """The words of a run with single spaces, signs set as in print."""
    text = " ".join(t.text for t in run)
    text = re.sub(r" ([,.):;®™])", r"\1", text)
    text = re.sub(r"([(#]) ", r"\1", text)
    return re.sub(r"(\w) (['/]) (\w)", r"\1\2\3", text)


def is_head(token: Token) -> bool:
    return _head_word(token.lower)


@lru_cache(maxsize=8_192)
def _head_word(word: str) -> bool:
    return any(p in INSTRUMENT_HEADS for p in (word, word.rsplit("/", 1)[-1], word.rsplit("-", 1)[-1]))
