# SPDX-License-Identifier: Apache-2.0
"""
The doors of the attempts to cross: REST with tokens, and MCP, in this process and without a network.

Each principal has a token for each corpus, so that an attempt can come with one that opens another; an MCP server
stands for one principal and opens all corpora. What a door says is looked at as rows are: every text, title and id.
"""

import contextlib
from collections.abc import AsyncIterator, Collection, Mapping
from pathlib import Path
from typing import Any

import httpx
import yaml
from haystack_integrations.document_stores.pincite.errors import PinciteError
from mcp import Client
from pincite.api.app import create_app
from pincite.api.settings import ServerSettings
from pincite.audit.paths import Target
from pincite.mcp_server.server import create_server
from pincite.scaffold import copy_configuration
from pincite.service import Service
from pincite.tokens import new_token

DOORS = ("REST search", "REST tool", "REST why", "REST show", "MCP search", "MCP show")
NOBODY = "nobody"
_TEMPLATE = "knowledge"


class RefusedError(PinciteError):
    """A door did not open."""


def pipeline_text(folder: Path, kind: str, corpus: str, required: list[str]) -> str:
    """The pipeline of a corpus of the attempts: that of ``knowledge``, with its required scopes."""
    text = (folder / f"{_TEMPLATE}{kind}.yaml").read_text(encoding="utf-8")
    scopes = f"scopes: [matter, {', '.join(required)}]\n      required_scopes: [{', '.join(required)}]"
    text = text.replace(f"corpus: {_TEMPLATE}", f"corpus: {corpus}")
    return text.replace("scopes: [matter]", scopes) if required else text


def configure(folder: Path, corpora: Mapping[str, list[str]], principals: Mapping[str, list[str]]) -> None:
    """
    Write a configuration of these corpora and principals.

    :param corpora: required scopes, by name.
    :param principals: groups, by name.
    """
    copy_configuration(folder)
    settings = yaml.safe_load((folder / "corpora.yaml").read_text(encoding="utf-8"))
    template = settings["corpora"][_TEMPLATE]
    settings["corpora"], settings["tools"], settings["principals"] = {}, {}, {}
    settings["command_line_principal"] = next(iter(principals))
    for name, required in corpora.items():
        entry = {**template, "scopes": ["matter", *required], "required_scopes": required, "tools": [f"ask_{name}"]}
        for key, kind in (("query_pipeline", ""), ("indexing_pipeline", ".indexing")):
            entry[key] = f"{name}{kind}.yaml"
            (folder / entry[key]).write_text(pipeline_text(folder, kind, name, required), encoding="utf-8")
        settings["corpora"][name] = entry
        settings["tools"][f"ask_{name}"] = {"corpus": name, "description": f"Search {name}."}
    settings["principals"] = {name: {"groups": groups} for name, groups in principals.items()}
    (folder / "corpora.yaml").write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")


