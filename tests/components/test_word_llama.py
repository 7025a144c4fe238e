# SPDX-License-Identifier: Apache-2.0
"""The default embedders: offline, unit length for any text, and the same vector on both sides."""

import subprocess
import sys

import numpy as np
import pytest
from haystack import Document
from haystack_integrations.components.pincite.word_llama_document_embedder import WordLlamaDocumentEmbedder
from haystack_integrations.components.pincite.word_llama_text_embedder import WordLlamaTextEmbedder
from haystack_integrations.document_stores.pincite.spans import SpanDocument
from hypothesis import given
from hypothesis import strategies as st


@given(st.text(alphabet=st.characters(), max_size=60))
def test_every_text_has_a_vector_of_length_one(text: str) -> None:
    vector = WordLlamaTextEmbedder().run(text)["embedding"]
    assert len(vector) == 256
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_a_lone_surrogate_counts_as_a_replacement_character() -> None:
    embedder = WordLlamaTextEmbedder()
    assert embedder.run("a \ud800 b") == embedder.run("a \ufffd b")


def test_query_and_document_of_the_same_words_have_the_same_vector_whatever_the_batch() -> None:
    texts = ["limitation of liability", "", "הגבלת אחריות", "term " * 500]
    documents = [Document(content=text) for text in texts]
    for batch_size in (1, 3, 64):
        embedded = WordLlamaDocumentEmbedder(batch_size=batch_size).run(documents)["documents"]
        for text, document in zip(texts, embedded, strict=True):
            assert document.embedding == pytest.approx(WordLlamaTextEmbedder().run(text)["embedding"], abs=1e-6)


def test_the_reference_implementation_agrees() -> None:
    from pathlib import Path

    import wordllama

    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    texts = ["The Borrower shall pay.", "x"]
    expected = model.embed(texts, norm=True)
    actual = [WordLlamaTextEmbedder().run(text)["embedding"] for text in texts]
    np.testing.assert_allclose(actual, expected, atol=1e-5)


def test_documents_are_not_changed_and_know_who_embedded_them() -> None:
    document = SpanDocument(id="x", content="text", meta={"section": "4 Term"})
    embedder = WordLlamaDocumentEmbedder()
    (embedded,) = embedder.run([document])["documents"]
    assert document.embedding is None
    assert isinstance(embedded, SpanDocument)
    assert embedded.meta == {"section": "4 Term", "embedding_fingerprint": embedder.fingerprint}


def test_prefix_stands_before_the_text_and_in_the_fingerprint() -> None:
    with_prefix = WordLlamaDocumentEmbedder(prefix_meta=["title", "section"])
    (embedded,) = with_prefix.run([Document(content="text", meta={"section": "4 Term"})])["documents"]
    assert embedded.embedding == pytest.approx(WordLlamaTextEmbedder().run("4 Term\ntext")["embedding"], abs=1e-6)
    assert with_prefix.fingerprint == WordLlamaTextEmbedder(prefix_meta=["title", "section"]).fingerprint
    assert with_prefix.fingerprint != WordLlamaDocumentEmbedder().fingerprint == WordLlamaTextEmbedder().fingerprint


def test_loading_leaves_logging_alone() -> None:
    code = (
        "import logging; root = logging.getLogger(); before = (root.handlers[:], root.level)\n"
        "from haystack_integrations.components.pincite.word_llama_text_embedder import WordLlamaTextEmbedder\n"
        "WordLlamaTextEmbedder().warm_up(); assert (root.handlers, root.level) == before, root.handlers"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("kind", [WordLlamaTextEmbedder, WordLlamaDocumentEmbedder])
def test_round_trip(kind: type) -> None:
    embedder = kind(prefix_meta=["title"])
    assert kind.from_dict(embedder.to_dict()).to_dict() == embedder.to_dict()
