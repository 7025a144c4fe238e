# SPDX-License-Identifier: Apache-2.0
"""Changes by hand to what is stored: metadata of a source, the review of a rule. Both outlive the next ingestion."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict, cast

from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from .connections import SyncConnection
from .database import Database
from .errors import BadInputError
from .spans import SourceRecord
from .writer_session import writer_session

OVERRIDES = "_overrides"
"""Key in a source's metadata: what was set by hand, which wins over its file."""

REVIEWS = "_reviews"
"""Key in a source's metadata: reviews by hand, by the hash of a rule's wording."""

_COLUMNS = ("title", "status", "groups")
_CHANGE = """
UPDATE sources SET
    title = coalesce(%(title)s, title), status = coalesce(%(status)s, status),
    groups = coalesce(%(groups)s::text[], groups),
    meta = (meta - %(removed)s::text[]) || %(meta)s::jsonb || jsonb_build_object(
        %(overrides)s::text,
        (coalesce(meta -> %(overrides)s, '{}') - %(removed)s::text[]) || %(given)s::jsonb
    )
WHERE source_id = %(source)s
"""
_AFTER = """
SELECT d.source_id, d.title, d.status, d.groups, d.searchable, d.meta,
    count(s.id) AS spans, count(s.id) FILTER (WHERE s.searchable) AS searchable_spans,
    count(s.id) FILTER (WHERE s.stale) AS stale_spans
FROM sources AS d LEFT JOIN spans AS s USING (source_id)
WHERE d.source_id = %s GROUP BY d.source_id
"""
_RULES = """
SELECT s.id AS span_id, s.source_id, d.title, s.statement, s.quote, s.page, s.review_status, s.searchable,
    s.start_offset IS NOT NULL AS quote_found
FROM spans AS s JOIN sources AS d USING (source_id)
WHERE s.kind = 'rule' AND (%(status)s::text IS NULL OR s.review_status = %(status)s)
ORDER BY s.review_status <> 'pending', s.source_id, s.number
"""
_REVIEW = """
WITH before AS (
    SELECT id, source_id, review_status, rule_key(statement, quote) AS key FROM spans
    WHERE id = %(span)s AND kind = 'rule' FOR UPDATE
), kept AS (
    UPDATE sources AS d SET meta = d.meta || jsonb_build_object(%(reviews)s::text,
        coalesce(d.meta -> %(reviews)s, '{}') || jsonb_build_object(b.key, jsonb_build_object(
            'status', %(status)s::text,
            'over', CASE WHEN d.meta -> %(reviews)s -> b.key ->> 'status' = b.review_status
                         THEN d.meta -> %(reviews)s -> b.key ->> 'over' ELSE b.review_status END)))
    FROM before AS b WHERE d.source_id = b.source_id
    RETURNING d.source_id
)
SELECT source_id FROM kept
"""


_HELD = """
SELECT source_id, meta -> %(overrides)s, meta -> %(reviews)s FROM sources
WHERE source_id = ANY (%(ids)s) AND (meta ? %(overrides)s OR meta ? %(reviews)s)
"""
# The vectors of a source are made of what its file says.
_OVERRIDDEN = """
UPDATE spans AS s SET
    content_hash = CASE WHEN c.embedded_meta && o.keys THEN NULL ELSE s.content_hash END,
    beside_fingerprint = CASE WHEN c.beside_meta && o.keys THEN NULL ELSE s.beside_fingerprint END
FROM settings AS c, (
    SELECT source_id, ARRAY(SELECT jsonb_object_keys(meta -> %(overrides)s)) AS keys
    FROM sources WHERE source_id = ANY (%(ids)s) AND meta ? %(overrides)s
) AS o
WHERE s.source_id = o.source_id AND (c.embedded_meta || c.beside_meta) && o.keys
"""


class SourceState(TypedDict):
    """A source as it is after a change; ``searchable`` says whether anything of it can be found."""

    source_id: str
    title: str
    status: str
    groups: list[str]
    searchable: bool
    meta: dict[str, Any]
    spans: int
    searchable_spans: int
    stale_spans: int


class ReviewedRule(TypedDict):
    """A rule and its review; ``quote_found`` says whether its quote stands in its source."""

    span_id: str
    source_id: str
    title: str
    statement: str | None
    quote: str | None
    page: int | None
    review_status: str
    searchable: bool
    quote_found: bool


