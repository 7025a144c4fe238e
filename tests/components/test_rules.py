# SPDX-License-Identifier: Apache-2.0
"""Rules of a source: the form of the sidecar, where a quote stands, and the span that is made there (C5)."""

from typing import Any

import pytest
from haystack import Document
from haystack_integrations.components.pincite.reading.quotes import find_quote
from haystack_integrations.components.pincite.reading.rule_sidecar import checked_rules
from haystack_integrations.components.pincite.rule_splitter import RuleSplitter
from haystack_integrations.components.pincite.span_splitter import SpanSplitter
from haystack_integrations.document_stores.pincite.errors import BadInputError
from hypothesis import given
from hypothesis import strategies as st

TEXT = (
    "# Judgment\n\nThe clerk wrote.\n\n"
    "A neighbour who was\nnot served \f may object within “thirty days”. It ends here."
)
QUOTE = 'neighbour who was not served may object within "thirty days"'


def rule(**changes: Any) -> dict[str, Any]:
    return {"statement": "Late objections are heard.", "quote": QUOTE, "review_status": "approved", **changes}


def split(text: str, rules: list[dict[str, Any]], **meta: Any) -> tuple[list[Document], list[str]]:
    source = Document(id="a.md", content=text, meta={"source_id": "a.md", "title": "A", "_rules": rules, **meta})
    chunks = SpanSplitter().run([source])["documents"]
    made = RuleSplitter().run(chunks, [source])
    documents = made["documents"]
    assert documents[: len(chunks)] == chunks
    return documents[len(chunks) :], [note["note"] for note in made["notes"]]


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        ("one two three", "two", ["two"]),
        ("one\n  two\tthree", "one two three", ["one\n  two\tthree"]),
        ("the owner’s “right”", 'the owner\'s "right"', ["the owner’s “right”"]),
        ("ע״א 12/3 נ׳ בית־הכנסת", "ע\"א 12/3 נ' בית-הכנסת", ["ע״א 12/3 נ׳ בית־הכנסת"]),
        ("cost (a.b*) x", "(a.b*)", ["(a.b*)"]),
        ("it is so. it is so.", "it is so.", ["it is so.", "it is so."]),
        ("one two", "one  three", []),
        ("One two", "one two", []),
        ("one two", "  ", []),
    ],
)
def test_where_a_quote_stands(text: str, quote: str, found: list[str]) -> None:
    assert [text[place.start : place.end] for place in find_quote(text, quote)] == found


@given(st.text(max_size=60), st.text(max_size=30), st.text(max_size=60))
def test_what_is_cut_out_is_found_again(before: str, quote: str, after: str) -> None:
    places = list(find_quote(before + quote + after, quote))
    assert bool(places) == bool(quote.split())
    assert all("".join(quote.split()) and place.end > place.start for place in places)


def test_the_text_of_a_rule_is_what_the_source_says() -> None:
    (span,), notes = split(TEXT, [rule()])
    assert notes == []
    assert span.content == TEXT[span.meta["start"] : span.meta["end"]] == span.meta["quote"]
    assert span.content == "neighbour who was\nnot served \f may object within “thirty days”"
    assert (span.meta["kind"], span.meta["number"], span.meta["section"]) == ("rule", 0, "Judgment")
    assert (span.meta["statement"], span.meta["review_status"]) == ("Late objections are heard.", "approved")
    assert span.meta["parent_start"] <= span.meta["start"] < span.meta["end"] <= span.meta["parent_end"]


def test_a_rule_stands_on_its_page() -> None:
    text = "It is so held.\n\fIt is so held.\n\fIt is otherwise."
    starts = [0, text.index("\f") + 1, text.rindex("\f") + 1]
    first, second, elsewhere = split(
        text, [rule(quote="It is so held."), rule(quote="so held.", page=2), rule(quote="otherwise", page=1)],
        page_starts=starts,
    )[0]  # fmt: skip
    assert (first.meta["page"], first.meta["start"]) == (1, 0)
    assert (second.meta["page"], second.meta["page_end"], second.content) == (2, 2, "so held.")
    assert elsewhere.meta["page"] == 3
    assert split(text, [rule(quote="otherwise", page=1)], page_starts=starts)[1] == ["rule 1 stands on page 3, not 1"]


@pytest.mark.parametrize(
    ("text", "quote", "note"),
    [
        (TEXT, "words that nobody wrote", "rule 1 is not searchable: its quote is not in the source ('words that"),
        ("x " * 700, "x " * 700, "rule 1 is not searchable: its quote has 1,399 characters of 1,200"),
    ],
)
def test_a_rule_without_a_place_is_kept_and_told(text: str, quote: str, note: str) -> None:
    (span,), notes = split(text, [rule(quote=quote)])
    assert (span.meta["start"], span.meta["end"], span.content) == (None, None, quote.strip())
    assert [found.startswith(note) for found in notes] == [True]


def test_a_rule_without_a_review_is_pending() -> None:
    assert [entry["review_status"] for entry in checked_rules([rule(review_status=None)], "x")] == ["pending"]
    assert checked_rules(None, "x") == []


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"statement": "a"}, "s: holds a dict; it must hold a list of rules"),
        (["a"], "s: rule 1 is 'a'; it must be a mapping with statement, quote, page, review_status"),
        ([rule(), rule(quotes="a")], "s: rule 2: unknown key 'quotes'; known: statement, quote, page, review_status"),
        ([rule(statement=" ")], "s: rule 1: statement is ' '; it must be text"),
        ([rule(quote=12)], "s: rule 1: quote is 12; it must be text"),
        (
            [rule(review_status="yes")],
            "s: rule 1: review_status is 'yes'; it must be one of pending, approved, rejected",
        ),
        ([rule(page=0)], "s: rule 1: page is 0; it must be a whole number from 1"),
        ([rule(page=True)], "s: rule 1: page is True; it must be a whole number from 1"),
    ],
)
def test_a_wrong_rule_is_one_line(value: Any, message: str) -> None:
    with pytest.raises(BadInputError) as raised:
        checked_rules(value, "s")
    assert str(raised.value) == message
