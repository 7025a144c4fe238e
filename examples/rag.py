# SPDX-License-Identifier: Apache-2.0
"""
A Haystack RAG pipeline: our stages find the named document and pin each passage, stock components do the rest.

    OPENAI_API_KEY=... python examples/rag.py "What does the Tessera lease say about vibration?"

OPENAI_BASE_URL names another endpoint, OPENAI_MODEL another model. The dense leg is the stock retriever of
pgvector-haystack on our store. (In a YAML file it only takes a store of its own class; there, use DenseRetriever.)
"""

import os
import sys
from contextlib import closing

from haystack import GeneratedAnswer, Pipeline
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack_integrations.components.pincite.attribution_gate import AttributionGate
from haystack_integrations.components.pincite.best_extent_recovery import BestExtentRecovery
from haystack_integrations.components.pincite.lexical_retriever import LexicalRetriever
from haystack_integrations.components.pincite.named_instrument_partition import NamedInstrumentPartition
from haystack_integrations.components.pincite.named_instrument_recognizer import NamedInstrumentRecognizer
from haystack_integrations.components.pincite.reciprocal_rank_joiner import ReciprocalRankJoiner
from haystack_integrations.components.pincite.search_request import SearchRequest
from haystack_integrations.components.pincite.source_diversifier import SourceDiversifier
from haystack_integrations.components.pincite.title_reservation import TitleReservation
from haystack_integrations.components.pincite.title_retriever import TitleRetriever
from haystack_integrations.components.pincite.word_llama_text_embedder import WordLlamaTextEmbedder
from haystack_integrations.components.retrievers.pgvector import PgvectorEmbeddingRetriever
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore

GROUPS = ["visitors"]  # a group that nothing is kept for: what is open to all; ["*"] for every source

PROMPT = """\
{% message role="user" %}
Answer the question from the passages below, and from nothing else. After each statement put the number of its passage
in brackets, such as [2]. If they do not answer it, say so.
{% for document in documents %}
[{{ loop.index }}] {{ document.meta.title }}, page {{ document.meta.page or "-" }}, {{ document.meta.section }}:
{{ document.content }}
{% endfor %}
Question: {{ query }}
{% endmessage %}
"""


def rag_pipeline(groups: list[str]) -> Pipeline:
    """
    The pipeline; ask it through :func:`answer`.

    :param groups: of the principal for whom the stock retriever reads, which takes none with the request.
    """
    store = CorpusDocumentStore("knowledge", groups=groups)
    model = OpenAIChatGenerator(model=os.environ.get("OPENAI_MODEL") or "gpt-5-mini")
    pipeline = Pipeline()
    pipeline.add_component("request", SearchRequest())
    pipeline.add_component("recognizer", NamedInstrumentRecognizer())
    pipeline.add_component("title", TitleRetriever(store))
    pipeline.add_component("lexical", LexicalRetriever(store))
    pipeline.add_component("text_embedder", WordLlamaTextEmbedder())
    pipeline.add_component("stock_dense", PgvectorEmbeddingRetriever(document_store=store, top_k=60))
    pipeline.add_component("joiner", ReciprocalRankJoiner({"title": 4.0, "lexical": 2.0, "stock_dense": 1.0}))
    pipeline.add_component("reservation", TitleReservation())
    pipeline.add_component("recovery", BestExtentRecovery(store))
    pipeline.add_component("named", NamedInstrumentPartition())
    pipeline.add_component("diversifier", SourceDiversifier())
    pipeline.add_component("attribution", AttributionGate(store))
    pipeline.add_component("prompt", ChatPromptBuilder(template=PROMPT, required_variables="*"))
    pipeline.add_component("model", model)
    # Of the passages, those go with the answer that it cites.
    pipeline.add_component("answers", AnswerBuilder(reference_pattern=r"\[(\d+)\]"))
    for sender, receivers in CONNECTIONS.items():
        for receiver in receivers:
            pipeline.connect(sender, receiver)
    return pipeline


CONNECTIONS = {
    "request.query": ["recognizer.query", "title.query", "prompt.query", "answers.query"],
    "request.groups": ["title.groups", "lexical.groups", "recovery.groups", "attribution.groups"],
    "request.top_k": ["diversifier.top_k"],
    "recognizer.intents": ["title.intents", "named.intents"],
    "recognizer.topic_query": ["title.topic_query"],
    "title.search_query": ["lexical.query", "text_embedder.text", "recovery.topic_query"],
    "title.documents": ["joiner.title", "reservation.title_documents"],
    "title.matches": ["reservation.matches", "recovery.matches", "named.matches", "diversifier.matches"],
    "lexical.documents": ["joiner.lexical"],
    "text_embedder.embedding": ["stock_dense.query_embedding", "recovery.query_embedding"],
    "text_embedder.fingerprint": ["recovery.fingerprint"],
    "stock_dense.documents": ["joiner.stock_dense"],
    "joiner.documents": ["reservation.documents"],
    "joiner.overflow": ["reservation.overflow"],
    "joiner.scale": ["recovery.scale"],
    "reservation.documents": ["recovery.documents"],
    "recovery.documents": ["named.documents"],
    "named.documents": ["diversifier.documents"],
    "diversifier.documents": ["attribution.documents"],
    "attribution.documents": ["prompt.documents", "answers.documents"],
    "prompt.prompt": ["model.messages"],
    "model.replies": ["answers.replies"],
}


def answer(pipeline: Pipeline, question: str, groups: list[str]) -> GeneratedAnswer:
    """The model's answer; its ``documents`` are the passages that it cites."""
    outputs = pipeline.run({"request": {"query": question, "groups": groups, "top_k": 6}})
    found: GeneratedAnswer = outputs["answers"]["answers"][0]
    return found


def cited(found: GeneratedAnswer) -> str:
    """The answer, and below it where each cited passage stands."""
    lines = [found.data or "", ""]
    for document in found.documents:
        meta = document.meta
        page = f"page {meta['page']}" if meta.get("page") else "not paged"
        lines.append(f"[{meta['source_index']}] {meta['title']}, {page}, characters {meta['start']} to {meta['end']}")
    return "\n".join(lines)


if __name__ == "__main__":
    with closing(rag_pipeline(GROUPS)) as made:
        print(cited(answer(made, " ".join(sys.argv[1:]), GROUPS)))
