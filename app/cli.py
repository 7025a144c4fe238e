# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLC0415 - see below
"""
The command line: a thin layer over :class:`pincite.service.Service` (A3).

Commands import what they need when they run, so that ``--help`` and a mistyped option answer at once.
"""

import os
import shlex
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pincite.audit.command import audit
from pincite.bench.command import bench
from pincite.corpus_command import corpus as corpus_group
from pincite.corpus_command import tool
from pincite.curation_command import meta, reembed, review
from pincite.draw_command import draw
from pincite.ending import TOLD_TO_END, leaving_on
from pincite.mcp_command import mcp
from pincite.outcome import DONE, PARTLY, outcome
from pincite.quiet import quiet, utf8_streams
from pincite.serve_command import serve
from pincite.tags_command import tag_describe
from pincite.token_command import token
from pincite.why_command import why

if TYPE_CHECKING:
    from pincite.service import Service

app = typer.Typer(
    name="pincite",
    help="Retrieval that finds the right document and pins every passage to its source.",
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Corpus = Annotated[str, typer.Argument(metavar="CORPUS", help="Which corpus; `pincite status` lists them.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")]
Principal = Annotated[str | None, typer.Option(metavar="P", help="Who is asking; decides what may be seen.")]


@app.callback(invoke_without_command=True)
def pincite(
    context: typer.Context,
    config: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder with your configuration and pipelines.")
    ] = None,
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    if config is not None:
        # Everything below reads the configuration through this variable (contract, "Where things are").
        os.environ["PINCITE_CONFIG"] = os.fspath(config)
    context.obj = config
    if version:
        print(f"pincite {metadata.version('pincite-haystack')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
def init(
    context: typer.Context,
    here: Annotated[
        bool, typer.Option("--here", help="Only copy configuration and pipelines into this folder, to edit.")
    ] = False,
) -> None:
    """Prepare the database and its corpora."""
    if here:
        _copy_here()
        return
    with _service(context) as service:
        report = service.init()
    applied = len(report.applied)
    print(f"Applied {applied} migration{'' if applied == 1 else 's'}: {', '.join(report.applied) or 'all were there'}.")
    print(f"Corpora ready: {', '.join(report.corpora)}.")


def _path(text: str) -> Path:
    """An empty PATH is a variable that was not set, and would be the current folder."""
    if not text.strip():
        raise typer.BadParameter("a path is empty; write . for the current folder")
    return Path(text)


@app.command()
def ingest(
    context: typer.Context,
    *,
    corpus: Corpus,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Files and folders.", parser=_path)],
    meta: Annotated[
        list[str] | None, typer.Option(metavar="K=V", help="Metadata for every source; repeatable.")
    ] = None,
    as_name: Annotated[str | None, typer.Option("--as", metavar="NAME", help="Prefix of the source ids.")] = None,
    workers: Annotated[int | None, typer.Option(metavar="N", min=1, help="Processes that read files.")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Stay, and bring in what changes, until Ctrl-C.")] = False,
) -> None:
    """Bring files and folders into a corpus.

    Only what changed is read again, and what is gone below PATH is removed.
    """
    from pincite.pairs import pairs

    wanted = pairs("--meta", meta or [])
    from pincite.progress import ingest_progress, ingest_summary

    def bring_in(service: "Service") -> int:
        with ingest_progress(sys.stderr) as progress:
            report = service.ingest(corpus, paths, meta=wanted, as_name=as_name, workers=workers, progress=progress)
        for line in ingest_summary(corpus, report):
            print(line, flush=True)
        return PARTLY if report.failed else DONE

    from pincite.watching import stay

    with _service(context) as service:
        ended = stay(paths, lambda: bring_in(service)) if watch else bring_in(service)
    raise typer.Exit(ended)


@app.command()
def search(
    context: typer.Context,
    *,
    corpus: Corpus,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question, in quotes.")],
    top_k: Annotated[int, typer.Option(metavar="N", help="Results wanted.")] = 10,
    as_json: AsJson = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say how each result came to its place.")] = False,
    no_rerank: Annotated[bool, typer.Option("--no-rerank", help="Skip the reranker.")] = False,
    no_names: Annotated[bool, typer.Option("--no-names", help="Ignore that the question names an instrument.")] = False,
    principal: Principal = None,
    matter: Annotated[str | None, typer.Option(metavar="M", help="Your matter; its sources come first.")] = None,
    scope: Annotated[list[str] | None, typer.Option(metavar="K=V", help="A scope of the corpus; repeatable.")] = None,
    filters: Annotated[
        list[str] | None, typer.Option("--filter", metavar="K=V", help="Only sources with this metadata; repeatable.")
    ] = None,
    max_per_source: Annotated[int | None, typer.Option(metavar="N", help="Results of one source at most.")] = None,
) -> None:
    """Ask a corpus a question.

    A document that the question names comes first.
    """
    from pincite.pairs import equality_filter, pairs

    wanted_scope, wanted_filter = pairs("--scope", scope or []), equality_filter(filters or [])
    with _service(context) as service:
        response = service.search(
            corpus,
            query,
            principal=principal or _owner(),
            top_k=top_k,
            names=not no_names,
            rerank=not no_rerank,
            matter=matter,
            scope=wanted_scope or None,
            filters=wanted_filter,
            max_per_source=max_per_source,
            explain=explain,
        )
    if as_json:
        _print_json(response)
        return
    from pincite.render import console_for, search_view

    console = console_for(sys.stdout)
    console.print(search_view(console, response))
    if explain:
        from pincite.explain_view import explain_view

        console.print(explain_view(response))


@app.command()
def show(
    context: typer.Context,
    *,
    corpus: Corpus,
    span_id: Annotated[str, typer.Argument(metavar="SPAN_ID", help="As `pincite search` prints it.")],
    as_json: AsJson = False,
    principal: Principal = None,
    scope: Annotated[list[str] | None, typer.Option(metavar="K=V", help="A scope of the corpus; repeatable.")] = None,
) -> None:
    """Print a passage in its context, with its page."""
    from pincite.pairs import pairs

    wanted_scope = pairs("--scope", scope or [])
    with _service(context) as service:
        passage = service.show(corpus, span_id, principal=principal or _owner(), scope=wanted_scope)
    if as_json:
        _print_json(passage)
        return
    from pincite.render import console_for, show_view

    console = console_for(sys.stdout)
    console.print(show_view(console, passage))


@app.command()
def status(context: typer.Context, as_json: AsJson = False) -> None:
    """Say what is there: database, corpora, reranker."""
    with _service(context) as service:
        facts = service.status()
    if as_json:
        _print_json(facts)
        return
    from pincite.render import console_for, status_view

    console_for(sys.stdout).print(status_view(facts))


@app.command()
def demo(context: typer.Context) -> None:
    """Ingest sample instruments and ask for three by name.

    The instruments were written for this; each question is asked without and with the named-instrument policy.
    """
    from pincite.demo.command import run_demo

    raise typer.Exit(run_demo(lambda: _service(context), _owner(), out=sys.stdout, err=sys.stderr))


app.command()(audit)
app.command()(bench)
app.add_typer(corpus_group, name="corpus")
app.command()(draw)
app.command()(reembed)
app.command()(review)
app.command()(mcp)
app.add_typer(meta, name="meta")
app.command()(serve)
app.add_typer(token, name="token")
app.command("tag-describe")(tag_describe)
app.command()(tool)
app.command()(why)


def _service(context: typer.Context) -> "Service":
    from pincite.service import Service

    return Service(config=context.obj)


def _owner() -> str | None:
    """Who asks when nobody is named: the configuration says so, and only for the command line."""
    from pincite.pipelines.corpora import load_corpora

    return load_corpora().command_line_principal


def _copy_here() -> None:
    from pincite.scaffold import copy_configuration

    folder = Path.cwd()
    written, kept = copy_configuration(folder)
    for name in written:
        print(f"wrote {name}")
    for name in kept:
        print(f"kept  {name} (it was already there)")
    print("Edit them, delete those you leave as they are, and point Pincite at the folder:")
    print(f"  pincite --config {_quoted(folder)} init")


def _quoted(path: Path) -> str:
    return shlex.quote(os.fspath(path))


def _print_json(document: object) -> None:
    from pincite.json_output import write_json

    write_json(document, sys.stdout)


def run(arguments: Sequence[str]) -> int:
    """
    One command, from its arguments to its exit status.

    :param arguments: without the program's name.
    :returns: 0 done, 1 partly done, 2 bad input or configuration, 3 database not reachable (contract, "Command line").
    """
    command = typer.main.get_command(app)

    def invoke() -> int:
        # Not command.main(), which would turn a closed pipe into status 1 and print usage errors in its own way.
        try:
            with command.make_context("pincite", list(arguments)) as context:
                command.invoke(context)
        except typer.Exit as leave:
            return leave.exit_code
        return DONE

    return outcome(invoke)


def main() -> None:
    """The console script."""
    quiet()
    utf8_streams()
    with leaving_on(*TOLD_TO_END):
        sys.exit(run(sys.argv[1:]))
