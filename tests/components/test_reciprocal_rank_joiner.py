# SPDX-License-Identifier: Apache-2.0
"""Fusion by reciprocal rank (F1, contract "Fusion")."""

import asyncio
import random

import pytest
from haystack import Pipeline, component
from haystack_integrations.components.pincite.reciprocal_rank_joiner import ReciprocalRankJoiner
from haystack_integrations.document_stores.pincite.errors import ConfigurationError
from haystack_integrations.document_stores.pincite.spans import SpanDocument
from hypothesis import given
from hypothesis import strategies as st

LEGS = ("dense", "lexical", "title")
span_ids = st.lists(st.sampled_from("abcdefghijklmnop"), max_size=12)
legs_of_ids = st.fixed_dictionaries(dict.fromkeys(LEGS, span_ids))
weight_sets = st.fixed_dictionaries(dict.fromkeys(LEGS, st.sampled_from([0.25, 0.5, 1.0, 1.5, 3.0])))


def leg(ids, **meta):
    return [SpanDocument(id=name, content=name, score=float(n), meta=meta) for n, name in enumerate(ids)]


def fused(legs, **settings):
    return ReciprocalRankJoiner(**settings).run(**{name: leg(ids) for name, ids in legs.items()})


def order(result):
    return [document.id for document in result["documents"] + result["overflow"]]


def brute_force(legs, weights, k, bonus):
    ranks = {n: {d: ids.index(d) + 1 for d in ids} for n, ids in legs.items()}
    best = {d: min(r[d] for r in ranks.values() if d in r) for d in set().union(*ranks.values())}
    extra = {d: bonus[0] if r == 1 else bonus[1] if r in (2, 3) else 0 for d, r in best.items()}
    largest = sum(w / (k + 1) for w in weights.values()) + bonus[0]
    return {
        d: (sum(w / (k + ranks[n][d]) for n, w in weights.items() if d in ranks[n]) + extra[d]) / largest for d in best
    }


@given(legs_of_ids, weight_sets, st.sampled_from([1, 10, 60]), st.sampled_from(["none", "default", "own"]))
def test_scores_are_those_of_the_formula(legs, weights, k, bonus):
    setting, values = {
        "none": (None, [0, 0]),
        "default": (True, [0.5 / (k + 1), 0.2 / (k + 1)]),
        "own": ([0.01, 0.004], [0.01, 0.004]),
    }[bonus]
    result = fused(legs, weights=weights, k=k, bonus=setting, top_k=100)
    expected = brute_force(legs, weights, k, values)
    assert {document.id: document.score for document in result["documents"]} == pytest.approx(expected)


@given(legs_of_ids, weight_sets, st.booleans())
def test_best_first_then_best_rank_then_id_and_within_0_and_1(legs, weights, bonus):
    documents = fused(legs, weights=weights, bonus=bonus)["documents"]
    keys = [(-document.score, min(document.meta["_legs"].values()), document.id) for document in documents]
    assert keys == sorted(keys)
    assert all(0 < document.score <= 1 for document in documents)


def test_a_document_that_leads_every_leg_scores_1():
    for bonus in (None, True):
        assert fused({name: ["a", "b"] for name in LEGS}, bonus=bonus)["documents"][0].score == 1.0


def test_the_contract_by_hand():
    result = fused({"dense": ["a", "b"], "lexical": ["b"], "title": []})
    assert [(d.id, d.score) for d in result["documents"]] == [
        ("b", pytest.approx((1 / 62 + 1 / 61) / (3 / 61))),
        ("a", pytest.approx((1 / 61) / (3 / 61))),
    ]
    assert [d.meta["_legs"] for d in result["documents"]] == [{"dense": 2, "lexical": 1}, {"dense": 1}]


def test_contributions_of_later_stages_have_room_in_the_scale():
    result = ReciprocalRankJoiner(later_weights={"recovery": 2.0}).run(**{name: leg(["a"]) for name in LEGS})
    assert result["documents"][0].score == pytest.approx(3 / 5)
    assert result["documents"][0].score + result["scale"] * 2.0 / 61 == pytest.approx(1.0)


