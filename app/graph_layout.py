# SPDX-License-Identifier: Apache-2.0
"""
Places for the boxes of a pipeline drawing: columns from left to right, in as many rows as keep the picture readable.

The method is that of Sugiyama, Tagawa and Toda (1981): layers, an order inside each layer that crosses few lines, then
coordinates that keep lines straight. A line that passes a column without stopping has a place of its own there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

LANE = 16.0  # height of a line that passes a column
SPACING = 20.0  # between two things of a column
_SWEEPS = 16
_PASSING = 12.0


@dataclass(frozen=True, slots=True)
class Edge:
    """A line of the drawing; ``weight`` is how much it wants to be straight."""

    sender: str
    receiver: str
    weight: float = 1.0


@dataclass(slots=True)
class Item:
    """A box, or the place of a passing line (``edge`` is its number, ``name`` is empty), in one column of one row."""

    name: str
    height: float
    edge: int = -1
    y: float = 0.0


@dataclass(slots=True)
class Row:
    """Columns of items, each from top to bottom; ``y`` of an item is its middle, counted from the top of the row."""

    columns: list[list[Item]] = field(default_factory=list)

    @property
    def height(self) -> float:
        """From the top of the highest item to the bottom of the lowest; tops are moved to 0."""
        return max((item.y + item.height / 2 for column in self.columns for item in column), default=0.0)


def rows_of(layers: Sequence[Sequence[str]], most: int) -> list[list[Sequence[str]]]:
    """The layers in rows of at most ``most`` columns, as equal as can be, the longer ones first."""
    count = -(-len(layers) // most)
    size, longer = divmod(len(layers), count)
    rows, start = [], 0
    for number in range(count):
        end = start + size + (number < longer)
        rows.append(list(layers[start:end]))
        start = end
    return rows


def lay_out(layers: Sequence[Sequence[str]], edges: Sequence[Edge], heights: Mapping[str, float]) -> Row:
    """
    Order and place the items of one row.

    :param layers: names of the boxes, by column.
    :param edges: all lines; those with an end outside this row are left out.
    :param heights: of the boxes.
    """
    column_of = {name: number for number, layer in enumerate(layers) for name in layer}
    row = Row([[Item(name, heights[name]) for name in layer] for layer in layers])
    links: list[tuple[Item, Item, float]] = []
    boxes = {item.name: item for column in row.columns for item in column}
    for number, edge in enumerate(edges):
        if edge.sender not in column_of or edge.receiver not in column_of:
            continue
        first, last = column_of[edge.sender], column_of[edge.receiver]
        passing = [Item("", LANE, number) for _ in range(first + 1, last)]
        for column, item in zip(range(first + 1, last), passing, strict=True):
            row.columns[column].append(item)
        way = [boxes[edge.sender], *passing, boxes[edge.receiver]]
        # A bend in the middle of a long line is uglier than one at its ends.
        links += [
            (one, other, edge.weight * (_PASSING if not (one.name or other.name) else 1))
            for one, other in pairwise(way)
        ]
    _order(row, links)
    _place(row, links)
    return row


def _order(row: Row, links: Sequence[tuple[Item, Item, float]]) -> None:
    """Sort each column by the mean place of its neighbours, back and forth; the order with fewest crossings stays."""
    best = [list(column) for column in row.columns]
    fewest = _crossings(row, links)
    for sweep in range(_SWEEPS):
        forwards = sweep % 2 == 0
        places = {id(item): place for column in row.columns for place, item in enumerate(column)}
        for column in row.columns if forwards else reversed(row.columns):
            means = {
                id(item): _mean(
                    [places[id(a if forwards else b)] for a, b, _ in links if (b if forwards else a) is item]
                )
                for item in column
            }
            # Boxes stay above passing lines where nothing speaks against it.
            column.sort(key=lambda item: (means[id(item)], item.name == "", places[id(item)]))
            places.update((id(item), place) for place, item in enumerate(column))
        crossings = _crossings(row, links)
        if crossings < fewest:
            fewest, best = crossings, [list(column) for column in row.columns]
    row.columns = best


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _crossings(row: Row, links: Sequence[tuple[Item, Item, float]]) -> int:
    at = {id(item): (number, place) for number, column in enumerate(row.columns) for place, item in enumerate(column)}
    lines = [(*at[id(one)], at[id(other)][1]) for one, other, _ in links]
    return sum(
        first[0] == second[0] and (first[1] - second[1]) * (first[2] - second[2]) < 0
        for number, first in enumerate(lines)
        for second in lines[:number]
    )


def _place(row: Row, links: Sequence[tuple[Item, Item, float]]) -> None:
    """Move each column to where its lines would be straight, as near as its order allows; then the top to 0."""
    for column in row.columns:
        _stack(column, [0.0] * len(column), [1.0] * len(column))
    for sweep in range(_SWEEPS):
        for column in row.columns if sweep % 2 == 0 else reversed(row.columns):
            wishes, weights = [], []
            for item in column:
                pulls = [(b if a is item else a, weight) for a, b, weight in links if item is a or item is b]
                total = sum(weight for _, weight in pulls)
                wishes.append(sum(other.y * weight for other, weight in pulls) / total if total else item.y)
                weights.append(total or 1.0)
            _stack(column, wishes, weights)
    top = min((item.y - item.height / 2 for column in row.columns for item in column), default=0.0)
    for column in row.columns:
        for item in column:
            item.y -= top


def _stack(column: Sequence[Item], wishes: Sequence[float], weights: Sequence[float]) -> None:
    """Nearest places to the wishes that keep order and distance (least squares, by pooling adjacent violators)."""
    offsets, offset = [], 0.0
    for number, item in enumerate(column):
        if number:
            offset += (column[number - 1].height + item.height) / 2 + SPACING
        offsets.append(offset)
    pools: list[list[float]] = []  # [mean, weight, how many]
    for wish, weight, moved in zip(wishes, weights, offsets, strict=True):
        pools.append([wish - moved, weight, 1])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            mean, mass, count = pools.pop()
            before = pools[-1]
            before[0] = (before[0] * before[1] + mean * mass) / (before[1] + mass)
            before[1] += mass
            before[2] += count
    starts = [mean for mean, _, count in pools for _ in range(int(count))]
    for item, start, moved in zip(column, starts, offsets, strict=True):
        item.y = start + moved
