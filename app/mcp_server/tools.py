# SPDX-License-Identifier: Apache-2.0
"""The tools: one for each line of the corpus table, and ``show``. Their arguments follow from what the table says."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from haystack_integrations.document_stores.pincite.errors import PinciteError
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools.base import Tool
from mcp.types import ToolAnnotations
from pincite.api.auth import CALLER, checked_corpus, with_hint
from pincite.api.limits import Turnstile
from pincite.api.metrics import Metrics
from pincite.api.models import PassageModel, SearchModel, ToolStatusModel
from pincite.mcp_server.descriptions import SHOW, description
from pincite.pipelines.corpora import CorporaSettings, CorpusSettings, ToolSettings
from pincite.service import SearchOptions, Service
from pincite.tokens import Caller
from pydantic import Field, create_model

_CONTEXT = "context"
_MATTER_KEY = "matter"
_READ_ONLY = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

Arguments = dict[str, Any]

_QUERY = Annotated[str, Field(description="The question, in any words; name the document if you know it.")]
_STRESS = Annotated[str, Field(description="Words to stress, if any; the case itself is what is searched by.")]
_TOP_K = Annotated[int, Field(ge=1, le=100, description="Results wanted.")]
_RERANK = Annotated[bool, Field(description="False: skip the reranker, which is faster.")]
_MATTER = Annotated[str | None, Field(description="The asker's own matter; its sources come first.")]
_FILTERS = Annotated[
    dict[str, Any] | None,
    Field(description='A Haystack filter on metadata: {"field": "meta.language", "operator": "==", "value": "en"}.'),
]


class ToolBox:
    """
    Makes the tools of a server.

    :param service: does the work.
    :param settings: the corpus table.
    :param caller: who asks where the transport does not say (stdio).
    :param turnstile: bounds how much is done at one time.
    :param metrics: told how searches went.
    """

    def __init__(
        self, service: Service, settings: CorporaSettings, caller: Caller, turnstile: Turnstile, metrics: Metrics
    ) -> None:
        self.service = service
        self.settings = settings
        self.caller = caller
        self.turnstile = turnstile
        self.metrics = metrics

    def tools(self) -> list[Tool]:
        """All tools, in the order of the table."""
        return [*map(self._tool, self.settings.tools.values()), self._show()]

    def _tool(self, tool: ToolSettings) -> Tool:
        corpus = self.settings.corpus(tool.corpus)
        if tool.action == "status":
            return self._made(tool.name, description(tool, self.settings), self._status(tool), {}, ToolStatusModel)
        scopes = scope_parameters(tool, corpus)
        parameters = _search_parameters(scopes, corpus) if tool.action == "search" else _similar_parameters(scopes)
        run = self._search(tool, set(scopes))
        return self._made(tool.name, description(tool, self.settings), run, parameters, SearchModel)

    def _search(self, tool: ToolSettings, scopes: set[str]) -> Callable[[Caller, Arguments], Awaitable[Any]]:
        async def run(caller: Caller, given: Arguments) -> Any:
            checked_corpus(caller, tool.corpus)
            query = given.pop("query", "")
            scope = {key: given.pop(key) for key in scopes if given.get(key) is not None}
            rest = {key: value for key, value in given.items() if key not in scopes}
            options: SearchOptions = {"principal": caller.principal, "scope": scope or None, **rest}  # type: ignore[typeddict-item]
            answer = await self.turnstile.run(lambda: self.service.tool_async(tool.name, query, **options))
            self.metrics.searched(answer)
            return with_hint(answer, caller)

        return run

    def _status(self, tool: ToolSettings) -> Callable[[Caller, Arguments], Awaitable[Any]]:
        async def run(caller: Caller, given: Arguments) -> Any:
            checked_corpus(caller, tool.corpus)
            return await self.turnstile.run_in_thread(lambda: self.service.tool_status(tool.name))

        return run

    def _show(self) -> Tool:
        async def run(caller: Caller, given: Arguments) -> Any:
            corpus = checked_corpus(caller, given["corpus"])
            return await self.turnstile.run_in_thread(
                lambda: self.service.show(corpus, given["span_id"], principal=caller.principal, scope=given["scope"])
            )

        parameters = {
            "corpus": (Annotated[str, Field(description="As the search result says.")], ...),
            "span_id": (Annotated[str, Field(description="As the search result says.")], ...),
            "scope": (
                Annotated[dict[str, str] | None, Field(description='Such as {"practice_area": "planning"}.')],
                None,
            ),
        }
        return self._made("show", SHOW, run, parameters, PassageModel)

    def _made(
        self,
        name: str,
        text: str,
        run: Callable[[Caller, Arguments], Awaitable[Any]],
        parameters: dict[str, tuple[Any, Any]],
        answer: type,
    ) -> Tool:
        async def call(context: Context, **given: Any) -> Any:
            try:
                return await run(self._caller_of(context), given)
            except PinciteError as error:
                raise ToolError(str(error)) from error

        call.__signature__ = _signature(parameters, answer)  # type: ignore[attr-defined]
        call.__annotations__ = {_CONTEXT: Context, "return": answer}
        call.__name__ = name
        tool = Tool.from_function(
            call, name=name, title=name.replace("_", " ").capitalize(), description=text, annotations=_READ_ONLY
        )
        return _without_strange_arguments(tool)

    def _caller_of(self, context: Context) -> Caller:
        request = context.request_context.request
        # Over HTTP the gate has been there; a request that it did not see has nobody behind it.
        return self.caller if request is None else request.scope.get(CALLER, Caller(None))


def scope_parameters(tool: ToolSettings, corpus: CorpusSettings) -> dict[str, tuple[Any, Any]]:
    """
    A parameter for each scope of the tool's corpus: required where the tool or the corpus requires it, unless the tool
    looks it up from the case. A matter is no scope here: it is the asker's own, whose sources come first.
    """
    required = {*tool.required_scopes, *corpus.required_scopes} - set(tool.scopes_of_case)
    found: dict[str, tuple[Any, Any]] = {}
    for key in sorted(set(corpus.scopes) - {_MATTER_KEY}, key=lambda key: key not in required):
        if key in required:
            found[key] = (Annotated[str, Field(min_length=1, description=f"Search within this {key} only.")], ...)
        else:
            found[key] = (Annotated[str | None, Field(description=f"Search within this {key} only.")], None)
    return found


def _search_parameters(scopes: dict[str, tuple[Any, Any]], corpus: CorpusSettings) -> dict[str, tuple[Any, Any]]:
    own = {_MATTER_KEY: (_MATTER, None)} if _MATTER_KEY in corpus.scopes else {}
    rest = {"top_k": (_TOP_K, 10), "rerank": (_RERANK, True), "filters": (_FILTERS, None)}
    return {"query": (_QUERY, ...), **scopes, **own, **rest}


def _similar_parameters(scopes: dict[str, tuple[Any, Any]]) -> dict[str, tuple[Any, Any]]:
    return {**scopes, "query": (_STRESS, ""), "top_k": (_TOP_K, 10), "filters": (_FILTERS, None)}


def _signature(parameters: dict[str, tuple[Any, Any]], answer: type) -> inspect.Signature:
    """The signature from which the SDK makes the input and output schemas."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    made = [inspect.Parameter(_CONTEXT, keyword, annotation=Context)]
    for name, (annotation, default) in parameters.items():
        given = inspect.Parameter.empty if default is ... else default
        made.append(inspect.Parameter(name, keyword, annotation=annotation, default=given))
    return inspect.Signature(made, return_annotation=answer)


def _without_strange_arguments(tool: Tool) -> Tool:
    """
    The tool, which refuses arguments that it does not know.

    The SDK drops them; a misspelt scope would then widen a search without a word.
    """
    known = tool.fn_metadata.arg_model
    strict = create_model(known.__name__, __base__=known, __cls_kwargs__={"extra": "forbid"})
    tool.fn_metadata.arg_model = strict
    tool.parameters = strict.model_json_schema(by_alias=True)
    return tool
