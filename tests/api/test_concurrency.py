# SPDX-License-Identifier: Apache-2.0
"""Many clients at one time, of several principals and corpora: each gets what is his, and only that (C1, C3)."""

import asyncio
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import httpx

CLIENTS, ROUNDS = 16, 6
QUESTIONS = (
    "What does the HFA bond mortgage say about limitation on liability?",
    "terms of the loan",
    "notice to the neighbours",
    "levy",
    "היטל השבחה",
)
BETTERMENT = {"practice_area": "betterment_levy"}
CORPORA: dict[str, dict[str, str]] = {
    "knowledge": {},
    "case_documents": BETTERMENT,
    "precedent_library": {},
    "internal_decisions": {},
    "kb": {},
}


class Asked(NamedTuple):
    """A client's request: token's name, corpus and question."""

    who: str
    corpus: str
    query: str


async def answer(client: httpx.AsyncClient, token: str, asked: Asked) -> list[tuple[str, float]]:
    body: dict[str, Any] = {"corpus": asked.corpus, "query": asked.query, "scope": CORPORA[asked.corpus] or None}
    response = await client.post("/search", json=body, headers={"Authorization": f"Bearer {token}"})
    assert response.status_code == 200, response.text
    found = response.json()
    assert found["corpus"] == asked.corpus
    assert {it["corpus"] for it in found["results"]} <= {asked.corpus}
    assert found["degraded"] == []
    return [(it["span_id"], it["score"]) for it in found["results"]]


def test_sixteen_clients_get_no_wrong_row(make_token: Callable[..., str], rest_of: Callable[..., Any]) -> None:
    tokens = {who: make_token(who, *CORPORA) for who in ("local-owner", "visitor")}
    rest = rest_of(waiting=CLIENTS)
    all_asked = [Asked(who, corpus, query) for who in tokens for corpus in CORPORA for query in QUESTIONS]

    async def one(client: httpx.AsyncClient, seed: int, wanted: dict[Asked, Any]) -> int:
        for asked in random.Random(seed).sample(all_asked, ROUNDS):
            assert await answer(client, tokens[asked.who], asked) == wanted[asked], asked
        return ROUNDS

    async def scene() -> int:
        async with rest.client() as client:
            client.timeout = httpx.Timeout(120)
            wanted = {asked: await answer(client, tokens[asked.who], asked) for asked in all_asked}
            assert any(
                wanted[Asked("local-owner", "knowledge", query)] != wanted[Asked("visitor", "knowledge", query)]
                for query in QUESTIONS
            )
            return sum(await asyncio.gather(*(one(client, seed, wanted) for seed in range(CLIENTS))))

    assert asyncio.run(scene()) == CLIENTS * ROUNDS
