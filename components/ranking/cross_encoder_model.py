# SPDX-License-Identifier: Apache-2.0
"""A cross-encoder in a local folder, run by ONNX Runtime: a question and a text in, one number out."""

import json
import logging
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from haystack_integrations.document_stores.pincite.errors import ConfigurationError
from numpy.typing import NDArray

logger = logging.getLogger(__name__)

MODEL_FILES = ("model.onnx", "onnx/model.onnx")
TOKENIZER_FILE = "tokenizer.json"
CONFIG_FILE = "config.json"
TOKENIZER_CONFIG_FILE = "tokenizer_config.json"
LONGEST = 512  # tokens; what common cross-encoders were trained on, and attention costs the square of it

_MISSING = "the cross-encoder needs {name}, which is not installed: pip install 'pincite-haystack[rerank]'"
_INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


class ScoringGivenUpError(Exception):
    """Nobody waits for these scores any more."""


class CrossEncoderConfig(NamedTuple):
    """Longest input in tokens, which output is the relevance, and the token that fills up a batch."""

    max_length: int
    label: int | None
    pad_id: int


class CrossEncoderModel:
    """
    Scores pairs of question and text. One call runs at a time, on all cores; the others wait for it.

    :param session: an ``onnxruntime.InferenceSession``.
    :param tokenizer: a ``tokenizers.Tokenizer`` that truncates to ``config.max_length``.
    """

    def __init__(self, session: Any, tokenizer: Any, config: CrossEncoderConfig, name: str) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._config = config
        self._name = name
        self._running = threading.Lock()
        self._inputs = {entry.name: _INTEGERS.get(entry.type) for entry in session.get_inputs()}
        unknown = set(self._inputs) - {"input_ids", "attention_mask", "token_type_ids"}
        if unknown or None in self._inputs.values():
            listed = ", ".join(f"{entry.name} {entry.type}" for entry in session.get_inputs())
            raise ConfigurationError(
                f"cross-encoder {name!r}: its inputs are {listed}; expected input_ids, attention_mask and perhaps "
                "token_type_ids, all integers"
            )

    def score(
        self,
        query: str,
        texts: list[str],
        *,
        batch_size: int,
        label: int | None = None,
        given_up: Callable[[], bool] = lambda: False,
    ) -> NDArray[np.float64]:
        """
        Raw relevance (logit) of each text, in their order.

        :param label: which output it is; ``None`` for what the folder says.
        :param given_up: asked before each batch, so that work that nobody waits for ends.
        :raises ConfigurationError: the model's output has no such label, or is no list of scores.
        :raises ScoringGivenUpError: ``given_up`` said so.
        """
        encodings = self._tokenizer.encode_batch_fast([(_encodable(query), _encodable(text)) for text in texts])
        scores = np.empty(len(texts), dtype=np.float64)
        with self._running:
            for rows in _batches([len(encoding) for encoding in encodings], batch_size):
                if given_up():
                    raise ScoringGivenUpError
                scores[rows] = self._run([encodings[row] for row in rows], label)
        return scores

    def _run(self, encodings: list[Any], label: int | None) -> NDArray[np.float64]:
        width = max(len(encoding) for encoding in encodings)
        arrays = {name: np.zeros((len(encodings), width), dtype=kind) for name, kind in self._inputs.items()}
        if "input_ids" in arrays:
            arrays["input_ids"] += self._config.pad_id
        for row, encoding in enumerate(encodings):
            parts = {
                "input_ids": encoding.ids,
                "attention_mask": encoding.attention_mask,
                "token_type_ids": encoding.type_ids,
            }
            for name, array in arrays.items():
                array[row, : len(encoding)] = parts[name]
        logits = np.asarray(self._session.run(None, arrays)[0], dtype=np.float64)
        return self._column(logits, len(encodings), self._config.label if label is None else label)

    def _column(self, logits: NDArray[np.float64], rows: int, label: int | None) -> NDArray[np.float64]:
        table = logits[:, None] if logits.ndim == 1 else logits
        if table.ndim != 2 or table.shape[0] != rows:
            raise ConfigurationError(
                f"cross-encoder {self._name!r}: its output has the shape {logits.shape} for {rows} texts; "
                f"expected ({rows}, labels)"
            )
        labels = table.shape[1]
        # One output is the score; of two, the second says "relevant".
        column = label if label is not None else labels - 1 if labels <= 2 else None
        if column is None or not 0 <= column < labels:
            raise ConfigurationError(
                f"cross-encoder {self._name!r}: label is {column}; it has {labels} outputs, name one from 0 to "
                f"{labels - 1} with 'label'"
            )
        result: NDArray[np.float64] = table[:, column]
        return result


