# SPDX-License-Identifier: Apache-2.0
"""Checks metadata of a source: the reserved keys of the contract have fixed forms, all others are kept as given."""

import datetime
import re
from collections.abc import Mapping
from typing import Any

from haystack_integrations.components.pincite.reading.extraction import storable
from haystack_integrations.document_stores.pincite.errors import BadInputError
from haystack_integrations.document_stores.pincite.spans import RESERVED_META

STATUSES = ("active", "draft", "superseded", "withdrawn")
_LISTS = ("groups", "tags")
_DATE = re.compile(r"\d{4}(?:-(\d{2})(?:-(\d{2}))?)?")


# A slip in these would show a document to those who must not see it.
_MISSPELT = {"group": "groups", "groups": "groups", "status": "status", "statuses": "status"}


def checked_meta(meta: Mapping[str, Any], where: str) -> dict[str, Any]:
    """
    The metadata with reserved keys in the form that is stored: ``groups`` and ``tags`` as lists of strings, ``date`` as
    ISO text, the others as strings. Keys without a value are left out.

    :param where: What the metadata was read from, for the message of an error.
    :raises BadInputError: A value that the contract does not allow, or a key that is kept for Pincite.
    """
    checked: dict[str, Any] = {}
    for key, value in meta.items():
        if not isinstance(key, str) or not key.strip() or key.startswith("_"):
            raise BadInputError(f"{where}: metadata key {key!r:.80} must be a word that does not begin with '_'")
        meant = _MISSPELT.get(key.casefold())
        if meant is not None and key != meant:
            raise BadInputError(f"{where}: unknown key {key!r:.80}; did you mean {meant!r}?")
        if key == "groups" and value is None:
            raise BadInputError(f"{where}: groups has no value; leave it out for a source that everyone may see")
        if value is None or value == "":
            continue
        checked[storable(key)] = _reserved(key, value, where) if key in RESERVED_META else _plain(value)
    return checked


def _reserved(key: str, value: Any, where: str) -> Any:
    if key in _LISTS:
        return _strings(key, value, where)
    if isinstance(value, list | dict):
        raise BadInputError(f"{where}: {key} is {value!r:.80}; it must be a single value")
    text = storable(_plain_text(value)).strip()
    if key == "status" and text not in STATUSES:
        raise BadInputError(f"{where}: status is {text!r:.80}; it must be one of {', '.join(STATUSES)}")
    if key == "date":
        _check_date(text, where)
    return text


def _strings(key: str, value: Any, where: str) -> list[str]:
    values = value.split(",") if isinstance(value, str) else value
    if not isinstance(values, list) or any(isinstance(item, list | dict) or item is None for item in values):
        raise BadInputError(f"{where}: {key} is {value!r:.80}; it must be a list of words, such as [a, b]")
    cleaned = [storable(_plain_text(item)).strip() for item in values]
    if key == "groups" and "*" in cleaned:
        raise BadInputError(f"{where}: groups holds '*'; leave groups out for a source that everyone may see")
    if key == "groups" and values and isinstance(value, list) and not any(cleaned):
        raise BadInputError(f"{where}: groups is {value!r:.80}; it names no group")
    return list(dict.fromkeys(item for item in cleaned if item))


def _check_date(text: str, where: str) -> None:
    match = _DATE.fullmatch(text)
    try:
        if not match:
            raise ValueError
        datetime.date(int(text[:4]), int(match[1] or 1), int(match[2] or 1))
    except ValueError as error:
        raise BadInputError(f"{where}: date is {text!r:.80}; it must be YYYY-MM-DD, YYYY-MM or YYYY") from error


def _plain_text(value: Any) -> str:
    return value.date().isoformat() if isinstance(value, datetime.datetime) else str(value)


def _plain(value: Any) -> Any:
    """The value as JSON can hold it: YAML knows dates, sets and numbers that are none."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, bool | int) or (isinstance(value, float) and abs(value) < float("inf")):
        return value
    if isinstance(value, Mapping):
        return {storable(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(storable(str(item)) for item in value)
    return None if value is None else storable(str(value))
