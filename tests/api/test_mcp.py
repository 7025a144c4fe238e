# SPDX-License-Identifier: Apache-2.0
"""The MCP server as an agent sees it: the SDK's own client, over stdin and stdout and over HTTP (A1)."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from pincite.api.settings import ServerSettings
from pincite.mcp_server.server import create_server
from pincite.service import Service

T = TypeVar("T")
HFA = "What does the HFA bond mortgage say about limitation on liability?"
TOOLS = [
    "search_knowledge",
    "search_decisions",
    "search_case_documents",
    "find_similar_cases",
    "search_precedent_library",
    "search_internal_decisions",
    "precedent_search_library",
    "kb_search",
    "kb_status",
    "show",
]
BETTERMENT = {"practice_area": "betterment_levy"}


def over_stdio(**environment: str) -> Client:
    """A client of ``pincite mcp`` in a process of its own."""
    command = ["-c", "from pincite.cli import main; main()", "mcp"]
    inherited = {name: value for name, value in os.environ.items() if name != "PINCITE_PRINCIPAL"}
    return Client(
        stdio_client(StdioServerParameters(command=sys.executable, args=command, env=inherited | environment))
    )


@asynccontextmanager
async def over_http(address: str, token: str) -> AsyncIterator[Client]:
    """A client of ``pincite mcp --http``."""
    async with (
        create_mcp_http_client(headers={"Authorization": f"Bearer {token}"}) as http,
        Client(streamable_http_client(address + "/mcp", http_client=http)) as client,
    ):
        yield client


def within(client: AbstractAsyncContextManager[Client], use: Callable[[Client], Awaitable[T]]) -> T:
    """What ``use`` gives inside the client's life."""

    async def run() -> T:
        async with client as entered:
            return await use(entered)

    return asyncio.run(run())


@pytest.fixture
def inside(service: Service) -> Callable[[], Client]:
    """A client of a server in this process, asked as ``local-owner``."""
    return lambda: Client(create_server(service, ServerSettings(principal="local-owner")))


def test_each_tool_says_what_it_takes_and_gives(inside: Callable[[], Client]) -> None:
    tools = within(inside(), lambda client: client.list_tools()).tools
    assert [tool.name for tool in tools] == TOOLS
    for tool in tools:
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint
        assert not tool.annotations.destructive_hint
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema is not None
        assert tool.output_schema["type"] == "object"
    by_name = {tool.name: tool for tool in tools}
    results = by_name["search_knowledge"].output_schema["$defs"]["ResultModel"]["properties"]  # type: ignore[index]
    assert {"rank", "span_id", "title", "locator", "text", "score"} <= set(results)
    assert by_name["search_decisions"].input_schema["required"] == ["query", "practice_area"]
    assert by_name["search_case_documents"].input_schema["required"] == ["query", "case_id"]
    assert by_name["find_similar_cases"].input_schema["required"] == ["case_id"]


def test_descriptions_tell_how_to_search_well(inside: Callable[[], Client]) -> None:
    async def read(client: Client) -> tuple[dict[str, str], str]:
        tools = (await client.list_tools()).tools
        return {tool.name: tool.description or "" for tool in tools}, client.instructions or ""

    texts, instructions = within(inside(), read)
    for name in TOOLS[:3] + TOOLS[4:8]:
        for advice in ("2-3 phrasings", "span_id", "rerank=false", "kb_status", "own judgement"):
            assert advice in texts[name], (name, advice)
    assert "precedent_search_library, which searches something else" in texts["search_precedent_library"]
    assert "attached by hand" in texts["search_precedent_library"]
    assert "search_precedent_library, which searches something else" in texts["precedent_search_library"]
    assert "case law from outside" in texts["precedent_search_library"]
    assert "Not to be confused" not in texts["kb_search"]
    assert "2-3 phrasings" in instructions


def test_a_search_gives_structured_output_and_the_same_as_text(inside: Callable[[], Client], service: Service) -> None:
    result = within(inside(), lambda client: client.call_tool("search_knowledge", {"query": HFA, "top_k": 3}))
    wanted = service.tool("search_knowledge", HFA, principal="local-owner", top_k=3)
    assert not result.is_error
    assert result.structured_content is not None
    assert {**result.structured_content, "timings_ms": {}} == {**wanted, "timings_ms": {}}
    assert wanted["results"][0]["span_id"] in result.content[0].text  # type: ignore[union-attr]


def test_every_tool_answers(inside: Callable[[], Client]) -> None:
    async def use(client: Client) -> dict[str, dict[str, Any]]:
        calls: dict[str, dict[str, Any]] = {
            "search_decisions": {"query": "levy on a plan", **BETTERMENT},
            "search_case_documents": {"query": "levy on a plan", "case_id": "BL-101"},
            "find_similar_cases": {"case_id": "BL-101"},
            "search_precedent_library": {"query": "levy"},
            "search_internal_decisions": {"query": "levy"},
            "precedent_search_library": {"query": "levy"},
            "kb_search": {"query": "notes"},
            "kb_status": {},
        }
        answers = {}
        for name, arguments in calls.items():
            result = await client.call_tool(name, arguments)
            assert not result.is_error, (name, result.content)
            answers[name] = result.structured_content or {}
        return answers

    answers = within(inside(), use)
    assert {name: answer["corpus"] for name, answer in answers.items()} == {
        "search_decisions": "case_documents",
        "search_case_documents": "case_documents",
        "find_similar_cases": "case_documents",
        "search_precedent_library": "precedent_library",
        "search_internal_decisions": "internal_decisions",
        "precedent_search_library": "attached_citations",
        "kb_search": "kb",
        "kb_status": "kb",
    }
    assert {it["meta"]["case_id"] for it in answers["search_case_documents"]["results"]} == {"BL-101"}
    assert "BL-101" not in {it["meta"].get("case_id") for it in answers["find_similar_cases"]["results"]}
    assert answers["kb_status"]["rerank"]["enabled"] is False


