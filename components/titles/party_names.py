# SPDX-License-Identifier: Apache-2.0
"""Where the name of a party begins and ends among the tokens of an opening (I4)."""

from collections.abc import Sequence

from haystack_integrations.components.pincite.titles.name_words import BODY_WORDS, SUFFIXES
from haystack_integrations.components.pincite.titles.opening_text import (
    BLANK,
    BREAK,
    Token,
    is_capital,
    is_caseless,
    is_upper,
)
from haystack_integrations.components.pincite.titles.party_words import NO_PARTY, is_plausible

_MAX_NAME_TOKENS = 18
# A line at least this long was full: the break after it only wraps the text.
_FULL_LINE_CHARS = 55

# Words that end a name: descriptions, definitions, verbs.
_STOPS = frozenset(
    "a an having with whose located organized organised incorporated duly existing hereinafter hereafter "
    "herein acting on as represented doing d/b/a dba d.b.a f/k/a a/k/a t/a formerly in by is are was "
    "effective dated this these who which that individually collectively the together each residing "
    "registered established being at from to whereas shall will agree agrees its their his her only "
    "wherein under be made has have had or also both hereby if not whom company's solely between among "
    "amongst party parties regarding concerning relating set upon where pursuant entered either page "
    "source להלן המכונה שכתובתו שכתובתה מרחוב באמצעות לבין ובין בין מצד אשר".split()
)
_LINKS = frozenset(
    "of for de del la las los van der von den di da do dos the e y du des le el al bin ibn ben bat".split()
)
_DESCRIPTIONS = frozenset(
    "a an having with whose located organized organised incorporated duly existing acting as represented "
    "doing d/b/a dba d.b.a f/k/a a/k/a t/a formerly hereinafter hereafter herein residing registered "
    "established individually its registration corporation limited trading להלן המכונה שכתובתו שכתובתה "
    "מרחוב באמצעות".split()
)
_DEFINERS = frozenset(
    {'"', "'", "להלן", "the", "hereinafter", "hereafter", "herein", "each", "collectively", "as", "a", "together"}
)
_LEGAL_FORMS_ANY_CASE = frozenset("inc llc corp ltd plc gmbh llp lp".split())
_SUFFIX_THEN_NAME = frozenset("company corporation co limited na sa se de ag as wa sas corp spa".split())
_COMPANY_KINDS = frozenset(
    "corporation company partnership trust bank association limited organization organisation university "
    "municipality llc entity individual institution cooperative firm resident citizen".split()
)


def read_name(tokens: Sequence[Token], i: int, limit: int) -> tuple[int, bool]:
    """
    Read a name from token ``i``.

    :returns: where it ends (0 when there is none), and whether something proves that it is one: a legal form, an
        organisation's word, or a definition or description right after it.
    """
    end = i
    capitals = 0
    suffixed = bodied = False
    limit = min(limit, i + _MAX_NAME_TOKENS)
    while end < limit:
        token = tokens[end]
        if suffixed and not _goes_on_after_suffix(tokens, end, i):
            break
        if not token.text[0].isalnum():
            if not _sign_inside(tokens, end, i, suffixed=suffixed):
                break
        elif capitals and is_suffix(tokens, end):
            suffixed = True
        else:
            taken = _takes_word(tokens, end, i, capitals)
            if not taken:
                break
            capitals += taken == "name"
            bodied = bodied or (taken == "name" and token.lower in BODY_WORDS)
        end += 1
    end = _trim(tokens, i, end)
    words = [t.lower for t in tokens[i:end] if t.text[0].isalnum()]
    if not capitals or not is_plausible(words, suffixed=suffixed):
        return 0, False
    return end, suffixed or bodied or introduced(tokens, end)


