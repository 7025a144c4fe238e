# SPDX-License-Identifier: Apache-2.0
"""Any Haystack document embedder, with the identity of its vectors (S3)."""

from dataclasses import replace
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.core.component import Component
from haystack_integrations.components.pincite.embedding.embedder_identity import (
    checked_fingerprint,
    embedded_meta,
    restored,
    serialised,
)


@component
class FingerprintedDocumentEmbedder:
    """
    Embeds documents with any document embedder and marks each with the identity of its vector.

    :param embedder: a Haystack document embedder: ``run(documents)`` gives ``documents`` with embeddings.
    :param fingerprint: model, revision, dimension, template, normalisation, in any form; another one whenever the
        vectors come out differently. The text embedder of the query pipeline is given the same.
    """

    def __init__(self, embedder: Component, fingerprint: str) -> None:
        """:raises ConfigurationError: the fingerprint lacks the embedder's model or dimension."""
        self.embedder = embedder
        self.fingerprint = checked_fingerprint(fingerprint, embedder, "FingerprintedDocumentEmbedder")

    @property
    def prefix_meta(self) -> list[str]:
        """Metadata keys that the embedder puts in front of the text."""
        return embedded_meta(self.embedder)

    def to_dict(self) -> dict[str, Any]:
        """Constructor arguments for YAML."""
        return default_to_dict(self, embedder=serialised(self.embedder), fingerprint=self.fingerprint)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "FingerprintedDocumentEmbedder":
        """Rebuild from :meth:`to_dict`."""
        parameters = data["init_parameters"]
        return default_from_dict(
            cls, {**data, "init_parameters": {**parameters, "embedder": restored(parameters.get("embedder"))}}
        )

    def warm_up(self) -> None:
        """Warm the embedder up."""
        if hasattr(self.embedder, "warm_up"):
            self.embedder.warm_up()

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """
        :param documents: documents with text.
        :returns: ``documents``: the same in the same order with ``embedding`` and ``meta["embedding_fingerprint"]``.
        """
        if not documents:
            return {"documents": []}
        mark = {"embedding_fingerprint": self.fingerprint}
        embedded = self.embedder.run(documents=documents)["documents"]
        return {"documents": [replace(document, meta={**document.meta, **mark}) for document in embedded]}
