# SPDX-License-Identifier: Apache-2.0
"""Checks that a pipeline belongs to its corpus: a copied file that still names another corpus must not search that."""

from collections.abc import Mapping

from haystack import Pipeline
from haystack_integrations.components.pincite.search_request import SearchRequest
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from pincite.pipelines.corpora import FILE_NAME, CorpusSettings
from pincite.pipelines.strict_yaml import YamlText


def check_corpus(source: YamlText, pipeline: Pipeline, settings: CorpusSettings) -> None:
    """
    Compare the stores and the request of a pipeline with what ``corpora.yaml`` says about its corpus (C1, C3).

    :raises ConfigurationError: a store of another corpus, or a value that differs from that of ``corpora.yaml``.
    """
    for name, instance in pipeline.graph.nodes(data="instance"):
        for attribute, value in vars(instance).items():
            if isinstance(value, CorpusDocumentStore):
                found = {
                    "corpus": (value.corpus, settings.name),
                    "embedding_dimension": (value.embedding_dimension, settings.embedding_dimension),
                    "text_search": (value.text_search, settings.text_search_config),
                }
                _compare(source, name, f"{attribute}.", settings.name, found)
        if isinstance(instance, SearchRequest):
            scopes = {
                "scopes": (sorted(instance.scopes), sorted(settings.scopes)),
                "required_scopes": (sorted(instance.required_scopes), sorted(settings.required_scopes)),
            }
            _compare(source, name, "", settings.name, scopes)


def _compare(source: YamlText, name: str, prefix: str, corpus: str, found: Mapping[str, tuple[object, object]]) -> None:
    for key, (value, wanted) in found.items():
        if value != wanted:
            raise source.error(
                ("components", name),
                f"component '{name}': {prefix}{key} is {value!r:.80}; {FILE_NAME} says {wanted!r:.80} for '{corpus}'",
            )