def _takes_word(tokens: Sequence[Token], at: int, start: int, capitals: int) -> str:
    """Whether the word at ``at`` belongs to the name, as one of its words ("name") or between them ("link")."""
    token = tokens[at]
    word = token.lower
    if word in _STOPS and not _stop_inside(tokens, at, start, capitals):
        return ""
    if word in ("and", "in"):
        return "link" if capitals and (_joins(tokens, at) or _crown(tokens, at)) else ""
    if capitals and word in _LINKS:
        return "link" if _capital_at(tokens, at + 1) and not tokens[at + 1].text[0].isdigit() else ""
    small = at == start or (capitals == at - start and tokens[start].text.islower())
    if is_capital(token.text) or is_caseless(token.text) or (small and _lower_name(tokens, at)):
        return "name"
    inside = capitals and word.isalpha() and _capital_at(tokens, at + 1) and _suffix_near(tokens, at, 4)
    return "link" if inside or _crown(tokens, at - 1) or _crown(tokens, at - 2) else ""


def _crown(tokens: Sequence[Token], i: int) -> bool:
    """ "Her Majesty the Queen in right of the Province of ...": how governments of the Commonwealth contract."""
    return [t.lower for t in tokens[i : i + 3]] == ["in", "right", "of"]


def _stop_inside(tokens: Sequence[Token], i: int, start: int, capitals: int) -> bool:
    """Words that mostly end a name but may be part of one: "A. B. Watley", "At Home Corporation", "ON DEMAND, INC."."""
    word, text = tokens[i].lower, tokens[i].text
    following = tokens[i + 1].text if i + 1 < len(tokens) else ""
    if text == "A" and (following in (".", "&") or (len(following) == 1 and following.isupper())):
        return True
    if (capitals and word in _LINKS and _capital_at(tokens, i + 1)) or _crown(tokens, i):
        return True
    if word in ("a", "an", "and"):
        return False
    if word == "her" and following.casefold() == "majesty":
        return True
    if not capitals:
        titled = text.istitle() or (is_upper(text) and _in_small_print(tokens, start))
        return titled and is_capital(following or "x") and (_suffix_near(tokens, i, 3))
    # Capitals inside a sentence in small letters: the whole run of capitals is the name.
    return is_upper(text) and is_upper(following) and _in_small_print(tokens, start) and _suffix_near(tokens, i, 4)


def _in_small_print(tokens: Sequence[Token], start: int) -> bool:
    return any(t.text.islower() for t in tokens[max(0, start - 3) : start])


def is_suffix(tokens: Sequence[Token], i: int) -> bool:
    """Whether a legal form ("Inc", "GmbH", "L.P") stands at token ``i``."""
    token = tokens[i]
    word = token.lower.replace(".", "").replace("/", "").replace("״", "").strip("'")
    if word not in SUFFIXES or (i and tokens[i - 1].lower == "the"):
        return False
    if word in ("nv", "pa", "sc") and i and tokens[i - 1].text == ",":
        # "Carson City, NV" is a town.
        return False
    following = tokens[i + 1].lower if i + 1 < len(tokens) else ""
    if word == "incorporated" and following in ("in", "under", "and", "pursuant", "as"):
        return False
    return is_capital(token.text) or is_caseless(token.text) or word in _LEGAL_FORMS_ANY_CASE or "." in token.text


def is_company(name: Sequence[Token]) -> bool:
    """Whether a name ends in a legal form."""
    return len(name) > 1 and any(t.lower.replace(".", "").replace("״", "") in SUFFIXES for t in name[1:])


def _capital_at(tokens: Sequence[Token], i: int) -> bool:
    while i < len(tokens) and tokens[i].lower in ("the", "of"):
        i += 1
    if i >= len(tokens) or not tokens[i].text[0].isalnum() or tokens[i].lower in _STOPS:
        return False
    return is_capital(tokens[i].text)


def _goes_on_after_suffix(tokens: Sequence[Token], i: int, start: int) -> bool:
    """After "Co" may come ", Ltd."; after "Corporation" "of America"; after "Company" another legal form."""
    token, before = tokens[i], tokens[i - 1]
    if token.text == ".":
        return before.text != "."
    if token.text == ")":
        return any(t.text == "(" for t in tokens[start:i])
    if token.text in (",", "&", BREAK):
        return i + 1 < len(tokens) and is_suffix(tokens, i + 1)
    if token.lower == "of" and before.lower in ("corporation", "company", "co"):
        return _capital_at(tokens, i + 1) and tokens[i + 1].lower != "the"
    if before.lower == "of" or is_suffix(tokens, i):
        return True
    return (
        before.lower in _SUFFIX_THEN_NAME
        and token.text[0].isalnum()
        and is_capital(token.text)
        and token.lower not in _STOPS
    )


