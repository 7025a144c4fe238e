# SPDX-License-Identifier: Apache-2.0
"""The gates: floors that only rise, settings that were measured, and families that are never empty."""

import json
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from haystack_integrations.document_stores.pincite.errors import BadInputError, ConfigurationError
from pincite.bench.families import families_of, family_sample
from pincite.bench.gates import FamilyGate, Gates, GateSet, load_gates, lowered, read_baseline, run_set, settings_rows
from pincite.bench.made_up_names import FORMS, PARTIES, TYPES, absent_queries
from pincite.bench.settings import retrieval_settings
from pincite.service import Service

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "app" / "demo"


def gates_of(text: str, config: Path, monkeypatch: pytest.MonkeyPatch) -> Gates:
    config.mkdir(exist_ok=True)
    (config / "gates.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("PINCITE_CONFIG", str(config))
    return load_gates()


@pytest.mark.parametrize("revision", ["HEAD", "HEAD~"])
def test_floors_only_rise(revision: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # GIT_DIR, which git itself reads, lets a checkout without history be compared with the repository it came from.
    command = ["git", "-c", "safe.directory=*", "show", f"{revision}:configs/gates.yaml"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if shown.returncode != 0:
        pytest.skip(f"git does not show configs/gates.yaml of {revision}: {shown.stderr.strip()}")
    now = load_gates().sets
    assert lowered(gates_of(shown.stdout, tmp_path / "old", monkeypatch).sets, now) == []


def test_lower_floors_are_named() -> None:
    old = GateSet("c", "q", "d", {"f": FamilyGate(10, {"a": 0.5, "b": 0.5}), "g": FamilyGate(1, {"a": 1.0})})
    new = GateSet("c", "q", "d", {"f": FamilyGate(9, {"a": 0.6, "c": 0.1})})
    assert lowered({"s": old}, {"s": new}) == [
        "s.f.queries fell from 10 to 9",
        "s.f.b fell from 0.5 to None",
        "s.g is gone",
    ]
    assert lowered({"s": old}, {"s": old, "t": new}) == []
    fewer = GateSet("c", "q", "d", {**old.families, "f": FamilyGate(10, {"a": 0.5, "b": 0.5}, sample=9)})
    assert lowered({"s": old}, {"s": fewer}) == ["s.f.sample fell from 10 to 9"]
    assert lowered({"s": old}, {}) == ["s.f is gone", "s.g is gone"]


def test_the_settings_are_those_that_the_baseline_was_measured_with() -> None:
    changed = {row["corpus"]: row["differences"] for row in settings_rows(load_gates()) if not row["passed"]}
    assert not changed, "measure anew and commit: python benchmarks/gates.py --write-baseline"


def test_the_baseline_holds_every_floor() -> None:
    figures = read_baseline()["figures"]
    for name, gate in load_gates().sets.items():
        for family, floors in gate.families.items():
            for metric, floor in floors.floors.items():
                assert figures[name][family][metric] >= floor, f"{name}.{family}.{metric}"


@pytest.mark.parametrize(
    ("file", "old", "new", "path"),
    [
        ("knowledge.yaml", "{dense: 1.0, lexical", "{dense: 1.5, lexical", "query.joiner.weights.dense"),
        ("knowledge.yaml", "places: 8", "places: 9", "query.reservation.places"),
        ("knowledge.yaml", "spans_per_source: 10", "spans_per_source: 11", "query.recovery.spans_per_source"),
        (
            "knowledge.indexing.yaml",
            "overlap_characters: 0",
            "overlap_characters: 50",
            "indexing.splitter.overlap_characters",
        ),
        ("corpora.yaml", "minimum_characters: 50", "minimum_characters: 40", "corpus.minimum_characters"),
    ],
)
def test_a_changed_setting_is_named(
    file: str, old: str, new: str, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = next(ROOT / folder / file for folder in ("configs", "pipelines") if (ROOT / folder / file).is_file())
    before = text.read_text(encoding="utf-8")
    assert old in before
    baseline = {"settings": {"knowledge": retrieval_settings("knowledge")}, "figures": {}}
    (tmp_path / file).write_text(before.replace(old, new, 1), encoding="utf-8")
    (tmp_path / "baseline.json").write_text(json.dumps(baseline), encoding="utf-8")
    monkeypatch.setenv("PINCITE_CONFIG", str(tmp_path))
    (row,) = settings_rows(load_gates())
    assert list(row["differences"]) == [path]
    assert not row["passed"]


def test_a_comment_in_the_vocabulary_changes_nothing_and_a_word_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = retrieval_settings("knowledge")
    text = (ROOT / "configs" / "instruments.yaml").read_text(encoding="utf-8")
    monkeypatch.setenv("PINCITE_CONFIG", str(tmp_path))
    (tmp_path / "instruments.yaml").write_text(text + "\n# a remark\n", encoding="utf-8")
    assert retrieval_settings("knowledge") == before
    (tmp_path / "instruments.yaml").write_text(text.replace("mortgage", "mortgages", 1), encoding="utf-8")
    assert retrieval_settings("knowledge")["vocabulary"] != before["vocabulary"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sets: {}\n", "has no floors for corpus"),
        ("sets: {a: {corpus: c, queries: q, documents: d, families: {}}}\n", "sets.a.families"),
        (
            "sets: {a: {corpus: c, queries: q, documents: d, families: {f: {queries: 0, floors: {x: 1}}}}}\n",
            "queries is 0",
        ),
        ("sets: {a: {corpus: c, queries: q, documents: d, families: {f: {queries: 1, floors: {}}}}}\n", "floors"),
        ("sets: {a: {corpus: c, queries: q, documents: d, famlies: {}}}\n", "sets.a"),
    ],
)
def test_a_wrong_gates_file_is_one_line(text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises((BadInputError, ConfigurationError), match=said) as error:
        gates_of(text, tmp_path, monkeypatch).set_for("knowledge", DEMO / "questions.yaml")
    assert "\n" not in str(error.value)


def test_made_up_names_are_many_and_in_changing_company() -> None:
    queries = absent_queries()
    assert len({query.text for query in queries}) == len(queries) >= 50
    assert len({query.id for query in queries}) == len(queries)
    for words in (PARTIES, TYPES, FORMS):
        assert len(set(words)) == len(words)
    pairs = {(number % len(PARTIES), number % len(TYPES), number % len(FORMS)) for number in range(len(queries))}
    assert len(pairs) == len(queries)
    common = Counter(word for party in PARTIES for word in party.split()[1:])
    assert sum(common[word] for word in ("Services", "Inc", "Housing")) >= 6


def test_families_are_derived_from_the_names_of_a_document(tmp_path: Path) -> None:
    records = [
        {
            "id": f"q{number}",
            "query": f"In the Full Name {number}: what?",
            "query_short": f"Name {number}: what?",
            "query_unnamed": "What?",
            "name": f"The Full Name {number}",
            "relevant": [{"doc": f"{number}.txt", "start": 0, "end": 5}],
        }
        for number in range(3)
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (tmp_path / "queries.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "variants.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "docs.jsonl").write_text('{"doc": "0.txt", "parties": ["Somebody Inc"]}\n', encoding="utf-8")
    families = families_of(tmp_path / "queries.jsonl")
    assert {name: len(queries) for name, queries in families.items() if name != "absent"} == {
        "named_full": 3,
        "named_short": 3,
        "no_instrument": 3,
        "variants": 3,
        "long_question": 3,
        "two_instruments": 2,
        "other_type": 1,
    }
    assert families["two_instruments"][0].text == "Compare the Full Name 0 with the Full Name 1: What?"
    assert families["two_instruments"][0].documents == ["0.txt", "1.txt"]
    assert all(query.text.endswith("what?") and len(query.text) > 150 for query in families["long_question"])
    assert all(query.family == name for name, queries in families.items() for query in queries)


def test_a_file_says_its_families_for_all_questions_or_none(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text('{"id": "a", "query": "x", "family": "f"}\n{"id": "b", "query": "y"}\n', encoding="utf-8")
    with pytest.raises(BadInputError, match="query 'b' says no family"):
        families_of(file)


def test_an_empty_family_is_an_error() -> None:
    with pytest.raises(BadInputError, match="empty"):
        family_sample([], None, 0)


@pytest.fixture(scope="module")
def demo_gate() -> tuple[str, GateSet]:
    return load_gates().set_for("knowledge", DEMO / "questions.yaml")


def run_demo(service: Service, gate: GateSet, **families: Any) -> list[dict[str, Any]]:
    changed = replace(gate, families={**gate.families, **families})
    return run_set(service, "demo", changed, DEMO / "questions.yaml", principal="local-owner")


def test_the_demo_passes_and_every_floor_has_a_row(demo_service: Service, demo_gate: tuple[str, GateSet]) -> None:
    rows = run_demo(demo_service, demo_gate[1])
    assert [row for row in rows if not row["passed"]] == []
    assert len(rows) == sum(len(family.floors) for family in demo_gate[1].families.values())
    assert min(Counter(row["family"] for row in rows).values()) >= 1


@pytest.mark.parametrize(
    ("family", "gate", "said"),
    [
        ("alias", FamilyGate(99, {"isolation": 1.0}), "family 'alias' has 8 questions and must have 99"),
        ("unheard_of", FamilyGate(1, {"isolation": 1.0}), "family 'unheard_of' has 0 questions and must have 1"),
        ("alias", FamilyGate(1, {"span_recal@10": 0.0}), "family 'alias' has no figure 'span_recal@10'"),
    ],
)
def test_what_cannot_be_measured_never_passes(
    family: str, gate: FamilyGate, said: str, demo_service: Service, demo_gate: tuple[str, GateSet]
) -> None:
    with pytest.raises(BadInputError, match=said):
        run_demo(demo_service, demo_gate[1], **{family: gate})


def test_a_family_without_floors_never_passes(demo_service: Service, demo_gate: tuple[str, GateSet]) -> None:
    gate = replace(demo_gate[1], families={"alias": demo_gate[1].families["alias"]})
    with pytest.raises(BadInputError, match="has no floors"):
        run_demo(demo_service, gate)


def test_a_missed_floor_is_missed(demo_service: Service, demo_gate: tuple[str, GateSet]) -> None:
    rows = run_demo(demo_service, demo_gate[1], alias=FamilyGate(1, {"wrong_documents@10": 1.0, "isolation": 1.0}))
    missed = {(row["family"], row["metric"]): row["passed"] for row in rows}
    assert missed["alias", "isolation"]
    assert not missed["alias", "wrong_documents@10"]
