# SPDX-License-Identifier: Apache-2.0
"""Every pipeline that is shipped: it loads without our loader, and no single mistake in it passes our loader."""

import copy
from collections.abc import Iterator
from importlib import resources
from typing import Any

import pytest
import yaml
from haystack import Pipeline
from haystack_integrations.document_stores.pincite.errors import ConfigurationError
from haystack_integrations.document_stores.pincite.resources import read_config
from pincite.pipelines.corpora import load_corpora
from pincite.pipelines.loader import ENTRY, STAGES, Kind, check_pipeline_text, load_pipeline, load_tool_pipeline

TOOLS = load_corpora().tools


def shipped() -> list[tuple[str, Kind, str]]:
    files = []
    for name, corpus in load_corpora().corpora.items():
        files += [(name, "query", corpus.query_pipeline), (name, "indexing", corpus.indexing_pipeline)]
    return files + [(tool.name, "similar", tool.pipeline) for tool in TOOLS.values() if tool.pipeline]


def load(name: str, kind: Kind) -> Pipeline:
    """By the corpus, or by the tool that has a pipeline of its own."""
    return load_tool_pipeline(TOOLS[name]) if kind == "similar" else load_pipeline(name, kind)


# Corpora differ by parameters (tests/pipelines/test_corpora_table.py): one of each form stands for the others where
# every place in a file is broken once.
EVERY_PLACE = ("knowledge.yaml", "precedent_library.indexing.yaml", "find_similar_cases.yaml")
FORMS = [pytest.param(corpus, kind, file, id=file) for corpus, kind, file in shipped() if file in EVERY_PLACE]
SHIPPED = [pytest.param(corpus, kind, file, id=file) for corpus, kind, file in shipped()]
DATA = {file: yaml.safe_load(read_config(file)[0]) for _, _, file in shipped()}


def refused(data: dict[str, Any], kind: Kind) -> str:
    with pytest.raises(ConfigurationError) as raised:
        check_pipeline_text(yaml.safe_dump(data, sort_keys=False), "file.yaml", kind)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def mappings(value: Any) -> Iterator[dict[str, Any]]:
    """All mappings inside a value, itself included."""
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from mappings(item)
    elif isinstance(value, list):
        for item in value:
            yield from mappings(item)


def unordered(pipeline: Pipeline) -> dict[str, Any]:
    """A pipeline as data. ``dumps`` sorts components by name, which the order of the connections follows."""
    data = pipeline.to_dict()
    return {**data, "connections": sorted(tuple(connection.values()) for connection in data["connections"])}


def test_every_pipeline_file_belongs_to_a_corpus() -> None:
    folder = resources.files("pincite.pipelines")
    assert {entry.name for entry in folder.iterdir() if entry.name.endswith(".yaml")} == set(DATA)


@pytest.mark.parametrize(("corpus", "kind", "file"), SHIPPED)
def test_plain_haystack_loads_the_same(corpus: str, kind: Kind, file: str) -> None:
    with resources.files("pincite.pipelines").joinpath(file).open(encoding="utf-8") as text:
        plain = Pipeline.load(text)
    assert load(corpus, kind).to_dict() == plain.to_dict()
    assert unordered(Pipeline.loads(plain.dumps())) == unordered(plain)


@pytest.mark.parametrize(("corpus", "kind", "file"), FORMS)
def test_no_component_may_be_missing(corpus: str, kind: Kind, file: str) -> None:
    for name in DATA[file]["components"]:
        data = copy.deepcopy(DATA[file])
        del data["components"][name]
        assert f"'{name}" in refused(data, kind)


@pytest.mark.parametrize(("corpus", "kind", "file"), FORMS)
def test_no_connection_may_be_missing(corpus: str, kind: Kind, file: str) -> None:
    for number, connection in enumerate(DATA[file]["connections"]):
        data = copy.deepcopy(DATA[file])
        del data["connections"][number]
        name, _, socket = connection["receiver"].partition(".")
        assert f"component '{name}': nothing is connected to its input '{socket}'" in refused(data, kind)


