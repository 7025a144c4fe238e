# SPDX-License-Identifier: Apache-2.0
"""Spans are exact, cover the text, stay within bounds and say where they are (I3, S2)."""

from itertools import pairwise

import pytest
from haystack import Document
from haystack_integrations.components.pincite.span_splitter import SpanSplitter
from haystack_integrations.document_stores.pincite.errors import ConfigurationError
from haystack_integrations.document_stores.pincite.spans import SpanDocument
from hypothesis import given
from hypothesis import strategies as st

PIECES = st.sampled_from(
    [
        " ", "\n", "\n\n", "\f", "\t", "\r\n", ". ", "; ", ", ", "(a) ", "# Title\n", "4.2 Term. ", "ARTICLE IV\n",
        "SECTION 5. Fees. ", "\nNOTICES\n", "word ", "The Parties agree. ", "סעיף 4\n", "התקופה. ", "x" * 90,
        "\u0301", "\u200f",        "👩‍👩‍👧", "\x1c", "\u2028", "\u3000",
    ]
)  # fmt: skip
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=120).map("".join))


def split(text: str, **parameters: int) -> list[Document]:
    return SpanSplitter(**parameters).run([Document(id="s", content=text)])["documents"]


def clauses(count: int) -> str:
    return "\n".join(
        f"{n}. Payment of Fees.\n" + "The Borrower shall pay what is due under this clause. " * 20 for n in range(count)
    )


@given(TEXTS, st.integers(24, 200), st.integers(0, 12))
def test_each_span_is_the_text_at_its_offsets_and_nothing_is_left_out(text: str, maximum: int, overlap: int) -> None:
    spans = split(text, max_characters=maximum, overlap_characters=overlap, parent_characters=3 * maximum)
    covered = bytearray(len(text))
    for number, span in enumerate(spans):
        start, end = span.meta["start"], span.meta["end"]
        assert span.content == text[start:end]
        assert span.content.strip() == span.content != ""
        assert end - start <= maximum
        assert span.meta["number"] == number
        assert span.meta["parent_start"] <= start < end <= span.meta["parent_end"]
        assert span.meta["parent_end"] - span.meta["parent_start"] <= 3 * maximum
        covered[start:end] = b"\1" * (end - start)
    assert all(covered[place] or character.isspace() for place, character in enumerate(text))
    if not overlap:
        assert all(one.meta["end"] <= two.meta["start"] for one, two in pairwise(spans))


@given(TEXTS)
def test_the_same_text_gives_the_same_spans(text: str) -> None:
    assert [(s.id, s.meta) for s in split(text)] == [(s.id, s.meta) for s in split(text)]


@pytest.mark.parametrize(
    "text",
    [
        "a" * 300_000,
        "a\n" * 100_000,
        "a\f" * 100_000,
        "a" + "\f" * 200_000,
        "a." + " " * 300_000 + "b",
        "(a) " * 50_000,
        "4.1 T.\n" * 40_000,
        "\u0301" * 200_000,
        "1. " * 100_000,
        "\n\f" * 100_000 + "x",
    ],
    ids=lambda text: repr(text[:6]),
)
def test_hostile_texts_are_cut_like_any_other(text: str) -> None:
    spans = split(text)
    assert sum(len(s.content or "") for s in spans) <= len(text)
    assert all(0 < len(s.content or "") <= 1200 for s in spans)


def test_spans_begin_where_clauses_begin_and_are_filled() -> None:
    text = clauses(12)
    spans = split(text)
    assert [s.meta["section"] for s in spans] == [f"{n} Payment of Fees" for n in range(12)]
    assert all(s.content.startswith(f"{n}. Payment") for n, s in enumerate(spans))
    assert min(len(s.content or "") for s in spans) > 1000


def test_short_sections_share_a_span() -> None:
    text = "\n\n".join(f"{n}. Fees.\nThe fee is {n} dollars." for n in range(30))
    assert len(split(text)) == 1


def test_a_sentence_is_preferred_to_a_clause_and_an_abbreviation_is_no_end() -> None:
    text = "Alpha beta gamma delta; epsilon zeta eta Acme Inc. Theta iota kappa. Lambda mu nu xi omicron pi rho."
    assert [s.content for s in split(text, max_characters=80)] == [
        "Alpha beta gamma delta; epsilon zeta eta Acme Inc. Theta iota kappa.",
        "Lambda mu nu xi omicron pi rho.",
    ]


def test_accents_stay_with_their_letter_where_a_word_must_be_cut() -> None:
    spans = split("e\u0301" * 100, max_characters=25)
    assert all(s.content[0] == "e" for s in spans if s.content)


def test_pages() -> None:
    pages = ["First page. " * 20, "", "Third page. " * 20]
    text = "\f".join(pages)
    source = Document(content=text, meta={"source_id": "a.pdf", "page_starts": [0, 241, 242]})
    result = SpanSplitter(max_characters=200).run([source])
    for span in result["documents"]:
        first = 1 if span.meta["start"] < 241 else 3
        last = 1 if span.meta["end"] <= 241 else 3
        assert (span.meta["page"], span.meta["page_end"]) == (first, last)
    assert result["sources"] == [source]


def test_without_pages_there_is_no_page_number() -> None:
    assert [(s.meta["page"], s.meta["page_end"]) for s in split("Text.")] == [(None, None)]


def test_a_parent_is_the_section_around_the_span() -> None:
    text = "ARTICLE I\n" + clauses(4) + "\nARTICLE II\n" + clauses(4)
    second = text.index("ARTICLE II")
    parents = {(s.meta["parent_start"], s.meta["parent_end"]) for s in split(text)}
    assert parents == {(0, len(text[:second].rstrip())), (second, len(text.rstrip()))}


def test_overlap_repeats_the_end_of_the_span_before() -> None:
    text = "The quick brown fox jumps. " * 40
    spans = split(text, max_characters=200, target_characters=120, overlap_characters=60)
    assert all(0 < one.meta["end"] - two.meta["start"] <= 60 for one, two in pairwise(spans))


def test_spans_are_shared_not_copied_and_named_by_place() -> None:
    source = Document(content="Text of it.", meta={"source_id": "a/b.txt", "title": "It"})
    (span,) = SpanSplitter().run([source])["documents"]
    assert isinstance(span, SpanDocument)
    assert (span.id, span.meta["source_id"], span.meta["title"]) == ("a/b.txt#chunk-0", "a/b.txt", "It")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_characters", 5),
        ("target_characters", 1300),
        ("overlap_characters", 1200),
        ("parent_characters", 600),
    ],
)
def test_parameters_that_contradict_each_other(name: str, value: int) -> None:
    with pytest.raises(ConfigurationError, match=f"{name} is {value}; it must be|{name} is {value}; at least"):
        SpanSplitter(**{name: value})


def test_round_trip() -> None:
    splitter = SpanSplitter(max_characters=900, target_characters=800, overlap_characters=50, parent_characters=4000)
    assert SpanSplitter.from_dict(splitter.to_dict()).to_dict() == splitter.to_dict()


def test_real_contracts(shared) -> None:  # type: ignore[no-untyped-def]
    files = sorted((shared / "bench/cuad/corpus").iterdir())[::25]
    for path in files:
        text = path.read_bytes().decode()
        spans = split(text)
        assert "".join("".join(s.content.split()) for s in spans if s.content) == "".join(text.split())
        if len(spans) > 3:
            assert sum(len(s.content or "") for s in spans) / len(spans) > 800
