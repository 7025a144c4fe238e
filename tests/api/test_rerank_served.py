# SPDX-License-Identifier: Apache-2.0
"""``pincite serve`` with rankers that are off, missing, broken or killed, while they load and under load."""

import asyncio
import os
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
import yaml
from haystack_integrations.document_stores.pincite.resources import read_config
from pincite.service import Service

TIMEOUT, FAILURES, REOPEN_AFTER = 0.5, 3, 0.3
LATE = f"ranker took longer than {TIMEOUT:g} s"  # which any ranker may be on a busy machine
LOADING = "ranker is still loading"
QUERY = "levy on the rise in value"
SCOPES = {"case_documents": {"practice_area": "betterment_levy"}}

FAULTS = {
    "timeout": LATE,
    "error": "ranker failed: RuntimeError",
    "malformed answer": "ranker's answer is no ranking: no documents",
    "too few scores": "ranker's answer is no ranking: some scores for more documents",
    "NaN": "ranker's answer is no ranking: a score that is no number",
    "killed": "ranker failed: CalledProcessError",
    "killed in its thread": "ranker ended in the middle of its work: SystemExit",
}
CALM = {
    "off": "reranking is off",
    "no model": "no ranker is configured",
    "load failure": "ranker could not be loaded: OSError",
}
SERVERS = [
    {
        "knowledge": "timeout",
        "case_documents": "error",
        "precedent_library": "malformed answer",
        "internal_decisions": "too few scores",
        "attached_citations": "NaN",
    },
    {
        "knowledge": "killed in its thread",
        "case_documents": "killed",
        "precedent_library": "off",
        "internal_decisions": "no model",
        "attached_citations": "load failure",
    },
]


class Answer(NamedTuple):
    """What is compared of a search."""

    places: list[tuple[str, float, str]]
    reranked: bool
    reason: str | None


class Served:
    """A server, one state of the ranker for each corpus."""

    def __init__(self, address: str, states: Mapping[str, str], folder: Path) -> None:
        self.address = address
        self.states = states
        self.folder = folder

    def ask(self, *, rerank: bool = True, times: int = 1) -> dict[str, list[Answer]]:
        """Every corpus at one time, so many times each."""
        return asyncio.run(self._ask(rerank, times, None))

    def ask_and_break(self, times: int) -> dict[str, list[Answer]]:
        """The same, and when the first answers are there the rankers break."""
        return asyncio.run(self._ask(True, times, self.folder / "broken"))

    def status(self) -> dict[str, dict[str, Any]]:
        """What the server says of its rankers."""
        facts: dict[str, dict[str, Any]] = httpx.get(f"{self.address}/status", timeout=60).json()["rerank"]
        return {corpus: facts[corpus] for corpus in self.states}

    def wait(self, done: Callable[[], bool]) -> None:
        while not done():
            time.sleep(0.05)

    async def _ask(self, rerank: bool, times: int, breaks: Path | None) -> dict[str, list[Answer]]:
        found: dict[str, list[Answer]] = {corpus: [] for corpus in self.states}

        async def one(client: httpx.AsyncClient, corpus: str) -> None:
            body = {"corpus": corpus, "query": QUERY, "rerank": rerank, "scope": SCOPES.get(corpus)}
            response = await client.post("/search", json=body)
            assert response.status_code == 200, response.text
            answer = response.json()
            places = [(it["span_id"], it["score"], it["score_kind"]) for it in answer["results"]]
            found[corpus].append(Answer(places, answer["reranked"], answer["rerank_reason"]))
            if breaks is not None and len(found[corpus]) == 3:
                breaks.touch()

        async with httpx.AsyncClient(base_url=self.address, timeout=120) as client:
            await asyncio.gather(*(one(client, corpus) for _ in range(times) for corpus in self.states))
        return found


