# SPDX-License-Identifier: Apache-2.0
"""What the stages of a run gave, in the order of the passages: legs, joiner, and the stages after it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from haystack import Document, Pipeline

JOINER = "joiner"
Outputs = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Trace:
    """
    A run, read from the outputs of its stages (E1).

    ``legs``: per leg its documents, best first. ``senders``: the component of each leg. ``line``: the stages from the
    joiner to the last, each with the documents that it gave.
    """

    legs: dict[str, list[Document]]
    senders: dict[str, str]
    line: dict[str, list[Document]]

    def leg_rank(self, leg: str, span_id: str) -> int | None:
        """Rank of a span in a leg, from 1; ``None`` when it is not there."""
        return position(self.legs[leg], span_id)


def position(documents: Sequence[Document], span_id: str) -> int | None:
    """Place of a span in a list, from 1; ``None`` when it is not there."""
    return next((place for place, document in enumerate(documents, 1) if document.id == span_id), None)


def trace(pipeline: Pipeline, outputs: Outputs) -> Trace:
    """
    Read the run of a pipeline.

    :param outputs: those of all its components, as ``Service.observe`` gives them.
    """
    legs, senders = {}, {}
    for sender, _, data in pipeline.graph.in_edges(JOINER, data=True):
        leg = data["to_socket"].name
        legs[leg], senders[leg] = list(outputs[sender].get(data["from_socket"].name) or []), sender
    return Trace(legs, senders, {stage: list(outputs[stage]["documents"]) for stage in document_line(pipeline)})


def document_line(pipeline: Pipeline, first: str = JOINER) -> list[str]:
    """The stages that the fused list passes: each takes the ``documents`` of the one before."""
    line = [first]
    while True:
        after = [
            receiver
            for _, receiver, data in pipeline.graph.out_edges(line[-1], data=True)
            if data["from_socket"].name == data["to_socket"].name == "documents" and receiver not in line
        ]
        if not after:
            return line
        line.append(after[0])


def searched_text(pipeline: Pipeline, outputs: Outputs, stage: str) -> str | None:
    """The text that a stage searched for, its own input or that of the embedder before it; ``None`` for none."""
    before = list(pipeline.graph.in_edges(stage, data=True))
    for sender, _, data in before:
        text = outputs[sender].get(data["from_socket"].name)
        if isinstance(text, str) and data["to_socket"].name in ("query", "text", "topic_query"):
            return text
    for sender, _, data in before:
        if data["to_socket"].name.endswith("embedding"):
            return searched_text(pipeline, outputs, sender)
    return None
