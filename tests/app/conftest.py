# SPDX-License-Identifier: Apache-2.0
"""A service over the demo corpus, brought in as a user would, and a stand-in for an embedding service."""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml
from pincite.service import Service

DEMO = Path(__file__).resolve().parents[2] / "app" / "demo" / "texts"
VOYAGE_DIMENSION = 1024
VOYAGE_FINGERPRINT = "voyage-4;revision=1;output_dimension=1024;template=title+text"
COMPONENTS = "haystack_integrations.components"


@pytest.fixture(scope="session")
def demo_service(home: Path) -> Iterator[Service]:
    """Corpus ``knowledge`` holds the demo's instruments; ask with ``principal="local-owner"``."""
    service = Service()
    report = service.ingest("knowledge", [DEMO])
    assert not report.failed
    yield service


class StandIn(BaseHTTPRequestHandler):
    """
    ``POST /v1/embeddings`` as Voyage's service answers it; the vector of a text adds up those of its words.

    ``asked`` are the requests. ``broken`` lets each fail; ``documents_until_held`` is how many requests for documents
    are answered before the next ones wait for ``released``, and ``held`` says that one does.
    """

    asked: ClassVar[list[dict[str, Any]]] = []
    url: ClassVar[str] = ""
    broken: ClassVar[bool] = False
    documents_until_held: ClassVar[int | None] = None
    held: ClassVar[threading.Event] = threading.Event()
    released: ClassVar[threading.Event] = threading.Event()

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(request)
        if self.broken:
            self._answer(401, {"detail": "down for maintenance"})  # no other is given up at once
            return
        documents = sum(one["input_type"] == "document" for one in self.asked)
        if request["input_type"] == "document" and documents > (self.documents_until_held or documents):
            self.held.set()
            self.released.wait(60)
        data = [
            {"object": "embedding", "index": number, "embedding": self._vector(text)}
            for number, text in enumerate(request["input"])
        ]
        self._answer(200, {"object": "list", "data": data, "model": request["model"], "usage": {"total_tokens": 7}})

    def _answer(self, status: int, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:  # whoever asked was killed
            self.close_connection = True

    def _vector(self, text: str) -> list[float]:
        vector = [0.01] * VOYAGE_DIMENSION
        for word in text.lower().split():
            vector[int(hashlib.sha256(word.encode()).hexdigest(), 16) % VOYAGE_DIMENSION] += 1.0
        return vector

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing on stderr."""


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[StandIn]]:
    """Voyage's service on this machine, for this process."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), StandIn)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    StandIn.url, StandIn.broken, StandIn.documents_until_held = f"http://127.0.0.1:{server.server_port}/v1", False, None
    StandIn.asked.clear()
    StandIn.held.clear()
    StandIn.released.clear()
    monkeypatch.setattr("voyageai._base.get_default_base_url", lambda key: StandIn.url)
    monkeypatch.setenv("VOYAGE_API_KEY", "pa-stand-in")
    yield StandIn
    StandIn.released.set()
    server.shutdown()
    server.server_close()
    thread.join()


def _voyage(kind: str, fingerprint: str, **parameters: object) -> dict[str, Any]:
    voyage = f"{COMPONENTS}.embedders.voyage_embedders.voyage_{kind}_embedder.Voyage{kind.title()}Embedder"
    wrapper = f"{COMPONENTS}.pincite.fingerprinted_{kind}_embedder.Fingerprinted{kind.title()}Embedder"
    told = {"model": "voyage-4", "output_dimension": VOYAGE_DIMENSION, **parameters}
    return {
        "type": wrapper,
        "init_parameters": {"embedder": {"type": voyage, "init_parameters": told}, "fingerprint": fingerprint},
    }


@pytest.fixture
def configure() -> Callable[..., Path]:
    """
    ``configure(folder, corpus, fingerprint)`` writes the configuration of a corpus like ``knowledge``.

    With Voyage's embedders, which give vectors of that fingerprint, or without one the packaged embedder.
    """

    def write(folder: Path, corpus: str, fingerprint: str | None = VOYAGE_FINGERPRINT) -> Path:
        folder.mkdir(exist_ok=True)
        dimension = VOYAGE_DIMENSION if fingerprint else 256
        for file, stage, kind in (
            ("knowledge.yaml", "text_embedder", "text"),
            ("knowledge.indexing.yaml", "embedder", "document"),
        ):
            pipeline = yaml.safe_load((resources.files("pincite.pipelines") / file).read_text(encoding="utf-8"))
            if fingerprint:
                told: dict[str, object] = {"input_type": "query" if kind == "text" else "document"}
                told |= {} if kind == "text" else {"metadata_fields_to_embed": ["title"], "progress_bar": False}
                pipeline["components"][stage] = _voyage(kind, fingerprint, **told)
            for component in pipeline["components"].values():
                store = component["init_parameters"].get("document_store")
                if store:
                    place = {"corpus": corpus, "embedding_dimension": dimension}
                    store["init_parameters"] = {**store["init_parameters"], **place}
            name = file.replace("knowledge", corpus)
            (folder / name).write_text(yaml.safe_dump(pipeline, sort_keys=False), encoding="utf-8")
        packaged = yaml.safe_load((resources.files("pincite.configs") / "corpora.yaml").read_text(encoding="utf-8"))
        entry = {**packaged["corpora"]["knowledge"], "embedding_dimension": dimension, "tools": []}
        entry |= {"query_pipeline": f"{corpus}.yaml", "indexing_pipeline": f"{corpus}.indexing.yaml"}
        entry |= {"embedder": "voyage-4"} if fingerprint else {}
        told = {"corpora": {corpus: entry}, "principals": packaged["principals"]}
        told |= {"command_line_principal": "local-owner"}
        (folder / "corpora.yaml").write_text(yaml.safe_dump(told), encoding="utf-8")
        return folder

    return write


# Corpora for the audit, with the scopes that each requires.
_AUDITED: dict[str, list[str]] = {"audited_law": ["court"], "audited_notes": []}
_AUDITED_TEXT = (
    "The Tenant of {name} shall pay rent on the first day of each month, without notice and without any demand. "
)
_AUDITED_RULE = """
- statement: Rent is due without demand.
  quote: shall pay rent on the first day of each month
  review_status: approved
"""


@pytest.fixture(scope="module")
def audited_service(tmp_path_factory: pytest.TempPathFactory, home: Path) -> Iterator[Service]:
    """Two corpora of a configuration of their own: one with rules, groups and a required scope, one without."""
    folder = tmp_path_factory.mktemp("configuration")
    packaged = yaml.safe_load((resources.files("pincite.configs") / "corpora.yaml").read_text(encoding="utf-8"))
    entry = packaged["corpora"]["precedent_library"]
    corpora = {}
    for name, required in _AUDITED.items():
        for key in ("query_pipeline", "indexing_pipeline"):
            text = (resources.files("pincite.pipelines") / entry[key]).read_text(encoding="utf-8")
            file = entry[key].replace("precedent_library", name)
            text = text.replace("corpus: precedent_library", f"corpus: {name}")
            (folder / file).write_text(
                text.replace("[practice_area, court]", f"[practice_area, court]\n      required_scopes: {required}"),
                encoding="utf-8",
            )
        corpora[name] = {
            **entry,
            "query_pipeline": f"{name}.yaml",
            "indexing_pipeline": f"{name}.indexing.yaml",
            "required_metadata": ["title", "court"],
            "required_scopes": required,
            "tools": [],
        }
    settings = {"corpora": corpora, "principals": packaged["principals"], "command_line_principal": "local-owner"}
    (folder / "corpora.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PINCITE_CONFIG", str(folder))
        service = Service()
        for name in _AUDITED:
            report = service.ingest(name, [_audited_documents(tmp_path_factory.mktemp(name), name)])
            assert (report.added, report.failed) == (3, [])
        yield service
        with service.database.admin() as connection:
            for name in _AUDITED:
                connection.execute(f"DROP SCHEMA pincite_{name} CASCADE")  # type: ignore[call-overload]
                connection.execute("DELETE FROM pincite.corpora WHERE name = %s", [name])
                connection.execute("DELETE FROM pincite.migrations WHERE scope = %s", [name])
                for role in ("reader", "writer"):
                    connection.execute(f"DROP ROLE pincite_{name}_{role}")  # type: ignore[call-overload]


def _audited_documents(folder: Path, corpus: str) -> Path:
    for name, groups in (("one", ""), ("two", "groups: [ann]\n"), ("three", "groups: [bob]\n")):
        (folder / f"{name}.md").write_text(
            f"# Lease {name}\n\n{_AUDITED_TEXT.format(name=f'{corpus} {name}') * 3}", "utf-8"
        )
        (folder / f"{name}.md.meta.yaml").write_text(
            f"court: {'Acre' if name == 'three' else 'Haifa'}\n{groups}", encoding="utf-8"
        )
    (folder / "one.md.rules.yaml").write_text(_AUDITED_RULE, encoding="utf-8")
    return folder
