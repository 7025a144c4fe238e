# SPDX-License-Identifier: Apache-2.0
"""What a corpus holds: what is not searchable and why, what is stale, what does not stand where it says."""

from hashlib import md5
from typing import Any

from haystack_integrations.document_stores.pincite.connections import SyncConnection
from pincite.audit.answer import Check
from psycopg.rows import dict_row

_SOURCES = """
SELECT d.source_id, d.title, d.status, d.searchable, d.text_length, c.source_kind, d.meta ->> 'source_kind' AS says,
    ARRAY(
        SELECT key FROM unnest(c.required_meta) AS key WHERE coalesce(d.meta ->> key, '') IN ('', '[]', '{}')
    ) AS lacks,
    EXISTS (SELECT FROM spans AS s WHERE s.source_id = d.source_id) AS has_spans
FROM sources AS d CROSS JOIN settings AS c
ORDER BY d.source_id
"""
# Of sources that are searchable themselves; the others are told once, not for each of their spans. What a span lacks
# is judged here anew, not taken from the flag.
_SPANS = """
SELECT * FROM (
    SELECT s.id, s.kind, s.searchable, d.searchable AS source_searchable,
        s.embedding IS NULL AND s.embedding_beside IS NULL AS no_embedding,
        NOT coalesce(s.start_offset >= 0 AND s.start_offset < s.end_offset AND s.end_offset <= d.text_length, false)
            AS no_locator,
        NOT s.kind = ANY (c.span_kinds) AS other_kind,
        s.kind = 'rule' AND s.review_status IS DISTINCT FROM 'approved' AS not_approved,
        s.kind = 'rule' AND coalesce(btrim(s.statement), '') = '' AS no_statement,
        s.kind = 'rule' AND (s.quote IS DISTINCT FROM s.content OR s.content IS DISTINCT FROM
            substr(d.text, s.start_offset + 1, greatest(s.end_offset - s.start_offset, 0))) AS misquoted,
        s.kind <> 'page_image' AND char_length(btrim(coalesce(s.content, ''), E' \\t\\r\\n\\f'))
            < CASE s.kind WHEN 'rule' THEN c.minimum_rule_characters ELSE c.minimum_characters END AS short
    FROM spans AS s JOIN sources AS d USING (source_id) CROSS JOIN settings AS c
) AS judged
WHERE searchable <> (source_searchable AND NOT (
    no_embedding OR no_locator OR other_kind OR not_approved OR no_statement OR misquoted OR short))
   OR (source_searchable AND NOT searchable)
ORDER BY id
"""
# Against the embedder that the corpus is for; whether that is the configured one is asked by another check.
_STALE = """
SELECT s.id, s.embedding IS NULL AND s.embedding_beside IS NULL AS bare, s.embedding IS NULL AS missing, s.stale,
    s.embedding_fingerprint AS fingerprint
FROM spans AS s CROSS JOIN settings AS c
WHERE s.embedding IS NULL OR s.stale
    OR s.embedding_fingerprint IS DISTINCT FROM coalesce(c.embedding_fingerprint, %s)
ORDER BY s.id
"""
# What stands at a locator is cut out here: PostgreSQL counts characters from the start of the text for each span.
_LOCATORS = """
SELECT d.source_id, d.text, array_agg(s.id ORDER BY s.id) AS ids, array_agg(s.start_offset ORDER BY s.id) AS starts,
    array_agg(s.end_offset ORDER BY s.id) AS ends, array_agg(md5(s.content) ORDER BY s.id) AS contents
FROM spans AS s JOIN sources AS d USING (source_id)
WHERE s.start_offset IS NOT NULL AND s.kind <> 'page_image'
GROUP BY d.source_id ORDER BY d.source_id
"""
_SOURCES_AT_ONCE = 20
_QUOTES = """
SELECT s.id, s.source_id, s.quote FROM spans AS s JOIN sources AS d USING (source_id)
WHERE s.kind = 'rule' AND (coalesce(s.quote, '') = '' OR strpos(d.text, s.quote) = 0 OR s.start_offset IS NULL)
ORDER BY s.id
"""
_REVIEWS = "SELECT id, statement FROM spans WHERE kind = 'rule' AND review_status = 'pending' ORDER BY id"
_VISIBILITY = """
SELECT s.id, s.visible_to, d.visible_to AS of_source FROM spans AS s JOIN sources AS d USING (source_id)
WHERE s.visible_to <> d.visible_to ORDER BY s.id
"""
_ORPHANS = """
SELECT 'span ' || s.id AS subject, 'its source ' || quote_literal(s.source_id) || ' is not there' AS reason
FROM spans AS s WHERE NOT EXISTS (SELECT FROM sources AS d WHERE d.source_id = s.source_id)
UNION ALL
SELECT 'source ' || d.source_id, 'it has a text of ' || text_length || ' characters and no span' FROM sources AS d
WHERE btrim(d.text, E' \\t\\r\\n\\f') <> '' AND NOT EXISTS (SELECT FROM spans AS s WHERE s.source_id = d.source_id)
ORDER BY 1
"""
_STATISTICS = """
SELECT c.spans AS spans_counted, c.sources AS sources_counted,
    (SELECT count(*) FROM spans WHERE searchable) AS spans, (SELECT count(*) FROM sources WHERE searchable) AS sources,
    (SELECT count(*) FROM span_lexemes) AS lexemes
FROM corpus_stats AS c
"""


