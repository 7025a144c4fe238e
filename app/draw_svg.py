# SPDX-License-Identifier: Apache-2.0
"""A pipeline as SVG: rows read from left to right, lines in the colour of what they carry. Needs no other program."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from xml.sax.saxutils import escape, quoteattr

from pincite.graph_layout import Edge, lay_out, rows_of
from pincite.pipeline_graph import Flow, PipelineGraph, Stage, layers
from pincite.svg_lines import Line, Point, bend, rounded, uprights
from pincite.svg_text import shortened, text_width, wrapped

_MOST_COLUMNS = 7
_MARGIN = 28.0
_HEADER = 64.0
_FOOTER = 54.0
_GAP = 30.0  # between columns, more where a label needs it
_LANE = 19.0  # between lines that run from row to row
_BOX = 162.0
_PADDING = 11.0
_LINE = 15.0
_INK, _GREY, _PALE, _PAPER, _BORDER = "#0f172a", "#64748b", "#94a3b8", "#f8fafc", "#cbd5e1"
COLOURS: Mapping[str, str] = {"documents": "#2563eb", "decisions": "#b45309", "text": "#0f766e"}
_WIDTHS: Mapping[str, float] = {"documents": 2.6, "decisions": 1.5, "text": 1.5}
_FONT = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
_MEANINGS = {"documents": "passages", "text": "what is searched for", "decisions": "what was recognised and decided"}


@dataclass(frozen=True, slots=True)
class _Box:
    """A stage in its place; ``x`` and ``y`` are its upper left corner."""

    stage: Stage
    x: float
    y: float
    height: float

    @property
    def right(self) -> float:
        return self.x + _BOX

    @property
    def bottom(self) -> float:
        return self.y + self.height


def svg(graph: PipelineGraph) -> str:
    """The drawing as the text of an SVG file."""
    return _Drawing(graph).text()


class _Drawing:
    def __init__(self, graph: PipelineGraph) -> None:
        self.graph = graph
        self.flows = graph.flows
        self.stages = {stage.name: stage for stage in graph.stages}
        self.slowest = max((stage.milliseconds or 0.0 for stage in graph.stages), default=0.0)
        edges = [Edge(f.sender, f.receiver, 4.0 if f.carries == "documents" else 1.0) for f in self.flows]
        heights = {name: _height(stage) for name, stage in self.stages.items()}
        self.layers = rows_of(layers(graph), _MOST_COLUMNS)
        self.rows = [lay_out(row, edges, heights) for row in self.layers]
        self.row_of = {name: number for number, row in enumerate(self.layers) for layer in row for name in layer}
        self.column_of = {name: at for row in self.layers for at, layer in enumerate(row) for name in layer}
        self.lanes = self._lanes()
        self.columns = [self._columns(row) for row in self.layers]
        self.width = max(row[-1] for row in self.columns) + _BOX + _MARGIN + (12 if len(self.rows) > 1 else 0)
        self.tops = self._tops()
        self.height = self.tops[-1] + self.rows[-1].height + _FOOTER
        self.boxes = dict(self._boxes())
        self.ports = self._ports()

    # -- places --------------------------------------------------------------------------------------------------

    def _columns(self, row: Sequence[Sequence[str]]) -> list[float]:
        """Left edge of each column; a gap is as wide as its longest label."""
        places = [_MARGIN + (12 if len(self.layers) > 1 else 0)]
        for left, right in pairwise(row):
            labels = [
                max(_words_width(flow), _pill_width(flow) + 14 if flow.counts else 0.0)
                for flow in self.flows
                if flow.sender in left and flow.receiver in right
            ]
            places.append(places[-1] + _BOX + max([_GAP, *(width + 22 for width in labels)]))
        return places

    def _lanes(self) -> dict[int, list[int]]:
        """Per gutter below a row: the lines that run in it, from its top lane to its lowest."""
        lanes: dict[int, list[int]] = {}
        for number, flow in enumerate(self.flows):
            here, there = self.row_of[flow.sender], self.row_of[flow.receiver]
            if here != there:
                lanes.setdefault(min(here, there), []).append(number)
        for numbers in lanes.values():
            # The passages run lowest, nearest to where they go; the shortest other lines above them.
            numbers.sort(key=lambda number: (self.flows[number].carries == "documents", -self._reach(number)))
        return lanes

    def _reach(self, number: int) -> int:
        flow = self.flows[number]
        return abs(self.column_of[flow.receiver] - self.column_of[flow.sender])

    def _tops(self) -> list[float]:
        tops = [_HEADER + 14]
        for number, row in enumerate(self.rows[:-1]):
            gutter = 46 + _LANE * len(self.lanes.get(number, []))
            tops.append(tops[-1] + row.height + gutter)
        return tops

    def _boxes(self) -> Iterator[tuple[str, _Box]]:
        for number, row in enumerate(self.rows):
            for column, items in enumerate(row.columns):
                for item in items:
                    if item.name:
                        y = self.tops[number] + item.y - item.height / 2
                        stage = self.stages[item.name]
                        yield item.name, _Box(stage, self.columns[number][column], y, item.height)

    def _passing(self, number: int) -> list[Point]:
        """Where a line passes columns of its row: left and right end of each."""
        points = []
        row = self.row_of[self.flows[number].sender]
        for column, items in enumerate(self.rows[row].columns):
            for item in items:
                if item.edge == number:
                    x, y = self.columns[row][column], self.tops[row] + item.y
                    points += [Point(x, y), Point(x + _BOX, y)]
        return points

    def _ports(self) -> dict[tuple[int, str], Point]:
        """Where each line leaves (``"out"``) and enters (``"in"``); the lines of a side keep their order."""
        ports: dict[tuple[int, str], Point] = {}
        sides: dict[tuple[str, str], list[tuple[float, int, str]]] = {}
        for number, flow in enumerate(self.flows):
            sender, receiver = self.boxes[flow.sender], self.boxes[flow.receiver]
            if self.row_of[flow.sender] == self.row_of[flow.receiver]:
                passing = self._passing(number)
                after = passing[0].y if passing else receiver.y + receiver.height / 2
                before = passing[-1].y if passing else sender.y + sender.height / 2
                sides.setdefault((flow.sender, "right"), []).append((after, number, "out"))
                sides.setdefault((flow.receiver, "left"), []).append((before, number, "in"))
            elif flow.carries == "documents":
                sides.setdefault((flow.sender, "right"), []).append((1e6, number, "out"))
                sides.setdefault((flow.receiver, "left"), []).append((-1e6, number, "in"))
            else:
                sides.setdefault((flow.sender, "bottom"), []).append((receiver.x, number, "out"))
                sides.setdefault((flow.receiver, "top"), []).append((sender.x, number, "in"))
        for (name, side), lines in sides.items():
            ports.update(self._spread(self.boxes[name], side, sorted(lines)))
        return ports

    def _spread(
        self, box: _Box, side: str, lines: Sequence[tuple[float, int, str]]
    ) -> Iterator[tuple[tuple[int, str], Point]]:
        across = side in ("top", "bottom")
        length = _BOX if across else box.height
        step = min(26.0 if across else 18.0, (length - 24) / max(1, len(lines)))
        for place, (_, number, end) in enumerate(lines):
            shift = (place - (len(lines) - 1) / 2) * step
            if across:
                point = Point(box.x + _BOX / 2 + shift, box.bottom if side == "bottom" else box.y)
            else:
                point = Point(box.right if side == "right" else box.x, box.y + box.height / 2 + shift)
            yield (number, end), point

    # -- drawing -------------------------------------------------------------------------------------------------

    def text(self) -> str:
        """The whole file."""
        width, height = round(self.width), round(self.height)
        title = f"{self.graph.corpus}: {self.graph.kind} pipeline"
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
            f' font-family="{_FONT}" role="img">',
            f"<title>{escape(title)}</title>",
            "<defs>",
            *(_arrow(what, colour) for what, colour in COLOURS.items()),
            "</defs>",
            f'<rect width="{width}" height="{height}" rx="10" fill="{_PAPER}"/>',
            *self._header(),
        ]
        order = sorted(range(len(self.flows)), key=lambda number: self.flows[number].carries == "documents")
        lines = [(number, self._line(number)) for number in order]
        parts += [_path(self.flows[number], line) for number, line in lines]
        parts += [drawn for box in self.boxes.values() for drawn in _box(box, self.slowest)]
        standing = uprights([line for _, line in lines])
        parts += [drawn for number, line in lines for drawn in _captions(self.flows[number], line, standing)]
        parts += [*self._footer(), "</svg>"]
        return "\n".join(parts) + "\n"

    def _header(self) -> Iterator[str]:
        name, kind = self.graph.corpus, f"{self.graph.kind} pipeline"
        yield _text(name, _MARGIN, 36, 20, _INK, bold=True)
        yield _text(kind, _MARGIN + text_width(name, 20, bold=True) + 12, 36, 14, _GREY)
        if self.graph.query is not None:
            asked = f"“{self.graph.query}”"
            yield _text(shortened(asked, self.width - 2 * _MARGIN - 180, 13), _MARGIN, 58, 13, _INK)
            yield _text(self.graph.facts, self.width - _MARGIN, 58, 13, _GREY, anchor="end")

    def _footer(self) -> Iterator[str]:
        x, y = _MARGIN, self.height - 20
        for what in ("documents", "text", "decisions"):
            if not any(flow.carries == what for flow in self.flows):
                continue
            line = f'x1="{x:.0f}" x2="{x + 30:.0f}" y1="{y - 4:.0f}" y2="{y - 4:.0f}"'
            yield f'<line {line} stroke="{COLOURS[what]}" stroke-width="{_WIDTHS[what]}" marker-end="url(#{what})"/>'
            yield _text(_MEANINGS[what], x + 40, y, 11, _GREY)
            x += 40 + text_width(_MEANINGS[what], 11) + 28
        if any(stage.request for stage in self.stages.values()):
            yield _text("▸ query", x, y, 11, _GREY, bold=True)
            note = f"taken straight from the {self.graph.entry}"
            yield _text(note, x + 52, y, 11, _GREY)
            x += 52 + text_width(note, 11) + 28
        if any(stage.corpus for stage in self.stages.values()):
            yield from _cylinder(x, y - 11)
            yield _text("uses the database", x + 18, y, 11, _GREY)

    def _line(self, number: int) -> Line:
        flow = self.flows[number]
        start, end = self.ports[number, "out"], self.ports[number, "in"]
        here, there = self.row_of[flow.sender], self.row_of[flow.receiver]
        if here == there:
            return bend([start, *self._passing(number), end])
        upper = min(here, there)
        lanes = self.lanes[upper]
        bottom = self.tops[upper] + self.rows[upper].height
        lane = bottom + 26 + _LANE * lanes.index(number)
        if flow.carries == "documents":
            outside, inside = start.x + 15, end.x - 18
            corners = [Point(outside, start.y), Point(outside, lane), Point(inside, lane), Point(inside, end.y)]
        else:
            corners = [Point(start.x, lane), Point(end.x, lane)]
        return rounded([start, *corners, end])


def _height(stage: Stage) -> float:
    return 50.0 + _LINE * len(_rows(stage)) + (8.0 if _rows(stage) else 0.0)


def _rows(stage: Stage) -> list[tuple[str, bool]]:
    """Lines below the heading of a box; the flag tells what comes from the request."""
    room = _BOX - 2 * _PADDING
    shown = [(line, False) for key, value in stage.parameters for line in wrapped(f"{key} {value}", room, 10.5)]
    if stage.request:
        shown += [(line, True) for line in wrapped("▸ " + ", ".join(stage.request), room, 10.5)]
    return shown


def _label(flow: Flow) -> list[str]:
    """What stands at a line: the names of its sockets, but not the self-evident ``documents``; of a run, the counts."""
    names = [name for name in flow.sockets if name != "documents"]
    return [] if flow.counts and len(flow.counts) == len(flow.sockets) else names


def _counted(flow: Flow) -> str:
    return " + ".join(map(str, flow.counts))


def _words_width(flow: Flow) -> float:
    return max((text_width(name, 10) for name in _label(flow)), default=0.0)


def _pill_width(flow: Flow) -> float:
    return text_width(_counted(flow), 10.5, bold=True) + 12 if flow.counts else 0.0


def _box(box: _Box, slowest: float) -> Iterator[str]:
    stage = box.stage
    yield f"<g><title>{escape(stage.summary)}</title>"
    yield (
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{_BOX:.0f}" height="{box.height:.1f}" rx="8" fill="#ffffff"'
        f' stroke="{_BORDER}"/>'
    )
    edge = box.right - _PADDING
    if stage.corpus:
        edge -= 11
        yield from _cylinder(edge, box.y + 10)
        edge -= 6
    if stage.milliseconds is not None:
        time, colour = _milliseconds(stage.milliseconds), "#be123c" if stage.milliseconds == slowest else _GREY
        yield _text(time, edge, box.y + 21, 11, colour, anchor="end", bold=True)
        edge -= text_width(time, 11, bold=True) + 5
    room = edge - box.x - _PADDING
    yield _text(stage.name, box.x + _PADDING, box.y + 22, _fitting(stage.name, 14.5, room, bold=True), _INK, bold=True)
    size = _fitting(stage.kind, 10.5, _BOX - 2 * _PADDING)
    yield _text(stage.kind, box.x + _PADDING, box.y + 38, size, _GREY)
    if rows := _rows(stage):
        line = box.y + 47
        ends = f'x1="{box.x + _PADDING:.1f}" x2="{box.right - _PADDING:.1f}" y1="{line:.1f}" y2="{line:.1f}"'
        yield f'<line {ends} stroke="#e2e8f0"/>'
        for number, (row, from_request) in enumerate(rows):
            y = box.y + 62 + _LINE * number
            yield _text(row, box.x + _PADDING, y, 10.5, _GREY if from_request else "#334155", bold=from_request)
    yield "</g>"


def _fitting(text: str, size: float, width: float, *, bold: bool = False) -> float:
    """The font size, smaller where the text would not fit."""
    return min(size, size * width / text_width(text, size, bold=bold))


def _milliseconds(value: float) -> str:
    return f"{value:.1f} ms" if value < 100 else f"{value:.0f} ms"


def _cylinder(x: float, y: float) -> Iterator[str]:
    style = f'fill="none" stroke="{_PALE}" stroke-width="1.3"'
    yield f'<path d="M{x:.1f} {y + 2.5:.1f}v7.5a5.5 2.5 0 0 0 11 0v-7.5" {style}/>'
    yield f'<ellipse cx="{x + 5.5:.1f}" cy="{y + 2.5:.1f}" rx="5.5" ry="2.5" {style}/>'


def _arrow(what: str, colour: str) -> str:
    size = 9 if what == "documents" else 7
    return (
        f'<marker id="{what}" viewBox="0 0 10 10" refX="9" refY="5" markerUnits="userSpaceOnUse" markerWidth="{size}"'
        f' markerHeight="{size}" orient="auto"><path d="M0 0.5L10 5L0 9.5z" fill="{colour}"/></marker>'
    )


def _path(flow: Flow, line: Line) -> str:
    note = f"{flow.sender} gives {flow.receiver}: {', '.join(flow.sockets)}"
    return (
        f'<path d="{line.path}" fill="none" stroke="{COLOURS[flow.carries]}" stroke-width="{_WIDTHS[flow.carries]}"'
        f' marker-end="url(#{flow.carries})"><title>{escape(note)}</title></path>'
    )


def _captions(flow: Flow, line: Line, standing: Sequence[tuple[Point, Point]]) -> Iterator[str]:
    colour = COLOURS[flow.carries]
    names = _label(flow)
    if line.level:
        names = [", ".join(names)] if names else []
    shown = _counted(flow)
    pill = _pill_width(flow)
    place = line.free_place(max(_words_width(flow), pill), standing)
    for number, name in enumerate(names):
        y = place.y - (12 if shown else 5) - 11 * (len(names) - 1 - number)
        yield _text(name, place.x, y, 10, colour, anchor="middle", halo=True)
    if shown:
        yield (
            f'<rect x="{place.x - pill / 2:.1f}" y="{place.y - 8.5:.1f}" width="{pill:.1f}" height="17" rx="8.5"'
            f' fill="{colour}"/>'
        )
        yield _text(shown, place.x, place.y + 4, 10.5, "#ffffff", anchor="middle", bold=True)


def _text(
    text: str, x: float, y: float, size: float, colour: str, *, anchor: str = "", bold: bool = False, halo: bool = False
) -> str:
    style = f' text-anchor="{anchor}"' if anchor else ""
    style += ' font-weight="600"' if bold else ""
    # A rim in the colour of the paper keeps words readable where lines cross them.
    style += f' stroke="{_PAPER}" stroke-width="4" stroke-linejoin="round" paint-order="stroke"' if halo else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:.4g}" fill={quoteattr(colour)}{style}>{escape(text)}</text>'
