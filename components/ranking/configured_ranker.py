# SPDX-License-Identifier: Apache-2.0
"""The ranker that a word of the configuration names (contract, ``PINCITE_RERANKER_MODEL``)."""

import math
import os
from pathlib import Path

from haystack.core.component import Component
from haystack_integrations.components.pincite.onnx_cross_encoder_ranker import OnnxCrossEncoderRanker
from haystack_integrations.document_stores.pincite.database import pincite_home
from haystack_integrations.document_stores.pincite.errors import ConfigurationError

VOYAGE = "voyage:"
_VOYAGE_ATTEMPTS = 2


def shown_name(model: str) -> str:
    """The model as answers and ``status`` name it: of a path only the last part, for answers go to other machines."""
    return model if is_external(model) else Path(model).name


def is_external(model: str) -> bool:
    """Whether ranking with it sends question and passages to a service outside."""
    return model.startswith(VOYAGE)


def model_folder(model: str) -> Path:
    """The folder of a local model: an absolute path or one with ``~``; else below ``models`` in ``PINCITE_HOME``."""
    return pincite_home() / "models" / Path(model).expanduser()


def configured_ranker(model: str, *, allow_external: bool, timeout: float) -> Component:
    """
    Make the ranker; it is loaded by its ``warm_up``.

    :param model: ``voyage:NAME`` such as ``voyage:rerank-2.5``, or a folder, see :func:`model_folder`.
    :param allow_external: whether a service outside may be used (F3).
    :param timeout: seconds that one attempt at a service outside may take.
    :raises ConfigurationError: a service outside is not allowed here, or lacks its key.
    """
    if not is_external(model):
        return OnnxCrossEncoderRanker(str(model_folder(model)))
    if not allow_external:
        raise ConfigurationError(f"{model} is a service outside, which this corpus does not use; name a local folder")
    if not os.environ.get("VOYAGE_API_KEY"):
        raise ConfigurationError(f"{model} needs VOYAGE_API_KEY, which is not set")
    # Here, since its client takes a second to import and most never need it.
    from haystack_integrations.components.pincite.voyage_reranker import VoyageReranker  # noqa: PLC0415

    return VoyageReranker(
        model=model.removeprefix(VOYAGE), timeout=max(1, math.ceil(timeout)), max_retries=_VOYAGE_ATTEMPTS
    )