def content_checks(connection: SyncConnection, corpus: str, fingerprint: str | None) -> list[Check]:
    """
    The checks of what one corpus holds.

    :param connection: a session of the owner of the corpus's tables.
    :param fingerprint: identity of the embedder that the configuration names; ``None`` if it names none.
    """
    count = _one(connection, "SELECT count(*) AS spans FROM spans")["spans"]
    return [
        _backlog(connection, corpus, count),
        _stale(connection, corpus, count, fingerprint),
        _locators(connection, corpus, count),
        _each(connection, "quotes", corpus, _QUOTES, _rules(connection), _quote),
        _each(connection, "reviews", corpus, _REVIEWS, _rules(connection), _review),
        _each(connection, "visibility", corpus, _VISIBILITY, count, _visible),
        _each(connection, "orphans", corpus, _ORPHANS, count, _orphan),
        _statistics(connection, corpus),
    ]


def _rows(connection: SyncConnection, query: Any, values: Any = None) -> list[dict[str, Any]]:
    return connection.cursor(row_factory=dict_row).execute(query, values).fetchall()


def _one(connection: SyncConnection, query: Any) -> dict[str, Any]:
    (row,) = _rows(connection, query)
    return row


def _rules(connection: SyncConnection) -> int:
    return int(_one(connection, "SELECT count(*) AS n FROM spans WHERE kind = 'rule'")["n"])


def _each(connection: SyncConnection, name: str, corpus: str, query: str, looked_at: int, tell: Any) -> Check:
    check = Check(name, corpus, looked_at)
    for row in _rows(connection, query):
        check.fail(*tell(corpus, row))
    return check


def _locators(connection: SyncConnection, corpus: str, count: int) -> Check:
    check = Check("locators", corpus, count)
    with connection.cursor("audit_locators", row_factory=dict_row) as cursor:
        cursor.itersize = _SOURCES_AT_ONCE
        for row in cursor.execute(_LOCATORS):
            text = row["text"]
            for span, start, end, content in zip(row["ids"], row["starts"], row["ends"], row["contents"], strict=True):
                there = text[start : max(start, end or 0)] if start >= 0 else ""
                if md5(there.encode(), usedforsecurity=False).hexdigest() != content:
                    reason = f"another text stands at its locator ({row['source_id']} {start}-{end})"
                    check.fail(f"span {span}", reason, f"pincite ingest {corpus} PATH")
    return check


def _quote(corpus: str, row: dict[str, Any]) -> tuple[str, str, str]:
    reason = f"its quote is not in source {row['source_id']!r} ({str(row['quote'] or '')!r:.80})"
    return f"rule {row['id']}", reason, "correct the quote in the sidecar and ingest again"


def _review(corpus: str, row: dict[str, Any]) -> tuple[str, str, str]:
    return (
        f"rule {row['id']}",
        f"nobody has reviewed it: {row['statement']!r:.80}",
        f"pincite review {corpus} SPAN STATUS",
    )


def _visible(corpus: str, row: dict[str, Any]) -> tuple[str, str, str]:
    reason = f"it is visible to {row['visible_to']}, its source to {row['of_source']}"
    return f"span {row['id']}", reason, f"pincite ingest {corpus} PATH"


def _orphan(corpus: str, row: dict[str, Any]) -> tuple[str, str, str]:
    return row["subject"], row["reason"], f"pincite ingest {corpus} PATH"


