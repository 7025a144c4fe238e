# SPDX-License-Identifier: Apache-2.0
"""Stale vectors, metadata and reviews set by hand: what changes at once, what outlives the next ingestion (S1, S3)."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from haystack_integrations.components.pincite.fingerprinted_document_embedder import FingerprintedDocumentEmbedder
from haystack_integrations.components.pincite.word_llama_document_embedder import WordLlamaDocumentEmbedder
from haystack_integrations.document_stores.pincite.corpora import CorpusDefinition
from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.errors import BadInputError, ConfigurationError
from haystack_integrations.document_stores.pincite.migrations import initialise
from haystack_integrations.document_stores.pincite.stale_spans import StaleSpans
from pincite import reembed as reembedding
from pincite.cli import run
from pincite.service import Service

CORPUS = "precedent_library"
SENTENCE = "A landlord who accepts rent after a notice to quit waives that notice, the court of appeal held in {name}. "
RULES = """
- statement: Accepting rent waives the notice.
  quote: accepts rent after a notice to quit waives that notice
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("Smith", "Jones", "Levy"):
        (tmp_path / f"{name}.md").write_text(f"# {name} v State\n\n{SENTENCE.format(name=name) * 4}", encoding="utf-8")
        (tmp_path / f"{name}.md.meta.yaml").write_text("court: Haifa\ndate: 2020-01-02\n", encoding="utf-8")
    (tmp_path / "Smith.md.rules.yaml").write_text(RULES, encoding="utf-8")
    return tmp_path


@pytest.fixture
def service(folder: Path, own_home: Database) -> Iterator[Service]:
    """The library with three decisions and a pending rule; empty again after the test."""
    service = Service()
    assert service.ingest(CORPUS, [folder]).added == 3
    yield service
    for file in folder.iterdir():
        file.unlink()
    service.ingest(CORPUS, [folder])


def execute(service: Service, statement: str) -> list[tuple[Any, ...]]:
    """Somebody else's change to the first corpus, past Pincite."""
    with service.database.admin() as connection:
        path = service.database.search_path(f"pincite_{CORPUS}")
        connection.execute(f"SET search_path = {path}")  # type: ignore[call-overload]
        cursor = connection.execute(statement)  # type: ignore[call-overload]
        return cursor.fetchall() if cursor.description else []


def sources(service: Service, query: str = "accepting rent after notice", **options: Any) -> set[str]:
    results = service.search(CORPUS, query, principal="local-owner", **options)["results"]
    return {result["source_id"] for result in results}


def dense_ids(service: Service) -> set[str]:
    outputs = service.observe(CORPUS, "accepting rent after notice", principal="local-owner").outputs
    return {document.id for document in outputs["dense"]["documents"]}


def test_a_stale_span_leaves_the_dense_leg_and_comes_back_by_reembed(service: Service) -> None:
    span = f"{CORPUS}:Levy.md#chunk-0"
    assert span in dense_ids(service)
    execute(service, "UPDATE spans SET content_hash = NULL WHERE source_id = 'Levy.md'")
    assert span not in dense_ids(service)
    assert "Levy.md" in sources(service)  # by its words
    steps = []
    report = service.reembed(CORPUS, progress=steps.append)
    assert (report.embedded, report.left) == (1, 0)
    assert (steps[-1].done, steps[-1].total, steps[-1].source_id) == (1, 1, "Levy.md")
    assert span in dense_ids(service)
    assert service.reembed(CORPUS).embedded == 0


def test_everything_is_embedded_anew_on_request(service: Service) -> None:
    before = execute(service, "SELECT count(*) FROM spans")[0][0]
    assert service.reembed(CORPUS, everything=True).embedded == before == 4


def test_ingestion_embeds_what_others_made_stale(service: Service, folder: Path) -> None:
    execute(service, "UPDATE spans SET content_hash = NULL WHERE source_id = 'Levy.md'")
    execute(service, "UPDATE spans SET embedding = NULL WHERE source_id = 'Jones.md'")
    report = service.ingest(CORPUS, [folder])
    assert (report.unchanged, report.updated, report.reembedded) == (3, 0, 2)
    assert execute(service, "SELECT count(*) FROM spans WHERE stale OR embedding IS NULL OR NOT searchable") == [(1,)]


class KilledError(Exception):
    pass


@pytest.mark.parametrize("everything", [False, True])
def test_a_run_that_was_interrupted_goes_on(
    service: Service, monkeypatch: pytest.MonkeyPatch, everything: bool
) -> None:
    monkeypatch.setattr(reembedding, "_BATCH", 1)
    execute(service, "UPDATE spans SET content_hash = NULL")

    def stop(step: Any) -> None:
        if step.done == 2:
            raise KilledError

    with pytest.raises(KilledError):
        service.reembed(CORPUS, everything=everything, progress=stop)
    assert execute(service, "SELECT count(*) FROM spans WHERE NOT stale") == [(2,)]
    assert service.reembed(CORPUS, everything=everything).embedded == 2
    assert execute(service, "SELECT count(*) FROM spans WHERE stale") == [(0,)]


