# SPDX-License-Identifier: Apache-2.0
"""Options of the form ``key=value``, which may be repeated."""

from collections.abc import Sequence
from typing import Any

from haystack_integrations.document_stores.pincite.errors import BadInputError


def pairs(option: str, values: Sequence[str]) -> dict[str, str]:
    """
    ``["court=Haifa"]`` as ``{"court": "Haifa"}``.

    :param option: its name, for the error.
    :raises BadInputError: no ``=``, an empty key or value, or one key given two values.
    """
    found: dict[str, str] = {}
    for value in values:
        key, sign, text = (part.strip() for part in value.partition("="))
        if not (key and sign and text):
            raise BadInputError(f"{option} is {value!r:.120}: expected key=value, such as {option} language=en")
        if found.setdefault(key, text) != text:
            raise BadInputError(f"{option} gives {key} two values, {found[key]!r:.60} and {text!r:.60}: give one")
    return found


def equality_filter(values: Sequence[str]) -> dict[str, Any] | None:
    """
    ``--filter k=v`` options as a Haystack filter: equality on ``meta`` fields, joined by AND; ``None`` for none.

    :raises BadInputError: as :func:`pairs`.
    """
    conditions: list[dict[str, Any]] = [
        {"field": f"meta.{key}", "operator": "==", "value": value} for key, value in pairs("--filter", values).items()
    ]
    if len(conditions) > 1:
        return {"operator": "AND", "conditions": conditions}
    return conditions[0] if conditions else None
