# SPDX-License-Identifier: Apache-2.0
"""``pincite corpus add``: another corpus from one that is there; the user's file keeps what he wrote."""

from pathlib import Path

import pytest
import yaml
from pincite.cli import run
from pincite.pipelines.corpora import load_corpora
from pincite.pipelines.loader import load_pipeline, load_tool_pipeline
from pincite.scaffold import copy_configuration


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration folder as ``init --here`` makes it."""
    copy_configuration(tmp_path)
    monkeypatch.setenv("PINCITE_CONFIG", str(tmp_path))
    return tmp_path


def add(*arguments: str) -> int:
    return run(["corpus", "add", *arguments])


@pytest.mark.parametrize("like", list(load_corpora().corpora))
def test_a_corpus_like_another(folder: Path, like: str) -> None:
    before = load_corpora()
    text = (folder / "corpora.yaml").read_text(encoding="utf-8")
    assert add("statutes", "--like", like) == 0
    settings = load_corpora()
    assert list(before.corpora.items()) == [pair for pair in settings.corpora.items() if pair[0] != "statutes"]
    new, model = settings.corpus("statutes"), settings.corpus(like)
    assert (new.required_metadata, new.required_scopes, new.spans) == (
        model.required_metadata, model.required_scopes, model.spans,
    )  # fmt: skip
    assert new.tools == ("search_statutes",)
    assert settings.tool("search_statutes").corpus == "statutes"
    for kind in ("query", "indexing"):
        assert load_pipeline("statutes", kind)  # type: ignore[arg-type]
    assert load_tool_pipeline(settings.tool("search_statutes"))
    # What the user wrote stays, comments included.
    after = (folder / "corpora.yaml").read_text(encoding="utf-8").splitlines()
    assert [line for line in text.splitlines() if line not in after] == []
    assert all(f"corpus: {like}\n" not in (folder / f"statutes{end}.yaml").read_text() for end in ("", ".indexing"))


def test_two_more_and_a_third_like_the_second(folder: Path) -> None:
    assert [add("one"), add("two", "--like", "kb"), add("three", "--like", "two")] == [0, 0, 0]
    assert load_corpora().corpus("three").minimum_characters == 20
    assert load_corpora().corpus("three").description == "Set up like two"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["kb"], "corpus 'kb' is there already ("),
        (["Statutes"], "corpus name 'Statutes' is not usable: "),
        (["../x"], "corpus name '../x' is not usable: "),
        (["x", "--like", "y"], "unknown corpus 'y'; corpora: knowledge, "),
        (["find_similar_cases"], "find_similar_cases.yaml is there already; choose another name than"),
        ([], "Missing argument 'NAME'"),
    ],
)
def test_refused(folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert add(*arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"pincite: {message}")
    assert error.count("\n") == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_without_a_folder_it_says_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PINCITE_CONFIG", raising=False)
    assert add("statutes") == 2
    assert "run `pincite init --here` in one" in capsys.readouterr().err


def test_a_file_in_another_layout(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = yaml.safe_load((folder / "corpora.yaml").read_text(encoding="utf-8"))
    kb = data["corpora"]["kb"]
    del data["tools"]
    for entry in data["corpora"].values():
        entry["tools"] = []
    text = yaml.safe_dump(data, sort_keys=False, indent=4)  # lists as blocks, no tools
    (folder / "corpora.yaml").write_text(text, encoding="utf-8")
    assert add("statutes", "--like", "kb") == 0
    assert load_corpora().tool("search_statutes").corpus == "statutes"
    data["corpora"] = {"kb": kb}
    (folder / "corpora.yaml").write_text(yaml.safe_dump(data, default_flow_style=True), encoding="utf-8")
    capsys.readouterr()
    assert add("more", "--like", "kb") == 2
    assert "is not written as a block; add by hand" in capsys.readouterr().err


def test_only_the_file_that_the_user_changed_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINCITE_CONFIG", str(tmp_path))
    assert add("statutes", "--like", "internal_decisions") == 0
    assert {path.name for path in tmp_path.iterdir()} == {"corpora.yaml", "statutes.yaml", "statutes.indexing.yaml"}
    assert load_pipeline("statutes", "query")
