# SPDX-License-Identifier: Apache-2.0
"""A per cent sign in the name of a metadata key is part of the name, and no placeholder."""

from collections.abc import Callable

import pytest
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.leg_statements import lexical
from haystack_integrations.document_stores.pincite.source_writer import SourceWriter
from haystack_integrations.document_stores.pincite.spans import SourceRecord, SpanRecord

TEXT = "The Borrower shall repay the Loan in full on the Maturity Date, without notice or demand of any kind."


@pytest.mark.parametrize("key", ["a%s", "100%", "a%%b", "a%(groups)s", "it's 5%"])
def test_a_key_with_a_per_cent_sign(database: Database, make_corpus: Callable[..., str], key: str) -> None:
    corpus = make_corpus()
    span = SpanRecord("chunk", 0, 0, len(TEXT), TEXT, embedding=[1.0] * 256)
    pairs = (("one.txt", "x"), ("two.txt", "y"))
    records = [
        SourceRecord(name, name, TEXT, name, "text/plain", meta={key: value, "n": "p"}, spans=[span])
        for name, value in pairs
    ]
    writer = SourceWriter(database, corpus)
    writer.write_sources(records)
    writer.refresh_statistics()
    filters = {
        "operator": "AND",
        "conditions": [
            {"field": f"meta.{key}", "operator": "==", "value": "y"},
            {"field": "meta.n", "operator": "in", "value": ["p", "q"]},
        ],
    }
    statement = lexical("repay the loan", limit=5, rows=100, words=8, filters=filters)
    rows = CorpusDocumentStore(corpus).fetch(statement, groups=["*"])
    assert [row["source_id"] for row in rows] == ["two.txt"]
