# SPDX-License-Identifier: Apache-2.0
"""Who an instrument is between: party names and their defined short names, read from its opening (I4)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from haystack_integrations.components.pincite.name_words import BODY_WORDS, MONTHS, ROLES, SUFFIXES
from haystack_integrations.components.pincite.opening_text import (
    BLANK,
    BREAK,
    Token,
    is_capital,
    is_caseless,
    is_upper,
    tokenize,
)

_MAX_NAME_TOKENS = 16
_MAX_PARTIES = 12
_MAX_ANCHORS = 10
_WINDOW_TOKENS = 700

_BETWEEN = frozenset({"between", "among", "amongst", "betweeen", "בין"})
_ENDS = frozenset(
    "whereas witnesseth recitals recital background preamble whereby agrees agree contents article הואיל והואיל".split()
)
_SEPARATORS = frozenset(
    {"and", "&", ";", ",", BREAK, ":", "-", "–", "—", "und", "et", "y", "/", "לבין", "ובין", "to", "with"}
)
# Words that end a name: descriptions, definitions, verbs.
_NAME_STOPS = frozenset(
    "a an having with whose located organized organised incorporated duly existing hereinafter hereafter herein acting on as "
    "represented doing d/b/a dba d.b.a f/k/a a/k/a formerly in by is are was effective dated this these who which that "
    "individually collectively the together each residing registered established being at from to whereas shall will agree "
    "agrees for its their his her only wherein under be made has have had or also both hereby if not whom company's "
    "between among amongst party parties regarding concerning relating set upon where pursuant entered".split()
)
_PLAIN_SUFFIXES = frozenset("inc llc corp ltd plc gmbh llp".split())
_ADDRESS_WORDS = frozenset(
    "street avenue road suite floor box offices office located address place residing lane drive building".split()
)
_NAME_LINKS = frozenset(
    "of for de del la las los van der von den di da do dos for the in y e du des le el al bin ibn ben bat".split()
)
_DESCRIPTION_STARTS = frozenset(
    "a an having with whose located organized organised incorporated duly existing acting on as represented doing d/b/a dba d.b.a "
    "f/k/a a/k/a formerly hereinafter hereafter herein residing registered established individually its company registration "
    "corporation limited of".split()
)
_NO_PARTY = frozenset(
    "agreement agreements party parties date section article exhibit schedule effective contract page street suite avenue road "
    "attention attn telephone facsimile fax phone email address witnesseth recitals whereas amendment services products "
    "this these the one either each both such us you we undersigned signature name title by contents definitions introduction "
    "background purpose term commission".split()
)
_REJECT_BEFORE = frozenset(
    "partner manager trustee agent parent subsidiary subsidiaries affiliate affiliates member members division of under "
    "through chairman president director laws at street".split()
)
_SENTENCE_STARTS = frozenset(
    "the this each in capitalized all any for if as it when unless such no both licensor company customer subject pursuant".split()
)
_ALIAS = re.compile(r'"\s*([^"\n]{1,60}?)[,.]?\s*"')
_ALSO = re.compile(
    r"\b(?:d/b/a|dba|d\.b\.a\.|f/k/a|a/k/a|doing business as|formerly known as|trading as|t/a)\s+([^,;()\n]{2,60})",
    re.I,
)
_GENERIC_ALIAS = frozenset("agreement effective date parties party us we you this".split())


@dataclass(frozen=True, slots=True)
class Party:
    """
    A party: its name without legal description, and what else it is called.

    ``name`` is empty where the place was left open; then the first alias tells its role ("Customer").
    """

    name: str
    aliases: tuple[str, ...] = ()
    strong: bool = False


def find_parties(text: str, tokens: list[Token], end_text: str = "") -> tuple[Party, ...]:
    """
    Find the parties of the instrument whose squeezed opening is ``text``.

    Looked for in this order: after "between" or "among" (also "made by ... in favour of ..."), as names that the opening
    defines (``Acme, Inc. (the "Company")``), and above the signatures in ``end_text``.
    """
    best: tuple[Party, ...] = ()
    best_score = 0.0
    for anchor in _anchors(tokens):
        found = _read_parties(text, tokens, anchor)
        score = _list_score(found) - 0.02 * tokens[anchor - 1].start / 1_000
        if score > best_score + 0.3:
            best, best_score = found, score
        if len(found) >= 2 and sum(p.strong for p in found[:2]) == 2:
            break
    if sum(bool(p.name) for p in best) >= 2:
        return best
    defined = _merge(best, _defined(text, tokens))
    if any(p.name for p in defined):
        return defined
    return _merge(defined, _signed(end_text) if end_text else ())


def _list_score(parties: tuple[Party, ...]) -> float:
    """How much a list looks like one of parties: two proven names weigh most, a row of unproven ones counts against it."""
    score = sum((1.4 if p.strong else 0.7) if p.name else 0.3 for p in parties[:2])
    return score - 0.4 * sum(not p.strong for p in parties[2:6])


def _merge(first: tuple[Party, ...], second: tuple[Party, ...]) -> tuple[Party, ...]:
    merged = list(first)
    for party in second:
        key = _key(party.name)
        if key and not any(key in _key(p.name) or (p.name and _key(p.name) in key) for p in merged):
            merged.append(party)
    return tuple(merged[:_MAX_PARTIES])


def _key(name: str) -> str:
    return "".join(c for c in name.casefold() if c.isalnum())


def _anchors(tokens: list[Token]) -> Iterator[int]:
    """Token positions after which a list of parties may begin."""
    given = 0
    for i, token in enumerate(tokens):
        word = token.lower
        if word in _BETWEEN or (word == "parties" and i + 1 < len(tokens) and tokens[i + 1].text in (BREAK, ":", "(")):
            yield i + 1
            given += 1
        elif (
            word == "by"
            and i
            and tokens[i - 1].lower in ("made", "given", "into", "granted", "executed", "delivered", "issued")
        ):
            yield i + 1
            given += 1
        elif word == "undersigned" and i + 1 < len(tokens):
            yield i + 1
            given += 1
        if given >= _MAX_ANCHORS:
            return


def _read_parties(text: str, tokens: list[Token], i: int) -> tuple[Party, ...]:
    """Read names one after the other, skipping the description that follows each."""
    spans: list[tuple[str, bool, int, int]] = []
    limit = min(len(tokens), i + _WINDOW_TOKENS)
    last = i
    depth = 0
    at_separator = True
    while i < limit and len(spans) < _MAX_PARTIES:
        token = tokens[i]
        if depth == 0 and at_separator and token.text != "(" or (depth == 0 and _enumerator(tokens, i)):
            place = _skip_openers(tokens, i)
            end, strong = _party_at(tokens, place, limit, last, first=not spans)
            if end:
                name = "" if tokens[place].text == BLANK else text[tokens[place].start : tokens[end - 1].end]
                spans.append((name, strong, place, end))
                i = last = end
                at_separator = False
                continue
        if _ends_list(tokens, i, depth, len(spans)):
            break
        depth = max(0, depth + (token.text == "(") - (token.text == ")"))
        at_separator = depth == 0 and token.lower in _SEPARATORS
        i += 1
    return _with_aliases(text, tokens, spans, i)


def _party_at(tokens: list[Token], place: int, limit: int, last: int, *, first: bool) -> tuple[int, bool]:
    """
    Read the party at ``place``; ``last`` is where the one before ended.

    The further the text has wandered off into a description, the more must prove that a name is a party's: a list of
    offices, laws and towns is full of names.
    """
    if place >= limit:
        return 0, False
    skipped = tokens[last:place]
    words = [t for t in skipped if t.text[0].isalnum() and not _is_filler(t)]
    described = bool(_outside_parentheses(words, skipped))
    if tokens[place].text == BLANK:
        return (0, False) if described else (place + 1, False)
    end, strong = _read_name(tokens, place, limit)
    if not end or (not strong and (described or any(t.text[0].isdigit() for t in tokens[place:end]))):
        return 0, False
    if described and not first:
        company = _is_company(tokens[place:end])
        if _inside_description(tokens, place):
            return 0, False
        before = tokens[place - 1].text
        in_address = before in (",", BREAK, "-") and any(
            t.text[0].isdigit() or t.lower in _ADDRESS_WORDS for t in words
        )
        in_phrase = tokens[place - 1].lower == "and" and _capital_word(tokens[place - 2])
        if (in_address or in_phrase) and not company:
            return 0, False
        if any(t.text.isdigit() and len(t.text) > 3 for t in tokens[place:end]) and not company:
            return 0, False
    return end, strong


def _outside_parentheses(words: list[Token], skipped: list[Token]) -> list[Token]:
    depth = 0
    inside: set[int] = set()
    for token in skipped:
        depth = max(0, depth + (token.text == "(") - (token.text == ")"))
        if depth:
            inside.add(token.start)
    return [t for t in words if t.start not in inside]


def _capital_word(token: Token) -> bool:
    return token.text[0].isalpha() and token.text[0].isupper() and token.lower.replace(".", "") not in SUFFIXES


def _enumerator(tokens: list[Token], i: int) -> bool:
    """Whether "(1)", "(b)" or "(ii)" stands here."""
    return tokens[i].text == "(" and i + 2 < len(tokens) and tokens[i + 2].text == ")" and len(tokens[i + 1].text) <= 3


def _is_filler(token: Token) -> bool:
    return token.lower in ("and", "by", "the", "following", "is", "are", "of") or not token.text[0].isalnum()


def _ends_list(tokens: list[Token], i: int, depth: int, found: int) -> bool:
    token = tokens[i]
    if token.lower in _ENDS and (found or token.lower not in ("background",)):
        return True
    if token.lower == "source" and i + 1 < len(tokens) and tokens[i + 1].text == ":":
        return True
    if token.lower == "w" and i + 2 < len(tokens) and tokens[i + 1].lower == "i" and tokens[i + 2].lower == "t":
        return True
    if token.lower == "now" and i + 1 < len(tokens) and tokens[i + 1].text in (",", "THEREFORE", "therefore"):
        return True
    if depth == 0 and found and token.text == "." and i + 1 < len(tokens):
        following = tokens[i + 1]
        if following.text == BREAK and i + 2 < len(tokens):
            following = tokens[i + 2]
        previous = tokens[i - 1].lower
        return (
            following.lower in _SENTENCE_STARTS and following.text[0].isupper() and previous not in ("no", "st", "u.s")
        )
    return False


def _skip_openers(tokens: list[Token], i: int) -> int:
    """Step over "the", "(1)", "2.", "(a)", "Party A:", dashes and line breaks before a name."""
    for _ in range(8):
        if i >= len(tokens):
            return i
        token = tokens[i]
        following = tokens[i + 1].text if i + 1 < len(tokens) else ""
        third = tokens[i + 2].text if i + 2 < len(tokens) else ""
        if token.text == "(" and third == ")" and len(following) <= 3:
            i += 3
        elif (
            len(token.text) <= 2
            and following in (")", ".", ":")
            and token.text[0].isalnum()
            and not (following == "." and token.text.isalpha())
        ):
            i += 2
        elif token.lower == "party" and len(following) <= 2 and third in (":", "-", "."):
            i += 3
        elif token.text in (BREAK, "-", "–", "—", ":", ";", ",", '"', "'", "*", "•", "·", "[", "&", "/") or token.lower in (
            "the", "and", "by", "both", "either", "following", "between", "among",
        ):  # fmt: skip
            i += 1
        else:
            break
    return i


def _inside_description(tokens: list[Token], place: int) -> bool:
    before = [t.lower for t in tokens[max(0, place - 4) : place] if t.text[0].isalnum()]
    return bool(before) and (
        before[-1] in _REJECT_BEFORE or (len(before) > 1 and before[-2] in ("partner", "trustee", "of"))
    )


def _read_name(tokens: list[Token], i: int, limit: int) -> tuple[int, bool]:
    """
    Read a name from token ``i``: where it ends (0 when there is none), and whether something proves that it is one:
    a legal form, an organisation's word, or a definition or description right after it.
    """
    end = i
    suffixed = bodied = False
    capitals = 0
    limit = min(limit, i + _MAX_NAME_TOKENS * 2)
    while end < limit and end - i < _MAX_NAME_TOKENS:
        token = tokens[end]
        word = token.lower
        if suffixed and not _continues_after_suffix(tokens, end) and not (token.text == ")" and _open(tokens[i:end])):
            break
        if token.text[0].isalnum():
            if capitals and _is_suffix(tokens, end):
                suffixed, bodied = True, bodied
            elif word in _NAME_STOPS and not _allowed_stop(tokens, end, capitals):
                break
            elif is_capital(token.text) or is_caseless(token.text):
                capitals += 1
                bodied = bodied or word in BODY_WORDS
            elif not (capitals and word in _NAME_LINKS and _cap_at(tokens, end + 1)):
                if word == "and" and capitals and _joins(tokens, end):
                    end += 1
                    continue
                if not (end == i and _lower_name(tokens, i)):
                    break
                capitals += 1
        elif not _sign_inside(tokens, end, i, suffixed):
            break
        end += 1
    end = _trim(tokens, i, end)
    if not capitals or end <= i or not _acceptable(tokens[i:end]):
        return 0, False
    return end, suffixed or bodied or _introduced(tokens, end)


def _open(name: list[Token]) -> bool:
    return any(t.text == "(" for t in name)


def _allowed_stop(tokens: list[Token], i: int, capitals: int) -> bool:
    """Words that mostly end a name but may be part of one: "A. B. Watley", "Bank of the West", "At Home Corporation"."""
    word = tokens[i].lower
    if _initial(tokens, i) or (capitals and word in _NAME_LINKS and _cap_at(tokens, i + 1)):
        return True
    return (
        not capitals
        and word not in ("a", "an")
        and tokens[i].text.istitle()
        and i + 2 < len(tokens)
        and (_is_suffix(tokens, i + 2) and is_capital(tokens[i + 1].text))
    )


def _initial(tokens: list[Token], i: int) -> bool:
    """ "A" in "A. B. Watley" or "A B C Ltd" is an initial, not an article."""
    following = tokens[i + 1].text if i + 1 < len(tokens) else ""
    return tokens[i].text == "A" and (following in (".", "&") or (len(following) == 1 and following.isupper()))


def _is_suffix(tokens: list[Token], i: int) -> bool:
    word = tokens[i].lower.replace(".", "").strip("'")
    if word not in SUFFIXES:
        return False
    if (
        word == "incorporated"
        and i + 1 < len(tokens)
        and tokens[i + 1].lower in ("in", "under", "and", "pursuant", "as")
    ):
        return False
    return is_capital(tokens[i].text) or is_caseless(tokens[i].text) or word in _PLAIN_SUFFIXES


def _cap_at(tokens: list[Token], i: int) -> bool:
    while i < len(tokens) and tokens[i].lower in ("the", "of"):
        i += 1
    return (
        i < len(tokens)
        and tokens[i].text[0].isalnum()
        and is_capital(tokens[i].text)
        and tokens[i].lower not in _NAME_STOPS
    )


def _continues_after_suffix(tokens: list[Token], i: int) -> bool:
    """After "Co" may come ", Ltd."; after "Corporation" "of America"; after "Company" another legal form."""
    token = tokens[i]
    if token.text == ".":
        return True
    if token.text in (",", "&") or token.text == BREAK:
        return i + 1 < len(tokens) and _is_suffix(tokens, i + 1)
    if token.lower == "of" and tokens[i - 1].lower in ("corporation", "company", "co"):
        return _cap_at(tokens, i + 1) and tokens[i + 1].lower not in ("the",)
    if _is_suffix(tokens, i):
        return True
    weak = tokens[i - 1].lower in (
        "company",
        "corporation",
        "co",
        "limited",
        "na",
        "sa",
        "se",
        "de",
        "ag",
        "as",
        "wa",
        "sas",
        "corp",
    )
    return (
        weak
        and token.text[0].isalnum()
        and is_capital(token.text)
        and token.lower not in _NAME_STOPS
        and token.text != BREAK
    )


def _joins(tokens: list[Token], i: int) -> bool:
    """Whether "and" is inside a name: one word follows it up to the legal form or organisation's word ("Oil and Gas Inc")."""
    if any(t.text.isdigit() for t in tokens[max(0, i - 4) : i]):
        return False
    for k in (i + 1, i + 2):
        if k + 1 < len(tokens) and _is_suffix(
            tokens, k + 1 if tokens[k + 1].text != "," else min(k + 2, len(tokens) - 1)
        ):
            return k == i + 1 and is_capital(tokens[k].text)
    following = tokens[i + 1].lower if i + 1 < len(tokens) else ""
    return following in ("company", "co", "sons", "associates", "trust", "services")


