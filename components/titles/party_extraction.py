# SPDX-License-Identifier: Apache-2.0
"""Who an instrument is between: party names and their defined short names, read from its opening (I4)."""

from collections.abc import Iterator, Sequence

from haystack_integrations.components.pincite.titles.name_words import INSTRUMENT_HEADS
from haystack_integrations.components.pincite.titles.opening_text import BLANK, BREAK, Token, closing, is_capital
from haystack_integrations.components.pincite.titles.party_mentions import (
    NameSpan,
    Party,
    addressed_party,
    defined_parties,
    key,
    labelled_parties,
    signing_parties,
    with_aliases,
)
from haystack_integrations.components.pincite.titles.party_names import introduced, is_company, is_suffix, read_name

_MAX_PARTIES = 12
_MAX_ANCHORS = 8
_WINDOW_TOKENS = 600
# A list begins right after its anchor; a name further on belongs to another sentence.
_FIRST_NAME_TOKENS = 16
# A list of names without any proof counts only this near the front, in a sentence that speaks of an instrument.
_UNPROVEN_REACH_CHARS = 2_500
_LONE_REACH_CHARS = 1_200

_BETWEEN = frozenset({"between", "among", "amongst", "betweeen", "בין"})
_GIVING = frozenset("made given into granted executed delivered issued".split())
_ENDS = frozenset(
    "whereas witnesseth recitals recital background preamble whereby agrees agree contents article הואיל והואיל".split()
)
_SEPARATORS = frozenset(
    {"and", "&", ";", ",", BREAK, ":", "-", "–", "—", "und", "et", "y", "/", "לבין", "ובין", "to", "with"}
)
_OPENERS = frozenset({BREAK, "-", "–", "—", ":", ";", ",", '"', "'", "*", "•", "·", "[", "&", "/", "the", "and", "by",
                      "both", "either", "following", "between", "among", "לבין", "ובין", "בין"})  # fmt: skip
_FILLERS = frozenset("and by the following is are of both לבין ובין בין".split())
_ADDRESS_WORDS = frozenset(
    "street avenue road suite floor box offices office located address place residing lane drive building".split()
)
_OUTSIDE = frozenset(
    "partner manager trustee agent parent subsidiary subsidiaries affiliate affiliates member members "
    "division of under through chairman president director laws at street".split()
)
_SENTENCE_STARTS = frozenset(
    "the this each in capitalized all any for if as it when unless such no both licensor company customer "
    "subject pursuant".split()
)


def find_parties(text: str, tokens: Sequence[Token], whole: str = "") -> tuple[Party, ...]:
    """
    Find the parties of the instrument whose squeezed opening is ``text``.

    Looked for in this order: after "between" or "among" (also "made by ... in favour of ..."), as names that the
    opening labels ("Seller: Acme") or defines (``Acme, Inc. (the "Company")``), as the addressee of a letter, and above
    the signatures at the end of ``whole``, the text as extracted.
    """
    best: tuple[Party, ...] = ()
    best_score = 0.0
    for anchor in _anchors(tokens):
        found = _read_list(text, tokens, anchor)
        score = _score(found, tokens, anchor)
        if score > best_score + 0.3:
            best, best_score = found, score
        if len(found) >= 2 and all(p.strong for p in found[:2]):
            break
    if _named(best) >= 2:
        return best
    labelled = labelled_parties(text, tokens)
    best = _merge(labelled, best) if len(labelled) > 1 and not any(p.strong for p in best) else _merge(best, labelled)
    best = _fill(best, defined_parties(text, tokens, roles=True))
    best = _fill(best, addressed_party(text, tokens))
    if _named(best) < 2:
        best = _merge(best, signing_parties(closing(whole), persons=not _named(best)))
    return best if _named(best) else _merge(best, defined_parties(text, tokens, roles=False))


def _named(parties: Sequence[Party]) -> int:
    return sum(bool(p.name) for p in parties)


def _fill(first: tuple[Party, ...], second: Sequence[Party]) -> tuple[Party, ...]:
    """Add further parties where fewer than two are named."""
    return _merge(first, second) if _named(first) < 2 else first


def _score(parties: Sequence[Party], tokens: Sequence[Token], anchor: int) -> float:
    """How much a list looks like one of parties: two proven names weigh most, a row of unproven ones counts against."""
    if not any(p.strong for p in parties) and (len(parties) < 2 or not _speaks_of_instrument(tokens, anchor)):
        alone = len(parties) == 1 and parties[0].name and _speaks_of_instrument(tokens, anchor)
        return 0.5 if alone and (_of_agreement(tokens, anchor) or tokens[anchor].start < _LONE_REACH_CHARS) else 0.0
    score = sum((1.4 if p.strong else 0.7) if p.name else 0.5 if p.aliases else 0.2 for p in parties[:2])
    return score - 0.4 * sum(not p.strong for p in parties[2:6]) - 0.02 * tokens[anchor - 1].start / 1_000


