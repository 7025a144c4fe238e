# SPDX-License-Identifier: Apache-2.0
"""
Nine ways in which reranking is not there (F3), met at the start, while the ranker loads, and under load.

Each search answers, in fused order, says why, and does not wait for what is known to be broken.
"""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from haystack import Document, component
from haystack_integrations.components.pincite import optional_reranker
from haystack_integrations.document_stores.pincite.resources import read_config
from pincite.response import SearchResponse
from pincite.service import Service

TINY = Path(__file__).parents[1] / "data" / "tiny-cross-encoder"
QUERY = "What does the HFA bond mortgage say about limitation on liability?"
LIMIT = 0.3  # seconds, instead of the five of the shipped pipeline
FAILURES = 3


@component
class Faulty:
    """A ranker with a fault of the test's choice; ``loading`` holds up its ``warm_up`` until it is set."""

    def __init__(self, fault: Callable[[list[Document]], Any], loading: threading.Event | None = None) -> None:
        self.fault = fault
        self.loading = loading
        self.calls = 0

    def warm_up(self) -> None:
        if self.loading is not None:
            self.loading.wait(60)

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document], top_k: int | None = None) -> dict[str, list[Document]]:
        self.calls += 1
        return self.fault(documents)


RELEASED = threading.Event()


def hangs(documents: list[Document]) -> Any:
    RELEASED.wait(60)
    return {"documents": documents}


def fails(documents: list[Document]) -> Any:
    raise RuntimeError("key sk-123 refused")


def too_few(documents: list[Document]) -> Any:
    return {"documents": [Document(id=d.id, score=1.0) for d in documents[:-1]]}


def no_numbers(documents: list[Document]) -> Any:
    return {"documents": [Document(id=d.id, score=float("nan")) for d in reversed(documents)]}


def is_killed(documents: list[Document]) -> Any:
    """What does the work is a process, and it is killed in the middle of it."""
    code = "import os, signal; print('half an answer', flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def leaves_its_thread(documents: list[Document]) -> Any:
    raise SystemExit(1)


FAULTS = {
    "timeout": (hangs, f"ranker took longer than {LIMIT} s"),
    "error": (fails, "ranker failed: RuntimeError"),
    "malformed answer": (lambda documents: {"replies": []}, "ranker's answer is no ranking: no documents"),
    "too few scores": (too_few, "ranker's answer is no ranking: {fewer} scores for {all} documents"),
    "NaN": (no_numbers, "ranker's answer is no ranking: a score that is no number"),
    "killed": (is_killed, "ranker failed: CalledProcessError"),
    "killed in its thread": (leaves_its_thread, "ranker ended in the middle of its work: SystemExit"),
}


