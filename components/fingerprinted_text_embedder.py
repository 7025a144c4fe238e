# SPDX-License-Identifier: Apache-2.0
"""Any Haystack text embedder, with the identity of its vectors (S3)."""

from typing import Any

from haystack import component, default_from_dict, default_to_dict
from haystack.core.component import Component
from haystack_integrations.components.pincite.embedding.embedder_identity import (
    checked_fingerprint,
    restored,
    serialised,
)


@component
class FingerprintedTextEmbedder:
    """
    Embeds a query with any text embedder and says which stored vectors the result may be compared with.

    :param embedder: a Haystack text embedder: ``run(text)`` gives ``embedding``.
    :param fingerprint: the same text as that of the document embedder whose vectors are searched: model, revision,
        dimension, template, normalisation.
    """

    def __init__(self, embedder: Component, fingerprint: str) -> None:
        """:raises ConfigurationError: the fingerprint lacks the embedder's model or dimension."""
        self.embedder = embedder
        self.fingerprint = checked_fingerprint(fingerprint, embedder, "FingerprintedTextEmbedder")

    def to_dict(self) -> dict[str, Any]:
        """Constructor arguments for YAML."""
        return default_to_dict(self, embedder=serialised(self.embedder), fingerprint=self.fingerprint)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "FingerprintedTextEmbedder":
        """Rebuild from :meth:`to_dict`."""
        parameters = data["init_parameters"]
        return default_from_dict(
            cls, {**data, "init_parameters": {**parameters, "embedder": restored(parameters.get("embedder"))}}
        )

    def warm_up(self) -> None:
        """Warm the embedder up."""
        if hasattr(self.embedder, "warm_up"):
            self.embedder.warm_up()

    @component.output_types(embedding=list[float], fingerprint=str)
    def run(self, text: str) -> dict[str, Any]:
        """
        :param text: any text.
        :returns: ``embedding``: its vector; ``fingerprint``: which stored vectors it may be compared with.
        """
        return {"embedding": self.embedder.run(text=text)["embedding"], "fingerprint": self.fingerprint}