def _joins(tokens: Sequence[Token], i: int) -> bool:
    """Whether "and" is inside a name: before one word and the legal form ("Oil and Gas Inc"), or before "Sons"."""
    if tokens[i].lower != "and" or any(t.text.isdigit() and len(t.text) > 4 for t in tokens[max(0, i - 4) : i]):
        return False
    following = tokens[i + 1] if i + 1 < len(tokens) else None
    if following is None or not is_capital(following.text):
        return False
    after = i + 2
    if after < len(tokens) and tokens[after].text == ",":
        after += 1
    if after < len(tokens) and is_suffix(tokens, after) and following.lower not in SUFFIXES:
        return not is_suffix(tokens, i - 1)
    return following.lower in (
        "company",
        "co",
        "sons",
        "associates",
        "services",
        "technology",
        "technologies",
        "commerce",
        "loan",
    )


def _lower_name(tokens: Sequence[Token], i: int) -> bool:
    """Names such as "element 5 GmbH" and "i-on interactive, Inc." begin small but end in a legal form."""
    if not tokens[i].text[0].isalpha() or tokens[i].lower in ("and", "or") or tokens[i].lower in NO_PARTY:
        return False
    for k in range(i + 1, min(i + 7, len(tokens))):
        if tokens[k].text == ",":
            continue
        if is_suffix(tokens, k):
            return tokens[k].lower.replace(".", "") in _LEGAL_FORMS_ANY_CASE
        if tokens[k].lower in _STOPS or not tokens[k].text[0].isalnum():
            return False
    return False


def _sign_inside(tokens: Sequence[Token], end: int, start: int, *, suffixed: bool) -> bool:
    """Whether the sign at ``end`` is part of the name: "&", the comma before "Inc.", "(Bermuda)", an initial's dot."""
    following = tokens[end + 1] if end + 1 < len(tokens) else None
    sign = tokens[end].text
    if end == start or following is None:
        return sign == "." and end > start
    if sign == ".":
        return _abbreviates(tokens, end, following, suffixed=suffixed)
    if sign == ",":
        degree = following.lower in ("jr", "sr", "md", "m.d", "ph.d", "esq", "iii", "ii")
        return degree or is_suffix(tokens, end + 1) or _firm_list(tokens, end)
    if sign in '()"\n':
        return _bracket_inside(tokens, end, start)
    return sign in "&/-–'@+™®" and (is_capital(following.text) or sign in "'™®")


def _abbreviates(tokens: Sequence[Token], end: int, following: Token, *, suffixed: bool) -> bool:
    """Whether a dot belongs to an abbreviation ("St.", "L.P.", "Etc. USA, Inc.") and ends no sentence."""
    before = tokens[end - 1]
    if suffixed or len(before.text) <= 2 or "." in before.text or before.lower == "mrs":
        return True
    return len(before.text) <= 4 and is_capital(following.text) and _suffix_near(tokens, end, 4)


def _bracket_inside(tokens: Sequence[Token], end: int, start: int) -> bool:
    sign = tokens[end].text
    if sign == "(":
        return _inner_parenthesis(tokens, end)
    if sign == ")":
        return any(t.text == "(" for t in tokens[start:end])
    return _nickname(tokens, end, start) if sign == '"' else _wrapped(tokens, end)


def _suffix_near(tokens: Sequence[Token], i: int, reach: int) -> bool:
    return any(is_suffix(tokens, k) for k in range(i + 1, min(i + 1 + reach, len(tokens))))


