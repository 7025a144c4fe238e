# SPDX-License-Identifier: Apache-2.0
"""``search --explain``: the parts of a score are its score, places are the places, and the answer stays the same."""

import asyncio
import json
import math
from dataclasses import replace
from typing import Any

import pytest
from haystack import Document, Pipeline
from hypothesis import given
from hypothesis import strategies as st
from pincite.cli import run
from pincite.explain import _settled, explain
from pincite.explain_view import explain_view
from pincite.render import console_for
from pincite.service import Service

NAMED = "What does the HFA bond mortgage say about limitation on liability?"
UNNAMED = "When may the lender inspect the books and records?"
OPTIONS: Any = {"principal": "local-owner"}


@pytest.fixture(scope="module", params=[NAMED, UNNAMED, "the Acme bond mortgage: insurance"])
def explained(request: pytest.FixtureRequest, demo_service: Service) -> dict[str, Any]:
    return dict(demo_service.search("knowledge", request.param, explain=True, top_k=20, **OPTIONS))


def test_the_answer_is_the_one_without_explanation(explained: dict[str, Any], demo_service: Service) -> None:
    plain = dict(demo_service.search("knowledge", explained["query"], top_k=20, **OPTIONS))
    for response in (plain, explained := dict(explained)):
        response.pop("timings_ms")
    explained.pop("explain")
    assert plain == explained


def test_contributions_add_up_to_the_score_to_the_bit(explained: dict[str, Any]) -> None:
    assert explained["results"]
    for result, why in zip(explained["results"], explained["explain"]["results"], strict=True):
        assert why["fused"]["score"] == result["score"]
        assert math.fsum(why["fused"]["contributions"].values()) == result["score"]


def test_contributions_follow_the_formula(explained: dict[str, Any], demo_service: Service) -> None:
    outputs = demo_service.observe("knowledge", explained["query"], top_k=20, **OPTIONS).outputs
    joiner: Any = demo_service._pipeline("knowledge").get_component("joiner")
    scale = outputs["joiner"]["scale"]
    weights = joiner.weights | joiner.later_weights
    for why in explained["explain"]["results"]:
        ranks = {leg: hit["rank"] for leg, hit in why["legs"].items()}
        if why["recovered"] is not None:
            ranks["recovery"] = why["recovered"]
        wanted = {leg: scale * weights[leg] / (joiner.k + rank) for leg, rank in ranks.items()}
        assert why["fused"]["contributions"] == pytest.approx(wanted, rel=1e-12)


def test_ranks_and_places_are_those_of_the_stages(explained: dict[str, Any], demo_service: Service) -> None:
    outputs = demo_service.observe("knowledge", explained["query"], top_k=20, **OPTIONS).outputs
    for why in explained["explain"]["results"]:
        for leg, hit in why["legs"].items():
            document = outputs[leg]["documents"][hit["rank"] - 1]
            assert (document.id, document.score) == (why["span_id"], hit["score"])
        for stage, place in why["positions"].items():
            ids = [document.id for document in outputs[stage]["documents"]]
            assert (ids.index(why["span_id"]) + 1 if why["span_id"] in ids else None) == place


def test_moves_lead_from_the_joiner_to_the_rank(explained: dict[str, Any]) -> None:
    for why in explained["explain"]["results"]:
        place = why["positions"]["joiner"]
        for move in why["moves"]:
            assert move["before"] == place
            place = move["after"]
        assert place == why["rank"]


def test_stages_count_what_went_in_and_out(explained: dict[str, Any]) -> None:
    stages = {stage["stage"]: stage for stage in explained["explain"]["stages"]}
    assert stages["attribution"]["gave"] == len(explained["results"]) == stages["diversifier"]["gave"]
    assert stages["joiner"]["received"] == sum(stages[leg]["gave"] for leg in ("dense", "lexical", "title"))
    assert all(stage["ms"] >= 0 for stage in stages.values())


def test_the_cap_and_what_it_dropped(demo_service: Service) -> None:
    response = demo_service.search("knowledge", UNNAMED, explain=True, max_per_source=1, top_k=30, **OPTIONS)
    capped = response["explain"]["capped"]
    kept = {result["source_id"] for result in response["results"]}
    assert capped and {span["source_id"] for span in capped} <= kept
    assert not {span["span_id"] for span in capped} & {result["span_id"] for result in response["results"]}
    moves = [move for why in response["explain"]["results"] for move in why["moves"] if move["stage"] == "diversifier"]
    assert moves and all(move["after"] < (move["before"] or 0) for move in moves)


