# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLC0415 - see below
"""
``pincite bench``: its options, and the order in which things are done.

What measures is imported when the command runs, so that ``--help`` answers at once.
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from haystack_integrations.document_stores.pincite.errors import BadInputError
from pincite.outcome import DONE, PARTLY

if TYPE_CHECKING:
    from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
    from pincite.bench.measuring import SetReport
    from pincite.bench.queries import Query
    from pincite.service import Service

_BACKENDS = ("lexical", "dense", "title", "hybrid", "full")


class _Options(NamedTuple):
    """What the command was told, in one value."""

    corpus: str
    queries: Path
    field: str
    as_name: str | None
    suffix: str | None
    present_only: bool
    backends: Sequence[str]
    measures: Sequence[str]
    k: int
    limit: int | None
    seed: int
    principal: str | None
    names: bool
    rerank: bool
    qrels: Path | None
    run: Path | None


def bench(
    context: typer.Context,
    *,
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="Which corpus; `pincite status` lists them.")],
    queries: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Labelled questions: JSON lines, YAML, or a filled-in sheet.")
    ] = None,
    from_log: Annotated[
        Path | None, typer.Option(metavar="LOG", help="Make a sheet to label of the questions in a search log.")
    ] = None,
    field: Annotated[str, typer.Option(metavar="NAME", help="Field that holds the question.")] = "query",
    as_name: Annotated[str | None, typer.Option("--as", metavar="NAME", help="As in `pincite ingest --as`.")] = None,
    suffix: Annotated[
        str | None,
        typer.Option(metavar=".EXT", help="Labels are in files of this suffix: only documents and pages count."),
    ] = None,
    present_only: Annotated[
        bool, typer.Option("--present-only", help="Ask only about documents that the corpus holds.")
    ] = False,
    backend: Annotated[
        list[str] | None, typer.Option(metavar="B", help=f"{', '.join(_BACKENDS)}; repeatable. Default: full.")
    ] = None,
    measure: Annotated[
        list[str] | None, typer.Option(metavar="M", help="In the notation of ir_measures (nDCG@10); repeatable.")
    ] = None,
    k: Annotated[int, typer.Option("--k", metavar="N", min=1, max=100, help="Results judged.")] = 10,
    limit: Annotated[int | None, typer.Option(metavar="N", min=1, help="So many questions, drawn by --seed.")] = None,
    seed: Annotated[int, typer.Option(metavar="S", help="Of the draw.")] = 0,
    out: Annotated[Path | None, typer.Option(metavar="F", help="Write the whole measurement, or the sheet.")] = None,
    baseline: Annotated[Path | None, typer.Option(metavar="R.json", help="Compare with an earlier --out.")] = None,
    qrels: Annotated[Path | None, typer.Option(metavar="F", help="TREC qrels to judge by, not the file's.")] = None,
    run: Annotated[Path | None, typer.Option(metavar="F", help="A TREC run to judge; nothing is searched.")] = None,
    qrels_out: Annotated[Path | None, typer.Option(metavar="F", help="Write the judgements as TREC qrels.")] = None,
    run_out: Annotated[Path | None, typer.Option(metavar="F", help="Write the results as a TREC run.")] = None,
    unit: Annotated[str, typer.Option(metavar="U", help="What qrels and run list: span or document.")] = "span",
    gates: Annotated[bool, typer.Option("--gates", help="Run the file's test families against their floors.")] = False,
    no_names: Annotated[bool, typer.Option("--no-names", help="Ignore that questions name an instrument.")] = False,
    no_rerank: Annotated[bool, typer.Option("--no-rerank", help="Skip the reranker.")] = False,
    principal: Annotated[str | None, typer.Option(metavar="P", help="Who is asking.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole measurement as JSON.")] = False,
) -> None:
    """Measure retrieval with labelled questions.

    Exit status 1 means that a gate was missed or a foreign span was seen.
    """
    from pincite.pipelines.corpora import load_corpora
    from pincite.service import Service

    if from_log is not None or queries is None:
        _sheet(context, corpus, queries, from_log, out, principal or load_corpora().command_line_principal)
        return
    options = _Options(
        corpus=corpus,
        queries=queries,
        field=field,
        as_name=as_name,
        suffix=suffix,
        present_only=present_only,
        backends=_checked("--backend", list(dict.fromkeys(backend or ["full"])), _BACKENDS),
        measures=measure or [],
        k=k,
        limit=limit,
        seed=seed,
        principal=principal or load_corpora().command_line_principal,
        names=not no_names,
        rerank=not no_rerank,
        qrels=qrels,
        run=run,
    )
    _checked("--unit", [unit], ("span", "document"))
    if suffix is not None and not re.fullmatch(r"\.\w+", suffix):
        raise BadInputError(f"--suffix is {suffix!r:.40}: expected a suffix such as .pdf")
    if (qrels_out or run_out) and len(options.backends) > 1:
        raise BadInputError(f"--qrels-out and --run-out take one backend; --backend names {len(options.backends)}")
    with Service(config=context.obj) as service:
        if gates:
            raise typer.Exit(_gates(service, options))
        report = _measured(service, options)
        document = _document(report, options)
        if baseline:
            document["comparison"] = _comparison(document, baseline)
    _export(report, qrels_out, run_out, unit)
    _publish(document, out, as_json=as_json)
    raise typer.Exit(PARTLY if report.foreign else DONE)


def _sheet(
    context: typer.Context, corpus: str, queries: Path | None, log: Path | None, out: Path | None, asker: str | None
) -> None:
    """``--from-log``: a labelling sheet (E6)."""
    if log is None or queries is not None:
        raise BadInputError("give either --queries FILE to measure, or --from-log LOG --out SHEET.csv to make a sheet")
    if out is None or out.suffix.lower() != ".csv":
        raise BadInputError(f"--out is {str(out or '')!r:.80}; --from-log needs --out SHEET.csv")
    from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
    from pincite.bench.labelling import asked_questions, shower, write_sheet
    from pincite.pipelines.corpora import load_corpora
    from pincite.service import Service

    load_corpora().corpus(corpus)
    asked = asked_questions(log, corpus)
    groups = None if asker is None else list(load_corpora().principal(asker).groups)
    with Service(config=context.obj):
        questions, rows = write_sheet(asked, shower(CorpusDocumentStore(corpus), groups), out)
    print(f"{out}: {questions:,} questions, {rows:,} rows; write 1 or 0 into 'relevant', then give it to --queries")


def _checked(option: str, values: Sequence[str], allowed: Sequence[str]) -> Sequence[str]:
    for value in values:
        if value not in allowed:
            raise BadInputError(f"{option} is {value!r:.40}: expected one of {', '.join(allowed)}")
    return values


def _questions(options: _Options, store: "CorpusDocumentStore") -> "list[Query]":
    from pincite.bench.corpus_facts import about_present
    from pincite.bench.queries import in_files_of, read_queries, sampled

    found = read_queries(options.queries, field_name=options.field, as_name=options.as_name)
    if options.suffix:
        found = in_files_of(found, options.suffix)
    if options.present_only:
        found = about_present(store, found)
    return sampled(found, options.limit, options.seed)


def _measured(service: "Service", options: _Options) -> "SetReport":
    from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
    from pincite.bench.backends import Asking
    from pincite.bench.external import measure_run, with_judgements
    from pincite.bench.ir_metrics import DEFAULT_MEASURES, parsed_measures
    from pincite.bench.measuring import measure
    from pincite.bench.progress import measuring_progress
    from pincite.bench.trec import read_qrels, read_run
    from pincite.pipelines.corpora import load_corpora

    load_corpora().corpus(options.corpus)
    default = [name for name in DEFAULT_MEASURES if int(name.partition("@")[2] or 0) <= options.k]
    measures = parsed_measures(options.measures or default, options.k)
    store = CorpusDocumentStore(options.corpus)
    queries = _questions(options, store)
    if options.qrels:
        queries = with_judgements(store, queries, read_qrels(options.qrels))
    asking = Asking(options.corpus, options.k, options.principal, options.names, options.rerank)
    if options.run:
        return measure_run(store, asking, queries, read_run(options.run), measures)
    with measuring_progress(sys.stderr, options.corpus, len(queries)) as tick:
        return measure(service, asking, queries, backends=options.backends, measures=measures, tick=tick)


def _document(report: "SetReport", options: _Options) -> dict[str, Any]:
    from pincite.bench.report import report_json
    from pincite.bench.settings import retrieval_settings

    return report_json(
        report,
        source=options.queries,
        field=options.field,
        limit=options.limit,
        seed=options.seed,
        settings=retrieval_settings(options.corpus),
    )


def _comparison(document: dict[str, Any], baseline: Path) -> dict[str, Any]:
    from pincite.bench.comparison import compared, read_report
    from pincite.bench.report import comparison_json

    return comparison_json(compared(read_report(baseline), document))


def _export(report: "SetReport", qrels_out: Path | None, run_out: Path | None, unit: str) -> None:
    from pincite.bench.trec import write_qrels, write_run

    backend = next(iter(report.backends.values()))
    if qrels_out:
        write_qrels(qrels_out, backend.qrels["document" if unit == "document" else "span"])
    if run_out:
        write_run(run_out, backend.runs["document" if unit == "document" else "span"], f"pincite-{backend.backend}")


def _publish(document: dict[str, Any], out: Path | None, *, as_json: bool) -> None:
    from pincite.bench.report import comparison_view, report_view
    from pincite.json_output import write_json
    from pincite.render import console_for

    if out:
        try:
            with out.open("w", encoding="utf-8") as stream:
                write_json(document, stream)
        except OSError as error:
            raise BadInputError(f"--out {out}: cannot be written: {error.strerror or error}") from error
    if as_json:
        write_json(document, sys.stdout)
        return
    console = console_for(sys.stdout)
    for part in report_view(document):
        console.print(part)
    if "comparison" in document:
        for part in comparison_view(document["comparison"]):
            console.print(part)


def _gates(service: "Service", options: _Options) -> int:
    from pincite.bench.gates import load_gates, run_set
    from pincite.bench.report import gates_view
    from pincite.render import console_for

    name, gate = load_gates().set_for(options.corpus, options.queries)
    rows = run_set(service, name, gate, options.queries, principal=options.principal, as_name=options.as_name)
    console_for(sys.stdout).print(gates_view(rows))
    return DONE if all(row["passed"] for row in rows) else PARTLY
