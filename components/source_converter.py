# SPDX-License-Identifier: Apache-2.0
"""Turns files into documents, one a source, and says of each that it cannot read why not."""

from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any, TypedDict

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.dataclasses import ByteStream
from haystack_integrations.components.pincite.reading.data_text import DATA_SUFFIXES, read_data
from haystack_integrations.components.pincite.reading.docx_text import OLE_MAGIC, read_docx
from haystack_integrations.components.pincite.reading.extraction import Extracted, UnreadableError
from haystack_integrations.components.pincite.reading.html_text import read_html
from haystack_integrations.components.pincite.reading.pdf_text import read_pdf
from haystack_integrations.components.pincite.reading.source_meta import checked_meta
from haystack_integrations.components.pincite.reading.text_files import read_text
from haystack_integrations.document_stores.pincite.errors import BadInputError

Source = str | Path | ByteStream
ENCODING_KEY = "encoding"
"""Metadata key that names the encoding of a text file which is neither UTF-8 nor marked."""


class Failure(TypedDict):
    """A file that could not be read, and the reason in one line."""

    path: str
    reason: str


class Note(TypedDict):
    """A file that was read, and what is missing from it."""

    path: str
    note: str


@component
class SourceConverter:
    """
    Reads PDF, DOCX, HTML, Markdown, text, JSON, YAML and TOML files (I1).

    The content of ``.txt`` and ``.md`` is the text of the file as it stands; left out are a byte order mark and front
    matter (a YAML mapping between ``---`` lines at the top), whose keys become metadata. NUL and lone surrogates
    become U+FFFD, which keeps every offset. Metadata given with a source wins over front matter.
    """

    def to_dict(self) -> dict[str, Any]:
        """Constructor arguments for YAML: none."""
        return default_to_dict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "SourceConverter":
        """Rebuild from :meth:`to_dict`."""
        return default_from_dict(cls, data)

    @component.output_types(documents=list[Document], failures=list[Failure], notes=list[Note])
    def run(
        self, sources: list[Source], meta: dict[str, Any] | list[dict[str, Any]] | None = None
    ) -> dict[str, list[Any]]:
        """
        :param sources: Paths, or byte streams whose ``meta["file_path"]`` or ``meta["file_name"]`` gives the name.
        :param meta: One mapping for all, or one for each. ``source_id`` is by default the name of the file.
        :returns: ``documents`` with ``source_id``, ``media_type`` and, of paged files, ``page_starts`` (offset of each
            page) in ``meta``; ``failures`` and ``notes`` by path.
        :raises BadInputError: ``meta`` has another length than ``sources``.
        """
        metas = [dict(meta or {}) for _ in sources] if not isinstance(meta, list) else meta
        if len(metas) != len(sources):
            raise BadInputError(f"SourceConverter: {len(metas)} metadata mappings for {len(sources)} sources")
        documents: list[Document] = []
        failures: list[Failure] = []
        notes: list[Note] = []
        for source, given in zip(sources, metas, strict=True):
            path = source_path(source)
            try:
                extracted = read_source(path, _bytes(source), given.get(ENCODING_KEY))
                documents.append(_document(path, extracted, {**_own_meta(source), **given}))
            except (UnreadableError, BadInputError) as error:
                failures.append({"path": path, "reason": str(error)})
            else:
                notes += [{"path": path, "note": note} for note in extracted.notes]
        return {"documents": documents, "failures": failures, "notes": notes}


def read_source(path: str, data: bytes, encoding: str | None = None) -> Extracted:
    """
    The text of one file, read by the ending of its name.

    :raises UnreadableError: The reason why it cannot be used.
    """
    suffix = PurePath(path).suffix.lower()
    if not data:
        raise UnreadableError("empty file")
    if suffix == ".pdf":
        return read_pdf(data)
    if suffix == ".docx":
        return read_docx(data)
    if suffix in {".html", ".htm", ".xhtml"}:
        return read_html(data, encoding)
    if suffix in {".md", ".markdown"}:
        return read_text(data, "markdown", encoding)
    if suffix == ".txt":
        return read_text(data, "text", encoding)
    if suffix in DATA_SUFFIXES:
        return read_data(data, suffix, encoding)
    if suffix == ".doc" or data.startswith(OLE_MAGIC):
        raise UnreadableError("legacy Office format (97-2003); save it as .docx or PDF")
    raise UnreadableError(
        f"unsupported type {suffix or 'without an ending'}; "
        "supported: pdf, docx, html, md, txt, json, jsonl, yaml, toml"
    )


def _document(path: str, extracted: Extracted, given: Mapping[str, Any]) -> Document:
    front_matter = checked_meta(extracted.meta, "front matter" if extracted.media_type != "html" else "page")
    meta = {**front_matter, **given, "media_type": extracted.media_type}
    meta.setdefault("source_id", PurePath(path).name)
    if extracted.page_starts:
        meta["page_starts"] = extracted.page_starts
    return Document(id=str(meta["source_id"]), content=extracted.text, meta=meta)


def source_path(source: Source) -> str:
    if isinstance(source, ByteStream):
        return str(source.meta.get("file_path") or source.meta.get("file_name") or "byte stream")
    return str(source)


def _own_meta(source: Source) -> dict[str, Any]:
    return dict(source.meta) if isinstance(source, ByteStream) else {}


def _bytes(source: Source) -> bytes:
    if isinstance(source, ByteStream):
        return source.data
    try:
        return Path(source).read_bytes()
    except OSError as error:
        raise UnreadableError(f"cannot be opened: {error.strerror or error}") from error
