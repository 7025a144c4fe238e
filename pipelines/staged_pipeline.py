# SPDX-License-Identifier: Apache-2.0
"""A Haystack pipeline that looks for its next stage only among those whose turn it is."""

from graphlib import CycleError, TopologicalSorter
from typing import Any, Self

from haystack import Pipeline
from haystack.core.pipeline.base import ComponentPriority
from haystack.core.pipeline.utils import FIFOPriorityQueue


class StagedPipeline(Pipeline):
    """
    ``haystack.Pipeline`` for graphs without loops, with the same results in the same order.

    Haystack asks after each component of every other whether it could run, socket by socket: with fifteen stages a
    tenth of a search. Without loops only those can that have not run yet and whose predecessors all have; where none of
    them can (a sender gave nothing), Haystack's own way decides.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._senders: dict[str, tuple[str, ...]] | None = None

    def connect(self, sender: str, receiver: str) -> Self:
        """As in Haystack."""
        self._senders = None
        return super().connect(sender, receiver)

    def add_component(self, name: str, instance: Any) -> Self:
        """As in Haystack."""
        self._senders = None
        return super().add_component(name, instance)

    def remove_component(self, name: str) -> Any:
        """As in Haystack."""
        self._senders = None
        return super().remove_component(name)

    def _fill_queue(
        self, component_names: list[str], inputs: Any, component_visits: dict[str, int]
    ) -> FIFOPriorityQueue:
        senders = self._senders_of()
        due = [
            name
            for name in component_names
            if senders and not component_visits[name] and all(component_visits[sender] for sender in senders[name])
        ]
        if due:
            queue = super()._fill_queue(due, inputs, component_visits)
            if queue.peek()[0] < ComponentPriority.BLOCKED:
                return queue
        return super()._fill_queue(component_names, inputs, component_visits)

    def _senders_of(self) -> dict[str, tuple[str, ...]]:
        """The stages that each stage hears from; empty where the graph has a loop."""
        if self._senders is None:
            senders = {name: tuple(self.graph.predecessors(name)) for name in self.graph}
            try:
                TopologicalSorter(senders).prepare()
            except CycleError:
                senders = {}
            self._senders = senders
        return self._senders
