# SPDX-License-Identifier: Apache-2.0
"""Shape of a Haystack filter, checked before any leg sees it, so that a mistake is one clear line."""

from datetime import datetime
from typing import Any

from haystack_integrations.components.pincite.stages.clean_text import clean_text
from haystack_integrations.document_stores.pincite.errors import BadInputError

_LOGICAL = ("AND", "OR")
_EQUALITY = ("==", "!=")
_ORDER = (">", ">=", "<", "<=")
_LISTS = ("in", "not in", "array_contains", "array_overlaps")
_PATTERNS = ("like", "not like")
_COMPARISONS = (*_EQUALITY, *_ORDER, *_LISTS, *_PATTERNS)
_TAGS = "meta.tags"
# Far deeper than anyone writes; without a bound a hostile filter ends in a recursion error.
_MAX_DEPTH = 20


def checked_filters(filters: Any, depth: int = 0) -> dict[str, Any]:
    """
    A filter in Haystack's syntax on ``meta`` fields, checked and with its text cleaned.

    :param filters: ``{"field": "meta.<key>", "operator": .., "value": ..}`` or ``{"operator": "AND"|"OR",
        "conditions": [..]}``.
    :param depth: how many conditions stand around this one.
    :returns: a new filter of the same meaning.
    :raises BadInputError: anything that the store could not turn into SQL.
    """
    if not isinstance(filters, dict):
        raise BadInputError(f"filter {filters!r:.80} is no condition: expected a dictionary with 'operator'")
    if depth > _MAX_DEPTH:
        raise BadInputError(f"filter is nested more than {_MAX_DEPTH} levels deep")
    return _comparison(filters) if "field" in filters else _logical(filters, depth)


def _logical(condition: dict[str, Any], depth: int) -> dict[str, Any]:
    _check_keys(condition, {"operator", "conditions"})
    operator, conditions = condition["operator"], condition["conditions"]
    if operator not in _LOGICAL:
        raise BadInputError(f"filter operator {operator!r} joins no conditions: expected AND or OR")
    if not isinstance(conditions, list) or not conditions:
        raise BadInputError(f"filter {operator} has no conditions: expected a list of one or more")
    return {"operator": operator, "conditions": [checked_filters(inner, depth + 1) for inner in conditions]}


def _comparison(condition: dict[str, Any]) -> dict[str, Any]:
    _check_keys(condition, {"field", "operator", "value"})
    field, operator, value = condition["field"], condition["operator"], condition["value"]
    if not isinstance(field, str) or not field.startswith("meta.") or field == "meta.":
        raise BadInputError(f"filter field {field!r} is no metadata: expected 'meta.<key>', such as 'meta.matter'")
    if operator not in _COMPARISONS:
        raise BadInputError(f"filter operator {operator!r} is unknown: expected one of {', '.join(_COMPARISONS)}")
    if wanted := _value_fault(operator, value):
        raise BadInputError(f"filter value {value!r:.80} does not fit {field} {operator}: expected {wanted}")
    clean = [_clean(item, field) for item in value] if isinstance(value, list) else _clean(value, field)
    if field == _TAGS:
        operator, clean = _of_a_list(operator, clean)
    return {"field": clean_text(field, "filter field"), "operator": operator, "value": clean}


def _of_a_list(operator: str, value: Any) -> tuple[str, Any]:
    """A source has several tags: that one of them is the value, or is among the values, is what people ask."""
    if operator == "==" and isinstance(value, str):
        return "array_contains", [value]
    return ("array_overlaps", value) if operator == "in" else (operator, value)


def _check_keys(condition: dict[str, Any], wanted: set[str]) -> None:
    if set(condition) != wanted:
        found = ", ".join(sorted(map(str, condition))) or "nothing"
        raise BadInputError(f"filter condition has the keys {found:.200}: expected {', '.join(sorted(wanted))}")


def _value_fault(operator: str, value: Any) -> str | None:
    """What the operator needs instead of this value; ``None`` if it fits."""
    if operator in _EQUALITY:
        return None if value is None or isinstance(value, (str, int, float)) else "text, a number, true, false or null"
    if operator in _ORDER:
        return None if _is_ordered(value) else "a number or an ISO date"
    if operator in _PATTERNS:
        return None if isinstance(value, str) else "text"
    if not isinstance(value, list) or not value:
        return "a list of one or more values"
    return None if _is_uniform(value) else "a list of texts, or of numbers"


def _is_ordered(value: Any) -> bool:
    if isinstance(value, str):
        try:
            datetime.fromisoformat(value)
        except ValueError:
            return False
        return True
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_uniform(values: list[Any]) -> bool:
    # One column type for the whole list: PostgreSQL has no array of text and numbers.
    return all(isinstance(value, str) for value in values) or all(type(value) in (int, float) for value in values)


def _clean(value: Any, field: str) -> Any:
    return clean_text(value, f"filter on {field}") if isinstance(value, str) else value
