# SPDX-License-Identifier: Apache-2.0
"""A passage in its context: what ``show`` gives (S2)."""

from typing import Any, NamedTuple, TypedDict

from haystack_integrations.components.pincite.stages.scopes import all_of, scope_conditions, scope_values
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.errors import AttributionError, BadInputError
from haystack_integrations.document_stores.pincite.leg_statements import compose, span_document
from haystack_integrations.document_stores.pincite.scopes import within
from haystack_integrations.document_stores.pincite.spans import Extent, Locator
from haystack_integrations.document_stores.pincite.statements import Statement
from pincite.pipelines.corpora import load_corpora
from pincite.response import shown_meta

# Around a span without a parent, so many characters of its source on each side.
_MARGIN = 600


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


class Reader(NamedTuple):
    """Who reads single spans of a corpus, and in which scope."""

    store: CorpusDocumentStore
    groups: list[str] | None
    filters: dict[str, Any] | None


def reader_of(corpus: str, groups: list[str] | None, scope: dict[str, str] | None) -> Reader:
    """
    A principal who reads spans of a corpus.

    :param groups: of the principal; ``None`` sees nothing.
    :param scope: as of a search; a corpus that requires one is not read without it (C3).
    :raises BadInputError: no such corpus, or a scope that is missing or unknown.
    """
    settings = load_corpora().corpus(corpus)
    conditions = scope_conditions(scope or {}, settings.scopes, settings.required_scopes)
    asked = within(groups, scope_values(conditions, settings.required_scopes))
    return Reader(CorpusDocumentStore(corpus), asked, all_of(conditions))


def passage(
    store: CorpusDocumentStore, span_id: str, *, groups: list[str] | None, filters: dict[str, Any] | None = None
) -> Passage:
    """
    Read a span of a corpus again at its locator.

    :param groups: groups of the principal; ``None`` sees nothing.
    :param filters: Haystack filter on ``meta`` fields; a span that it leaves out is not there.
    :raises BadInputError: no such span for this principal: what he may not see is not there for him.
    :raises AttributionError: the source says something else at the locator.
    """
    sql, values = compose("passage", filters)
    rows = store.fetch(Statement(sql, {"id": span_id, "margin": _MARGIN, **values}), groups=groups)
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
        "meta": shown_meta(meta),
    }
