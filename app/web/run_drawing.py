# SPDX-License-Identifier: Apache-2.0
"""The drawing of a pipeline with the counts and times of a search that was answered before."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from pincite.draw import drawing
from pincite.pipeline_graph import Flow, PipelineGraph
from pydantic import BaseModel, ConfigDict, Field

_Name = Annotated[str, Field(max_length=200)]
_DOCUMENTS = ("documents",)


class StageRun(BaseModel):
    """What a stage did in the search, as its explanation says."""

    model_config = ConfigDict(extra="forbid")

    stage: _Name
    received: Annotated[int | None, Field(ge=0)] = None
    gave: Annotated[int | None, Field(ge=0)] = None
    ms: Annotated[float | None, Field(ge=0, le=1e9, allow_inf_nan=False)] = None


class RunBody(BaseModel):
    """A search that was answered: the page sends back what it was told, so that the server need not remember it."""

    model_config = ConfigDict(extra="forbid")

    corpus: _Name
    query: Annotated[str, Field(max_length=100_000)]
    results: Annotated[int, Field(ge=0, le=1000)]
    total_ms: Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
    stages: Annotated[list[StageRun], Field(max_length=200)]


def run_drawing(graph: PipelineGraph, run: RunBody) -> bytes:
    """The drawing of ``graph`` as SVG, with the figures of ``run``."""
    times = {stage.stage: stage.ms for stage in run.stages}
    stages = tuple(replace(stage, milliseconds=times.get(stage.name)) for stage in graph.stages)
    flows = tuple(replace(flow, counts=_counts(flow, run.stages)) for flow in graph.flows)
    facts = f"{run.results} result{'' if run.results == 1 else 's'} in {run.total_ms:.0f} ms"
    return drawing(replace(graph, stages=stages, flows=flows, query=run.query, facts=facts), "svg")


def _counts(flow: Flow, stages: Sequence[StageRun]) -> tuple[int, ...]:
    """How many passages a line carries; nothing where it carries several lists, which an explanation adds up."""
    if flow.carries != "documents" or flow.sockets != _DOCUMENTS:
        return ()
    return next(((it.gave,) for it in stages if it.stage == flow.sender and it.gave is not None), ())
