# SPDX-License-Identifier: Apache-2.0
"""Filters are refused with one line, or can be turned into SQL."""

import pytest
from haystack_integrations.components.pincite.stages.filter_check import checked_filters
from haystack_integrations.document_stores.pgvector.filters import _convert_filters_to_where_clause_and_params
from haystack_integrations.document_stores.pincite.errors import BadInputError
from hypothesis import given
from hypothesis import strategies as st


def condition(field="meta.date", operator="==", value="2024-01-31"):
    return {"field": field, "operator": operator, "value": value}


def nested(levels):
    filters = condition()
    for _ in range(levels):
        filters = {"operator": "AND", "conditions": [filters]}
    return filters


@pytest.mark.parametrize(
    "filters",
    [
        condition(),
        condition(value=None),
        condition(value=True),
        condition(operator=">=", value="2024-01-31"),
        condition(operator="<", value=3.5),
        condition(operator="in", value=["a", "b"]),
        condition(operator="not in", value=[1, 2.5]),
        condition(operator="array_contains", value=["tag"]),
        condition(operator="like", value="Bond%"),
        {"operator": "OR", "conditions": [condition(), {"operator": "AND", "conditions": [condition()]}]},
        nested(20),
    ],
)
def test_a_filter_of_the_right_shape_stays_as_it_is_and_becomes_sql(filters):
    assert checked_filters(filters) == filters
    _convert_filters_to_where_clause_and_params(filters)


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ("matter", "filter 'matter' is no condition: expected a dictionary with 'operator'"),
        ({"matter": "M-1"}, "filter condition has the keys matter: expected conditions, operator"),
        (
            {"field": "meta.x", "value": 1},
            "filter condition has the keys field, value: expected field, operator, value",
        ),
        (
            {"operator": "NOT", "conditions": [condition()]},
            "filter operator 'NOT' joins no conditions: expected AND or OR",
        ),
        ({"operator": "AND", "conditions": []}, "filter AND has no conditions: expected a list of one or more"),
        (
            condition(field="matter"),
            "filter field 'matter' is no metadata: expected 'meta.<key>', such as 'meta.matter'",
        ),
        (condition(field="meta."), "filter field 'meta.' is no metadata: expected 'meta.<key>', such as 'meta.matter'"),
        (condition(operator="~"), "filter operator '~' is unknown: expected one of =="),
        (condition(operator=["=="]), r"filter operator \['=='\] is unknown"),
        (
            condition(operator="in", value="a"),
            "filter value 'a' does not fit meta.date in: expected a list of one or more",
        ),
        (condition(operator="in", value=[]), "expected a list of one or more"),
        (condition(operator="in", value=["a", 1]), "expected a list of texts, or of numbers"),
        (
            condition(operator=">", value="later"),
            "filter value 'later' does not fit meta.date >: expected a number or an",
        ),
        (condition(operator=">", value=True), "expected a number or an ISO date"),
        (condition(operator="like", value=3), "expected text"),
        (condition(value=["a"]), "expected text, a number, true, false or null"),
        (condition(value="a\0"), "filter on meta.date has a NUL character at position 1"),
        (condition(operator="in", value=["a\0"]), "NUL"),
        (condition(field="meta.a\0"), "filter field has a NUL character"),
        (nested(21), "filter is nested more than 20 levels deep"),
    ],
)
def test_any_other_is_refused_in_one_line(filters, message):
    with pytest.raises(BadInputError, match=message) as caught:
        checked_filters(filters)
    assert "\n" not in str(caught.value)


def test_half_a_character_is_replaced():
    assert checked_filters(condition(value="a\ud800"))["value"] == "a\ufffd"


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["field", "operator", "value", "conditions"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(json_like)
def test_no_value_at_all_breaks_it(value):
    try:
        checked_filters(value)
    except BadInputError as error:
        assert str(error)


def test_a_tag_is_one_of_several() -> None:
    assert checked_filters({"field": "meta.tags", "operator": "==", "value": "law"}) == {
        "field": "meta.tags",
        "operator": "array_contains",
        "value": ["law"],
    }
    assert checked_filters({"field": "meta.tags", "operator": "in", "value": ["a", "b"]}) == {
        "field": "meta.tags",
        "operator": "array_overlaps",
        "value": ["a", "b"],
    }
    unchanged = {"field": "meta.tags", "operator": "==", "value": None}
    assert checked_filters(unchanged) == unchanged
