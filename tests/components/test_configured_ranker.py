# SPDX-License-Identifier: Apache-2.0
"""The ranker that PINCITE_RERANKER_MODEL names, and Voyage's as it is used here (F3)."""

import asyncio
import json
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from haystack import Pipeline
from haystack_integrations.components.pincite.onnx_cross_encoder_ranker import OnnxCrossEncoderRanker
from haystack_integrations.components.pincite.optional_reranker import OptionalReranker
from haystack_integrations.components.pincite.ranking.configured_ranker import (
    configured_ranker,
    model_folder,
    shown_name,
)
from haystack_integrations.components.pincite.voyage_reranker import VoyageReranker
from haystack_integrations.document_stores.pincite.errors import ConfigurationError
from haystack_integrations.document_stores.pincite.spans import SpanDocument

TINY = Path(__file__).parents[1] / "data" / "tiny-cross-encoder"


@pytest.fixture(autouse=True)
def switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KB_RERANK_ENABLED", "PINCITE_RERANKER_MODEL", "KB_RERANKER_MODEL", "VOYAGE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PINCITE_RERANK_ENABLED", "1")


def pool() -> list[SpanDocument]:
    texts = ["Notices are in writing.", "The monthly rent is $900.", "Fire insurance is kept."]
    return [
        SpanDocument(id=f"s{n}", content=text, score=1 / (n + 1), meta={"title": "T"}) for n, text in enumerate(texts)
    ]


def test_a_folder_by_its_path_and_below_the_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PINCITE_HOME", str(tmp_path))
    assert model_folder("mini") == tmp_path / "models" / "mini"
    assert model_folder(str(TINY)) == TINY
    assert model_folder("~/mini") == Path.home() / "mini"
    ranker = configured_ranker("mini", allow_external=False, timeout=5.0)
    assert isinstance(ranker, OnnxCrossEncoderRanker)
    assert ranker.model == str(tmp_path / "models" / "mini")
    assert shown_name(str(TINY)) == "tiny-cross-encoder"
    assert shown_name("voyage:rerank-2.5") == "voyage:rerank-2.5"


@pytest.mark.parametrize("variable", ["PINCITE_RERANKER_MODEL", "KB_RERANKER_MODEL"])
def test_the_environment_names_the_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str) -> None:
    monkeypatch.setenv("PINCITE_HOME", str(tmp_path))
    shutil.copytree(TINY, tmp_path / "models" / "mini")
    monkeypatch.setenv(variable, "mini")
    reranker = OptionalReranker(timeout=60.0)
    assert reranker.facts() == {
        "enabled": True,
        "model": "mini",
        "loaded": False,
        "reason": "ranker is not loaded yet",
    }
    result = reranker.run("What is the monthly rent?", pool())
    assert result["reranked"], result["rerank_reason"]
    assert result["documents"][0].id == "s1"
    assert reranker.facts()["reason"] is None
    assert OptionalReranker(model="other").facts()["model"] == "other"
    pipeline = Pipeline()
    pipeline.add_component("reranker", reranker)
    assert Pipeline.loads(pipeline.dumps()) == pipeline
    assert "mini" not in pipeline.dumps()  # what the environment says stays there


def test_a_ranker_of_the_pipeline_comes_before_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINCITE_RERANKER_MODEL", "voyage:rerank-2.5")
    reranker = OptionalReranker(OnnxCrossEncoderRanker(str(TINY)), timeout=60.0)
    assert reranker.facts()["model"] == "OnnxCrossEncoderRanker"
    assert reranker.run("rent", pool())["reranked"]


def test_no_service_outside_where_none_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINCITE_RERANKER_MODEL", "voyage:rerank-2.5")
    monkeypatch.setenv("VOYAGE_API_KEY", "key")
    result = OptionalReranker(allow_external=False, timeout=60.0).run("q", pool())
    assert (result["reranked"], result["documents"]) == (False, pool())
    assert result["rerank_reason"] == (
        "ranker could not be loaded: voyage:rerank-2.5 is a service outside, which this corpus does not use; "
        "name a local folder"
    )
    monkeypatch.delenv("VOYAGE_API_KEY")
    with pytest.raises(ConfigurationError, match=r"voyage:rerank-2\.5 needs VOYAGE_API_KEY, which is not set"):
        configured_ranker("voyage:rerank-2.5", allow_external=True, timeout=5.0)


