# SPDX-License-Identifier: Apache-2.0
"""``pincite audit --quality``: the corpus's own questions against their floors, and sets that are none of its own."""

from pathlib import Path

import pytest
import yaml
from pincite.audit.quality import quality_check
from pincite.service import Service

DEMO = Path(__file__).resolve().parents[2] / "app" / "demo" / "questions.yaml"


def _configure(folder: Path, floor: float, **changes: object) -> None:
    entries = yaml.safe_load(DEMO.read_text(encoding="utf-8"))
    family = [entry for entry in entries if entry["family"] == "named_full"][:3]
    (folder / "own").mkdir(exist_ok=True)
    (folder / "own" / "questions.yaml").write_text(yaml.safe_dump(family, allow_unicode=True), encoding="utf-8")
    families = {"named_full": {"queries": 3, "floors": {"right_document@1": floor}}}
    gate = {"corpus": "knowledge", "queries": "own/questions.yaml", "documents": "texts", "families": families}
    (folder / "gates.yaml").write_text(yaml.safe_dump({"sets": {"own": {**gate, **changes}}}), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PINCITE_CONFIG", str(tmp_path))
    return tmp_path


def test_floors_that_are_met_and_one_that_is_missed(demo_service: Service, folder: Path) -> None:
    _configure(folder, 0.0)
    met = quality_check(demo_service, "knowledge", "local-owner").answer()
    assert (met["status"], met["looked_at"]) == ("ok", 3)
    _configure(folder, 1.5)
    missed = quality_check(demo_service, "knowledge", "local-owner").answer()
    assert missed["status"] == "failed"
    (finding,) = missed["findings"]
    assert finding["subject"] == "set own, family named_full"
    assert "its floor 1.500" in finding["reason"]


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({"queries": "elsewhere/questions.yaml"}, "set 'own': its questions (elsewhere/questions.yaml) are not here"),
        ({"corpus": "kb"}, "gates.yaml has no question set for it"),
    ],
)
def test_what_cannot_be_measured_is_skipped_and_said(
    demo_service: Service, folder: Path, changes: dict[str, object], note: str
) -> None:
    _configure(folder, 0.0, **changes)
    answer = quality_check(demo_service, "knowledge", "local-owner").answer()
    assert (answer["status"], answer["note"]) == ("skipped", note)
