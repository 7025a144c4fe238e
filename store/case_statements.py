# SPDX-License-Identifier: Apache-2.0
"""Statements about a case as a whole: what it is about, and where it belongs."""

from typing import Any

from haystack_integrations.document_stores.pincite.leg_statements import compose
from haystack_integrations.document_stores.pincite.statements import Statement
from psycopg.sql import SQL


def case_profile(*, filters: dict[str, Any] | None, words: int) -> Statement:
    """
    One row: ``embedding``, the mean vector of the rows that the filter lets pass (``NULL`` if none has one),
    ``fingerprint`` of the embedder that made them, and ``words``, their most telling lexemes, best first.

    :param words: most lexemes.
    """
    sql, values = compose("case_profile", filters)
    return Statement(sql, {"words": words, **values})


def scope_values(key: str, case_id: str) -> Statement:
    """The values, at most two, that the sources of a case have for a metadata key: ``value``."""
    sql = SQL(
        "SELECT DISTINCT meta ->> %(key)s AS value FROM sources"
        " WHERE meta ->> 'case_id' = %(case_id)s AND meta ->> %(key)s IS NOT NULL ORDER BY 1 LIMIT 2"
    )
    return Statement(sql, {"key": key, "case_id": case_id})
