# SPDX-License-Identifier: Apache-2.0
"""Whether words that look like a name can be that of a party: not a date, a place, an office or a law (I4)."""

import re
from collections.abc import Sequence

from haystack_integrations.components.pincite.titles.name_words import COMMON_WORDS, MONTHS, PLACES, ROLES, SUFFIXES

NO_PARTY = frozenset(
    "agreement agreements party parties date section article exhibit schedule effective contract page "
    "street suite avenue road attention attn telephone facsimile fax phone email address witnesseth "
    "recitals whereas amendment products these one either each both such us we undersigned signature name "
    "title contents definitions introduction po box tax source background purpose term commission except "
    "inc llc compliance allocation changes including secretary item no table rules orders laws execution "
    "copy entity information common shares policy".split()
)
_LAW_WORDS = frozenset("act code rules rule law laws regulations procedure court".split())
_TITLES = frozenset(
    "managing director president chief executive officer chairman secretary vice manager general".split()
)
_RANKS = frozenset("senior managing vice chief authorized authorised".split())
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]?$")
_YEAR_OR_DATE = re.compile(r"(?:19|20)\d\d$|\d+/")
_LAST_WORDS = frozenset("date agreement parties party".split())
_FORMS = frozenset("inc llc corp ltd plc gmbh llp lp".split())
_GOVERNED = frozenset("state city county town province commonwealth".split())


def is_plausible(words: Sequence[str], *, suffixed: bool) -> bool:
    """
    Whether a name of these case-folded words can be a party's.

    :param suffixed: whether a legal form was among them, which outweighs most doubts.
    """
    if not words or _begins_badly(words) or _ends_badly(words) or all(w in ROLES or w == "and" for w in words):
        return False
    return _is_registered(words) if suffixed else _is_named(words)


def _begins_badly(words: Sequence[str]) -> bool:
    first, second = words[0], words[1] if len(words) > 1 else ""
    officer = first in _RANKS and (second in _TITLES or second in _RANKS)
    return first in MONTHS or first.replace(".", "") in _FORMS or officer or bool(_YEAR_OR_DATE.match(first))


def _ends_badly(words: Sequence[str]) -> bool:
    commission = list(words[-2:]) == ["exchange", "commission"]
    return words[-1] in _LAW_WORDS or words[-1] in _LAST_WORDS or commission or _TITLES.issuperset(words)


def _is_registered(words: Sequence[str]) -> bool:
    """A name with a legal form needs one word more that is no bare common word or place."""
    if any(w.isdigit() and len(w) > 4 for w in words):
        return True
    telling = [w for w in words if w.replace(".", "") not in SUFFIXES and any(c.isalpha() for c in w)]
    if not telling:
        return len(words) > 1
    common = len(words) <= 2 and all(w in COMMON_WORDS or w in ROLES for w in words)
    return not common and not _only_places(telling)


def _is_named(words: Sequence[str]) -> bool:
    """A name without a legal form has no numbers in it, and is neither an office nor a place."""
    if words[0] in NO_PARTY or any(w.isdigit() and len(w) > 4 for w in words):
        return False
    if (words[0].isdigit() and len(words[0]) < 5) or all(w[0].isdigit() or _INITIALS.match(w) for w in words):
        return False
    common = len(words) <= 2 and all(w in COMMON_WORDS or w in ROLES for w in words)
    governs = words[0] in _GOVERNED and list(words[1:2]) == ["of"]
    return not common and (governs or not _only_places(words))


def _only_places(words: Sequence[str]) -> bool:
    return all(w in PLACES or w in ("of", "and", "state") for w in words)