def _of_agreement(tokens: Sequence[Token], anchor: int) -> bool:
    return anchor > 1 and tokens[anchor - 2].lower in ("agreement", "contract", "agreed")


def _speaks_of_instrument(tokens: Sequence[Token], anchor: int) -> bool:
    if tokens[anchor - 1].start > _UNPROVEN_REACH_CHARS:
        return False
    return any(t.lower in INSTRUMENT_HEADS or t.lower in _GIVING for t in tokens[max(0, anchor - 30) : anchor])


def _merge(first: Sequence[Party], second: Sequence[Party]) -> tuple[Party, ...]:
    merged = list(first)
    for party in second:
        letters = key(party.name)
        if letters and not any(letters in key(p.name) or (p.name and key(p.name) in letters) for p in merged):
            merged.append(party)
    return tuple(merged[:_MAX_PARTIES])


def _anchors(tokens: Sequence[Token]) -> Iterator[int]:
    """Token positions after which a list of parties may begin."""
    given = 0
    for i, token in enumerate(tokens[:-1]):
        word = token.lower
        if (
            word in _BETWEEN
            or (word == "parties" and tokens[i + 1].text in (BREAK, ":", "("))
            or (word == "by" and i and _given_by(tokens, i))
            or word == "undersigned"
            or (token.text == "I" and tokens[i + 1].text == ",")
            or (word == "parties" and tokens[i + 1].lower == "to")
        ):
            given += 1
            yield i + 1
        if given >= _MAX_ANCHORS:
            return


def _given_by(tokens: Sequence[Token], i: int) -> bool:
    """Whether "made by", or "entered into this 1 May 2004 by", stands before a name."""
    if tokens[i - 1].lower in _GIVING:
        return True
    dated = tokens[i - 1].text in (")", ",") or tokens[i - 1].text.isdigit() or tokens[i - 1].text == BLANK
    return dated and is_capital(tokens[i + 1].text) and any(t.lower in _GIVING for t in tokens[max(0, i - 22) : i])


def _read_list(text: str, tokens: Sequence[Token], anchor: int) -> tuple[Party, ...]:
    """Read names one after the other, skipping the description that follows each."""
    spans: list[NameSpan] = []
    limit = min(len(tokens), anchor + _WINDOW_TOKENS)
    i = last = anchor
    depth = 0
    at_separator = True
    while i < limit and len(spans) < _MAX_PARTIES:
        token = tokens[i]
        if depth == 0 and ((at_separator and token.text != "(") or _enumerator(tokens, i)):
            place = _skip_openers(tokens, i)
            if place < limit and _ends_list(tokens, place, 0, len(spans)):
                i = place
                break
            if not spans and place - anchor > _FIRST_NAME_TOKENS:
                break
            end, strong = _party_at(tokens, place, limit, last, first=not spans)
            if end:
                name = "" if tokens[place].text == BLANK else text[tokens[place].start : tokens[end - 1].end]
                spans.append(NameSpan(name, strong, place, end))
                i = last = end
                at_separator = False
                continue
        if _ends_list(tokens, i, depth, len(spans)) or (not spans and token.text == "." and _closes(tokens, i)):
            break
        depth = max(0, depth + (token.text == "(") - (token.text == ")"))
        at_separator = depth == 0 and (token.lower in _SEPARATORS or _favours(tokens, i))
        i += 1
    return with_aliases(text, tokens, spans, i)


def _party_at(tokens: Sequence[Token], place: int, limit: int, last: int, *, first: bool) -> tuple[int, bool]:
    """
    Read the party at ``place``; ``last`` is where the one before ended.

    The further the text has wandered off into a description, the more must prove that a name is a party's: a list of
    offices, laws and towns is full of names.
    """
    if place < limit and tokens[place].text == BLANK:
        plain = introduced(tokens, place + 1) or not _outside_parentheses(tokens[last:place])
        return (place + 1, False) if plain else (0, False)
    end, strong = read_name(tokens, place, limit) if place < limit else (0, False)
    if not end:
        return 0, False
    words = _outside_parentheses(tokens[last:place])
    company = is_company(tokens[place:end])
    strong = strong or (place >= 3 and _enumerator(tokens, place - 3)) or _defined_later(tokens, place, end)
    if not strong and (words or any(t.text[0].isdigit() for t in tokens[place:end])):
        return 0, False
    described = bool(words) and not first
    mentioned = described and not company and _only_mentioned(tokens, place, end, words)
    inside = described and not _favours(tokens, place - 1) and _inside_description(tokens, place)
    return (0, False) if mentioned or inside else (end, strong)


def _favours(tokens: Sequence[Token], i: int) -> bool:
    """Whether "in favour of", "to the order of" or "for the benefit of" ends here: a second party follows."""
    if tokens[i].lower == "the" and i:
        i -= 1
    return tokens[i].lower == "of" and i > 0 and tokens[i - 1].lower in ("favor", "favour", "order", "benefit")


