# SPDX-License-Identifier: Apache-2.0
"""``pincite mcp --http`` tells Prometheus of each call, and a load balancer that it is up."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from pincite.service import Service

HFA = "What does the HFA bond mortgage say about limitation on liability?"
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search_knowledge", {"query": HFA}),
    ("search_knowledge", {"query": "x", "topk": 3}),  # refused before the tool is asked
    ("search_decisions", {"query": "levy", "practice_area": "betterment_levy"}),  # not a corpus of the token
    ("kb_status", {}),
]


def call(address: str, token: str) -> None:
    async def calls() -> None:
        async with (
            create_mcp_http_client(headers={"Authorization": f"Bearer {token}"}) as http,
            Client(streamable_http_client(address + "/mcp", http_client=http)) as client,
        ):
            for name, arguments in CALLS:
                await client.call_tool(name, arguments)

    asyncio.run(calls())


def test_calls_count_and_health_is_open(
    service: Service, make_token: Callable[..., str], start: Callable[..., Any]
) -> None:
    token = make_token("local-owner", "knowledge", "kb")
    server = start("mcp", "--http", "--port", "0")
    address = server.address()
    call(address, token)
    assert httpx.get(address + "/health", timeout=60).json() == {"status": "up"}
    assert httpx.get(address + "/metrics", timeout=60).status_code == 401
    text = httpx.get(address + "/metrics", headers={"Authorization": f"Bearer {token}"}, timeout=60).text
    for line in (
        'pincite_mcp_calls_total{failed="false",tool="search_knowledge"} 1.0',
        'pincite_mcp_calls_total{failed="true",tool="search_knowledge"} 1.0',
        'pincite_mcp_calls_total{failed="true",tool="search_decisions"} 1.0',
        'pincite_mcp_calls_total{failed="false",tool="kb_status"} 1.0',
        'pincite_mcp_call_seconds_count{tool="search_knowledge"} 2.0',
        'pincite_searches_total{corpus="knowledge",named="true",reranked="false"} 1.0',
        'pincite_stage_seconds_count{stage="dense"} 1.0',
        'pincite_http_requests_total{method="GET",route="/health",status="200"} 1.0',
    ):
        assert line in text.splitlines(), line
    assert 'route="/mcp",status="200"' in text
    assert "liability" not in text
    assert server.end() == (0, "", "")


def test_a_call_of_no_tool_makes_no_figure_of_its_own(
    service: Service, make_token: Callable[..., str], start: Callable[..., Any]
) -> None:
    token = make_token("local-owner", "kb")
    address = start("mcp", "--http", "--port", "0").address()
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "invented", "arguments": {}}}
    httpx.post(address + "/mcp", json=request, headers=headers, timeout=60)
    text = httpx.get(address + "/metrics", headers=headers, timeout=60).text
    assert "invented" not in text
    assert 'pincite_mcp_calls_total{failed="true",tool="other"} 1.0' in text
