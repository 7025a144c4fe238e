# SPDX-License-Identifier: Apache-2.0
"""Decodes text files exactly, and parts the front matter from the text."""

import codecs
import re
from collections.abc import Mapping
from typing import Any

import yaml
from haystack_integrations.components.pincite.reading.extraction import Extracted, UnreadableError, storable

# Longest first: the mark of UTF-32 begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(?P<yaml>.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_BINARY_SHARE = 0.05  # of NUL characters; text has none


def read_text(data: bytes, media_type: str, encoding: str | None = None) -> Extracted:
    """
    A plain text or Markdown file, code point by code point; only a byte order mark and front matter are left out.

    :param media_type: ``text`` or ``markdown``.
    :param encoding: The encoding where it is known; default: by byte order mark, else UTF-8. Nothing is guessed.
    :raises UnreadableError: Not in that encoding, binary, or blank.
    """
    meta, text = split_front_matter(decode(data, encoding))
    if not text.strip():
        raise UnreadableError("no text in it")
    return Extracted(storable(text), media_type, page_starts=_page_starts(text), meta=meta)


def _page_starts(text: str) -> list[int]:
    """Pages are parted by form feeds, as printers and converters write them; a text without any has no pages."""
    breaks = [place + 1 for place, character in enumerate(text.rstrip()) if character == "\f"]
    return [0, *breaks] if breaks else []


def decode(data: bytes, encoding: str | None = None) -> str:
    """
    :raises UnreadableError: With the place of the first byte that does not fit.
    """
    mark, name = next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", encoding or "utf-8"))
    try:
        text = data[len(mark) :].decode(name)
    except UnicodeDecodeError as error:
        place = error.start + len(mark)
        raise UnreadableError(
            f"wrong encoding: not {name.upper()} at byte {place} (0x{data[place]:02x}); "
            "save it as UTF-8 or name its encoding with --meta encoding=NAME"
        ) from error
    except LookupError as error:
        raise UnreadableError(f"unknown encoding {name!r}; use a name such as cp1252 or windows-1255") from error
    if text.count("\0") > _BINARY_SHARE * len(text):
        raise UnreadableError("wrong encoding: many NUL characters; it is binary, or UTF-16 without a byte order mark")
    return text


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """
    The YAML mapping between ``---`` lines at the top, and the text after it.

    Without such a mapping the text is returned whole: a rule of dashes at the top of a document is its text.
    """
    match = _FRONT_MATTER.match(text)
    if not match:
        return {}, text
    try:
        mapping = yaml.safe_load(match["yaml"])
    except yaml.YAMLError:
        return {}, text
    if not isinstance(mapping, Mapping) or not mapping or not all(isinstance(key, str) for key in mapping):
        return {}, text
    return dict(mapping), text[match.end() :]
