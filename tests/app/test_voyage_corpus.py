# SPDX-License-Identifier: Apache-2.0
"""A corpus of 1,024 dimensions with Voyage's embedders, against a stand-in for their service on this machine (S3)."""

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

CORPUS = "voyaged"
DIMENSION = 1024
FINGERPRINT = "voyage-4;revision=1;output_dimension=1024;template=title+text"
COMPONENTS = "haystack_integrations.components"
TEXTS = {
    "lease.md": "# Lease of the mill\n\n" + "The tenant of the mill pays rent on the first day of every month. " * 3,
    "loan.md": "# Loan agreement\n\n" + "The borrower repays the principal with interest at the maturity date. " * 3,
}


class StandIn(BaseHTTPRequestHandler):
    """``POST /v1/embeddings`` as the service answers it; the vector of a text adds up those of its words."""

    asked: ClassVar[list[dict[str, Any]]] = []
    dimension = DIMENSION

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(request)
        data = [
            {"object": "embedding", "index": number, "embedding": self._vector(text)}
            for number, text in enumerate(request["input"])
        ]
        answer = {"object": "list", "data": data, "model": request["model"], "usage": {"total_tokens": 7}}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _vector(self, text: str) -> list[float]:
        vector = [0.01] * self.dimension
        for word in text.lower().split():
            vector[int(hashlib.sha256(word.encode()).hexdigest(), 16) % self.dimension] += 1.0
        return vector

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing on stderr."""


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[StandIn]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), StandIn)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setattr("voyageai._base.get_default_base_url", lambda key: f"http://127.0.0.1:{server.server_port}/v1")
    monkeypatch.setenv("VOYAGE_API_KEY", "pa-stand-in")
    StandIn.asked.clear()
    yield StandIn
    server.shutdown()
    server.server_close()
    thread.join()


def _embedder(kind: str, fingerprint: str, **parameters: object) -> dict[str, Any]:
    voyage = f"{COMPONENTS}.embedders.voyage_embedders.voyage_{kind}_embedder.Voyage{kind.title()}Embedder"
    wrapper = f"{COMPONENTS}.pincite.fingerprinted_{kind}_embedder.Fingerprinted{kind.title()}Embedder"
    told = {"model": "voyage-4", "output_dimension": DIMENSION, **parameters}
    return {
        "type": wrapper,
        "init_parameters": {"embedder": {"type": voyage, "init_parameters": told}, "fingerprint": fingerprint},
    }


def _configure(folder: Path, fingerprint: str = FINGERPRINT) -> None:
    document = _embedder(
        "document", fingerprint, input_type="document", metadata_fields_to_embed=["title"], progress_bar=False
    )
    for file, stage, embedder in (
        ("knowledge.yaml", "text_embedder", _embedder("text", fingerprint, input_type="query")),
        ("knowledge.indexing.yaml", "embedder", document),
    ):
        pipeline = yaml.safe_load((resources.files("pincite.pipelines") / file).read_text(encoding="utf-8"))
        pipeline["components"][stage] = embedder
        for component in pipeline["components"].values():
            store = component["init_parameters"].get("document_store")
            if store:
                store["init_parameters"] = {
                    **store["init_parameters"],
                    "corpus": CORPUS,
                    "embedding_dimension": DIMENSION,
                }
        (folder / file.replace("knowledge", CORPUS)).write_text(yaml.safe_dump(pipeline, sort_keys=False), "utf-8")
    packaged = yaml.safe_load((resources.files("pincite.configs") / "corpora.yaml").read_text(encoding="utf-8"))
    entry = {**packaged["corpora"]["knowledge"], "embedding_dimension": DIMENSION, "tools": []}
    entry |= {
        "query_pipeline": f"{CORPUS}.yaml",
        "indexing_pipeline": f"{CORPUS}.indexing.yaml",
        "embedder": "voyage-4",
    }
    settings = {
        "corpora": {CORPUS: entry},
        "principals": packaged["principals"],
        "command_line_principal": "local-owner",
    }
    (folder / "corpora.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")


@pytest.fixture
def service(
    stand_in: type[StandIn],
    make_corpus: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Service]:
    (tmp_path / "configuration").mkdir()
    (tmp_path / "texts").mkdir()
    _configure(tmp_path / "configuration")
    for name, text in TEXTS.items():
        (tmp_path / "texts" / name).write_text(text, encoding="utf-8")
    monkeypatch.setenv("PINCITE_CONFIG", str(tmp_path / "configuration"))
    make_corpus(CORPUS, dimension=DIMENSION)  # dropped after the test
    service = Service()
    report = service.ingest(CORPUS, [tmp_path / "texts"])
    assert (report.added, report.failed) == (2, [])
    yield service


def found_by_vector(service: Service, query: str) -> list[str]:
    outputs = service.observe(CORPUS, query, principal="local-owner").outputs
    assert outputs["dense"]["degraded"] == []
    return [document.meta["source_id"] for document in outputs["dense"]["documents"]]


def test_end_to_end(service: Service, stand_in: type[StandIn]) -> None:
    documents = [request for request in stand_in.asked if request["input_type"] == "document"]
    assert {request["output_dimension"] for request in documents} == {DIMENSION}
    assert any(text.startswith("Lease of the mill\n") for request in documents for text in request["input"])
    assert found_by_vector(service, "tenant pays rent every month") == ["lease.md", "loan.md"]
    assert stand_in.asked[-1]["input_type"] == "query"
    results = service.search(CORPUS, "when is the principal repaid", principal="local-owner")["results"]
    assert results[0]["source_id"] == "loan.md"
    answer = service.audit([CORPUS])
    failed = [check for check in answer["checks"] if check["status"] == "failed" and check["corpus"] == CORPUS]
    assert failed == []


def test_a_title_is_embedded_so_changing_it_makes_stale(service: Service, stand_in: type[StandIn]) -> None:
    state = service.set_meta(CORPUS, "lease.md", {"title": "Lease of the old mill"})
    assert state["stale_spans"] == 1
    assert found_by_vector(service, "tenant pays rent every month") == ["loan.md"]
    assert service.reembed(CORPUS).embedded == 1
    assert stand_in.asked[-1]["input"][0].startswith("Lease of the old mill\n")
    assert found_by_vector(service, "tenant pays rent every month") == ["lease.md", "loan.md"]


def test_the_next_embedder_takes_over_step_by_step(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New pipelines beside the running ones: each asks for vectors of its own embedder, and words are found by both."""
    assert found_by_vector(service, "tenant pays rent") == ["lease.md", "loan.md"]
    (tmp_path / "next").mkdir()
    _configure(tmp_path / "next", FINGERPRINT.replace("revision=1", "revision=2"))
    monkeypatch.setenv("PINCITE_CONFIG", str(tmp_path / "next"))
    successor = Service()
    assert found_by_vector(successor, "tenant pays rent") == []
    assert (
        successor.search(CORPUS, "tenant pays rent", principal="local-owner")["results"][0]["source_id"] == "lease.md"
    )
    assert found_by_vector(service, "tenant pays rent") == ["lease.md", "loan.md"]
    assert successor.reembed(CORPUS).embedded == 2
    assert found_by_vector(successor, "tenant pays rent") == ["lease.md", "loan.md"]
    assert found_by_vector(service, "tenant pays rent") == []
    assert service.search(CORPUS, "tenant pays rent", principal="local-owner")["results"][0]["source_id"] == "lease.md"
