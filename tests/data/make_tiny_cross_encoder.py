# SPDX-License-Identifier: Apache-2.0
"""
Trains the tiny cross-encoder of the tests and writes it as ONNX: ``python tests/data/make_tiny_cross_encoder.py``.

No pretrained cross-encoder comes in a package, so this one is made of the demo's documents: one layer of attention from
the question's words to the text's, then a weighted sum over the words of the question. It learns to find the passage
that a heading and a sentence of it were taken from; the demo's questions are not used. It has the inputs, the outputs
and the files of a real one, and none of its knowledge. Needs the packages of the extra ``dev``.
"""

import json
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from haystack_integrations.components.pincite.embedding.word_llama_model import load_word_llama
from haystack_integrations.components.pincite.source_converter import SourceConverter
from haystack_integrations.components.pincite.span_splitter import SpanSplitter
from haystack_integrations.components.pincite.title_extractor import TitleExtractor
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

FOLDER = Path(__file__).parent / "tiny-cross-encoder"
TEXTS = Path(__file__).resolve().parents[2] / "app" / "demo" / "texts"
VOCABULARY, WIDTH, HIDDEN, LENGTH = 2_400, 24, 16, 256
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
NEGATIVES, QUERIES, EPOCHS, RATE = 7, 1_500, 3, 0.004
FAR = -1e4
QUESTIONS = [
    "What does the {title} say about {section}?",
    "{section} under the {title}",
    "{title}: {words}",
    "What does the {title} say of {words}?",
]

Weights = dict[str, np.ndarray]


def spans() -> list[Any]:
    files = sorted(path for path in TEXTS.rglob("*") if path.is_file() and not path.name.endswith(".meta.yaml"))
    documents = SourceConverter().run(sources=list(files))["documents"]
    titled = TitleExtractor().run(documents=documents)["documents"]
    return list(SpanSplitter().run(documents=titled)["documents"])


def text_of(span: Any) -> str:
    """As the ranker puts it: title, then text."""
    return f"{span.meta['title']}\n{span.content}"


def make_tokenizer(texts: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=VOCABULARY, special_tokens=SPECIAL))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    return tokenizer


def initial(tokenizer: Tokenizer, counts: np.ndarray, rng: np.random.Generator) -> Weights:
    """Word vectors of the default embedder, in fewer dimensions; rare words weigh more."""
    size = tokenizer.get_vocab_size()
    words = [(tokenizer.id_to_token(number) or "").removeprefix("##") for number in range(size)]
    vectors = load_word_llama().embed(words).astype(np.float64)
    vectors -= vectors.mean(axis=0)
    _, _, axes = np.linalg.svd(vectors, full_matrices=False)
    table = vectors @ axes[:WIDTH].T
    table /= np.linalg.norm(table, axis=1, keepdims=True) + 1e-9
    table[: len(SPECIAL)] = 0.0
    return {
        "table": table,
        "weight": np.log((counts.sum() + 1.0) / (counts + 1.0)) * 0.3,
        "sharpness": np.array([8.0]),
        "inner": rng.normal(0.0, 0.3, (WIDTH, HIDDEN)) + 0.5,
        "inner_bias": np.zeros(HIDDEN),
        "outer": np.full(HIDDEN, 0.5),
        "bias": np.zeros(1),
    }


def forward(w: Weights, question: np.ndarray, text: np.ndarray) -> tuple[float, tuple[np.ndarray, ...]]:
    asked, said = w["table"][question], w["table"][text]
    products = asked @ said.T
    attention = np.exp(w["sharpness"] * (products - products.max(axis=1, keepdims=True)))
    attention /= attention.sum(axis=1, keepdims=True)
    found = attention @ said
    met = asked * found
    before = met @ w["inner"] + w["inner_bias"]
    hidden = np.maximum(before, 0.0)
    worth = hidden @ w["outer"]
    share = np.exp(w["weight"][question] - w["weight"][question].max())
    share /= share.sum()
    score = float(share @ worth + w["bias"][0])
    return score, (asked, said, products, attention, found, met, before, hidden, worth, share)


def backward(w: Weights, grads: Weights, question: np.ndarray, text: np.ndarray, state: Any, slope: float) -> None:
    asked, said, products, attention, found, met, before, hidden, worth, share = state
    grads["bias"] += slope
    np.add.at(grads["weight"], question, share * (worth - share @ worth) * slope)
    d_worth = share * slope
    grads["outer"] += hidden.T @ d_worth
    d_before = np.outer(d_worth, w["outer"]) * (before > 0)
    grads["inner"] += met.T @ d_before
    grads["inner_bias"] += d_before.sum(axis=0)
    d_met = d_before @ w["inner"].T
    d_found = d_met * asked
    d_attention = d_found @ said.T
    d_scores = attention * (d_attention - (attention * d_attention).sum(axis=1, keepdims=True))
    grads["sharpness"] += (d_scores * products).sum()
    np.add.at(grads["table"], question, d_met * found + w["sharpness"] * d_scores @ said)
    np.add.at(grads["table"], text, attention.T @ d_found + w["sharpness"] * d_scores.T @ asked)