def test_the_texts_are_what_the_stages_searched_for(demo_service: Service) -> None:
    texts = demo_service.search("knowledge", NAMED, explain=True, **OPTIONS)["explain"]["texts"]
    assert texts["title"] == "hfa bond mortgage"
    assert texts["dense"] == texts["lexical"] == texts["recovery"] != NAMED
    unnamed = demo_service.search("knowledge", UNNAMED, explain=True, **OPTIONS)["explain"]["texts"]
    assert unnamed == dict.fromkeys(("dense", "lexical", "title"), UNNAMED)


def test_matter_partition_is_told(demo_service: Service) -> None:
    first = demo_service.search("knowledge", UNNAMED, top_k=20, **OPTIONS)["results"]
    matter = next(
        r["meta"]["matter"] for r in first[3:] if r["meta"].get("matter") not in (None, first[0]["meta"].get("matter"))
    )
    explained = demo_service.search("knowledge", UNNAMED, matter=matter, explain=True, **OPTIONS)["explain"]
    moves = [move for move in explained["results"][0]["moves"] if move["stage"] == "matter"]
    assert moves and moves[0]["after"] == 1


def test_the_event_loop_explains_the_same(demo_service: Service) -> None:
    explained = demo_service.search("knowledge", NAMED, explain=True, **OPTIONS)["explain"]
    again = asyncio.run(demo_service.search_async("knowledge", NAMED, explain=True, **OPTIONS))["explain"]
    assert again["results"] == explained["results"]


@given(st.dictionaries(st.sampled_from("abcde"), st.floats(1e-4, 1.0), min_size=1), st.floats(0.9, 1.1))
def test_rounding_is_settled(parts: dict[str, float], scale: float) -> None:
    total = sum(part * scale for part in parts.values()) / scale  # rounds at each step, as the stages do
    settled = _settled(dict(parts), total)
    assert math.fsum(settled.values()) == total
    assert settled == pytest.approx(parts, abs=1e-12)


def test_a_wrong_score_is_not_hidden() -> None:
    assert _settled({"dense": 0.5}, 0.6) == {"dense": 0.5}


def test_a_bonus_and_a_reranker_are_told() -> None:
    fused = Document(id="a", content="a", score=0.5, meta={"source_id": "s", "title": "t"})
    pipeline, outputs = _small_run(fused)
    why = explain(pipeline, outputs, {})["results"][0]
    assert math.fsum(why["fused"]["contributions"].values()) == why["fused"]["score"] == pytest.approx(1.0)
    assert set(why["fused"]["contributions"]) == {"dense", "bonus"}
    assert why["rerank_score"] == 7.0


def _small_run(document: Document) -> tuple[Pipeline, dict[str, dict[str, Any]]]:
    from haystack_integrations.components.pincite.reciprocal_rank_joiner import ReciprocalRankJoiner
    from haystack_integrations.components.pincite.source_diversifier import SourceDiversifier

    pipeline = Pipeline()
    pipeline.add_component("dense", SourceDiversifier())  # any component that gives documents
    pipeline.add_component("joiner", ReciprocalRankJoiner({"dense": 1.0}, bonus=True))
    pipeline.add_component("diversifier", SourceDiversifier())
    pipeline.connect("dense.documents", "joiner.dense")
    pipeline.connect("joiner.documents", "diversifier.documents")
    outputs: dict[str, dict[str, Any]] = pipeline.run(
        {"dense": {"documents": [document]}}, include_outputs_from={"dense", "joiner", "diversifier"}
    )
    last = outputs["diversifier"]["documents"][0]
    meta = {**last.meta, "_score_kind": "rerank", "_fused_score": last.score}
    outputs["diversifier"]["documents"] = [replace(last, score=7.0, meta=meta)]
    nothing: dict[str, Any] = {"intents": [], "matches": [], "reranked": False}
    return pipeline, outputs | dict.fromkeys(("recognizer", "title", "reranker"), nothing)


def test_the_command_prints_a_tree_and_json(demo_service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["search", "knowledge", NAMED, "--explain"]) == 0
    text = capsys.readouterr().out
    assert "How this came about" in text and "recovery: 1 inside its document" in text
    assert run(["search", "knowledge", NAMED, "--explain", "--json"]) == 0
    explanation = json.loads(capsys.readouterr().out)["explain"]
    assert [why["rank"] for why in explanation["results"]] == list(range(1, 11))


def test_the_tree_fits_a_narrow_terminal(explained: dict[str, Any]) -> None:
    import io

    stream = io.StringIO()
    console_for(stream, width=60).print(explain_view(explained))
    assert max(map(len, stream.getvalue().splitlines())) <= 60
