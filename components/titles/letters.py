# SPDX-License-Identifier: Apache-2.0
"""Letters and memoranda without a heading are named by whom they go to and what they are about (I4)."""

import re
from collections.abc import Sequence

from haystack_integrations.components.pincite.titles.opening_text import Token
from haystack_integrations.components.pincite.titles.party_mentions import addressed_party

_REACH_CHARS = 2_000
_SALUTATION = re.compile(
    r"(?:^|\n)\s*(?:Dear\b|DEAR\b|Ladies (?:and|&) Gentlemen|Gentlemen:|To Whom It May Concern|שלום רב|לכבוד)"
)
_SUBJECT = re.compile(r"(?:^|\n)\s*(?:Re|RE|Subject|SUBJECT|הנדון)\s*:[ \n]?\s*([^\n]{3,120})")
_HEBREW_ADDRESSEE = re.compile(r"(?:^|\n)\s*לכבוד:?\s+([^\n,]{2,60})")


def find_letter(opening: str, tokens: Sequence[Token]) -> str:
    """Return "Letter to A regarding S" where the squeezed opening is that of a letter, else an empty string."""
    front = opening[:_REACH_CHARS]
    if not _SALUTATION.search(front):
        return ""
    found = _SUBJECT.search(front)
    subject = found.group(1).strip(" .:") if found else ""
    hebrew = _HEBREW_ADDRESSEE.search(front)
    if hebrew:
        return f"מכתב אל {hebrew.group(1).strip()}" + (f" בעניין {subject}" if subject else "")
    addressed = addressed_party(front, [t for t in tokens if t.end <= len(front)])
    title = "Letter" + (f" to {addressed[0].name}" if addressed else "")
    return title + (f" regarding {subject}" if subject else "")
