# SPDX-License-Identifier: Apache-2.0
"""The diversity cap (F5)."""

from collections import Counter

from haystack import Document
from haystack_integrations.components.pincite.source_diversifier import SourceDiversifier
from haystack_integrations.document_stores.pincite.spans import SpanDocument
from hypothesis import given
from hypothesis import strategies as st

source_lists = st.lists(st.sampled_from("abcd"), max_size=40)


def pool(sources):
    return [SpanDocument(id=f"{s}{n}", content="x", meta={"source_id": s}) for n, s in enumerate(sources)]


def named(*sources):
    return [{"source_id": source, "title": source, "intent": 0} for source in sources]


def ids(documents):
    return [document.id for document in documents]


@given(source_lists, st.integers(1, 20), st.integers(1, 5))
def test_the_first_within_the_cap_in_their_order(sources, top_k, cap):
    result = SourceDiversifier(max_per_source=cap).run(pool(sources), top_k=top_k)
    within = [f"{s}{n}" for n, s in enumerate(sources) if sources[:n].count(s) < cap]
    assert ids(result["documents"]) == within[:top_k]
    assert [dropped["id"] for dropped in result["dropped"]] == [i for i in ids(pool(sources)) if i not in within]


def test_places_are_filled_from_below():
    result = SourceDiversifier(max_per_source=1).run(pool("aaab"), top_k=2)
    assert ids(result["documents"]) == ["a0", "b3"]
    assert result["dropped"] == [{"id": "a1", "source_id": "a"}, {"id": "a2", "source_id": "a"}]


@given(source_lists, st.integers(1, 4))
def test_a_named_source_that_matched_may_give_more_and_the_others_not(sources, cap):
    diversifier = SourceDiversifier(max_per_source=3, max_per_named_source=6)
    documents = diversifier.run(pool(sources), matches=named("a"), top_k=100, max_per_source=cap)["documents"]
    counts = Counter(document.meta["source_id"] for document in documents)
    assert all(counts[s] == min(sources.count(s), 6 if s == "a" else cap) for s in "abcd")


@given(source_lists)
def test_a_name_that_did_not_match_loosens_nothing(sources):
    diversifier = SourceDiversifier()
    plain = diversifier.run(pool(sources))
    assert diversifier.run(pool(sources), matches=[]) == plain
    assert diversifier.run(pool(sources), matches=None) == plain


def test_the_named_cap_is_never_below_the_ordinary_one():
    result = SourceDiversifier(max_per_source=3, max_per_named_source=1).run(pool("aaaa"), matches=named("a"))
    assert ids(result["documents"]) == ["a0", "a1", "a2"]


def test_documents_of_another_store_are_each_their_own_source():
    documents = [Document(id=str(n), content="x") for n in range(5)]
    assert SourceDiversifier(max_per_source=1).run(documents)["documents"] == documents
