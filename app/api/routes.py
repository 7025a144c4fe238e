# SPDX-License-Identifier: Apache-2.0
"""The endpoints: each finds out who asks, calls the Service, and says what shape comes back."""

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Body, Query, Request, Response
from haystack_integrations.document_stores.pincite.errors import BadInputError
from pincite.api import models
from pincite.api.auth import CALLER, checked_all_groups, checked_corpus, with_hint
from pincite.api.limits import Turnstile
from pincite.api.metrics import CONTENT_TYPE, Metrics
from pincite.api.openapi import PROBLEMS, SEARCH_EXAMPLES, TOOL_EXAMPLES, WHY_EXAMPLES
from pincite.api.problems import RequestError
from pincite.api.requests import ExplainableSearchBody, ToolBody, WhyBody
from pincite.audit.answer import AuditAnswer
from pincite.draw import drawing
from pincite.pairs import pairs
from pincite.passage import Passage
from pincite.pipeline_graph import pipeline_graph
from pincite.pipelines.corpora import CorpusSettings, load_corpora
from pincite.response import SearchResponse
from pincite.service import Service
from pincite.source_file import FileUnavailableError, SourceFacts, source_facts
from pincite.tokens import Caller
from pincite.why_answer import WhyAnswer

T = TypeVar("T")
_SVG, _PNG = "image/svg+xml", "image/png"
CorpusOf = Annotated[str, Query(description="Which corpus.", examples=["knowledge"])]
SpanOf = Annotated[str, Query(description="As a search gave it.", max_length=4000)]
ScopeOf = Annotated[list[str] | None, Query(description="k=v, such as practice_area=planning; repeatable.")]
_OF_THE_MACHINE = ("home", "configuration")
"""Facts of the status that only who sits at this machine is told."""