def test_readers_are_served_while_everything_is_embedded(service: Service) -> None:
    done, found = threading.Event(), []

    def ask() -> None:
        while not done.is_set():
            found.append(len(dense_ids(service)))

    thread = threading.Thread(target=ask)
    thread.start()
    for _ in range(3):
        service.reembed(CORPUS, everything=True)
    done.set()
    thread.join()
    assert found
    assert set(found) == {3}


def test_a_span_that_changes_while_it_is_embedded_stays_stale(service: Service) -> None:
    execute(service, "UPDATE spans SET content_hash = NULL WHERE source_id = 'Levy.md'")
    (fingerprint,) = {row[0] for row in execute(service, "SELECT embedding_fingerprint FROM spans")}
    stale = StaleSpans(service.database, CORPUS, fingerprint)
    (span,) = stale.batch("", 10)
    execute(service, "UPDATE spans SET meta = meta || '{\"court\": \"Acre\"}' WHERE source_id = 'Levy.md'")
    assert stale.store([(span, [0.5] * 256)]) == 0
    assert stale.count() == 1
    assert service.reembed(CORPUS).embedded == 1


def test_vectors_of_another_embedder_have_no_place_in_the_set_in_force(service: Service) -> None:
    with pytest.raises(ConfigurationError, match="the configuration names 'another;dim=256': change over first"):
        StaleSpans(service.database, CORPUS, "another;dim=256").batch("", 2, everything=True)


def test_embedded_metadata_makes_stale_and_other_metadata_does_not(service: Service) -> None:
    execute(service, "UPDATE settings SET embedded_meta = '{court}'")
    execute(service, "UPDATE sources SET meta = meta || '{\"tags\": [\"x\"]}' WHERE source_id = 'Levy.md'")
    assert execute(service, "SELECT count(*) FROM spans WHERE stale") == [(0,)]
    execute(service, "UPDATE sources SET meta = meta || '{\"court\": \"Acre\"}' WHERE source_id = 'Levy.md'")
    assert execute(service, "SELECT DISTINCT source_id FROM spans WHERE stale") == [("Levy.md",)]
    assert service.reembed(CORPUS).embedded == 1  # which tells the database again what its embedder embeds
    assert execute(service, "SELECT embedded_meta FROM settings") == [(["statement"],)]


def test_metadata_set_by_hand_reaches_spans_and_outlives_the_file(service: Service, folder: Path) -> None:
    state = service.set_meta(CORPUS, "Levy.md", {"title": "Levy, reversed", "court": "Acre", "groups": "ann, bob"})
    assert (state["title"], state["groups"], state["meta"]["court"]) == ("Levy, reversed", ["ann", "bob"], "Acre")
    assert (state["searchable_spans"], state["stale_spans"]) == (1, 0)
    (folder / "Levy.md").write_text(f"# Levy v State\n\n{SENTENCE.format(name='Levy again') * 4}", encoding="utf-8")
    assert service.ingest(CORPUS, [folder]).updated == 1
    (row,) = execute(service, "SELECT title, groups, meta ->> 'court' FROM sources WHERE source_id = 'Levy.md'")
    assert row == ("Levy, reversed", ["ann", "bob"], "Acre")
    (meta,) = execute(service, "SELECT meta FROM spans WHERE source_id = 'Levy.md'")[0]
    assert meta["court"] == "Acre"
    assert not [key for key in meta if key.startswith("_")]
    assert service.ingest(CORPUS, [folder]).unchanged == 3


def test_required_metadata_decides_what_is_found(service: Service) -> None:
    assert service.set_meta(CORPUS, "Levy.md", {"court": None})["searchable_spans"] == 0
    assert sources(service) == {"Smith.md", "Jones.md"}
    assert service.set_meta(CORPUS, "Levy.md", {"court": "Acre"})["searchable_spans"] == 1
    assert sources(service) == {"Smith.md", "Jones.md", "Levy.md"}
    assert service.set_meta(CORPUS, "Levy.md", {"status": "draft"})["searchable"] is False
    assert service.set_meta(CORPUS, "Levy.md", {"status": None})["searchable"] is True
    assert "Levy.md" in sources(service, "Levy v State")


@pytest.mark.parametrize(
    ("source", "changes", "line"),
    [
        ("Levy.md", {}, "nothing to set for source 'Levy.md': give key=value"),
        ("Levy.md", {"status": "gone"}, "status is 'gone'; it must be one of active, draft, superseded, withdrawn"),
        ("Levy.md", {"date": "soon"}, "date is 'soon'; it must be YYYY-MM-DD, YYYY-MM or YYYY"),
        ("Levy.md", {"_path": "x"}, "metadata key '_path' must be a word that does not begin with '_'"),
        ("Levy.md", {"title": None}, "its title cannot be removed"),
        ("Levi.md", {"court": "x"}, "there is no source 'Levi.md' in corpus 'precedent_library'; ids that resemble"),
    ],
)
def test_metadata_that_the_contract_does_not_allow(
    service: Service, source: str, changes: dict[str, str | None], line: str
) -> None:
    with pytest.raises(BadInputError) as caught:
        service.set_meta(CORPUS, source, changes)
    assert line in str(caught.value)