def test_ties_go_to_the_better_best_rank_and_then_to_the_id():
    # 1/(2+1) + 1/(2+10) == 1/(2+2) + 1/(2+4): "y" has the better best rank, "x" the smaller id.
    dense = ["y", "x", *"12345678"]
    lexical = ["a", "b", "c", "x", "d", "e", "f", "g", "h", "y"]
    documents = fused({"dense": dense, "lexical": lexical}, weights={"dense": 1, "lexical": 1}, k=2)["documents"]
    assert [d.id for d in documents[:2]] == ["y", "x"]
    assert documents[0].score == documents[1].score
    assert [d.id for d in fused({"dense": ["q"], "lexical": ["p"]})["documents"]] == ["p", "q"]


@given(legs_of_ids, st.permutations(LEGS), st.permutations(LEGS))
def test_the_order_in_which_legs_arrive_or_are_configured_is_irrelevant(legs, arrival, configured):
    weights = {"dense": 0.7, "lexical": 1.3, "title": 0.1}
    shuffled = fused({name: legs[name] for name in arrival}, weights={name: weights[name] for name in configured})
    plain = fused(legs, weights=weights)
    assert [(d.id, d.score) for d in shuffled["documents"]] == [(d.id, d.score) for d in plain["documents"]]


@given(legs_of_ids, st.sampled_from(LEGS))
def test_an_absent_leg_takes_only_its_own_contribution(legs, absent):
    with_leg = {d.id: d for d in fused(legs, top_k=100)["documents"]}
    without = {d.id: d for d in fused({n: ids for n, ids in legs.items() if n != absent}, top_k=100)["documents"]}
    assert set(without) == {d for name, ids in legs.items() if name != absent for d in ids}
    for span, document in without.items():
        own = with_leg[span].meta["_legs"].get(absent)
        assert document.score == pytest.approx(with_leg[span].score - (1 / (60 + own) / (3 / 61) if own else 0))


def test_an_empty_leg_is_as_good_as_an_absent_one():
    assert fused({"dense": ["a"], "title": []}) == fused({"dense": ["a"]})


@given(legs_of_ids, st.sampled_from(LEGS), st.data())
def test_a_better_rank_never_lowers_the_score(legs, name, data):
    ids = list(dict.fromkeys(legs[name]))
    if len(ids) < 2:
        return
    place = data.draw(st.integers(1, len(ids) - 1))
    better = [*ids]
    better[place - 1 : place + 1] = [ids[place], ids[place - 1]]
    before = {d.id: d.score for d in fused({**legs, name: ids}, bonus=True, top_k=100)["documents"]}
    after = {d.id: d.score for d in fused({**legs, name: better}, bonus=True, top_k=100)["documents"]}
    assert after[ids[place]] >= before[ids[place]]


@given(legs_of_ids, st.integers(1, 10))
def test_the_cutoff_loses_nothing_and_doubles_nothing(legs, top_k):
    result = fused(legs, top_k=top_k)
    whole = order(fused(legs, top_k=100))
    assert sorted(whole) == sorted(set().union(*legs.values()))
    assert [d.id for d in result["documents"]] == whole[:top_k]
    assert [d.id for d in result["overflow"]] == whole[top_k:]


def test_a_repeated_id_counts_at_its_first_place():
    documents = fused({"dense": ["a", "b", "a"]})["documents"]
    assert [d.meta["_legs"] for d in documents] == [{"dense": 1}, {"dense": 2}]


def test_the_bonus_breaks_a_near_tie_and_cannot_outvote_two_legs():
    near_tie = {"dense": ["a", "x", "y", "b"], "lexical": ["v", "w", "z", "b", "a"]}
    assert order(fused(near_tie, bonus=True)).index("a") < order(fused(near_tie, bonus=True)).index("b")
    two_legs = {"dense": ["a", "x", "y", "b"], "lexical": ["v", "w", "z", "b"]}
    assert order(fused(two_legs, bonus=True))[0] == "b"