def _lower_name(tokens: list[Token], i: int) -> bool:
    """Names such as "element 5 GmbH" and "i-on interactive, Inc." begin small but end in a legal form."""
    for k in range(i + 1, min(i + 5, len(tokens))):
        if tokens[k].text == ",":
            continue
        if _is_suffix(tokens, k) and tokens[k].lower not in ("company", "corporation", "de", "as", "se"):
            return True
        if tokens[k].lower in _NAME_STOPS or not tokens[k].text[0].isalnum():
            return False
    return False


def _sign_inside(tokens: list[Token], end: int, start: int, suffixed: bool) -> bool:
    """Whether the sign at ``end`` is part of the name: "&", the comma before "Inc.", "(Bermuda)", an initial's dot."""
    if end == start:
        return False
    sign, before = tokens[end].text, tokens[end - 1]
    following = tokens[end + 1] if end + 1 < len(tokens) else None
    if sign == ".":
        short = (
            len(before.text) <= 4 and following is not None and is_capital(following.text) and _suffix_near(tokens, end)
        )
        return (
            (suffixed and tokens[end - 1].text != ".")
            or len(before.text) <= 2
            or before.lower == "mrs"
            or "." in before.text
            or short
        )
    if following is None:
        return False
    if sign in ("&", "/", "-", "'", "@", "+", "™", "®"):
        return is_capital(following.text) or sign in "'™®"
    if sign == ",":
        if _is_suffix(tokens, end + 1) or following.lower in ("jr", "sr", "md", "m.d", "ph.d", "esq", "iii", "ii"):
            return True
        return _firm_list(tokens, end)
    if sign == "(":
        return _inner_parenthesis(tokens, end)
    if sign == ")":
        return any(t.text == "(" for t in tokens[start:end])
    if sign == BREAK:
        return _wrapped(tokens, end, start)
    return False


