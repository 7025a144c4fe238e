# SPDX-License-Identifier: Apache-2.0
"""The agent of the examples asks over both transports and cites the page (A1, A5). It is a stock Haystack agent."""

import gc
import runpy
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from haystack.utils import Secret
from pincite.service import Service

mcp = pytest.importorskip("haystack_integrations.tools.mcp")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
QUESTION = "What does the Tessera lease say about vibration?"
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return SimpleNamespace(**runpy.run_path(str(EXAMPLES / "agent.py")))


@pytest.fixture
def asked(example: SimpleNamespace) -> Callable[[Any], str]:
    """What the agent answers, asked through a server."""

    def ask(server: Any) -> str:
        try:
            return str(example.ask(QUESTION, example.ExtractiveChatGenerator(), server))
        finally:
            gc.collect()  # its HTTP client leaves a socket to the collector; the warning belongs here

    return ask


def check(answer: str, service: Service) -> None:
    """The answer's quote stands where it says: on that page, at those characters."""
    first = service.search("knowledge", QUESTION, principal="local-owner")["results"][0]
    quote, place = answer.split("\n")
    assert first["locator"]["page"] == 2
    assert place.startswith(f"{first['title']}, page 2, ")
    start, end = (int(number) for number in place.rpartition("characters ")[2].split(" to "))
    offset = first["locator"]["start"]
    assert quote == f"“{' '.join(first['text'][start - offset : end - offset].split())}”"
    assert "vibration above fifty microns" in quote


def test_an_agent_cites_over_stdio(
    service: Service, example: SimpleNamespace, asked: Callable[[Any], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PINCITE_PRINCIPAL", raising=False)
    check(asked(example.local_server()), service)


def test_an_agent_cites_over_http(
    service: Service, asked: Callable[[Any], str], make_token: Callable[..., str], start: Callable[..., Any]
) -> None:
    address = start("mcp", "--http", "--port", "0").address()
    token = Secret.from_token(make_token("local-owner", "knowledge"))
    check(asked(mcp.StreamableHttpServerInfo(url=address + "/mcp", token=token)), service)