def _firm_list(tokens: Sequence[Token], i: int) -> bool:
    """ "Keefe, Bruyette & Woods": one word, then an ampersand."""
    if i + 3 >= len(tokens) or not is_capital(tokens[i + 1].text) or is_suffix(tokens, i + 1):
        return False
    listed = tokens[i + 2].text == "," and i + 4 < len(tokens) and tokens[i + 4].text == "&"
    return tokens[i + 2].text == "&" or listed


def _inner_parenthesis(tokens: Sequence[Token], i: int) -> bool:
    for k in range(i + 1, min(i + 5, len(tokens) - 1)):
        if tokens[k].text == ")":
            following = tokens[k + 1]
            named = following.text[0].isalnum() and is_capital(following.text) and following.lower not in _STOPS
            return k > i + 1 and (named or following.text == "(")
        if not tokens[k].text[0].isalnum() or not is_capital(tokens[k].text):
            return False
    return False


def _nickname(tokens: Sequence[Token], i: int, start: int) -> bool:
    """`John "Jack" Smith`: one quoted word between capitals."""
    if sum(t.text == '"' for t in tokens[start:i]) == 1:
        return tokens[i - 2].text == '"' and _capital_at(tokens, i + 1)
    return (
        i + 3 < len(tokens)
        and tokens[i + 2].text == '"'
        and is_capital(tokens[i + 1].text)
        and _capital_at(tokens, i + 3)
    )


def _wrapped(tokens: Sequence[Token], i: int) -> bool:
    """Whether a line break only wraps the name: a legal form follows, or the line before was full."""
    following = tokens[i + 1]
    if is_suffix(tokens, i + 1) or any(t.text == "&" for t in tokens[i + 1 : i + 3]):
        return True
    line_start = next((tokens[k].end for k in range(i - 1, max(-1, i - 40), -1) if tokens[k].text == BREAK), 0)
    full = tokens[i].start - line_start > _FULL_LINE_CHARS
    return full and following.text != BLANK and is_capital(following.text) and following.lower not in _STOPS


def _trim(tokens: Sequence[Token], start: int, end: int) -> int:
    """Drop links and signs at the end; the dot of an abbreviation stays."""
    while end > start:
        token = tokens[end - 1]
        if token.text == ".":
            if end - 2 >= start and (is_suffix(tokens, end - 2) or len(tokens[end - 2].text) <= 2):
                break
        elif token.text in ")™®!" or (token.text[0].isalnum() and token.lower not in _LINKS and token.lower != "and"):
            break
        end -= 1
    return end


def introduced(tokens: Sequence[Token], end: int) -> bool:
    """Whether a definition or a description follows, as it does after the name of a party."""
    start = end + 1 if end < len(tokens) and tokens[end].text in (",", BREAK, ";") else end
    if start >= len(tokens):
        return False
    sign, after = tokens[start], tokens[start + 1] if start + 1 < len(tokens) else tokens[start]
    if sign.text == "(":
        return after.lower in _DEFINERS or _own_initials(tokens, start)
    if sign.lower == "of":
        return after.text[0].isdigit() or after.text in (BLANK, "(")
    return sign.lower in _DESCRIPTIONS


def _own_initials(tokens: Sequence[Token], end: int) -> bool:
    """Whether a parenthesis after a name holds its initials: "USA Managed Care Organization (USA MCO)"."""
    inside = [t for t in tokens[end + 1 : end + 4] if t.text[0].isalpha()]
    letters = iter("".join(t.lower for t in inside))
    initials = [t.lower[0] for t in tokens[max(0, end - 4) : end] if t.text[0].isupper()]
    return (
        len(initials) > 1
        and bool(inside)
        and all(is_upper(t.text) for t in inside)
        and all(c in letters for c in initials)
    )


def described_as_company(tokens: Sequence[Token], end: int) -> bool:
    """Whether ", a Delaware corporation" or the like follows."""
    following = [t.lower for t in tokens[end : end + 12]]
    if following[:1] == [","]:
        following = following[1:]
    return following[:1] in (["a"], ["an"]) and not _COMPANY_KINDS.isdisjoint(following[1:9])
