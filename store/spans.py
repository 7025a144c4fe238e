# SPDX-License-Identifier: Apache-2.0
"""The span as it travels through a pipeline: an immutable Haystack Document with its locator in ``meta``."""

from dataclasses import dataclass, field
from typing import Any, TypedDict

from haystack import Document


class Locator(TypedDict):
    """Where a span stands in its source. Offsets are code points, half-open; pages start at 1."""

    page: int | None
    page_end: int | None
    start: int
    end: int
    section: str | None
    quote: str | None


class Extent(TypedDict):
    """A wider stretch of the same source around a span: what ``show`` and ``parent`` give."""

    start: int
    end: int
    section: str | None


# Meta keys of a source that a user may set (contract, "Identity"); they travel with each of its spans.
RESERVED_META = (
    "title",
    "language",
    "status",
    "groups",
    "matter",
    "case_id",
    "case_number",
    "case_name",
    "court",
    "practice_area",
    "document_type",
    "date",
    "tags",
)


class SpanDocument(Document):
    """
    A Document that stages share instead of copying.

    Haystack deep-copies the inputs of each component. Nothing in Pincite changes a Document in place (stages use
    ``dataclasses.replace``), so a copy is the object itself; that halves the cost of a ten-stage pipeline.

    ``id`` is the span id, ``content`` its text, ``score`` the score of the stage that produced it. ``meta`` holds
    ``corpus``, ``source_id``, ``title``, ``kind``, ``statement`` (of a rule), the keys of :class:`Locator`,
    ``parent_start`` and ``parent_end`` (both ``None`` where there is no parent) and the :data:`RESERVED_META` keys that
    are set. Keys that begin with an underscore belong to the pipeline and are not shown to users.
    """

    def __deepcopy__(self, memo: dict[int, Any]) -> "SpanDocument":
        return self

    def __copy__(self) -> "SpanDocument":
        return self


def span_id(corpus: str, source_id: str, kind: str, number: int) -> str:
    """
    The identity of a span: corpus, source and its number within kind (contract, "Identity").

    Never derived from content: two sources with the same text keep two ids (C4).
    """
    return f"{corpus}:{source_id}#{kind}-{number}"


@dataclass(frozen=True, slots=True)
class SpanRecord:
    """
    A span on its way into the store. ``number`` counts from 0 within its kind.

    A rule has a ``statement``, a ``quote`` equal to its ``text``, and a ``review_status``; where the quote was not
    found in the source, ``start`` and ``end`` are ``None``, and the rule is kept without being searchable (C5, S1).
    """

    kind: str
    number: int
    start: int | None
    end: int | None
    text: str
    page: int | None = None
    page_end: int | None = None
    section: str | None = None
    quote: str | None = None
    parent_start: int | None = None
    parent_end: int | None = None
    embedding: list[float] | None = None
    statement: str | None = None
    review_status: str | None = None


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """
    A source on its way into the store.

    ``identity`` is what names the document besides its title: words of the file name, parties, the text of its
    opening. ``content_hash`` covers bytes, metadata and the settings of extraction and splitting: an equal hash means
    that nothing has to be done (I2).
    """

    source_id: str
    title: str
    text: str
    content_hash: str
    media_type: str
    identity: str = ""
    status: str = "active"
    groups: list[str] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)
    spans: list[SpanRecord] = field(default_factory=list)
