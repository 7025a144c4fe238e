# SPDX-License-Identifier: Apache-2.0
"""
The other systems, each as a function from a question to its ten best spans: BM25 alone, BM25 with vectors, and the
fusions of LangChain and LlamaIndex.

All get the same spans and the same vectors, from the same database: vector search asks the HNSW index of the stock
table, as the integrations of both frameworks would (theirs want another version of the vector library than Haystack's).
BM25 is each framework's own, with its defaults; ``bm25s`` by itself is given English stop words and stems. Depth of
each list before fusion: :data:`DEPTH`, that of Pincite's legs.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import bm25s  # type: ignore[import-untyped,import-not-found,unused-ignore]
import Stemmer  # type: ignore[import-untyped,import-not-found,unused-ignore]
from bench_corpora import Span
from haystack_integrations.components.pincite.word_llama_text_embedder import WordLlamaTextEmbedder
from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore
from langchain_classic.retrievers import EnsembleRetriever
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document as LangChainDocument
from langchain_core.retrievers import BaseRetriever as LangChainRetriever
from llama_index.core.base.base_retriever import BaseRetriever as LlamaRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from pincite.bench.metrics import Hit
from psycopg.sql import SQL, Identifier

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # its package is no longer developed; its retriever is used
    from langchain_community.retrievers import BM25Retriever as LangChainBM25
    from llama_index.retrievers.bm25 import (  # type: ignore[import-untyped,unused-ignore]
        BM25Retriever as LlamaBM25,
    )

DEPTH = 60
TOP_K = 10
RRF_K = 60

Search = Callable[[str], list[Hit]]


class VectorSearch:
    """The nearest spans of a question by the HNSW index of a stock table."""

    def __init__(self, store: PgvectorDocumentStore, connection: Any) -> None:
        self._embedder = WordLlamaTextEmbedder()
        self._embedder.warm_up()
        self._connection = connection
        connection.execute(f"SET hnsw.ef_search = {store.hnsw_ef_search}")
        self._sql = SQL(
            "SELECT meta->>'source_id', (meta->>'start')::int, (meta->>'end')::int FROM public.{}"
            " ORDER BY embedding <=> %s::vector LIMIT %s"
        ).format(Identifier(store.table_name))

    def __call__(self, query: str, limit: int = DEPTH) -> list[Hit]:
        """The spans, nearest first."""
        vector = str(self._embedder.run(query)["embedding"])
        return [hit_of(*row) for row in self._connection.execute(self._sql, [vector, limit]).fetchall()]


def hit_of(source_id: str, start: int, end: int) -> Hit:
    """A span by its place, which is its identity in all systems."""
    return Hit(f"{source_id}:{start}-{end}", source_id, start, end)


class BM25:
    """BM25 by ``bm25s``, stemmed."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._hits = [hit_of(span.source_id, span.start, span.end) for span in spans]
        self._stemmer = Stemmer.Stemmer("english")
        self._index = bm25s.BM25()
        self._index.index(self._tokens([span.text for span in spans]), show_progress=False)

    def __call__(self, query: str, limit: int = TOP_K) -> list[Hit]:
        """The spans, best first."""
        depth = min(limit, len(self._hits))
        found, _ = self._index.retrieve(self._tokens([query]), k=depth, show_progress=False)
        return [self._hits[number] for number in found[0]]

    def _tokens(self, texts: list[str]) -> Any:
        return bm25s.tokenize(texts, stopwords="en", stemmer=self._stemmer, show_progress=False)


def fused(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """The ten best by reciprocal rank, equal weights."""
    scores: dict[Hit, float] = {}
    for hits in lists:
        for rank, hit in enumerate(hits, start=1):
            scores[hit] = scores.get(hit, 0.0) + 1 / (RRF_K + rank)
    return sorted(scores, key=lambda hit: (-scores[hit], hit.span_id))[:TOP_K]


class _LangChainVectors(LangChainRetriever):
    search: Any

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[LangChainDocument]:
        return [
            LangChainDocument(page_content=hit.span_id, metadata=_meta(hit.span_id, hit.source_id, hit.start, hit.end))
            for hit in self.search(query)
        ]


def _meta(span_id: str, source_id: str, start: int, end: int) -> dict[str, Any]:
    return {"span_id": span_id, "source_id": source_id, "start": start, "end": end}


def _span_meta(span: Span) -> dict[str, Any]:
    return _meta(hit_of(span.source_id, span.start, span.end).span_id, span.source_id, span.start, span.end)


def langchain_ensemble(spans: Sequence[Span], vectors: VectorSearch) -> Search:
    """LangChain's EnsembleRetriever over its BM25Retriever and the vectors, equal weights."""
    words = LangChainBM25.from_texts([s.text for s in spans], metadatas=[_span_meta(s) for s in spans], k=DEPTH)
    ensemble = EnsembleRetriever(
        retrievers=[words, _LangChainVectors(search=vectors)], weights=[0.5, 0.5], id_key="span_id"
    )

    def search(query: str) -> list[Hit]:
        metas = [document.metadata for document in ensemble.invoke(query)[:TOP_K]]
        return [hit_of(meta["source_id"], meta["start"], meta["end"]) for meta in metas]

    return search


class _LlamaVectors(LlamaRetriever):
    def __init__(self, search: VectorSearch, nodes: dict[str, TextNode]) -> None:
        super().__init__()
        self._search = search
        self._nodes = nodes

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = self._search(query_bundle.query_str)
        return [NodeWithScore(node=self._nodes[hit.span_id], score=1 / rank) for rank, hit in enumerate(hits, start=1)]


def llama_fusion(spans: Sequence[Span], vectors: VectorSearch) -> Search:
    """LlamaIndex's QueryFusionRetriever (reciprocal ranks, no generated queries) over its BM25Retriever and vectors."""
    metas = [_span_meta(span) for span in spans]
    nodes = [
        TextNode(id_=meta["span_id"], text=span.text, metadata=meta, excluded_embed_metadata_keys=list(meta))
        for span, meta in zip(spans, metas, strict=True)
    ]
    words = LlamaBM25.from_defaults(nodes=nodes, similarity_top_k=min(DEPTH, len(nodes)))
    fusion = QueryFusionRetriever(
        [words, _LlamaVectors(vectors, {node.node_id: node for node in nodes})],
        llm=MockLLM(),
        mode=FUSION_MODES.RECIPROCAL_RANK,
        similarity_top_k=TOP_K,
        num_queries=1,
        use_async=False,
    )

    def search(query: str) -> list[Hit]:
        metas = [found.node.metadata for found in fusion.retrieve(query)]
        return [hit_of(meta["source_id"], meta["start"], meta["end"]) for meta in metas]

    return search