def _suffix_near(tokens: list[Token], i: int) -> bool:
    return any(_is_suffix(tokens, k) for k in range(i + 1, min(i + 5, len(tokens))))


def _firm_list(tokens: list[Token], i: int) -> bool:
    """ "Keefe, Bruyette & Woods": one word, then an ampersand."""
    return (
        i + 3 < len(tokens)
        and is_capital(tokens[i + 1].text)
        and (
            tokens[i + 2].text == "&"
            or (tokens[i + 2].text == "," and tokens[i + 4 : i + 5] and tokens[i + 4].text == "&")
        )
        and not _is_suffix(tokens, i + 1)
    )


def _inner_parenthesis(tokens: list[Token], i: int) -> bool:
    for k in range(i + 1, min(i + 5, len(tokens) - 1)):
        if tokens[k].text == ")":
            following = tokens[k + 1]
            return (
                k > i + 1
                and following.text[0].isalnum()
                and is_capital(following.text)
                and following.lower not in _NAME_STOPS
            )
        if not tokens[k].text[0].isalnum() or not is_capital(tokens[k].text):
            return False
    return False


def _wrapped(tokens: list[Token], i: int, start: int) -> bool:
    """Whether a line break only wraps the name: a legal form follows, or the line before was full."""
    following = tokens[i + 1]
    if _is_suffix(tokens, i + 1):
        return True
    line_start = next((tokens[k].end for k in range(i - 1, max(0, i - 40), -1) if tokens[k].text == BREAK), 0)
    return tokens[i].start - line_start > 55 and is_capital(following.text) and following.lower not in _NAME_STOPS


