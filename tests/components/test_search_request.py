# SPDX-License-Identifier: Apache-2.0
"""The entrance of a query pipeline: what is refused, and how scopes and filters are joined (C3)."""

import pytest
from haystack import Document, Pipeline
from haystack.core.errors import PipelineRuntimeError
from haystack.utils.filters import document_matches_filter
from haystack_integrations.components.pincite.search_request import SearchRequest
from haystack_integrations.document_stores.pincite.errors import BadInputError
from hypothesis import given
from hypothesis import strategies as st

MATTER = {"field": "meta.matter", "operator": "==", "value": "M-1"}


def refused(request, **settings):
    with pytest.raises(BadInputError) as caught:
        SearchRequest(**settings).run(**request)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_the_values_come_out_as_they_went_in():
    request = {
        "query": "  What does the lease say? ",
        "groups": ["finance"],
        "filters": MATTER,
        "matter": "M-2",
        "names": False,
        "rerank": False,
        "top_k": 100,
        "max_per_source": 1,
    }
    assert SearchRequest().run(**request) == request


def test_the_defaults():
    assert SearchRequest().run(query="q") == {
        "query": "q",
        "groups": None,
        "filters": None,
        "matter": None,
        "names": True,
        "rerank": True,
        "top_k": 10,
        "max_per_source": None,
    }


@pytest.mark.parametrize("query", ["", " ", "\n\t\u00a0", "\u200b\u200e", "\x07"])
def test_a_query_that_shows_nothing_is_empty(query):
    assert refused({"query": query}) == "query is empty: write what to search for"


@pytest.mark.parametrize("query", ["':*&|!", "the of and", "?", "משכנתא", "x" * 100_000, "\U0001f3e0"])
def test_odd_queries_are_searched(query):
    assert SearchRequest().run(query=query)["query"] == query


def test_what_no_query_may_hold():
    assert refused({"query": "a\0b"}) == "query has a NUL character at position 1: remove it"
    assert refused({"query": "x" * 100_001}) == "query has 100,001 characters: at most 100,000 are searched"
    assert refused({"query": None}) == "query is None: expected text"


def test_half_a_character_becomes_the_replacement_character_and_a_pair_its_character():
    assert SearchRequest().run(query="a\ud83db")["query"] == "a\ufffdb"
    assert SearchRequest().run(query="end\udc00")["query"] == "end\ufffd"
    assert SearchRequest().run(query="\ud83c\udfe0")["query"] == "\U0001f3e0"


@given(st.text(st.characters(codec=None), min_size=1).filter(str.strip))
def test_every_query_is_refused_in_one_line_or_can_be_encoded(query):
    try:
        clean = SearchRequest().run(query=query)["query"]
    except BadInputError as error:
        assert len(str(error).splitlines()) == 1
    else:
        clean.encode("utf-8")
        assert clean == query or any("\ud800" <= character <= "\udfff" for character in query)


@pytest.mark.parametrize("value", [0, 101, -1, True, 2.0, "5", None])
def test_top_k_is_1_to_100(value):
    assert refused({"query": "q", "top_k": value}) == f"top_k is {value!r}: expected a whole number from 1 to 100"


@pytest.mark.parametrize("value", [0, -3, False, 1.5, "2"])
def test_max_per_source_is_at_least_1(value):
    message = f"max_per_source is {value!r}: expected a whole number from 1"
    assert refused({"query": "q", "max_per_source": value}) == message


def test_groups_are_a_list_of_names():
    assert refused({"query": "q", "groups": "admin"}) == "groups is 'admin': expected a list of group names"
    assert "expected a list of group names" in refused({"query": "q", "groups": [1]})
    assert "NUL" in refused({"query": "q", "groups": ["a\0"]})
    assert SearchRequest().run(query="q", groups=[])["groups"] == []


def test_a_blank_matter_is_no_matter():
    assert SearchRequest().run(query="q", matter="")["matter"] is None


def test_scopes_are_added_to_the_filters():
    request = SearchRequest(scopes=["case_id"], required_scopes=["practice_area"])
    area = {"field": "meta.practice_area", "operator": "==", "value": "tax"}
    case = {"field": "meta.case_id", "operator": "==", "value": "7"}
    assert request.run(query="q", scope={"practice_area": "tax"})["filters"] == area
    both = request.run(query="q", scope={"case_id": "7", "practice_area": "tax"}, filters=MATTER)["filters"]
    assert both == {"operator": "AND", "conditions": [MATTER, area, case]}


def test_an_empty_filter_is_no_filter():
    assert SearchRequest().run(query="q", filters={})["filters"] is None


def test_scopes_that_are_unknown_missing_or_blank():
    settings = {"scopes": ["case_id"], "required_scopes": ["practice_area"]}
    unknown = "scope 'color' is unknown in this corpus: its scopes are practice_area, case_id"
    assert refused({"query": "q", "scope": {"practice_area": "tax", "color": "red"}}, **settings) == unknown
    missing = "scope 'practice_area' is missing: this corpus is only searched within one practice_area"
    assert refused({"query": "q", "scope": {"case_id": "7"}}, **settings) == missing
    assert refused({"query": "q"}, **settings) == missing
    assert "expected the practice_area" in refused({"query": "q", "scope": {"practice_area": " "}}, **settings)
    assert "its scopes are none" in refused({"query": "q", "scope": {"case_id": "7"}})


@given(
    st.recursive(
        st.builds(
            lambda key, operator, value: {"field": f"meta.{key}", "operator": operator, "value": value},
            st.sampled_from(["practice_area", "matter"]),
            st.sampled_from(["==", "!="]),
            st.sampled_from(["tax", "family", None]),
        ),
        lambda inner: st.builds(
            lambda operator, conditions: {"operator": operator, "conditions": conditions},
            st.sampled_from(["AND", "OR"]),
            st.lists(inner, min_size=1, max_size=3),
        ),
        max_leaves=8,
    ),
    st.sampled_from(["tax", "family"]),
    st.sampled_from(["tax", "family"]),
)
def test_no_filter_reaches_past_a_scope(filters, area, matter):
    document = Document(content="x", meta={"practice_area": area, "matter": matter})
    request = SearchRequest(required_scopes=["practice_area"])
    joined = request.run(query="q", scope={"practice_area": "tax"}, filters=filters)["filters"]
    assert document_matches_filter(joined, document) == (area == "tax" and document_matches_filter(filters, document))


def test_in_a_pipeline_the_reason_is_the_cause():
    pipeline = Pipeline()
    pipeline.add_component("request", SearchRequest())
    with pytest.raises(PipelineRuntimeError) as caught:
        pipeline.run({"request": {"query": ""}})
    assert isinstance(caught.value.__cause__, BadInputError)
