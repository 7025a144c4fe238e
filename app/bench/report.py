# SPDX-License-Identifier: Apache-2.0
"""A measurement for machines (JSON) and for people (tables)."""

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from pincite.bench.comparison import Comparison
from pincite.bench.ir_metrics import UNITS
from pincite.bench.measuring import BackendReport, Measured, SetReport, stages_of
from pincite.plain_text import plain
from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

FORMAT = "pincite-bench/1"
_SIGNIFICANT = 0.05
_QUERY_CHARACTERS = 90


def report_json(
    report: SetReport, *, source: Path, field: str, limit: int | None, seed: int, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """
    The whole measurement as JSON types: settings, figures for each backend, and every question's own.

    :param source: the query file; its name and hash are kept.
    """
    return {
        "format": FORMAT,
        "version": metadata.version("pincite-haystack"),
        "corpus": report.asking.corpus,
        "queries": {
            "file": source.name,
            "sha256": hashlib.sha256(source.read_bytes()).hexdigest(),
            "field": field,
            "limit": limit,
            "seed": seed,
        },
        "k": report.asking.k,
        "names": report.asking.names,
        "rerank": report.asking.rerank,
        "settings": dict(settings),
        "isolation_violations": sorted(report.foreign),
        "labels_without_a_span": report.unstored_labels,
        "backends": {name: _backend(one) for name, one in report.backends.items()},
    }


def _backend(report: BackendReport) -> dict[str, Any]:
    return {
        "figures": report.figures(),
        "applies_to": report.applies_to(),
        "measures": {unit: report.scores[unit].overall for unit in UNITS if unit in report.scores},
        "stages": stages_of(report),
        "queries": [_query(report, one) for one in report.measured],
    }


def _query(report: BackendReport, one: Measured) -> dict[str, Any]:
    named = None if one.named is None else [source["source_id"] for source in one.named["sources"]]
    figures = dict(one.figures)
    for unit in UNITS:
        if unit in report.scores:
            values = report.scores[unit].by_query.get(one.query.id, {})
            figures |= {f"{unit} {measure}": value for measure, value in values.items()}
    return {
        "id": one.query.id,
        "query": one.query.text,
        "family": one.query.family,
        "figures": figures,
        "milliseconds": round(one.milliseconds, 3),
        "named": named,
        "lost_source": one.lost_source,
        "lost_span": one.lost_span,
        "results": [hit.span_id for hit in one.hits],
    }


def report_view(report: Mapping[str, Any]) -> Iterable[RenderableType]:
    """
    The figures as tables: metrics by backend, then stages and losses.

    :param report: as :func:`report_json` gives it.
    """
    backends = report["backends"]
    counts = {name: len(one["queries"]) for name, one in backends.items()}
    yield Text(f"{report['corpus']} · {report['queries']['file']} · {max(counts.values()):,} questions", style="bold")
    yield _metrics_table(backends)
    for name, one in backends.items():
        if one["stages"]:
            yield Text(f"Where answers are found, {name}", style="bold")
            yield _stages_table(one["stages"])
            yield from _losses(one["stages"])
    if report["labels_without_a_span"]:
        yield Text(f"{report['labels_without_a_span']:,} labels lie in no stored span: they count as not found.")
    if report["isolation_violations"]:
        found = plain(report["isolation_violations"][0])
        yield Text(f"{len(report['isolation_violations'])} foreign spans, such as {found}", style="bold red")


def _metrics_table(backends: Mapping[str, Any]) -> Table:
    table = _table("", *backends)
    for name in _ordered(one["figures"] for one in backends.values()):
        table.add_row(name, *(_figure(one["figures"].get(name), name) for one in backends.values()))
    for unit in UNITS:
        values = [one["measures"].get(unit, {}) for one in backends.values()]
        for number, measure in enumerate(_ordered(values)):
            if number == 0:
                table.add_section()
            table.add_row(f"{unit} {measure}", *(_figure(value.get(measure), measure) for value in values))
    return table


def _stages_table(stages: Mapping[str, Any]) -> Table:
    table = _table("stage", "right source", "right span", "characters", "spans")
    for stage, row in stages["recall"].items():
        shares = (f"{row[key]:.3f}" for key in ("source_recall", "span_recall", "characters"))
        table.add_row(stage, *shares, f"{row['spans']:.1f}")
    return table


def _losses(stages: Mapping[str, Any]) -> Iterable[Text]:
    for key, what in (("lost_sources", "right source"), ("lost_spans", "right span")):
        total = sum(stages[key].values())
        where = ", ".join(f"{count} {place}" for place, count in stages[key].items())
        yield Text(f"{what} lost for {total} of {stages['queries']}{': ' + where if where else ''}")


def comparison_view(comparison: Mapping[str, Any]) -> Iterable[RenderableType]:
    """
    The differences to a baseline as tables; bold is a step that chance explains in less than 1 of 20 cases.

    :param comparison: as :func:`comparison_json` gives it.
    """
    yield Text("Against the baseline", style="bold")
    table = _table("metric", "backend", "before", "after", "change", "p", "p (ranks)", "rose", "fell")
    for change in comparison["changes"]:
        table.add_row(*_change_row(change), style="bold" if change["p"] < _SIGNIFICANT else "")
    yield table
    for title, rows in (("Gained most", comparison["gained"]), ("Lost most", comparison["lost"])):
        if rows:
            yield Text(title, style="bold")
            yield from (_query_line(row) for row in rows)
    if comparison["settings"]:
        yield Text("Settings that differ", style="bold")
        yield from (Text(f"  {path}: {old!r} -> {new!r}") for path, (old, new) in comparison["settings"].items())


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """A comparison as JSON types."""
    changes = [
        {**dataclasses.asdict(change), "p": change.p.randomisation, "p_wilcoxon": change.p.wilcoxon}
        for change in comparison.changes
    ]
    return {
        "changes": changes,
        "gained": [dataclasses.asdict(row) for row in comparison.gained],
        "lost": [dataclasses.asdict(row) for row in comparison.lost],
        "settings": {path: list(pair) for path, pair in comparison.settings.items()},
    }


def _change_row(change: Mapping[str, Any]) -> list[str]:
    return [
        change["metric"],
        change["backend"],
        f"{change['before']:.3f}",
        f"{change['after']:.3f}",
        f"{change['after'] - change['before']:+.3f}",
        f"{change['p']:.3f}",
        f"{change['p_wilcoxon']:.3f}",
        str(change["rose"]),
        str(change["fell"]),
    ]


def _query_line(row: Mapping[str, Any]) -> Text:
    words = plain(row["query"])
    shown = words if len(words) <= _QUERY_CHARACTERS else words[: _QUERY_CHARACTERS - 1] + "…"
    return Text(f"  {row['metric']} {row['before']:.2f} -> {row['after']:.2f}  {plain(row['id'])}: {shown}")


def _figure(value: float | None, name: str) -> str:
    if value is None:
        return "-"
    return f"{value:,.1f}" if name.endswith("_ms") else f"{value:.3f}"


def _ordered(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _table(first: str, *columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1))
    table.add_column(first, overflow="fold")
    for column in columns:
        table.add_column(column, justify="right", overflow="fold")
    return table


def gates_view(rows: Sequence[Mapping[str, Any]]) -> Table:
    """
    Floors and what was measured, a row for each.

    :param rows: mappings with ``set``, ``family``, ``metric``, ``floor``, ``value`` and ``passed``.
    """
    table = _table("set", "family", "metric", "floor", "measured", "")
    for row in rows:
        verdict = Text("ok", style="green") if row["passed"] else Text("MISSED", style="bold red")
        table.add_row(
            row["set"], row["family"], row["metric"], f"{row['floor']:g}", _figure(row["value"], row["metric"]), verdict
        )
    return table
