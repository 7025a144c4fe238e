# SPDX-License-Identifier: Apache-2.0
"""A passage in its context: what ``show`` gives (S2)."""

from typing import Any, TypedDict

from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.errors import AttributionError, BadInputError
from haystack_integrations.document_stores.pincite.leg_statements import COLUMNS, span_document
from haystack_integrations.document_stores.pincite.spans import RESERVED_META, Extent, Locator
from haystack_integrations.document_stores.pincite.statements import Statement
from psycopg.sql import SQL

# Around a span without a parent, so many characters of its source on each side.
_MARGIN = 600
_QUERY = SQL(
    "SELECT {columns}, substr(d.text, a.first + 1, s.start_offset - a.first) AS before,"
    " substr(d.text, s.start_offset + 1, s.end_offset - s.start_offset) AS there,"
    " substr(d.text, s.end_offset + 1, a.last - s.end_offset) AS after"
    " FROM spans AS s JOIN sources AS d USING (source_id),"
    " LATERAL (SELECT"
    " least(coalesce(s.parent_start, greatest(s.start_offset - %(margin)s, 0)), s.start_offset) AS first,"
    " greatest(coalesce(s.parent_end, s.end_offset + %(margin)s), s.end_offset) AS last) AS a"
    " WHERE s.id = %(id)s"
).format(columns=COLUMNS)


class Context(TypedDict):
    """The passage and what stands around it, up to its parent's ends."""

    before: str
    text: str
    after: str


class Passage(TypedDict):
    """A span with its locator and its context."""

    corpus: str
    span_id: str
    source_id: str
    title: str
    kind: str
    text: str
    locator: Locator
    parent: Extent | None
    context: Context
    meta: dict[str, Any]


def passage(store: CorpusDocumentStore, span_id: str, *, groups: list[str] | None) -> Passage:
    """
    Read a span of a corpus again at its locator.

    :param groups: groups of the principal; ``None`` sees nothing.
    :raises BadInputError: no such span for this principal: what he may not see is not there for him.
    :raises AttributionError: the source says something else at the locator.
    """
    rows = store.fetch(Statement(_QUERY, {"id": span_id, "margin": _MARGIN}), groups=groups)
    if not rows:
        raise BadInputError(f"no span {span_id!r:.200} in corpus '{store.corpus}'; ids are in the results of a search")
    row = rows[0]
    if row["there"] != row["content"]:
        raise AttributionError(
            f"span '{span_id}' does not stand at its locator: ingest source '{row['source_id']}' again"
        )
    meta = span_document(row, store.corpus).meta
    extent = row["parent_start"] is not None and row["parent_end"] is not None
    return {
        "corpus": store.corpus,
        "span_id": row["id"],
        "source_id": row["source_id"],
        "title": meta["title"],
        "kind": row["kind"],
        "text": row["content"],
        "locator": {
            "page": row["page"],
            "page_end": row["page_end"],
            "start": row["start_offset"],
            "end": row["end_offset"],
            "section": row["section"],
            "quote": row["quote"],
        },
        "parent": {"start": row["parent_start"], "end": row["parent_end"], "section": row["section"]}
        if extent
        else None,
        "context": {"before": row["before"], "text": row["content"], "after": row["after"]},
        "meta": {key: meta[key] for key in RESERVED_META if key != "title" and meta.get(key) not in (None, "", [])},
    }
