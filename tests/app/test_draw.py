# SPDX-License-Identifier: Apache-2.0
"""Drawings of pipelines: what is in them, where it stands, and that the one of the documentation is today's."""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from haystack_integrations.document_stores.pincite.errors import BadInputError, ConfigurationError
from pincite.cli import run
from pincite.draw import drawing, kind_of
from pincite.graph_layout import Edge, lay_out, rows_of
from pincite.pipeline_graph import Flow, Kind, PipelineGraph, Stage, layers, pipeline_graph
from pincite.pipelines.corpora import load_corpora
from pincite.pipelines.loader import STAGES

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def graph() -> PipelineGraph:
    return pipeline_graph("knowledge")


def boxes(picture: bytes) -> dict[str, tuple[float, float, float, float]]:
    """Left, top, right and bottom of each stage, by its name."""
    found = {}
    for group in ElementTree.fromstring(picture).iter(f"{SVG}g"):
        box = group.find(f"{SVG}rect")
        names = [text.text or "" for text in group.iter(f"{SVG}text") if text.get("fill") == "#0f172a"]
        assert box is not None
        x, y, width, height = (float(box.get(key, "nan")) for key in ("x", "y", "width", "height"))
        found[names[0]] = (x, y, x + width, y + height)
    return found


def test_every_stage_stands_in_the_picture_with_its_parameters(graph: PipelineGraph) -> None:
    picture = drawing(graph, "svg")
    words = {text.text for text in ElementTree.fromstring(picture).iter(f"{SVG}text")}
    assert set(boxes(picture)) == set(STAGES["query"])
    assert {"ReciprocalRankJoiner", "places 8", "min_coverage 0.5"} <= words


@pytest.mark.parametrize("kind", ["query", "indexing"])
@pytest.mark.parametrize("corpus", load_corpora().corpora)
def test_no_box_covers_another_and_all_lie_inside(corpus: str, kind: Kind) -> None:
    picture = drawing(pipeline_graph(corpus, kind), "svg")
    root = ElementTree.fromstring(picture)
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    places = list(boxes(picture).values())
    for number, (left, top, right, bottom) in enumerate(places):
        assert 0 <= left < right <= width and 0 <= top < bottom <= height
        for other in places[:number]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top


def test_a_row_reads_from_left_to_right(graph: PipelineGraph) -> None:
    places = boxes(drawing(graph, "svg"))
    for flow in graph.flows:
        one, other = places[flow.sender], places[flow.receiver]
        assert one[2] <= other[0] or one[3] <= other[1], f"{flow.receiver} is neither right of {flow.sender} nor below"


def test_the_legs_stand_in_one_column(graph: PipelineGraph) -> None:
    assert ["dense", "lexical"] in layers(graph)


def test_nothing_that_the_request_gives_is_lost(graph: PipelineGraph) -> None:
    received = {stage.name: set(stage.request) for stage in graph.stages}
    assert received["dense"] == {"groups", "filters"}
    assert received["diversifier"] == {"top_k", "max_per_source"}
    assert Flow("request", "recognizer", ("names", "query"), "decisions") in graph.flows


def test_the_picture_of_the_documentation_is_the_pipeline_of_today(graph: PipelineGraph) -> None:
    committed = (ROOT / "docs" / "knowledge.svg").read_bytes()
    assert committed == drawing(graph, "svg"), "draw it again: pincite draw knowledge -o docs/knowledge.svg"


def test_mermaid_names_every_stage_and_line(graph: PipelineGraph) -> None:
    text = drawing(graph, "mmd").decode()
    assert text.count("<b>") == len(graph.stages)
    assert len(re.findall(r"^    s\d+ (?:==>|-->|-\.->)", text, re.MULTILINE)) == len(graph.flows)


def test_mermaid_text_cannot_be_broken_by_a_name(graph: PipelineGraph) -> None:
    stage = Stage('a"]<b>', "Kind", "", (("k", "`#`"),), None, ())
    text = drawing(PipelineGraph("c", "query", "a", (stage,), (), query='"\n---'), "mmd").decode()
    assert '"]<b>' not in text.replace('"]\n', "")
    _, heading, rest = text.split("---\n", 2)
    assert yaml.safe_load(heading) == {"title": 'c, query pipeline: " --- ()'} and rest.startswith("flowchart LR")


def test_a_circle_does_not_stop_the_drawing() -> None:
    stages = tuple(Stage(name, "Kind", "", (), None, ()) for name in "abc")
    flows = tuple(Flow(*ends, ("documents",), "documents") for ends in ("ab", "bc", "cb"))
    assert layers(PipelineGraph("c", "query", "a", stages, flows)) == [["a"], ["b"], ["c"]]


def test_rows_are_as_equal_as_can_be() -> None:
    columns = [[str(number)] for number in range(15)]
    assert [len(row) for row in rows_of(columns, 7)] == [5, 5, 5]
    assert [len(row) for row in rows_of(columns[:8], 7)] == [4, 4]


def test_lines_do_not_cross_where_they_need_not() -> None:
    edges = [Edge("a", "d"), Edge("b", "c")]
    row = lay_out([["a", "b"], ["c", "d"]], edges, dict.fromkeys("abcd", 40.0))
    left, right = ([item.name for item in column] for column in row.columns)
    assert left.index("a") == right.index("d")


def test_png_is_a_png(graph: PipelineGraph) -> None:
    pytest.importorskip("resvg_py")
    assert drawing(graph, "png").startswith(b"\x89PNG")


def test_png_without_its_renderer_says_what_to_install(graph: PipelineGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'pincite-haystack\[draw\]'"):
        drawing(graph, "png")


@pytest.mark.parametrize("name", ["a.jpg", "a", "nowhere/a.svg"])
def test_a_file_that_cannot_be_drawn_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInputError):
        kind_of(tmp_path / name)


def test_the_command_needs_no_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINCITE_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/nothing")
    target = tmp_path / "k.svg"
    assert run(["draw", "knowledge", "-o", str(target)]) == 0
    assert run(["draw", "knowledge", "--kind", "indexing", "-o", str(tmp_path / "i.mmd")]) == 0
    assert target.read_bytes().startswith(b"<svg")


@pytest.mark.parametrize("arguments", [["--kind", "other"], ["--kind", "indexing", "--query", "q"]])
def test_the_command_refuses_what_makes_no_sense(arguments: list[str], tmp_path: Path) -> None:
    assert run(["draw", "knowledge", *arguments, "-o", str(tmp_path / "k.svg")]) == 2
