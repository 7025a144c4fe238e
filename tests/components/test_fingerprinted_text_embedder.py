# SPDX-License-Identifier: Apache-2.0
"""An embedder that fails or is late costs a search its vector and nothing else (S3, F7)."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from haystack import component
from haystack_integrations.components.pincite.dense_retriever import DenseRetriever
from haystack_integrations.components.pincite.fingerprinted_text_embedder import FingerprintedTextEmbedder
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.errors import ConfigurationError


@component
class Unreliable:
    """Does what the next of its answers says."""

    def __init__(self) -> None:
        self.answers: Iterator[Any] = iter(())
        self.asked = 0

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        self.asked += 1
        answer = next(self.answers)
        if isinstance(answer, threading.Event):
            answer.wait(30)
        if isinstance(answer, BaseException):
            raise answer
        return {"embedding": answer}


@pytest.fixture
def model() -> Unreliable:
    return Unreliable()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (OSError("no route\n to host"), "OSError: no route to host"),
        (SystemExit(3), "RuntimeError: SystemExit"),
        ([], "it gave no vector"),
        (None, "it gave no vector"),
    ],
)
def test_a_failure_is_told(model: Unreliable, answer: Any, reason: str) -> None:
    embedder = FingerprintedTextEmbedder(model, "any")
    model.answers = iter([answer, [1.0]])
    outputs = embedder.run(text="rent")
    assert outputs == {
        "embedding": [],
        "fingerprint": "any",
        "degraded": [{"stage": "text_embedder", "reason": reason}],
    }
    assert embedder.run(text="rent") == {"embedding": [1.0], "fingerprint": "any", "degraded": []}


def test_a_late_one_is_left_behind_and_one_that_keeps_failing_is_not_asked(model: Unreliable) -> None:
    embedder = FingerprintedTextEmbedder(model, "any", timeout=0.05)
    released = threading.Event()
    model.answers = iter([released] * 3)
    reasons = [embedder.run(text="rent")["degraded"][0]["reason"] for _ in range(4)]
    released.set()
    assert reasons == ["took longer than 0.05 s"] * 3 + ["it failed 3 times in a row and is asked again later"]
    assert model.asked == 3


def test_what_the_user_can_mend_is_raised(model: Unreliable) -> None:
    model.answers = iter([ConfigurationError("no key")])
    with pytest.raises(ConfigurationError, match="no key"):
        FingerprintedTextEmbedder(model, "any").run(text="rent")


@pytest.mark.parametrize("name", ["top_k", "ef_search"])
@pytest.mark.parametrize("value", [0, 1001])
def test_more_than_the_index_gives_is_refused(name: str, value: int) -> None:
    with pytest.raises(ConfigurationError, match=f"DenseRetriever: {name} is {value}, expected 1 to 1,000"):
        DenseRetriever(CorpusDocumentStore("knowledge"), **{name: value})
