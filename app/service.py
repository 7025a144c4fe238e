# SPDX-License-Identifier: Apache-2.0
"""The application for programs: what the command line does, as methods. All interfaces share it, and so one ranking."""

import asyncio
import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self, TypedDict, Unpack

os.environ.setdefault(
    "HAYSTACK_TELEMETRY_ENABLED", "False"
)  # before the import: Haystack reports usage unless told not to

from haystack import Pipeline
from haystack.core.errors import PipelineRuntimeError
from haystack.utils import Secret
from haystack_integrations.document_stores.pincite.corpora import CorpusDefinition
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.database import Database, pincite_home
from haystack_integrations.document_stores.pincite.errors import DatabaseUnavailableError, PinciteError
from haystack_integrations.document_stores.pincite.migrations import initialise
from haystack_integrations.document_stores.pincite.source_changes import ReviewedRule, SourceState
from haystack_integrations.document_stores.pincite.spans import plain_outputs
from haystack_integrations.document_stores.pincite.tags import Tag
from pincite.audit.answer import AuditAnswer
from pincite.audit.quality import quality_check
from pincite.audit.run import audit
from pincite.curation import list_rules, review, set_meta
from pincite.explain import explain
from pincite.ingest import EMBEDDING, IngestReport, Progress, ingest
from pincite.passage import Passage, passage, reader_of
from pincite.pipelines.corpora import CorpusSettings, ToolSettings, load_corpora
from pincite.pipelines.loader import load_pipeline, load_tool_pipeline
from pincite.reembed import FinishReport, ReembedReport, finish, reembed
from pincite.response import OBSERVED, SearchResponse, search_response
from pincite.search_log import asked_through, search_log
from pincite.source_file import SourceFile, source_file
from pincite.status import status
from pincite.tags import describe_tag, tags, with_tag_contexts, with_tag_contexts_async
from pincite.timing import stage_timings
from pincite.tools import SIMILAR_LEGS, SIMILAR_OBSERVED, similar_request, similar_response, tool_options
from pincite.why import why
from pincite.why_answer import WhyAnswer

LEGS = ("dense", "lexical", "title")


@dataclass(frozen=True, slots=True)
class InitReport:
    """What ``init`` did: names of the applied migrations, and the corpora that are ready."""

    applied: list[str]
    corpora: list[str]


class Observation(NamedTuple):
    """A search and what every stage of it gave: per component of the pipeline, its outputs."""

    response: SearchResponse
    outputs: dict[str, dict[str, Any]]


class SearchOptions(TypedDict, total=False):
    """
    What a search may be told besides its question.

    ``principal``: who asks, by a name of the configuration; without one nothing is seen (C3). ``top_k``: results
    wanted, 1 to 100, default 10. ``names=False`` switches the named-instrument policy off, ``rerank=False`` skips the
    reranker. ``matter``: the asker's own, first. ``scope``: metadata that the corpus is divided by. ``filters``: a
    Haystack filter on ``meta`` fields. ``max_per_source``: results of one source at most, where the query does not
    name it. ``explain=True`` adds the key ``explain`` to the answer (E1).
    """

    principal: str | None
    top_k: int
    names: bool
    rerank: bool
    matter: str | None
    scope: dict[str, str] | None
    filters: dict[str, Any] | None
    max_per_source: int | None
    explain: bool


