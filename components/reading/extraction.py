# SPDX-License-Identifier: Apache-2.0
"""What reading a file gives, and the error for a file that cannot be read."""

from dataclasses import dataclass, field
from typing import Any

REPLACEMENT = "\ufffd"


class UnreadableError(Exception):
    """A file that cannot be used; ``str(error)`` is the reason a user reads (I1)."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """
    The text of a file.

    ``media_type`` is ``pdf``, ``docx``, ``html``, ``markdown``, ``text`` or ``data``; ``page_starts`` the offset of
    each page, or empty where there are none; ``notes`` what a user should know although the file is in.
    """

    text: str
    media_type: str
    page_starts: list[int] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def storable(text: str) -> str:
    """The same length, with U+FFFD for what PostgreSQL cannot hold: NUL and lone surrogates."""
    if "\0" in text:
        text = text.replace("\0", REPLACEMENT)
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join(REPLACEMENT if "\ud800" <= character <= "\udfff" else character for character in text)
    return text
