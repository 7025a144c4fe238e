# SPDX-License-Identifier: Apache-2.0
"""Whether a document is there at all for the principal, and if not, what may be said about it (C3, S1)."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from haystack_integrations.document_stores.pincite import why_statements
from haystack_integrations.document_stores.pincite.execution import ALL_GROUPS
from haystack_integrations.document_stores.pincite.scopes import SCOPE_SETTING, scope_setting
from pincite.why_answer import Change, Remedy, Step
from pincite.why_run import Run, Target


class Absence(NamedTuple):
    """Why a document cannot be found by any path, and what would put it there."""

    title: str | None
    reason: str
    remedies: list[Remedy]


def presence(run: Run, source_id: str, span_id: str | None) -> tuple[Target, dict[str, Any]] | Absence:
    """
    The target with the facts about its source, or why it is not there.

    Who does not see all groups gets one answer for what is absent, for what is not shared with him and for what is not
    active: that it exists is not for him to know.
    """
    query = str(run.outputs["request"]["query"])
    rows = run.store.fetch(why_statements.source(source_id, query, filters=run.filters), groups=run.groups)
    ids = list(rows[0]["ids"]) if rows else []
    if ids and (span_id is None or span_id in ids):
        row = rows[0]
        wanted = (span_id,) if span_id is not None else tuple(ids)
        return Target(source_id, row["title"], wanted, span_id is not None), row
    if ALL_GROUPS not in (run.groups or []):
        return _absent(run, source_id, span_id, rows)
    facts = why_statements.hidden(run.store.database, run.store.corpus, source_id, span_id)
    if facts is None or (span_id is not None and not facts["spans"]):
        return _absent(run, source_id, span_id, rows)
    if facts["searchable"] and facts["searchable_spans"]:  # in another scope, of which this search says nothing
        return Absence(None, f"it lies outside {_asked_within(run)}", [_remedy("--scope of its own")])
    return _hidden(run.store.corpus, facts, span_id)


def _asked_within(run: Run) -> str:
    scope = json.loads(scope_setting(run.groups).get(SCOPE_SETTING, "{}"))
    return " and ".join(f"{key} {value!r}" for key, value in scope.items()) or "what was asked"


def _absent(run: Run, source_id: str, span_id: str | None, rows: list[dict[str, Any]]) -> Absence:
    corpus = run.store.corpus
    if rows and span_id is not None:
        return Absence(rows[0]["title"], f"there is no span {span_id!r} in source {source_id!r}", [])
    alike = [row["source_id"] for row in run.store.fetch(why_statements.alike(source_id), groups=run.groups)]
    hint = f"; ids that resemble it: {', '.join(repr(name) for name in alike)}" if alike else ""
    return Absence(
        None,
        f"there is no source {source_id!r} in corpus '{corpus}'{hint}",
        [_remedy(f"pincite ingest {corpus} PATH")],
    )


def _hidden(corpus: str, facts: Mapping[str, Any], span_id: str | None) -> Absence:
    """What keeps a source or a span from being searchable, the first cause first."""
    source = facts["source_id"]
    setting = f"pincite meta set {corpus} {source!r}"
    if facts["status"] != "active":
        return Absence(facts["title"], f"its status is {facts['status']}", [_remedy(f"{setting} status=active")])
    if facts["source_kind"] and facts["own_kind"] not in (None, facts["source_kind"]):
        reason = f"its source_kind is {facts['own_kind']}, and the corpus is for {facts['source_kind']}"
        return Absence(facts["title"], reason, [_remedy("pincite ingest it into the corpus of its kind")])
    if facts["missing"]:
        missing = ", ".join(facts["missing"])
        wanted = " ".join(f"{key}=..." for key in facts["missing"])
        reason = f"it lacks metadata that the corpus requires: {missing}"
        return Absence(facts["title"], reason, [_remedy(f"{setting} {wanted}")])
    what = "the span" if span_id is not None else "none of its spans is searchable: each"
    causes = (
        ("no_embedding", "has no embedding", f"pincite reembed {corpus}"),
        ("no_locator", "has no locator that resolves", f"pincite ingest {corpus} PATH"),
        (
            "not_approved",
            "is a rule that no review has approved",
            f"pincite review {corpus} {span_id or 'SPAN'} approved",
        ),
        ("no_quote", "is a rule without a quote", f"pincite ingest {corpus} PATH"),
        ("wrong_kind", "is of a kind that the corpus does not hold", f"corpora.yaml: {corpus}, then pincite init"),
        (
            "short",
            f"is shorter than the {facts['minimum_characters']} characters that the corpus asks for",
            f"corpora.yaml: {corpus}.minimum_characters below {facts['minimum_characters']}, then pincite init",
        ),
    )
    if not facts["spans"]:
        return Absence(facts["title"], "it has no passages at all", [_remedy(f"pincite ingest {corpus} PATH")])
    found = [(reason, mend) for key, reason, mend in causes if facts[key]]
    reasons = " or ".join(reason for reason, _ in found) or "is not searchable"
    return Absence(facts["title"], f"{what} {reasons}", [_remedy(mend) for _, mend in found])


def _remedy(text: str) -> Remedy:
    change: Change = {"parameter": "corpus", "value": None, "text": text}
    return {"changes": [change], "rank": None}


def filter_step(run: Run, target: Target, row: Mapping[str, Any]) -> Step:
    """Whether the filters let the document pass, and if not, which of them."""
    filters = run.filters
    if filters is None:
        return {"stage": "filters", "outcome": "none", "rank": None, "of": None, "text": "no filter"}
    if row["passing"]:
        return {"stage": "filters", "outcome": "in", "rank": None, "of": None, "text": "the filters let it pass"}
    conditions = filters["conditions"] if filters.get("operator") == "AND" else [filters]
    failing = [written(condition) for condition in conditions if not _passes(run, target, condition)]
    text = f"filtered out by {' and '.join(failing or [written(filters)])}"
    return {"stage": "filters", "outcome": "out", "rank": None, "of": None, "text": text}


def _passes(run: Run, target: Target, condition: dict[str, Any]) -> bool:
    rows = run.store.fetch(why_statements.source(target.source_id, "", filters=condition), groups=run.groups)
    return bool(rows and rows[0]["passing"])


def written(condition: Mapping[str, Any]) -> str:
    """A filter condition in a few words."""
    if "conditions" in condition:
        parts = [written(part) for part in condition["conditions"]]
        joint = f" {condition['operator']} "
        return f"({joint.join(parts)})"
    return f"{str(condition['field']).removeprefix('meta.')} {condition['operator']} {condition['value']!r}"
