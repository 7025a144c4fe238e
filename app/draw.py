# SPDX-License-Identifier: Apache-2.0
"""``pincite draw``: a pipeline, or a run of it, as SVG, PNG or Mermaid text, made on this machine (E5)."""

import os
from collections.abc import Callable
from pathlib import Path

from haystack_integrations.document_stores.pincite.errors import BadInputError, ConfigurationError
from pincite.draw_mermaid import mermaid
from pincite.draw_svg import svg
from pincite.pipeline_graph import PipelineGraph

_SCALE = 2.0  # pixels of a PNG for each of the SVG: sharp on today's screens


def drawing(graph: PipelineGraph, kind: str) -> bytes:
    """
    The drawing as the bytes of a file.

    :param kind: ``svg``, ``png`` or ``mmd``.
    :raises BadInputError: another kind.
    :raises ConfigurationError: PNG is wanted and the extra ``draw`` is not installed.
    """
    if kind not in _WRITERS:
        raise BadInputError(f"a drawing of kind {kind!r:.20}: expected one of {', '.join(_WRITERS)}")
    return _WRITERS[kind](graph)


def kind_of(path: Path) -> str:
    """
    The kind of drawing that a file name asks for.

    :raises BadInputError: none that can be drawn, or the folder is not there.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind not in _WRITERS:
        raise BadInputError(f"'{path.name}': a drawing ends in .svg, .png or .mmd")
    if not path.parent.is_dir():
        raise BadInputError(f"'{path}': there is no folder '{path.parent}'")
    return kind


def save(path: Path, content: bytes) -> None:
    """
    Write a drawing.

    :raises BadInputError: the file cannot be written.
    """
    try:
        path.write_bytes(content)
    except OSError as error:
        raise BadInputError(f"'{os.fspath(path)}' cannot be written: {error.strerror or error}") from error


def _png(graph: PipelineGraph) -> bytes:
    try:
        import resvg_py  # noqa: PLC0415 (an extra: most people draw SVG)
    except ImportError as error:
        raise ConfigurationError(
            "a PNG needs a renderer: pip install 'pincite-haystack[draw]', or draw an .svg"
        ) from error
    return bytes(resvg_py.svg_to_bytes(svg_string=svg(graph), zoom=_SCALE, sans_serif_family="DejaVu Sans"))


_WRITERS: dict[str, Callable[[PipelineGraph], bytes]] = {
    "svg": lambda graph: svg(graph).encode(),
    "png": _png,
    "mmd": lambda graph: mermaid(graph).encode(),
}
