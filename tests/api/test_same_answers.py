# SPDX-License-Identifier: Apache-2.0
"""Command line, Service, REST and MCP give the same ids, order and scores: none has a ranking of its own (N13)."""

import asyncio
import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from mcp import Client
from pincite.api.settings import ServerSettings
from pincite.cli import run
from pincite.mcp_server.server import create_server
from pincite.service import Service

QUESTIONS = Path(__file__).resolve().parents[2] / "app" / "demo" / "questions.yaml"
SAMPLE = 4  # every fourth question: all families, in a minute
Ranking = list[tuple[str, float, str]]

OTHERS: list[tuple[str, str, str, dict[str, str]]] = [
    ("case_documents", "search_case_documents", "how was the levy worked out", {"case_id": "BL-101"}),
    ("precedent_library", "search_precedent_library", "when is relief from a building line proportionate", {}),
    ("internal_decisions", "search_internal_decisions", "היטל השבחה על תכנית", {}),
    ("attached_citations", "precedent_search_library", "notice to the neighbours", {}),
    ("kb", "kb_search", "how are decisions numbered", {}),
]


def ranking(answer: dict[str, Any]) -> Ranking:
    return [(it["span_id"], it["score"], it["score_kind"]) for it in answer["results"]]


def by_command_line(*arguments: str) -> Ranking:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert run([*arguments, "--json"]) == 0
    return ranking(json.loads(out.getvalue()))


def by_mcp(service: Service, calls: list[tuple[str, dict[str, Any]]]) -> list[Ranking]:
    async def ask() -> list[Ranking]:
        async with Client(create_server(service, ServerSettings(principal="local-owner"))) as client:
            results = [await client.call_tool(name, arguments) for name, arguments in calls]
            return [ranking(it.structured_content or {}) for it in results]

    return asyncio.run(ask())


def test_demo_questions_have_one_answer(service: Service, rest: Any) -> None:
    asked = [it["query"] for it in yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))][::SAMPLE]
    assert len(asked) > 20
    wanted = [ranking(dict(service.search("knowledge", query, principal="local-owner"))) for query in asked]
    assert sum(map(bool, wanted)) > 20
    assert [ranking(rest.search("knowledge", query)) for query in asked] == wanted
    assert by_mcp(service, [("search_knowledge", {"query": query}) for query in asked]) == wanted
    assert [by_command_line("search", "knowledge", query) for query in asked] == wanted


@pytest.mark.parametrize(("corpus", "tool", "query", "scope"), OTHERS)
def test_every_corpus_has_one_answer(
    service: Service, rest: Any, corpus: str, tool: str, query: str, scope: dict[str, str]
) -> None:
    wanted = ranking(dict(service.tool(tool, query, principal="local-owner", scope=scope or None)))
    assert wanted
    body = {"query": query, "scope": scope or None}
    assert ranking(rest("POST", f"/tools/{tool}", json=body).json()) == wanted
    assert by_mcp(service, [(tool, {"query": query, **scope})]) == [wanted]
    scopes = [part for key, value in scope.items() for part in ("--scope", f"{key}={value}")]
    assert by_command_line("tool", tool, query, *scopes) == wanted