@pytest.fixture(autouse=True)
def quick(fused: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The shipped pipeline with a shorter limit, reranking switched on."""
    text, _ = read_config("knowledge.yaml")
    quicker = text.replace("ranker: null\n", f"ranker: null\n      timeout: {LIMIT}\n")
    assert quicker != text
    (tmp_path / "knowledge.yaml").write_text(quicker, encoding="utf-8")
    for name in ("KB_RERANK_ENABLED", "KB_RERANKER_MODEL", "PINCITE_RERANK_CANDIDATES", "VOYAGE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PINCITE_CONFIG", str(tmp_path))
    monkeypatch.setenv("PINCITE_RERANK_ENABLED", "1")
    monkeypatch.setenv("PINCITE_RERANKER_MODEL", "faulty")
    RELEASED.clear()
    yield
    RELEASED.set()


def use(monkeypatch: pytest.MonkeyPatch, ranker: Faulty) -> None:
    monkeypatch.setattr(optional_reranker, "configured_ranker", lambda *_, **__: ranker)


def search(service: Service, **options: Any) -> SearchResponse:
    return service.search("knowledge", QUERY, principal="local-owner", **options)


def places(response: SearchResponse) -> list[tuple[str, float, str]]:
    return [(result["span_id"], result["score"], result["score_kind"]) for result in response["results"]]


@pytest.fixture(scope="module")
def fused(demo_service: Service) -> list[tuple[str, float, str]]:
    """The order that every search must have."""
    response = search(demo_service, rerank=False)
    assert response["rerank_reason"] == "switched off for this request"
    assert len(response["results"]) == 10
    FUSED[:] = places(response)
    return FUSED


FUSED: list[tuple[str, float, str]] = []


def assert_fused(response: SearchResponse, reason: str) -> None:
    assert places(response) == FUSED
    assert {kind for _, _, kind in places(response)} == {"fused"}
    assert (response["reranked"], response["rerank_reason"]) == (False, reason)


def facts(service: Service) -> dict[str, Any]:
    return service.status()["rerank"]["knowledge"]


def window(service: Service) -> int:
    """How many candidates the ranker is given."""
    outputs = service.observe("knowledge", QUERY, principal="local-owner", rerank=False).outputs
    return min(50, len(outputs["reranker"]["documents"]))


def told(service: Service, reason: str) -> str:
    size = window(service)
    return reason.format(fewer=size - 1, all=size)


@pytest.mark.parametrize(
    ("variable", "reason", "model"),
    [
        ("PINCITE_RERANK_ENABLED", "reranking is off", "faulty"),
        ("PINCITE_RERANKER_MODEL", "no ranker is configured", None),
    ],
    ids=["off", "no model"],
)
def test_not_switched_on(monkeypatch: pytest.MonkeyPatch, variable: str, reason: str, model: str | None) -> None:
    monkeypatch.delenv(variable)
    service = Service()
    assert facts(service) == {"enabled": False, "model": model, "loaded": False, "reason": reason}
    assert_fused(search(service), reason)
    for response in asyncio.run(many(service)):
        assert_fused(response, reason)
    assert facts(service) == {"enabled": False, "model": model, "loaded": False, "reason": reason}


async def many(service: Service, count: int = 12) -> list[SearchResponse]:
    """Searches at once: half on the event loop, half in threads."""
    searches = [service.search_async("knowledge", QUERY, principal="local-owner") for _ in range(count // 2)]
    threads = [asyncio.to_thread(search, service) for _ in range(count // 2)]
    return list(await asyncio.gather(*searches, *threads))


def corrupt(folder: Path) -> str:
    for name in ("model.onnx", "tokenizer.json"):
        (folder / name).write_bytes(b"not a model")
    return str(folder)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (lambda folder: "not-there", "cross-encoder 'not-there': no such folder; it must hold model.onnx"),
        (str, "cross-encoder 'broken': model.onnx is not in the folder"),
        (corrupt, "cross-encoder 'broken': tokenizer.json cannot be read: "),
        (lambda folder: "voyage:rerank-2.5", "voyage:rerank-2.5 needs VOYAGE_API_KEY, which is not set"),
    ],
    ids=["no folder", "no file", "corrupt", "no key"],
)
def test_a_model_that_cannot_be_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Callable[[Path], str], reason: str
) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    monkeypatch.setenv("PINCITE_RERANKER_MODEL", model(folder))
    service = Service()
    state = facts(service)
    assert (state["enabled"], state["loaded"]) == (True, False)
    assert state["reason"].startswith(f"ranker could not be loaded: {reason}")
    assert "\n" not in state["reason"]
    responses = [search(service), *asyncio.run(many(service))]
    for response in responses:
        assert_fused(response, state["reason"])
    assert facts(service) == state


@pytest.mark.parametrize("fault", FAULTS)
def test_a_ranker_that_is_broken_from_the_start(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    broken, reason = FAULTS[fault]
    ranker = Faulty(broken)
    use(monkeypatch, ranker)
    service = Service()
    reason = told(service, reason)
    assert facts(service) == {"enabled": True, "model": "faulty", "loaded": True, "reason": None}
    for _ in range(FAILURES):
        assert_fused(search(service), reason)
    # From now on it is left alone.
    paused = f"ranker paused after {FAILURES} failures, the last: {reason}"
    for _ in range(3):
        assert_fused(search(service), paused)
    assert ranker.calls == FAILURES
    assert facts(service) == {"enabled": True, "model": "faulty", "loaded": True, "reason": paused}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_ranker_that_is_broken_under_load(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    broken, reason = FAULTS[fault]
    ranker = Faulty(broken)
    use(monkeypatch, ranker)
    service = Service()
    reason = told(service, reason)
    if fault == "killed":  # so many processes at once take their time
        service._pipeline("knowledge").get_component("reranker").timeout = 60.0
    for response in asyncio.run(many(service)):
        paused = f"ranker paused after {FAILURES} failures, the last: {reason}"
        assert response["rerank_reason"] in {reason, paused}
        assert_fused(response, response["rerank_reason"] or "")
    calls = ranker.calls
    assert FAILURES <= calls <= 12
    for response in asyncio.run(many(service)):
        assert_fused(response, paused)
    assert ranker.calls == calls


@pytest.mark.parametrize("fault", FAULTS)
def test_a_ranker_that_is_still_loading(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    broken, reason = FAULTS[fault]
    ranker = Faulty(broken, loading=threading.Event())
    use(monkeypatch, ranker)
    service = Service()
    loading = "ranker is still loading"
    for response in [search(service), *asyncio.run(many(service, 8))]:
        assert_fused(response, loading)
    assert facts(service) == {"enabled": True, "model": "faulty", "loaded": False, "reason": loading}
    assert ranker.calls == 0
    assert ranker.loading is not None
    ranker.loading.set()
    stage = service._pipeline("knowledge").get_component("reranker")
    stage._loading._loaded.result(timeout=60)
    assert_fused(search(service), told(service, reason))


def test_a_ranker_that_breaks_in_the_middle_and_mends(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    works = [True]

    def sometimes(documents: list[Document]) -> Any:
        if not works[0]:
            raise RuntimeError
        return {"documents": [Document(id=d.id, score=float(n)) for n, d in enumerate(documents)][::-1]}

    use(monkeypatch, Faulty(sometimes))
    service = Service()
    stage = service._pipeline("knowledge").get_component("reranker")
    stage._breaker._clock = lambda: now[0]
    reranked = search(service)
    assert reranked["reranked"]
    works[0] = False
    for _ in range(FAILURES):
        assert_fused(search(service), "ranker failed: RuntimeError")
    works[0] = True
    assert not search(service)["reranked"]
    now[0] = 31.0
    assert places(search(service)) == places(reranked)
    assert facts(service)["reason"] is None


def test_a_real_cross_encoder_reranks(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("PINCITE_RERANKER_MODEL", str(TINY))
    # Loading and scoring take what they take on a busy machine.
    text, _ = read_config("knowledge.yaml")
    (Path(read_config("knowledge.yaml")[1])).write_text(text.replace(f"timeout: {LIMIT}", "timeout: 60.0"))
    service = Service()
    response = search(service, top_k=50)
    assert response["reranked"], response["rerank_reason"]
    assert facts(service) == {"enabled": True, "model": "tiny-cross-encoder", "loaded": True, "reason": None}
    kinds = [result["score_kind"] for result in response["results"]]
    assert kinds == sorted(kinds, key=["rerank", "fused"].index)
    fused = search(service, top_k=50, rerank=False)
    assert {r["span_id"] for r in response["results"]} <= {
        d.id for d in service.observe("knowledge", QUERY, principal="local-owner").outputs["parents"]["documents"]
    }
    assert places(response) != places(fused)
    for other in asyncio.run(many(service)):
        assert places(other) == places(search(service))