@dataclass(frozen=True, slots=True)
class Endpoints:
    """What the endpoints share; each method answers one."""

    service: Service
    turnstile: Turnstile
    metrics: Metrics

    async def search(
        self, request: Request, body: Annotated[ExplainableSearchBody, Body(openapi_examples=SEARCH_EXAMPLES)]
    ) -> SearchResponse:
        """Ask a corpus a question. A document that the question names comes first."""
        caller, corpus = caller_of(request), body.corpus
        checked_corpus(caller, corpus)
        options = body.options(caller.principal)
        if body.explain:
            options["explain"] = True
        return await self._counted(caller, lambda: self.service.search_async(corpus, body.query, **options))

    async def tool(
        self, request: Request, tool: str, body: Annotated[ToolBody, Body(openapi_examples=TOOL_EXAMPLES)]
    ) -> SearchResponse:
        """Search as an agent tool does: one corpus, with the tool's own filters and required scopes."""
        caller = caller_of(request)
        checked_corpus(caller, found(lambda: load_corpora().tool(tool)).corpus)
        options = body.options(caller.principal)
        return await self._counted(caller, lambda: self.service.tool_async(tool, body.query, **options))

    async def why(self, request: Request, body: Annotated[WhyBody, Body(openapi_examples=WHY_EXAMPLES)]) -> WhyAnswer:
        """Say where a search lost a document, and what would have kept it."""
        caller = caller_of(request)
        checked_corpus(caller, body.corpus)
        options = body.options(caller.principal)
        return await self.turnstile.run_in_thread(
            lambda: self.service.why(body.corpus, body.query, source=body.source, span=body.span, **options)
        )

    async def show(
        self,
        request: Request,
        corpus: CorpusOf,
        span_id: SpanOf,
        scope: ScopeOf = None,
    ) -> Passage:
        """Read a passage again at its locator, in its context."""
        caller = caller_of(request)
        checked_corpus(caller, corpus)
        wanted = pairs("scope", scope or [])
        return await self.turnstile.run_in_thread(
            lambda: found(lambda: self.service.show(corpus, span_id, principal=caller.principal, scope=wanted or None))
        )

    async def source(
        self,
        request: Request,
        corpus: CorpusOf,
        span_id: SpanOf,
        scope: ScopeOf = None,
    ) -> SourceFacts:
        """Say whether the pages of a passage's source can be shown: its file is a PDF, and still what was ingested."""
        caller = caller_of(request)
        checked_corpus(caller, corpus)
        wanted = pairs("scope", scope or []) or None

        def facts() -> SourceFacts:
            file = self.service.source_file(corpus, span_id, principal=caller.principal, scope=wanted)
            return source_facts(file, corpus, span_id)

        return await self.turnstile.run_in_thread(lambda: found(facts))

    async def source_page(
        self,
        request: Request,
        corpus: CorpusOf,
        span_id: SpanOf,
        scope: ScopeOf = None,
        page: Annotated[int | None, Query(ge=1, le=100_000, description="Without: that of the passage.")] = None,
    ) -> Response:
        """Draw a page of a passage's source, of a PDF that is still what was ingested."""
        caller = caller_of(request)
        checked_corpus(caller, corpus)
        wanted = pairs("scope", scope or []) or None

        def picture() -> bytes:
            try:
                file = self.service.source_file(corpus, span_id, principal=caller.principal, scope=wanted)
                return file.picture(page)
            except FileUnavailableError as error:
                raise RequestError(HTTPStatus.NOT_FOUND, "no-page", str(error)) from error

        drawn = await self.turnstile.run_in_thread(lambda: found(picture))
        return Response(drawn, media_type=_PNG, headers={"Cache-Control": "private, max-age=300"})

    async def corpora(self, request: Request) -> dict[str, Any]:
        """List the corpora that the caller may ask."""
        caller = caller_of(request)
        return {"corpora": [described(it) for it in load_corpora().corpora.values() if caller.may_use(it.name)]}

    async def status(self, request: Request) -> dict[str, Any]:
        """Say what is there: database, corpora, reranker."""
        caller = caller_of(request)
        return _status_for(caller, await self.turnstile.run_in_thread(self.service.status))

    async def audit(
        self,
        request: Request,
        corpus: Annotated[list[str] | None, Query(description="Only these; repeatable.")] = None,
    ) -> AuditAnswer:
        """Check isolation, completeness and configuration. Only for a principal who sees all groups."""
        caller = caller_of(request)
        checked_all_groups(caller)
        wanted = corpus or [name for name in load_corpora().corpora if caller.may_use(name)]
        for name in wanted:
            checked_corpus(caller, name)
        return await self.turnstile.run_in_thread(lambda: self.service.audit(wanted))

    async def drawing(
        self,
        request: Request,
        corpus: str,
        kind: Annotated[Literal["query", "indexing"], Query(description="Which of its pipelines.")] = "query",
    ) -> Response:
        """Draw a pipeline of a corpus."""
        checked_corpus(caller_of(request), corpus)
        graph = await self.turnstile.run_in_thread(lambda: found(lambda: pipeline_graph(corpus, kind)))
        return Response(drawing(graph, "svg"), media_type=_SVG)

    async def figures(self) -> Response:
        """Figures for Prometheus."""
        return Response(self.metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    async def health(self) -> dict[str, str]:
        """Say that the server is up; nothing is asked of the database."""
        return {"status": "up"}

    async def _counted(self, caller: Caller, search: Callable[[], Any]) -> SearchResponse:
        answer: SearchResponse = await self.turnstile.run(search)
        self.metrics.searched(answer)
        return with_hint(answer, caller)


def routes(endpoints: Endpoints) -> APIRouter:
    """The endpoints under their paths."""
    router = APIRouter(responses=PROBLEMS)
    router.post(
        "/search",
        response_model=models.ExplainedSearchModel,
        response_model_exclude_unset=True,  # without explain=true there is no key explain
        operation_id="search",
        tags=["search"],
    )(endpoints.search)
    router.post("/tools/{tool}", response_model=models.SearchModel, operation_id="tool", tags=["search"])(
        endpoints.tool
    )
    router.post("/why", response_model=models.WhyModel, operation_id="why", tags=["search"])(endpoints.why)
    router.get("/show", response_model=models.PassageModel, operation_id="show", tags=["search"])(endpoints.show)
    router.get("/source", response_model=models.SourceModel, operation_id="source", tags=["search"])(endpoints.source)
    router.get(
        "/source/page.png",
        response_class=Response,
        responses={200: {"content": {_PNG: {}}, "description": "The page."}},
        operation_id="source_page",
        tags=["search"],
    )(endpoints.source_page)
    router.get("/corpora", response_model=models.CorporaModel, operation_id="corpora", tags=["facts"])(
        endpoints.corpora
    )
    router.get("/status", response_model=models.StatusModel, operation_id="status", tags=["facts"])(endpoints.status)
    router.get("/audit", response_model=models.AuditModel, operation_id="audit", tags=["facts"])(endpoints.audit)
    router.get(
        "/pipelines/{corpus}.svg",
        response_class=Response,
        responses={200: {"content": {_SVG: {}}, "description": "The drawing."}},
        operation_id="drawing",
        tags=["facts"],
    )(endpoints.drawing)
    router.get(
        "/metrics",
        response_class=Response,
        responses={200: {"content": {"text/plain": {}}, "description": "Prometheus text format."}},
        operation_id="metrics",
        tags=["operation"],
    )(endpoints.figures)
    router.get("/health", operation_id="health", tags=["operation"])(endpoints.health)
    return router


def caller_of(request: Request) -> Caller:
    """Who sends a request, as the gate found out."""
    caller: Caller = request.scope[CALLER]
    return caller


def found(look: Callable[[], T]) -> T:
    """What is asked for by its name; 404 where there is none, or none for this principal."""
    try:
        return look()
    except BadInputError as error:
        raise RequestError(HTTPStatus.NOT_FOUND, "not-found", str(error)) from error


def described(corpus: CorpusSettings) -> dict[str, Any]:
    """What a caller is told of a corpus."""
    return {
        "name": corpus.name,
        "description": corpus.description,
        "language": corpus.language,
        "spans": list(corpus.spans),
        "scopes": list(corpus.scopes),
        "required_scopes": list(corpus.required_scopes),
        "tools": list(corpus.tools),
    }


def _status_for(caller: Caller, facts: dict[str, Any]) -> dict[str, Any]:
    kept = {
        **facts,
        "corpora": {name: it for name, it in facts["corpora"].items() if caller.may_use(name)},
        "rerank": {name: it for name, it in facts["rerank"].items() if caller.may_use(name)},
    }
    if caller.token is None:
        return kept
    database = {name: it for name, it in facts["database"].items() if name != "where"}
    return {name: it for name, it in kept.items() if name not in _OF_THE_MACHINE} | {"database": database}
