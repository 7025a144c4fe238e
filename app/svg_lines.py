# SPDX-License-Identifier: Apache-2.0
"""Lines of a drawing as SVG paths: soft bends between columns, rounded corners between rows."""

from collections.abc import Sequence
from itertools import pairwise
from math import copysign
from typing import NamedTuple

_RADIUS = 9.0
_LONG = 100.0  # pixels from which a stretch has room for words


class Point(NamedTuple):
    """A place in the drawing, in pixels from its upper left corner."""

    x: float
    y: float


class Line(NamedTuple):
    """A path, and the stretch of it where words stand: between its ends, above it where it is ``level``."""

    points: list[Point]
    path: str
    start: Point
    end: Point

    @property
    def level(self) -> bool:
        """Whether the stretch is horizontal and long enough for words side by side."""
        return abs(self.start.y - self.end.y) < 0.5 and abs(self.start.x - self.end.x) > _LONG

    @property
    def middle(self) -> Point:
        """The middle of the stretch."""
        return Point((self.start.x + self.end.x) / 2, (self.start.y + self.end.y) / 2)

    def free_place(self, width: float, uprights: Sequence[tuple[Point, Point]]) -> Point:
        """Where words of a width cross as few upright lines as can be, the nearer to the middle the better."""
        if not self.level:
            return self.middle
        room = max(0.0, (abs(self.start.x - self.end.x) - width) / 2 - 12)
        shifts = [sign * step * room / 10 for step in range(11) for sign in (1, -1)]
        places = [Point(self.middle.x + shift, self.start.y) for shift in shifts]
        return min(places, key=lambda place: sum(_meets(place, width, *upright) for upright in uprights))


def uprights(lines: Sequence[Line]) -> list[tuple[Point, Point]]:
    """The upright stretches of some lines."""
    stretches = [pair for line in lines for pair in pairwise(line.points)]
    return [(one, other) for one, other in stretches if one.x == other.x]


def _meets(place: Point, width: float, one: Point, other: Point) -> bool:
    inside = min(one.y, other.y) < place.y and max(one.y, other.y) > place.y - 16
    return inside and abs(one.x - place.x) < width / 2 + 5


def bend(points: Sequence[Point]) -> Line:
    """A line through points from left to right: straight where two are level, else a curve that leaves level."""
    path = f"M{points[0].x:.1f} {points[0].y:.1f}"
    for one, other in pairwise(points):
        if abs(one.y - other.y) < 0.5:
            path += f"L{other.x:.1f} {other.y:.1f}"
        else:
            half = (one.x + other.x) / 2
            path += f"C{half:.1f} {one.y:.1f} {half:.1f} {other.y:.1f} {other.x:.1f} {other.y:.1f}"
    levels = [(one, other) for one, other in pairwise(points) if abs(one.y - other.y) < 0.5]
    start, end = max(levels, key=_length, default=(points[0], points[1]))
    if _length((start, end)) < _LONG:
        start, end = points[0], points[1]
    return Line(list(points), path, start, end)


def rounded(points: Sequence[Point]) -> Line:
    """A line of level and upright stretches; words stand above the longest level one."""
    path = f"M{points[0].x:.1f} {points[0].y:.1f}"
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        entry, leaving = _towards(corner, before), _towards(corner, after)
        path += f"L{entry.x:.1f} {entry.y:.1f}Q{corner.x:.1f} {corner.y:.1f} {leaving.x:.1f} {leaving.y:.1f}"
    path += f"L{points[-1].x:.1f} {points[-1].y:.1f}"
    levels = [(one, other) for one, other in pairwise(points) if one.y == other.y]
    start, end = max(levels, key=_length)
    return Line(list(points), path, start, end)


def _length(stretch: tuple[Point, Point]) -> float:
    return abs(stretch[0].x - stretch[1].x)


def _towards(corner: Point, other: Point) -> Point:
    """The point one radius away from a corner, less where the stretch is short."""
    across, down = other.x - corner.x, other.y - corner.y
    reach = min(_RADIUS, max(abs(across), abs(down)) / 2)
    if abs(across) >= abs(down):
        return Point(corner.x + copysign(reach, across), corner.y)
    return Point(corner.x, corner.y + copysign(reach, down))
