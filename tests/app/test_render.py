# SPDX-License-Identifier: Apache-2.0
"""A response on the terminal: what is said, what is marked, and what a hostile document cannot do."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from pincite.json_output import write_json
from pincite.render import console_for, page_label, search_view, show_view, status_view
from rich.cells import cell_len
from rich.console import Console

RECORDED = Path(__file__).parent / "data" / "search_response.json"


@pytest.fixture
def response() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(RECORDED.read_text())
    return loaded


def printed(response: dict[str, Any], width: int = 120) -> str:
    out = io.StringIO()
    console = console_for(out, width=width)
    console.print(search_view(console, response))
    return out.getvalue()


def in_colour(response: dict[str, Any], *, no_color: bool = False) -> str:
    out = io.StringIO()
    console = Console(
        file=out, width=120, force_terminal=True, color_system="standard", no_color=no_color, highlight=False
    )
    console.print(search_view(console, response))
    return out.getvalue()


@pytest.mark.parametrize("width", [60, 72, 95, 96, 97, 120, 160, 200])
def test_every_width_says_the_same_and_keeps_within_it(response: dict[str, Any], width: int) -> None:
    text = printed(response, width)
    assert all(cell_len(line) <= width for line in text.splitlines())
    for wanted in (
        "HFA Bond Mortgage",
        "pp. 12-13",
        "limited liability",
        "knowledge:demo/hfa-bond-mortgage.md#chunk-14",
    ):
        assert wanted in text


def test_the_heading_says_what_is_here_and_what_is_not(response: dict[str, Any]) -> None:
    lines = printed(response).splitlines()
    assert lines[0] == "matched bond mortgage · hfa → HFA Bond Mortgage"
    assert lines[1] == "not in this corpus: bond mortgage · acme"
    assert lines[2] == "looking for limitation on liability"


def test_the_notes_say_what_did_not_go_as_usual(response: dict[str, Any]) -> None:
    assert printed(response).splitlines()[-2:] == [
        "degraded: dense: no answer within 2 s",
        "3 results · 31 ms · not reranked: reranking is off",
    ]


def test_without_an_intent_there_is_no_heading(response: dict[str, Any]) -> None:
    plain_question = response | {"intents": [], "named": {"matched": False, "sources": []}, "results": []}
    assert printed(plain_question).splitlines()[0] == "No results."


def test_marks_are_signs_in_a_pipe_and_colours_in_a_terminal(response: dict[str, Any]) -> None:
    assert "«limited liability»" in printed(response)
    coloured = in_colour(response)
    assert "\x1b[1;33mlimited liability\x1b[0m" in coloured
    assert "«" not in coloured
    assert "«limited liability»" in in_colour(response, no_color=True)


def test_a_document_writes_no_escape_and_no_markup(response: dict[str, Any]) -> None:
    text = printed(response)
    assert not set(text) & set("\x1b\x07\x00\x9b\u202e\r")
    assert "[bold red]Evil[/]" in text
    assert ":smile:" in text
    assert "[red]x[/red]" in text


def test_each_right_to_left_line_is_isolated(response: dict[str, Any]) -> None:
    lines = [line for line in printed(response, 60).splitlines() if "הסכם" in line or "הגבלת" in line]
    assert lines
    assert all(line.count("\u2067") == line.count("\u2069") == 1 for line in lines)


@pytest.mark.parametrize(
    ("locator", "label"),
    [
        ({"page": 3, "page_end": 3}, "p. 3"),
        ({"page": 3, "page_end": 5}, "pp. 3-5"),
        ({"page": None, "section": "9.2 Notices"}, "§9.2"),
        ({"page": None, "section": "ARTICLE V > MISCELLANEOUS > Section 5.05 Exculpation"}, "§5.05"),
        ({"page": None, "section": "Representations and Warranties"}, "Representations a…"),
        ({"page": None, "section": "ARTICLE IX"}, "ARTICLE IX"),
        ({"page": None, "section": None, "start": 12345}, "at 12,345"),
    ],
)
def test_page_label(locator: dict[str, Any], label: str) -> None:
    assert page_label(locator) == label


def test_show_prints_the_passage_between_its_surroundings() -> None:
    passage = {
        "corpus": "knowledge",
        "span_id": "knowledge:a.md#chunk-1",
        "source_id": "a.md",
        "title": "A Lease",
        "text": "the term\nis ten years",
        "locator": {"page": 2, "page_end": 2, "start": 1100, "end": 1121, "section": "1 Term", "quote": None},
        "parent": {"start": 1000, "end": 2000, "section": "1 Term"},
        "context": {"before": "1 Term\nBefore \x1b[31m", "text": "the term\nis ten years", "after": " and after."},
        "meta": {},
    }
    out = io.StringIO()
    console = console_for(out, width=80)
    console.print(show_view(console, passage))
    assert out.getvalue().splitlines() == [
        "A Lease",
        "p. 2 · §1 Term · characters 1,100-1,121 · shown 1,081-1,132",
        "knowledge:a.md#chunk-1",
        "",
        "1 Term",
        "Before \ufffd[31m«the term",
        "is ten years» and after.",
    ]


def test_status_reads_as_facts() -> None:
    out = io.StringIO()
    console = console_for(out, width=80)
    facts = {
        "version": "0.1.0",
        "database": {"kind": "embedded", "extensions": {"vector": "0.8.6"}, "rls": True},
        "corpora": {"knowledge": {"sources": 1234, "spans": 56789}},
        "rerank": {"enabled": False, "model": None},
    }
    console.print(status_view(facts))
    text = out.getvalue()
    for wanted in ("0.1.0", "vector: 0.8.6", "sources: 1,234, spans: 56,789"):
        assert wanted in text


def test_json_is_one_document_that_no_terminal_obeys(response: dict[str, Any]) -> None:
    out = io.StringIO()
    write_json(response, out)
    text = out.getvalue()
    assert json.loads(text) == response
    assert "הסכם" in text
    assert not set(text) & set("\x1b\x07\x00\x7f\x9b\u202e\u2028\r")
