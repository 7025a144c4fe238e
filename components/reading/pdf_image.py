# SPDX-License-Identifier: Apache-2.0
"""Pages of PDF files as pictures, drawn by PDFium, with a passage marked as with a felt pen."""

import contextlib
import io
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pypdfium2 as pdfium  # type: ignore[import-untyped]
from haystack_integrations.components.pincite.reading.extraction import UnreadableError
from haystack_integrations.components.pincite.reading.pdf_text import ONE_AT_A_TIME, page_text
from PIL import Image, ImageChops, ImageDraw

_WIDTH = 1400  # pixels: a page of text is sharp on a screen of high resolution
_MOST_PIXELS = 4_000_000  # a page may be a poster, or say that it is a kilometre high
_PEN = (255, 236, 150)
_LINE_END = re.compile(r"\r\n|[\r\n\f]")  # what :func:`page_text` makes a line end of


class _Range(NamedTuple):
    """Characters of a page as PDFium counts them, half-open."""

    start: int
    end: int


def page_count(data: bytes) -> int:
    """
    How many pages a PDF has.

    :raises UnreadableError: locked, or corrupt.
    """
    with _opened(data) as document:
        return len(document)


def page_png(data: bytes, number: int, passage: str = "") -> bytes:
    """
    One page as a PNG, at most 1,400 pixels wide.

    :param number: from 1.
    :param passage: what is marked: text of this page as :func:`~.pdf_text.read_pdf` gives it. Text that does not stand
        there is not marked.
    :raises UnreadableError: locked, corrupt, or without such a page.
    """
    with _opened(data) as document:
        if not 1 <= number <= len(document):
            raise UnreadableError(f"it has {len(document)} page(s), and no page {number}")
        page = document[number - 1]
        try:
            image = _drawn(page, passage)
        finally:
            page.close()
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue()


def _drawn(page: Any, passage: str) -> Image.Image:
    width, height = page.get_size()
    scale = min(_WIDTH / max(width, 1.0), (_MOST_PIXELS / max(width * height, 1.0)) ** 0.5)
    bitmap = page.render(scale=scale)
    try:
        image: Image.Image = bitmap.to_pil().convert("RGB")
        place = bitmap.get_posconv(page)
        boxes = [
            (*place.to_bitmap(left, top), *place.to_bitmap(right, bottom))
            for left, bottom, right, top in _rectangles(page, passage)
        ]
    finally:
        bitmap.close()
    return _marked(image, boxes) if boxes else image


def _marked(image: Image.Image, boxes: list[tuple[int, int, int, int]]) -> Image.Image:
    pen = Image.new("RGB", image.size, "white")
    draw = ImageDraw.Draw(pen)
    for one, other, third, fourth in boxes:
        # A page may be turned: which corner is the upper left one is for the bitmap to say.
        left, right, top, bottom = min(one, third), max(one, third), min(other, fourth), max(other, fourth)
        draw.rectangle((left - 2, top - 2, right + 2, bottom + 2), fill=_PEN)
    return ImageChops.multiply(image, pen)


def _rectangles(page: Any, passage: str) -> list[tuple[float, float, float, float]]:
    """Where the passage stands: left, bottom, right, top of each stretch, in the units of the page."""
    if not passage.strip():
        return []
    text_page = page.get_textpage()
    try:
        raw = text_page.get_text_range()
        # PDFium leaves characters out of a text that it has in the page: then its numbers are not ours.
        if len(raw) != text_page.count_chars():
            return []
        found = []
        for part in passage_ranges(raw, passage):
            count = text_page.count_rects(part.start, part.end - part.start)
            found += [text_page.get_rect(index) for index in range(count)]
        return found
    finally:
        text_page.close()


def passage_ranges(raw: str, passage: str) -> list[_Range]:
    """
    The characters of a page that a passage consists of, line by line.

    :param raw: the page as PDFium gives it.
    :param passage: a stretch of :func:`page_text` of it.
    :returns: one range for each line; where a line was put into another order, all of it. Nothing if it is not there.
    """
    text = page_text(raw)
    start = text.find(passage)
    lines, raw_lines = text.split("\n"), _LINE_END.split(raw)
    if start < 0 or len(lines) != len(raw_lines):
        return []
    end = start + len(passage)
    ranges, at, raw_at = [], 0, 0
    ends = [match.group() for match in _LINE_END.finditer(raw)]
    for line, raw_line, line_end in zip(lines, raw_lines, [*ends, ""], strict=True):
        first, last = max(start, at) - at, min(end, at + len(line)) - at
        if first < last and line[first:last].strip():
            same = line == raw_line.replace("\ufffe", "-")
            ranges.append(_Range(raw_at + first, raw_at + last) if same else _Range(raw_at, raw_at + len(raw_line)))
        at += len(line) + 1
        raw_at += len(raw_line) + len(line_end)
    return ranges


@contextlib.contextmanager
def _opened(data: bytes) -> Iterator[Any]:
    with ONE_AT_A_TIME:
        try:
            document = pdfium.PdfDocument(data)
        except pdfium.PdfiumError as error:
            raise UnreadableError("locked, corrupt, or not a PDF") from error
        try:
            yield document
        except pdfium.PdfiumError as error:
            raise UnreadableError(f"corrupt: {error}") from error
        finally:
            document.close()
