# SPDX-License-Identifier: Apache-2.0
"""Embeds the words that the dense leg searches for."""

from typing import Any

from haystack import component, default_from_dict, default_to_dict
from haystack_integrations.components.pincite.embedding.word_llama_model import (
    WordLlamaModel,
    fingerprint,
    load_word_llama,
)
from haystack_integrations.document_stores.pincite.spans import shared


@component
class WordLlamaTextEmbedder:
    """
    Embeds a query with the static model that comes with the ``wordllama`` wheel: offline, 256 dimensions.

    :param prefix_meta: The ``prefix_meta`` of the document embedder whose vectors are searched. It changes nothing
        in the vector of a query, only :attr:`fingerprint`, so that the two are known to belong together (S3).
    """

    def __init__(self, prefix_meta: list[str] | None = None) -> None:
        self.prefix_meta = prefix_meta
        self._model: WordLlamaModel | None = None

    @property
    def fingerprint(self) -> str:
        """Identity of the vectors this component makes; equal to that of the document embedder (S3)."""
        return fingerprint(self.prefix_meta or [])

    def to_dict(self) -> dict[str, Any]:
        """Constructor arguments for YAML."""
        return default_to_dict(self, prefix_meta=self.prefix_meta)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "WordLlamaTextEmbedder":
        """Rebuild from :meth:`to_dict`."""
        return default_from_dict(cls, data)

    def warm_up(self) -> None:
        """Load the model; at most once per process."""
        self._model = load_word_llama()

    @component.output_types(embedding=list[float], fingerprint=str)
    def run(self, text: str) -> dict[str, Any]:
        """
        :param text: Any text.
        :returns: ``embedding``: 256 floats of length 1; ``fingerprint``: which stored vectors it may be compared with.
        """
        if self._model is None:
            self.warm_up()
        assert self._model is not None  # noqa: S101 - warm_up has just set it
        return {"embedding": shared(self._model.embed([text])[0].tolist()), "fingerprint": self.fingerprint}
