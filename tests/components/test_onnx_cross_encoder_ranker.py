# SPDX-License-Identifier: Apache-2.0
"""A cross-encoder from a folder, run by ONNX Runtime (F3); the model is tests/data/make_tiny_cross_encoder.py's."""

import json
import shutil
import sys
import threading
from pathlib import Path

import numpy as np
import onnx
import pytest
from haystack import Document, Pipeline
from haystack_integrations.components.pincite.onnx_cross_encoder_ranker import OnnxCrossEncoderRanker
from haystack_integrations.components.pincite.ranking.cross_encoder_model import ScoringGivenUpError, load_cross_encoder
from haystack_integrations.document_stores.pincite.errors import ConfigurationError
from onnx import TensorProto, helper

TINY = Path(__file__).parents[1] / "data" / "tiny-cross-encoder"


def documents(*texts: str | None) -> list[Document]:
    return [
        Document(id=str(number), content=text, meta={"title": "Lease", "tags": ["a"]})
        for number, text in enumerate(texts)
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the model to spoil."""
    return Path(shutil.copytree(TINY, tmp_path / "spoilt model"))


def refused(folder: Path, **settings: object) -> str:
    with pytest.raises(ConfigurationError) as raised:
        OnnxCrossEncoderRanker(str(folder), **settings).warm_up()
    message = str(raised.value)
    assert "\n" not in message
    assert str(folder.parent) not in message
    return message


def test_the_text_that_answers_comes_first() -> None:
    texts = [
        "The Tenant shall insure the building against fire.",
        "The Tenant shall pay base rent of $21,350 a month, in advance.",
        "Notices are in writing.",
    ]
    ranker = OnnxCrossEncoderRanker(str(TINY))
    ranked = ranker.run("What base rent is payable?", documents(*texts))["documents"]
    assert ranked[0].id == "1"
    assert sorted(document.id for document in ranked) == ["0", "1", "2"]
    assert all(0 <= document.score <= 1 for document in ranked)
    assert [d.score for d in ranked] == sorted((d.score for d in ranked), reverse=True)


def test_batches_and_activation_do_not_change_the_order() -> None:
    given = documents(*(f"Clause {n}: the rent is {n * 7} dollars. " * (n % 5 + 1) for n in range(23)), "", None)
    orders = [
        [d.id for d in OnnxCrossEncoderRanker(str(TINY), **settings).run("rent of 21 dollars", given)["documents"]]
        for settings in ({}, {"batch_size": 1}, {"batch_size": 100}, {"activation": "none"}, {"threads": 1})
    ]
    assert all(order == orders[0] for order in orders)


def test_long_odd_and_empty_texts() -> None:
    given = documents("word " * 5_000, "", None, "\ud800 lone", "שכר דירה", "\x00")
    for query in ("rent", "rent " * 3_000, "", "\udfff"):
        ranked = OnnxCrossEncoderRanker(str(TINY)).run(query, given)["documents"]
        assert sorted(d.id for d in ranked) == ["0", "1", "2", "3", "4", "5"]
        assert all(np.isfinite(d.score) for d in ranked)


def test_equal_texts_keep_their_order_and_top_k_cuts() -> None:
    given = documents(*["The same clause."] * 5)
    ranker = OnnxCrossEncoderRanker(str(TINY), top_k=3)
    assert [d.id for d in ranker.run("clause", given)["documents"]] == ["0", "1", "2"]
    assert [d.id for d in ranker.run("clause", given, top_k=5)["documents"]] == ["0", "1", "2", "3", "4"]
    assert ranker.run("clause", [])["documents"] == []


def test_metadata_stands_before_the_text() -> None:
    given = documents("a", "b")
    given[1].meta["title"] = "Promissory note of Kingsbrook"
    query = "Promissory note of Kingsbrook"
    titled = OnnxCrossEncoderRanker(str(TINY)).run(query, given)["documents"]
    bare = OnnxCrossEncoderRanker(str(TINY), meta_fields_to_embed=[], activation="none").run(query, given)["documents"]
    assert titled[0].id == "1"
    assert abs(bare[0].score - bare[1].score) < abs(
        np.diff([d.score for d in OnnxCrossEncoderRanker(str(TINY), activation="none").run(query, given)["documents"]])
    )


def test_the_model_is_loaded_once_and_shared() -> None:
    assert load_cross_encoder(TINY) is load_cross_encoder(TINY)
    assert load_cross_encoder(TINY, max_length=32) is not load_cross_encoder(TINY)


def test_searches_side_by_side_get_the_same() -> None:
    ranker = OnnxCrossEncoderRanker(str(TINY))
    given = documents(*(f"Clause {n} on rent" for n in range(20)))
    found: list[list[float]] = []
    threads = [
        threading.Thread(target=lambda: found.append([d.score for d in ranker.run("rent", given)["documents"]]))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all(scores == found[0] for scores in found)


def test_work_that_nobody_waits_for_ends() -> None:
    asked: list[int] = []

    def given_up() -> bool:
        asked.append(1)
        return len(asked) > 2

    with pytest.raises(ScoringGivenUpError):
        load_cross_encoder(TINY).score("q", ["text"] * 10, batch_size=1, given_up=given_up)
    assert len(asked) == 3


def test_it_survives_yaml() -> None:
    pipeline = Pipeline()
    settings = {"max_length": 64, "label": 0, "activation": "none", "batch_size": 4, "meta_fields_to_embed": ["tags"]}
    pipeline.add_component("ranker", OnnxCrossEncoderRanker(str(TINY), **settings))
    loaded = Pipeline.loads(pipeline.dumps())
    assert loaded == pipeline
    assert loaded.get_component("ranker").to_dict() == pipeline.get_component("ranker").to_dict()


@pytest.mark.parametrize("name", ["top_k", "max_length", "batch_size"])
def test_numbers_that_make_no_sense(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{name} is 0, expected at least 1"):
        OnnxCrossEncoderRanker("x", **{name: 0})


def test_an_unknown_activation() -> None:
    with pytest.raises(ConfigurationError, match="activation is 'tanh', expected sigmoid or none"):
        OnnxCrossEncoderRanker("x", activation="tanh")  # type: ignore[arg-type]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert refused(tmp_path / "gone") == "cross-encoder 'gone': no such folder; it must hold model.onnx"


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_missing_file(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert refused(folder) == f"cross-encoder 'spoilt model': {name} is not in the folder"


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
@pytest.mark.parametrize("content", [b"", b"\x00\xff not this", b'{"model": 1'])
def test_a_corrupt_file(folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    message = refused(folder)
    assert message.startswith(f"cross-encoder 'spoilt model': {name} cannot be ")


def test_a_model_cut_short(folder: Path) -> None:
    whole = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(whole[: len(whole) // 2])
    assert "model.onnx cannot be loaded" in refused(folder)


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_a_missing_package_is_named_with_its_install_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert refused(folder) == (
        f"the cross-encoder needs {package}, which is not installed: pip install 'pincite-haystack[rerank]'"
    )


def made_model(folder: Path, labels: int, *, inputs: tuple[str, ...] = ("input_ids",), rows: int = 0) -> Path:
    """A model whose output ``label`` is the number of tokens times ``label + 1``; ``rows`` spoils its shape."""
    nodes = [
        helper.make_node("Cast", [inputs[0]], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Sign", ["f"], ["ones"]),
        helper.make_node("ReduceSum", ["ones", "axis"], ["count"], keepdims=1),
        helper.make_node("Mul", ["count", "labels"], ["wide" if rows else "logits"]),
    ]
    if rows:
        nodes.append(helper.make_node("Concat", ["wide"] * rows, ["logits"], axis=0))
    given = [
        helper.make_tensor("axis", TensorProto.INT64, [1], [1]),
        helper.make_tensor("labels", TensorProto.FLOAT, [1, labels], list(range(1, labels + 1))),
    ]
    declared = [helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "l"]) for name in inputs]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [None, labels])
    graph = helper.make_graph(nodes, "made", declared, [output], given)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "model.onnx"
    )
    return folder


def raw_scores(folder: Path, **settings: object) -> list[float]:
    ranker = OnnxCrossEncoderRanker(str(folder), activation="none", meta_fields_to_embed=[], **settings)
    return [document.score for document in ranker.run("rent", documents("a b", "a"))["documents"]]


def test_of_two_outputs_the_second_is_the_relevance(folder: Path) -> None:
    made_model(folder, 2)
    # [CLS] rent [SEP] a b [SEP] is 6 tokens
    assert raw_scores(folder) == [12.0, 10.0]
    assert raw_scores(folder, label=0) == [6.0, 5.0]


def test_of_more_outputs_one_must_be_named(folder: Path) -> None:
    made_model(folder, 3)
    assert refused(folder) == (
        "cross-encoder 'spoilt model': label is None; it has 3 outputs, name one from 0 to 2 with 'label'"
    )
    assert "label is 3; it has 3 outputs" in refused(folder, label=3)
    assert raw_scores(folder, label=2) == [18.0, 15.0]
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "label": 1}))
    (folder / "model.onnx").touch()
    assert raw_scores(folder) == [12.0, 10.0]


def test_a_model_that_is_no_cross_encoder(folder: Path) -> None:
    made_model(folder, 1, inputs=("pixels",))
    assert "its inputs are pixels tensor(int64); expected input_ids" in refused(folder)
    made_model(folder, 1, rows=2)
    assert "its output has the shape (2, 1) for 1 texts; expected (1, labels)" in refused(folder)
