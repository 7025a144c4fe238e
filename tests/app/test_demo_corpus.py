# SPDX-License-Identifier: Apache-2.0
"""The demo corpus is what it says it is: enough instruments, of every type, with labels that point into them."""

import html
import re
from collections import Counter
from pathlib import Path
from typing import Any

import docx
import pypdf
import pytest
import yaml

DEMO = Path(__file__).resolve().parents[2] / "app" / "demo"
TEXTS = DEMO / "texts"
SUFFIXES = {".txt", ".md", ".html", ".docx", ".pdf"}
FILES = sorted(p for p in TEXTS.iterdir() if p.suffix in SUFFIXES)
QUESTIONS: list[dict[str, Any]] = yaml.safe_load((DEMO / "questions.yaml").read_text(encoding="utf-8"))

STATUSES = {"active", "draft", "superseded", "withdrawn"}
RESERVED = {"title", "language", "status", "groups", "matter", "date", "tags"}
SHORT = ("officers-certificate-", "board-resolution-", "term-sheet-", "החלטת-דירקטוריון-")
TYPES = {
    "bond-mortgage": 5,
    "mortgage": 2,
    "deed-of-trust": 2,
    "promissory-note": 5,
    "operating-agreement": 4,
    "loan-agreement": 2,
    "credit-agreement": 1,
    "regulatory-agreement": 3,
    "environmental-indemnity": 3,
    "lease": 3,
    "guaranty": 3,
    "term-sheet": 1,
    "opinion-of-counsel": 1,
    "officers-certificate": 1,
    "board-resolution": 1,
    "by-laws": 1,
    "nda": 1,
    "consulting-agreement": 1,
    "services-agreement": 1,
    "supply-agreement": 1,
    "license-agreement": 1,
    "assignment-": 2,
    "subordination-agreement": 1,
    "amendment": 1,
}
ISSUE_QUESTIONS = {
    "What does the HFA bond mortgage say about limitation on liability?": "hfa-bond-mortgage-riverside.txt",
    "What is the maturity date of the Brooklyn Community Housing Services promissory note?": (
        "promissory-note-brooklyn-community-housing-services.txt"
    ),
    "Who are the members under the Kingsbrook Estates operating agreement?": (
        "operating-agreement-kingsbrook-estates.txt"
    ),
}


def front_matter(path: Path) -> str:
    return path.read_text(encoding="utf-8").split("---\n", 2)[1]


def metadata(path: Path) -> dict[str, Any]:
    sidecar = path.with_name(path.name + ".meta.yaml")
    text = front_matter(path) if path.suffix == ".md" else sidecar.read_text(encoding="utf-8")
    loaded = yaml.safe_load(text)
    assert isinstance(loaded, dict)
    return loaded


def markup_text(path: Path) -> str:
    body = path.read_text(encoding="utf-8").split("<main>", 1)[1]
    return html.unescape(re.sub(r"<[^>]+>", "\n", body))


def text_of(path: Path) -> str:
    """Text by the plainest means of each format: labels must not hang on the converter that ingestion uses."""
    match path.suffix:
        case ".md":
            return path.read_text(encoding="utf-8").split("---\n", 2)[2]
        case ".html":
            return markup_text(path)
        case ".docx":
            return "\n".join(p.text for p in docx.Document(str(path)).paragraphs)
        case ".pdf":
            return "\f".join(page.extract_text() for page in pypdf.PdfReader(path).pages)
        case _:
            return path.read_text(encoding="utf-8")


TEXT = {p.name: text_of(p) for p in FILES}


def labels(question: dict[str, Any]) -> list[tuple[str, str]]:
    source, answer = question["source"], question["answer"]
    if source is None:
        assert answer is None, question["id"]
        return []
    if isinstance(source, str):
        return [(source, answer)]
    assert len(source) == len(answer) == 2, question["id"]
    return list(zip(source, answer, strict=True))


def test_there_are_at_least_44_instruments_and_the_package_stays_small() -> None:
    assert len(FILES) >= 44
    assert sum(p.stat().st_size for p in TEXTS.iterdir()) < 2_000_000


