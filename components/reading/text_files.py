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
# How a block between dashes begins that was meant to say who may see the document, or whether it is in force. If it
# cannot be read, its document must not go in as one that everybody sees.
_MEANT = re.compile(r"^[ \t]*[\"']?(?:groups?|status)[\"']?[ \t]*[:=]", re.MULTILINE | re.IGNORECASE)
_OPENED = re.compile(r"\A\s*(?:---|\+\+\+)[ \t]*\r?\n(?:\S.*(?:\r?\n|\Z))*")
_BINARY_SHARE = 0.05  # of NUL characters; text has none


class _UniqueKeys(yaml.SafeLoader):
    """A second ``groups:`` would silently replace the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [str(self.construct_object(key, deep=True)) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.YAMLError(f"{key!r} is given twice")
        return super().construct_mapping(node, deep)


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

    :raises UnreadableError: The lines at the top speak of groups or a status, and are no mapping (C3).
    """
    match = _FRONT_MATTER.match(text)
    if not match:
        opened = _OPENED.match(text)
        if opened and _MEANT.search(opened.group()):
            raise UnreadableError(
                "front matter: it speaks of groups or status, and is not parted by '---' from line 1 on"
            )
        return {}, text
    try:
        mapping = yaml.load(match["yaml"], Loader=_UniqueKeys)  # noqa: S506 (a safe loader)
        reason = "no mapping of words to values"
    except yaml.YAMLError as error:
        mapping, reason = None, f"no valid YAML: {' '.join(str(error).split()):.200}"
    if not isinstance(mapping, Mapping) or not mapping or not all(isinstance(key, str) for key in mapping):
        if _MEANT.search(match["yaml"]):
            raise UnreadableError(f"front matter: {reason}; correct it, or who may see the document is not known")
        return {}, text
    return dict(mapping), text[match.end() :]