class Voyage(BaseHTTPRequestHandler):
    """Voyage's reranking endpoint on this machine: scores by length, and answers as it is told to."""

    def do_POST(self) -> None:
        server: Any = self.server
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.asked.append(asked)
        if server.faults:
            self.reply(server.faults.pop(0), {"detail": "not now"})
            return
        order = sorted(range(len(asked["documents"])), key=lambda n: -len(asked["documents"][n]))[: server.keep]
        data = [{"index": n, "relevance_score": 0.9 - place / 10} for place, n in enumerate(order)]
        answer = {"object": "list", "data": data, "model": asked["model"], "usage": {"total_tokens": 7}}
        self.reply(200, answer)

    def reply(self, status: int, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def voyage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Voyage)
    server.asked, server.faults, server.keep = [], [], 100
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("VOYAGE_API_KEY", "a-key")
    address = f"http://127.0.0.1:{server.server_port}/v1"
    monkeypatch.setattr("voyageai._base.get_default_base_url", lambda key: address)
    yield server
    server.shutdown()
    server.server_close()


def both(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    monkeypatch.setenv("PINCITE_RERANKER_MODEL", "voyage:rerank-2.5")
    in_turn = OptionalReranker(timeout=30.0).run("q", pool())
    at_once = asyncio.run(OptionalReranker(timeout=30.0).run_async("q", pool()))
    return [in_turn, at_once]


def test_voyage_reranks(voyage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for result in both(monkeypatch):
        assert result["reranked"], result["rerank_reason"]
        assert [d.id for d in result["documents"]] == ["s1", "s0", "s2"]
        assert [d.meta["_fused_score"] for d in result["documents"]] == [1 / 2, 1, 1 / 3]
    assert voyage.asked[0]["documents"] == [
        "T\nNotices are in writing.",
        "T\nThe monthly rent is $900.",
        "T\nFire insurance is kept.",
    ]
    assert {(asked["model"], asked["truncation"]) for asked in voyage.asked} == {("rerank-2.5", True)}


def test_voyage_that_leaves_something_out_loses_nothing(voyage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    voyage.keep = 2
    for result in both(monkeypatch):
        assert (result["reranked"], result["documents"]) == (False, pool())
        assert result["rerank_reason"] == "ranker's answer is no ranking: 2 scores for 3 documents"
    kept = OptionalReranker(VoyageReranker(), accept_fewer=True, timeout=30.0).run("q", pool())
    assert [d.id for d in kept["documents"]] == ["s1", "s0", "s2"]


def test_voyage_is_asked_again_and_then_left(voyage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINCITE_RERANKER_MODEL", "voyage:rerank-2.5")
    voyage.faults = [503]
    assert OptionalReranker(timeout=60.0).run("q", pool())["reranked"]
    assert len(voyage.asked) == 2
    voyage.faults = [503] * 9
    result = OptionalReranker(timeout=60.0).run("q", pool())
    assert (result["documents"], result["rerank_reason"]) == (pool(), "ranker failed: ServiceUnavailableError")
    assert len(voyage.asked) == 4


def test_timeouts_and_retries_survive_yaml() -> None:
    pipeline = Pipeline()
    ranker = VoyageReranker(model="rerank-2.5-lite", timeout=3, max_retries=4, truncate=False, top_k=7)
    pipeline.add_component("reranker", OptionalReranker(ranker, enabled=True))
    loaded = Pipeline.loads(pipeline.dumps()).get_component("reranker").ranker
    assert (loaded.model, loaded._timeout, loaded._max_retries) == ("rerank-2.5-lite", 3, 4)
    assert (loaded.truncate, loaded.top_k, loaded.meta_fields_to_embed) == (False, 7, ["title"])
