# SPDX-License-Identifier: Apache-2.0
"""The demo corpus, the examples as modules, and a local endpoint that speaks OpenAI's protocol."""

import json
import re
import runpy
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from haystack_integrations.document_stores.pincite.database import Database
from pincite.service import Service

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
TEXTS = ROOT / "app" / "demo" / "texts"
SAID = "Here it is"


@pytest.fixture(scope="module")
def service(own_home: Database) -> Iterator[Service]:
    """A service over the demo corpus, in a home that is in force for the module."""
    with Service() as service:
        service.init()
        assert not service.ingest("knowledge", [TEXTS], as_name="demo").failed
        yield service


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], SimpleNamespace]:
    """``example("rag.py")``: what the file defines, read as Python reads a script."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return lambda name: SimpleNamespace(**runpy.run_path(str(EXAMPLES / name)))


class Endpoint(BaseHTTPRequestHandler):
    """
    Speaks the chat completion protocol, and does what the weakest model could: it calls the first tool that it is
    offered with the question, and otherwise repeats what it was given.
    """

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, body))  # type: ignore[attr-defined]
        message = _reply(body)
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if "tool_calls" in message else "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        answer = {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"], "usage": usage}
        data = json.dumps({**answer, "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *given: Any) -> None:
        """Say nothing."""


def _reply(body: dict[str, Any]) -> dict[str, Any]:
    last = body["messages"][-1]
    if last["role"] == "tool":
        found = json.loads(last["content"])
        first = (found.get("structuredContent") or json.loads(found["content"][0]["text"]))["results"][0]
        return {"role": "assistant", "content": f"{SAID}: {first['title']}, page {first['locator']['page']}"}
    if body.get("tools"):
        function = {"name": body["tools"][0]["function"]["name"], "arguments": json.dumps({"query": last["content"]})}
        call = {"id": "call_1", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    numbers = re.findall(r"^\[(\d+)\] (.*):$", str(last["content"]), re.MULTILINE)
    return {"role": "assistant", "content": f"{SAID} [{numbers[0][0]}]."}


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """A local endpoint that the environment names: its ``url``, and what it was ``asked``, path and body of each."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    server.asked = []  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_MODEL", "stand-in")
    yield SimpleNamespace(url=url, asked=server.asked)  # type: ignore[attr-defined]
    server.shutdown()
    server.server_close()
