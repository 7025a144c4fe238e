# SPDX-License-Identifier: Apache-2.0
"""Answers by quoting: a chat generator for agents that needs no language model."""

import json
import re
from typing import Any

from haystack import component
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import Tool, Toolset

_SENTENCE = re.compile(r".+?(?:[.;:?!](?=\s)|\Z)", re.DOTALL)
_WORD = re.compile(r"\w{3,}")
_FEWEST_WORDS = 5  # fewer are a heading or a number


@component
class ExtractiveChatGenerator:
    """
    Calls a Pincite search tool with the user's words, and answers with a sentence of the first result.

    It writes nothing of its own but where the sentence stands, understands no question, and gives the same answer to
    the same one. That is all that can honestly be done without a model; with one, put in its chat generator instead.
    """

    def __init__(self, tool: str = "search_knowledge") -> None:
        """:param tool: name of the search tool."""
        self.tool = tool

    @component.output_types(replies=list[ChatMessage])
    def run(
        self, messages: list[ChatMessage], tools: list[Tool | Toolset] | Toolset | None = None
    ) -> dict[str, list[ChatMessage]]:
        """
        The next message of the conversation.

        :param messages: the conversation, its last message the user's question or the result of the tool.
        :param tools: what the agent may call; the generator calls the one that it was made with.
        :returns: ``replies``: one message, a call of the tool or the answer.
        """
        results = messages[-1].tool_call_results
        if results:
            told = str(results[0].result)
            reply = ChatMessage.from_assistant(told if results[0].error else answer(told))
        else:
            reply = ChatMessage.from_assistant(
                tool_calls=[ToolCall(self.tool, {"query": messages[-1].text, "top_k": 3})]
            )
        return {"replies": [reply]}


def answer(tool_result: str) -> str:
    """The answer that a search result gives, as MCP hands it over."""
    result = json.loads(tool_result)
    found = result.get("structuredContent") or json.loads(result["content"][0]["text"])
    if found["intents"] and not found["named"]["matched"]:
        return f"There is no {found['intents'][0]['title_query']} here."
    if not found["results"]:
        return "Nothing is found."
    passage = found["results"][0]
    start, sentence = best_sentence(passage["text"], found["topic_query"])
    offset = passage["locator"]["start"] + start
    return f"“{' '.join(sentence.split())}”\n{place(passage)}, characters {offset} to {offset + len(sentence)}"


def best_sentence(text: str, question: str) -> tuple[int, str]:
    """The sentence of a text that has the most words of a question, and where it begins; the first of equals."""
    wanted = set(_WORD.findall(question.casefold()))
    sentences = [(match.start() + _indent(match.group()), match.group().strip()) for match in _SENTENCE.finditer(text)]
    whole = [pair for pair in sentences if len(pair[1].split()) >= _FEWEST_WORDS] or [(0, text)]
    return max(whole, key=lambda pair: len(wanted.intersection(_WORD.findall(pair[1].casefold()))))


def place(passage: dict[str, Any]) -> str:
    """Where a passage stands: title, page (of paged files) and section."""
    locator = passage["locator"]
    page = f"page {locator['page']}" if locator["page"] else "not paged"
    return ", ".join(part for part in (passage["title"], page, locator["section"]) if part)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
