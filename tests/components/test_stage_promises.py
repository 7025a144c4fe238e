# SPDX-License-Identifier: Apache-2.0
"""What every stage after the legs promises: rows, order, scores, immutability, serialisation, sync and async."""

import asyncio
import copy
import inspect
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
from haystack import Pipeline
from haystack_integrations.components.pincite.intents import Intent, NamedSource
from haystack_integrations.components.pincite.matter_partition import MatterPartition
from haystack_integrations.components.pincite.named_instrument_partition import NamedInstrumentPartition
from haystack_integrations.components.pincite.optional_reranker import OptionalReranker
from haystack_integrations.components.pincite.parent_expansion import ParentExpansion
from haystack_integrations.components.pincite.reciprocal_rank_joiner import ReciprocalRankJoiner
from haystack_integrations.components.pincite.search_request import SearchRequest
from haystack_integrations.components.pincite.source_diversifier import SourceDiversifier
from haystack_integrations.components.pincite.title_reservation import TitleReservation
from haystack_integrations.document_stores.pincite.spans import SpanDocument
from hypothesis import given
from hypothesis import strategies as st

TITLES = {
    "hfa": "Grandview Apartments HFA Bond Mortgage",
    "other": "Riverside Bond Mortgage",
    "indemnity": "Grandview Environmental Indemnity Agreement",
    "note": "Brooklyn Community Housing Services Promissory Note",
}
INTENTS = [
    Intent(phrase="bond mortgage", type="bond mortgage", qualifiers=["hfa"], title_query="hfa bond mortgage"),
    Intent(phrase="promissory note", type="promissory note", qualifiers=["brooklyn"], title_query="brooklyn note"),
]
MATCHES = [
    NamedSource(source_id="hfa", title=TITLES["hfa"], intent=0),
    NamedSource(source_id="note", title="", intent=1),
]


def span(source: str, number: int, score: float) -> SpanDocument:
    meta: dict[str, Any] = {
        "source_id": source,
        "title": TITLES[source],
        "section": "1.",
        "_legs": {"dense": number + 1},
    }
    meta |= {"parent_start": 0, "parent_end": 900 + number, "tags": ["a"]}
    if number % 3 == 0:
        meta["matter"] = "M-1"
    return SpanDocument(id=f"k:{source}#chunk-{number}", content=f"{source} {number}", score=score, meta=meta)


pools = st.lists(st.sampled_from(sorted(TITLES)), max_size=25).map(
    lambda sources: [span(source, number, 1 / (number + 1)) for number, source in enumerate(sources)]
)


@dataclass
class Stage:
    component: Any
    inputs: dict[str, Any]
    keeps_rows: bool = True
    keeps_order: bool = False
    keeps_objects: bool = False


def stages() -> dict[str, Stage]:
    return {
        "reservation": Stage(
            TitleReservation(), {"overflow": [], "title_documents": [], "matches": MATCHES}, keeps_order=True
        ),
        "reservation, no match": Stage(
            TitleReservation(),
            {"overflow": [span("hfa", 99, 0.0)], "title_documents": [span("hfa", 99, 0.0)], "matches": []},
            keeps_order=True,
            keeps_objects=True,
        ),
        "parents": Stage(ParentExpansion(), {}, keeps_order=True),
        "reranker, off": Stage(OptionalReranker(enabled=False), {"query": "q"}, keeps_order=True, keeps_objects=True),
        "matter": Stage(MatterPartition(), {"matter": "M-1"}, keeps_objects=True),
        "matter, none": Stage(MatterPartition(), {}, keeps_order=True, keeps_objects=True),
        "named": Stage(NamedInstrumentPartition(), {"intents": INTENTS, "matches": MATCHES}),
        "named, no match": Stage(
            NamedInstrumentPartition(), {"intents": INTENTS, "matches": []}, keeps_order=True, keeps_objects=True
        ),
        "named, no intent": Stage(
            NamedInstrumentPartition(), {"intents": [], "matches": []}, keeps_order=True, keeps_objects=True
        ),
        "diversifier": Stage(SourceDiversifier(2, 4), {"matches": MATCHES}, keeps_rows=False, keeps_objects=True),
    }


NAMES = list(stages())
STAGES = stages()


