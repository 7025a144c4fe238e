# SPDX-License-Identifier: Apache-2.0
"""The heading under which a document goes: found in its opening, freed of exhibit numbers, notices and page debris (I4)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from haystack_integrations.components.pincite.name_words import (
    HEBREW_HEADS,
    INSTRUMENT_HEADS,
    MONTHS,
    SMALL_WORDS,
    STRONG_HEADS,
    SUFFIXES,
    WEAK_HEADS,
)
from haystack_integrations.components.pincite.opening_text import BLANK, BREAK, Token, is_capital, is_caseless, is_upper

_MAX_TITLE_TOKENS = 32
_REACH_CHARS = 4_000
_MAX_CANDIDATES = 12
_UNSUPPORTED_REACH = 800
# Where the body of an instrument begins; no title runs across one of these.
_STOPS = frozenset(
    "this between among amongst dated whereas witnesseth date made entered effective parties preamble recitals background "
    "contents article section dear בין לבין להלן page attn attention re ref subject source now whose i we you".split()
)
_THIS = frozenset({"this", "the", "present"})
_LINKS = frozenset("of for to and & regarding concerning relating with in on under by or the".split())
_RESTARTS = frozenset({".", BREAK, BLANK, '"', "]", ")"})
_INNER_SIGNS = frozenset("&-/,('’)#:–—+®™°")
_INNER_WORDS = SMALL_WORDS | _LINKS | {"n", "no", "nr"}
# "e-business", "co-branding": small letters in a title, but plainly one of its words.
_COMPOUND = re.compile(r"[a-z]{1,5}-[a-z]{3,}$")
# What may stand before a heading and is none of it.
_PREFIX = re.compile(
    r"""(?:
      (?:exhibit|ex|annex|annexure|attachment|appendix|schedule|enclosure|tab)\b\.?\s*(?:no\.?\s*)?
          (?:["'(]?(?:[a-z]|[a-z]?[\d.]+)\)?(?:[-.(][\w.]{1,6}\)?){0,4}["')]?|\([a-z]\)(?:\(\w{1,4}\)){0,2}|[ivx]{1,5})(?=[\s:.\-–]|$)\s*[-–:.]?
    | (?:exhibit|annex|attachment|appendix)\b\s*$
    | (?:conformed|execution|executed|redacted|final|draft|signature|electronic|revised|working|public)\s+(?:copy|version|draft|form)\b
    | (?:strictly\s+)?(?:(?:private|personal)\s+(?:and|&)\s+confidential\b)
    | (?:strictly\s+)?(?:private\s+(?:and|&)\s+)?confidential(?=\s|$)(?!\s*(?:and|&|disclosure|information|-|agreement|non))
    | confidential\s+treatment\s+(?:has\s+been\s+)?requested(?:\s+by\s+[^\n]{0,60})?
    | table\s+of\s+contents | (?:sample|template|specimen)\s*[:\-]
    | \d{1,3}(?=\s|$)(?!\s*[\w]*\s*(?:year|day|month)) | page\s+\d{1,4}(?:\s+of\s+\d{1,4})?
    | \[[^\[\]\n]{0,80}\] | quicklinks[^\n]{0,90} | last\s+updated:?[^\n]{0,40} | source:[^\n]{0,120}
    | ____ | [-–—*•.|]+(?=\s|$)
    )\s*""",
    re.IGNORECASE | re.VERBOSE,
)
_AMENDING = re.compile(
    r"(?:first|second|third|fourth|fifth|sixth)?\s*(?:amendment|addendum|supplement)(?:\s*(?:no|nr|number|n)?[\s.°#]*\d{1,3})?$",
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
    r"(?:dated?:?\s*)?(?:as of\s*)?(?:[\d./\-]{6,12}|(?:\d{1,2}(?:st|nd|rd|th)?\s+)?[A-Z][a-z]{2,8}\.?\s*(?:\d{1,2},?\s*)?\d{4})$",
    re.IGNORECASE,
)
_HEAD_WORDS = frozenset(w.removesuffix("s") for w in STRONG_HEADS | WEAK_HEADS)
_MARKDOWN = re.compile(r"^#{1,3}[ \t]+([^\n#]{2,200})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading as it stands in the opening: its words, and where in the squeezed text it begins and ends."""

    text: str
    start: int
    end: int
    instrument: bool = True


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
        run = _run(tokens, place, across_lines=True)
        end = _cut_tail(run)
        if end > 1 and not is_generic(_join(run[:end])) and not _AMENDING.match(_join(run[:end])):
            return Heading(f"{heading.text} to {_join(run[:end])}", heading.start, run[end - 1].end)
    return heading


def first_line(text: str) -> Heading | None:
    """The first line of a text that looks like a heading: Markdown's mark, or short and no sentence."""
    marked = _MARKDOWN.search(text)
    if marked:
        return Heading(marked.group(1).strip(), marked.start(1), marked.end(1), instrument=False)
    for start, line in _lines(text, limit=6):
        body = _strip_prefix(line)
        words = body.split()
        if not words or _NOTICE.search(body) or _DATE_LINE.match(body) or (body[0] == "(" and body[-1] == ")"):
            continue
        looks = len(body) <= 110 and len(words) <= 16 and body[-1] not in ".,;:" and any(c.isalpha() for c in body)
        alone = start + len(line) < len(text)
        if looks and alone and (is_capital(words[0]) or is_caseless(words[0])):
            offset = start + line.find(body)
            return Heading(body, offset, offset + len(body), instrument=False)
        return None
    return None


def _lines(text: str, limit: int) -> Iterator[tuple[int, str]]:
    start = 0
    for count, line in enumerate(text.split(BREAK)):
        if count >= limit:
            return
        yield start, line
        start += len(line) + 1


def _strip_prefix(line: str) -> str:
    line = line.strip().lstrip("#* ")
    for _ in range(6):
        match = _PREFIX.match(line)
        if not match or not match.end():
            break
        line = line[match.end() :].lstrip()
    return line


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


def _is_head(token: Token) -> bool:
    return _head_word(token.lower)


@lru_cache(maxsize=8_192)
def _head_word(word: str) -> bool:
    return any(p in INSTRUMENT_HEADS for p in (word, word.rsplit("/", 1)[-1], word.rsplit("-", 1)[-1]))


def _sentence_title(tokens: list[Token]) -> Heading | None:
    """The name an instrument gives itself: "This Marketing Affiliate Agreement (the "Agreement") is entered into"."""
    for i, token in enumerate(tokens[:-2]):
        if token.text not in ("This", "THIS", "this"):
            continue
        run = _run(tokens, i + 1, across_lines=True)
        end = _cut_tail(run)
        if 2 <= end <= 16 and not is_generic(_join(run[:end])):
            return Heading(_join(run[:end]), run[0].start, run[end - 1].end)
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
            i = _skip_prefix(text, tokens, i)
            fresh = False
            if i >= len(tokens) or tokens[i].text == BREAK:
                continue
        # Inside a line a title can only be told by its capitals.
        if not opened and (not is_upper(tokens[i].text) or is_upper(tokens[i - 1].text)):
            fresh = tokens[i].text in _RESTARTS
            i += 1
            continue
        run = _run(tokens, i, across_lines=True)
        end = _cut_tail(run)
        if end and _plausible(run[:end], tokens, i, alone=opened):
            yield Heading(_join(_cut_front(run[:end])), run[0].start, run[end - 1].end)
            found += 1
        i = _after(run[:end] if end else run[:1], tokens, i)
        fresh = tokens[i - 1].text in _RESTARTS


def _after(run: list[Token], tokens: list[Token], i: int) -> int:
    """The position after a run that began at token ``i``; line breaks inside it are not in the run."""
    while i < len(tokens) and run and tokens[i].start <= run[-1].start:
        i += 1
    return i if run else i + 1


def _skip_prefix(text: str, tokens: list[Token], i: int) -> int:
    start = tokens[i].start
    line_end = text.find(BREAK, start)
    line = text[start : line_end if line_end >= 0 else len(text)]
    kept = _strip_prefix(line)
    position = start + len(line.rstrip()) - len(kept.rstrip()) if kept else start + len(line)
    while i < len(tokens) and tokens[i].start < position and tokens[i].text != BREAK:
        i += 1
    return i


def _run(tokens: list[Token], i: int, *, across_lines: bool) -> list[Token]:
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
        if word in _STOPS and (run or word != "re") and not _inside_title(run, tokens, i):
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
            headed_upper = headed_upper or (_is_head(token) and is_upper(token.text) and len(token.text) > 2)
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


def _inside_title(run: list[Token], tokens: list[Token], i: int) -> bool:
    """ "Section 8 Lease", "Power of Attorney for Effective ..." are rare; "Code of Conduct and Article 5 Policy" too."""
    return (
        bool(run) and tokens[i].lower in ("section", "article", "effective") and run[-1].lower in ("to", "of", "cost")
    )


def _closes(tokens: list[Token], i: int) -> bool:
    """Whether a parenthesis holds a few title words and no defined term."""
    for token in tokens[i + 1 : i + 9]:
        if token.text == ")":
            return True
        if token.text in ('"', BREAK, BLANK, "(") or token.lower in ("the", "this", "hereinafter"):
            return False
    return False


def _goes_on(run: list[Token], tokens: list[Token], i: int) -> bool:
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
    headed_next = any(_is_head(t) for t in line)
    strong_next = any(_is_head(t) and t.lower not in WEAK_HEADS for t in line)
    has_head = any(_is_head(t) and not (strong_next and t.lower in WEAK_HEADS) for t in run)
    return not has_head and headed_next and len(line) <= 14 and _same_case(run, line) and not _is_company(run)


def _is_company(run: list[Token]) -> bool:
    return any(t.lower in SUFFIXES for t in run[-2:])


def _same_case(run: list[Token], line: list[Token]) -> bool:
    return _all_upper(run) == _all_upper(line)


def _all_upper(tokens: list[Token]) -> bool:
    return all(is_upper(t.text) or is_caseless(t.text) for t in tokens if t.text[0].isalpha())


def _line_from(tokens: list[Token], i: int) -> list[Token]:
    line: list[Token] = []
    for token in tokens[i : i + 24]:
        if token.text == BREAK:
            if line:
                break
            continue
        line.append(token)
    return line


def _cut_tail(run: list[Token]) -> int:
    """The number of tokens of ``run`` up to its last head noun and what belongs to it; 0 without a head noun."""
    end = 0
    i = 0
    while i < len(run):
        if run[i].lower in HEBREW_HEADS:
            return len(run)
        if _is_head(run[i]):
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


def _tail_end(run: list[Token], i: int) -> int:
    """Where the words after a head noun end: at a sign that closes them, at a second title, or with the run."""
    depth = 0
    for k in range(i, len(run)):
        depth += (run[k].text == "(") - (run[k].text == ")")
        if run[k].text == ")" and depth == 0 and run[i].text == "(":
            return k + 1
        if depth == 0 and run[k].text == ":" and k > i:
            return k
    return len(run)


def _cut_front(run: list[Token]) -> list[Token]:
    """Drop a company's name before the title ("ERCHONIA CORPORATION DISTRIBUTOR AGREEMENT") and a doubled title."""
    while len(run) > 2 and run[0].text[0].isdigit() and (len(run[0].text) > 4 or not run[1].text[0].isalnum()):
        run = run[1:] if run[1].text[0].isalnum() else run[2:]
    half = len(run) // 2
    if half and [t.lower for t in run[:half]] == [t.lower for t in run[half:]]:
        run = run[:half]
    first_head = next((k for k, t in enumerate(run) if _is_head(t)), 0)
    for k in range(first_head - 2, 0, -1):
        if run[k].lower in SUFFIXES and run[k].lower not in ("se", "de", "co", "company", "limited", "as"):
            rest = run[k + 1 :]
            while rest and not rest[0].text[0].isalnum():
                rest = rest[1:]
            return rest if len(rest) > 1 else run
    return run


def _plausible(run: list[Token], tokens: list[Token], i: int, *, alone: bool) -> bool:
    words = [t for t in run if t.text[0].isalpha()]
    if len(run) > 1 and run[0].text.isdigit() and run[1].text == ".":
        return False
    if not words or len(words) > 28 or all(t.lower in MONTHS for t in words):
        return False
    text = _join(run)
    if len(text) > 220 or _NOTICE.search(text):
        return False
    strong = any(_is_head(t) and t.lower not in WEAK_HEADS for t in run)
    after = _after(run, tokens, i)
    ends = after >= len(tokens) or tokens[after].text in (BREAK, "(", '"') or tokens[after].lower in _STOPS
    if not (_all_upper(run) or ends):
        return False
    return (strong and (len(words) > 1 or alone)) or (alone and ends and len(words) > 1)


def _join(run: list[Token]) -> str:
    """The words of a run with single spaces, signs set as in print."""
    text = " ".join(t.text for t in run)
    text = re.sub(r" ([,.):;®™])", r"\1", text)
    text = re.sub(r"([(#]) ", r"\1", text)
    return re.sub(r"(\w) (['/]) (\w)", r"\1\2\3", text)
