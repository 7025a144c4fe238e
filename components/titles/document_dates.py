# SPDX-License-Identifier: Apache-2.0
"""The date that the opening of a document gives it (I4)."""

import re
from datetime import date

_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_REACH_CHARS = 4_000
_PATTERNS = (
    re.compile(rf"\b{_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>(?:19|20)\d\d)\b", re.IGNORECASE),
    re.compile(
        rf"\b(?P<day>\d{{1,2}}) ?(?:st|nd|rd|th)? (?:day of )?{_MONTH},? (?P<year>(?:19|20)\d\d)\b", re.IGNORECASE
    ),
    re.compile(r"\b(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)-(?P<day>\d\d)\b"),
)


def find_date(opening: str) -> str | None:
    """Return the first full date of the squeezed opening as ``YYYY-MM-DD``, or ``None``."""
    matches = [m for p in _PATTERNS if (m := p.search(opening[:_REACH_CHARS]))]
    for match in sorted(matches, key=lambda m: m.start()):
        month = match["month"].casefold()
        number = (
            int(month)
            if month.isdigit()
            else next(i for i, name in enumerate(_MONTHS, 1) if name.startswith(month[:3]))
        )
        try:
            return date(int(match["year"]), number, int(match["day"])).isoformat()
        except ValueError:
            continue
    return None