class Doors:
    """
    The doors of the configuration in force.

    :param principals: groups, by name; who has no such groups asks as nobody.
    """

    def __init__(self, service: Service, principals: Mapping[str, list[str]]) -> None:
        self._service = service
        self._names = {repr(groups): name for name, groups in principals.items()}
        self._tokens: dict[tuple[str, str], str] = {}
        self._rest: httpx.AsyncClient | None = None
        self._agents: dict[str, Client] = {}

    @contextlib.asynccontextmanager
    async def open(self, agents: Collection[str] | None = None) -> AsyncIterator[None]:
        """
        Let clients in, for the running event loop.

        :param agents: principals who have an MCP client; ``None`` for all.
        """
        self._forget_tokens()
        settings = ServerSettings(token_needed=True, waiting=1000)
        async with contextlib.AsyncExitStack() as stack:
            transport = httpx.ASGITransport(app=create_app(self._service, settings), raise_app_exceptions=False)
            self._rest = await stack.enter_async_context(
                httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60.0)
            )
            for name in [*self._names.values(), NOBODY] if agents is None else agents:
                asks = ServerSettings(principal=None if name == NOBODY else name, waiting=1000)
                self._agents[name] = await stack.enter_async_context(Client(create_server(self._service, asks)))
            yield
        self._forget_tokens()

    def _forget_tokens(self) -> None:
        self._tokens.clear()
        with self._service.database.admin() as connection:
            connection.execute("DELETE FROM pincite.tokens WHERE starts_with(name, 'crossing.')")

    def _token(self, corpus: str, principal: str) -> str:
        if principal == NOBODY:
            return "pincite_no_such_token"
        if (corpus, principal) not in self._tokens:
            name = f"crossing.{corpus}.{principal}"
            self._tokens[corpus, principal] = new_token(self._service.database, name, principal, [corpus])
        return self._tokens[corpus, principal]

    async def ask(
        self,
        door: str,
        corpus: str,
        target: Target,
        groups: list[str] | None,
        *,
        token_of: str | None = None,
        filters: Mapping[str, Any] | None = None,
    ) -> tuple[object, set[str]]:
        """
        What a door gave, and the ids in it.

        :param token_of: the corpus that the token opens; that of the question if ``None``.
        :param filters: of a search.
        :raises RefusedError: it did not open.
        """
        scope = dict(target.scope) or None
        search = {"query": f"{target.title}: {target.text}", "scope": scope, "filters": filters}
        question = {"corpus": corpus, **search}
        show = {"corpus": corpus, "span_id": target.span_id}
        match door:
            case "REST search":
                answer = await self._sent(
                    "POST", "/search", corpus, token_of, groups, json={"corpus": corpus, **search}
                )
            case "REST tool":
                answer = await self._sent("POST", f"/tools/ask_{corpus}", corpus, token_of, groups, json=search)
            case "REST why":
                body = {**question, "source": target.source_id}
                answer = await self._sent("POST", "/why", corpus, token_of, groups, json=body)
                there = answer["title"] is not None or answer["rank"] is not None
                return answer["title"], {target.source_id} if there else set()
            case "REST show":
                params = {**show, "scope": [f"{key}={value}" for key, value in target.scope]}
                answer = await self._sent("GET", "/show", corpus, token_of, groups, params=params)
            case "MCP search":
                said = {key: value for key, value in search.items() if value and key != "scope"}
                answer = await self._called(groups, f"ask_{corpus}", {**said, **dict(target.scope)})
            case _:
                answer = await self._called(groups, "show", {**show, "scope": scope} if scope else show)
        return _said(answer)

    async def _sent(
        self, method: str, path: str, corpus: str, token_of: str | None, groups: list[str] | None, **given: Any
    ) -> dict[str, Any]:
        assert self._rest is not None  # noqa: S101 - `open` was entered
        token = self._token(token_of or corpus, self.principal(groups))
        response = await self._rest.request(method, path, headers={"Authorization": f"Bearer {token}"}, **given)
        if response.status_code != httpx.codes.OK:
            raise RefusedError(f"{response.status_code}: {response.text[:300]}")
        answer: dict[str, Any] = response.json()
        return answer

    async def _called(self, groups: list[str] | None, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        result = await self._agents[self.principal(groups)].call_tool(tool, arguments)
        if result.is_error:
            raise RefusedError(str(result.content)[:300])
        answer: dict[str, Any] = result.structured_content or {}
        return answer

    def principal(self, groups: list[str] | None) -> str:
        """Who has these groups."""
        return self._names.get(repr(groups), NOBODY)


def _said(answer: Mapping[str, Any]) -> tuple[object, set[str]]:
    """All that an answer says but the question, and the ids in it."""
    rows = [answer] if "span_id" in answer else [*answer["results"], *answer["named"]["sources"]]
    ids = {str(row[key]) for row in rows for key in ("span_id", "source_id") if key in row}
    return rows, ids
