# SPDX-License-Identifier: Apache-2.0
"""Reads Word files with Haystack's converter, after mending what it cannot read: Strict OOXML and heading styles."""

import re
import zipfile
from io import BytesIO
from itertools import accumulate

import docx
from haystack.components.converters import DOCXToDocument
from haystack.dataclasses import ByteStream
from haystack_integrations.components.pincite.reading.docx_numbering import ClauseNumbers
from haystack_integrations.components.pincite.reading.extraction import Extracted, UnreadableError, storable

OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_MOST_UNPACKED = 500 * 1024 * 1024  # bytes; more in a Word file is a zip bomb
# ISO/IEC 29500 Strict uses namespaces of its own; what is in them is the same for our purpose.
_STRICT = (
    (b"http://purl.oclc.org/ooxml/officeDocument/", b"http://schemas.openxmlformats.org/officeDocument/2006/"),
    (
        b"http://purl.oclc.org/ooxml/wordprocessingml/main",
        b"http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    ),
    (b"http://purl.oclc.org/ooxml/drawingml/", b"http://schemas.openxmlformats.org/drawingml/2006/"),
    (b"http://purl.oclc.org/ooxml/schemaLibrary/main", b"http://schemas.openxmlformats.org/schemaLibrary/2006/main"),
)
_HEADING_STYLE = re.compile(r"(?:heading|כותרת) ?([1-6])$", re.IGNORECASE)


def read_docx(data: bytes) -> Extracted:
    """
    Paragraphs, tables and text boxes in order; headings as Markdown headings; pages where Word left its page breaks.

    :raises UnreadableError: Locked, an old format under a new name, corrupt, or without text.
    """
    if data.startswith(OLE_MAGIC):
        if _ENCRYPTED in data:
            raise UnreadableError("locked: it needs a password; save an unlocked copy")
        raise UnreadableError("legacy Word format (97-2003); save it as .docx or PDF")
    document = _opened(data)
    title = (document.core_properties.title or "").strip()
    notes: list[str] = []
    try:
        _mark(document)
    except (AttributeError, KeyError, TypeError, ValueError):  # a list definition that lacks what it must have
        notes.append("its list definitions are damaged: numbers of clauses are missing")
    marked = BytesIO()
    document.save(marked)
    converted = DOCXToDocument().run(sources=[ByteStream(marked.getvalue())])["documents"]
    if not converted:
        raise UnreadableError("corrupt, or a Word file that cannot be understood")
    text = storable(converted[0].content or "")
    if not text.strip():
        raise UnreadableError("no text in it: perhaps only pictures")
    pages = text.split("\f")
    starts = [0, *accumulate(len(page) + 1 for page in pages[:-1])] if len(pages) > 1 else []
    return Extracted(text, "docx", page_starts=starts, meta={"document_title": title} if title else {}, notes=notes)


def _mark(document: "docx.document.Document") -> None:
    """Write into the text what Word only shows: which paragraph is a heading, and the numbers of clauses."""
    numbers = ClauseNumbers(document)
    for paragraph in document.paragraphs:
        label = numbers.label(paragraph)
        level = _HEADING_STYLE.match(paragraph.style.name or "") if paragraph.style is not None else None
        mark = ("#" * int(level[1]) + " " if level else "") + (label + " " if label else "")
        if mark and paragraph.text.strip():
            run = paragraph.add_run(mark)._r
            properties = paragraph._p.pPr
            paragraph._p.insert(0 if properties is None else paragraph._p.index(properties) + 1, run)


def _opened(data: bytes) -> "docx.document.Document":
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > _MOST_UNPACKED:
                raise UnreadableError("corrupt: unpacks to more than 500 MB")
            if "word/document.xml" not in archive.namelist():
                raise UnreadableError("not a Word file: no word/document.xml in it")
            if b"http://purl.oclc.org/ooxml/" in archive.read("word/document.xml"):
                data = _transitional(archive)
        return docx.Document(BytesIO(data))
    except UnreadableError:
        raise
    except Exception as error:  # zipfile, lxml and python-docx raise many kinds for a damaged file
        raise UnreadableError("corrupt, or not a Word file") from error


def _transitional(archive: zipfile.ZipFile) -> bytes:
    mended = BytesIO()
    with zipfile.ZipFile(mended, "w", zipfile.ZIP_DEFLATED) as target:
        for entry in archive.infolist():
            content = archive.read(entry)
            if entry.filename.endswith((".xml", ".rels")):
                for strict, transitional in _STRICT:
                    content = content.replace(strict, transitional)
            target.writestr(entry, content)
    return mended.getvalue()
