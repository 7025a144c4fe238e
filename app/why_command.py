# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLC0415 - see below
"""
``pincite why``: its options.

What follows the document is imported when the command runs, so that ``--help`` answers at once.
"""

import sys
from typing import Annotated

import typer


def why(
    context: typer.Context,
    *,
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="Which corpus; `pincite status` lists them.")],
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question, in quotes.")],
    source: Annotated[str, typer.Option(metavar="S", help="Id of the document that was expected.")],
    span: Annotated[str | None, typer.Option(metavar="ID", help="One passage of it; without, its best.")] = None,
    top_k: Annotated[int, typer.Option(metavar="N", help="Results wanted.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")] = False,
    no_rerank: Annotated[bool, typer.Option("--no-rerank", help="Skip the reranker.")] = False,
    no_names: Annotated[bool, typer.Option("--no-names", help="Ignore that the question names an instrument.")] = False,
    principal: Annotated[str | None, typer.Option(metavar="P", help="Who is asking; decides what may be seen.")] = None,
    matter: Annotated[str | None, typer.Option(metavar="M", help="Your matter; its sources come first.")] = None,
    scope: Annotated[list[str] | None, typer.Option(metavar="K=V", help="A scope of the corpus; repeatable.")] = None,
    filters: Annotated[
        list[str] | None, typer.Option("--filter", metavar="K=V", help="Only sources with this metadata; repeatable.")
    ] = None,
    max_per_source: Annotated[int | None, typer.Option(metavar="N", help="Results of one source at most.")] = None,
) -> None:
    """Say where a search lost a document, and what would have kept it.

    The other options are those of the search.
    """
    from pincite.pairs import equality_filter, pairs

    wanted_scope, wanted_filter = pairs("--scope", scope or []), equality_filter(filters or [])
    from pincite.pipelines.corpora import load_corpora
    from pincite.service import Service

    with Service(config=context.obj) as service:
        answer = service.why(
            corpus,
            query,
            source=source,
            span=span,
            principal=principal or load_corpora().command_line_principal,
            top_k=top_k,
            names=not no_names,
            rerank=not no_rerank,
            matter=matter,
            scope=wanted_scope or None,
            filters=wanted_filter,
            max_per_source=max_per_source,
        )
    if as_json:
        from pincite.json_output import write_json

        write_json(answer, sys.stdout)
        return
    from pincite.render import console_for
    from pincite.why_view import why_view

    console_for(sys.stdout).print(why_view(answer))