def train(w: Weights, encode: Any, documents: list[Any]) -> None:
    rng = random.Random(7)
    texts = [encode(text_of(span)) for span in documents]
    by_section: dict[str, list[int]] = {}
    for number, span in enumerate(documents):
        by_section.setdefault(span.meta["source_id"], []).append(number)
    state = {name: (np.zeros_like(value), np.zeros_like(value)) for name, value in w.items()}
    for step in range(1, QUERIES * EPOCHS + 1):
        right = rng.randrange(len(documents))
        question = encode(make_question(documents[right], rng))
        same = [number for number in by_section[documents[right].meta["source_id"]] if number != right]
        wrong = rng.sample(same, min(3, len(same)))
        while len(wrong) < NEGATIVES:
            other = rng.randrange(len(documents))
            if other != right:
                wrong.append(other)
        runs = [forward(w, question, texts[number]) for number in (right, *wrong)]
        scores = np.array([score for score, _ in runs])
        likely = np.exp(scores - scores.max())
        likely /= likely.sum()
        grads = {name: np.zeros_like(value) for name, value in w.items()}
        for place, number in enumerate((right, *wrong)):
            backward(w, grads, question, texts[number], runs[place][1], likely[place] - (place == 0))
        grads["table"][: len(SPECIAL)] = 0.0
        adam(w, grads, state, step)


def adam(w: Weights, grads: Weights, state: dict[str, tuple[np.ndarray, np.ndarray]], step: int) -> None:
    for name, grad in grads.items():
        mean, square = state[name]
        mean += 0.1 * (grad - mean)
        square += 0.001 * (grad * grad - square)
        w[name] -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)


def make_question(span: Any, rng: random.Random) -> str:
    words = str(span.content).split()
    first = rng.randrange(max(1, len(words) - 8))
    return rng.choice(QUESTIONS).format(
        title=span.meta["title"],
        section=(span.meta.get("section") or " ".join(words[:6])).lower(),
        words=" ".join(words[first : first + rng.randint(3, 8)]),
    )


def as_onnx(w: Weights) -> onnx.ModelProto:
    def constant(name: str, value: Any, kind: Any = np.float32) -> onnx.TensorProto:
        return numpy_helper.from_array(np.asarray(value, dtype=kind), name)

    node = helper.make_node
    nodes = [
        node("Cast", ["table_16"], ["table"], to=TensorProto.FLOAT),
        node("Gather", ["table", "input_ids"], ["x"]),
        node("Cast", ["attention_mask"], ["real"], to=TensorProto.FLOAT),
        node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        node("Mul", ["real", "second"], ["is_text"]),
        node("Sub", ["real", "is_text"], ["is_question"]),
        node("Transpose", ["x"], ["x_t"], perm=[0, 2, 1]),
        node("MatMul", ["x", "x_t"], ["products"]),
        node("Mul", ["products", "sharpness"], ["sharp"]),
        node("Sub", ["one", "is_text"], ["not_text"]),
        node("Mul", ["not_text", "far"], ["text_mask"]),
        node("Unsqueeze", ["text_mask", "axis_1"], ["text_mask_3"]),
        node("Add", ["sharp", "text_mask_3"], ["masked"]),
        node("Softmax", ["masked"], ["attention"], axis=-1),
        node("MatMul", ["attention", "x"], ["found"]),
        node("Mul", ["x", "found"], ["met"]),
        node("MatMul", ["met", "inner"], ["inner_out"]),
        node("Add", ["inner_out", "inner_bias"], ["before"]),
        node("Relu", ["before"], ["hidden"]),
        node("MatMul", ["hidden", "outer"], ["worth"]),
        node("Gather", ["weight", "input_ids"], ["weights"]),
        node("Sub", ["one", "is_question"], ["not_question"]),
        node("Mul", ["not_question", "far"], ["question_mask"]),
        node("Add", ["weights", "question_mask"], ["weights_masked"]),
        node("Softmax", ["weights_masked"], ["share"], axis=-1),
        node("Mul", ["worth", "share"], ["parts"]),
        node("ReduceSum", ["parts", "axis_1"], ["sum"], keepdims=1),
        node("Add", ["sum", "bias"], ["logits"]),
    ]
    weight = w["weight"].copy()
    weight[: len(SPECIAL)] = FAR  # marks of the format say nothing
    given = [
        constant("table_16", w["table"], np.float16),
        constant("axis_1", [1], np.int64),
        constant("one", 1.0),
        constant("far", FAR),
        constant("weight", weight),
        *(constant(name, w[name]) for name in ("sharpness", "inner", "inner_bias", "outer", "bias")),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])]
    graph = helper.make_graph(nodes, "tiny_cross_encoder", inputs, outputs, given)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model


def main() -> None:
    documents = spans()
    tokenizer = make_tokenizer([text_of(span) for span in documents])

    def encode(text: str) -> np.ndarray:
        ids = tokenizer.encode(text, add_special_tokens=False).ids[:LENGTH]
        return np.array(ids or [1])

    counts = np.zeros(tokenizer.get_vocab_size())
    for span in documents:
        np.add.at(counts, encode(text_of(span)), 1)
    weights = initial(tokenizer, counts, np.random.default_rng(7))
    train(weights, encode, documents)
    FOLDER.mkdir(exist_ok=True)
    tokenizer.save(str(FOLDER / "tokenizer.json"), pretty=False)
    config = {"max_position_embeddings": LENGTH, "pad_token_id": 0, "num_labels": 1}
    (FOLDER / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    onnx.save(as_onnx(weights), str(FOLDER / "model.onnx"))
    size = sum(path.stat().st_size for path in FOLDER.iterdir())
    print(f"{FOLDER.name}: {size / 1000:.0f} kB, {len(documents)} passages", file=sys.stderr)


if __name__ == "__main__":
    main()
