# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLC0415 - see below
"""
``pincite corpus`` and ``pincite tool``: their options.

What works is imported when the command runs, so that ``--help`` answers at once.
"""

import sys
from typing import Annotated

import typer

corpus = typer.Typer(help="Set up corpora.", rich_markup_mode=None)


@corpus.callback()
def _corpus() -> None:
    """Without this, typer would make the only command of the group its name."""


@corpus.command()
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the new corpus.")],
    like: Annotated[str, typer.Option(metavar="CORPUS", help="Whose settings and pipelines it begins with.")] = (
        "knowledge"
    ),
) -> None:
    """Write another corpus into your configuration folder.

    Its settings and pipelines are copies to edit; `pincite init` then makes it.
    """
    from pincite.corpus_add import add_corpus

    added = add_corpus(name, like)
    for file in added.files:
        print(f"wrote {file}")
    print(f"Corpus {added.name} is set up like {added.like}. Edit the files, then run: pincite init")


def tool(
    context: typer.Context,
    *,
    name: Annotated[str, typer.Argument(metavar="TOOL", help="Such as search_decisions; corpora.yaml lists them.")],
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="The question; may be left out where a case is asked.")
    ] = "",
    top_k: Annotated[int, typer.Option(metavar="N", help="Results wanted.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")] = False,
    principal: Annotated[str | None, typer.Option(metavar="P", help="Who is asking; decides what may be seen.")] = None,
    scope: Annotated[list[str] | None, typer.Option(metavar="K=V", help="Such as case_id=12; repeatable.")] = None,
    filters: Annotated[
        list[str] | None, typer.Option("--filter", metavar="K=V", help="Only sources with this metadata; repeatable.")
    ] = None,
) -> None:
    """Run a search as an agent would.

    Each tool reaches one corpus, and says what a call must name.
    """
    from pincite.json_output import write_json
    from pincite.pairs import equality_filter, pairs
    from pincite.pipelines.corpora import load_corpora
    from pincite.service import Service

    wanted_scope, wanted_filter = pairs("--scope", scope or []), equality_filter(filters or [])
    settings = load_corpora()
    who = principal or settings.command_line_principal
    with Service(config=context.obj) as service:
        if settings.tool(name).action == "status":
            write_json(service.tool_status(name), sys.stdout)
            return
        response = service.tool(name, query, principal=who, top_k=top_k, scope=wanted_scope, filters=wanted_filter)
    if as_json:
        write_json(response, sys.stdout)
        return
    from pincite.render import console_for, search_view

    console = console_for(sys.stdout)
    console.print(search_view(console, response))
