# SPDX-License-Identifier: Apache-2.0
"""Gates: per test family the floors that a change must not fall below, and the settings they were measured with."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from haystack_integrations.document_stores.pincite.errors import BadInputError, ConfigurationError
from haystack_integrations.document_stores.pincite.resources import read_config
from pincite.bench.backends import Asking, observed
from pincite.bench.comparison import differences
from pincite.bench.families import ALWAYS_ABSENT, NOTHING_NAMED, families_of, family_sample
from pincite.bench.measuring import measure
from pincite.bench.progress import measuring_progress
from pincite.bench.queries import Query
from pincite.bench.settings import retrieval_settings
from pincite.pipelines.strict_yaml import YamlText, parse_yaml
from pincite.service import Service
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked_dataclass

GATES_FILE = "gates.yaml"
BASELINE_FILE = "baseline.json"
_STRICT = ConfigDict(extra="forbid", strict=True)


@checked_dataclass(frozen=True, slots=True, config=_STRICT)
class FamilyGate:
    """
    Floors of one family.

    ``queries``: how many questions it must have at least. ``sample``: how many of them are asked, ``None`` for all.
    ``floors``: figure by name, 0..1; all figures are better when higher.
    """

    queries: int = Field(ge=1)
    floors: dict[str, float] = Field(min_length=1)
    sample: int | None = Field(default=None, ge=1)


@checked_dataclass(frozen=True, slots=True, config=_STRICT)
class GateSet:
    """
    The families of one query file on one corpus.

    ``queries`` is the file with its folder, ``documents`` the folder beside it that is ingested; ``seed`` draws the
    samples.
    """

    corpus: str
    queries: str
    documents: str
    families: dict[str, FamilyGate] = Field(min_length=1)
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Gates:
    """``gates.yaml``: sets by name, and where they were read."""

    origin: str
    sets: dict[str, GateSet] = field(default_factory=dict)

    def set_for(self, corpus: str, queries: Path) -> tuple[str, GateSet]:
        """
        The set that belongs to a corpus and a query file, with its name.

        :raises BadInputError: there is none.
        """
        parts = queries.resolve().parts
        for name, one in self.sets.items():
            wanted = Path(one.queries).parts
            if one.corpus == corpus and parts[-len(wanted) :] == wanted:
                return name, one
        known = "; ".join(f"{name}: {one.corpus} with {one.queries}" for name, one in self.sets.items())
        raise BadInputError(f"{self.origin} has no floors for corpus '{corpus}' with {queries}; it has {known}")


def load_gates() -> Gates:
    """
    Read and check ``gates.yaml``.

    :raises ConfigurationError: one line that names the key, the value found and what would be right.
    """
    text, origin = read_config(GATES_FILE)
    source = parse_yaml(text, origin)
    try:
        sets = TypeAdapter(dict[str, GateSet]).validate_json(json.dumps(source.data.get("sets"), default=str))
    except ValidationError as error:
        raise _located(source, error) from error
    return Gates(origin, sets)


def _located(source: YamlText, error: ValidationError) -> ConfigurationError:
    first = error.errors(include_url=False)[0]
    path = ("sets", *first["loc"])
    shown = ".".join(str(part) for part in path)
    return source.error(path, f"{shown} is {first['input']!r:.80}: {first['msg'][:1].lower()}{first['msg'][1:]}")


def run_set(
    service: Service, name: str, gate: GateSet, path: Path, *, principal: str | None, as_name: str | None = None
) -> list[dict[str, Any]]:
    """
    Run all families of a set and compare them with their floors.

    :param path: the query file.
    :returns: a row for each floor: ``set``, ``family``, ``metric``, ``floor``, ``value``, ``passed``, ``queries``.
    :raises BadInputError: a family that is empty, too small, without floors, or without a figure that has a floor.
    :raises QueryFailedError: a question that failed.
    """
    families = families_of(path, as_name=as_name)
    for family in families.keys() - gate.families.keys():
        raise BadInputError(f"set '{name}': {path.name} has a family '{family}' for which {GATES_FILE} has no floors")
    for family, floors in gate.families.items():  # before the first is asked: a gap should not take minutes to show
        held = len(families.get(family, []))
        if held < floors.queries:
            raise BadInputError(f"set '{name}': family '{family}' has {held} questions and must have {floors.queries}")
    rows = []
    for family, floors in gate.families.items():
        chosen = family_sample(families[family], floors.sample, gate.seed)
        figures = family_figures(service, Asking(gate.corpus, principal=principal), family, chosen)
        rows += [_row(name, family, metric, floor, figures, len(chosen)) for metric, floor in floors.floors.items()]
    return rows


def family_figures(service: Service, asking: Asking, family: str, queries: list[Query]) -> dict[str, float]:
    """
    The figures of one family, all better when higher.

    Those of :func:`pincite.bench.measuring.query_figures`; ``isolation``: 1 when no stage of any search held a
    foreign span; and for families whose questions name nothing that is here ``same_order`` and ``honest_absence``:
    the share of questions whose results are, byte for byte, those without the policy, and whose response says that
    nothing matched.
    """
    with measuring_progress(sys.stderr, family, len(queries)) as tick:
        report = measure(service, asking, queries, tick=tick)
    figures = {**report.backends["full"].figures(), "isolation": 0.0 if report.foreign else 1.0}
    if family in NOTHING_NAMED:
        figures["same_order"] = sum(_same_order(service, asking, query) for query in queries) / len(queries)
    if family in ALWAYS_ABSENT:
        figures["honest_absence"] = 1.0 - figures["false_promotions"]
    return figures


def _same_order(service: Service, asking: Asking, query: Query) -> bool:
    with_names, _ = observed(service, asking, query, names=True)
    without, _ = observed(service, asking, query, names=False)
    return json.dumps(with_names["results"]) == json.dumps(without["results"])


def _row(
    name: str, family: str, metric: str, floor: float, figures: Mapping[str, float], queries: int
) -> dict[str, Any]:
    if metric not in figures:
        known = ", ".join(figures)
        raise BadInputError(f"set '{name}': family '{family}' has no figure '{metric}'; it has {known}")
    value = figures[metric]
    row = {"set": name, "family": family, "metric": metric, "floor": floor, "value": value, "queries": queries}
    # A figure that equals its floor may differ from it in the last digit of a sum.
    return {**row, "passed": value >= floor - 1e-9}


def settings_rows(gates: Gates) -> list[dict[str, Any]]:
    """
    The settings of each gated corpus against those of the committed baseline: a row for each corpus.

    ``passed`` is false, and ``differences`` says where, when a setting changed and no new baseline was measured.
    """
    held = read_baseline()["settings"]
    rows = []
    for corpus in dict.fromkeys(one.corpus for one in gates.sets.values()):
        changed = differences(held.get(corpus), retrieval_settings(corpus))
        rows.append({"corpus": corpus, "differences": changed, "passed": not changed})
    return rows


def read_baseline() -> dict[str, Any]:
    """
    The committed baseline: ``settings`` by corpus and ``figures`` by set and family.

    :raises ConfigurationError: it is missing or no JSON mapping.
    """
    text, origin = read_config(BASELINE_FILE)
    try:
        baseline = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigurationError(f"{origin}: no valid JSON ({error}); write it anew with --write-baseline") from error
    if not isinstance(baseline, dict) or not {"settings", "figures"} <= baseline.keys():
        raise ConfigurationError(f"{origin}: 'settings' and 'figures' must be there; write it with --write-baseline")
    return baseline


def lowered(before: Mapping[str, GateSet], after: Mapping[str, GateSet]) -> list[str]:
    """Each floor, sample size and family that is lower or gone, in one line; floors only rise (N13)."""
    found = []
    for name, old in before.items():
        for family, gate in old.families.items():
            new = after[name].families.get(family) if name in after else None
            if new is None:
                found.append(f"{name}.{family} is gone")
                continue
            if new.queries < gate.queries:
                found.append(f"{name}.{family}.queries fell from {gate.queries} to {new.queries}")
            if new.sample is not None and new.sample < (gate.sample or gate.queries):
                found.append(f"{name}.{family}.sample fell from {gate.sample or gate.queries} to {new.sample}")
            for metric, floor in gate.floors.items():
                if new.floors.get(metric, -1.0) < floor:
                    found.append(f"{name}.{family}.{metric} fell from {floor} to {new.floors.get(metric)}")
    return found
