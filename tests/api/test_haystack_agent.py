# SPDX-License-Identifier: Apache-2.0
"""A stock Haystack agent with ``mcp-haystack`` uses the tools: it asks, reads, and cites the page (A1, A5)."""

import gc
import json
import os
import sys
from collections.abc import Callable
from typing import Any

import pytest
from haystack import Pipeline, component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.utils import Secret
from pincite.service import Service

mcp = pytest.importorskip("haystack_integrations.tools.mcp")
QUESTION = "What does the HFA bond mortgage say about limitation on liability?"


@component
class ScriptedModel:
    """Stands for a language model: it calls the search tool once, and cites the first result."""

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None, **given: Any) -> dict[str, list[ChatMessage]]:
        results = messages[-1].tool_call_results
        if not results:
            call = ToolCall("search_knowledge", {"query": messages[-1].text, "top_k": 3}, id="1")
            return {"replies": [ChatMessage.from_assistant(tool_calls=[call])]}
        content = json.loads(str(results[0].result))
        answer = content.get("structuredContent") or json.loads(content["content"][0]["text"])
        first = answer["results"][0]
        section, page = first["locator"]["section"], first["locator"]["page"]
        return {"replies": [ChatMessage.from_assistant(f"{first['title']}, {section}, page {page}: {first['text']}")]}


def asked(info: Any) -> str:
    tools = mcp.MCPToolset(info, tool_names=["search_knowledge", "show"], connection_timeout=60, invocation_timeout=60)
    try:
        pipeline = Pipeline()
        pipeline.add_component("agent", Agent(chat_generator=ScriptedModel(), tools=tools))
        result = pipeline.run({"agent": {"messages": [ChatMessage.from_user(QUESTION)]}})
        return str(result["agent"]["messages"][-1].text)
    finally:
        tools.close()
        gc.collect()  # its HTTP client leaves a socket to the collector; the warning belongs here


def expected(service: Service) -> str:
    first = service.search("knowledge", QUESTION, principal="local-owner")["results"][0]
    return f"{first['title']}, {first['locator']['section']}, page {first['locator']['page']}: {first['text']}"


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_an_agent_cites_over_stdio(service: Service) -> None:
    environment = {**os.environ, "PINCITE_PRINCIPAL": "local-owner"}
    command = ["-c", "from pincite.cli import main; main()", "mcp"]
    info = mcp.StdioServerInfo(command=sys.executable, args=command, env=environment)
    assert asked(info) == expected(service)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_an_agent_cites_over_http(service: Service, make_token: Callable[..., str], start: Callable[..., Any]) -> None:
    address = start("mcp", "--http", "--port", "0").address()
    token = Secret.from_token(make_token("local-owner", "knowledge"))
    assert asked(mcp.StreamableHttpServerInfo(url=address + "/mcp", token=token)) == expected(service)
