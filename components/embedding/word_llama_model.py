# SPDX-License-Identifier: Apache-2.0
"""The default embedding model: WordLlama's static vectors, which its wheel carries, so nothing is ever downloaded."""

import importlib.metadata
import logging
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

CONFIG = "l2_supercat"
DIMENSION = 256

Vectors = NDArray[np.float32]


class WordLlamaModel:
    """
    Mean of token vectors, scaled to length 1.

    The tokenizer runs a batch on all cores; pooling adds the rows of each text without padding, so one long text
    does not blow up the memory of its batch.
    """

    def __init__(self, token_vectors: Vectors, tokenizer: Any) -> None:
        self._token_vectors = token_vectors
        self._tokenizer = tokenizer

    @property
    def dimension(self) -> int:
        """Number of components of a vector."""
        return int(self._token_vectors.shape[1])

    def embed(self, texts: list[str]) -> Vectors:
        """
        Embed one batch.

        :param texts: Any strings; lone surrogates count as U+FFFD.
        :returns: One row of length 1 per text. A text without any token gets the vector whose components are all
            equal: valid for cosine distance (a zero vector is NaN there), near to nothing.
        """
        encodings = self._tokenizer.encode_batch_fast([_encodable(text) for text in texts], add_special_tokens=False)
        ids = [encoding.ids for encoding in encodings]
        vectors = np.ones((len(texts), self.dimension), dtype=np.float32)
        filled = [row for row, tokens in enumerate(ids) if tokens]
        if filled:
            flat = np.concatenate([np.asarray(ids[row], dtype=np.int64) for row in filled])
            lengths = np.array([len(ids[row]) for row in filled])
            starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
            vectors[filled] = np.add.reduceat(self._token_vectors[flat], starts, axis=0)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors[norms[:, 0] == 0] = 1.0  # token vectors that cancel out exactly: as if there were no token
        result: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return result


def load_word_llama() -> WordLlamaModel:
    """
    The model of this process, loaded once (about 100 MB, under a second).

    :raises FileNotFoundError: The installed ``wordllama`` wheel lacks its weights.
    """
    return _load()


@lru_cache(maxsize=1)
def _load() -> WordLlamaModel:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        import wordllama  # noqa: PLC0415 - importing it takes most of a second and changes logging
    finally:
        # wordllama.inference calls logging.basicConfig(INFO): an application's logging is not ours to set.
        root.handlers[:] = handlers
        root.setLevel(level)
    folder = Path(wordllama.__file__).parent
    loaded = wordllama.WordLlama.load(CONFIG, cache_dir=folder, dim=DIMENSION, disable_download=True)
    loaded.tokenizer.no_padding()
    loaded.tokenizer.no_truncation()
    return WordLlamaModel(np.asarray(loaded.embedding, dtype=np.float32), loaded.tokenizer)


@lru_cache
def _revision() -> str:
    return importlib.metadata.version("wordllama")


def fingerprint(prefix_meta: list[str]) -> str:
    """
    What a stored vector was made by: model, revision, dimension, template, normalisation (S3).

    :param prefix_meta: Meta keys whose values stand in front of the text of a document.
    """
    revision = _revision()
    template = "+".join([*prefix_meta, "text"])
    return f"wordllama/{CONFIG};revision={revision};dim={DIMENSION};template={template};norm=l2"


def _encodable(text: str) -> str:
    """The same length, without the lone surrogates that UTF-8 cannot hold."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
