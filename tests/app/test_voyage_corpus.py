# SPDX-License-Identifier: Apache-2.0
"""A corpus of 1,024 dimensions with Voyage's embedders, against a stand-in for their service on this machine (S3)."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pincite.service import Service

CORPUS = "voyaged"
DIMENSION = 1024
TEXTS = {
    "lease.md": "# Lease of the mill\n\n" + "The tenant of the mill pays rent on the first day of every month. " * 3,
    "loan.md": "# Loan agreement\n\n" + "The borrower repays the principal with interest at the maturity date. " * 3,
}


@pytest.fixture
def service(
    stand_in: Any,
    configure: Callable[..., Path],
    make_corpus: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Service]:
    (tmp_path / "texts").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "texts" / name).write_text(text, encoding="utf-8")
    monkeypatch.setenv("PINCITE_CONFIG", str(configure(tmp_path / "configuration", CORPUS)))
    make_corpus(CORPUS, dimension=DIMENSION)  # dropped after the test
    service = Service()
    report = service.ingest(CORPUS, [tmp_path / "texts"])
    assert (report.added, report.failed) == (2, [])
    yield service


def found_by_vector(service: Service, query: str) -> list[str]:
    outputs = service.observe(CORPUS, query, principal="local-owner").outputs
    assert outputs["dense"]["degraded"] == []
    return [document.meta["source_id"] for document in outputs["dense"]["documents"]]


def test_end_to_end(service: Service, stand_in: Any) -> None:
    documents = [request for request in stand_in.asked if request["input_type"] == "document"]
    assert {request["output_dimension"] for request in documents} == {DIMENSION}
    assert any(text.startswith("Lease of the mill\n") for request in documents for text in request["input"])
    assert found_by_vector(service, "tenant pays rent every month") == ["lease.md", "loan.md"]
    assert stand_in.asked[-1]["input_type"] == "query"
    results = service.search(CORPUS, "when is the principal repaid", principal="local-owner")["results"]
    assert results[0]["source_id"] == "loan.md"
    answer = service.audit([CORPUS])
    failed = [check for check in answer["checks"] if check["status"] == "failed" and check["corpus"] == CORPUS]
    assert failed == []


def test_a_title_is_embedded_so_changing_it_makes_stale(service: Service, stand_in: Any) -> None:
    state = service.set_meta(CORPUS, "lease.md", {"title": "Lease of the old mill"})
    assert state["stale_spans"] == 1
    assert found_by_vector(service, "tenant pays rent every month") == ["loan.md"]
    assert service.reembed(CORPUS).embedded == 1
    assert stand_in.asked[-1]["input"][0].startswith("Lease of the old mill\n")
    assert found_by_vector(service, "tenant pays rent every month") == ["lease.md", "loan.md"]


def test_a_service_that_is_down_costs_the_dense_leg_alone(service: Service, stand_in: Any) -> None:
    stand_in.broken = True
    answer = service.search(CORPUS, "tenant pays rent under the lease of the mill", principal="local-owner")
    assert answer["results"][0]["source_id"] == "lease.md"  # by its words, and from inside the named document
    assert answer["named"]["matched"]
    (note,) = answer["degraded"]
    assert note["stage"] == "text_embedder"
    assert "down for maintenance" in note["reason"]
    stand_in.broken = False
    answer = service.search(CORPUS, "tenant pays rent", principal="local-owner")
    assert answer["degraded"] == []
    assert found_by_vector(service, "tenant pays rent") == ["lease.md", "loan.md"]