@pytest.mark.parametrize("name", NAMES)
@given(pool=pools)
def test_rows_order_scores_and_inputs(name, pool):
    stage = STAGES[name]
    before = [document.to_dict(flatten=False) for document in pool]
    inputs_before = copy.deepcopy(stage.inputs)
    result = stage.component.run(documents=pool, **stage.inputs)["documents"]
    given_ids, got_ids = [d.id for d in pool], [d.id for d in result]
    if stage.keeps_rows:
        assert Counter(got_ids) == Counter(given_ids)
    if stage.keeps_order:
        assert got_ids == given_ids
    if stage.keeps_objects:
        assert {id(d) for d in result} <= {id(d) for d in pool}
    scores = {d.id: (d.score, d.content) for d in pool}
    assert all(scores[d.id] == (d.score, d.content) for d in result)
    assert [document.to_dict(flatten=False) for document in pool] == before, "an input was changed"
    assert stage.inputs == inputs_before


@pytest.mark.parametrize("name", NAMES)
def test_sync_and_async_give_the_same(name):
    stage = STAGES[name]
    pool = [span(source, number, 1 / (number + 1)) for number, source in enumerate(["note", "other", "hfa"] * 4)]
    in_turn = stage.component.run(documents=pool, **stage.inputs)
    at_once = asyncio.run(stage.component.run_async(documents=pool, **stage.inputs))
    assert in_turn == at_once


COMPONENTS = [
    SearchRequest(scopes=["case_id"], required_scopes=["practice_area"]),
    ReciprocalRankJoiner(
        weights={"dense": 0.5, "title": 2.0}, k=10, top_k=30, bonus=[0.2, 0.1], later_weights={"r": 1.0}
    ),
    TitleReservation(places=3),
    ParentExpansion(),
    OptionalReranker(enabled=True, candidates=7, timeout=1.5),
    MatterPartition(),
    NamedInstrumentPartition(),
    SourceDiversifier(max_per_source=1, max_per_named_source=2),
]


@pytest.mark.parametrize("stage", COMPONENTS, ids=lambda stage: type(stage).__name__)
def test_a_stage_survives_yaml_with_all_its_settings(stage):
    pipeline = Pipeline()
    pipeline.add_component("stage", copy.copy(stage))
    loaded = Pipeline.loads(pipeline.dumps()).get_component("stage")
    assert type(loaded) is type(stage)
    for name in inspect.signature(type(stage).__init__).parameters:
        if name not in ("self", "args", "kwargs"):
            assert getattr(loaded, name) == getattr(stage, name)


def whole_pipeline() -> Pipeline:
    pipeline = Pipeline()
    for name, stage in {
        "joiner": ReciprocalRankJoiner(top_k=12),
        "reservation": TitleReservation(),
        "parents": ParentExpansion(),
        "reranker": OptionalReranker(enabled=False),
        "matter": MatterPartition(),
        "named": NamedInstrumentPartition(),
        "diversifier": SourceDiversifier(),
    }.items():
        pipeline.add_component(name, stage)
    for sender, receiver in [
        ("joiner.documents", "reservation.documents"),
        ("joiner.overflow", "reservation.overflow"),
        ("reservation.documents", "parents.documents"),
        ("parents.documents", "reranker.documents"),
        ("reranker.documents", "matter.documents"),
        ("matter.documents", "named.documents"),
        ("named.documents", "diversifier.documents"),
    ]:
        pipeline.connect(sender, receiver)
    return pipeline


@pytest.mark.parametrize("matches", [[], MATCHES])
def test_the_stages_fit_together_and_both_ways_of_running_agree(matches):
    dense = [span("other", n, 0.9) for n in range(20)] + [span("indemnity", n, 0.8) for n in range(4)]
    title = [span("hfa", 40, 0.7), span("note", 41, 0.6), span("indemnity", 42, 0.5)]
    inputs = {
        "joiner": {"dense": dense, "lexical": dense[::-1], "title": title},
        "reservation": {"title_documents": title, "matches": matches},
        "reranker": {"query": "q"},
        "named": {"intents": INTENTS, "matches": matches},
    }
    in_turn = whole_pipeline().run(inputs, include_outputs_from={"named"})
    at_once = asyncio.run(whole_pipeline().run_async(inputs, include_outputs_from={"named"}))
    assert in_turn == at_once
    sources = [document.meta["source_id"] for document in in_turn["diversifier"]["documents"]]
    assert in_turn["named"]["named"]["matched"] is bool(matches)
    assert (sources[:2] == ["hfa", "note"]) is bool(matches)
