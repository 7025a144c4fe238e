# SPDX-License-Identifier: Apache-2.0
"""Two measurements of the same questions, side by side: what changed, whether by chance, and for which questions."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from haystack_integrations.document_stores.pincite.errors import BadInputError
from pincite.bench.significance import Significance, significance

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Change:
    """One metric of one backend: means before and after, p values, and how many questions rose and fell."""

    backend: str
    metric: str
    before: float
    after: float
    p: Significance
    rose: int
    fell: int


@dataclass(frozen=True, slots=True)
class QueryChange:
    """A question whose figure changed."""

    backend: str
    metric: str
    id: str
    query: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """All changes, the questions that gained and lost most, and the settings that differ."""

    changes: list[Change]
    gained: list[QueryChange]
    lost: list[QueryChange]
    settings: dict[str, tuple[Any, Any]]


def read_report(path: Path) -> dict[str, Any]:
    """
    A report that ``bench --out`` wrote.

    :raises BadInputError: the file is none.
    """
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise BadInputError(f"{path}: no report of `pincite bench --out`: {error}") from error
    if not isinstance(report, dict) or report.get("format") != "pincite-bench/1":
        raise BadInputError(f"{path}: no report of `pincite bench --out` (its format is not pincite-bench/1)")
    return report


def compared(before: Mapping[str, Any], after: Mapping[str, Any]) -> Comparison:
    """
    Compare two reports, question by question.

    :param before: the baseline, as :func:`read_report` gives it.
    :param after: the report of now, in the same form.
    :raises BadInputError: they do not measure the same: another corpus, k or set of questions, or no common backend.
    """
    for key in ("corpus", "k"):
        if before[key] != after[key]:
            raise BadInputError(f"the baseline has {key} {before[key]!r:.60} and this run {after[key]!r:.60}")
    common = [backend for backend in after["backends"] if backend in before["backends"]]
    if not common:
        theirs, ours = ", ".join(before["backends"]), ", ".join(after["backends"])
        raise BadInputError(f"the baseline measured the backends {theirs}, this run {ours}: they have none in common")
    changes: list[Change] = []
    moved: list[QueryChange] = []
    for backend in common:
        pairs = _paired(before["backends"][backend]["queries"], after["backends"][backend]["queries"])
        for metric in dict.fromkeys(name for _, row in pairs for name in row["figures"]):
            rows = [(b, a) for b, a in pairs if metric in b["figures"] and metric in a["figures"]]
            if rows:
                changes.append(
                    _change(backend, metric, [(b["figures"][metric], a["figures"][metric]) for b, a in rows])
                )
        moved += _moved(backend, after["k"], pairs)
    gained = sorted((one for one in moved if one.after > one.before), key=lambda one: (one.before - one.after, one.id))
    lost = sorted((one for one in moved if one.after < one.before), key=lambda one: (one.after - one.before, one.id))
    return Comparison(changes, gained[:_SHOWN], lost[:_SHOWN], differences(before["settings"], after["settings"]))


def differences(before: Any, after: Any, path: str = "") -> dict[str, tuple[Any, Any]]:
    """The leaves at which two nested mappings differ, by dotted path; ``None`` where one lacks the leaf."""
    if isinstance(before, dict) and isinstance(after, dict):
        found: dict[str, tuple[Any, Any]] = {}
        for key in [*before, *(key for key in after if key not in before)]:
            found |= differences(before.get(key), after.get(key), f"{path}.{key}" if path else str(key))
        return found
    return {} if before == after else {path: (before, after)}


def _paired(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    held = {row["id"]: row for row in before}
    for row in after:
        if row["id"] not in held:
            raise BadInputError(f"query '{row['id']}' is not in the baseline; compare the same file, --limit, --seed")
        if held[row["id"]]["query"] != row["query"]:
            raise BadInputError(f"query '{row['id']}' has another text in the baseline; compare the same --field")
    if len(held) != len(after):
        raise BadInputError(f"the baseline has {len(held)} questions and this run {len(after)}; compare the same set")
    return [(held[row["id"]], row) for row in after]


def _change(backend: str, metric: str, values: list[tuple[float, float]]) -> Change:
    steps = [after - before for before, after in values]
    return Change(
        backend,
        metric,
        sum(before for before, _ in values) / len(values),
        sum(after for _, after in values) / len(values),
        significance(steps),
        sum(step > 0 for step in steps),
        sum(step < 0 for step in steps),
    )


def _moved(backend: str, k: int, pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> list[QueryChange]:
    """Every question's step in span recall, or, where it has no labelled range, in the right document."""
    moved = []
    for before, after in pairs:
        for metric in (f"span_recall@{k}", "right_document@1"):
            if metric in before["figures"] and metric in after["figures"]:
                values = before["figures"][metric], after["figures"][metric]
                moved.append(QueryChange(backend, metric, after["id"], after["query"], *values))
                break
    return moved