def change_source(database: Database, corpus: str, source_id: str, changes: Mapping[str, Any]) -> SourceState:
    """
    Set metadata of a source, and remove what is given as ``None``; its spans follow in the same transaction.

    :param changes: checked values; ``title``, ``status`` and ``groups`` are among them like any other key.
    :raises BadInputError: there is no such source.
    """
    given = {key: value for key, value in changes.items() if value is not None}
    removed = [key for key, value in changes.items() if value is None]
    if "status" in removed:
        given["status"] = "active"
    if "groups" in removed:
        given["groups"] = []
    if "title" in removed:
        raise BadInputError(f"source {source_id!r:.200}: its title cannot be removed; give another one")
    values = {
        **{key: given.get(key) for key in _COLUMNS},
        "source": source_id,
        "removed": removed,
        "meta": Jsonb({key: value for key, value in given.items() if key not in _COLUMNS}),
        "given": Jsonb(given),
        "overrides": OVERRIDES,
    }
    with writer_session(database, corpus) as connection:
        if connection.execute(_CHANGE, values).rowcount == 0:
            raise _unknown(connection, corpus, source_id)
        row = connection.cursor(row_factory=dict_row).execute(_AFTER, [source_id]).fetchone()
    assert row is not None  # noqa: S101 - it has just been changed
    shown = {key: value for key, value in row["meta"].items() if not key.startswith("_")}
    return cast(SourceState, {**row, "meta": shown})


def _unknown(connection: SyncConnection, corpus: str, source_id: str) -> BadInputError:
    rows = connection.execute(
        "SELECT source_id FROM sources WHERE similarity(source_id, %(id)s) >= 0.3"
        " ORDER BY similarity(source_id, %(id)s) DESC, source_id LIMIT 3",
        {"id": source_id},
    ).fetchall()
    hint = f"; ids that resemble it: {', '.join(repr(row[0]) for row in rows)}" if rows else ""
    return BadInputError(f"there is no source {source_id!r:.200} in corpus '{corpus}'{hint}")


def keep_by_hand(connection: SyncConnection, records: Sequence[SourceRecord]) -> list[SourceRecord]:
    """The records of an ingestion with what was set by hand for their sources, which is still held."""
    values = {"ids": [record.source_id for record in records], "overrides": OVERRIDES, "reviews": REVIEWS}
    held = {row[0]: (row[1] or {}, row[2]) for row in connection.execute(_HELD, values).fetchall()}
    return [_with(record, *held[record.source_id]) if record.source_id in held else record for record in records]


def _with(record: SourceRecord, overrides: dict[str, Any], reviews: dict[str, Any] | None) -> SourceRecord:
    meta = {**record.meta, **{key: value for key, value in overrides.items() if key not in _COLUMNS}}
    if overrides:
        meta[OVERRIDES] = overrides
    if reviews:
        meta[REVIEWS] = reviews
    columns = {key: overrides[key] for key in _COLUMNS if key in overrides}
    return replace(record, meta=meta, **columns)


def mark_overridden(connection: SyncConnection, source_ids: Sequence[str]) -> None:
    """Mark vectors stale that were made of metadata which is set otherwise by hand."""
    connection.execute(_OVERRIDDEN, {"ids": list(source_ids), "overrides": OVERRIDES})


def rules(database: Database, corpus: str, status: str | None = None) -> list[ReviewedRule]:
    """The rules of a corpus, those that wait for a review first; ``status`` picks those of one."""
    with writer_session(database, corpus, read_only=True) as connection:
        rows = connection.cursor(row_factory=dict_row).execute(_RULES, {"status": status}).fetchall()
    return cast(list[ReviewedRule], rows)


def set_review(database: Database, corpus: str, span_id: str, status: str) -> ReviewedRule:
    """
    Set the review of a rule.

    :param status: ``pending``, ``approved`` or ``rejected``.
    :raises BadInputError: there is no such rule.
    """
    values = {"span": span_id, "status": status, "reviews": REVIEWS}
    with writer_session(database, corpus) as connection:
        if connection.execute(_REVIEW, values).fetchone() is None:
            raise BadInputError(
                f"there is no rule {span_id!r:.200} in corpus '{corpus}'; pincite review {corpus} lists them"
            )
        connection.execute("UPDATE spans SET review_status = %(status)s WHERE id = %(span)s", values)
        query = _RULES.replace("s.kind = 'rule'", "s.kind = 'rule' AND s.id = %(span)s")
        row = connection.cursor(row_factory=dict_row).execute(query, {"status": None, "span": span_id}).fetchone()
    assert row is not None  # noqa: S101 - it has just been changed
    return cast(ReviewedRule, row)
