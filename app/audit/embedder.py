# SPDX-License-Identifier: Apache-2.0
"""Whether the second set of vectors of a corpus, which changes its embedder or has changed it, is whole (S3)."""

from typing import Any

from haystack_integrations.document_stores.pincite.connections import SyncConnection
from haystack_integrations.document_stores.pincite.corpora import schema_name
from haystack_integrations.document_stores.pincite.index_definitions import BESIDE_INDEX
from pincite.audit.answer import Check
from psycopg.rows import dict_row
from psycopg.sql import SQL, Identifier

_SETS = SQL("""
SELECT c.embedding_fingerprint AS in_force, c.beside_fingerprint AS beside, c.beside_old,
    (SELECT count(*) FROM {schema}.spans) AS spans,
    (SELECT count(*) FROM {schema}.spans AS s WHERE s.beside_fingerprint = c.beside_fingerprint) AS made,
    (SELECT count(*) FROM {schema}.spans AS s
     WHERE s.beside_fingerprint IS NOT NULL AND s.beside_fingerprint IS DISTINCT FROM c.beside_fingerprint) AS strange
FROM {schema}.settings AS c
""")
_INDEX = """
SELECT i.indisvalid AND i.indisready AS valid
FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %(schema)s AND c.relname = %(index)s
"""
_DIMENSION = """
SELECT a.atttypmod AS dimension FROM pg_attribute AS a
WHERE a.attrelid = to_regclass(%(schema)s || '.spans') AND a.attname = 'embedding_beside'
"""
# Views that read the vectors of the second set, as all would if they had been left out of a switch.
_VIEWS = """
SELECT DISTINCT v.relname AS name
FROM pg_depend AS d JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
JOIN pg_class AS v ON v.oid = r.ev_class
JOIN pg_attribute AS a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = to_regclass(%(schema)s || '.spans')
  AND a.attname IN ('embedding_beside', 'beside_fingerprint') AND v.relname IN ('documents', 'fresh_documents')
ORDER BY 1
"""


def embedder_check(connection: SyncConnection, corpus: str, fingerprint: str | None, dimension: int) -> Check:
    """
    What a change of embedder left behind, or lacks.

    :param connection: of the owner.
    :param fingerprint: identity of the embedder that the configuration names; ``None`` if it names none.
    :param dimension: length of its vectors, as the configuration says.
    """
    schema, check = schema_name(corpus), Check("embedder", corpus)
    cursor = connection.cursor(row_factory=dict_row)
    sets = cursor.execute(_SETS.format(schema=Identifier(schema))).fetchone()
    if sets is None:
        return check.skip("its settings are not there")
    check.looked_at = sets["spans"]
    if sets["strange"]:
        reason = f"{sets['strange']:,} spans have a vector beside of which the settings know nothing"
        check.fail(f"corpus {corpus}", reason, f"pincite reembed {corpus}, then the same with --finish")
    for row in cursor.execute(_VIEWS, {"schema": schema}).fetchall():
        reason = "it shows the vectors of the set beside, not those in force"
        check.fail(f"view {schema}.{row['name']}", reason, f"as the writer role of the corpus: {schema}.make_views()")
    if sets["beside"] is not None:
        _beside(check, corpus, sets, fingerprint)
        _index(check, corpus, sets, cursor.execute(_INDEX, {"schema": schema, "index": BESIDE_INDEX}).fetchone())
        made = cursor.execute(_DIMENSION, {"schema": schema}).fetchone()
        if sets["beside"] == fingerprint and made is not None and made["dimension"] != dimension:
            reason = f"corpora.yaml says {dimension:,} numbers a vector, the new ones have {made['dimension']:,}"
            check.fail(f"vectors beside of {corpus}", reason, f"correct it, then: pincite reembed {corpus}")
    return check


def _beside(check: Check, corpus: str, sets: dict[str, Any], fingerprint: str | None) -> None:
    """Whose vectors are beside, and whether anybody still wants them."""
    subject, count = f"vectors beside of {corpus}", f"{sets['made']:,} of {sets['spans']:,}"
    if sets["beside"] == fingerprint:
        if not sets["beside_old"]:
            reason = f"the change to {sets['beside']!r:.120} is not done: {count} new vectors are there"
            check.notice(subject, reason, f"pincite reembed {corpus}")
    elif sets["beside_old"]:
        reason = f"{count} old vectors of {sets['beside']!r:.120} are kept for searches with the configuration before"
        check.notice(subject, reason, f"when there are none any more: pincite reembed {corpus} --finish")
    else:
        reason = f"a change to {sets['beside']!r:.120} was given up: {count} new vectors are there"
        check.fail(subject, reason, f"pincite reembed {corpus} --finish")


def _index(check: Check, corpus: str, sets: dict[str, Any], index: dict[str, Any] | None) -> None:
    """The index of the second set; while vectors are still being made there is none."""
    if not sets["beside_old"] and sets["made"] < sets["spans"]:
        return
    if index is None or not index["valid"]:
        reason = "it is not there" if index is None else "it is not valid"
        mend = f"pincite reembed {corpus}{' --finish' if sets['beside_old'] else ''}"
        check.fail(f"index {schema_name(corpus)}.{BESIDE_INDEX}", f"{reason}: searches read every vector", mend)
