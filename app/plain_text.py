# SPDX-License-Identifier: Apache-2.0
"""Text of documents as a terminal may show it: no control of the terminal, and right-to-left text kept apart."""

import re
import unicodedata

_WHITESPACE = re.compile(r"[\s\x1c-\x1f\x85\u2028\u2029]+")
# Bidirectional embeddings, overrides and isolates: a document could turn round the text that follows it.
_DIRECTION_CONTROLS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_UNPRINTABLE = ("Cc", "Cs")  # controls, ESC and the C1 range among them, and lone surrogates
_REPLACEMENT = "\ufffd"

LEFT_TO_RIGHT_ISOLATE = "\u2066"
RIGHT_TO_LEFT_ISOLATE = "\u2067"
POP_ISOLATE = "\u2069"


def plain(text: str) -> str:
    """
    The text on one line, with runs of white space as one space, and nothing in it that a terminal obeys.

    Each control character becomes U+FFFD, so that what follows an escape stays visible as harmless letters; direction
    controls are taken out, since the renderer sets its own.
    """
    flat = _WHITESPACE.sub(" ", _DIRECTION_CONTROLS.sub("", text)).strip()
    if flat.isascii() and flat.isprintable():
        return flat
    return "".join(_REPLACEMENT if unicodedata.category(char) in _UNPRINTABLE else char for char in flat)


def is_right_to_left(text: str) -> bool | None:
    """
    Whether most letters run from right to left; ``None`` when no letter does, so that nothing needs isolating.

    The majority decides, not the first letter, because one line of a Hebrew passage may begin with a Latin name.
    """
    kinds = [unicodedata.bidirectional(char) for char in text if not char.isascii()]
    rightward = sum(kind in ("R", "AL") for kind in kinds)
    if not rightward:
        return None
    leftward = sum(char.isascii() and char.isalpha() for char in text) + kinds.count("L")
    return rightward > leftward


def isolates(text: str) -> tuple[str, str]:
    """What to write before and after each line of a text so that its direction stays inside; empty for plain LTR."""
    direction = is_right_to_left(text)
    if direction is None:
        return "", ""
    return (RIGHT_TO_LEFT_ISOLATE if direction else LEFT_TO_RIGHT_ISOLATE), POP_ISOLATE


def one_line(message: object, limit: int = 600) -> str:
    """A message for one line of a terminal, at most ``limit`` characters."""
    text = plain(str(message))
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
