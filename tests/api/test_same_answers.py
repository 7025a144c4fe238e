# SPDX-License-Identifier: Apache-2.0
"""
Command line, Service, REST and MCP give the same ids, order and scores: none has a ranking of its own (N13).

A hundred questions in each corpus, made from its own texts, and more for the tool that starts from a case.
"""

import asyncio
import contextlib
import io
import itertools
import json
import random
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeVar

import pytest
from haystack_integrations.document_stores.pincite.corpora import schema_name
from mcp import Client
from pincite.api.settings import ServerSettings
from pincite.cli import run
from pincite.mcp_server.server import create_server
from pincite.service import Service
from psycopg.sql import SQL, Identifier

QUESTIONS = 100
OF_CASES = 24  # there are no hundred cases to start from
AT_ONCE = 4  # requests to REST and MCP
HEBREW = re.compile("[\u05d0-\u05ea]")
TOOLS = {
    "search_knowledge": "knowledge",
    "search_decisions": "case_documents",
    "find_similar_cases": "case_documents",
    "search_precedent_library": "precedent_library",
    "search_internal_decisions": "internal_decisions",
    "precedent_search_library": "attached_citations",
    "kb_search": "kb",
}
PASSAGES = SQL(
    "SELECT title, section, content, sources.meta->>'case_id', sources.meta->>'practice_area' "
    "FROM {schema}.spans AS span JOIN {schema}.sources USING (source_id) WHERE span.searchable ORDER BY span.id"
)
Ranking = list[tuple[str, float, str]]
T = TypeVar("T")


class Question(NamedTuple):
    """What is asked, and the scope that the tool wants with it."""

    query: str
    scope: dict[str, str]


class Passage(NamedTuple):
    """A stored passage to make a question of."""

    title: str
    section: str | None
    text: str
    case_id: str | None
    practice_area: str | None


def questions(service: Service, tool: str) -> list[Question]:
    """Different questions of a tool, the same ones every time: half of them name a document."""
    corpus = TOOLS[tool]
    with service.database.admin() as connection:
        statement = PASSAGES.format(schema=Identifier(schema_name(corpus)))
        passages = [Passage(*row) for row in connection.execute(statement).fetchall()]
    rng = random.Random(tool)
    made: dict[tuple[str, ...], Question] = {}
    hebrew = [passage for passage in passages if HEBREW.search(passage.text)] or passages
    # Eleven turns: each form has its turn of Hebrew.
    for form, pool in zip(itertools.cycle(FORMS), itertools.cycle([hebrew, *[passages] * 10])):
        passage = rng.choice(pool)
        query, scope = form(passage, rng), scope_of(tool, passage)
        if query and scope is not None:
            made.setdefault((query, *scope.values()), Question(query, scope))
        if len(made) == number_of(tool):
            return list(made.values())
    raise AssertionError  # it goes on for ever


def number_of(tool: str) -> int:
    return OF_CASES if tool == "find_similar_cases" else QUESTIONS


def scope_of(tool: str, passage: Passage) -> dict[str, str] | None:
    """The scope that the tool wants; ``None`` where the passage has none to give."""
    key, value = {
        "search_decisions": ("practice_area", passage.practice_area),
        "find_similar_cases": ("case_id", passage.case_id),
    }.get(tool, ("", ""))
    return None if value is None else {key: value} if key else {}


def _words(text: str, rng: random.Random) -> str:
    words = re.findall(r"[\w'’׳״-]+", text)
    start = rng.randrange(max(1, len(words) - 12))
    return " ".join(words[start : start + rng.randint(3, 12)])


def _named(passage: Passage, rng: random.Random) -> str:
    topic = (passage.section or "").rpartition(" > ")[2] or _words(passage.text, rng)
    if HEBREW.search(passage.title):
        return f"מה נאמר ב{passage.title} על {topic}?"
    return f"What does the {passage.title} say about {topic}?"


