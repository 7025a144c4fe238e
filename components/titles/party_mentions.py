# SPDX-License-Identifier: Apache-2.0
"""Parties that no sentence lists: defined in the text, labelled with their role, or only signing at the end (I4)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from haystack_integrations.components.pincite.titles.name_words import BODY_WORDS, INSTRUMENT_HEADS, ROLES
from haystack_integrations.components.pincite.titles.opening_text import BREAK, Token, is_capital, tokenize
from haystack_integrations.components.pincite.titles.party_names import (
    described_as_company,
    introduced,
    is_company,
    read_name,
)

_MAX_MENTIONS = 5
_MAX_ALIASES = 5
_DEFINED_REACH_CHARS = 3_500
_ALIAS = re.compile(r'"\s*([^"\n]{1,60}?)[,.]?\s*"')
_UP_TO_DESCRIPTION = (
    r"([^,;()\n\"]{2,60}?)(?=[,;()\n\"]|$|\s(?:located|whose|having|with|an?|as|is|hereinafter|of\s\d+)\s)"
)
_TRADE_NAME = re.compile(
    rf"(?:\bd/b/a/?|\bdba|\bd\.b\.a\.|\bdoing business as|\btrading as|\bt/a)\s+{_UP_TO_DESCRIPTION}", re.IGNORECASE
)
_OTHER_NAME = re.compile(
    r"(?:\bf/k/a|\ba/k/a|\bformerly known as|\bformerly|\ba division of|\bknown as)\s+([^,;()\n\"]{2,60})",
    re.IGNORECASE,
)
_SIGNING_WORDS = frozenset(
    "title date dated name its by signatory officer director president secretary manager signature".split()
)
_NO_ALIAS = frozenset("agreement effective date parties party us we you this contract".split())


@dataclass(frozen=True, slots=True)
class Party:
    """
    A party: its name without legal description, its trade name ("d/b/a"), and what else it is called.

    ``name`` is empty where the place was left open; then the first alias tells its role ("Customer"). ``strong`` says
    that more than its place in the text shows it to be a name.
    """

    name: str
    trade_name: str = ""
    aliases: tuple[str, ...] = ()
    strong: bool = False


@dataclass(frozen=True, slots=True)
class NameSpan:
    """A name between two token positions; ``name`` is empty for an open place."""

    name: str
    strong: bool
    start: int
    end: int


def key(name: str) -> str:
    """The letters and digits of a name, case-folded: equal for two spellings of the same."""
    return "".join(c for c in name.casefold() if c.isalnum())


def with_aliases(text: str, tokens: Sequence[Token], spans: Sequence[NameSpan], limit: int) -> tuple[Party, ...]:
    """Make parties of names, with the short names that the text after each one defines."""
    parties: list[Party] = []
    for number, span in enumerate(spans):
        following = spans[number + 1].start if number + 1 < len(spans) else min(limit, span.end + 90)
        stop = tokens[following].start if following < len(tokens) else len(text)
        start = tokens[span.end - 1].end
        between = text[start : min(stop, start + 900)]
        trade = _TRADE_NAME.search(between)
        trade_name = " ".join(trade.group(1).split()) if trade else ""
        others = [*(m.group(1).strip() for m in _OTHER_NAME.finditer(between)), *_aliases(between)]
        aliases = tuple(dict.fromkeys(a for a in others if key(a) != key(span.name)))[:_MAX_ALIASES]
        clean = " ".join(span.name.split()).strip(" ,;-–")
        if (clean or aliases or trade_name) and not any(clean and key(clean) == key(p.name) for p in parties):
            parties.append(Party(clean, trade_name, aliases, span.strong))
    return tuple(parties)


def _aliases(text: str) -> Iterator[str]:
    for match in _ALIAS.finditer(text):
        alias = " ".join(match.group(1).split()).removeprefix("the ").strip(" '")
        lower = alias.casefold()
        if alias and lower not in _NO_ALIAS and "date" not in lower and "agreement" not in lower:
            yield alias


def defined_parties(text: str, tokens: Sequence[Token], *, roles: bool) -> tuple[Party, ...]:
    """
    Names that the opening defines: ``Acme, Inc., a Delaware corporation (the "Company")``.

    With ``roles`` only those that are defined by a role or a word of their own name; the others may be agencies and
    companies that the text mentions.
    """
    spans: list[NameSpan] = []
    i = 0
    while i < len(tokens) and tokens[i].start < _DEFINED_REACH_CHARS and len(spans) < _MAX_MENTIONS:
        after = i + 1
        if tokens[i].text[0].isalnum() and is_capital(tokens[i].text):
            end, _ = read_name(tokens, i, len(tokens))
            company = is_company(tokens[i:end]) and introduced(tokens, end) if end else False
            if end and (company or described_as_company(tokens, end) or _hereinafter(tokens, end)):
                spans.append(NameSpan(text[tokens[i].start : tokens[end - 1].end], True, i, end))
                after = end
        i = after
    parties = with_aliases(text, tokens, spans, len(tokens))
    if not roles:
        return parties[:2]
    return tuple(p for p in parties if any(_tells_role(a, p.name) for a in p.aliases[:2]))


def _hereinafter(tokens: Sequence[Token], end: int) -> bool:
    return any(t.lower in ("hereinafter", "hereafter") for t in tokens[end : end + 3])


def _tells_role(alias: str, name: str) -> bool:
    """Whether a short name is a role ("Company") or a word of the name itself, not the initials of an agency."""
    words = set(alias.casefold().split())
    return not ROLES.isdisjoint(words) or not words.isdisjoint(name.casefold().replace(",", " ").split())


def labelled_parties(text: str, tokens: Sequence[Token]) -> tuple[Party, ...]:
    """Names after a label at the beginning of a line: "Seller: X", "Party A (Shipper): X", "To: X"."""
    parties: list[Party] = []
    for i, token in enumerate(tokens):
        starts = i == 0 or tokens[i - 1].text in (BREAK, ".", ":", "1", "2") or tokens[i - 1].lower == "the"
        starts = starts or (token.text == "Party" and i + 2 < len(tokens) and tokens[i + 2].text == ":")
        if not starts or not (token.lower in ROLES or token.lower in ("party", "to", "from", "between")):
            continue
        colon = next((k for k in range(i + 1, min(i + 8, len(tokens))) if tokens[k].text in (":", BREAK)), 0)
        if not colon or tokens[colon].text != ":" or colon + 1 >= len(tokens) or not _is_label(tokens[i:colon]):
            continue
        place = colon + 1 + (tokens[colon + 1].text == BREAK)
        end, strong = read_name(tokens, place, len(tokens)) if place < len(tokens) else (0, False)
        if end and (strong or end - place > 1):
            name = " ".join(text[tokens[place].start : tokens[end - 1].end].split())
            label = text[token.start : tokens[colon].start].strip()
            if not any(key(name) == key(p.name) for p in parties):
                parties.append(Party(name, "", (label,), strong))
        if len(parties) >= _MAX_MENTIONS:
            break
    return tuple(parties)


def addressed_party(text: str, tokens: Sequence[Token]) -> tuple[Party, ...]:
    """To whom a letter goes: the first name of the lines before "Dear ..." or "Ladies and Gentlemen"."""
    for i, token in enumerate(tokens[:-1]):
        salutes = token.text in ("Dear", "DEAR") or (
            token.lower in ("ladies", "gentlemen") and tokens[i + 1].lower in ("and", "&", ":")
        )
        if not salutes:
            continue
        lines = [k + 1 for k in range(max(0, i - 60), i) if tokens[k].text == BREAK]
        for place in lines if i > 1 else []:
            end, _ = read_name(tokens, place, i)
            person = 2 <= end - place <= 5 and all(t.text[0].isupper() or t.text == "." for t in tokens[place:end])
            if end and (is_company(tokens[place:end]) or person) and not _has_head(tokens[place:end]):
                return (Party(" ".join(text[tokens[place].start : tokens[end - 1].end].split()), strong=True),)
        return ()
    return ()


def _has_head(name: Sequence[Token]) -> bool:
    return any(t.lower in INSTRUMENT_HEADS for t in name)


def _is_label(tokens: Sequence[Token]) -> bool:
    return all(
        t.lower in ROLES or t.lower == "party" or len(t.text) == 1 or t.lower in ("to", "from", "between", "end-user")
        for t in tokens
    )


def signing_parties(text: str, *, persons: bool) -> tuple[Party, ...]:
    """Companies right before "By:" in the signature blocks of a text; with ``persons`` also who signed ("/s/ X")."""
    tokens = tokenize(text)
    companies: dict[str, Party] = {}
    signers: dict[str, Party] = {}
    for i, token in enumerate(tokens[:-1]):
        if token.text in ("By", "BY") and tokens[i + 1].text in (":", "/"):
            _put(companies, _company_before(text, tokens, i))
        elif token.text == "/" and tokens[i + 1].lower in ("s/", "s") and i + 3 < len(tokens):
            if i and tokens[i - 1].text != ":":
                _put(companies, _company_before(text, tokens, i))
            place = i + 2 + (tokens[i + 2].text == "/")
            end, _ = read_name(tokens, place, min(len(tokens), place + 4))
            if end - place > 1 and i and tokens[i - 1].text != ":":
                _put(signers, text[tokens[place].start : tokens[end - 1].end])
    found = companies if len(companies) > 1 or not persons else {**companies, **signers}
    return tuple(found.values())[:_MAX_MENTIONS]


def _put(parties: dict[str, Party], name: str) -> None:
    if name:
        parties.setdefault(key(name), Party(" ".join(name.split()), strong=True))


def _company_before(text: str, tokens: Sequence[Token], by: int) -> str:
    """The longest company's name that ends where "By:" begins."""
    last = by - 1 if by and tokens[by - 1].text in (BREAK, ":") else by
    best = ""
    for start in range(last - 1, max(-1, last - 14), -1):
        token = tokens[start]
        if token.text == BREAK and best:
            break
        if not (token.text[0].isalnum() and is_capital(token.text)):
            if token.text in (":", "_") or token.lower in ("title", "date", "name"):
                break
            continue
        if token.lower in _SIGNING_WORDS:
            break
        if token.text.isdigit() and len(token.text) < 5:
            break
        end, _ = read_name(tokens, start, last)
        if end >= last - 1 and (is_company(tokens[start:end]) or tokens[end - 1].lower in BODY_WORDS):
            best = text[token.start : tokens[end - 1].end]
    return best
