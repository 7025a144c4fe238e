# SPDX-License-Identifier: Apache-2.0
"""Pages of PDF files as pictures, drawn by PDFium."""

import contextlib
import io
from collections.abc import Iterator
from typing import Any

import pypdfium2 as pdfium  # type: ignore[import-untyped]
from haystack_integrations.components.pincite.reading.extraction import UnreadableError
from haystack_integrations.components.pincite.reading.pdf_text import ONE_AT_A_TIME

_WIDTH = 1400  # pixels: a page of text is sharp on a screen of high resolution
_MOST_PIXELS = 4_000_000  # a page may be a poster, or say that it is a kilometre high


def page_count(data: bytes) -> int:
    """
    How many pages a PDF has.

    :raises UnreadableError: locked, or corrupt.
    """
    with _opened(data) as document:
        return len(document)


def page_png(data: bytes, number: int) -> bytes:
    """
    One page as a PNG, at most 1,400 pixels wide.

    :param number: from 1.
    :raises UnreadableError: locked, corrupt, or without such a page.
    """
    with _opened(data) as document:
        if not 1 <= number <= len(document):
            raise UnreadableError(f"it has {len(document)} page(s), and no page {number}")
        page = document[number - 1]
        try:
            width, height = page.get_size()
            scale = min(_WIDTH / max(width, 1.0), (_MOST_PIXELS / max(width * height, 1.0)) ** 0.5)
            bitmap = page.render(scale=scale)
            try:
                image = bitmap.to_pil().convert("RGB")
            finally:
                bitmap.close()
        finally:
            page.close()
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue()


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
