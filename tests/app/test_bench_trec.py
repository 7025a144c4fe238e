# SPDX-License-Identifier: Apache-2.0
"""TREC files: ids of any kind come back, and ``ir_measures`` reads what we write."""

from pathlib import Path

import ir_measures
import pytest
from haystack_integrations.document_stores.pincite.errors import BadInputError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pincite.bench.ir_metrics import parsed_measures, ranked, scores
from pincite.bench.trec import read_qrels, read_run, token, write_qrels, write_run

IDS = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=12)
LISTS = st.dictionaries(IDS, st.lists(IDS, min_size=1, max_size=6, unique=True), min_size=1, max_size=4)
SHARED_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)


@given(LISTS)
@SHARED_FOLDER
def test_files_come_back_as_they_were(tmp_path: Path, lists: dict[str, list[str]]) -> None:
    write_qrels(tmp_path / "qrels", lists)
    write_run(tmp_path / "run", lists, "tag with blanks")
    assert read_qrels(tmp_path / "qrels") == lists
    assert read_run(tmp_path / "run") == lists


@given(LISTS)
@SHARED_FOLDER
def test_the_library_reads_the_same_ids(tmp_path: Path, lists: dict[str, list[str]]) -> None:
    write_run(tmp_path / "run", lists, "tag")
    read = [(row.query_id, row.doc_id) for row in ir_measures.read_trec_run(str(tmp_path / "run"))]
    assert read == [(token(query), token(name)) for query, names in lists.items() for name in names]


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "empty"), ("a 0 b\n", "line 1: 3 fields"), ("a 0 b 1\na 0 c x\n", "line 2: 'x' is no number")],
)
def test_a_bad_qrels_file_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "qrels").write_text(text, encoding="utf-8")
    with pytest.raises(BadInputError, match=said):
        read_qrels(tmp_path / "qrels")


def test_a_run_of_another_system_is_read_by_score(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("q Q0 low 1 0.5 t\nq Q0 high 9 2.5 t\nq Q0 tie 3 0.5 t\nq Q0 high 4 0.1 t\n", "utf-8")
    assert read_run(tmp_path / "run") == {"q": ["high", "low", "tie"]}


def test_irrelevant_judgements_are_none(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q 0 a 0\nq 0 b 2\n", encoding="utf-8")
    assert read_qrels(tmp_path / "qrels") == {"q": ["b"]}


def test_measures_by_hand() -> None:
    found = scores(
        parsed_measures(["P@5", "R@10", "RR", "AP"], 10), {"q": ["a", "b"], "r": ["c"]}, {"q": ["x", "a", "b"]}
    )
    assert found.by_query["q"] == pytest.approx({"P@5": 2 / 5, "R@10": 1.0, "RR": 1 / 2, "AP": (1 / 2 + 2 / 3) / 2})
    # A question without results counts as zero, in the mean as well.
    assert found.overall["RR"] == pytest.approx(1 / 4)


def test_ranks_become_falling_scores() -> None:
    assert ranked(["a", "b", "c"]) == [("a", 3.0), ("b", 2.0), ("c", 1.0)]


@pytest.mark.parametrize(
    ("name", "said"),
    [("nDGC@10", "measure not found"), ("P@", "problem parsing"), ("R@20", "say --k 20"), ("1+1", "measure")],
)
def test_a_measure_that_is_none_is_one_line(name: str, said: str) -> None:
    with pytest.raises(BadInputError, match=said) as error:
        parsed_measures([name], 10)
    assert "\n" not in str(error.value)
