# SPDX-License-Identifier: Apache-2.0
"""The Hebrew collection, in a corpus set up as ``docs/hebrew.md`` says, reaches its floors."""

import importlib.util
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from haystack_integrations.document_stores.pincite.database import Database
from pincite.service import Service

ROOT = Path(__file__).resolve().parents[2]
CORPUS = "heq_gate"


@pytest.fixture(scope="module")
def heq() -> Iterator[ModuleType]:
    """``benchmarks/heq.py``, which is no package."""
    spec = importlib.util.spec_from_file_location("benchmark_heq", ROOT / "benchmarks" / "heq.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_right_article_first_and_passage_among_ten(
    shared: Path, heq: ModuleType, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heq.hebrew_configuration(tmp_path, heq.SETTINGS["wordllama"], CORPUS)
    monkeypatch.setenv("PINCITE_CONFIG", str(tmp_path))
    data = shared / "bench" / "heq"
    questions = [json.loads(line) for line in (data / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    service = Service()
    service.init([CORPUS])
    assert not service.ingest(CORPUS, [data / "corpus"]).failed
    figures = heq.measure(service, CORPUS, random.Random(7).sample(questions, 200))
    for name, floor in heq.FLOORS.items():
        assert figures[name] >= floor, figures