def _trim(tokens: list[Token], start: int, end: int) -> int:
    while end > start:
        token = tokens[end - 1]
        dot_kept = (
            token.text == "." and end - 1 > start and (_is_suffix(tokens, end - 2) or len(tokens[end - 2].text) <= 2)
        )
        if (
            dot_kept
            or (token.text[0].isalnum() and token.lower not in _NAME_LINKS and token.lower != "and")
            or token.text in ")™®!"
        ):
            break
        end -= 1
    return end


def _acceptable(name: list[Token]) -> bool:
    words = [t.lower for t in name if t.text[0].isalnum()]
    if (
        not words
        or words[0] in _NO_PARTY
        or all(w in ROLES or w == "and" for w in words)
        or words[0] in MONTHS
        or words[-1] in ("date", "agreement", "parties", "party")
    ):
        return False
    return any(w[0].isalpha() and w not in SUFFIXES for w in words) or (len(words) > 1 and words[-1] in SUFFIXES)


def _introduced(tokens: list[Token], end: int) -> bool:
    """Whether a definition or a description follows, as it does after the name of a party."""
    following = tokens[end : end + 3]
    if not following:
        return False
    if following[0].text in (",", BREAK, ";"):
        following = following[1:]
    if not following:
        return False
    if following[0].text == "(":
        return len(following) > 1 and following[1].lower in (
            '"',
            "the",
            "hereinafter",
            "hereafter",
            "herein",
            "each",
            "collectively",
            "'",
            "as",
            "a",
        )
    return following[0].lower in _DESCRIPTION_STARTS and following[0].lower not in ("of", "on", "company")


