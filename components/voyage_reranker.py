# SPDX-License-Identifier: Apache-2.0
"""Voyage's reranking service (F3): opt-in, and never where a corpus is ``local_only``."""

from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.utils import Secret, deserialize_secrets_inplace
from haystack_integrations.components.rankers.voyage.ranker import VoyageRanker


@component
class VoyageReranker(VoyageRanker):
    """
    ``VoyageRanker`` of ``voyage-embedders-haystack``, with what that one loses.

    ``timeout`` and ``max_retries`` survive being saved to YAML, and ``truncate`` reaches the service. Put it into an
    ``OptionalReranker``, which keeps the fused scores and whatever the service leaves out.
    """

    def __init__(
        self,
        *,
        model: str = "rerank-2.5",
        api_key: Secret = Secret.from_env_var("VOYAGE_API_KEY"),  # noqa: B008 - names a variable, holds no value
        truncate: bool = True,
        top_k: int | None = None,
        timeout: int = 5,
        max_retries: int = 2,
        meta_fields_to_embed: list[str] | None = None,
        meta_data_separator: str = "\n",
    ) -> None:
        """
        :param model: name at the service.
        :param truncate: whether a text that is too long is cut; otherwise the service refuses it.
        :param top_k: how many documents to return; ``None`` for all.
        :param timeout: seconds that one attempt may take.
        :param max_retries: attempts in all.
        :param meta_fields_to_embed: metadata that stands before the text; ``None`` for the title.
        """
        fields = ["title"] if meta_fields_to_embed is None else meta_fields_to_embed
        # Not super(): the decorator makes another class of this one, which super() does not know.
        VoyageRanker.__init__(
            self,
            model=model,
            api_key=api_key,
            truncate=truncate,
            top_k=top_k,
            timeout=timeout,
            max_retries=max_retries,
            meta_fields_to_embed=fields,
            meta_data_separator=meta_data_separator,
        )

    def to_dict(self) -> dict[str, Any]:
        """Constructor arguments for YAML; the key as the name of its variable."""
        return default_to_dict(
            self,
            model=self.model,
            api_key=self.api_key.to_dict(),
            truncate=self.truncate,
            top_k=self.top_k,
            timeout=self._timeout,
            max_retries=self._max_retries,
            meta_fields_to_embed=self.meta_fields_to_embed,
            meta_data_separator=self.meta_data_separator,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "VoyageReranker":
        """Rebuild from :meth:`to_dict`."""
        deserialize_secrets_inplace(data["init_parameters"], keys=["api_key"])
        return default_from_dict(cls, data)

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document], top_k: int | None = None) -> dict[str, list[Document]]:
        """
        The documents in the service's order, with its scores.

        :param top_k: how many; ``None`` for what the constructor says.
        """
        return self._ranked(documents, self.client.rerank(**self._call(query, documents, top_k)))

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query: str, documents: list[Document], top_k: int | None = None
    ) -> dict[str, list[Document]]:
        """As :meth:`run`, on the event loop."""
        return self._ranked(documents, await self.async_client.rerank(**self._call(query, documents, top_k)))

    def _call(self, query: str, documents: list[Document], top_k: int | None) -> dict[str, Any]:
        return {
            "model": self.model,
            "query": query,
            "documents": self._truncate_documents(self._prepare_input_docs(documents)),
            "top_k": self._validate_top_k(top_k),
            "truncation": self.truncate,
        }

    def _ranked(self, documents: list[Document], answer: Any) -> dict[str, list[Document]]:
        return {"documents": self._build_rerank_response(documents, answer.results)}
