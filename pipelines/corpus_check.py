# SPDX-License-Identifier: Apache-2.0
"""Checks that a pipeline belongs to its corpus: a copied file that still names another corpus must not search that."""

from collections.abc import Mapping

from haystack import Pipeline
from haystack_integrations.components.pincite.case_request import CaseRequest
from haystack_integrations.components.pincite.optional_reranker import OptionalReranker
from haystack_integrations.components.pincite.rule_splitter import RuleSplitter
from haystack_integrations.components.pincite.search_request import SearchRequest
from haystack_integrations.components.pincite.span_writer import SpanWriter
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from pincite.pipelines.corpora import FILE_NAME, CorpusSettings
from pincite.pipelines.strict_yaml import YamlText

# Rankers that compute on this machine; all others may send what they are given to a service outside.
_LOCAL_RANKERS = (
    "SentenceTransformers",
    "Transformers",
    "FastEmbed",
    "LostInTheMiddle",
    "MetaField",
    "OnnxCrossEncoder",
)


def check_corpus(source: YamlText, pipeline: Pipeline, settings: CorpusSettings) -> None:
    """
    Compare a pipeline with what ``corpora.yaml`` says about its corpus (C1, C3, C5, F3, S3).

    :raises ConfigurationError: a store of another corpus, another embedder, other scopes, rules where none are held or
        the other way round, or a ranker outside where none is allowed.
    """
    stages = dict(pipeline.graph.nodes(data="instance"))
    for name, instance in stages.items():
        for attribute, value in vars(instance).items():
            if isinstance(value, CorpusDocumentStore):
                found = {
                    "corpus": (value.corpus, settings.name),
                    "embedding_dimension": (value.embedding_dimension, settings.embedding_dimension),
                    "text_search": (value.text_search, settings.text_search_config),
                }
                _compare(source, name, f"{attribute}.", settings.name, found)
        _check_scopes(source, name, instance, settings)
        _check_embedder(source, name, instance, settings)
        if settings.local_only and isinstance(instance, OptionalReranker) and not _is_local(instance.ranker):
            raise source.error(
                ("components", name),
                f"component '{name}': ranker is {type(instance.ranker).__name__}; {FILE_NAME} says local_only for "
                f"'{settings.name}': known local rankers begin with {', '.join(_LOCAL_RANKERS)}",
            )
        if settings.local_only and isinstance(instance, OptionalReranker) and instance.allow_external:
            raise source.error(
                ("components", name),
                f"component '{name}': allow_external is true; {FILE_NAME} says local_only for '{settings.name}'",
            )
    _check_rules(source, list(stages.values()), settings)


def _check_scopes(source: YamlText, name: str, instance: object, settings: CorpusSettings) -> None:
    if isinstance(instance, SearchRequest):
        scopes = {
            "scopes": (sorted(instance.scopes), sorted(settings.scopes)),
            "required_scopes": (sorted(instance.required_scopes), sorted(settings.required_scopes)),
        }
        _compare(source, name, "", settings.name, scopes)
    if isinstance(instance, CaseRequest):  # the case is no scope there: it is what the search starts from
        required = sorted(set(settings.required_scopes) - {"case_id"})
        _compare(source, name, "", settings.name, {"required_scopes": (sorted(instance.required_scopes), required)})


def _check_embedder(source: YamlText, name: str, instance: object, settings: CorpusSettings) -> None:
    # A property of embedders; other components have a parameter of this name.
    mark = (
        getattr(instance, "fingerprint", None)
        if isinstance(getattr(type(instance), "fingerprint", None), property)
        else None
    )
    if settings.embedder is not None and mark is not None and mark.partition(";")[0] != settings.embedder:
        _compare(source, name, "", settings.name, {"embedder": (mark.partition(";")[0], settings.embedder)})


def _check_rules(source: YamlText, stages: list[object], settings: CorpusSettings) -> None:
    """A corpus that holds rules makes them, and no other does."""
    makes = any(isinstance(stage, RuleSplitter) for stage in stages)
    writes = any(isinstance(stage, SpanWriter) for stage in stages)
    held = "rule" in settings.spans
    if writes and makes != held:
        spans = f"{FILE_NAME} says spans {list(settings.spans)} for '{settings.name}'"
        raise source.error(
            ("components",),
            f"{spans}, but {'no stage' if held else 'a stage'} of the pipeline makes rules (RuleSplitter)",
        )


def _is_local(ranker: object) -> bool:
    return ranker is None or type(ranker).__name__.startswith(_LOCAL_RANKERS)


def _compare(source: YamlText, name: str, prefix: str, corpus: str, found: Mapping[str, tuple[object, object]]) -> None:
    for key, (value, wanted) in found.items():
        if value != wanted:
            raise source.error(
                ("components", name),
                f"component '{name}': {prefix}{key} is {value!r:.80}; {FILE_NAME} says {wanted!r:.80} for '{corpus}'",
            )
