# SPDX-License-Identifier: Apache-2.0
"""Reserved places for the sources that the query names (N4, N12)."""

from haystack_integrations.components.pincite.intents import NamedSource
from haystack_integrations.components.pincite.reciprocal_rank_joiner import ReciprocalRankJoiner
from haystack_integrations.components.pincite.title_reservation import TitleReservation
from haystack_integrations.document_stores.pincite.spans import SpanDocument
from hypothesis import given
from hypothesis import strategies as st


def span(source, number=0, score=None):
    return SpanDocument(id=f"k:{source}#chunk-{number}", content=source, score=score, meta={"source_id": source})


def match(source, intent=0):
    return NamedSource(source_id=source, title=source.title(), intent=intent)


def sources(documents):
    return [document.meta["source_id"] for document in documents]


def reserve(passed, overflow, titles, matches, places=8):
    return TitleReservation(places).run(
        documents=[span(s) for s in passed],
        overflow=[span(s, score=0.01) for s in overflow],
        title_documents=[span(s) for s in titles],
        matches=matches,
    )["documents"]


def reserve_after(joined, titles, matches):
    lists = {name: joined[name] for name in ("documents", "overflow")}
    return TitleReservation().run(**lists, title_documents=titles, matches=matches)["documents"]


@given(st.lists(st.sampled_from("abcdef"), unique=True), st.lists(st.sampled_from("ghijk"), unique=True))
def test_without_matches_nothing_changes(passed, overflow):
    documents = [span(s) for s in passed]
    titles = [span(s) for s in overflow]
    result = TitleReservation().run(documents=documents, overflow=titles, title_documents=titles, matches=[])
    assert result["documents"] == documents


def test_a_matched_source_below_the_cutoff_is_admitted_at_the_end_with_its_fused_score():
    documents = reserve(["a", "b"], ["c", "d"], ["d", "c"], [match("d")])
    assert sources(documents) == ["a", "b", "d"]
    assert documents[2].score == 0.01
    assert documents[2].meta["_reserved"] is True
    assert "_reserved" not in documents[0].meta


def test_a_matched_source_that_passed_stays_where_it_is_and_uses_its_place():
    documents = reserve(["a", "b"], ["c"], ["a", "c"], [match("a"), match("c")], places=1)
    assert documents == [span("a"), span("b")]


def test_a_title_hit_without_a_match_gets_no_place():
    assert sources(reserve(["a"], ["b", "c"], ["b", "c"], [match("c")])) == ["a", "c"]


def test_a_match_that_the_title_leg_gave_no_span_for_takes_no_place():
    assert sources(reserve(["a"], ["b"], ["b"], [match("gone"), match("b")], places=1)) == ["a", "b"]


def test_two_instruments_take_turns():
    matches = [match("b"), match("c"), match("d"), match("x", 1), match("y", 1)]
    documents = reserve(["a"], ["b", "c", "d", "x", "y"], ["b", "c", "d", "x", "y"], matches, places=4)
    assert sources(documents) == ["a", "b", "x", "c", "y"]


def test_a_source_that_two_instruments_match_takes_one_place():
    documents = reserve([], ["b", "c"], ["b", "c"], [match("b"), match("b", 1), match("c", 1)], places=2)
    assert sources(documents) == ["b", "c"]


def test_the_fused_score_of_an_admitted_span_is_the_joiners():
    title = [span("t"), span("u")]
    dense = [span(name) for name in "abc"]
    joined = ReciprocalRankJoiner(top_k=2).run(dense=dense, title=title)
    whole = ReciprocalRankJoiner(top_k=9).run(dense=dense, title=title)["documents"]
    admitted = reserve_after(joined, title, [match("u")])[-1]
    assert sources([admitted]) == ["u"]
    assert admitted.score == next(d.score for d in whole if d.meta["source_id"] == "u") > 0


def test_a_title_leg_of_weight_0_admits_with_a_score_of_0():
    title = [span("t")]
    joined = ReciprocalRankJoiner(weights={"dense": 1.0, "title": 0.0}).run(dense=[span("a")], title=title)
    admitted = reserve_after(joined, title, [match("t")])[-1]
    assert (admitted.score, admitted.meta["_legs"]) == (0.0, {})


@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    st.integers(0, 8),
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 1)), max_size=10),
    st.integers(0, 4),
)
def test_it_only_adds_and_never_doubles(pool, cut, named, places):
    documents = reserve(pool[:cut], pool[cut:], pool, [match(s, i) for s, i in named], places)
    assert sources(documents)[: len(pool[:cut])] == pool[:cut]
    added = sources(documents)[len(pool[:cut]) :]
    assert len(added) == len(set(added)) <= places
    assert set(added) <= {s for s, _ in named} & set(pool[cut:])
