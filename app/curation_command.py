# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLC0415 - see below
"""
``pincite reembed``, ``meta set`` and ``review``: their options.

What does the work is imported when a command runs, so that ``--help`` answers at once.
"""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from pincite.outcome import DONE, PARTLY

Corpus = Annotated[str, typer.Argument(metavar="CORPUS", help="Which corpus; `pincite status` lists them.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]

meta = typer.Typer(help="Metadata of stored sources.", rich_markup_mode=None, no_args_is_help=True)


def reembed(
    context: typer.Context,
    *,
    corpus: Corpus,
    everything: Annotated[bool, typer.Option("--all", help="Embed every span anew, not only stale ones.")] = False,
    finished: Annotated[
        bool, typer.Option("--finish", help="Drop the vectors of the embedder that the corpus is not for any more.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Give stale spans new vectors, also those of another embedder.

    In batches; when it is interrupted, the next run does the rest. Searches go on meanwhile. If the configured embedder
    is another one than the corpus is for, its vectors are made beside the old ones and then put in force; --finish
    drops the old ones, once every program has the new configuration.
    """
    from dataclasses import asdict

    from pincite.json_output import write_json
    from pincite.progress import ingest_progress
    from pincite.service import Service

    if finished:
        if everything:
            from haystack_integrations.document_stores.pincite.errors import BadInputError

            raise BadInputError("reembed takes --all or --finish, not both")
        with Service(config=context.obj) as service:
            end = service.finish_reembedding(corpus)
        if as_json:
            write_json(asdict(end), sys.stdout)
        else:
            print(f"{corpus}: dropped the vectors of {end.dropped}" if end.dropped else f"{corpus}: nothing to drop")
        return
    with Service(config=context.obj) as service, ingest_progress(sys.stderr) as progress:
        report = service.reembed(corpus, everything=everything, progress=progress)
    if as_json:
        write_json(asdict(report), sys.stdout)
    else:
        left = f"; {report.left:,} changed meanwhile and are left for the next run" if report.left else ""
        print(f"{corpus}: {report.embedded:,} spans embedded in {report.seconds:.1f} s{left}")
        if report.replaces:
            print(f"{corpus} is for {report.fingerprint}; the vectors of {report.replaces} are kept for searches with")
            print(f"the configuration before; when there are none any more: pincite reembed {corpus} --finish")
    raise typer.Exit(PARTLY if report.left else DONE)


@meta.command("set")
def meta_set(
    context: typer.Context,
    *,
    corpus: Corpus,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Id of the source.")],
    values: Annotated[list[str], typer.Argument(metavar="K=V", help="What to set; `key=` removes.")],
    as_json: AsJson = False,
) -> None:
    """Set metadata of a source.

    It wins over the source's file, also when that is ingested again.
    """
    changes = _changes(values)
    from pincite.json_output import write_json
    from pincite.plain_text import plain
    from pincite.service import Service

    with Service(config=context.obj) as service:
        state = service.set_meta(corpus, source, changes)
    if as_json:
        write_json(state, sys.stdout)
        return
    print(
        f"{plain(state['source_id'])}: {plain(state['title'])}; status {state['status']}; "
        f"{state['searchable_spans']:,} of {state['spans']:,} spans are searchable"
    )
    if state["stale_spans"]:
        print(f"{state['stale_spans']:,} spans are stale; run: pincite reembed {corpus}")


def review(
    context: typer.Context,
    *,
    corpus: Corpus,
    span: Annotated[str | None, typer.Argument(metavar="SPAN", help="Id of a rule.")] = None,
    status: Annotated[str | None, typer.Argument(metavar="STATUS", help="pending, approved or rejected.")] = None,
    only: Annotated[
        str | None, typer.Option("--status", metavar="S", help="List only the rules of this review status.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the rules of a corpus with their reviews, or set one.

    Only approved rules are searchable.
    """
    if (span is None) != (status is None):
        from haystack_integrations.document_stores.pincite.errors import BadInputError

        raise BadInputError("review takes a span and a status, or neither: pincite review CORPUS [SPAN STATUS]")
    from pincite.json_output import write_json
    from pincite.service import Service

    with Service(config=context.obj) as service:
        rules = (
            service.rules(corpus, only) if span is None or status is None else [service.review(corpus, span, status)]
        )
    if as_json:
        write_json(rules, sys.stdout)
        return
    from pincite.plain_text import plain

    for rule in rules:
        mark = "" if rule["searchable"] else " (not searchable)" if rule["quote_found"] else " (quote not found)"
        print(f"{rule['review_status']}{mark}  {plain(rule['span_id'])}")
        print(f"    {plain(rule['title'])}: {plain(rule['statement'] or '')}")
    if not rules:
        print("no rules")


def _changes(values: Sequence[str]) -> dict[str, str | None]:
    from haystack_integrations.document_stores.pincite.errors import BadInputError

    found: dict[str, str | None] = {}
    for value in values:
        key, sign, text = (part.strip() for part in value.partition("="))
        if not (key and sign):
            raise BadInputError(f"meta set: {value!r:.120} is no key=value, such as court=Haifa (court= removes)")
        if key in found:
            raise BadInputError(f"meta set: {key} is given twice; give it once")
        found[key] = text or None
    return found
