# SPDX-License-Identifier: Apache-2.0
"""The stock Haystack pipeline that Pincite is measured against: vectors and keywords of PostgreSQL, fused by rank."""

from typing import Any

from haystack import Pipeline
from haystack.components.joiners import DocumentJoiner
from haystack_integrations.components.pincite.word_llama_text_embedder import WordLlamaTextEmbedder
from haystack_integrations.components.retrievers.pgvector import PgvectorEmbeddingRetriever, PgvectorKeywordRetriever
from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore


def stock_pipeline(store: PgvectorDocumentStore, *, leg_top_k: int, top_k: int = 10) -> Pipeline:
    """
    Text embedder, both stock retrievers and the stock joiner (reciprocal rank fusion).

    :param leg_top_k: documents that each retriever fetches; Pincite's legs fetch 60, the retrievers' default is 10.
    """
    pipeline = Pipeline()
    pipeline.add_component("text_embedder", WordLlamaTextEmbedder())
    pipeline.add_component("dense", PgvectorEmbeddingRetriever(document_store=store, top_k=leg_top_k))
    pipeline.add_component("keywords", PgvectorKeywordRetriever(document_store=store, top_k=leg_top_k))
    pipeline.add_component("joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=top_k))
    pipeline.connect("text_embedder.embedding", "dense.query_embedding")
    pipeline.connect("dense.documents", "joiner.documents")
    pipeline.connect("keywords.documents", "joiner.documents")
    pipeline.warm_up()
    return pipeline


def stock_inputs(query: str) -> dict[str, Any]:
    """The inputs of :func:`stock_pipeline` for a question."""
    return {"text_embedder": {"text": query}, "keywords": {"query": query}}
