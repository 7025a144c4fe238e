# SPDX-License-Identifier: Apache-2.0
"""The shape of what ``pincite why`` answers (E2)."""

from typing import Any, Literal, TypedDict


class Step(TypedDict):
    """
    One stage on the way of a document.

    ``outcome``: ``in`` it is there, ``out`` it was stopped here, ``none`` the stage had nothing to do with it.
    ``rank``: its best rank in what the stage gave or, for a leg that left it out, its true rank. ``of``: how many
    there were.
    """

    stage: str
    outcome: Literal["in", "out", "none"]
    rank: int | None
    of: int | None
    text: str


class Change(TypedDict):
    """Something to change: ``parameter`` as one writes it (``joiner.top_k``, ``--top-k``), and its new value."""

    parameter: str
    value: Any
    text: str


class Remedy(TypedDict):
    """
    Changes that together bring the document in.

    ``rank``: its place among the results then, as a search with the changes gave it; ``None`` where the change is to
    the corpus and was not tried.
    """

    changes: list[Change]
    rank: int | None


class WhyAnswer(TypedDict):
    """
    Where a document was lost. ``rank``: its best place among the results, if it is there; then ``lost_at`` is ``None``.
    ``passes_with``: what would let it pass the stage that lost it, whatever becomes of it later. ``note``: why
    parameters alone do not bring it in, where they do not.
    """

    corpus: str
    query: str
    source_id: str
    title: str | None
    span_id: str | None
    rank: int | None
    lost_at: str | None
    reason: str
    steps: list[Step]
    passes_with: Change | None
    remedies: list[Remedy]
    note: str | None
