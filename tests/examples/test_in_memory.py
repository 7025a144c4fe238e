# SPDX-License-Identifier: Apache-2.0
"""Our stages find the named document over stock in-memory retrievers, with no database (A5)."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from haystack import Document, Pipeline
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack_integrations.components.pincite.source_converter import read_source
from haystack_integrations.document_stores.pincite.database import Database

DEMO = Path(__file__).resolve().parents[2] / "app" / "demo"
HFA = "What does the HFA bond mortgage say about limitation on liability?"


@pytest.fixture(scope="module")
def stores() -> Iterator[Any]:
    """The demo texts in stock in-memory stores; nothing of this module may ask for a database."""

    def refused(*given: object, **named: object) -> None:
        raise AssertionError("a database was asked for")

    with pytest.MonkeyPatch.context() as patch:
        for name in ("admin", "current", "for_url"):
            patch.setattr(Database, name, refused)
        patch.syspath_prepend(str(DEMO.parents[1] / "examples"))
        import runpy

        module = SimpleNamespace(**runpy.run_path(str(DEMO.parents[1] / "examples" / "in_memory.py")))
        yield module, *module.index(DEMO / "texts")


@pytest.fixture
def ask(stores: Any) -> Callable[[str], list[Document]]:
    module, spans, titles = stores
    pipeline = module.query_pipeline(spans, titles)
    return lambda query: module.search(pipeline, query)


def test_the_named_document_comes_first_with_its_place(ask: Callable[[str], list[Document]]) -> None:
    first = ask(HFA)[0]
    assert first.meta["source_id"] == "hfa-bond-mortgage-riverside.txt"
    assert "Exculpation" in first.meta["section"]
    path = DEMO / "texts" / first.meta["source_id"]
    text = read_source(path.name, path.read_bytes()).text
    assert text[first.meta["start"] : first.meta["end"]] == first.content
    vibration = ask("What does the Tessera lease say about vibration?")[0]
    assert (vibration.meta["source_id"], vibration.meta["page"]) == ("lease-tessera-optics.pdf", 2)


def test_stock_bm25_alone_finds_others_first(stores: Any) -> None:
    # Otherwise the test above would show nothing.
    found = InMemoryBM25Retriever(stores[1]).run(HFA)["documents"]
    assert found[0].meta["source_id"] != "hfa-bond-mortgage-riverside.txt"


def test_most_named_questions_find_their_document(ask: Callable[[str], list[Document]]) -> None:
    questions = yaml.safe_load((DEMO / "questions.yaml").read_text(encoding="utf-8"))
    named = [it for it in questions if it["family"] in ("named_full", "named_short")]
    right = [it["id"] for it in named if ask(it["query"])[0].meta["source_id"] == it["source"]]
    assert len(right) / len(named) > 0.8


def test_without_a_name_and_without_the_named_document_nothing_is_promoted(
    ask: Callable[[str], list[Document]],
) -> None:
    for query in ("Who pays for repairs of the roof?", "What does the Acme bond mortgage say about prepayment?"):
        assert not any(document.meta.get("_promoted") for document in ask(query))


def test_two_instruments_are_both_there(ask: Callable[[str], list[Document]]) -> None:
    found = ask("Compare the Tessera lease and the HFA bond mortgage on notices")
    promoted = {document.meta["source_id"] for document in found if document.meta.get("_promoted")}
    assert promoted >= {"lease-tessera-optics.pdf", "hfa-bond-mortgage-riverside.txt"}


def test_sync_and_async_give_the_same(stores: Any) -> None:
    module, spans, titles = stores
    pipeline: Pipeline = module.query_pipeline(spans, titles)
    later = asyncio.run(pipeline.run_async({"recognizer": {"query": HFA}, "matcher": {"query": HFA}}))
    wanted = [(document.id, document.score) for document in module.search(pipeline, HFA)]
    assert [(document.id, document.score) for document in later["diversifier"]["documents"]] == wanted