def _backlog(connection: SyncConnection, corpus: str, spans: int) -> Check:
    sources = _rows(connection, _SOURCES)
    check = Check("backlog", corpus, spans + len(sources))
    for row in sources:
        _source(check, corpus, row)
    for row in _rows(connection, _SPANS):
        _span(check, corpus, row)
    return check


def _source(check: Check, corpus: str, row: dict[str, Any]) -> None:
    subject, setting = f"source {row['source_id']}", f"pincite meta set {corpus} {row['source_id']!r}"
    wrong_kind = row["source_kind"] is not None and row["says"] not in (None, row["source_kind"])
    complete = not (row["lacks"] or wrong_kind or not row["title"].strip())
    if row["lacks"]:
        wanted = " ".join(f"{key}=.." for key in row["lacks"])
        check.fail(subject, f"it lacks {', '.join(row['lacks'])}", f"{setting} {wanted}")
    if not row["title"].strip():
        check.fail(subject, "it has no title", f"{setting} title=..")
    if wrong_kind:
        reason = f"its source_kind is {row['says']!r}, that of the corpus {row['source_kind']!r}"
        check.fail(subject, reason, "ingest it into the corpus of its kind")
    if row["status"] != "active":
        check.notice(subject, f"its status is {row['status']}", f"{setting} status=active")
    if row["searchable"] != (complete and row["status"] == "active"):
        state = "searchable" if row["searchable"] else "not searchable"
        check.fail(subject, f"it is marked {state} and should not be", "pincite init; look at the triggers check")


def _span(check: Check, corpus: str, row: dict[str, Any]) -> None:
    causes = (
        ("no_embedding", "it has no embedding", f"pincite reembed {corpus}", False),
        ("no_locator", "its locator lies outside its source", f"pincite ingest {corpus} PATH", False),
        ("other_kind", f"the corpus holds no spans of kind {row['kind']}", "corpora.yaml: spans", False),
        ("no_statement", "it is a rule without a statement", f"pincite ingest {corpus} PATH", False),
        ("misquoted", "it is a rule whose quote does not stand at its locator", "correct the quote and ingest", False),
        ("not_approved", "it is a rule that is not approved", f"pincite review {corpus} SPAN approved", True),
        ("short", "it is shorter than the corpus asks for", "corpora.yaml: minimum_characters", True),
    )
    subject, found = f"span {row['id']}", [cause for cause in causes if row[cause[0]]]
    if row["searchable"] and (found or not row["source_searchable"]):
        reasons = "; ".join(reason for _, reason, _, _ in found) or "its source is not searchable"
        check.fail(subject, f"it is searchable although {reasons}", "pincite init; look at the triggers check")
        return
    if not found:
        check.fail(subject, "it is not searchable for no reason", f"pincite ingest {corpus} PATH")
    for _, reason, mend, allowed in found:
        (check.notice if allowed else check.fail)(subject, reason, mend)


def _stale(connection: SyncConnection, corpus: str, spans: int, fingerprint: str | None) -> Check:
    check = Check("stale", corpus, spans)
    if fingerprint is None:
        return check.skip("nothing says which vectors the indexing pipeline makes")
    for row in _rows(connection, _STALE, [fingerprint]):
        if row["bare"]:
            continue  # the backlog has it
        made = f"its vector was made by {row['fingerprint']!r:.120}"
        reason = "its text or embedded metadata changed after it was embedded" if row["stale"] else made
        if row["missing"]:
            reason = "it has a vector of another embedder alone, whose configuration wrote it"
        check.fail(f"span {row['id']}", reason, f"pincite reembed {corpus}")
    return check


def _statistics(connection: SyncConnection, corpus: str) -> Check:
    row = _one(connection, _STATISTICS)
    check = Check("statistics", corpus, row["spans"] + row["sources"])
    for kind in ("spans", "sources"):
        if row[kind] != row[f"{kind}_counted"]:
            reason = f"{row[f'{kind}_counted']:,} searchable {kind} are counted and {row[kind]:,} are there"
            check.fail(f"corpus {corpus}", reason, f"pincite reembed {corpus} --all, or pincite ingest {corpus} PATH")
    if row["spans"] and not row["lexemes"]:
        check.fail(
            f"corpus {corpus}",
            "no words are counted, so the lexical leg finds nothing",
            f"pincite reembed {corpus} --all",
        )
    return check