def load_cross_encoder(folder: Path, *, max_length: int | None = None, threads: int = 0) -> CrossEncoderModel:
    """
    The model of a folder, loaded once per process while its file stays as it is; all pipelines share it.

    :param folder: holds ``model.onnx`` (or ``onnx/model.onnx``), ``tokenizer.json`` and, if there is one, the
        ``config.json`` and ``tokenizer_config.json`` of Hugging Face's layout.
    :param max_length: tokens of question and text together; ``None`` for what the folder says, at most 512.
    :param threads: that one run uses; 0 for one a core.
    :raises ConfigurationError: one line: a package or a file is missing, or cannot be used.
    """
    if not folder.is_dir():
        raise ConfigurationError(f"cross-encoder {folder.name!r}: no such folder; it must hold {MODEL_FILES[0]}")
    path = next((folder / name for name in MODEL_FILES if (folder / name).is_file()), None)
    missing = MODEL_FILES[0] if path is None else "" if (folder / TOKENIZER_FILE).is_file() else TOKENIZER_FILE
    if path is None or missing:
        raise ConfigurationError(f"cross-encoder {folder.name!r}: {missing} is not in the folder")
    state = path.stat()
    return _load(path, folder, (state.st_mtime_ns, state.st_size), max_length, threads)


@lru_cache(maxsize=4)
def _load(path: Path, folder: Path, state: tuple[int, int], max_length: int | None, threads: int) -> CrossEncoderModel:
    runtime, tokenizers = _package("onnxruntime"), _package("tokenizers")
    name = folder.name
    config = _config(folder, max_length)
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER_FILE))
    except Exception as error:  # the package raises plain Exception
        raise ConfigurationError(
            f"cross-encoder {name!r}: {TOKENIZER_FILE} cannot be read: {_line(error, folder)}"
        ) from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(config.max_length)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    # Threads that spin between two searches take the cores from the database.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        session = runtime.InferenceSession(str(path), sess_options=options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the package raises classes of its own, without a common base
        raise ConfigurationError(
            f"cross-encoder {name!r}: {path.name} cannot be loaded: {_line(error, folder)}"
        ) from error
    logger.info("Cross-encoder %s loaded from %s", name, folder)
    return CrossEncoderModel(session, tokenizer, config, name)


def _package(name: str) -> Any:
    try:
        return __import__(name)
    except ImportError as error:
        raise ConfigurationError(_MISSING.format(name=name)) from error


def _config(folder: Path, max_length: int | None) -> CrossEncoderConfig:
    config, tokenizer = _json(folder / CONFIG_FILE), _json(folder / TOKENIZER_CONFIG_FILE)
    known = [tokenizer.get("model_max_length"), config.get("max_position_embeddings")]
    # Tokenizers without a limit say 1e30.
    allowed = min([LONGEST, *(int(value) for value in known if isinstance(value, int | float) and value > 0)])
    wanted = allowed if max_length is None else max_length
    label, pad = config.get("label"), config.get("pad_token_id")
    return CrossEncoderConfig(
        wanted, label if isinstance(label, int) else None, pad if isinstance(pad, int) and pad >= 0 else 0
    )


def _json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"cross-encoder {path.parent.name!r}: {path.name} cannot be read: {_line(error, path.parent)}"
        ) from error
    return data if isinstance(data, dict) else {}


def _batches(lengths: list[int], size: int) -> Iterator[list[int]]:
    """Rows in groups of alike length, so that little is spent on filling up."""
    rows = sorted(range(len(lengths)), key=lambda row: (lengths[row], row))
    for first in range(0, len(rows), size):
        yield rows[first : first + size]


def _encodable(text: str) -> str:
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _line(error: BaseException, folder: Path) -> str:
    # Answers go to other machines, which need not learn where the folder is.
    return " ".join(str(error).split()).replace(str(folder), folder.name)[:200]
