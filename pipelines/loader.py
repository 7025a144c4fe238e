# SPDX-License-Identifier: Apache-2.0
"""Loads a corpus's pipeline from YAML, with the checks that Haystack leaves out."""

from typing import Any, Literal

from haystack import Pipeline
from haystack.core.errors import DeserializationError, PipelineError
from haystack_integrations.document_stores.pincite.errors import PinciteError
from haystack_integrations.document_stores.pincite.resources import read_config
from pincite.pipelines.connection_check import check_connection_entries, check_inputs, connect
from pincite.pipelines.corpora import CorpusSettings, ToolSettings
from pincite.pipelines.corpora import corpus as corpus_settings
from pincite.pipelines.corpus_check import check_corpus
from pincite.pipelines.fusion_check import check_fusion
from pincite.pipelines.parameter_check import check_component
from pincite.pipelines.staged_pipeline import StagedPipeline
from pincite.pipelines.strict_yaml import YamlText, did_you_mean, parse_yaml

Kind = Literal["query", "indexing", "similar"]

# Every stage stands in the YAML, also where it is an identity, so that the file and its drawing show the whole design.
STAGES: dict[Kind, tuple[str, ...]] = {
    "query": (
        "request",
        "recognizer",
        "title",
        "text_embedder",
        "dense",
        "lexical",
        "joiner",
        "reservation",
        "recovery",
        "parents",
        "reranker",
        "matter",
        "named",
        "diversifier",
        "attribution",
    ),
    # An indexing pipeline may be made of stock components under names of their own; only where it begins is fixed.
    "indexing": ("converter",),
    # From a case to cases like it.
    "similar": ("request", "profile", "dense", "lexical", "joiner", "parents", "cases", "attribution"),
}
# The component whose inputs are the inputs of the pipeline.
ENTRY: dict[Kind, str] = {"query": "request", "indexing": "converter", "similar": "request"}
_REQUIRED_KEYS = ("components", "connections")
_OPTIONAL_KEYS: dict[str, type] = {
    "metadata": dict,
    "max_runs_per_component": int,
    "connection_type_validation": bool,
}


def load_pipeline(corpus: str, kind: Literal["query", "indexing"]) -> Pipeline:
    """
    The query or the indexing pipeline of a corpus, checked.

    The pipeline gives what ``haystack.Pipeline.load`` of the same file gives; the checks are added, and it wastes less
    time between its stages (A5, :class:`.StagedPipeline`).

    :raises BadInputError: there is no such corpus.
    :raises ConfigurationError: one line that names file, line, component, key, the value found and what is right.
    """
    settings = corpus_settings(corpus)
    return _load(settings, settings.query_pipeline if kind == "query" else settings.indexing_pipeline, kind)


def load_tool_pipeline(tool: ToolSettings) -> Pipeline:
    """
    The pipeline that a tool runs: its own, or that of its corpus.

    :raises ConfigurationError: see :func:`load_pipeline`.
    """
    settings = corpus_settings(tool.corpus)
    return _load(settings, tool.pipeline or settings.query_pipeline, "similar" if tool.action == "similar" else "query")


def _load(settings: CorpusSettings, file: str, kind: Kind) -> Pipeline:
    source = parse_yaml(*read_config(file))
    pipeline = _checked(source, kind)
    check_corpus(source, pipeline, settings)
    return pipeline


def check_pipeline_text(text: str, origin: str, kind: Kind) -> Pipeline:
    """
    Check the YAML text of a pipeline and build it.

    :param origin: how messages name the text.
    :raises ConfigurationError: see :func:`load_pipeline`.
    """
    return _checked(parse_yaml(text, origin), kind)


def _checked(source: YamlText, kind: Kind) -> Pipeline:
    _check_top_level(source)
    _check_stages(source, kind)
    for name in source.data["components"]:
        check_component(source, name)
    check_connection_entries(source)
    pipeline = _build(source)
    connect(source, pipeline)
    check_inputs(source, pipeline, ENTRY[kind])
    check_fusion(source, pipeline)
    return pipeline


def _check_top_level(source: YamlText) -> None:
    known = (*_REQUIRED_KEYS, *_OPTIONAL_KEYS)
    for key, value in source.data.items():
        if key not in known:
            raise source.error((key,), f"unknown key '{key}'; {did_you_mean(key, known)}")
        wanted = _OPTIONAL_KEYS.get(key)
        if wanted is not None and type(value) is not wanted:
            raise source.error((key,), f"{key} is {value!r:.80}; it must be {wanted.__name__}")
    for key in _REQUIRED_KEYS:
        if key not in source.data:
            raise source.error((), f"'{key}' is missing")
    components = source.data["components"]
    if not isinstance(components, dict):
        raise source.error(("components",), f"components is {components!r:.80}; it must be a mapping of names")


def _check_stages(source: YamlText, kind: Kind) -> None:
    components = source.data["components"]
    for stage in STAGES[kind]:
        if stage not in components:
            others = [name for name in components if name not in STAGES[kind]]
            raise source.error(("components",), f"the stage '{stage}' is missing{_perhaps(stage, others)}")


def _perhaps(stage: str, others: list[str]) -> str:
    hint = did_you_mean(stage, others)
    return f"; is it '{hint.split(chr(39))[1]}'?" if hint.startswith("did") else "; each stage stands in the file"


def _build(source: YamlText) -> Pipeline:
    without_components: dict[str, Any] = {**source.data, "components": {}, "connections": []}
    pipeline: Pipeline = StagedPipeline.from_dict(without_components)
    for name, entry in source.data["components"].items():
        # One at a time, since Haystack's own message for a component that fails is a page of JSON.
        try:
            single = Pipeline.from_dict({"components": {name: entry}})
        except (DeserializationError, PipelineError) as error:
            raise source.error(("components", name), f"component '{name}': {_first_cause(error):.400}") from error
        pipeline.add_component(name, single.remove_component(name))
    return pipeline


def _first_cause(error: BaseException) -> str:
    while error.__cause__ is not None and not isinstance(error, PinciteError):
        error = error.__cause__
    return str(error) or type(error).__name__
