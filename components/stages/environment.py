# SPDX-License-Identifier: Apache-2.0
"""Switches from the environment (contract, "Where things are")."""

import os

from haystack_integrations.document_stores.pincite.errors import ConfigurationError

_ON = {"1", "true", "yes", "on"}
_OFF = {"0", "false", "no", "off"}


def environment_flag(*names: str, default: bool) -> bool:
    """
    The first of these variables that is set and not empty, as a switch.

    :raises ConfigurationError: a value that is neither on nor off.
    """
    name, value = _first(names)
    if value is None:
        return default
    if value.lower() not in _ON | _OFF:
        raise ConfigurationError(f"{name} is '{value}': expected 1, true, yes or on, or 0, false, no or off")
    return value.lower() in _ON


def environment_text(*names: str) -> str | None:
    """The first of these variables that is set and not empty, without blanks around it."""
    return _first(names)[1]


def environment_count(*names: str, default: int) -> int:
    """
    The first of these variables that is set and not empty, as a whole number from 1.

    :raises ConfigurationError: a value that is no such number.
    """
    name, value = _first(names)
    if value is None:
        return default
    if not (value.isascii() and value.isdigit() and int(value) >= 1):
        raise ConfigurationError(f"{name} is '{value}': expected a whole number from 1")
    return int(value)


def _first(names: tuple[str, ...]) -> tuple[str, str | None]:
    for name in names:
        if value := os.environ.get(name, "").strip():
            return name, value
    return "", None
