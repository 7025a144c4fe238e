# SPDX-License-Identifier: Apache-2.0
"""Stock Haystack components on a corpus: writer, retrievers, filters, a serialised pipeline."""

import asyncio
import random

import pytest
from haystack import Document, Pipeline
from haystack.components.writers import DocumentWriter
from haystack.dataclasses import ByteStream
from haystack.document_stores.errors import DocumentStoreError, DuplicateDocumentError
from haystack.document_stores.types import DuplicatePolicy
from haystack_integrations.components.retrievers.pgvector import PgvectorEmbeddingRetriever, PgvectorKeywordRetriever
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.source_writer import SourceWriter
from haystack_integrations.document_stores.pincite.spans import SourceRecord
from haystack_integrations.document_stores.pincite.statements import Statement

TEXT = "The Tenant shall keep the Premises in good repair and shall not alter them without consent."
LOCATED = Statement(
    "SELECT span.id, source_id, title, substr(text, start_offset + 1, end_offset - start_offset) = content AS exact "
    "FROM spans AS span JOIN sources USING (source_id) ORDER BY span.id"
)


def document(name: str, text: str = TEXT, **meta: object) -> Document:
    rng = random.Random(name)
    return Document(id=name, content=text, embedding=[rng.gauss(0, 1) for _ in range(256)], meta=meta)


def ids(documents: list[Document]) -> list[str]:
    return sorted(d.id for d in documents)


def test_writer_policies(corpus_store: CorpusDocumentStore) -> None:
    first, second = document("a"), document("b", TEXT + " Unless agreed.")
    assert DocumentWriter(corpus_store).run([first, second]) == {"documents_written": 2}
    with pytest.raises(DuplicateDocumentError):
        corpus_store.write_documents([first])
    assert corpus_store.write_documents([first, document("c")], DuplicatePolicy.SKIP) == 1
    changed = document("a", "Something else entirely, which is long enough to be found by a search.", page=3)
    assert corpus_store.write_documents([changed], DuplicatePolicy.OVERWRITE) == 1
    assert corpus_store.count_documents() == 3
    found = {d.id: d for d in corpus_store.filter_documents()}
    assert found["a"].content == changed.content
    assert found["a"].meta["page"] == 3
    assert found["b"].embedding == pytest.approx(second.embedding, abs=1e-6)
    rows = corpus_store.fetch(LOCATED, groups=["*"])
    assert [(row["id"], row["exact"]) for row in rows] == [("a", True), ("b", True), ("c", True)]


def test_chunks_of_one_source_stay_together_and_resolve(corpus_store: CorpusDocumentStore) -> None:
    chunks = [document(f"c{i}", f"{TEXT} Part {i}.", source_id="lease.txt", title="The Lease") for i in range(3)]
    corpus_store.write_documents(chunks)
    corpus_store.write_documents([document("c1", TEXT + " Changed.", source_id="lease.txt")], DuplicatePolicy.OVERWRITE)
    rows = corpus_store.fetch(LOCATED, groups=["*"])
    assert [(row["source_id"], row["title"], row["exact"]) for row in rows] == [("lease.txt", "The Lease", True)] * 3


def test_a_chunk_of_an_ingested_source_finds_its_place(corpus_store: CorpusDocumentStore) -> None:
    writer = SourceWriter(corpus_store.database, corpus_store.corpus)
    writer.write_sources([SourceRecord("lease.txt", "Lease", "Preamble. " + TEXT, "h", "text/plain")])
    elsewhere = document(
        "x", "This text stands nowhere in the lease, so that it cannot be cited from it.", source_id="lease.txt"
    )
    corpus_store.write_documents([document("in", source_id="lease.txt", start=4), elsewhere])
    assert [(row["id"], row["exact"]) for row in corpus_store.fetch(LOCATED, groups=["*"])] == [("in", True)]


def test_deleting_documents_deletes_the_sources_made_for_them(corpus_store: CorpusDocumentStore) -> None:
    writer = SourceWriter(corpus_store.database, corpus_store.corpus)
    corpus_store.write_documents([document("a", kind="chunk"), document("b", tag="x"), document("c")])
    corpus_store.delete_documents(["a", "unknown"])
    assert ids(corpus_store.filter_documents()) == ["b", "c"]
    assert corpus_store.delete_by_filter({"field": "meta.tag", "operator": "==", "value": "x"}) == 1
    assert set(writer.known_sources()) == {"document:c"}
    corpus_store.delete_all_documents()
    assert corpus_store.count_documents() == 0
    assert writer.known_sources() == {}
    with pytest.raises(DocumentStoreError, match="not dropped"):
        corpus_store.delete_table()