@pytest.fixture(params=SERVERS, ids=["five", "the others"])
def served(
    request: pytest.FixtureRequest,
    service: Service,
    start: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Served:
    """A server whose rankers do not load before ``loaded`` is there."""
    for corpus, state in request.param.items():
        pipeline = yaml.safe_load(read_config(f"{corpus}.yaml")[0])
        ranker = {
            "type": "faulty_ranker.FaultyRanker",
            "init_parameters": {"fault": state, "folder": str(tmp_path)},
        }
        pipeline["components"]["reranker"]["init_parameters"] |= {
            "ranker": None if state == "no model" else ranker,
            "enabled": state != "off",
            "timeout": TIMEOUT,
            "failures_to_open": FAILURES,
            "reopen_after": REOPEN_AFTER,
        }
        (tmp_path / f"{corpus}.yaml").write_text(yaml.safe_dump(pipeline, sort_keys=False), encoding="utf-8")
    for name in [name for name in os.environ if "RERANK" in name]:
        monkeypatch.delenv(name)
    server = start(
        "serve",
        "--port",
        "0",
        PINCITE_PRINCIPAL="local-owner",
        PINCITE_CONFIG=str(tmp_path),
        PYTHONPATH=str(Path(__file__).parents[1] / "data"),
        HAYSTACK_DESERIALIZATION_ALLOWLIST="faulty_ranker",
    )
    return Served(server.address(), request.param, tmp_path)


def test_a_server_answers_in_fused_order_whatever_its_rankers_do(served: Served) -> None:
    (served.folder / "broken").touch()
    fused = {corpus: answers[0].places for corpus, answers in served.ask(rerank=False).items()}
    assert all(fused.values())

    def check(answers: dict[str, list[Answer]], wanted: Callable[[str, str], set[str]]) -> None:
        for corpus, state in served.states.items():
            for answer in answers[corpus]:
                assert answer.places == fused[corpus], (state, answer.reason)
                assert not answer.reranked
                assert _plain(answer.reason) in wanted(state, corpus), (state, answer.reason)

    # While they load.
    check(served.ask(times=4), lambda state, _: {LOADING if state not in ("off", "no model") else CALM[state]})

    # Broken from the start: one search, then many at one time.
    (served.folder / "loaded").touch()
    served.wait(lambda: all(it["reason"] != LOADING for it in served.status().values()))
    first, many = served.ask(), served.ask(times=12)
    check(first, lambda state, _: _reasons(state))
    check(many, lambda state, _: {*_reasons(state), *map(_paused, _reasons(state))})
    for corpus, state in served.states.items():
        seen = {_plain(it.reason) for it in (*first[corpus], *many[corpus])}
        assert seen & {_reason(state), _paused(_reason(state))}, (state, seen)

    # Mended, then broken in the middle of many.
    (served.folder / "broken").unlink()
    working = [corpus for corpus, state in served.states.items() if state in FAULTS]
    served.wait(lambda: (mended := served.ask()) and all(mended[corpus][0].reranked for corpus in working))
    turned = {corpus: answers[0].places for corpus, answers in served.ask().items() if answers[0].reranked}
    for corpus, answers in served.ask_and_break(times=12).items():
        for answer in answers:
            if answer.reranked:
                assert answer.places == turned.get(corpus, answer.places)
                assert answer.places != fused[corpus]
            else:
                check({**{it: [] for it in served.states}, corpus: [answer]}, lambda state, _: _all_reasons(state))
    check(served.ask(), lambda state, _: _all_reasons(state))
    assert {it["enabled"] for it in served.status().values()} >= {True}


def _reason(state: str) -> str:
    return FAULTS[state] if state in FAULTS else CALM[state]


def _reasons(state: str) -> set[str]:
    return {_reason(state), LATE} if state in FAULTS else {CALM[state]}


def _all_reasons(state: str) -> set[str]:
    return {*_reasons(state), *map(_paused, _reasons(state))} if state in FAULTS else _reasons(state)


def _paused(reason: str) -> str:
    return f"ranker paused after {FAILURES} failures, the last: {reason}"


def _plain(reason: str | None) -> str:
    """Without how many candidates there were."""
    return re.sub(r"\S+ scores for \S+ documents", "some scores for more documents", str(reason))
