# SPDX-License-Identifier: Apache-2.0
"""The embedders of a corpus, as its two pipelines name them (S3)."""

from typing import Any, NamedTuple

from haystack import Pipeline
from haystack_integrations.components.pincite.embedding.embedder_identity import embedded_meta
from haystack_integrations.components.pincite.span_writer import SpanWriter
from haystack_integrations.document_stores.pincite.errors import ConfigurationError


class DocumentEmbedder(NamedTuple):
    """
    What makes the vectors of a corpus.

    ``name`` is its name in the indexing pipeline, ``component`` the Haystack component, ``fingerprint`` the identity of
    its vectors, ``embedded_meta`` the metadata keys that it embeds with the text.
    """

    name: str
    component: Any
    fingerprint: str
    embedded_meta: list[str]


def document_embedder(pipeline: Pipeline, corpus: str) -> DocumentEmbedder:
    """
    The embedder of an indexing pipeline: what feeds the documents of its writer.

    :raises ConfigurationError: there is none, or nothing says which vectors it makes.
    """
    for name, writer in pipeline.graph.nodes(data="instance"):
        if isinstance(writer, SpanWriter) and (sender := _sender(pipeline, name)):
            return _described(sender, pipeline.get_component(sender), writer, corpus)
    raise ConfigurationError(
        f"corpus {corpus!r}: its indexing pipeline has no SpanWriter, so nothing says how it embeds"
    )


def embedder_names(pipeline: Pipeline) -> set[str]:
    """The stages of an indexing pipeline that only make vectors."""
    writers = [name for name, stage in pipeline.graph.nodes(data="instance") if isinstance(stage, SpanWriter)]
    return {sender for name in writers if (sender := _sender(pipeline, name))}


def _sender(pipeline: Pipeline, writer: str) -> str | None:
    """What feeds the documents of a writer."""
    for sender, _, data in pipeline.graph.in_edges(writer, data=True):
        if data["to_socket"].name == "documents":
            return str(sender)
    return None


def _described(name: str, component: Any, writer: SpanWriter, corpus: str) -> DocumentEmbedder:
    fingerprint = getattr(component, "fingerprint", None) or writer.embedding_fingerprint
    if not fingerprint:
        raise ConfigurationError(
            f"corpus {corpus!r}: nothing says which vectors '{name}' ({type(component).__name__}) makes; put it into a "
            "FingerprintedDocumentEmbedder, or give the writer embedding_fingerprint"
        )
    return DocumentEmbedder(name, component, str(fingerprint), embedded_meta(component))


def query_fingerprint(pipeline: Pipeline) -> str | None:
    """Which vectors a query pipeline compares with that of a question; ``None`` if it does not say."""
    for sender, receiver, data in pipeline.graph.edges(data=True):
        if receiver == "dense" and data["to_socket"].name == "fingerprint":
            return getattr(pipeline.get_component(sender), "fingerprint", None)
    fingerprint: str | None = getattr(pipeline.get_component("dense"), "fingerprint", None)
    return fingerprint
