# SPDX-License-Identifier: Apache-2.0
"""
A stock Haystack agent that asks Pincite over MCP, and answers with the page.

    python examples/agent.py "What does the Tessera lease say about vibration?"

With OPENAI_BASE_URL or OPENAI_API_KEY set the model of that endpoint answers (OPENAI_MODEL says which). Without, the
answer is a sentence quoted from the best passage, and nothing leaves this machine.
"""

import os
import sys

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")  # before the imports: Haystack reports usage otherwise

from extractive_chat_generator import ExtractiveChatGenerator
from haystack import Pipeline
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.components.generators.chat.types import ChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret
from haystack_integrations.tools.mcp import MCPConnectionError, MCPServerInfo, MCPToolset, StdioServerInfo

QUESTION = "What does the HFA bond mortgage say about limitation on liability?"
ADVICE = """\
Answer from the passages that search_knowledge returns, and from nothing else. Quote them word for word, and say for \
each quote the title of the document and the page (locator.page). If intents is not empty and named.matched is false, \
the document that the user named is not here: say so.
"""


def chat_generator() -> ChatGenerator:
    """The model that the environment names; without one, quotes."""
    if not os.environ.keys() & {"OPENAI_BASE_URL", "OPENAI_API_KEY"}:
        print("No model is configured, so the answer is a quote (see examples/README.md).", file=sys.stderr)
        return ExtractiveChatGenerator()
    key = Secret.from_token(os.environ.get("OPENAI_API_KEY") or "none")  # a local endpoint asks for none
    return OpenAIChatGenerator(api_key=key, model=os.environ.get("OPENAI_MODEL") or "gpt-5-mini")


def local_server() -> MCPServerInfo:
    """``pincite mcp`` in a process of its own, asked as the configuration's local-owner unless told otherwise."""
    return StdioServerInfo(
        command=sys.executable, args=["-m", "pincite", "mcp"], env={"PINCITE_PRINCIPAL": "local-owner", **os.environ}
    )


def ask(question: str, generator: ChatGenerator, server: MCPServerInfo) -> str:
    """The agent's last word on a question."""
    tools = MCPToolset(server, tool_names=["search_knowledge", "show"], connection_timeout=60, invocation_timeout=60)
    try:
        pipeline = Pipeline()
        pipeline.add_component("agent", Agent(chat_generator=generator, tools=tools, system_prompt=ADVICE))
        result = pipeline.run({"agent": {"messages": [ChatMessage.from_user(question)]}})
        return str(result["agent"]["messages"][-1].text)
    finally:
        tools.close()


if __name__ == "__main__":
    asked = " ".join(sys.argv[1:]) or QUESTION
    try:
        print(f"{asked}\n\n{ask(asked, chat_generator(), local_server())}")
    except MCPConnectionError:
        print("pincite mcp did not start, see above; if there is no database yet: make demo", file=sys.stderr)
        sys.exit(2)
