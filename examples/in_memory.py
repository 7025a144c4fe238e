# SPDX-License-Identifier: Apache-2.0
"""
Pincite's stages over stock in-memory retrievers: no PostgreSQL anywhere.

    python examples/in_memory.py app/demo/texts "What does the Tessera lease say about vibration?"

A stock BM25 retriever looks the name up among titles, TitleMatcher says which of its hits carry it, and a second one
searches for the topic inside those. What PostgreSQL does besides is not here: groups, corpora, and reading each result
again at its locator.
"""

import sys
from pathlib import Path

from haystack import Document, Pipeline
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack_integrations.components.pincite.named_instrument_partition import NamedInstrumentPartition
from haystack_integrations.components.pincite.named_instrument_recognizer import NamedInstrumentRecognizer
from haystack_integrations.components.pincite.parent_expansion import ParentExpansion
from haystack_integrations.components.pincite.reciprocal_rank_joiner import ReciprocalRankJoiner
from haystack_integrations.components.pincite.source_converter import SourceConverter
from haystack_integrations.components.pincite.source_diversifier import SourceDiversifier
from haystack_integrations.components.pincite.span_splitter import SpanSplitter
from haystack_integrations.components.pincite.title_extractor import TitleExtractor
from haystack_integrations.components.pincite.title_matcher import TitleMatcher
from haystack_integrations.components.pincite.title_reservation import TitleReservation
from haystack_integrations.components.pincite.word_llama_document_embedder import WordLlamaDocumentEmbedder
from haystack_integrations.components.pincite.word_llama_text_embedder import WordLlamaTextEmbedder

SUFFIXES = {".pdf", ".docx", ".html", ".md", ".txt"}


def index(folder: Path) -> tuple[InMemoryDocumentStore, InMemoryDocumentStore]:
    """The spans of the files of a folder, and one document a file that it is known by, in a store each."""
    indexing = Pipeline()
    indexing.add_component("converter", SourceConverter())
    indexing.add_component("title_extractor", TitleExtractor())
    indexing.add_component("splitter", SpanSplitter())
    indexing.add_component("embedder", WordLlamaDocumentEmbedder())
    indexing.connect("converter", "title_extractor")
    indexing.connect("title_extractor", "splitter")
    indexing.connect("splitter.documents", "embedder")
    files = sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES)
    made = indexing.run({"converter": {"sources": files}})
    spans, titles = InMemoryDocumentStore(), InMemoryDocumentStore()
    spans.write_documents(made["embedder"]["documents"])
    titles.write_documents([named(source) for source in made["splitter"]["sources"]])
    return spans, titles


def named(source: Document) -> Document:
    """What a source is known by: its title, the words of its file name and opening, its parties."""
    meta = {key: source.meta[key] for key in ("source_id", "title")}
    return Document(id=source.id, content=f"{source.meta['title']}\n{source.meta['identity']}", meta=meta)


def query_pipeline(spans: InMemoryDocumentStore, titles: InMemoryDocumentStore) -> Pipeline:
    """The stages of pipelines/knowledge.yaml, with stock retrievers as legs. Asked by its component ``recognizer``."""
    pipeline = Pipeline()
    pipeline.add_component("recognizer", NamedInstrumentRecognizer())
    pipeline.add_component("titles", InMemoryBM25Retriever(titles, top_k=20))
    pipeline.add_component("matcher", TitleMatcher())
    pipeline.add_component("inside", InMemoryBM25Retriever(spans, top_k=20))
    pipeline.add_component("lexical", InMemoryBM25Retriever(spans, top_k=60))
    pipeline.add_component("text_embedder", WordLlamaTextEmbedder())
    pipeline.add_component("dense", InMemoryEmbeddingRetriever(spans, top_k=60))
    pipeline.add_component("joiner", ReciprocalRankJoiner({"inside": 4.0, "lexical": 2.0, "dense": 1.0}))
    pipeline.add_component("reservation", TitleReservation())
    pipeline.add_component("parents", ParentExpansion())
    pipeline.add_component("named", NamedInstrumentPartition())
    pipeline.add_component("diversifier", SourceDiversifier())
    for sender, receiver in (
        ("recognizer.title_query", "titles.query"),
        ("titles.documents", "matcher.titles"),
        ("recognizer.intents", "matcher.intents"),
        ("recognizer.topic_query", "matcher.topic_query"),
        ("matcher.search_query", "inside.query"),
        ("matcher.filters", "inside.filters"),
        ("matcher.search_query", "lexical.query"),
        ("matcher.search_query", "text_embedder.text"),
        ("text_embedder.embedding", "dense.query_embedding"),
        ("inside.documents", "joiner.inside"),
        ("lexical.documents", "joiner.lexical"),
        ("dense.documents", "joiner.dense"),
        ("joiner.documents", "reservation.documents"),
        ("joiner.overflow", "reservation.overflow"),
        ("inside.documents", "reservation.title_documents"),
        ("matcher.matches", "reservation.matches"),
        ("reservation.documents", "parents.documents"),
        ("parents.documents", "named.documents"),
        ("recognizer.intents", "named.intents"),
        ("matcher.matches", "named.matches"),
        ("named.documents", "diversifier.documents"),
        ("matcher.matches", "diversifier.matches"),
    ):
        pipeline.connect(sender, receiver)
    return pipeline


def search(pipeline: Pipeline, query: str) -> list[Document]:
    """The results for a query, best first."""
    outputs = pipeline.run({"recognizer": {"query": query}, "matcher": {"query": query}})
    found: list[Document] = outputs["diversifier"]["documents"]
    return found


if __name__ == "__main__":
    for result in search(query_pipeline(*index(Path(sys.argv[1]))), " ".join(sys.argv[2:])):
        page = f"page {result.meta['page']}" if result.meta["page"] else "not paged"
        print(f"{result.meta['title']}, {page}, {result.meta['section']}\n    {(result.content or '')[:160]!r}")
