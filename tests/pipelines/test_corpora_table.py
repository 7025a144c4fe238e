# SPDX-License-Identifier: Apache-2.0
"""The pipelines of the corpora differ where ``docs/corpora.md`` says so, and nowhere else."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from haystack_integrations.document_stores.pincite.resources import read_config
from pincite.pipelines.corpora import load_corpora

DOCS = Path(__file__).resolve().parents[2] / "docs" / "corpora.md"
MODEL = "knowledge"
FILES = [
    (corpus.name, file, model)
    for corpus in load_corpora().corpora.values()
    if corpus.name != MODEL
    for file, model in (
        (corpus.query_pipeline, f"{MODEL}.yaml"),
        (corpus.indexing_pipeline, f"{MODEL}.indexing.yaml"),
    )
]


def test_the_table_names_every_difference() -> None:
    assert table() == {row for corpus, file, model in FILES for row in differences(corpus, file, model)}


@pytest.mark.parametrize(("corpus", "file", "model"), FILES)
def test_stages_stand_in_the_same_order(corpus: str, file: str, model: str) -> None:
    own = [name for name in parsed(file)["components"] if name in parsed(model)["components"]]
    assert own == list(parsed(model)["components"])


def table() -> set[tuple[str, str, str, str]]:
    """Rows of the table below the heading "Where the pipelines differ": file, place, ``knowledge``, here."""
    section = DOCS.read_text(encoding="utf-8").split("## Where the pipelines differ")[1].split("\n## ")[0]
    rows = [re.split(r"\s*\|\s*", line.strip("| \n")) for line in section.splitlines() if line.startswith("| `")]
    return {tuple(cell.strip("`") for cell in row[:4]) for row in rows}  # type: ignore[misc]


def differences(corpus: str, file: str, model: str) -> Iterator[tuple[str, str, str, str]]:
    """What differs besides the name of the corpus, which each store must have."""
    here = dict(places(parsed(file, corpus)))
    there = dict(places(parsed(model)))
    for place in here.keys() | there.keys():
        if here.get(place) != there.get(place):
            yield file, place, there.get(place, "-"), here.get(place, "-")


def parsed(file: str, corpus: str = MODEL) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(read_config(file)[0].replace(f"corpus: {corpus}", f"corpus: {MODEL}"))
    return data


def places(data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Each parameter with its value (those of all stores together), and each connection by its receiver."""
    for name, entry in data["components"].items():
        yield name, entry["type"].rpartition(".")[2]
        for key, value in entry["init_parameters"].items():
            if key == "document_store":
                yield from ((f"stores.{k}", json.dumps(v)) for k, v in value["init_parameters"].items())
            else:
                yield f"{name}.{key}", json.dumps(value)
    for connection in data["connections"]:
        yield f"-> {connection['receiver']}", connection["sender"]
