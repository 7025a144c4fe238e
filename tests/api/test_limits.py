# SPDX-License-Identifier: Apache-2.0
"""Bounds on bytes, seconds and work: an honest answer beyond each, and none that is lost."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from http import HTTPStatus
from typing import Any

import pytest
from pincite.api.limits import Turnstile
from pincite.api.problems import RequestError

HFA = "What does the HFA bond mortgage say about limitation on liability?"


def test_a_large_body_is_refused(rest_of: Callable[..., Any]) -> None:
    rest = rest_of(principal="local-owner", body_bytes=200)
    assert rest("POST", "/search", json={"corpus": "kb", "query": "x"}).status_code == 200
    response = rest("POST", "/search", json={"corpus": "kb", "query": "x" * 200})
    assert (response.status_code, response.json()["type"]) == (413, "urn:pincite:too-large")


def test_a_large_body_without_a_length_is_refused(rest_of: Callable[..., Any]) -> None:
    async def parts() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b" " * 100

    response = rest_of(principal="local-owner", body_bytes=200)("POST", "/search", content=parts())
    assert response.status_code == 413


def test_a_search_that_takes_too_long_gets_504(rest_of: Callable[..., Any]) -> None:
    response = rest_of(principal="local-owner", seconds=0.001)(
        "POST", "/search", json={"corpus": "knowledge", "query": HFA}
    )
    assert (response.status_code, response.json()["type"]) == (504, "urn:pincite:timeout")


def test_a_full_server_says_when_to_come_again(rest_of: Callable[..., Any]) -> None:
    rest = rest_of(principal="local-owner", running=1, waiting=1)

    async def many() -> list[Any]:
        async with rest.client() as client:
            body = {"corpus": "knowledge", "query": HFA}
            return await asyncio.gather(*(client.post("/search", json=body) for _ in range(8)))

    responses = asyncio.run(many())
    counts = {status: sum(it.status_code == status for it in responses) for status in (200, 429)}
    assert sum(counts.values()) == 8
    assert counts[200] >= 2
    assert counts[429] >= 1
    refused = next(it for it in responses if it.status_code == 429)
    assert int(refused.headers["retry-after"]) >= 1


def test_places_are_given_in_order_and_given_back() -> None:
    async def scene() -> list[int]:
        turnstile, order = Turnstile(running=2, waiting=10), []

        async def work(number: int) -> int:
            order.append(number)
            await asyncio.sleep(0)
            if number == 3:
                raise ValueError
            return number

        results = await asyncio.gather(*(turnstile.run(lambda n=n: work(n)) for n in range(8)), return_exceptions=True)
        assert [it for it in results if not isinstance(it, ValueError)] == [0, 1, 2, 4, 5, 6, 7]
        assert (turnstile.running, turnstile.waiting) == (0, 0)
        return order

    assert asyncio.run(scene()) == list(range(8))


def test_who_waits_too_long_did_nothing() -> None:
    async def scene() -> None:
        turnstile, begun = Turnstile(running=1, waiting=5, seconds=0.05), []

        async def work(name: str) -> None:
            begun.append(name)
            await asyncio.sleep(60)

        first = asyncio.ensure_future(turnstile.run(lambda: work("first")))
        await asyncio.sleep(0.02)
        results = await asyncio.gather(first, turnstile.run(lambda: work("second")), return_exceptions=True)
        assert [type(it) for it in results] == [RequestError, RequestError]
        statuses = [it.status for it in results if isinstance(it, RequestError)]
        assert statuses[0] is HTTPStatus.GATEWAY_TIMEOUT
        assert statuses[1] in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.GATEWAY_TIMEOUT)
        await asyncio.sleep(0)
        assert (turnstile.running, turnstile.waiting) == (0, 0)

    asyncio.run(scene())


def test_a_thread_keeps_its_place_until_it_ends() -> None:
    async def scene() -> None:
        turnstile, go_on = Turnstile(running=1, waiting=0, seconds=0.05), threading.Event()
        with pytest.raises(RequestError) as late:
            await turnstile.run_in_thread(go_on.wait)
        assert late.value.status is HTTPStatus.GATEWAY_TIMEOUT
        with pytest.raises(RequestError) as busy:
            await turnstile.run_in_thread(go_on.wait)
        assert busy.value.status is HTTPStatus.TOO_MANY_REQUESTS
        go_on.set()
        while turnstile.running:
            await asyncio.sleep(0.001)
        assert await turnstile.run_in_thread(lambda: 7) == 7
        turnstile.close()

    asyncio.run(scene())


def test_a_caller_who_goes_away_frees_his_place() -> None:
    async def scene() -> None:
        turnstile = Turnstile(running=1, waiting=5)
        gone = asyncio.ensure_future(turnstile.run(lambda: asyncio.sleep(60)))
        waiting = asyncio.ensure_future(turnstile.run(lambda: asyncio.sleep(0, "done")))
        await asyncio.sleep(0.01)
        assert (turnstile.running, turnstile.waiting) == (1, 1)
        gone.cancel()
        assert await waiting == "done"
        await asyncio.sleep(0)
        assert (turnstile.running, turnstile.waiting) == (0, 0)

    asyncio.run(scene())


def test_who_would_wait_for_nothing_is_told_at_once() -> None:
    async def scene() -> None:
        turnstile = Turnstile(running=1, waiting=100, seconds=1.0)
        turnstile._durations.extend([0.3] * 20 + [30.0] * 4)  # so three in line are served in time, and a fourth is not
        jobs = [asyncio.ensure_future(turnstile.run(lambda: asyncio.sleep(60))) for _ in range(5)]
        await asyncio.sleep(0.01)
        assert (turnstile.running, turnstile.waiting, turnstile.refused) == (1, 3, 1)
        for job in jobs:
            job.cancel()
        results = await asyncio.gather(*jobs, return_exceptions=True)
        assert [it.status for it in results if isinstance(it, RequestError)] == [HTTPStatus.TOO_MANY_REQUESTS]

    asyncio.run(scene())


def test_what_is_not_done_when_the_server_ends_is_told_so() -> None:
    async def scene() -> None:
        turnstile, go_on = Turnstile(running=3, waiting=5, seconds=60.0), threading.Event()
        jobs = [
            turnstile.run(lambda: asyncio.sleep(0.01, "done")),
            turnstile.run(lambda: asyncio.sleep(60)),
            turnstile.run_in_thread(go_on.wait),
            turnstile.run(lambda: asyncio.sleep(60)),  # has the first one's place
            turnstile.run(lambda: asyncio.sleep(60)),  # is in line
        ]
        results = asyncio.gather(*jobs, return_exceptions=True)
        await asyncio.sleep(0.005)
        turnstile.end(0.1)
        done, *ended = await results
        assert done == "done"
        with pytest.raises(RequestError) as late:
            await turnstile.run(lambda: asyncio.sleep(60))
        for error in (*ended, late.value):
            assert isinstance(error, RequestError)
            assert (error.status, error.kind) == (HTTPStatus.SERVICE_UNAVAILABLE, "ending")
        go_on.set()
        while turnstile.running:
            await asyncio.sleep(0.001)
        turnstile.close()

    asyncio.run(scene())
