# SPDX-License-Identifier: Apache-2.0
"""Embeds spans on their way into the store."""

from dataclasses import replace
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict
from haystack_integrations.components.pincite.embedding.word_llama_model import (
    WordLlamaModel,
    fingerprint,
    load_word_llama,
)


@component
class WordLlamaDocumentEmbedder:
    """
    Embeds documents with the static model that comes with the ``wordllama`` wheel: offline, 256 dimensions.

    :param prefix_meta: Meta keys whose values are put in front of the text, each on a line of its own, for example
        ``["section"]``. Keys that a document lacks are left out.
    :param batch_size: Documents per call of the tokenizer, which spreads a batch over the cores.
    """

    def __init__(self, prefix_meta: list[str] | None = None, batch_size: int = 64) -> None:
        self.prefix_meta = prefix_meta
        self.batch_size = batch_size
        self._model: WordLlamaModel | None = None

    @property
    def fingerprint(self) -> str:
        """Identity of the vectors this component makes: model, revision, dimension, template, normalisation (S3)."""
        return fingerprint(self.prefix_meta or [])

    def to_dict(self) -> dict[str, Any]:
        """Constructor arguments for YAML."""
        return default_to_dict(self, prefix_meta=self.prefix_meta, batch_size=self.batch_size)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "WordLlamaDocumentEmbedder":
        """Rebuild from :meth:`to_dict`."""
        return default_from_dict(cls, data)

    def warm_up(self) -> None:
        """Load the model; at most once per process."""
        self._model = load_word_llama()

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """
        :param documents: Documents with text; one without counts as empty.
        :returns: ``documents``: the same in the same order, each a new object with ``embedding`` of length 1 and
            ``meta["embedding_fingerprint"]``.
        """
        if self._model is None:
            self.warm_up()
        assert self._model is not None  # noqa: S101 - warm_up has just set it
        mark = {"embedding_fingerprint": self.fingerprint}
        embedded: list[Document] = []
        for first in range(0, len(documents), self.batch_size):
            batch = documents[first : first + self.batch_size]
            vectors = self._model.embed([self._text(document) for document in batch]).tolist()
            embedded += [
                replace(document, embedding=vector, meta={**document.meta, **mark})
                for document, vector in zip(batch, vectors, strict=True)
            ]
        return {"documents": embedded}

    def _text(self, document: Document) -> str:
        prefix = [str(document.meta[key]) for key in self.prefix_meta or [] if document.meta.get(key)]
        return "\n".join([*prefix, document.content or ""])
