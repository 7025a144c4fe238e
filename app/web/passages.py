# SPDX-License-Identifier: Apache-2.0
"""Passages as the page shows them: which words are marked is decided here, as it is for the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from pincite.marks import Stretch, best_window, marked, topic_stems
from pincite.render import section_label

EXCERPT_CHARACTERS = 480


class Piece(TypedDict):
    """Some text, marked where it answers the question."""

    text: str
    mark: bool


class ShownPassage(TypedDict):
    """
    The passage of a result: its best stretch (``cut_before``, ``cut_after``: more of it is before, after), and all of
    it. Pieces, not offsets: JavaScript counts characters otherwise. ``section``: its innermost heading.
    """

    excerpt: list[Piece]
    cut_before: bool
    cut_after: bool
    whole: list[Piece]
    section: str


def shown_passages(answer: Mapping[str, Any]) -> list[ShownPassage]:
    """
    The passages of an answer, in its order.

    :param answer: the JSON of the contract.
    """
    topic = topic_stems(answer["topic_query"])
    return [_shown(result, topic) for result in answer["results"]]


def _shown(result: Mapping[str, Any], topic: frozenset[str]) -> ShownPassage:
    text = result["text"]
    marks = marked(text, topic)
    window = best_window(text, topic, EXCERPT_CHARACTERS)
    return {
        "excerpt": _pieces(text, marks, window),
        "cut_before": window.start > 0,
        "cut_after": window.end < len(text),
        "whole": _pieces(text, marks, Stretch(0, len(text))),
        "section": section_label(result["locator"].get("section")),
    }


def _pieces(text: str, marks: Sequence[Stretch], window: Stretch) -> list[Piece]:
    """The text inside the window, cut at the ends of marks."""
    pieces: list[Piece] = []
    at = window.start
    for mark in marks:
        start, end = max(mark.start, at), min(mark.end, window.end)
        if start >= end:
            continue
        if start > at:
            pieces.append({"text": text[at:start], "mark": False})
        pieces.append({"text": text[start:end], "mark": True})
        at = end
    if at < window.end:
        pieces.append({"text": text[at : window.end], "mark": False})
    return pieces
