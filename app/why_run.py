# SPDX-License-Identifier: Apache-2.0
"""Runs of a query pipeline, as it is and with something changed: what ``why`` reads, and how it checks what it says."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from haystack import Document, Pipeline
from haystack_integrations.components.pincite.stages.environment import environment_flag
from haystack_integrations.components.pincite.stages.ordering import source_of
from haystack_integrations.document_stores.pincite import why_statements
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.spans import plain_outputs
from haystack_integrations.document_stores.pincite.vector_columns import KnownColumns
from pincite.pipeline_trace import JOINER, Trace, searched_text, trace

CAP = "diversifier"
_EVERYTHING = 1_000_000

Changes = Mapping[tuple[str, str], Any]


@dataclass(frozen=True, slots=True)
class Target:
    """The document that is asked about: the ids of its spans that count, and its source."""

    source_id: str
    title: str
    ids: tuple[str, ...]
    one_span: bool


@dataclass(frozen=True)
class Run:
    """One run and what can be asked about it. ``changes``: parameters by ``(component, name)``."""

    pipeline: Pipeline
    request: Mapping[str, Any]
    changes: Changes = field(default_factory=dict)

    def changed(self, *, request: Mapping[str, Any] | None = None, changes: Changes | None = None) -> "Run":
        """The same question with further changes to the request and to parameters."""
        pipeline = self.pipeline if not changes else changed_pipeline(self.pipeline, changes)
        return replace(
            self,
            pipeline=pipeline,
            request={**self.request, **(request or {})},
            changes={**self.changes, **(changes or {})},
        )

    @cached_property
    def outputs(self) -> dict[str, dict[str, Any]]:
        """Outputs of all stages."""
        wanted = set(self.pipeline.graph.nodes)
        return plain_outputs(self.pipeline.run({"request": dict(self.request)}, include_outputs_from=wanted))

    @cached_property
    def trace(self) -> Trace:
        """Legs, joiner and the stages after it."""
        return trace(self.pipeline, self.outputs)

    @property
    def groups(self) -> list[str] | None:
        """Groups of the principal."""
        groups: list[str] | None = self.outputs["request"]["groups"]
        return groups

    @property
    def filters(self) -> dict[str, Any] | None:
        """Filters of the request, scopes included."""
        filters: dict[str, Any] | None = self.outputs["request"]["filters"]
        return filters

    @property
    def store(self) -> CorpusDocumentStore:
        """The corpus."""
        store: CorpusDocumentStore = self.component("title").document_store
        return store

    def component(self, name: str) -> Any:
        """A component of the pipeline."""
        return self.pipeline.get_component(name)

    def inputs(self, stage: str) -> dict[str, Any]:
        """What a stage received."""
        return {
            data["to_socket"].name: self.outputs[sender][data["from_socket"].name]
            for sender, _, data in self.pipeline.graph.in_edges(stage, data=True)
        }

    def matched(self, target: Target) -> bool:
        """Whether the title leg takes the target's source for what the query names."""
        return any(match["source_id"] == target.source_id for match in self.outputs["title"]["matches"])

    def results(self) -> list[Document]:
        """The answer."""
        *_, last = self.trace.line.values()
        return last

    def rank(self, target: Target) -> int | None:
        """Best place of the target among the results."""
        return best(self.results(), target)

    def fused(self) -> list[Document]:
        """Everything that was fused, also what the cutoff left out."""
        return [*self.outputs[JOINER]["documents"], *self.outputs[JOINER].get("overflow", [])]

    def candidates(self) -> list[Document]:
        """What the cap is applied to."""
        stages = list(self.trace.line)
        return self.trace.line[stages[stages.index(CAP) - 1]]

    @property
    def fingerprint(self) -> str | None:
        """Which stored vectors that of the query is compared with (S3)."""
        said: str | None = self.outputs["text_embedder"].get("fingerprint")
        return said or self.component("dense").fingerprint

    # -- true ranks ----------------------------------------------------------------------------------------------

    def dense_rank(self, target: Target) -> dict[str, Any] | None:
        """``id``, ``score`` and ``rank`` of the nearest span, by an exact search; ``None`` if no vector compares."""
        given = self.inputs("dense")
        if not given["query_embedding"]:
            return None
        fingerprint = given.get("fingerprint") or self.component("dense").fingerprint
        statement = why_statements.dense_rank(
            target.ids,
            given["query_embedding"],
            fingerprint=fingerprint,
            column=KnownColumns.of(self.store.database, self.store.corpus).column(fingerprint),
            filters=self.filters,
        )
        rows = self.store.fetch(statement, groups=self.groups)
        return rows[0] if rows else None

    def lexical_rank(self, target: Target) -> tuple[int | None, int]:
        """Rank in a lexical leg without an end, and how many it looks at."""
        wide = copy(self.component("lexical"))
        wide.top_k, wide.timeout = _EVERYTHING, 60.0
        documents = wide.run(**self.inputs("lexical"))["documents"]
        return best(documents, target), len(documents)

    def lexical_active(self) -> bool:
        """Whether the lexical leg is switched on."""
        enabled: bool = self.component("lexical").enabled
        return enabled and environment_flag("PINCITE_LEXICAL_ENABLED", default=True)

    def words(self, target: Target) -> list[dict[str, Any]]:
        """The words of the lexical query, rarest first, and which of them the target holds."""
        statement = why_statements.words(self.text("lexical"), target.ids)
        return self.store.fetch(statement, groups=self.groups)

    def inner_rank(self, target: Target) -> int | None:
        """Rank inside its own source, as best-extent recovery counts; ``None`` if nothing speaks for the topic."""
        wide = copy(self.component("recovery"))
        wide.spans_per_source, wide.timeout = _EVERYTHING, 60.0
        alone = [{"source_id": target.source_id, "title": target.title, "intent": 0}]
        found = wide.run(**{**self.inputs("recovery"), "documents": [], "matches": alone})["documents"]
        return best(found, target)

    def text(self, stage: str) -> str:
        """What a stage searched for."""
        return searched_text(self.pipeline, self.outputs, stage) or str(self.outputs["request"]["query"])

    def degraded(self, stage: str) -> str | None:
        """Why a leg gave nothing, if it failed."""
        notes = self.outputs[stage].get("degraded") or []
        return notes[0]["reason"] if notes else None


def best(documents: Sequence[Document], target: Target) -> int | None:
    """Best place of the target's spans in a list, from 1."""
    wanted = set(target.ids)
    return next((place for place, document in enumerate(documents, 1) if document.id in wanted), None)


def place_in_source(documents: Sequence[Document], place: int) -> int:
    """How many documents of the same source a list holds down to a place, from 1."""
    source = source_of(documents[place - 1])
    return sum(source_of(document) == source for document in documents[:place])


def changed_pipeline(pipeline: Pipeline, changes: Changes) -> Pipeline:
    """The pipeline with other values of some parameters, as if its YAML said so."""
    data = pipeline.to_dict()
    for (component, name), value in changes.items():
        data["components"][component]["init_parameters"][name] = value
    changed = Pipeline.from_dict(data)
    changed.warm_up()
    return changed
