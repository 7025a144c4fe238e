# SPDX-License-Identifier: Apache-2.0
"""Ranks with a cross-encoder from a local folder (F3); nothing is downloaded and nothing leaves the machine."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from haystack import Document, component, default_from_dict, default_to_dict
from haystack_integrations.components.pincite.ranking.cross_encoder_model import CrossEncoderModel, load_cross_encoder
from haystack_integrations.components.pincite.ranking.given_up import given_up
from haystack_integrations.document_stores.pincite.errors import ConfigurationError

Activation = Literal["sigmoid", "none"]


@component
class OnnxCrossEncoderRanker:
    """
    Scores each document together with the question, by ONNX Runtime on this machine's cores.

    Needs the extra ``rerank``: ``pip install 'pincite-haystack[rerank]'``. The folder is one that
    ``optimum-cli export onnx --task text-classification`` or a hub's ONNX export makes: ``model.onnx`` (or
    ``onnx/model.onnx``), ``tokenizer.json``, and ``config.json`` where there is one.
    """

    def __init__(
        self,
        model: str,
        *,
        top_k: int | None = None,
        max_length: int | None = None,
        label: int | None = None,
        activation: Activation = "sigmoid",
        batch_size: int = 16,
        threads: int = 0,
        meta_fields_to_embed: list[str] | None = None,
        meta_data_separator: str = "\n",
    ) -> None:
        """
        :param model: the folder.
        :param top_k: how many documents to return; ``None`` for all.
        :param max_length: tokens of question and text together; ``None`` for what the folder says, at most 512.
        :param label: which output of the model is the relevance; ``None`` for what the folder says, else the only one
            or the second of two.
        :param activation: ``sigmoid`` makes scores from 0 to 1, ``none`` leaves the model's own. The order is the same.
        :param batch_size: pairs that are scored at once.
        :param threads: that one run uses; 0 for one a core.
        :param meta_fields_to_embed: metadata that stands before the text; ``None`` for the title, which tells apart
            documents that say the same.
        :param meta_data_separator: between them.
        :raises ConfigurationError: a number that is not positive, or another activation.
        """
        for name, value in (("top_k", top_k), ("max_length", max_length), ("batch_size", batch_size)):
            if value is not None and value < 1:
                raise ConfigurationError(f"OnnxCrossEncoderRanker: {name} is {value}, expected at least 1")
        if activation not in ("sigmoid", "none"):
            raise ConfigurationError(f"OnnxCrossEncoderRanker: activation is {activation!r}, expected sigmoid or none")
        self.model = os.fspath(model)
        self.top_k = top_k
        self.max_length = max_length
        self.label = label
        self.activation = activation
        self.batch_size = batch_size
        self.threads = threads
        self.meta_fields_to_embed = ["title"] if meta_fields_to_embed is None else meta_fields_to_embed
        self.meta_data_separator = meta_data_separator
        self._model: CrossEncoderModel | None = None

    def to_dict(self) -> dict[str, Any]:
        """Constructor arguments for YAML."""
        return default_to_dict(
            self,
            model=self.model,
            top_k=self.top_k,
            max_length=self.max_length,
            label=self.label,
            activation=self.activation,
            batch_size=self.batch_size,
            threads=self.threads,
            meta_fields_to_embed=self.meta_fields_to_embed,
            meta_data_separator=self.meta_data_separator,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "OnnxCrossEncoderRanker":
        """Rebuild from :meth:`to_dict`."""
        return default_from_dict(cls, data)

    def warm_up(self) -> None:
        """
        Load the model and score one pair, so that a folder that cannot be used is found now.

        :raises ConfigurationError: a package or a file is missing, or cannot be used.
        """
        if self._model is None:
            folder = Path(self.model).expanduser()
            model = load_cross_encoder(folder, max_length=self.max_length, threads=self.threads)
            try:
                model.score("q", ["t"], batch_size=1, label=self.label)
            except ConfigurationError:
                raise
            except Exception as error:  # whatever the runtime raises when a file is no such model
                raise ConfigurationError(
                    f"cross-encoder {folder.name!r}: it does not run: {' '.join(str(error).split())[:200]}"
                ) from error
            self._model = model

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document], top_k: int | None = None) -> dict[str, list[Document]]:
        """
        The documents with their scores, best first; equal scores keep their order.

        :param top_k: how many; ``None`` for what the constructor says.
        :raises ConfigurationError: see :meth:`warm_up`; or the model's output is no list of scores.
        """
        self.warm_up()
        assert self._model is not None  # noqa: S101 - warm_up raises otherwise
        logits = self._model.score(
            query,
            [self._text(document) for document in documents],
            batch_size=self.batch_size,
            label=self.label,
            given_up=given_up,
        )
        scores = logits if self.activation == "none" else 1.0 / (1.0 + np.exp(-np.clip(logits, -500.0, 500.0)))
        # By the model's own numbers: far out, a sigmoid makes different ones equal. What is no number comes last.
        order = sorted(range(len(documents)), key=lambda row: (np.isnan(logits[row]), -logits[row], row))
        ranked = [replace(documents[row], score=float(scores[row])) for row in order]
        return {"documents": ranked[: top_k or self.top_k or len(ranked)]}

    def _text(self, document: Document) -> str:
        fields = (document.meta.get(name) for name in self.meta_fields_to_embed)
        return self.meta_data_separator.join([*(str(value) for value in fields if value), document.content or ""])
