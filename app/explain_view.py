# SPDX-License-Identifier: Apache-2.0
"""An explanation as a tree that a person can read in a terminal."""

from collections.abc import Iterable, Mapping
from typing import Any

from pincite.plain_text import plain
from pincite.render import place
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

_CAPPED_SHOWN = 5
_TITLE = 60  # characters: the whole title stands in the table above
_DIM = "dim"


def explain_view(response: Mapping[str, Any]) -> Tree:
    """
    The explanation of a search response.

    :param response: the JSON of the contract, with its key ``explain``.
    """
    explanation = response["explain"]
    tree = Tree(Text("How this came about", style="bold"), guide_style=_DIM)
    _searched(tree.add(Text("searched for", style="bold")), explanation["texts"])
    tree.add(Text("stages", style="bold")).add(_stages(explanation["stages"]))
    results = tree.add(Text("results", style="bold"))
    results.add(Text(f"fused score: {explanation['formula']}", style=_DIM))
    for result, why in zip(response["results"], explanation["results"], strict=True):
        branch = results.add(_heading(result))
        for line in _lines(why):
            branch.add(line)
    _capped(tree, explanation)
    return tree


def _searched(branch: Tree, texts: Mapping[str, str]) -> None:
    stages_of: dict[str, list[str]] = {}
    for stage, text in texts.items():
        stages_of.setdefault(text, []).append(stage)
    for text, stages in stages_of.items():
        branch.add(Text.assemble((f"{', '.join(stages)}: ", "cyan"), plain(text)))


def _stages(stages: Iterable[Mapping[str, Any]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column()
    for _ in range(3):
        table.add_column(justify="right")
    for stage in stages:
        received, gave = stage["received"], stage["gave"]
        ms = "" if stage["ms"] is None else f"{stage['ms']:.1f} ms"
        table.add_row(
            Text(stage["stage"], style="cyan"),
            "" if received is None else f"{received} in",
            "" if gave is None else f"{gave} out",
            Text(ms, style=_DIM),
        )
    return table


def _heading(result: Mapping[str, Any]) -> Text:
    return Text.assemble(
        (f"{result['rank']}  ", "bold"), (_short(plain(result["title"])), "bold"), " · ", (place(result), "cyan"), "  ",
        (plain(result["span_id"].rpartition("#")[2]), _DIM),
    )  # fmt: skip


def _short(title: str) -> str:
    return title if len(title) <= _TITLE else title[: _TITLE - 1].rstrip() + "…"


def _lines(why: Mapping[str, Any]) -> Iterable[Text]:
    legs = [f"{leg} {_ordinal(hit)}" for leg, hit in why["legs"].items()]
    if why["recovered"] is not None:
        legs.append(f"recovery: {why['recovered']} inside its document")
    yield Text.assemble(("found by ", _DIM), "; ".join(legs) or "its title alone")
    fused = why["fused"]
    parts = " + ".join(f"{leg} {part:.4f}" for leg, part in fused["contributions"].items())
    yield Text.assemble(("fused ", _DIM), f"{fused['score']:.4f}", (f" = {parts}" if parts else "", _DIM))
    if why["rerank_score"] is not None:
        yield Text.assemble(("reranker ", _DIM), f"{why['rerank_score']:.4f}")
    way = _way(why)
    if way:
        yield Text.assemble(("place ", _DIM), way)


def _ordinal(hit: Mapping[str, Any]) -> str:
    score = "" if hit["score"] is None else f" (score {hit['score']:.3f})"
    return f"rank {hit['rank']}{score}"


def _way(why: Mapping[str, Any]) -> str:
    """``joiner 14, recovery 14 → 2, named 2 → 1``: where it stood, and each stage that changed it."""
    start = next(iter(why["positions"].items()))
    steps = [f"{start[0]} {start[1]}"] if start[1] is not None else []
    for move in why["moves"]:
        note = " (reserved place)" if move["stage"] == "reservation" and why["reserved"] else ""
        came = "brought in at" if move["before"] is None else f"{move['before']} →"
        steps.append(f"{move['stage']} {came} {move['after']}{note}")
    if why["promoted"]:
        steps.append("its document is the one named")
    return ", ".join(steps)


def _capped(tree: Tree, explanation: Mapping[str, Any]) -> None:
    capped, below = explanation["capped"], explanation["capped_below"]
    if not capped and not below:
        return
    branch = tree.add(Text("dropped, since their document had its share", style="bold"))
    for span in capped[:_CAPPED_SHOWN]:
        branch.add(
            Text(f"{span['position']}  {_short(plain(span['title']))}  {plain(span['span_id'].rpartition('#')[2])}")
        )
    rest = max(0, len(capped) - _CAPPED_SHOWN)
    notes = [f"{rest} more above the last result"] * bool(rest) + [f"{below} below the last result"] * bool(below)
    if notes:
        branch.add(Text(", ".join(notes), style=_DIM))