def test_texts_holds_nothing_but_instruments_and_their_sidecars() -> None:
    names = {p.name for p in FILES}
    others = {p.name for p in TEXTS.iterdir()} - names
    assert {name.removesuffix(".meta.yaml") for name in others} <= names


@pytest.mark.parametrize(("kind", "least"), TYPES.items())
def test_each_type_of_instrument_is_there(kind: str, least: int) -> None:
    assert sum(kind in p.name for p in FILES) >= least


def test_formats_are_mixed_and_some_are_in_hebrew() -> None:
    formats = Counter(p.suffix for p in FILES)
    assert formats.keys() == SUFFIXES
    assert min(formats[".pdf"], formats[".docx"], formats[".html"]) >= 3
    assert sum(metadata(p).get("language") == "he" for p in FILES) == 3
    assert all(len(pypdf.PdfReader(p).pages) >= 3 for p in FILES if p.suffix == ".pdf")
    assert all("\f" in TEXT[p.name] for p in FILES if p.suffix == ".txt" and not p.name.startswith(SHORT))


@pytest.mark.parametrize("name", TEXT)
def test_an_instrument_is_some_pages_long(name: str) -> None:
    assert (1_500 if name.startswith(SHORT) else 8_000) <= len(TEXT[name]) <= 25_000


def test_no_two_instruments_are_identical() -> None:
    assert len({re.sub(r"\s+", " ", text) for text in TEXT.values()}) == len(TEXT)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_metadata_uses_reserved_keys_with_valid_values(path: Path) -> None:
    meta = metadata(path)
    assert meta.keys() <= RESERVED
    assert meta.get("status", "active") in STATUSES
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", meta["date"])
    assert re.fullmatch(r"[a-z0-9-]+", meta["matter"])
    assert isinstance(meta.get("groups", []), list)


def test_drafts_superseded_versions_matters_and_groups_occur() -> None:
    metas = [metadata(p) for p in FILES]
    statuses = Counter(m.get("status", "active") for m in metas)
    assert (statuses["draft"], statuses["superseded"], statuses["withdrawn"]) == (2, 2, 1)
    assert {g for m in metas for g in m.get("groups", [])} == {"lenders", "internal"}
    assert len({m["matter"] for m in metas}) >= 10
    assert sum("title" in m for m in metas) <= 3, "titles are for ingestion to find; sidecars give only few"


def test_the_clause_of_the_bond_mortgage_has_a_near_twin_in_the_indemnity() -> None:
    shared = "does not release the {} from making good an actual loss that"
    assert shared.format("Mortgagor") in TEXT["hfa-bond-mortgage-riverside.txt"]
    assert shared.format("Indemnitor") in TEXT["environmental-indemnity-riverside.txt"]
    said = {name: text.lower().count("limitation on liability") for name, text in TEXT.items()}
    assert said["environmental-indemnity-riverside.txt"] > 3 * said["hfa-bond-mortgage-riverside.txt"] > 0


def test_there_are_60_questions_of_every_family_with_unique_ids() -> None:
    families = Counter(q["family"] for q in QUESTIONS)
    assert len(QUESTIONS) >= 60
    assert len({q["id"] for q in QUESTIONS}) == len({q["query"] for q in QUESTIONS}) == len(QUESTIONS)
    assert families.keys() == {
        "named_full", "named_short", "alias", "long_question", "two_instruments",
        "absent", "no_instrument", "hard_negative", "control",
    }  # fmt: skip
    assert min(families.values()) >= 5


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q["id"])
def test_an_answer_occurs_exactly_once_in_a_searchable_source(question: dict[str, Any]) -> None:
    pairs = labels(question)
    assert bool(pairs) == (question["family"] != "absent")
    for source, answer in pairs:
        assert TEXT[source].count(answer) == 1, source
        assert metadata(TEXTS / source).get("status", "active") == "active"


@pytest.mark.parametrize(("query", "source"), ISSUE_QUESTIONS.items())
def test_the_three_questions_of_the_demo_are_labelled(query: str, source: str) -> None:
    assert [q["source"] for q in QUESTIONS if q["query"] == query] == [source]
