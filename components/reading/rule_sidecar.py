# SPDX-License-Identifier: Apache-2.0
"""The form of a rule as people write it: a statement, the quote that supports it, and where its review stands (C5)."""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from haystack_integrations.components.pincite.reading.extraction import storable
from haystack_integrations.document_stores.pincite.errors import BadInputError

RULES_KEY = "_rules"
"""Metadata key of a source document under which its rules travel through an indexing pipeline."""

REVIEW_STATUSES = ("pending", "approved", "rejected")
_TEXTS = ("statement", "quote")
_KEYS = (*_TEXTS, "page", "review_status")


class Rule(TypedDict):
    """``statement``: what is held; ``quote``: words of the source that say so; ``page``, from 1, where they stand."""

    statement: str
    quote: str
    review_status: str
    page: NotRequired[int]


def checked_rules(value: Any, where: str) -> list[Rule]:
    """
    The rules of a source, checked; one without a ``review_status`` is pending.

    :param value: what was read: a list of mappings, or ``None`` for none.
    :param where: what it was read from, for the message of an error.
    :raises BadInputError: a rule that lacks a part, has an unknown one, or one of another form.
    """
    if value is None:
        return []
    if not isinstance(value, list):
        raise BadInputError(f"{where}: holds a {type(value).__name__}; it must hold a list of rules")
    return [_rule(entry, f"{where}: rule {number}") for number, entry in enumerate(value, 1)]


def _rule(entry: Any, where: str) -> Rule:
    if not isinstance(entry, Mapping):
        raise BadInputError(f"{where} is {entry!r:.80}; it must be a mapping with {', '.join(_KEYS)}")
    for key in entry:
        if key not in _KEYS:
            raise BadInputError(f"{where}: unknown key {key!r:.80}; known: {', '.join(_KEYS)}")
    for key in _TEXTS:
        text = entry.get(key)
        if not isinstance(text, str) or not text.strip():
            raise BadInputError(f"{where}: {key} is {text!r:.80}; it must be text")
    status = entry.get("review_status") or "pending"
    if status not in REVIEW_STATUSES:
        raise BadInputError(f"{where}: review_status is {status!r:.80}; it must be one of {', '.join(REVIEW_STATUSES)}")
    rule = Rule(
        statement=" ".join(storable(entry["statement"]).split()),
        quote=storable(entry["quote"]).strip(),
        review_status=status,
    )
    page = entry.get("page")
    if page is not None:
        if not isinstance(page, int) or isinstance(page, bool) or page < 1:
            raise BadInputError(f"{where}: page is {page!r:.80}; it must be a whole number from 1")
        rule["page"] = page
    return rule