class Service:
    """
    Search, ingestion and administration of the configured corpora.

    A context manager; safe to share between threads and with one event loop at a time.

    :param config: folder with the user's configuration and pipelines; ``None`` for ``PINCITE_CONFIG`` or the packaged.
    :param database_url: PostgreSQL to use; ``None`` for ``PINCITE_DATABASE_URL`` or the embedded server.
    """

    def __init__(self, *, config: Path | None = None, database_url: str | None = None) -> None:
        # Pipelines are read and connect by these variables, as they do in an application without this class.
        if config is not None:
            os.environ["PINCITE_CONFIG"] = os.fspath(config)
        if database_url is not None:
            os.environ["PINCITE_DATABASE_URL"] = database_url
        self._pipelines: dict[str, Pipeline] = {}
        self._lock = threading.Lock()
        self._log = search_log()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def database(self) -> Database:
        """The database of this process's configuration."""
        return Database.current()

    def init(self, corpora: list[str] | None = None) -> InitReport:
        """
        Create or update the schema of the database and of the corpora.

        :param corpora: names; ``None`` for all that are configured.
        :raises ConfigurationError: an applied migration was changed, or a corpus was made with other settings.
        """
        settings = load_corpora()
        wanted = [settings.corpus(name) for name in (corpora if corpora is not None else settings.corpora)]
        applied = initialise(self.database, [_definition(corpus) for corpus in wanted])
        names = [f"{step.scope}/{step.name}" if step.scope else step.name for step in applied]
        return InitReport(names, [corpus.name for corpus in wanted])

    def status(self) -> dict[str, Any]:
        """What is there: version, home, database, corpora, reranker."""
        version = metadata.version("pincite-haystack")
        return status(self.database, load_corpora(), pincite_home(), version, dict(self._pipelines))

    def ingest(
        self,
        corpus: str,
        paths: list[Path],
        *,
        meta: dict[str, str] | None = None,
        as_name: str | None = None,
        workers: int | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> IngestReport:
        """
        Bring files and folders into a corpus; see :func:`pincite.ingest.ingest`.

        The database and the corpus are set up first if they are not.
        """
        settings = load_corpora().corpus(corpus)
        initialise(self.database, [_definition(settings)])
        return ingest(settings, paths, meta=meta, as_name=as_name, workers=workers, progress=progress)

    def reembed(
        self, corpus: str, *, everything: bool = False, progress: Callable[[Progress], None] | None = None
    ) -> ReembedReport:
        """
        Give the stale spans of a corpus new vectors, and make it be for the configured embedder.

        See :func:`pincite.reembed.reembed`.

        :param everything: all spans, not only stale ones.
        """
        initialise(self.database, [_definition(load_corpora().corpus(corpus))])
        tell = progress or (lambda step: None)
        return reembed(
            corpus,
            everything=everything,
            progress=lambda done, of, source_id: tell(Progress(EMBEDDING, done, of, source_id)),
        )

    def finish_reembedding(self, corpus: str) -> FinishReport:
        """Drop the vectors of the embedder that the corpus is not for any more; see :func:`pincite.reembed.finish`."""
        initialise(self.database, [_definition(load_corpora().corpus(corpus))])
        return finish(corpus)

    def set_meta(self, corpus: str, source: str, changes: Mapping[str, str | None]) -> SourceState:
        """Change metadata of a source; see :func:`pincite.curation.set_meta`."""
        load_corpora().corpus(corpus)
        return set_meta(corpus, source, changes)

    def rules(self, corpus: str, status: str | None = None) -> list[ReviewedRule]:
        """The rules of a corpus with their reviews; see :func:`pincite.curation.list_rules`."""
        load_corpora().corpus(corpus)
        return list_rules(corpus, status)

    def review(self, corpus: str, span_id: str, status: str) -> ReviewedRule:
        """Set the review of a rule; see :func:`pincite.curation.review`."""
        load_corpora().corpus(corpus)
        return review(corpus, span_id, status)

    def tags(self, corpus: str, tag: str | None = None) -> list[Tag]:
        """The tags of a corpus with their descriptions; see :func:`pincite.tags.tags`."""
        load_corpora().corpus(corpus)
        return tags(corpus, tag)

    def describe_tag(self, corpus: str, tag: str, description: str | None) -> Tag:
        """Write down what a tag means (A6); see :func:`pincite.tags.describe_tag`."""
        load_corpora().corpus(corpus)
        return describe_tag(corpus, tag, description)

    def audit(self, corpora: list[str] | None = None, *, quality: bool = False) -> AuditAnswer:
        """
        Check isolation, completeness and configuration; see :func:`pincite.audit.run.audit`.

        :param corpora: names; ``None`` for all that are configured.
        :param quality: also measure with each corpus's own questions, asked by the command line's principal.
        """
        settings = load_corpora()
        measured = partial(quality_check, self, principal=settings.command_line_principal) if quality else None
        return audit(self.database, settings, corpora, quality=measured)

    def search(self, corpus: str, query: str, **options: Unpack[SearchOptions]) -> SearchResponse:
        """
        Ask a corpus a question.

        :param options: see :class:`SearchOptions`.
        :raises PinciteError: bad input, configuration or database, in one line.
        """
        if options.get("explain"):
            response = self._explained(corpus, self.observe(corpus, query, **options))
        else:
            response = self._run(corpus, query, options, OBSERVED).response
        return self._finished(response, options)

    def observe(self, corpus: str, query: str, **options: Unpack[SearchOptions]) -> Observation:
        """
        As :meth:`search`, with what every stage gave: of this, explanations and measurements are made (E1, E3).

        :param options: see :class:`SearchOptions`.
        :raises PinciteError: bad input, configuration or database, in one line.
        """
        return self._run(corpus, query, options, set(self._pipeline(corpus).graph.nodes))

    def _run(self, corpus: str, query: str, options: SearchOptions, observed: set[str]) -> Observation:
        pipeline, request = self._pipeline(corpus), _request(query, options)
        started = time.perf_counter()
        with stage_timings() as timings, _errors_unwrapped():
            outputs = plain_outputs(pipeline.run({"request": request}, include_outputs_from=observed))
        return Observation(_answer(corpus, query, outputs, timings, started), outputs)

    async def search_async(self, corpus: str, query: str, **options: Unpack[SearchOptions]) -> SearchResponse:
        """As :meth:`search`, on the event loop, the legs side by side; the same answer."""
        pipeline, request = await asyncio.to_thread(self._pipeline, corpus), _request(query, options)
        observed = set(pipeline.graph.nodes) if options.get("explain") else OBSERVED
        started = time.perf_counter()
        with stage_timings() as timings, _errors_unwrapped():
            outputs = plain_outputs(
                await pipeline.run_async(
                    {"request": request}, include_outputs_from=observed, concurrency_limit=len(LEGS) + 1
                )
            )
        response = _answer(corpus, query, outputs, timings, started)
        if options.get("explain"):
            response = self._explained(corpus, Observation(response, outputs))
        return await self._finished_async(response, options)

    def _finished(self, response: SearchResponse, options: SearchOptions) -> SearchResponse:
        """What is added to an answer once it is there: what its tags mean (A6), and an entry in the log (E6)."""
        store = CorpusDocumentStore(response["corpus"], database_url=_url())
        told = with_tag_contexts(store, response, _groups(options.get("principal")))
        return self._logged(told)

    async def _finished_async(self, response: SearchResponse, options: SearchOptions) -> SearchResponse:
        store = CorpusDocumentStore(response["corpus"], database_url=_url())
        return self._logged(await with_tag_contexts_async(store, response, _groups(options.get("principal"))))

    def _logged(self, response: SearchResponse) -> SearchResponse:
        if self._log is not None:
            self._log.record(response)
        return response

    def _explained(self, corpus: str, observation: Observation) -> SearchResponse:
        response, outputs = observation
        return {**response, "explain": explain(self._pipeline(corpus), outputs, response["timings_ms"])}

    def why(
        self, corpus: str, query: str, *, source: str, span: str | None = None, **options: Unpack[SearchOptions]
    ) -> WhyAnswer:
        """
        Follow one document through a search: where it was lost, and what would have kept it (E2).

        :param source: its source id.
        :param span: one span of it; ``None`` asks for its best.
        :param options: those of the search that left it out.
        :raises PinciteError: bad input, configuration or database, in one line.
        """
        with _errors_unwrapped():
            return why(self._pipeline(corpus), _request(query, options), source, span)

    def show(
        self, corpus: str, span_id: str, *, principal: str | None = None, scope: dict[str, str] | None = None
    ) -> Passage:
        """
        A passage in its context, read again at its locator.

        :param scope: as of a search; a corpus that requires one is not read without it (C3).
        :raises BadInputError: there is no such span, or this principal may not see it, or not in this scope.
        """
        store, groups, filters = reader_of(corpus, _groups(principal), scope)
        return passage(store, span_id, groups=groups, filters=filters)

    def source_file(
        self, corpus: str, span_id: str, *, principal: str | None = None, scope: dict[str, str] | None = None
    ) -> SourceFile:
        """The file of the source that a passage is from, not read yet; arguments and errors as of :meth:`show`."""
        return source_file(reader_of(corpus, _groups(principal), scope), span_id)

    def tool(self, name: str, query: str = "", **options: Unpack[SearchOptions]) -> SearchResponse:
        """
        Run one of the searches that agents may call; the tools are a table of ``corpora.yaml``.

        :param name: such as ``search_decisions``; it decides the corpus and what a call must say in its ``scope``.
        :param query: the question; ``find_similar_cases`` takes a case instead, and words to stress, if any.
        :param options: as of :meth:`search`; ``find_similar_cases`` takes ``principal``, ``scope``, ``filters`` and
            ``top_k``.
        :raises BadInputError: no such tool, or a scope that it requires is missing.
        """
        tool, given = self._tool_call(name, options)
        if tool.action == "search":
            with asked_through(name):
                return self.search(tool.corpus, query, **given)
        pipeline, request = self._pipeline_of(tool), similar_request(query, given, _groups(given.get("principal")))
        started = time.perf_counter()
        with stage_timings() as timings, _errors_unwrapped():
            outputs = pipeline.run({"request": request}, include_outputs_from=SIMILAR_OBSERVED)
        with asked_through(name):
            return self._finished(_similar(tool.corpus, outputs, timings, started), given)

    async def tool_async(self, name: str, query: str = "", **options: Unpack[SearchOptions]) -> SearchResponse:
        """As :meth:`tool`, on the event loop; the same answer."""
        tool, given = await asyncio.to_thread(self._tool_call, name, options)
        if tool.action == "search":
            with asked_through(name):
                return await self.search_async(tool.corpus, query, **given)
        pipeline = await asyncio.to_thread(self._pipeline_of, tool)
        request = similar_request(query, given, _groups(given.get("principal")))
        started = time.perf_counter()
        with stage_timings() as timings, _errors_unwrapped():
            outputs = await pipeline.run_async(
                {"request": request}, include_outputs_from=SIMILAR_OBSERVED, concurrency_limit=len(LEGS) + 1
            )
        with asked_through(name):
            return await self._finished_async(_similar(tool.corpus, outputs, timings, started), given)

    def tool_status(self, name: str) -> dict[str, Any]:
        """
        What a status tool (``kb_status``) says: its corpus, whether that is ready, and whether results are reranked.

        :raises BadInputError: there is no such tool.
        """
        tool = load_corpora().tool(name)
        facts = self.status()
        return {"corpus": tool.corpus, **facts["corpora"][tool.corpus], "rerank": facts["rerank"][tool.corpus]}

    def _tool_call(self, name: str, options: SearchOptions) -> tuple[ToolSettings, SearchOptions]:
        tool = load_corpora().tool(name)
        store = CorpusDocumentStore(tool.corpus, database_url=_url())
        return tool, tool_options(tool, options, store, _groups(options.get("principal")))

    def close(self) -> None:
        """Write out the log, close pools and leave the embedded server."""
        if self._log is not None:
            self._log.close()
        self._pipelines.clear()
        self.database.close()

    def _pipeline(self, corpus: str) -> Pipeline:
        return self._loaded(corpus, lambda: load_pipeline(corpus, "query"))

    def _pipeline_of(self, tool: ToolSettings) -> Pipeline:
        return self._loaded(f"tool:{tool.name}", lambda: load_tool_pipeline(tool))

    def _loaded(self, key: str, load: Callable[[], Pipeline]) -> Pipeline:
        with self._lock:
            if key not in self._pipelines:
                pipeline = load()
                pipeline.warm_up()
                self._pipelines[key] = pipeline
            return self._pipelines[key]


def _definition(corpus: CorpusSettings) -> CorpusDefinition:
    return CorpusDefinition(
        corpus.name,
        dimension=corpus.embedding_dimension,
        text_search=corpus.text_search_config,
        minimum_characters=corpus.minimum_characters,
        required_meta=[key for key in corpus.required_metadata if key != "title"],  # a title is never missing
        minimum_rule_characters=corpus.minimum_rule_characters,
        span_kinds=list(corpus.spans),
        source_kind=corpus.source_kind,
        required_scopes=list(corpus.required_scopes),
        scopes=list(corpus.scopes),
    )


def _request(query: str, options: SearchOptions) -> dict[str, Any]:
    given: dict[str, Any] = {key: value for key, value in options.items() if key != "explain"}
    return {"query": query, "groups": _groups(given.pop("principal", None)), **given}


@contextlib.contextmanager
def _errors_unwrapped() -> Iterator[None]:
    """Haystack wraps what a component raises; the user wants the line that a stage wrote."""
    try:
        yield
    except PipelineRuntimeError as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, PinciteError):
            cause = cause.__cause__
        raise cause or error from error


