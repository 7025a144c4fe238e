# SPDX-License-Identifier: Apache-2.0
"""The settings that decide what a search finds, as data: two measurements are comparable only when they know them."""

import hashlib
import json
from typing import Any

import yaml
from haystack_integrations.document_stores.pincite.resources import read_config
from pincite.pipelines.corpora import load_corpora
from pincite.pipelines.loader import load_pipeline

_VOCABULARY = "instruments.yaml"
# They decide where and how fast, not what.
_WITHOUT_EFFECT = frozenset(
    {"document_store", "timeout", "batch_size", "progress_bar", "failures_to_open", "reopen_after"}
)


def retrieval_settings(corpus: str) -> dict[str, Any]:
    """
    What decides the results in a corpus: every parameter of both pipelines, defaults included, the corpus's own
    settings, and a hash of the vocabulary's content (comments and layout do not count).

    :raises BadInputError: there is no such corpus.
    :raises ConfigurationError: a file is wrong.
    """
    chosen = load_corpora().corpus(corpus)
    vocabulary = yaml.safe_load(read_config(_VOCABULARY)[0])
    return {
        "query": _parameters(load_pipeline(corpus, "query").to_dict()),
        "indexing": _parameters(load_pipeline(corpus, "indexing").to_dict()),
        "corpus": {
            "text_search_config": chosen.text_search_config,
            "embedding_dimension": chosen.embedding_dimension,
            "minimum_characters": chosen.minimum_characters,
            "required_metadata": list(chosen.required_metadata),
        },
        "vocabulary": hashlib.sha256(json.dumps(vocabulary, sort_keys=True, default=str).encode()).hexdigest()[:16],
    }


def _parameters(pipeline: dict[str, Any]) -> dict[str, Any]:
    """Per stage its class and what it was told; JSON types only, so that it equals itself when read back."""
    stages = {}
    for name, entry in pipeline["components"].items():
        told = {key: value for key, value in entry["init_parameters"].items() if key not in _WITHOUT_EFFECT}
        stages[name] = {"type": entry["type"].rpartition(".")[2], **told}
    parsed: dict[str, Any] = json.loads(json.dumps(stages, default=str))
    return parsed