def _typed(passage: Passage, rng: random.Random) -> str:
    """A title as somebody types it: in lower case, one letter lost."""
    title = passage.title.lower()
    place = rng.randrange(len(title))
    return f"{title[:place]}{title[place + 1 :]} {_words(passage.text, rng)}"


FORMS: list[Callable[[Passage, random.Random], str]] = [
    _named,
    lambda passage, rng: _words(passage.text, rng),
    _typed,
    lambda passage, rng: f"{passage.section or ''} {_words(passage.text, rng)}".strip(),
]


def ranking(answer: dict[str, Any]) -> Ranking:
    return [(it["span_id"], it["score"], it["score_kind"]) for it in answer["results"]]


def by_service(service: Service, tool: str, asked: list[Question]) -> Iterator[Ranking]:
    for query, scope in asked:
        yield ranking(dict(service.tool(tool, query, principal="local-owner", scope=scope or None)))


def by_command_line(tool: str, asked: list[Question]) -> Iterator[Ranking]:
    for query, scope in asked:
        scopes = [part for key, value in scope.items() for part in ("--scope", f"{key}={value}")]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            assert run(["tool", tool, query, *scopes, "--json"]) == 0
        yield ranking(json.loads(out.getvalue()))


async def some_at_once(jobs: list[Callable[[], Awaitable[T]]]) -> list[T]:
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(job: Callable[[], Awaitable[T]]) -> T:
        async with gate:
            return await job()

    return await asyncio.gather(*map(one, jobs))


def by_rest(rest: Any, tool: str, asked: list[Question]) -> list[Ranking]:
    async def ask() -> list[Ranking]:
        async with rest.client() as client:
            bodies = [{"query": query, "scope": scope or None} for query, scope in asked]
            answers = await some_at_once([partial(client.post, f"/tools/{tool}", json=body) for body in bodies])
        return [ranking(answer.raise_for_status().json()) for answer in answers]

    return asyncio.run(ask())


def by_mcp(service: Service, tool: str, asked: list[Question]) -> list[Ranking]:
    async def ask() -> list[Ranking]:
        async with Client(create_server(service, ServerSettings(principal="local-owner"))) as client:
            calls = [partial(client.call_tool, tool, {"query": query, **scope}) for query, scope in asked]
            return [ranking(it.structured_content or {}) for it in await some_at_once(calls)]

    return asyncio.run(ask())


@pytest.fixture(scope="module", autouse=True)
def running(service: Service) -> Iterator[None]:
    """Another user of the embedded database: a command that is the last one stops it, and the next has to start it."""
    command = [sys.executable, "-m", "pincite", "mcp"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}) + "\n")
        process.stdin.flush()
        assert process.stdout.readline()
        yield
        process.stdin.close()


@pytest.mark.parametrize("tool", TOOLS)
def test_every_question_has_one_answer(service: Service, rest: Any, tool: str) -> None:
    asked = questions(service, tool)
    assert len({(question.query, *question.scope.values()) for question in asked}) == number_of(tool)
    wanted = list(by_service(service, tool, asked))
    assert sum(map(bool, wanted)) > 0.9 * len(asked)
    # Answers that are all alike would show little; those to like cases are.
    assert len({tuple(it) for it in wanted}) > 0.5 * len(asked) or tool == "find_similar_cases"
    assert by_rest(rest, tool, asked) == wanted
    assert by_mcp(service, tool, asked) == wanted
    assert list(by_command_line(tool, asked)) == wanted


@pytest.mark.parametrize("corpus", ["knowledge", "internal_decisions"])
def test_some_questions_are_hebrew(service: Service, corpus: str) -> None:
    tool = next(name for name, of in TOOLS.items() if of == corpus)
    assert sum(bool(HEBREW.search(question.query)) for question in questions(service, tool)) >= 8


def test_the_command_line_searches_a_corpus_as_its_tool_does(service: Service) -> None:
    (question, *_) = questions(service, "search_knowledge")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert run(["search", "knowledge", question.query, "--json"]) == 0
    assert [ranking(json.loads(out.getvalue()))] == list(by_service(service, "search_knowledge", [question]))