def test_filters_and_updates(corpus_store: CorpusDocumentStore) -> None:
    corpus_store.write_documents([document(f"d{i}", matter=f"M{i % 2}", year=2000 + i) for i in range(6)])
    filters = {
        "operator": "AND",
        "conditions": [
            {"field": "meta.matter", "operator": "==", "value": "M1"},
            {"field": "meta.year", "operator": ">", "value": 2001},
        ],
    }
    assert ids(corpus_store.filter_documents(filters)) == ["d3", "d5"]
    assert corpus_store.update_by_filter(filters, {"matter": "M9"}) == 2
    assert corpus_store.count_documents_by_filter({"field": "meta.matter", "operator": "==", "value": "M9"}) == 2
    assert corpus_store.get_metadata_field_min_max("year") == {"min": 2000, "max": 2005}


def test_retrievers(corpus_store: CorpusDocumentStore) -> None:
    wanted = document("w", "Indemnity for environmental damage is unlimited in time and in amount, whoever caused it.")
    corpus_store.write_documents([document(f"d{i}") for i in range(20)] + [wanted])
    assert wanted.embedding is not None
    dense = PgvectorEmbeddingRetriever(document_store=corpus_store, top_k=3)
    found = dense.run(query_embedding=wanted.embedding)["documents"]
    assert len(found) == 3
    assert (found[0].id, found[0].score) == ("w", pytest.approx(1.0))
    lexical = PgvectorKeywordRetriever(document_store=corpus_store)
    assert ids(lexical.run(query="environmental indemnity")["documents"]) == ["w"]

    async def both() -> list[list[str]]:
        one = await dense.run_async(query_embedding=wanted.embedding or [])
        two = await lexical.run_async(query="environmental indemnity")
        await corpus_store.close_async()
        return [[d.id for d in one["documents"]], [d.id for d in two["documents"]]]

    assert asyncio.run(both()) == [[d.id for d in found], ["w"]]


def test_the_principal_of_the_store_decides_what_stock_readers_see(corpus_store: CorpusDocumentStore) -> None:
    corpus_store.write_documents([document("open"), document("closed", groups=["partners"])])
    for groups, expected in ((None, []), ([], ["open"]), (["partners"], ["closed", "open"])):
        store = CorpusDocumentStore(corpus_store.corpus, groups=groups)
        assert ids(store.filter_documents()) == expected
        assert store.count_documents() == len(expected)
        retriever = PgvectorEmbeddingRetriever(document_store=store)
        assert ids(retriever.run(query_embedding=[1.0] * 256)["documents"]) == expected
        store.write_documents([document("open")], DuplicatePolicy.SKIP)
        assert ids(store.filter_documents()) == expected  # having written changes nothing
        store.close()


def test_async_methods(corpus_store: CorpusDocumentStore) -> None:
    async def main() -> list[str]:
        await corpus_store.write_documents_async([document("a"), document("b"), document("c", tag="x")])
        await corpus_store.update_by_filter_async({"field": "meta.tag", "operator": "==", "value": "x"}, {"tag": "y"})
        await corpus_store.delete_by_filter_async({"field": "meta.tag", "operator": "==", "value": "y"})
        await corpus_store.delete_documents_async(["a"])
        left = ids(await corpus_store.filter_documents_async())
        await corpus_store.delete_all_documents_async()
        assert await corpus_store.count_documents_async() == 0
        await corpus_store.close_async()
        return left

    assert asyncio.run(main()) == ["b"]


def test_binary_content_and_odd_metadata(corpus_store: CorpusDocumentStore) -> None:
    blob = ByteStream(b"\x00\x01", meta={"k": 1}, mime_type="image/png")
    stored = Document(id="i", content=TEXT, blob=blob, embedding=[0.5] * 256, meta={"שם": "ערך", "n": [1, {"a": None}]})
    corpus_store.write_documents([stored])
    (found,) = corpus_store.filter_documents()
    assert found.blob == blob
    assert found.meta == stored.meta


def test_an_indexing_pipeline_with_the_stock_writer_survives_yaml(corpus_store: CorpusDocumentStore) -> None:
    pipeline = Pipeline()
    pipeline.add_component("writer", DocumentWriter(corpus_store, policy=DuplicatePolicy.OVERWRITE))
    again = Pipeline.loads(pipeline.dumps())
    assert again.run({"writer": {"documents": [document("a")]}}) == {"writer": {"documents_written": 1}}
    assert ids(corpus_store.filter_documents()) == ["a"]
    again.get_component("writer").document_store.close()