def _with_aliases(
    text: str, tokens: list[Token], spans: list[tuple[str, bool, int, int]], limit: int
) -> tuple[Party, ...]:
    parties: list[Party] = []
    for number, (name, strong, _, end) in enumerate(spans):
        stop = spans[number + 1][2] if number + 1 < len(spans) else min(limit, end + 120)
        start_at = tokens[end - 1].end
        stop_at = tokens[stop].start if stop < len(tokens) else len(text)
        between = text[start_at : min(stop_at, start_at + 900)]
        aliases = tuple(dict.fromkeys(a for a in _aliases(between) if _key(a) != _key(name)))[:4]
        clean = " ".join(name.split()).strip(" ,;-")
        if (clean or aliases) and not any(clean and _key(clean) == _key(p.name) for p in parties):
            parties.append(Party(clean, aliases, strong))
    return tuple(parties)


def _aliases(text: str) -> Iterator[str]:
    for pattern in (_ALSO, _ALIAS):
        for match in pattern.finditer(text):
            alias = " ".join(match.group(1).split()).removeprefix("the ").strip()
            if (
                alias
                and alias.casefold() not in _GENERIC_ALIAS
                and "date" not in alias.casefold()
                and "agreement" not in alias.casefold()
            ):
                yield alias


def _defined(text: str, tokens: list[Token]) -> tuple[Party, ...]:
    """Names with a legal form that the opening defines: ``Acme, Inc., a Delaware corporation (the "Company")``."""
    spans: list[tuple[str, bool, int, int]] = []
    i = 0
    while i < len(tokens) and len(spans) < 4:
        if not (tokens[i].text[0].isalnum() and is_capital(tokens[i].text)):
            i += 1
            continue
        end, strong = _read_name(tokens, i, len(tokens))
        if end and strong and _is_company(tokens[i:end]) and _introduced(tokens, end):
            spans.append((text[tokens[i].start : tokens[end - 1].end], True, i, end))
        i = max(end, i + 1)
    return _with_aliases(text, tokens, spans, len(tokens))


def _is_company(name: list[Token]) -> bool:
    return len(name) > 1 and any(t.lower.replace(".", "") in SUFFIXES for t in name[1:])


def _signed(text: str) -> tuple[Party, ...]:
    """Names on the line above "By:" in the signature blocks at the end."""
    parties: list[Party] = []
    lines = [line.strip() for line in text.split(BREAK)]
    for above, line in zip(lines, lines[1:], strict=False):
        if not line.casefold().startswith(("by:", "by ", "signature", "signed")):
            continue
        tokens = tokenize(above[:200])
        end, _ = _read_name(tokens, 0, len(tokens)) if tokens else (0, False)
        if end and _is_company(tokens[:end]) and (is_upper(tokens[0].text) or is_capital(tokens[0].text)):
            parties.append(Party(" ".join(above[: tokens[end - 1].end].split()), (), True))
    return tuple(dict.fromkeys(parties))