def test_a_rule_is_found_once_it_is_approved_and_stays_so(service: Service, folder: Path) -> None:
    (rule,) = service.rules(CORPUS)
    assert (rule["review_status"], rule["searchable"], rule["quote_found"]) == ("pending", False, True)

    def kinds() -> set[str]:
        results = service.search(CORPUS, "accepting rent waives the notice", principal="local-owner")["results"]
        return {result["kind"] for result in results}

    assert kinds() == {"chunk"}
    assert service.review(CORPUS, rule["span_id"], "approved")["searchable"]
    assert kinds() == {"chunk", "rule"}
    (folder / "Smith.md").write_text(f"# Smith v State\n\n{SENTENCE.format(name='Smith again') * 4}", encoding="utf-8")
    assert service.ingest(CORPUS, [folder]).updated == 1
    assert service.rules(CORPUS, "approved") == service.rules(CORPUS) != []
    # The sidecar changes its mind: that is the later word.
    (folder / "Smith.md.rules.yaml").write_text(RULES + "  review_status: rejected\n", encoding="utf-8")
    service.ingest(CORPUS, [folder])
    assert [one["review_status"] for one in service.rules(CORPUS)] == ["rejected"]
    assert service.rules(CORPUS, "approved") == []
    service.review(CORPUS, rule["span_id"], "approved")
    service.ingest(CORPUS, [folder])
    assert kinds() == {"chunk", "rule"}


def test_another_wording_is_another_rule(service: Service, folder: Path) -> None:
    service.review(CORPUS, service.rules(CORPUS)[0]["span_id"], "approved")
    (folder / "Smith.md.rules.yaml").write_text(RULES.replace("waives the", "never waives the"), encoding="utf-8")
    service.ingest(CORPUS, [folder])
    assert [rule["review_status"] for rule in service.rules(CORPUS)] == ["pending"]


def test_reviews_that_make_no_sense(service: Service) -> None:
    rule = service.rules(CORPUS)[0]["span_id"]
    with pytest.raises(BadInputError, match="it must be one of pending, approved, rejected"):
        service.review(CORPUS, rule, "fine")
    for span in ("nothing", f"{CORPUS}:Levy.md#chunk-0"):
        with pytest.raises(BadInputError, match="there is no rule"):
            service.review(CORPUS, span, "approved")


def test_the_commands(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    def output(*arguments: str, status: int = 0) -> str:
        assert run(list(arguments)) == status
        return capsys.readouterr().out

    assert "0 spans embedded" in output("reembed", CORPUS)
    assert '"embedded": 4' in output("reembed", CORPUS, "--all", "--json")
    assert "Levy.md: Levy v State; status draft; 0 of 1 spans" in output(
        "meta", "set", CORPUS, "Levy.md", "status=draft"
    )
    assert "status active; 1 of 1" in output("meta", "set", CORPUS, "Levy.md", "status=", "court=Acre")
    assert '"court": "Acre"' in output("meta", "set", CORPUS, "Levy.md", "court=Acre", "--json")
    listed = output("review", CORPUS)
    assert "pending (not searchable)  precedent_library:Smith.md#rule-0" in listed
    assert output("review", CORPUS, f"{CORPUS}:Smith.md#rule-0", "approved").startswith("approved  ")
    assert output("review", CORPUS, "--status", "pending") == "no rules\n"
    output("review", CORPUS, "only-a-span", status=2)
    output("meta", "set", CORPUS, "Levy.md", "no-pair", status=2)
    output("meta", "set", CORPUS, "Levy.md", "court=a", "court=b", status=2)


def test_a_fingerprint_must_name_its_model() -> None:
    class Model(WordLlamaDocumentEmbedder):
        model = "voyage-4"
        output_dimension = 1024

    with pytest.raises(ConfigurationError, match="model of the embedder, 'voyage-4', must stand in it"):
        FingerprintedDocumentEmbedder(Model(), "static;1024")
    with pytest.raises(ConfigurationError, match="output_dimension of the embedder, 1024, must stand in it"):
        FingerprintedDocumentEmbedder(Model(), "voyage-4")
    with pytest.raises(ConfigurationError, match="name model, revision, dimension, template"):
        FingerprintedDocumentEmbedder(Model(), " ")
    assert FingerprintedDocumentEmbedder(Model(prefix_meta=["title"]), "voyage-4;dim=1024").prefix_meta == ["title"]


def test_a_stock_writer_says_which_embedder_it_used(own_home: Database) -> None:
    """A stock writer's mark in the metadata says which embedder it used."""
    from haystack import Document
    from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
    from haystack_integrations.document_stores.pincite.statements import Statement

    initialise(own_home, [CorpusDefinition("stock_marks")])
    store = CorpusDocumentStore("stock_marks", groups=["*"])
    document = Document(content=SENTENCE, embedding=[0.5] * 256, meta={"embedding_fingerprint": "mine;dim=256"})
    store.write_documents([document])
    marks = store.fetch(Statement("SELECT embedding_fingerprint AS mark FROM spans"), groups=["*"])
    assert marks == [{"mark": "mine;dim=256"}]
    store.close()
