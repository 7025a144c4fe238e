# SPDX-License-Identifier: Apache-2.0
"""``pincite bench`` on the demo corpus: the figures, the files it writes, and what it refuses."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pincite.bench import backends as backends_module
from pincite.bench.backends import Asking, QueryFailedError, answers
from pincite.bench.measuring import measure
from pincite.bench.queries import Query, read_queries
from pincite.cli import run
from pincite.service import Observation, Service

DEMO = Path(__file__).resolve().parents[2] / "app" / "demo"
QUESTIONS = str(DEMO / "questions.yaml")
BENCH = ["bench", "knowledge", "--queries", QUESTIONS]
MEASURES = ("P@5", "R@10", "RR", "nDCG@10", "AP")

pytestmark = pytest.mark.usefixtures("demo_service")


def complaint(capsys: pytest.CaptureFixture[str], status: int, wanted: int = 2) -> str:
    out, err = capsys.readouterr()
    assert (status, out) == (wanted, "")
    assert err.startswith("pincite: ")
    assert err.count("\n") == 1
    return err


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, demo_service: Service) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("bench") / "r.json"
    everything = [part for name in ("full", "hybrid", "dense", "lexical", "title") for part in ("--backend", name)]
    assert run([*BENCH, *everything, "--out", str(path), "--json"]) == 0
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return {**found, "path": str(path)}


def test_every_backend_answers_every_question(report: dict[str, Any]) -> None:
    asked = [query.id for query in read_queries(Path(QUESTIONS))]
    assert list(report["backends"]) == ["full", "hybrid", "dense", "lexical", "title"]
    for backend in report["backends"].values():
        assert [row["id"] for row in backend["queries"]] == asked


def test_a_mean_is_the_mean_of_its_questions(report: dict[str, Any]) -> None:
    for backend in report["backends"].values():
        for name, count in backend["applies_to"].items():
            values = [row["figures"][name] for row in backend["queries"] if name in row["figures"]]
            assert len(values) == count
            assert backend["figures"][name] == pytest.approx(sum(values) / count)


def test_the_full_search_is_the_search(report: dict[str, Any], demo_service: Service) -> None:
    for row in report["backends"]["full"]["queries"][:20]:
        response = demo_service.search("knowledge", row["query"], principal="local-owner")
        assert [result["span_id"] for result in response["results"]] == row["results"]
    for row in report["backends"]["hybrid"]["queries"][:20]:
        response = demo_service.search("knowledge", row["query"], principal="local-owner", names=False)
        assert [result["span_id"] for result in response["results"]] == row["results"]


def test_the_name_is_worth_its_place(report: dict[str, Any]) -> None:
    full, hybrid = (report["backends"][name]["figures"] for name in ("full", "hybrid"))
    assert full["right_document@1"] > hybrid["right_document@1"]
    assert report["isolation_violations"] == []
    assert "named_document@1" not in report["backends"]["dense"]["figures"]


def test_stages_are_judged_in_the_order_of_the_pipeline(report: dict[str, Any]) -> None:
    stages = report["backends"]["full"]["stages"]
    assert list(stages["recall"])[:4] == ["title", "dense", "lexical", "joiner"]
    assert list(stages["recall"])[-1] == "attribution"
    rows = report["backends"]["full"]["queries"]
    assert sum(stages["lost_spans"].values()) == sum(row["lost_span"] is not None for row in rows)


@pytest.mark.parametrize("unit", ["span", "document"])
def test_the_library_by_itself_gives_the_same_figures(unit: str, tmp_path: Path, report: dict[str, Any]) -> None:
    qrels, ranking = tmp_path / "qrels", tmp_path / "run"
    assert run([*BENCH, "--qrels-out", str(qrels), "--run-out", str(ranking), "--unit", unit]) == 0
    command = [sys.executable, "-m", "ir_measures", str(qrels), str(ranking), *MEASURES, "--places", "10"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    theirs = {name: float(value) for name, value in (line.split("\t") for line in done.stdout.splitlines())}
    assert theirs == pytest.approx(report["backends"]["full"]["measures"][unit], abs=1e-9)


@pytest.mark.parametrize("unit", ["span", "document"])
def test_an_exported_run_measures_as_the_search_did(unit: str, tmp_path: Path, report: dict[str, Any]) -> None:
    ranking, out = tmp_path / "run", tmp_path / "again.json"
    assert run([*BENCH, "--run-out", str(ranking), "--unit", unit]) == 0
    assert run([*BENCH, "--run", str(ranking), "--out", str(out)]) == 0
    again = json.loads(out.read_text(encoding="utf-8"))["backends"]["run"]
    full = report["backends"]["full"]
    assert again["measures"]["document"] == pytest.approx(full["measures"]["document"])
    if unit == "span":
        assert again["measures"]["span"] == pytest.approx(full["measures"]["span"])
        assert again["figures"]["span_recall@10"] == pytest.approx(full["figures"]["span_recall@10"])
    else:
        assert "span_recall@10" not in again["figures"]


def test_exported_judgements_judge_as_the_labels_did(tmp_path: Path, report: dict[str, Any]) -> None:
    qrels, out = tmp_path / "qrels", tmp_path / "again.json"
    assert run([*BENCH, "--qrels-out", str(qrels)]) == 0
    assert run([*BENCH, "--qrels", str(qrels), "--out", str(out)]) == 0
    again = json.loads(out.read_text(encoding="utf-8"))["backends"]["full"]
    assert again["measures"]["document"] == pytest.approx(report["backends"]["full"]["measures"]["document"])
    assert again["measures"]["span"]["RR"] == pytest.approx(report["backends"]["full"]["measures"]["span"]["RR"])


def test_against_itself_nothing_changes(
    report: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "c.json"
    assert run([*BENCH, "--baseline", report["path"], "--out", str(out)]) == 0
    comparison = json.loads(out.read_text(encoding="utf-8"))["comparison"]
    assert {change["before"] == change["after"] and change["p"] == 1.0 for change in comparison["changes"]} == {True}
    assert (comparison["gained"], comparison["lost"], comparison["settings"]) == ([], [], {})
    shown = capsys.readouterr().out
    assert "Against the baseline" in shown
    assert "span_recall@10" in shown
    assert "Where answers are found, full" in shown


def test_without_names_the_baseline_shows_what_was_lost(
    report: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*BENCH, "--no-names", "--baseline", report["path"]]) == 0
    assert "Lost most" in capsys.readouterr().out


def test_a_sample_is_smaller_and_repeats(tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert run([*BENCH, "--limit", "7", "--seed", "5", "--out", str(tmp_path / name)]) == 0
    one, two = (json.loads((tmp_path / name).read_text(encoding="utf-8")) for name in ("one", "two"))
    rows = [[(row["id"], row["results"]) for row in found["backends"]["full"]["queries"]] for found in (one, two)]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 7


def test_gates_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*BENCH, "--gates"]) == 0
    assert "named_full" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["bench", "nowhere", "--queries", QUESTIONS], "unknown corpus 'nowhere'"),
        (["bench", "knowledge"], "give either --queries FILE"),
        (["bench", "knowledge", "--queries", "none.jsonl"], "none.jsonl: cannot be read"),
        ([*BENCH, "--field", "title"], "no record has a question in field 'title'"),
        ([*BENCH, "--backend", "sparse"], "--backend is 'sparse': expected one of lexical"),
        ([*BENCH, "--measure", "nDGC@10"], "measure not found: nDGC"),
        ([*BENCH, "--measure", "R@50"], "say --k 50"),
        ([*BENCH, "--unit", "page"], "--unit is 'page': expected one of span, document"),
        ([*BENCH, "--as", "elsewhere"], "is not in corpus 'knowledge'"),
        ([*BENCH, "--suffix", "pdf"], "--suffix is 'pdf': expected a suffix such as .pdf"),
        ([*BENCH, "--as", "elsewhere", "--present-only"], "none of the 84 questions is about documents of corpus"),
        ([*BENCH, "--limit", "0"], "Invalid value for '--limit'"),
        ([*BENCH, "--principal", "nobody"], "unknown principal 'nobody'"),
        ([*BENCH, "--limit", "1", "--out", "no/such/folder/r.json"], "cannot be written"),
        ([*BENCH, "--backend", "full", "--backend", "dense", "--run-out", "x"], "take one backend"),
        ([*BENCH, "--limit", "1", "--baseline", QUESTIONS], "no report of `pincite bench --out`"),
    ],
)
def test_what_cannot_be_measured_is_one_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in complaint(capsys, run(arguments))


def test_a_document_or_quote_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text('{"id": "a", "query": "x", "relevant": [{"doc": "gone.txt", "start": 0, "end": 5}]}\n', "utf-8")
    assert "document 'gone.txt' is not in corpus 'knowledge'" in complaint(
        capsys, run(["bench", "knowledge", "--queries", str(file)])
    )
    file.write_text(
        '{"id": "a", "query": "x", "source": "hfa-bond-mortgage-riverside.txt", "answer": "the"}\n', "utf-8"
    )
    assert "must stand there once" in complaint(capsys, run(["bench", "knowledge", "--queries", str(file)]))


def test_pages_of_the_same_document_in_another_format(tmp_path: Path) -> None:
    file, out = tmp_path / "q.jsonl", tmp_path / "r.json"
    asked = {"id": "a", "query": "Thornbury Place Apartments bond mortgage: standby boiler"}
    label = {"doc": "bond-mortgage-thornbury-place.txt", "start": 0, "end": 9, "pages": [1, 99]}
    gone = {"id": "b", "query": "x", "relevant": [{"doc": "gone.txt", "pages": [1, 1]}]}
    file.write_text(json.dumps({**asked, "relevant": [label]}) + "\n" + json.dumps(gone) + "\n", encoding="utf-8")
    options = ["--suffix", ".pdf", "--present-only", "--out", str(out)]
    assert run(["bench", "knowledge", "--queries", str(file), *options]) == 0
    found = json.loads(out.read_text(encoding="utf-8"))["backends"]["full"]
    assert [row["id"] for row in found["queries"]] == ["a"]
    assert found["figures"]["page_hit@10"] == 1.0
    assert "span_recall@10" not in found["figures"]
    assert list(found["measures"]) == ["document"]


def test_a_failing_question_fails_the_measurement(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text('{"id": "fine", "query": "x"}\n{"id": "odd", "query": "\\u0000"}\n', "utf-8")
    said = complaint(capsys, run(["bench", "knowledge", "--queries", str(file)]))
    assert "query 'odd' failed" in said


def test_a_degraded_answer_is_no_measurement(demo_service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def observe(corpus: str, query: str, **options: Any) -> Observation:
        response, outputs = Service.observe(demo_service, corpus, query, **options)
        return Observation({**response, "degraded": [{"stage": "dense", "reason": "took longer than 5 s"}]}, outputs)

    monkeypatch.setattr(demo_service, "observe", observe)
    with pytest.raises(QueryFailedError, match="query 'a' was answered without 'dense': took longer than 5 s"):
        answers(demo_service, Asking("knowledge", principal="local-owner"), Query("a", "notices"), ["full"])


def test_a_foreign_span_is_seen(demo_service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = backends_module.every_span
    monkeypatch.setattr("pincite.bench.measuring.every_span", lambda outputs: seen(outputs) | {"other:x.txt#chunk-0"})
    report = measure(demo_service, Asking("knowledge", principal="local-owner"), [Query("a", "notices")])
    assert report.foreign == {"other:x.txt#chunk-0"}


def test_without_a_principal_there_is_nothing_to_see(demo_service: Service) -> None:
    report = measure(demo_service, Asking("knowledge"), [Query("a", "notices")])
    assert report.backends["full"].measured[0].hits == []
    assert report.foreign == set()
