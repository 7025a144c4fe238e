# SPDX-License-Identifier: Apache-2.0
"""A real Hayhooks server deploys the wrapper and answers with pages."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from pincite.service import Service

pytest.importorskip("hayhooks")
PIPELINES = Path(__file__).resolve().parents[2] / "examples" / "hayhooks_pipelines"
QUESTION = "What does the Tessera lease say about vibration?"
RUN = "from hayhooks.cli.base import hayhooks_cli; hayhooks_cli()"


@pytest.fixture(scope="module")
def address(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a Hayhooks server with the example answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    log = tmp_path_factory.mktemp("hayhooks") / "log"
    arguments = ["run", "--host", "127.0.0.1", "--port", str(port), "--pipelines-dir", str(PIPELINES)]
    with log.open("w") as out:
        server = subprocess.Popen([sys.executable, "-c", RUN, *arguments], stdout=out, stderr=out, cwd=log.parent)
    try:
        url = f"http://127.0.0.1:{port}"
        while True:
            assert server.poll() is None, log.read_text()
            try:
                httpx.get(f"{url}/status", timeout=60)
                break
            except httpx.ConnectError:
                time.sleep(0.1)
        yield url
    finally:
        server.terminate()
        server.wait()


def test_the_wrapper_is_deployed(address: str) -> None:
    assert httpx.get(f"{address}/status", timeout=60).json()["pipelines"] == ["knowledge"]


def test_it_answers_as_the_service_does(address: str, service: Service) -> None:
    answer = httpx.post(f"{address}/knowledge/run", json={"query": QUESTION, "top_k": 5}, timeout=60)
    assert answer.status_code == 200, answer.text
    found = answer.json()["result"]
    wanted = service.search("knowledge", QUESTION, principal="local-owner")["results"][:5]
    assert [(it["span_id"], it["page"], it["text"]) for it in found] == [
        (it["span_id"], it["locator"]["page"], it["text"]) for it in wanted
    ]
    assert found[0]["page"] == 2
    assert found[0]["source_id"] == "demo/lease-tessera-optics.pdf"


def test_hayhooks_tells_what_it_takes(address: str) -> None:
    schema = httpx.get(f"{address}/openapi.json", timeout=60).json()
    body = schema["paths"]["/knowledge/run"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    taken = schema["components"]["schemas"][body["$ref"].rpartition("/")[2]]["properties"]
    assert set(taken) == {"query", "top_k"}
