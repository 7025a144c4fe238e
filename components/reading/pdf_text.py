# SPDX-License-Identifier: Apache-2.0
"""Reads the text layer of PDF files with PDFium, page by page."""

from itertools import accumulate
from threading import Lock
from typing import Any

import pypdfium2 as pdfium  # type: ignore[import-untyped]
from haystack_integrations.components.pincite.reading.extraction import Extracted, UnreadableError, storable
from haystack_integrations.components.pincite.reading.visual_hebrew import logical

PAGE_BREAK = "\f"
ONE_AT_A_TIME = Lock()  # PDFium is not thread-safe, in the whole process


def read_pdf(data: bytes) -> Extracted:
    """
    The pages of a PDF, joined by one form feed each; lines end with ``\\n``.

    :raises UnreadableError: Locked, corrupt, or without any text.
    """
    with ONE_AT_A_TIME:
        pages, scanned = _pages(data)
    if not any(page.strip() for page in pages):
        raise UnreadableError(f"no text layer on any of its {len(pages)} page(s): it is a scan; run OCR on it first")
    starts = [0, *accumulate(len(page) + len(PAGE_BREAK) for page in pages[:-1])]
    notes = [f"page {_ranges(scanned)} of {len(pages)}: a picture without text layer; run OCR to find it"]
    return Extracted(PAGE_BREAK.join(pages), "pdf", page_starts=starts, notes=notes if scanned else [])


def _pages(data: bytes) -> tuple[list[str], list[int]]:
    """Text of each page, and numbers of the pages that are pictures; empty pages are neither."""
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if "password" in str(error).lower():
            raise UnreadableError("locked: it needs a password; save an unlocked copy") from error
        raise UnreadableError("corrupt, or not a PDF") from error
    try:
        pages = [_page(document, index) for index in range(len(document))]
        return pages, [index + 1 for index, page in enumerate(pages) if not page.strip() and _pictured(document, index)]
    except pdfium.PdfiumError as error:
        raise UnreadableError(f"corrupt: {error}") from error
    finally:
        document.close()


def _page(document: Any, index: int) -> str:
    page = document[index]
    try:
        text_page = page.get_textpage()
        try:
            text: str = text_page.get_text_range()
        finally:
            text_page.close()
    finally:
        page.close()
    return page_text(text)


def page_text(text: str) -> str:
    """The text of a page as it is stored, from what PDFium says; line for line the same."""
    # PDFium marks a hyphen at the end of a line with U+FFFE, and ends lines with CR LF; a form feed would be a page.
    plain = storable(text.replace("\r\n", "\n").replace("\r", "\n").replace("\ufffe", "-").replace(PAGE_BREAK, "\n"))
    return logical(plain)


def _pictured(document: Any, index: int) -> bool:
    page = document[index]
    try:
        return any(True for _ in page.get_objects(filter=[pdfium.raw.FPDF_PAGEOBJ_IMAGE]))
    finally:
        page.close()


def _ranges(numbers: list[int]) -> str:
    """ "2-6, 9": pages as a person writes them."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], number]
        else:
            parts.append([number])
    return ", ".join("-".join(map(str, part)) for part in parts)