def test_show_gives_the_passage(inside: Callable[[], Client], service: Service) -> None:
    case = service.search("case_documents", "levy", principal="local-owner", scope=BETTERMENT)["results"][0]

    async def use(client: Client) -> list[Any]:
        arguments = {"corpus": "case_documents", "span_id": case["span_id"]}
        return [await client.call_tool("show", arguments | more) for more in ({"scope": BETTERMENT}, {})]

    shown, refused = within(inside(), use)
    assert shown.structured_content["context"]["text"] == case["text"]
    assert refused.is_error
    assert "practice_area" in refused.content[0].text


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("search_knowledge", {"query": " "}, "query is empty"),
        ("search_knowledge", {"query": "x", "topk": 3}, "topk"),
        ("search_knowledge", {"query": "x", "top_k": 1000}, "top_k"),
        ("search_decisions", {"query": "x"}, "practice_area"),
        ("search_decisions", {"query": "x", "practice_area": ""}, "practice_area"),
        ("search_case_documents", {"query": "x", "case_id": "nope"}, "no case 'nope'"),
        ("find_similar_cases", {"case_id": "\0"}, ""),
        ("show", {"corpus": "nope", "span_id": "x"}, "unknown corpus"),
        ("show", {"corpus": "kb", "span_id": "knowledge:x#chunk-0"}, "no span"),
    ],
)
def test_a_mistake_is_told_to_the_agent(
    inside: Callable[[], Client], tool: str, arguments: dict[str, Any], says: str
) -> None:
    result = within(inside(), lambda client: client.call_tool(tool, arguments))
    assert result.is_error
    text = result.content[0].text  # type: ignore[union-attr]
    assert says in text
    assert "Traceback" not in text


def test_over_stdio_the_principal_is_that_of_the_environment(service: Service) -> None:
    async def use(client: Client) -> Any:
        assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
        return (await client.call_tool("search_knowledge", {"query": HFA, "top_k": 3})).structured_content

    mine = within(over_stdio(PINCITE_PRINCIPAL="local-owner"), use)
    assert mine["results"][0]["source_id"] == "hfa-bond-mortgage-riverside.txt"
    nobodys = within(over_stdio(), use)
    assert nobodys["results"] == []
    assert nobodys["degraded"][0]["stage"] == "request"


def test_over_http_the_principal_is_that_of_the_token(
    service: Service, make_token: Callable[..., str], start: Callable[..., Any]
) -> None:
    owner, narrow = make_token("local-owner", "knowledge", "kb"), make_token("visitor", "knowledge")
    server = start("mcp", "--http", "--port", "0", "--principal", "local-owner")
    address = server.address()

    async def use(client: Client) -> tuple[list[str], Any, Any]:
        names = [tool.name for tool in (await client.list_tools()).tools]
        found = await client.call_tool("search_knowledge", {"query": "term sheet Kestrel Court", "top_k": 100})
        return names, found.structured_content, await client.call_tool("kb_search", {"query": "notes"})

    names, seen, notes = within(over_http(address, owner), use)
    assert names == ["search_knowledge", "kb_search", "kb_status", "show"]
    assert not notes.is_error
    narrow_names, seen_by_visitor, refused = within(over_http(address, narrow), use)
    assert narrow_names == ["search_knowledge", "show"]
    assert refused.is_error
    assert "does not open 'kb'" in refused.content[0].text
    with service.database.admin() as connection:
        rows = connection.execute("SELECT source_id FROM pincite_knowledge.sources WHERE groups <> '{}'").fetchall()
    kept = {row[0] for row in rows}
    assert kept & {it["source_id"] for it in seen["results"]}
    assert seen_by_visitor["results"]
    assert not kept & {it["source_id"] for it in seen_by_visitor["results"]}
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        response = httpx.post(address + "/mcp", json={}, headers=headers, timeout=60)
        assert response.status_code == 401
        assert response.headers["www-authenticate"].startswith("Bearer")
    assert server.end() == (0, "", "")


def test_nothing_but_the_protocol_is_on_stdout(service: Service, start: Callable[..., Any]) -> None:
    server = start("mcp", PINCITE_PRINCIPAL="local-owner")
    out, err = server.process.communicate()  # stdin is at its end at once
    assert (server.process.returncode, out, err) == (0, "", "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_on_stdin_ends_when_it_is_told_to(number: int, service: Service, start: Callable[..., Any]) -> None:
    server = start("mcp", PINCITE_PRINCIPAL="local-owner")
    request = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    server.process.stdin.write(json.dumps(request) + "\n")
    server.process.stdin.flush()
    assert json.loads(server.process.stdout.readline())["id"] == 1
    server.process.send_signal(number)  # stdin stays open: the client does not go away by itself
    assert server.process.wait(timeout=60) in (0, 130)
    assert not (Path(os.environ["PINCITE_HOME"]) / "database" / "users" / str(server.process.pid)).exists()
