# SPDX-License-Identifier: Apache-2.0
"""``pincite why``: each cause is planted in a real corpus, and what it names is changed and tried."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from haystack import Pipeline
from haystack_integrations.components.pincite.embedding.word_llama_model import load_word_llama
from haystack_integrations.components.pincite.word_llama_text_embedder import WordLlamaTextEmbedder
from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.source_writer import SourceWriter
from haystack_integrations.document_stores.pincite.spans import SourceRecord, SpanRecord, span_id
from pincite.cli import run
from pincite.pipelines.loader import check_pipeline_text
from pincite.service import Service
from pincite.why import why
from pincite.why_answer import Change, WhyAnswer

PIPELINE = (Path(__file__).resolve().parents[2] / "pipelines" / "knowledge.yaml").read_text(encoding="utf-8")
OWNER: list[str] = ["*"]
TARGET = "target.txt"
ROOF = "The tenant repairs the roof of the building and keeps its gutters clear in every season of the year."
FILLER = "The landlord insures the premises number {} against fire, flood and storm, at the landlord's own cost."


class Corpus:
    """A corpus to plant documents in, and its pipeline with small bounds, so that few documents fill it."""

    def __init__(self, database: Database, name: str) -> None:
        self.name = name
        self.writer = SourceWriter(database, name)
        self.database = database

    def plant(
        self, source_id: str, *texts: str, title: str = "", spans: Mapping[str, Any] | None = None, **source: Any
    ) -> None:
        """A source with a span for each text; ``spans`` changes their records."""
        vectors = load_word_llama().embed(list(texts)).tolist()
        records, start = [], 0
        for number, (text, vector) in enumerate(zip(texts, vectors, strict=True)):
            record = SpanRecord("chunk", number, start, start + len(text), text, embedding=vector)
            records.append(replace(record, **(spans or {})))
            start += len(text) + 1
        title = title or f"Paper {source_id.removesuffix('.txt')}"
        whole = SourceRecord(source_id, title, "\n".join(texts), source_id, "text", title, spans=records, **source)
        embedder = WordLlamaTextEmbedder()
        embedder.warm_up()
        self.writer.write_sources([whole], fingerprint=embedder.fingerprint)
        self.writer.refresh_statistics()

    def fill(self, count: int, text: str = FILLER) -> None:
        for number in range(count):
            self.plant(f"filler-{number:02}.txt", text.format(number))

    def pipeline(self, changes: list[Change] | None = None, **parameters: Any) -> Pipeline:
        """The pipeline from YAML; ``dense__top_k=3`` and changes like ``dense.top_k`` set parameters in it."""
        data = yaml.safe_load(PIPELINE.replace("corpus: knowledge", f"corpus: {self.name}"))
        wanted = {name.replace("__", "."): value for name, value in parameters.items()}
        wanted |= {c["parameter"]: c["value"] for c in changes or [] if "." in c["parameter"]}
        for name, value in wanted.items():
            stage, _, key = name.partition(".")
            data["components"][stage]["init_parameters"][key] = value
        pipeline = check_pipeline_text(yaml.safe_dump(data, sort_keys=False), "test", "query")
        pipeline.warm_up()
        return pipeline

    def why(self, query: str, source: str = TARGET, span: str | None = None, **given: Any) -> WhyAnswer:
        parameters = {name: given.pop(name) for name in list(given) if "__" in name}
        request = {"query": query, "groups": OWNER, **given}
        answer = why(self.pipeline(**parameters), request, source, span)
        for remedy in answer["remedies"]:
            if remedy["rank"] is not None:
                assert self.rank(request, remedy["changes"], parameters, source, span) == remedy["rank"]
        return answer

    def rank(
        self, request: dict[str, Any], changes: list[Change], parameters: dict[str, Any], source: str, span: str | None
    ) -> int | None:
        """Ask again with the changes, by a pipeline that is loaded anew."""
        request = dict(request)
        for change in changes:
            if change["parameter"].startswith("--"):
                name = change["parameter"][2:].replace("-", "_")
                request |= {"names": False} if name == "no_names" else {name: change["value"]}
            elif "." not in change["parameter"]:
                request[change["parameter"]] = change["value"]
        pipeline = self.pipeline(changes, **parameters)
        documents = pipeline.run({"request": request})["attribution"]["documents"]
        ids = [document.id if span else document.meta["source_id"] for document in documents]
        wanted = span or source
        return ids.index(wanted) + 1 if wanted in ids else None


@pytest.fixture
def corpus(make_corpus: Callable[..., str], database: Database) -> Corpus:
    return Corpus(database, make_corpus(required_meta=["court"]))


@pytest.fixture
def open_corpus(make_corpus: Callable[..., str], database: Database) -> Corpus:
    return Corpus(database, make_corpus())


def step(answer: WhyAnswer, stage: str) -> Any:
    return next(step for step in answer["steps"] if step["stage"] == stage)


def changes(answer: WhyAnswer) -> list[list[str]]:
    return [[change["text"] for change in remedy["changes"]] for remedy in answer["remedies"]]


# -- not there ---------------------------------------------------------------------------------------------------


def test_a_document_that_is_absent(open_corpus: Corpus) -> None:
    open_corpus.plant("tarmac.txt", ROOF)
    answer = open_corpus.why("roof", "tarmacs.txt")
    assert answer["lost_at"] == "corpus"
    assert "there is no source 'tarmacs.txt'" in answer["reason"] and "'tarmac.txt'" in answer["reason"]
    assert answer["title"] is None


@pytest.mark.parametrize(
    "hidden", [{"groups": ["board"]}, {"status": "draft"}, {"groups": ["board"], "status": "draft"}]
)
@pytest.mark.parametrize("groups", [["staff"], [], None])
def test_what_a_principal_may_not_see_is_absent_to_him(
    open_corpus: Corpus, hidden: dict[str, Any], groups: list[str] | None
) -> None:
    open_corpus.plant("a.txt", ROOF, title="Lease of Quarry Street", **hidden)
    secret = open_corpus.why("roof of Quarry Street", "a.txt", groups=groups)
    absent = open_corpus.why("roof of Quarry Street", "b.txt", groups=groups)
    assert str(secret).replace("a.txt", "?") == str(absent).replace("b.txt", "?")
    assert secret["lost_at"] == "corpus" and secret["title"] is None


def test_a_member_of_the_group_sees_it(open_corpus: Corpus) -> None:
    open_corpus.plant(TARGET, ROOF, groups=["board"])
    assert open_corpus.why("roof", groups=["board"])["rank"] == 1


@pytest.mark.parametrize("status", ["draft", "superseded", "withdrawn"])
def test_a_status_that_is_not_active(open_corpus: Corpus, status: str) -> None:
    open_corpus.plant(TARGET, ROOF, status=status)
    answer = open_corpus.why("roof")
    assert (answer["lost_at"], answer["reason"]) == ("corpus", f"its status is {status}")
    assert changes(answer) == [[f"pincite meta set {open_corpus.name} 'target.txt' status=active"]]
    open_corpus.plant(TARGET, ROOF)  # what it names, done
    assert open_corpus.why("roof")["rank"] == 1


def test_required_metadata_that_is_missing(corpus: Corpus) -> None:
    corpus.plant(TARGET, ROOF)
    answer = corpus.why("roof")
    assert answer["lost_at"] == "corpus" and answer["reason"].endswith("requires: court")
    corpus.plant(TARGET, ROOF, meta={"court": "Haifa"})
    assert corpus.why("roof")["rank"] == 1


@pytest.mark.parametrize(
    ("spans", "text", "reason"),
    [
        ({"embedding": None}, ROOF, "has no embedding"),
        ({"end": 100_000}, ROOF, "has no locator that resolves"),
        ({}, "The roof.", "is shorter than the 50 characters"),
    ],
)
def test_passages_that_are_not_searchable(open_corpus: Corpus, spans: dict[str, Any], text: str, reason: str) -> None:
    with open_corpus.database.admin() as connection:  # as a damaged store has them: the writer refuses some of these
        open_corpus.plant(TARGET, text, spans={key: value for key, value in spans.items() if key == "embedding"})
        if "end" in spans:
            table = f"pincite_{open_corpus.name}.spans"
            connection.execute(f"UPDATE {table} SET end_offset = {spans['end']}".encode())
    answer = open_corpus.why("roof")
    assert answer["lost_at"] == "corpus" and reason in answer["reason"]
    of_span = open_corpus.why("roof", span=span_id(open_corpus.name, TARGET, "chunk", 0))
    assert of_span["lost_at"] == "corpus" and reason in of_span["reason"]


def test_a_span_that_is_not_in_the_source(open_corpus: Corpus) -> None:
    open_corpus.plant(TARGET, ROOF)
    answer = open_corpus.why("roof", span="x:target.txt#chunk-9")
    assert answer["reason"] == "there is no span 'x:target.txt#chunk-9' in source 'target.txt'"


def test_a_filter_is_named(open_corpus: Corpus) -> None:
    open_corpus.plant(TARGET, ROOF, meta={"language": "he", "court": "Haifa"})
    conditions = [
        {"field": f"meta.{key}", "operator": "==", "value": value}
        for key, value in (("language", "en"), ("court", "Haifa"))
    ]
    answer = open_corpus.why("roof", filters={"operator": "AND", "conditions": conditions})
    assert (answer["lost_at"], answer["reason"]) == ("filters", "filtered out by language == 'en'")
    assert open_corpus.why("roof", filters=conditions[1])["rank"] == 1


# -- lost on the way ---------------------------------------------------------------------------------------------


def test_found_is_said(open_corpus: Corpus) -> None:
    open_corpus.plant(TARGET, ROOF)
    answer = open_corpus.why("Who repairs the roof?")
    assert (answer["rank"], answer["lost_at"], answer["reason"]) == (1, None, "it is result 1")
    assert [s["outcome"] for s in answer["steps"] if s["stage"] in ("dense", "lexical")] == ["in", "in"]


def test_the_dense_rank_is_the_true_one(open_corpus: Corpus) -> None:
    open_corpus.fill(12)
    open_corpus.plant(TARGET, ROOF)
    query = "insurance against flood damage"
    answer = open_corpus.why(query, dense__top_k=5, lexical__top_k=5)
    whole = open_corpus.pipeline(dense__top_k=100)
    found = whole.run({"request": {"query": query, "groups": OWNER}}, include_outputs_from={"dense"})
    documents = found["dense"]["documents"]
    true = [document.meta["source_id"] for document in documents].index(TARGET) + 1
    assert answer["lost_at"] == "dense" and step(answer, "dense")["rank"] == true == 13
    assert answer["passes_with"] is not None and answer["passes_with"]["text"] == "dense.top_k >= 13"
    assert step(answer, "lexical")["text"].startswith("no word in common: it has none of")
    assert ["dense.top_k >= 13", "--top-k 13"] in changes(answer)


def test_a_word_leg_that_is_too_short(open_corpus: Corpus) -> None:
    open_corpus.fill(8, "Fire and fire again: a word for number {} that fills a leg of words with short passages.")
    open_corpus.plant(TARGET, "Fire. " + ROOF * 3)
    answer = open_corpus.why("fire", lexical__top_k=4, dense__top_k=1)
    assert step(answer, "lexical")["rank"] == 9
    assert answer["lost_at"] in ("dense", "lexical") and changes(answer)


def test_a_word_too_common_for_the_rows(open_corpus: Corpus) -> None:
    open_corpus.fill(6, "The flood clause of number {} says who pays when the river rises above the wall of it.")
    open_corpus.plant(TARGET, "The river is far from here, and nobody who lives on the hill has ever thought about it.")
    open_corpus.plant("rare.txt", "A zeppelin is a rigid airship, and it is not a clause at all in this collection.")
    answer = open_corpus.why("zeppelin river", lexical__rows=3, dense__top_k=1)
    assert "'river', is reached after 8 rows" in step(answer, "lexical")["text"]
    assert any(
        change["parameter"] == "lexical.rows" for remedy in answer["remedies"] for change in remedy["changes"]
    ) or (answer["lost_at"] == "dense")


def test_the_cutoff_of_the_joiner(open_corpus: Corpus) -> None:
    open_corpus.fill(12)
    open_corpus.plant(TARGET, ROOF)
    answer = open_corpus.why("insurance against flood damage", joiner__top_k=6)
    place = step(answer, "joiner")["rank"]
    assert (answer["lost_at"], place) == ("joiner", 13)
    assert answer["reason"] == "cut off at 6 while at rank 13 of the fused list"
    assert changes(answer)[0] == ["joiner.top_k >= 13", "--top-k 13"]


def test_the_page(open_corpus: Corpus) -> None:
    open_corpus.fill(12)
    open_corpus.plant(TARGET, ROOF)
    answer = open_corpus.why("insurance against flood damage")
    assert (answer["lost_at"], answer["reason"]) == ("diversifier", "at rank 13, below the 10 results wanted")
    assert changes(answer)[0] == ["--top-k 13"]


def test_the_cap(open_corpus: Corpus) -> None:
    texts = [f"Roof clause {number}: the tenant repairs the roof, the roof and the roof." for number in range(4)]
    open_corpus.plant(TARGET, *texts, ROOF)
    last = span_id(open_corpus.name, TARGET, "chunk", 4)
    answer = open_corpus.why("roof", span=last)
    assert answer["lost_at"] == "diversifier"
    assert answer["reason"] == "over the cap: the 5th passage of its document, of which 3 may pass"
    assert changes(answer)[0] == ["--max-per-source 5"]


def test_a_passage_deep_inside_the_named_document(open_corpus: Corpus) -> None:
    open_corpus.fill(3)
    texts = [f"Clause {number}: the tenant repairs the roof, the roof and the roof at once." for number in range(5)]
    open_corpus.plant(TARGET, *texts, ROOF, title="Quarry Street Lease")
    last = span_id(open_corpus.name, TARGET, "chunk", 5)
    query = "What does the Quarry Street lease say about the roof?"
    answer = open_corpus.why(query, span=last, recovery__spans_per_source=2, dense__top_k=2, lexical__top_k=2)
    assert answer["lost_at"] == "recovery"
    assert answer["reason"] == "at rank 6 inside its document, of which the best 2 are taken"
    assert changes(answer)[0] == ["recovery.spans_per_source >= 6"]


def test_a_name_that_the_title_does_not_hold(open_corpus: Corpus) -> None:
    open_corpus.fill(12)
    open_corpus.plant(TARGET, ROOF, title="Lease of Quarry Street")
    answer = open_corpus.why("What does the Pemberton Orchard lease say about flood?")
    assert "lacks 'pemberton', 'orchard'" in step(answer, "title")["text"]
    assert answer["lost_at"] is not None
    whole = open_corpus.why("fire and flood and storm", names=False)
    assert "threshold 0.3" in step(whole, "title")["text"]


def test_half_a_name_is_told_with_its_coverage(open_corpus: Corpus) -> None:
    open_corpus.fill(12)
    open_corpus.plant(TARGET, ROOF, title="Lease of Quarry Street")
    answer = open_corpus.why("What does the Quarry Zanzibar Pemberton lease say about flood?", title__min_coverage=0.9)
    assert "and 0.9 is needed, lacks 'zanzibar', 'pemberton'" in step(answer, "title")["text"]
    lowered = [change for remedy in answer["remedies"] for change in remedy["changes"]]
    assert any(change["parameter"] == "title.min_coverage" and change["value"] < 0.9 for change in lowered)


def test_names_switched_off(open_corpus: Corpus) -> None:
    open_corpus.fill(12)
    open_corpus.plant(TARGET, ROOF, title="Lease of Quarry Street")
    answer = open_corpus.why("Does the Quarry Street lease insure against flood, fire and storm?", names=False, top_k=3)
    assert ["leave out --no-names"] in changes(answer) or answer["rank"] is not None


def test_naming_it_is_offered(open_corpus: Corpus) -> None:
    open_corpus.fill(12)
    open_corpus.plant(TARGET, ROOF, title="Lease of Quarry Street")
    answer = open_corpus.why("insurance against flood damage")
    assert any(
        texts == ["name it: 'Lease of Quarry Street: insurance against flood damage'"] for texts in changes(answer)
    )


def test_another_matter_comes_first(open_corpus: Corpus) -> None:
    for number in range(4):
        open_corpus.plant(f"own-{number}.txt", FILLER.format(number), meta={"matter": "M-1"})
    open_corpus.plant(TARGET, ROOF, meta={"matter": "M-2"})
    answer = open_corpus.why("roof", matter="M-1", top_k=3)
    assert step(answer, "matter")["text"] == "moves from 1"
    assert ["leave out --matter"] in changes(answer)


def test_a_stale_vector(open_corpus: Corpus) -> None:
    open_corpus.plant(TARGET, ROOF)
    with open_corpus.database.admin() as connection:
        connection.execute(f"UPDATE pincite_{open_corpus.name}.spans SET content_hash = 'old'".encode())
    answer = open_corpus.why("gutters")
    assert "stale" in step(answer, "dense")["text"] and answer["rank"] == 1


# -- command and service -----------------------------------------------------------------------------------------


def test_the_command_tells_the_way(demo_service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    question = "What does the HFA bond mortgage say about limitation on liability?"
    source = "hfa-bond-mortgage-riverside.txt"
    assert run(["why", "knowledge", question, "--source", source]) == 0
    assert "It was found: it is result 1" in capsys.readouterr().out
    assert run(["why", "knowledge", question, "--source", source, "--no-names", "--top-k", "3"]) == 0
    told = capsys.readouterr().out
    assert "← lost here" in told and "leave out --no-names" in told and "(tried: result 1)" in told


def test_service_without_a_principal_says_nothing(demo_service: Service) -> None:
    answer = demo_service.why("knowledge", "mortgage", source="hfa-bond-mortgage-riverside.txt")
    assert answer["lost_at"] == "corpus" and answer["title"] is None
