# SPDX-License-Identifier: Apache-2.0
"""A pipeline as something to draw: its stages, what flows between them, and, of a run, counts and times."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from haystack import Document, Pipeline
from haystack_integrations.document_stores.pincite.resources import read_config
from pincite.pipelines.corpora import corpus as corpus_settings
from pincite.pipelines.loader import ENTRY, load_pipeline
from pincite.pipelines.strict_yaml import parse_yaml

if TYPE_CHECKING:
    from pincite.service import Observation

Kind = Literal["query", "indexing"]
Carries = Literal["documents", "text", "decisions"]
_STRONGEST: tuple[Carries, ...] = ("documents", "decisions", "text")


@dataclass(frozen=True, slots=True)
class Stage:
    """
    One component. ``parameters`` are those that its YAML sets, as ``(name, value)``; ``corpus`` the database it reads,
    if any; ``request`` the inputs that come straight from the request; ``milliseconds`` those of the run.
    """

    name: str
    kind: str
    summary: str
    parameters: tuple[tuple[str, str], ...]
    corpus: str | None
    request: tuple[str, ...]
    milliseconds: float | None = None


@dataclass(frozen=True, slots=True)
class Flow:
    """
    What one stage gives another: names of the sender's outputs, the sort of it, and, of a run, how many documents.
    """

    sender: str
    receiver: str
    sockets: tuple[str, ...]
    carries: Carries
    counts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PipelineGraph:
    """
    A pipeline to draw. ``stages`` in the order of the file, ``flows`` without those from the request, which stand in
    the stages; ``query`` and ``facts`` describe the run, if there was one.
    """

    corpus: str
    kind: Kind
    entry: str
    stages: tuple[Stage, ...]
    flows: tuple[Flow, ...]
    query: str | None = None
    facts: str = ""


def pipeline_graph(corpus: str, kind: Kind = "query") -> PipelineGraph:
    """
    The graph of a corpus's pipeline, from its YAML; no database is needed.

    :raises BadInputError: no such corpus.
    :raises ConfigurationError: the YAML is wrong.
    """
    settings = corpus_settings(corpus)
    pipeline = load_pipeline(corpus, kind)
    source = parse_yaml(*read_config(settings.query_pipeline if kind == "query" else settings.indexing_pipeline))
    entry = ENTRY[kind]
    edges = _flows(pipeline)
    # A stage that only the request feeds keeps its line; for the others a line from the request would only hide
    # the lines that say something.
    fed = {flow.receiver for flow in edges if flow.sender != entry}
    asked = {flow.receiver: flow.sockets for flow in edges if flow.sender == entry and flow.receiver in fed}
    stages = tuple(
        _stage(name, pipeline.get_component(name), source.data["components"][name], asked.get(name, ()))
        for name in source.data["components"]
    )
    flows = tuple(flow for flow in edges if flow.sender != entry or flow.receiver not in fed)
    return PipelineGraph(corpus, kind, entry, stages, flows)


def with_run(graph: PipelineGraph, observation: "Observation") -> PipelineGraph:
    """The graph with the counts and milliseconds of a run."""
    timings, outputs = observation.response["timings_ms"], observation.outputs
    stages = tuple(replace(stage, milliseconds=timings.get(stage.name)) for stage in graph.stages)
    flows = tuple(replace(flow, counts=_counts(flow, outputs.get(flow.sender, {}))) for flow in graph.flows)
    results = len(observation.response["results"])
    facts = f"{results} result{'' if results == 1 else 's'} in {timings['total']:.0f} ms"
    return replace(graph, stages=stages, flows=flows, query=observation.response["query"], facts=facts)


def layers(graph: PipelineGraph) -> list[list[str]]:
    """
    Names of the stages in columns: each as far to the right as what it feeds allows, so that legs stand side by side.

    A line that closes a circle counts for nothing.
    """
    names = [stage.name for stage in graph.stages]
    ways = _without_circles(names, [(flow.sender, flow.receiver) for flow in graph.flows])
    column = dict.fromkeys(names, 0)
    for _ in names:  # the longest way has fewer steps than there are stages
        for sender, receiver in ways:
            column[receiver] = max(column[receiver], column[sender] + 1)
    begun = {receiver for _, receiver in ways}
    for name in sorted(begun, key=column.__getitem__, reverse=True):
        column[name] = min((column[receiver] - 1 for sender, receiver in ways if sender == name), default=column[name])
    found: dict[int, list[str]] = {}
    for name in names:
        found.setdefault(column[name], []).append(name)
    return [found[number] for number in sorted(found)]


def _without_circles(names: Sequence[str], ways: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The ways without those that lead back to a stage that one came through."""
    kept: list[tuple[str, str]] = []
    seen: set[str] = set()

    def visit(name: str, through: frozenset[str]) -> None:
        seen.add(name)
        for sender, receiver in ways:
            if sender == name and receiver not in through:
                kept.append((sender, receiver))
                if receiver not in seen:
                    visit(receiver, through | {receiver})

    for name in names:
        if name not in seen:
            visit(name, frozenset({name}))
    return kept


def _stage(name: str, instance: Any, entry: Mapping[str, Any], request: tuple[str, ...]) -> Stage:
    given = entry.get("init_parameters") or {}
    store = given.get("document_store") or {}
    corpus = (store.get("init_parameters") or {}).get("corpus") if isinstance(store, dict) else None
    kind = type(instance)
    summary = " ".join((kind.__doc__ or "").strip().split("\n\n")[0].split())
    parameters = tuple((key, _value(value)) for key, value in given.items() if key != "document_store")
    return Stage(name, kind.__name__, summary, tuple(p for p in parameters if p[1]), corpus, request)


def _value(value: object) -> str:
    """A parameter as a person would write it; empty for one that says nothing."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, dict):
        if "type" in value:
            return str(value["type"]).rpartition(".")[2]
        return ", ".join(f"{key} {_value(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    return "none" if value is None else str(value)


def _flows(pipeline: Pipeline) -> list[Flow]:
    between: dict[tuple[str, str], list[tuple[str, Carries]]] = {}
    for sender, receiver, data in pipeline.graph.edges(data=True):
        socket = data["from_socket"]
        between.setdefault((sender, receiver), []).append((socket.name, _carries(str(socket.type))))
    flows = []
    for (sender, receiver), sockets in between.items():
        carried = {what for _, what in sockets}
        strongest = next(what for what in _STRONGEST if what in carried)
        flows.append(Flow(sender, receiver, tuple(sorted({name for name, _ in sockets})), strongest))
    return flows


def _carries(kind: str) -> Carries:
    if Document.__name__ in kind:
        return "documents"
    return "text" if kind in ("<class 'str'>", "list[float]", "typing.List[float]") else "decisions"


def _counts(flow: Flow, outputs: Mapping[str, Any]) -> tuple[int, ...]:
    lists = (outputs.get(socket) for socket in flow.sockets)
    return tuple(
        len(found)
        for found in lists
        if isinstance(found, list) and all(isinstance(item, Document) for item in found) and flow.carries == "documents"
    )
