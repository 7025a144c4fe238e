# SPDX-License-Identifier: Apache-2.0
"""A pipeline as Mermaid text, for pages that draw it themselves."""

import json
from collections.abc import Iterator

from pincite.draw_svg import COLOURS
from pincite.pipeline_graph import Flow, PipelineGraph, Stage

_ARROWS = {"documents": "==>", "text": "-->", "decisions": "-.->"}


def mermaid(graph: PipelineGraph) -> str:
    """The pipeline as a ``flowchart LR``: passages are thick lines, decisions dotted ones."""
    lines = ["---", f"title: {json.dumps(_title(graph), ensure_ascii=False)}", "---", "flowchart LR"]
    lines += [f'    {_id(graph, stage.name)}["{_words(stage)}"]' for stage in graph.stages]
    lines += [f"    {_arrow(graph, flow)}" for flow in graph.flows]
    lines += _styles(graph)
    return "\n".join(lines) + "\n"


def _title(graph: PipelineGraph) -> str:
    title = f"{graph.corpus}, {graph.kind} pipeline"
    return title if graph.query is None else f"{title}: {' '.join(graph.query.split())} ({graph.facts})"


def _id(graph: PipelineGraph, name: str) -> str:
    # Names of components may be words of Mermaid's own ("end"); a number never is.
    return f"s{[stage.name for stage in graph.stages].index(name)}"


def _words(stage: Stage) -> str:
    time = "" if stage.milliseconds is None else f" · {stage.milliseconds:.1f} ms"
    parts = [f"<b>{_safe(stage.name)}</b>{time}", f"<i>{_safe(stage.kind)}</i>"]
    parts += [_safe(f"{key} {value}") for key, value in stage.parameters]
    if stage.request:
        parts.append(_safe(f"from the request: {', '.join(stage.request)}"))
    return "<br/>".join(parts)


def _arrow(graph: PipelineGraph, flow: Flow) -> str:
    words = [name for name in flow.sockets if name != "documents"]
    if flow.counts:
        words = [" + ".join(map(str, flow.counts)), *words]
    label = f'|"{_safe(", ".join(words))}"|' if words else ""
    return f"{_id(graph, flow.sender)} {_ARROWS[flow.carries]}{label} {_id(graph, flow.receiver)}"


def _styles(graph: PipelineGraph) -> Iterator[str]:
    for what, colour in COLOURS.items():
        numbers = [str(number) for number, flow in enumerate(graph.flows) if flow.carries == what]
        if numbers:
            yield f"    linkStyle {','.join(numbers)} stroke:{colour},color:{colour}"


def _safe(text: str) -> str:
    """Text inside quotes: what Mermaid or HTML would read as theirs becomes an entity."""
    entities = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "`": "#96;"}
    return "".join(entities.get(letter, letter) for letter in text)
