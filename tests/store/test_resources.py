# SPDX-License-Identifier: Apache-2.0
"""Configuration comes from PINCITE_CONFIG or the package, file by file, and never from the working folder."""

from pathlib import Path

import pytest
from haystack_integrations.document_stores.pincite.errors import ConfigurationError
from haystack_integrations.document_stores.pincite.resources import config_dir, read_config


@pytest.fixture(autouse=True)
def no_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PINCITE_CONFIG", raising=False)


def test_the_package_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "corpora.yaml").write_text("not this one", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    text, origin = read_config("corpora.yaml")
    assert "not this one" not in text
    assert origin == "pincite.configs/corpora.yaml"
    assert read_config("knowledge.yaml")[1] == "pincite.pipelines/knowledge.yaml"
    assert config_dir() is None


def test_a_file_of_the_users_folder_replaces_the_packaged_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "corpora.yaml").write_text("\N{BYTE ORDER MARK}שלום", encoding="utf-8")
    monkeypatch.setenv("PINCITE_CONFIG", str(tmp_path))
    assert read_config("corpora.yaml") == ("שלום", str(tmp_path / "corpora.yaml"))
    assert read_config("knowledge.yaml")[1] == "pincite.pipelines/knowledge.yaml"
    assert config_dir() == tmp_path


def test_an_empty_variable_is_an_unset_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINCITE_CONFIG", "")
    assert config_dir() is None


def test_a_missing_file_names_both_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = "in the packages pincite.configs and pincite.pipelines"
    with pytest.raises(ConfigurationError) as raised:
        read_config("nothing.yaml")
    assert str(raised.value) == f"nothing.yaml is neither in PINCITE_CONFIG (not set) nor {packages}"
    monkeypatch.setenv("PINCITE_CONFIG", str(tmp_path))
    with pytest.raises(ConfigurationError) as raised:
        read_config("nothing.yaml")
    assert str(raised.value) == f"nothing.yaml is neither in PINCITE_CONFIG ({tmp_path}) nor {packages}"


def test_a_variable_that_names_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINCITE_CONFIG", str(tmp_path / "gone"))
    with pytest.raises(ConfigurationError, match=r"^PINCITE_CONFIG is '.*gone', which is not a folder"):
        read_config("corpora.yaml")


@pytest.mark.parametrize("name", ["", "..", "../corpora.yaml", "/etc/passwd", "a\\b", "a\0", "C:x"])
def test_a_name_is_never_a_path(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINCITE_CONFIG", str(tmp_path))
    with pytest.raises(ConfigurationError, match="is no configuration file name"):
        read_config(name)


def test_a_file_that_is_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "corpora.yaml").write_bytes(b"a: \xff")
    monkeypatch.setenv("PINCITE_CONFIG", str(tmp_path))
    with pytest.raises(ConfigurationError, match=r"corpora\.yaml is not UTF-8 text \(byte 3\); save it as UTF-8"):
        read_config("corpora.yaml")
