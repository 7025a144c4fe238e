# SPDX-License-Identifier: Apache-2.0
"""The file that a source was read from: shown only if it still holds what was ingested."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from haystack_integrations.components.pincite.reading.extraction import UnreadableError
from haystack_integrations.components.pincite.reading.pdf_image import page_count, page_png
from haystack_integrations.components.pincite.reading.pdf_text import PAGE_BREAK
from haystack_integrations.document_stores.pincite.errors import BadInputError
from haystack_integrations.document_stores.pincite.leg_statements import compose
from haystack_integrations.document_stores.pincite.statements import Statement
from pincite.passage import Reader

_MOST_BYTES = 200 * 1024 * 1024


class FileUnavailableError(BadInputError):
    """The file of a source cannot be shown; its text can."""


class SourceFacts(TypedDict):
    """
    Whether the pages of a source can be shown.

    ``page``: where the passage begins, ``None`` for sources without pages. ``pages``: how many the file has, where they
    can be shown as pictures; otherwise ``None``, with the ``reason``.
    """

    corpus: str
    span_id: str
    source_id: str
    title: str
    media_type: str | None
    page: int | None
    pages: int | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class SourceFile:
    """
    The file of a passage's source, as its row says: ``path`` where it was, ``sha256`` of its bytes; both ``None`` for a
    source that came from no file. ``page``: where the passage begins; ``content``: its text.
    """

    source_id: str
    title: str
    media_type: str | None
    page: int | None
    path: str | None
    sha256: str | None
    content: str

    def data(self) -> bytes:
        """
        The bytes that were ingested.

        :raises FileUnavailableError: it is no PDF, or its file is gone, unreadable, or holds something else now.
        """
        if self.media_type != "pdf":
            raise FileUnavailableError(f"source '{self.source_id}' is no PDF: it has no pages to show")
        if not self.path or not self.sha256:
            raise FileUnavailableError(f"no file was remembered for source '{self.source_id}' when it was ingested")
        data = _content(Path(self.path))
        if data is None:
            raise FileUnavailableError(f"the file of source '{self.source_id}' is not where it was ingested from")
        # Whatever stands at the path now is shown only if it is what was ingested: a path proves nothing.
        if hashlib.sha256(data).hexdigest() != self.sha256:
            raise FileUnavailableError(f"the file of source '{self.source_id}' has changed since it was ingested")
        return data

    def picture(self, page: int | None) -> bytes:
        """
        A page as a PNG, with what stands on it of the passage marked.

        :param page: from 1; ``None`` for that of the passage.
        :raises FileUnavailableError: it cannot be shown.
        """
        try:
            number = page or self.page or 1
            return page_png(self.data(), number, self._on_page(number))
        except UnreadableError as error:
            raise FileUnavailableError(f"source '{self.source_id}': {error}") from error

    def _on_page(self, number: int) -> str:
        """The part of the passage that stands on a page."""
        parts = self.content.split(PAGE_BREAK)
        at = number - (self.page or 1)
        return parts[at].strip("\n") if 0 <= at < len(parts) else ""


def _content(path: Path) -> bytes | None:
    """The bytes of a regular file; ``None`` for anything else, for one that cannot be read, or is too large to show."""
    try:
        return path.read_bytes() if path.is_file() and path.stat().st_size <= _MOST_BYTES else None
    except (OSError, ValueError):  # a path of other days may be no path at all
        return None


def source_file(reader: Reader, span_id: str) -> SourceFile:
    """
    The file of the source that a span is from.

    :param reader: who reads which corpus.
    :raises BadInputError: no such span for this principal: what he may not see is not there for him.
    """
    sql, values = compose("source_file", reader.filters)
    rows = reader.store.fetch(Statement(sql, {"id": span_id, **values}), groups=reader.groups)
    if not rows:
        raise BadInputError(f"no span {span_id!r:.200} in corpus '{reader.store.corpus}'")
    return SourceFile(**rows[0])


def source_facts(file: SourceFile, corpus: str, span_id: str) -> SourceFacts:
    """What there is to show of a source."""
    pages, reason = None, None
    try:
        pages = page_count(file.data())
    except (FileUnavailableError, UnreadableError) as error:
        reason = str(error)
    return {
        "corpus": corpus,
        "span_id": span_id,
        "source_id": file.source_id,
        "title": file.title,
        "media_type": file.media_type,
        "page": file.page,
        "pages": pages,
        "reason": reason,
    }
