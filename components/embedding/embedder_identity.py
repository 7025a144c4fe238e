# SPDX-License-Identifier: Apache-2.0
"""What tells the vectors of one embedder from those of another, for embedders that do not say it themselves (S3)."""

from typing import Any

from haystack.core.component import Component
from haystack.core.serialization import component_to_dict, import_class_by_name
from haystack_integrations.document_stores.pincite.errors import ConfigurationError

# Parameters by which embedders of Haystack and its integrations name metadata that they embed with the text.
_META_PARAMETERS = ("prefix_meta", "meta_fields_to_embed", "metadata_fields_to_embed")
# Parameters that decide what a vector means; their values must stand in the fingerprint.
_NAMING_PARAMETERS = ("model", "output_dimension", "dimensions")


def embedded_meta(embedder: Any) -> list[str]:
    """The metadata keys that a document embedder puts in front of the text."""
    keys: list[str] = []
    for name in _META_PARAMETERS:
        keys += [key for key in getattr(embedder, name, None) or [] if key not in keys]
    return keys


def checked_fingerprint(fingerprint: str, embedder: Any, where: str) -> str:
    """
    The fingerprint, if it can tell this embedder's vectors from others.

    :raises ConfigurationError: it is empty, or lacks the model or the dimension that the embedder is set to.
    """
    if not isinstance(fingerprint, str) or not fingerprint.strip():
        raise ConfigurationError(
            f"{where}: fingerprint is {fingerprint!r:.80}; name model, revision, dimension, template"
        )
    for name in _NAMING_PARAMETERS:
        value = getattr(embedder, name, None)
        if isinstance(value, str | int) and str(value) not in fingerprint:
            raise ConfigurationError(
                f"{where}: fingerprint is {fingerprint!r:.120}; {name} of the embedder, {value!r}, must stand in it"
            )
    return fingerprint


def serialised(embedder: Component) -> dict[str, Any]:
    """The embedder as YAML holds it; it may have no ``to_dict`` of its own."""
    return component_to_dict(embedder, "embedder")


def restored(value: Any) -> Any:
    """The embedder that :func:`serialised` wrote; anything else as it is."""
    if not isinstance(value, dict) or "type" not in value:
        return value
    found = import_class_by_name(value["type"])
    if hasattr(found, "from_dict"):
        return found.from_dict(value)
    return found(**value.get("init_parameters", {}))
