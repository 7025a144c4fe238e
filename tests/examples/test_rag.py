# SPDX-License-Identifier: Apache-2.0
"""A RAG pipeline of our stages and stock components cites passages that stand where it says (A5)."""

import asyncio
from collections.abc import Callable
from contextlib import closing
from types import SimpleNamespace

import pytest
from haystack import Document
from pincite.service import Service

QUESTION = "What does the Tessera lease say about vibration?"
LEASE = "demo/lease-tessera-optics.pdf"
EVERYTHING = ["*"]


@pytest.fixture
def rag(service: Service, endpoint: SimpleNamespace, example: Callable[[str], SimpleNamespace]) -> SimpleNamespace:
    return example("rag.py")


def test_the_answer_cites_a_page(rag: SimpleNamespace, service: Service, endpoint: SimpleNamespace) -> None:
    with closing(rag.rag_pipeline(EVERYTHING)) as pipeline:
        answer = rag.answer(pipeline, QUESTION, EVERYTHING)
    path, asked = endpoint.asked[0]
    assert (path, asked["model"]) == ("/v1/chat/completions", "stand-in")
    prompt = asked["messages"][-1]["content"]
    assert "vibration above fifty microns" in prompt.replace("\n", " ")
    assert prompt.count("\n[") == 6
    (document,) = answer.documents  # the model cited one of six
    wanted = service.search("knowledge", QUESTION, principal="local-owner")["results"][0]
    assert wanted["source_id"] == LEASE
    assert (document.id, document.meta["page"]) == (wanted["span_id"], wanted["locator"]["page"])
    assert document.meta["page"] > 1
    shown = service.show("knowledge", document.id, principal="local-owner")
    assert shown["context"]["text"] == document.content
    start, end = document.meta["start"], document.meta["end"]
    assert f"page {document.meta['page']}, characters {start} to {end}" in rag.cited(answer)


def test_sync_and_async_give_the_same(rag: SimpleNamespace) -> None:
    request, stage = {"request": {"query": QUESTION, "groups": EVERYTHING}}, {"attribution"}
    with closing(rag.rag_pipeline(EVERYTHING)) as pipeline:
        now = pipeline.run(request, include_outputs_from=stage)["attribution"]["documents"]

    async def run_async() -> list[Document]:
        pipeline = rag.rag_pipeline(EVERYTHING)
        try:
            found: list[Document] = (await pipeline.run_async(request, include_outputs_from=stage))["attribution"][
                "documents"
            ]
            return found
        finally:
            await pipeline.close_async()

    later = asyncio.run(run_async())
    assert [it.id for it in later] == [it.id for it in now]
    assert len(now) == 10


def test_what_is_kept_for_a_group_is_not_put_before_the_model(rag: SimpleNamespace, service: Service) -> None:
    with service.database.admin() as connection:
        rows = connection.execute("SELECT source_id FROM pincite_knowledge.sources WHERE groups <> '{}'").fetchall()
    kept = {row[0] for row in rows}
    stages = {"attribution", "stock_dense"}

    def seen(groups: list[str]) -> set[str]:
        request = {"query": "term sheet Kestrel Court", "groups": groups, "top_k": 100}
        with closing(rag.rag_pipeline(groups)) as pipeline:
            outputs = pipeline.run({"request": request}, include_outputs_from=stages)
        found: list[Document] = [it for stage in stages for it in outputs[stage]["documents"]]
        return {document.meta["source_id"] for document in found}

    assert kept & seen(EVERYTHING)
    assert seen(rag.GROUPS)
    assert not kept & seen(rag.GROUPS)
