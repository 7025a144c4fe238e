# SPDX-License-Identifier: Apache-2.0
"""The way of a document through a search, as a person reads it in a terminal."""

from collections.abc import Iterable, Mapping
from typing import Any

from pincite.plain_text import plain
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_SIGNS = {"in": ("✓", "green"), "out": ("✗", "red"), "none": ("·", "dim")}


def why_view(answer: Mapping[str, Any]) -> Group:
    """
    What ``pincite why`` found.

    :param answer: a ``WhyAnswer``.
    """
    parts: list[RenderableType] = [
        Text(plain(answer["title"] or answer["source_id"]), style="bold"),
        *([Text(plain(answer["span_id"] or answer["source_id"]), style="dim")] if answer["title"] else []),
        Text(),
        _steps(answer),
        Text(),
        _verdict(answer),
        *_remedies(answer),
    ]
    return Group(*parts)


def _steps(answer: Mapping[str, Any]) -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column()
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for step in answer["steps"]:
        sign, style = _SIGNS[step["outcome"]]
        rank = "" if step["rank"] is None else f"{step['rank']:,}"
        if rank and step["of"] is not None and step["outcome"] == "in":
            rank += f" of {step['of']:,}"
        here = step["stage"] == answer["lost_at"] and step["outcome"] == "out"
        words = Text.assemble(plain(step["text"]), ("  ← lost here" if here else "", "bold red"))
        table.add_row(Text(sign, style=style), step["stage"], rank, words)
    return table


def _verdict(answer: Mapping[str, Any]) -> Text:
    if answer["lost_at"] is None:
        return Text.assemble(("It was found: ", "bold green"), plain(answer["reason"]))
    return Text.assemble((f"Lost at {answer['lost_at']}: ", "bold red"), plain(answer["reason"]))


def _remedies(answer: Mapping[str, Any]) -> Iterable[RenderableType]:
    if answer["note"]:
        yield Text(plain(answer["note"]), style="yellow")
    if answer["passes_with"] and (answer["note"] or not answer["remedies"]):
        yield Text.assemble("It would pass this stage with ", (plain(answer["passes_with"]["text"]), "bold"))
    if answer["remedies"]:
        yield Text("What would have admitted it:", style="bold")
    for remedy in answer["remedies"]:
        changes = ", ".join(plain(change["text"]) for change in remedy["changes"])
        tried = "" if remedy["rank"] is None else f"  (tried: result {remedy['rank']})"
        yield Padding(Text.assemble(changes, (tried, "green")), (0, 0, 0, 2))
