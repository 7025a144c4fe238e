# SPDX-License-Identifier: Apache-2.0
"""The span as it travels through a pipeline: an immutable Haystack Document with its locator in ``meta``."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict, TypeVar, cast, overload

from haystack import Document

T = TypeVar("T")


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

    @classmethod
    def of(cls, span: str, content: str | None, score: float | None, meta: dict[str, Any]) -> "SpanDocument":
        """
        A span that was read from the store.

        Some hundred are made a search. Haystack's constructor looks for fields of old versions, watches each assignment
        and checks types, at ten times the cost of the object; what comes from our own columns needs none of that.

        :param span: its id, never empty.
        """
        made = object.__new__(cls)
        made.__dict__.update(_NOTHING_ELSE, id=span, content=content, score=score, meta=meta)
        return made


_NOTHING_ELSE = {"blob": None, "embedding": None, "sparse_embedding": None}


def restated(document: Document, meta: dict[str, Any], score: float | None) -> Document:
    """
    The same document with another ``meta`` and score: what ``dataclasses.replace`` gives, at the cost of the object.

    :param document: of any class; one that is not ours takes Haystack's own way.
    """
    if type(document) is not SpanDocument:
        return replace(document, meta=meta, score=score)
    made = object.__new__(SpanDocument)
    made.__dict__.update(document.__dict__, meta=meta, score=score)
    return made


class SharedList(Sequence[T]):
    """
    What a stage hands on: read like a list, and shared instead of copied.

    Haystack copies the inputs of each component element by element, and asks of each element whether it is a component
    or a tool: 25 microseconds an element, a fifth of a search. It does so for lists; this is another sequence, whose
    deep copy is itself, since no stage changes one. It equals a list of the same elements.
    """

    __slots__ = ("_items",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, items: Iterable[T]) -> None:
        self._items = tuple(items)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> list[T]: ...
    def __getitem__(self, place: int | slice) -> T | list[T]:
        return list(self._items[place]) if isinstance(place, slice) else self._items[place]

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, list | SharedList) and list(self) == list(other)

    def __add__(self, other: Iterable[T]) -> list[T]:
        return [*self, *other]

    def __radd__(self, other: Iterable[T]) -> list[T]:
        return [*other, *self]

    def __deepcopy__(self, memo: dict[int, Any]) -> "SharedList[T]":
        return self

    def __repr__(self) -> str:
        return repr(list(self))


def shared(items: Iterable[T]) -> list[T]:
    """The items as a :class:`SharedList`; typed as the list that the sockets of components declare."""
    return cast("list[T]", items if isinstance(items, SharedList) else SharedList(items))


def plain_outputs(outputs: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """What the stages of a run gave, with plain lists where they shared theirs."""
    return {
        stage: {name: list(value) if isinstance(value, SharedList) else value for name, value in given.items()}
        for stage, given in outputs.items()
    }


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
