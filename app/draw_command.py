# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLC0415 - see below
"""
``pincite draw``: its options.

What draws is imported when the command runs, so that ``--help`` answers at once.
"""

from pathlib import Path
from typing import Annotated

import typer
from haystack_integrations.document_stores.pincite.errors import BadInputError

_KINDS = ("query", "indexing")


def draw(
    context: typer.Context,
    *,
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="Which corpus; `pincite status` lists them.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Ends in .svg, .png or .mmd.")],
    query: Annotated[
        str | None, typer.Option(metavar="Q", help="Ask this, and draw counts and milliseconds of the run.")
    ] = None,
    kind: Annotated[str, typer.Option(metavar="KIND", help="query or indexing.")] = "query",
    principal: Annotated[str | None, typer.Option(metavar="P", help="Who is asking; decides what may be seen.")] = None,
) -> None:
    """Draw a pipeline, or what a question does in it.

    Made on this machine: SVG, PNG, or Mermaid text for pages that draw it themselves.
    """
    from pincite.draw import drawing, kind_of, save
    from pincite.pipeline_graph import pipeline_graph, with_run

    form = kind_of(output)
    if kind == "query":
        graph = pipeline_graph(corpus, "query")
    elif kind == "indexing":
        graph = pipeline_graph(corpus, "indexing")
    else:
        raise BadInputError(f"--kind is {kind!r:.40}: expected one of {', '.join(_KINDS)}")
    if query is not None:
        if kind != "query":
            raise BadInputError("--query asks the query pipeline: leave out --kind indexing")
        from pincite.pipelines.corpora import load_corpora
        from pincite.service import Service

        who = principal or load_corpora().command_line_principal
        with Service(config=context.obj) as service:
            graph = with_run(graph, service.observe(corpus, query, principal=who))
    save(output, drawing(graph, form))
    print(f"Drew {len(graph.stages)} stages to {output}.")