@pytest.mark.parametrize(("corpus", "kind", "file"), FORMS)
def test_no_connection_may_be_given_twice(corpus: str, kind: Kind, file: str) -> None:
    for connection in DATA[file]["connections"]:
        data = copy.deepcopy(DATA[file])
        data["connections"].append(copy.deepcopy(connection))
        assert "is given twice" in refused(data, kind)


@pytest.mark.parametrize(("corpus", "kind", "file"), FORMS)
def test_no_key_may_be_misspelt(corpus: str, kind: Kind, file: str) -> None:
    places = [
        (number, key) for number, part in enumerate(mappings(DATA[file])) for key in part if is_checked_key(part, key)
    ]
    assert places
    for number, key in places:
        data = copy.deepcopy(DATA[file])
        part = list(mappings(data))[number]
        part[f"{key}x"] = part.pop(key)
        assert f"{key}x'" in refused(data, kind), key


def is_checked_key(part: dict[str, Any], key: str) -> bool:
    """Free names are no keys: those of components are checked as stages, those of weights by the joiner's sockets."""
    return key not in STAGES["query"] and not any(key == name for data in DATA.values() for name in data["components"])


@pytest.mark.parametrize(("corpus", "kind", "file"), FORMS)
def test_every_number_must_be_one(corpus: str, kind: Kind, file: str) -> None:
    numbers = [
        (name, key)
        for name, entry in DATA[file]["components"].items()
        for key, value in entry.get("init_parameters", {}).items()
        if isinstance(value, int | float)
    ]
    for name, key in numbers:
        data = copy.deepcopy(DATA[file])
        data["components"][name]["init_parameters"][key] = "many"
        assert f"component '{name}': parameter '{key}' is 'many'" in refused(data, kind)


@pytest.mark.parametrize(("corpus", "kind", "file"), FORMS)
def test_types_and_ends_must_exist(corpus: str, kind: Kind, file: str) -> None:
    for number, part in enumerate(mappings(DATA[file])):
        for key in ("type", "sender", "receiver"):
            if key in part:
                data = copy.deepcopy(DATA[file])
                list(mappings(data))[number][key] += "x"
                assert f"{part[key].rpartition('.')[2]}x" in refused(data, kind)


@pytest.mark.parametrize(("corpus", "kind", "file"), SHIPPED)
def test_a_copy_that_names_another_corpus_is_refused(
    corpus: str, kind: Kind, file: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = TOOLS[corpus].corpus if kind == "similar" else corpus
    text = read_config(file)[0]
    (tmp_path / file).write_text(text.replace(f"corpus: {name}", "corpus: other"), encoding="utf-8")
    monkeypatch.setenv("PINCITE_CONFIG", str(tmp_path))
    with pytest.raises(ConfigurationError, match=rf"corpus is 'other'; corpora\.yaml says '{name}' for '{name}'"):
        load(corpus, kind)


def test_no_value_is_converted_on_its_way() -> None:
    data = copy.deepcopy(DATA["knowledge.yaml"])
    (connection,) = [entry for entry in data["connections"] if entry["receiver"] == "dense.groups"]
    connection["sender"] = "request.query"
    assert refused(data, "query").endswith(
        "connection request.query -> dense.groups: request.query is str, but dense.groups is list[str] | None"
    )


@pytest.mark.parametrize(("key", "value"), [("weight", 2.0), ("k", 10)])
def test_recovery_and_joiner_use_one_formula(key: str, value: float) -> None:
    data = copy.deepcopy(DATA["knowledge.yaml"])
    data["components"]["recovery"]["init_parameters"][key] = value
    assert f"component 'recovery': {key} is {value}; the joiner reckons with " in refused(data, "query")


def test_the_entry_is_a_stage() -> None:
    assert all(ENTRY[kind] in STAGES[kind] for kind in STAGES)