def test_the_first_configured_leg_gives_the_object_and_private_keys_of_all_are_kept():
    legs = {
        "title": [SpanDocument(id="a", content="from title", meta={"title": "T", "_name": 1, "_how": "title"})],
        "dense": [SpanDocument(id="a", content="from dense", meta={"title": "D", "_how": "dense"})],
    }
    (document,) = ReciprocalRankJoiner().run(**legs)["documents"]
    assert document.content == "from dense"
    assert document.meta == {
        "title": "D",
        "_how": "dense",
        "_name": 1,
        "_legs": {"dense": 1, "title": 1},
        "_score_kind": "fused",
    }
    assert isinstance(document, SpanDocument)


def test_a_weight_of_0_switches_a_leg_off():
    documents = fused({"dense": ["a"], "title": ["b"]}, weights={"dense": 1.0, "title": 0.0})["documents"]
    assert [(d.id, d.score) for d in documents] == [("a", 1.0)]


def test_a_second_fusion_keeps_the_ranks_of_the_first():
    text = fused({"dense": ["a", "b"]})["documents"]
    joined = ReciprocalRankJoiner(weights={"text": 1.0, "image": 0.5}).run(text=text, image=leg(["b"]))["documents"]
    assert [d.meta["_legs"] for d in joined] == [{"dense": 2, "text": 2, "image": 1}, {"dense": 1, "text": 1}]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weights": {"dense": -1.0}}, "weight of leg 'dense' is -1.0"),
        ({"weights": {"dense": float("nan")}}, "weight of leg 'dense' is nan"),
        ({"weights": {"dense": 0.0}}, "expected one leg above 0"),
        ({"weights": {}}, "expected one leg above 0"),
        ({"later_weights": {"recovery": -1.0}}, "weight of leg 'recovery' is -1.0"),
        ({"later_weights": {"title": 1.0}}, "'title' is in weights and in later_weights"),
        ({"k": 0}, "k is 0"),
        ({"top_k": 0}, "top_k is 0"),
        ({"bonus": [0.1]}, r"bonus is \[0.1\]"),
        ({"bonus": [0.1, 0.2]}, "first >= second"),
    ],
)
def test_settings_that_the_formula_cannot_use_are_refused(settings, message):
    with pytest.raises(ConfigurationError, match=message):
        ReciprocalRankJoiner(**settings)


@component
class Leg:
    """A leg that answers after a while, so that legs finish in any order."""

    def __init__(self, ids: list[str], pause: float):
        self.ids = ids
        self.pause = pause

    @component.output_types(documents=list[SpanDocument])
    def run(self, query: str):
        return {"documents": leg(self.ids)}

    @component.output_types(documents=list[SpanDocument])
    async def run_async(self, query: str):
        await asyncio.sleep(self.pause)
        return {"documents": leg(self.ids)}


@pytest.mark.parametrize("seed", range(6))
def test_run_and_run_async_give_the_same_order_whoever_finishes_first(seed):
    chance = random.Random(seed)
    pipeline = Pipeline()
    pipeline.add_component("joiner", ReciprocalRankJoiner())
    for name in chance.sample(LEGS, 3):
        pipeline.add_component(name, Leg(chance.sample("abcdefghij", 7), chance.choice([0, 0.01, 0.02])))
        pipeline.connect(f"{name}.documents", f"joiner.{name}")
    inputs = {name: {"query": "q"} for name in LEGS}
    in_turn = pipeline.run(inputs)["joiner"]
    at_once = asyncio.run(pipeline.run_async(inputs, concurrency_limit=4))["joiner"]
    assert in_turn == at_once
    assert set().union(*(d.meta["_legs"] for d in at_once["documents"])) == set(LEGS)


def test_a_leg_that_is_not_connected_is_empty():
    pipeline = Pipeline()
    pipeline.add_component("joiner", ReciprocalRankJoiner())
    pipeline.add_component("dense", Leg(["a"], 0))
    pipeline.connect("dense.documents", "joiner.dense")
    assert [d.id for d in pipeline.run({"dense": {"query": "q"}})["joiner"]["documents"]] == ["a"]
