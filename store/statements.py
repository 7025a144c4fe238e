# SPDX-License-Identifier: Apache-2.0
"""What a query is before it runs: text, values, and the settings that hold for its transaction."""

from collections.abc import Mapping
from typing import Any, LiteralString, NamedTuple

from psycopg.sql import SQL, Composed


class Statement(NamedTuple):
    """
    One SQL statement of a corpus, ready for ``CorpusDocumentStore.fetch``.

    :param sql: the text, with named placeholders (``%(name)s``); tables are named without a schema.
    :param params: the values of the placeholders. User input stands only here.
    :param settings: configuration for this transaction, such as ``{"hnsw.ef_search": "200"}``.
    """

    sql: SQL | Composed | LiteralString
    params: Mapping[str, Any] = {}
    settings: Mapping[str, str] = {}
