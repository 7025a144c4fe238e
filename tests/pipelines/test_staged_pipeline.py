# SPDX-License-Identifier: Apache-2.0
"""A staged pipeline gives what Haystack's own gives, over graphs with optional inputs, routers and loops."""

import asyncio
from typing import Any

import pytest
from haystack import Pipeline, component
from haystack.components.routers import ConditionalRouter
from hypothesis import given
from hypothesis import strategies as st
from pincite.pipelines.staged_pipeline import StagedPipeline


@component
class Note:
    """Joins what it hears and adds its own name, and keeps a record of who ran."""

    def __init__(self, name: str, record: list[str], inputs: int) -> None:
        self.name = name
        self.record = record
        for number in range(inputs):
            component.set_input_type(self, f"in{number}", str, "-")

    @component.output_types(out=str)
    def run(self, **heard: str) -> dict[str, str]:
        self.record.append(self.name)
        return {"out": f"{self.name}({','.join(heard[key] for key in sorted(heard))})"}


GRAPHS = st.integers(2, 7).flatmap(
    lambda size: st.tuples(
        st.permutations([chr(ord("a") + number) for number in range(size)]),
        st.sets(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).filter(lambda edge: edge[0] < edge[1])),
    )
)


def build(kind: type[Pipeline], graph: Any) -> tuple[Pipeline, list[str]]:
    names, edges = graph
    record: list[str] = []
    pipeline = kind()
    for place, name in enumerate(names):
        pipeline.add_component(name, Note(name, record, inputs=max(1, sum(edge[1] == place for edge in edges))))
    heard = dict.fromkeys(range(len(names)), 0)
    for sender, receiver in sorted(edges):
        pipeline.connect(f"{names[sender]}.out", f"{names[receiver]}.in{heard[receiver]}")
        heard[receiver] += 1
    return pipeline, record


@given(GRAPHS)
def test_same_outputs_in_the_same_order(graph: Any) -> None:
    (ours, our_record), (plain, plain_record) = build(StagedPipeline, graph), build(Pipeline, graph)
    everything = set(graph[0])
    assert ours.run({}, include_outputs_from=everything) == plain.run({}, include_outputs_from=everything)
    assert our_record == plain_record
    assert ours.run({}) == plain.run({})
    assert asyncio.run(ours.run_async({})) == asyncio.run(plain.run_async({}))


@pytest.mark.parametrize("value", [1, 5])
def test_a_branch_that_is_not_taken(value: int) -> None:
    def routed(kind: type[Pipeline]) -> tuple[Any, list[str]]:
        record: list[str] = []
        pipeline = kind()
        routes = [
            {"condition": "{{value < 3}}", "output": "{{value}}", "output_name": "small", "output_type": int},
            {"condition": "{{value >= 3}}", "output": "{{value}}", "output_name": "large", "output_type": int},
        ]
        pipeline.add_component("router", ConditionalRouter(routes))  # type: ignore[arg-type]
        for name in ("small", "large"):
            pipeline.add_component(name, Number(name, record))
            pipeline.connect(f"router.{name}", f"{name}.value")
        pipeline.add_component("both", Note("both", record, inputs=2))
        pipeline.connect("small.out", "both.in0")
        pipeline.connect("large.out", "both.in1")
        return pipeline.run({"router": {"value": value}}), record

    assert routed(StagedPipeline) == routed(Pipeline)


@component
class Number:
    def __init__(self, name: str, record: list[str]) -> None:
        self.name = name
        self.record = record

    @component.output_types(out=str)
    def run(self, value: int) -> dict[str, str]:
        self.record.append(self.name)
        return {"out": f"{self.name}={value}"}


def test_a_loop_is_run_as_haystack_runs_it() -> None:
    def looped(kind: type[Pipeline]) -> Any:
        pipeline = kind(max_runs_per_component=9)
        pipeline.add_component("count", Count())
        routes = [
            {"condition": "{{value < 3}}", "output": "{{value}}", "output_name": "again", "output_type": int},
            {"condition": "{{value >= 3}}", "output": "{{value}}", "output_name": "done", "output_type": int},
        ]
        pipeline.add_component("router", ConditionalRouter(routes))  # type: ignore[arg-type]
        pipeline.connect("count.value", "router.value")
        pipeline.connect("router.again", "count.more")
        return pipeline.run({"count": {"value": 0}})

    assert looped(StagedPipeline) == looped(Pipeline) == {"router": {"done": 3}}


@component
class Count:
    @component.output_types(value=int)
    def run(self, value: int = 0, more: int | None = None) -> dict[str, int]:
        return {"value": (value if more is None else more) + 1}


def test_a_connection_made_later_counts() -> None:
    pipeline, record = build(StagedPipeline, (["b", "a"], set()))
    pipeline.run({})
    assert record == ["a", "b"]
    pipeline.connect("b.out", "a.in0")
    record.clear()
    assert pipeline.run({}) == {"a": {"out": "a(b(-))"}}
    assert record == ["b", "a"]
