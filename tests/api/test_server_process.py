# SPDX-License-Identifier: Apache-2.0
"""``pincite serve`` as a process: where it listens, how it refuses, and that it leaves nothing behind."""

import asyncio
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from haystack_integrations.document_stores.pincite.processes import start_time
from pincite.service import Service

HFA = "What does the HFA bond mortgage say about limitation on liability?"


def test_a_server_answers_on_this_machine(service: Service, start: Callable[..., Any]) -> None:
    server = start("serve", "--port", "0", PINCITE_PRINCIPAL="local-owner")
    address = server.address()
    assert address.startswith("http://127.0.0.1:")
    with httpx.Client(base_url=address, timeout=60) as client:
        answer = client.post("/search", json={"corpus": "knowledge", "query": HFA}).json()
        assert answer["results"][0]["source_id"] == "hfa-bond-mortgage-riverside.txt"
        # A path that is none, headers that are odd, and a body cut short do no harm.
        assert client.get("/%00/..//").status_code == 404
        assert client.get("/show?corpus=knowledge&span_id=%00").status_code == 404
    assert server.end() == (0, "", "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_who_is_last_stops_the_database(
    number: int, tmp_path: Path, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home of its own"
    tmp_path.chmod(0o755)
    monkeypatch.setenv("PINCITE_HOME", str(home))
    subprocess.run(
        [sys.executable, "-c", "from pincite.cli import main; main()", "init"], check=True, capture_output=True
    )
    server = start("serve", "--port", "0")
    assert httpx.get(server.address() + "/status", timeout=60).status_code == 200
    (pid_file,) = home.rglob("postmaster.pid") if list(home.rglob("postmaster.pid")) else [None]
    pid = int(pid_file.read_text().splitlines()[0]) if pid_file else None
    assert server.end(number) == (0, "", "")
    assert pid is None or start_time(pid) is None
    assert not list((home / "database" / "users").iterdir())


def test_a_request_that_is_worked_on_is_answered_before_the_end(service: Service, start: Callable[..., Any]) -> None:
    server = start("serve", "--port", "0", PINCITE_PRINCIPAL="local-owner")
    address = server.address()
    host, port = address.removeprefix("http://").split(":")
    assert httpx.get(address + "/health", timeout=60).status_code == 200
    body = b'{"corpus": "knowledge", "query": "notice of default", "top_k": 100}'
    head = "POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(body)}\r\n"
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(head.encode() + b"\r\n" + body[:10])
        time.sleep(0.3)  # the server has begun to read
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        connection.sendall(body[10:])
        answer = b""
        while part := connection.recv(65536):
            answer += part
    assert answer.startswith(b"HTTP/1.1 200")
    assert b'"results":[{' in answer
    assert server.process.wait() == 0


def test_the_end_under_load_answers_all_that_came_before(service: Service, start: Callable[..., Any]) -> None:
    server = start("serve", "--port", "0", PINCITE_PRINCIPAL="local-owner")
    address, clients = server.address(), 64
    answered: list[tuple[float, int]] = []
    lost: list[float] = []
    told: list[float] = []

    async def ask(client: httpx.AsyncClient) -> None:
        while True:
            begun = time.monotonic()
            try:
                response = await client.post("/search", json={"corpus": "knowledge", "query": HFA})
            except httpx.ConnectError:
                return  # nobody listens any more
            except httpx.TransportError:  # the connection was closed before the request was read
                lost.append(begun)
                return
            answered.append((begun, response.status_code))
            if len(answered) == 2 * clients:
                told.append(time.monotonic())
                server.process.send_signal(signal.SIGTERM)

    async def scene() -> None:
        async with httpx.AsyncClient(base_url=address, timeout=120, limits=httpx.Limits()) as client:
            await asyncio.gather(*(ask(client) for _ in range(clients)))

    asyncio.run(scene())
    assert server.process.communicate() == ("", "")
    assert server.process.returncode == 0
    assert {status for _, status in answered} <= {200, 503}
    # Those that stood in line when the server was told; the others may have met a connection that was just closing.
    assert len([begun for begun, status in answered if begun < told[0] and status == 200]) > 2 * clients
    assert not [begun for begun in lost if begun < told[0] - 0.1]


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_no_server_beyond_this_machine_without_a_token(host: str, service: Service, start: Callable[..., Any]) -> None:
    refused = start("serve", "--host", host, "--port", "0")
    out, err = refused.process.communicate()
    assert (refused.process.returncode, out) == (2, "")
    assert "make one first, pincite token add" in err
    assert err.count("\n") == 1


def test_with_a_token_it_may_listen_everywhere(
    service: Service, make_token: Callable[..., str], start: Callable[..., Any]
) -> None:
    token = make_token("local-owner", "knowledge")
    server = start("serve", "--host", "0.0.0.0", "--port", "0", "--principal", "local-owner")
    address = server.address().replace("0.0.0.0", "127.0.0.1")
    body = {"corpus": "knowledge", "query": HFA}
    assert httpx.post(address + "/search", json=body, timeout=60).status_code == 401
    headers = {"Authorization": f"Bearer {token}", "Host": "pincite.example"}
    assert httpx.post(address + "/search", json=body, headers=headers).json()["results"]


def test_a_taken_port_is_said_in_one_line(service: Service, start: Callable[..., Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = start("serve", "--port", str(taken.getsockname()[1]))
        _, err = refused.process.communicate()
    assert refused.process.returncode == 2
    assert "choose another --port" in err
    assert err.count("\n") == 1


def test_a_database_that_is_not_set_up_is_said_in_one_line(
    tmp_path: Path, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o755)
    monkeypatch.setenv("PINCITE_HOME", str(tmp_path / "new"))
    for arguments in (("serve", "--port", "0"), ("mcp",), ("token", "list")):
        refused = start(*arguments)
        _, err = refused.process.communicate()
        assert refused.process.returncode == 2, arguments
        assert "run: pincite init" in err
        assert err.count("\n") == 1


def test_tokens_are_made_listed_and_revoked(service: Service, start: Callable[..., Any]) -> None:
    def run(*arguments: str) -> tuple[str, str]:
        done = start("token", *arguments)
        out, err = done.process.communicate()
        assert done.process.returncode == 0, err
        return out, err

    try:
        token, told = run("add", "ci", "--principal", "local-owner", "--corpora", "kb, knowledge")
        assert token.startswith("pincite_")
        assert token.count("\n") == 1
        assert "not shown again" in told
        listed, _ = run("list")
        assert "ci" in listed
        assert token.strip() not in listed
        assert '"corpora": [' in run("list", "--json")[0]
        assert run("revoke", "ci")[0] == "Revoked ci.\n"
    finally:
        with service.database.admin() as connection:
            connection.execute("DELETE FROM pincite.tokens")
