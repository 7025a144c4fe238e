# SPDX-License-Identifier: Apache-2.0
"""What only the page asks for. All else it takes from the REST API, as anybody may."""

from dataclasses import dataclass, field
from http import HTTPStatus
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pincite.api.auth import checked_all_groups, checked_corpus, sees_all_groups
from pincite.api.problems import RequestError
from pincite.api.requests import ExplainableSearchBody, SearchBody
from pincite.api.routes import Endpoints, caller_of, described, found
from pincite.pipeline_graph import PipelineGraph, pipeline_graph
from pincite.pipelines.corpora import load_corpora
from pincite.web.passages import shown_passages
from pincite.web.reports import ReportLine, Reports, ShownReport
from pincite.web.run_drawing import RunBody, run_drawing
from starlette.responses import JSONResponse


@dataclass(slots=True)
class WebEndpoints:
    """
    The endpoints of the page; ``endpoints`` are those of the REST API, ``folder`` that of the reports, if any.

    A drawing is made from the YAML of a corpus, which the pipelines in use were read from at the start: it is read once
    here as well.
    """

    endpoints: Endpoints
    folder: Path | None
    reports: Reports = field(init=False)
    graphs: dict[str, PipelineGraph] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.reports = Reports(self.folder)

    async def facts(self, request: Request) -> dict[str, Any]:
        """Who asks, and what there is for him: corpora with their scopes and rerankers, audit, reports."""
        caller = caller_of(request)
        settings = load_corpora()
        status = await self.endpoints.turnstile.run_in_thread(self.endpoints.service.status)
        corpora = [it for it in settings.corpora.values() if caller.may_use(it.name)]
        return {
            "version": metadata.version("pincite-haystack"),
            "principal": caller.principal,
            "token": caller.token,
            "sees_all_groups": sees_all_groups(caller),
            "reports": self.folder is not None,
            "corpora": [
                {
                    **described(it),
                    "rerank": bool(status["rerank"][it.name]["enabled"]),
                    "sources": status["corpora"][it.name].get("searchable_sources"),
                }
                for it in corpora
            ],
        }

    async def search(self, request: Request, body: SearchBody) -> Response:
        """A search, explained, with its passages cut into marked and other words."""
        answer = await self.endpoints.search(request, ExplainableSearchBody(**body.model_dump(), explain=True))
        return JSONResponse({"answer": answer, "passages": shown_passages(answer)})

    async def drawing(self, request: Request, body: RunBody) -> Response:
        """The drawing of a pipeline with the figures of a search."""
        checked_corpus(caller_of(request), body.corpus)
        drawn = await self.endpoints.turnstile.run_in_thread(lambda: run_drawing(self._graph(body.corpus), body))
        return Response(drawn, media_type="image/svg+xml")

    async def report_list(self, request: Request) -> list[ReportLine]:
        """The reports there are. They hold questions and ids of all groups: only for who sees them."""
        caller = caller_of(request)
        self._check(request)
        return await self.endpoints.turnstile.run_in_thread(lambda: self.reports.lines(caller))

    async def report(
        self,
        request: Request,
        name: Annotated[str, Query(max_length=300)],
        baseline: Annotated[str | None, Query(max_length=300)] = None,
    ) -> ShownReport:
        """One report, and its difference to a baseline."""
        caller = caller_of(request)
        self._check(request)
        return await self.endpoints.turnstile.run_in_thread(lambda: self.reports.shown(caller, name, baseline))

    def _check(self, request: Request) -> None:
        checked_all_groups(caller_of(request), "a report holds questions and documents of all groups")
        if self.folder is None:
            raise RequestError(
                HTTPStatus.NOT_FOUND, "no-reports", "this server shows no reports: start it with --reports DIR"
            )

    def _graph(self, corpus: str) -> PipelineGraph:
        if corpus not in self.graphs:
            self.graphs[corpus] = found(lambda: pipeline_graph(corpus))
        return self.graphs[corpus]


def web_routes(endpoints: WebEndpoints) -> APIRouter:
    """The endpoints under their paths; they belong to the page, and are no part of the published interface."""
    router = APIRouter(prefix="/web", include_in_schema=False)
    router.get("/facts", response_model=None)(endpoints.facts)
    router.post("/search", response_model=None)(endpoints.search)
    router.post("/drawing", response_model=None)(endpoints.drawing)
    router.get("/reports", response_model=None)(endpoints.report_list)
    router.get("/report", response_model=None)(endpoints.report)
    return router
