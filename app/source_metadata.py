# SPDX-License-Identifier: Apache-2.0
"""Metadata that stands beside a file or on the command line (contract, "Identity")."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from haystack_integrations.components.pincite.reading.rule_sidecar import Rule, checked_rules
from haystack_integrations.components.pincite.reading.source_meta import checked_meta
from haystack_integrations.document_stores.pincite.errors import BadInputError

META_SUFFIX = ".meta.yaml"
RULES_SUFFIX = ".rules.yaml"


def is_sidecar(name: str) -> bool:
    """Whether a file of this name says something about another and is no source itself."""
    return name.endswith((META_SUFFIX, RULES_SUFFIX))


def sidecar_of(path: Path, suffix: str = META_SUFFIX) -> Path:
    """Where the sidecar of a file would be: its name with the suffix after it."""
    return path.with_name(path.name + suffix)


def given_meta(path: Path, options: Mapping[str, Any]) -> dict[str, Any]:
    """
    Metadata of a file from its sidecar and the command line, which wins. Front matter, below both, is the converter's.

    :param options: Metadata of ``--meta``, already checked.
    :raises BadInputError: The sidecar is no YAML mapping, or holds a value that the contract does not allow.
    """
    return {**_sidecar(sidecar_of(path)), **options}


def given_rules(path: Path) -> list[Rule]:
    """
    Rules of a file from its sidecar ``<file>.rules.yaml``; none without one (C5).

    :raises BadInputError: The sidecar is no YAML list, or holds a rule of another form.
    """
    sidecar = sidecar_of(path, RULES_SUFFIX)
    return checked_rules(_yaml(sidecar), f"sidecar {sidecar.name}")


def option_meta(options: Mapping[str, str] | None) -> dict[str, Any]:
    """
    The values of ``--meta``, checked; ``groups`` and ``tags`` are divided at commas.

    :raises BadInputError: A value that the contract does not allow.
    """
    return checked_meta(options or {}, "--meta")


def _sidecar(path: Path) -> dict[str, Any]:
    mapping = _yaml(path)
    if mapping is None:
        return {}
    if not isinstance(mapping, Mapping):
        raise BadInputError(f"sidecar {path.name}: holds a {type(mapping).__name__}; it must hold a mapping")
    return checked_meta(mapping, f"sidecar {path.name}")


def _yaml(path: Path) -> Any:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(f"sidecar {path.name}: cannot be read as UTF-8 ({error})") from error
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise BadInputError(f"sidecar {path.name}: no valid YAML ({' '.join(str(error).split())})") from error
