# SPDX-License-Identifier: Apache-2.0
"""Scopes: metadata that a corpus is divided by, as conditions that every row must meet (C3)."""

from collections.abc import Mapping, Sequence
from typing import Any

from haystack_integrations.components.pincite.stages.clean_text import clean_text
from haystack_integrations.document_stores.pincite.errors import BadInputError


def scope_conditions(scope: Mapping[str, str], allowed: Sequence[str], required: Sequence[str]) -> list[dict[str, Any]]:
    """
    A request's scopes as Haystack conditions, in the order of the configuration: equal requests give equal filters.

    :param scope: value by metadata key.
    :param allowed: keys that a request may give; those that it must need not be among them.
    :param required: keys that it must give.
    :raises BadInputError: an unknown key, one that is missing, or a value that is none.
    """
    known = list(dict.fromkeys([*required, *allowed]))
    for key in scope:
        if key not in known:
            raise BadInputError(f"scope '{key}' is unknown in this corpus: its scopes are {', '.join(known) or 'none'}")
    for key in required:
        if key not in scope:
            raise BadInputError(f"scope '{key}' is missing: this corpus is only searched within one {key}")
    return [_condition(key, scope[key]) for key in known if key in scope]


def scope_values(conditions: Sequence[dict[str, Any]], keys: Sequence[str]) -> dict[str, str]:
    """The values that conditions of :func:`scope_conditions` ask for, of these keys: what the database compares."""
    asked = {condition["field"].removeprefix("meta."): condition["value"] for condition in conditions}
    return {key: asked[key] for key in keys if key in asked}


def all_of(conditions: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The conditions joined by AND; one alone as it is, ``None`` for none."""
    if len(conditions) > 1:
        return {"operator": "AND", "conditions": list(conditions)}
    return conditions[0] if conditions else None


def _condition(key: str, value: str) -> dict[str, Any]:
    if not isinstance(value, str) or not value.strip():
        raise BadInputError(f"scope '{key}' is {value!r:.80}: expected the {key} to search in")
    return {"field": f"meta.{key}", "operator": "==", "value": clean_text(value, f"scope '{key}'")}
