# SPDX-License-Identifier: Apache-2.0
"""A service over all demo collections, a configuration with several principals, and callers of its interfaces."""

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from haystack_integrations.document_stores.pincite.resources import read_config
from pincite.api.app import create_app
from pincite.api.settings import ServerSettings
from pincite.service import Service
from pincite.tokens import new_token
from starlette.types import ASGIApp

DEMO = Path(__file__).resolve().parents[2] / "app" / "demo"
CORPORA = ("case_documents", "precedent_library", "internal_decisions", "attached_citations", "kb")
BASE = "http://localhost"


class Rest:
    """Sends requests to an application without a network."""

    def __init__(self, app: ASGIApp, token: str | None = None) -> None:
        self.app = app
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}

    def client(self) -> httpx.AsyncClient:
        # An unexpected error is a response here as it is on a real server.
        transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False)
        return httpx.AsyncClient(transport=transport, base_url=BASE, headers=self.headers)

    def __call__(self, method: str, path: str, **given: Any) -> httpx.Response:
        async def send() -> httpx.Response:
            async with self.client() as client:
                return await client.request(method, path, **given)

        return asyncio.run(send())

    def search(self, corpus: str, query: str, **options: Any) -> dict[str, Any]:
        response = self("POST", "/search", json={"corpus": corpus, "query": query, **options})
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer


@pytest.fixture(scope="session")
def demo_home(home: Path) -> Iterator[Path]:
    """A home with all demo collections, brought in as a user would. Its own: other tests count what is in theirs."""
    folder = Path(tempfile.mkdtemp(prefix="pincite api tests "))
    folder.chmod(0o755)  # as root, the server runs under another account
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PINCITE_HOME", str(folder))
        with Service() as service:
            service.init()
            assert not service.ingest("knowledge", [DEMO / "texts"]).failed
            for corpus in CORPORA:
                assert not service.ingest(corpus, [DEMO / "corpora" / corpus]).failed
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def service(demo_home: Path) -> Iterator[Service]:
    """A service over all demo collections, whose home is in force; ask as ``local-owner``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PINCITE_HOME", str(demo_home))
        with Service() as service:
            yield service


@pytest.fixture
def principals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration in force with ``local-owner``, who sees all groups, and ``visitor``, who sees what is public."""
    settings = yaml.safe_load(read_config("corpora.yaml")[0])
    settings["principals"]["visitor"] = {"groups": ["visitors"]}
    (tmp_path / "corpora.yaml").write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    monkeypatch.setenv("PINCITE_CONFIG", str(tmp_path))
    return tmp_path


@pytest.fixture
def make_token(service: Service, principals: Path) -> Iterator[Callable[..., str]]:
    """``make_token(principal, *corpora)`` makes a token; all are gone after the test."""
    made = 0

    def make(principal: str, *corpora: str) -> str:
        nonlocal made
        made += 1
        return new_token(service.database, f"test-{made}", principal, list(corpora))

    yield make
    with service.database.admin() as connection:
        connection.execute("DELETE FROM pincite.tokens")


@pytest.fixture
def rest_of(service: Service) -> Callable[..., Rest]:
    """``rest_of(token=None, **settings)``: the REST API with these settings, asked with this token."""
    return lambda token=None, **settings: Rest(create_app(service, ServerSettings(**settings)), token)


@pytest.fixture
def rest(service: Service) -> Rest:
    """The REST API of a machine whose owner asks without a token."""
    return Rest(create_app(service, ServerSettings(principal="local-owner")))


@pytest.fixture
def nobody(service: Service) -> Rest:
    """The REST API where nobody is named to ask without a token."""
    return Rest(create_app(service))


class Process:
    """A command that runs until it is told to end."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from pincite.cli import main; main()", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | environment,
        )
        self.said = ""

    def address(self) -> str:
        """The address that the server says it listens at."""
        assert self.process.stderr is not None
        self.said = self.process.stderr.readline()
        found = re.search(r"http://\S+:\d+", self.said)
        assert found, self.said + self.process.stderr.read()
        return found.group()

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        """Send a signal; exit status, stdout and stderr."""
        self.process.send_signal(number)
        out, err = self.process.communicate()
        return self.process.returncode, out, err


@pytest.fixture
def start() -> Iterator[Callable[..., Process]]:
    """``start("serve", ..)``: a server that is killed after the test if it still runs."""
    started: list[Process] = []

    def make(*arguments: str, **environment: str) -> Process:
        started.append(Process(*arguments, **environment))
        return started[-1]

    yield make
    for process in started:
        if process.process.poll() is None:
            process.process.kill()
        process.process.communicate()
