# SPDX-License-Identifier: Apache-2.0
"""A corpus that is local only reranks with nothing outside, whatever the environment says (F3)."""

from pathlib import Path

import pytest
from haystack_integrations.document_stores.pincite.errors import ConfigurationError
from haystack_integrations.document_stores.pincite.resources import read_config
from pincite.pipelines.loader import load_pipeline


def test_the_notes_rerank_with_no_service_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINCITE_RERANK_ENABLED", "1")
    monkeypatch.setenv("PINCITE_RERANKER_MODEL", "voyage:rerank-2.5")
    monkeypatch.setenv("VOYAGE_API_KEY", "key")
    stage = load_pipeline("kb", "query").get_component("reranker")
    stage.warm_up()
    assert stage.facts()["loaded"] is False
    assert "is a service outside, which this corpus does not use" in (stage.facts()["reason"] or "")


@pytest.mark.parametrize("change", ["", "      allow_external: true\n"])
def test_a_copy_that_would_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, change: str) -> None:
    text, _ = read_config("kb.yaml")
    changed = text.replace("      allow_external: false\n", change)
    assert changed != text
    (tmp_path / "kb.yaml").write_text(changed, encoding="utf-8")
    monkeypatch.setenv("PINCITE_CONFIG", str(tmp_path))
    with pytest.raises(ConfigurationError, match=r"component 'reranker': allow_external is true; corpora\.yaml says"):
        load_pipeline("kb", "query")


def test_a_ranker_outside_in_the_pipeline_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text, _ = read_config("kb.yaml")
    nested = (
        "ranker:\n        type: haystack_integrations.components.pincite.voyage_reranker.VoyageReranker\n"
        "        init_parameters: {}\n"
    )
    (tmp_path / "kb.yaml").write_text(text.replace("ranker: null\n", nested), encoding="utf-8")
    monkeypatch.setenv("PINCITE_CONFIG", str(tmp_path))
    with pytest.raises(ConfigurationError, match=r"ranker is VoyageReranker; corpora\.yaml says local_only"):
        load_pipeline("kb", "query")
