# SPDX-License-Identifier: Apache-2.0
"""The caption of a court decision: "A v. B" (I4)."""

import re

_REACH_CHARS = 1_200
_MAX_SIDE_WORDS = 10
# "Article V. Definitions" is no dispute, and "e. V." is a legal form.
_NUMBERED = frozenset("article section part title chapter schedule volume book appendix exhibit".split())
_NAME = r"[^\n,;:()§]{2,80}?"
_SIDE = (
    r"(?:\s*[,(]?\s*(?:plaintiffs?|petitioners?|appellants?|applicants?|claimants?|respondents?|defendants?|appellees?|"
    r"complainants?)[^\n]{0,40}?)?"
)
_CAPTION = re.compile(
    rf"(?:^|\n)(?P<a>{_NAME})(?:,? (?:et al\.?))?{_SIDE}[\s,.\-–]{{1,4}}"
    rf"(?:(?-i:v|vs|VS|V)|versus|נ')\.?[ \n]{{1,2}}(?P<b>{_NAME})(?:,? et al\.?)?(?=[\n,;(]|$)",
    re.IGNORECASE,
)


def find_caption(opening: str) -> str:
    """Return "A v. B" where the squeezed opening of a decision or a pleading states its sides, else an empty string."""
    match = _CAPTION.search(opening[:_REACH_CHARS])
    if not match:
        return ""
    a, b = (" ".join(match[g].split()).strip(" .-–") for g in ("a", "b"))
    if not a or not b or a.casefold() in _NUMBERED or a.casefold().endswith((" e", " e.")):
        return ""
    if not a[0].isalpha() or not (b[0].isupper() or b.upper() == b) or len(a.split()) > _MAX_SIDE_WORDS:
        return ""
    sign = "נ'" if "נ'" in match.group() else "v."
    return f"{_usual(a)} {sign} {_usual(b)}"


def _usual(name: str) -> str:
    return name.title().replace(" Of ", " of ").replace(" And ", " and ") if name.isupper() and len(name) > 4 else name
