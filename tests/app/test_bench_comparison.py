# SPDX-License-Identifier: Apache-2.0
"""Baselines: the difference, whether it is chance, and which questions made it."""

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from haystack_integrations.document_stores.pincite.errors import BadInputError
from hypothesis import given, settings
from hypothesis import strategies as st
from pincite.bench.comparison import compared, differences, read_report
from pincite.bench.significance import randomisation_test, significance

CHANGED = st.lists(st.floats(-1, 1).filter(lambda value: abs(value) > 0.01), min_size=1, max_size=9)


@given(CHANGED)
@settings(max_examples=30, deadline=None)
def test_the_randomisation_test_approaches_all_signs(changed: list[float]) -> None:
    values = np.asarray(changed)
    sums = [abs(float((np.asarray(signs) * values).sum())) for signs in itertools.product((-1, 1), repeat=len(changed))]
    exact = sum(total >= abs(values.sum()) - 1e-9 for total in sums) / len(sums)
    assert randomisation_test(values) == pytest.approx(exact, abs=0.025)


def test_no_difference_is_no_evidence() -> None:
    assert significance([0.0] * 40) == (1.0, 1.0)


def test_many_steps_one_way_are_no_chance_and_repeat_to_the_digit() -> None:
    steps = [0.5] * 30 + [0.0] * 100
    found = significance(steps)
    assert max(found) < 0.001
    assert found == significance(steps)


def test_as_many_up_as_down_is_chance() -> None:
    assert min(significance([0.5, -0.5] * 20)) > 0.9


def report(values: dict[str, float], **changes: Any) -> dict[str, Any]:
    rows = [{"id": name, "query": f"text {name}", "figures": {"span_recall@10": v}} for name, v in values.items()]
    document = {"format": "pincite-bench/1", "corpus": "c", "k": 10, "settings": {"query": {"joiner": {"k": 60}}}}
    return {**document, "backends": {"full": {"queries": rows}}, **changes}


def test_what_rose_and_what_fell() -> None:
    before = report({"a": 0.0, "b": 1.0, "c": 0.5, "d": 0.2})
    after = report({"a": 1.0, "b": 0.4, "c": 0.5, "d": 0.3}, settings={"query": {"joiner": {"k": 50}}})
    found = compared(before, after)
    (change,) = found.changes
    assert (change.before, change.after, change.rose, change.fell) == (pytest.approx(0.425), pytest.approx(0.55), 2, 1)
    assert [row.id for row in found.gained] == ["a", "d"]
    assert [row.id for row in found.lost] == ["b"]
    assert found.settings == {"query.joiner.k": (60, 50)}


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (report({"a": 1.0}, corpus="d"), "corpus"),
        (report({"a": 1.0}, k=5), "k 10 and this run 5"),
        (report({"b": 1.0}), "query 'b' is not in the baseline"),
        (report({}), "the baseline has 1 questions and this run 0"),
        (report({"a": 1.0}, backends={"dense": {"queries": []}}), "none in common"),
    ],
)
def test_what_is_not_comparable_is_refused(other: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        compared(report({"a": 1.0}), other)


def test_another_text_under_the_same_id_is_refused() -> None:
    other = report({"a": 1.0})
    other["backends"]["full"]["queries"][0]["query"] = "another"
    with pytest.raises(BadInputError, match="another text"):
        compared(report({"a": 1.0}), other)


@pytest.mark.parametrize("text", ["", "[]", '{"format": "other"}'])
def test_a_file_that_is_no_report(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadInputError, match="no report of `pincite bench --out`"):
        read_report(tmp_path / "r.json")
    (tmp_path / "r.json").write_text(json.dumps(report({"a": 1.0})), encoding="utf-8")
    assert read_report(tmp_path / "r.json")["corpus"] == "c"


def test_differences_are_named_by_path() -> None:
    assert differences({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}, "d": 4}) == {"a.c": (2, 3), "d": (None, 4)}
    assert differences({"a": 1}, {"a": 1}) == {}
