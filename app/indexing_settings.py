# SPDX-License-Identifier: Apache-2.0
"""What an indexing pipeline makes of a file, as a hash: when it changes, sources are read again."""

import hashlib
import json
from typing import Any

from haystack import Pipeline
from pincite.embedders import embedder_names
from pincite.pipelines.loader import load_pipeline

EXTRACTION_VERSION = 1
"""Raise it when the text, the titles or the spans of an unchanged file come out differently than before."""

# Parameters that decide where and how fast, or with which vectors: these are told from stale ones span by span (S3).
_WITHOUT_EFFECT = frozenset({"document_store", "batch_size", "progress_bar", "embedding_fingerprint"})


def settings_hash(corpus: str) -> str:
    """
    Hash of the stages of a corpus's indexing pipeline that make its texts and spans, with their parameters.

    The embedder is none of them: another one takes vectors, and no reading.

    :raises ConfigurationError: The pipeline is wrong.
    """
    return pipeline_hash(load_pipeline(corpus, "indexing"))


def pipeline_hash(pipeline: Pipeline) -> str:
    """:func:`settings_hash` of a pipeline that is loaded."""
    embedders = embedder_names(pipeline)
    components = pipeline.to_dict()["components"].items()
    stages = {name: _effective(entry) for name, entry in components if name not in embedders}
    described = json.dumps([EXTRACTION_VERSION, stages], sort_keys=True, default=str)
    return hashlib.sha256(described.encode()).hexdigest()


def _effective(entry: dict[str, Any]) -> dict[str, Any]:
    parameters = entry.get("init_parameters", {})
    return {**entry, "init_parameters": {key: parameters[key] for key in parameters if key not in _WITHOUT_EFFECT}}