def _url() -> Secret:
    return Secret.from_env_var("PINCITE_DATABASE_URL", strict=False)


def _groups(principal: str | None) -> list[str] | None:
    return None if principal is None else list(load_corpora().principal(principal).groups)


def _similar(
    corpus: str, outputs: dict[str, dict[str, Any]], timings: dict[str, float], started: float
) -> SearchResponse:
    _check_legs(corpus, outputs, SIMILAR_LEGS)
    return similar_response(corpus, outputs, timings, (time.perf_counter() - started) * 1000)


def _answer(
    corpus: str, query: str, outputs: dict[str, dict[str, Any]], timings: dict[str, float], started: float
) -> SearchResponse:
    _check_legs(corpus, outputs, LEGS)
    return search_response(corpus, query, outputs, timings, (time.perf_counter() - started) * 1000)


def _check_legs(corpus: str, outputs: dict[str, dict[str, Any]], legs: tuple[str, ...]) -> None:
    failed = {note["stage"]: note["reason"] for leg in legs for note in outputs[leg]["degraded"]}
    if len(failed) == len(legs):
        reasons = "; ".join(f"{leg}: {reason}" for leg, reason in failed.items())
        raise DatabaseUnavailableError(f"corpus '{corpus}': every leg of the search failed ({reasons})")
