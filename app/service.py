# SPDX-License-Identifier: Apache-2.0
"""The application for programs: what the command line does, as methods. All interfaces share it, and so one ranking."""

import asyncio
import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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
from pincite.explain import explain
from pincite.ingest import IngestReport, Progress, ingest
from pincite.passage import Passage, passage
from pincite.pipelines.corpora import CorpusSettings, load_corpora
from pincite.pipelines.loader import load_pipeline
from pincite.response import OBSERVED, SearchResponse, search_response
from pincite.status import status
from pincite.timing import stage_timings

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
        return status(self.database, load_corpora(), pincite_home(), metadata.version("pincite-haystack"))

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

    def search(self, corpus: str, query: str, **options: Unpack[SearchOptions]) -> SearchResponse:
        """
        Ask a corpus a question.

        :param options: see :class:`SearchOptions`.
        :raises PinciteError: bad input, configuration or database, in one line.
        """
        if not options.get("explain"):
            return self._run(corpus, query, options, OBSERVED).response
        observation = self.observe(corpus, query, **options)
        return self._explained(corpus, observation)

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
            outputs = pipeline.run({"request": request}, include_outputs_from=observed)
        return Observation(_answer(corpus, query, outputs, timings, started), outputs)

    async def search_async(self, corpus: str, query: str, **options: Unpack[SearchOptions]) -> SearchResponse:
        """As :meth:`search`, on the event loop, the legs side by side; the same answer."""
        pipeline, request = await asyncio.to_thread(self._pipeline, corpus), _request(query, options)
        observed = set(pipeline.graph.nodes) if options.get("explain") else OBSERVED
        started = time.perf_counter()
        with stage_timings() as timings, _errors_unwrapped():
            outputs = await pipeline.run_async(
                {"request": request}, include_outputs_from=observed, concurrency_limit=len(LEGS) + 1
            )
        response = _answer(corpus, query, outputs, timings, started)
        return self._explained(corpus, Observation(response, outputs)) if options.get("explain") else response

    def _explained(self, corpus: str, observation: Observation) -> SearchResponse:
        response, outputs = observation
        return {**response, "explain": explain(self._pipeline(corpus), outputs, response["timings_ms"])}

    def show(self, corpus: str, span_id: str, *, principal: str | None = None) -> Passage:
        """
        A passage in its context, read again at its locator.

        :raises BadInputError: there is no such span, or this principal may not see it.
        """
        load_corpora().corpus(corpus)
        return passage(CorpusDocumentStore(corpus, database_url=_url()), span_id, groups=_groups(principal))

    def close(self) -> None:
        """Close pools and leave the embedded server."""
        self._pipelines.clear()
        self.database.close()

    def _pipeline(self, corpus: str) -> Pipeline:
        with self._lock:
            if corpus not in self._pipelines:
                load_corpora().corpus(corpus)
                pipeline = load_pipeline(corpus, "query")
                pipeline.warm_up()
                self._pipelines[corpus] = pipeline
            return self._pipelines[corpus]


def _definition(corpus: CorpusSettings) -> CorpusDefinition:
    return CorpusDefinition(
        corpus.name,
        dimension=corpus.embedding_dimension,
        text_search=corpus.text_search_config,
        minimum_characters=corpus.minimum_characters,
        required_meta=[key for key in corpus.required_metadata if key != "title"],  # a title is never missing
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


def _answer(
    corpus: str, query: str, outputs: dict[str, dict[str, Any]], timings: dict[str, float], started: float
) -> SearchResponse:
    failed = {note["stage"]: note["reason"] for leg in LEGS for note in outputs[leg]["degraded"]}
    if len(failed) == len(LEGS):
        reasons = "; ".join(f"{leg}: {reason}" for leg, reason in failed.items())
        raise DatabaseUnavailableError(f"corpus '{corpus}': every leg of the search failed ({reasons})")
    return search_response(corpus, query, outputs, timings, (time.perf_counter() - started) * 1000)