def _only_mentioned(tokens: Sequence[Token], place: int, end: int, words: Sequence[Token]) -> bool:
    """Whether a name without a legal form belongs to an address or a phrase of the description before it."""
    before = tokens[place - 1]
    if before.text in (",", BREAK, "-") and any(t.text[0].isdigit() or t.lower in _ADDRESS_WORDS for t in words):
        return True
    if any(t.text.isdigit() and len(t.text) > 3 for t in tokens[place:end]):
        return True
    phrase = before.lower == "and" and _capital_word(tokens, place - 2)
    return phrase and not (end - place >= 2 and _defined_at(tokens, end))


def _defined_later(tokens: Sequence[Token], place: int, end: int) -> bool:
    """Whether a name of several words is defined a few words on: ", and Acme Oils, Reno (the "Buyer")"."""
    if end - place < 2 or [t.lower for t in tokens[place - 2 : place]] not in ([",", "and"], [";", "and"]):
        return False
    for k in range(end, min(end + 14, len(tokens) - 1)):
        if tokens[k].text == "(":
            return tokens[k + 1].lower in ('"', "the", "hereinafter", "hereafter")
        if tokens[k].lower in ("and", ";", "."):
            return False
    return False


def _defined_at(tokens: Sequence[Token], end: int) -> bool:
    return any(t.text == "(" for t in tokens[end : end + 2])


def _outside_parentheses(skipped: Sequence[Token]) -> list[Token]:
    """The words of a description that are not inside parentheses, and tell something."""
    depth = 0
    words = []
    for token in skipped:
        depth = max(0, depth + (token.text == "(") - (token.text == ")"))
        if depth == 0 and token.text[0].isalnum() and token.lower not in _FILLERS and len(token.text) > 1:
            words.append(token)
    return words


def _capital_word(tokens: Sequence[Token], i: int) -> bool:
    return tokens[i].text[0].isalpha() and tokens[i].text[0].isupper() and not is_suffix(tokens, i)


def _enumerator(tokens: Sequence[Token], i: int) -> bool:
    """Whether "(1)", "(b)" or "(ii)" stands here."""
    return tokens[i].text == "(" and i + 2 < len(tokens) and tokens[i + 2].text == ")" and len(tokens[i + 1].text) <= 3


def _ends_list(tokens: Sequence[Token], i: int, depth: int, found: int) -> bool:
    """Whether the list of parties is over: recitals, contents, a page's source line, or a new sentence."""
    token = tokens[i]
    following = tokens[i + 1] if i + 1 < len(tokens) else token
    if token.lower in _ENDS and (found or token.lower != "background"):
        return True
    if token.lower == "source" and following.text == ":":
        return True
    if token.lower == "w" and following.lower == "i" and i + 2 < len(tokens) and tokens[i + 2].lower == "t":
        return True
    if token.lower == "now" and following.lower in (",", "therefore"):
        return True
    if depth or not found or token.text != ".":
        return False
    if following.text == BREAK and i + 2 < len(tokens):
        following = tokens[i + 2]
    return (
        following.lower in _SENTENCE_STARTS and following.text[0].isupper() and tokens[i - 1].lower not in ("no", "st")
    )


def _closes(tokens: Sequence[Token], i: int) -> bool:
    """Whether the full stop at ``i`` ends a sentence: after a word in small letters or a number."""
    return i > 0 and (tokens[i - 1].text.islower() or tokens[i - 1].text.isdigit()) and len(tokens[i - 1].text) > 2


def _skip_openers(tokens: Sequence[Token], i: int) -> int:
    """Step over "the", "(1)", "2.", "(a)", "Party A:", "(the "Company")", dashes and line breaks before a name."""
    for _ in range(8):
        if i + 2 >= len(tokens):
            return i
        token, following, third = tokens[i], tokens[i + 1].text, tokens[i + 2].text
        if _enumerator(tokens, i):
            i += 3
        elif _numbered(token.text, following):
            i += 2
        elif token.lower == "party" and len(following) <= 2 and third in (":", "-", "."):
            i += 3
        elif token.lower in _OPENERS:
            i += 1
        else:
            break
    return i


def _numbered(text: str, following: str) -> bool:
    """Whether "1.", "2)", "a)" or "B:" stands here; "A." may be an initial."""
    if len(text) > 2 or not text[0].isalnum():
        return False
    return following in (")", ":") or (following == "." and text.isdigit())


def _inside_description(tokens: Sequence[Token], place: int) -> bool:
    before = [t.lower for t in tokens[max(0, place - 4) : place] if t.text[0].isalnum()]
    return bool(before) and (before[-1] in _OUTSIDE or (len(before) > 1 and before[-2] in ("partner", "trustee", "of")))
