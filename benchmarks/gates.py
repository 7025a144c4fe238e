# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E402 - Haystack reports usage unless told not to before its import
"""
The quality gates: every test family on a fresh database, against the floors of ``configs/gates.yaml``.

The demo corpus is always measured; the collections of ``--data`` where they are there. Nothing of the machine's own
configuration or databases is used. Exit status 1 names each floor that was missed, and each retrieval setting that
changed since ``configs/baseline.json`` was measured; ``--write-baseline`` measures that file anew.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pincite.outcome import DONE, PARTLY, outcome
from pincite.quiet import quiet

quiet()

from haystack_integrations.document_stores.pincite.errors import BadInputError
from pincite.bench.gates import BASELINE_FILE, GateSet, load_gates, read_baseline, run_set, settings_rows
from pincite.bench.report import gates_view
from pincite.bench.settings import retrieval_settings
from pincite.render import console_for
from pincite.service import Service

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "bench"
ALWAYS = "demo"
PRINCIPAL = "local-owner"


def query_file(gate: GateSet, data: Path) -> Path | None:
    """Where the query file of a set is: in the project, or in the data folder; ``None`` if it is in neither."""
    places = [ROOT / "app" / gate.queries, data / gate.queries]
    return next((place for place in places if place.is_file()), None)


def measured_set(name: str, gate: GateSet, queries: Path) -> list[dict[str, Any]]:
    """
    Ingest the documents of a set into a database of its own, and run its families.

    :raises BadInputError: the documents are not there, or one of them could not be ingested.
    """
    with tempfile.TemporaryDirectory(prefix="pincite-gates-") as home:
        Path(home).chmod(0o755)  # the database may run as another user
        os.environ["PINCITE_HOME"] = home
        with Service() as service:
            report = service.ingest(gate.corpus, [queries.parent / gate.documents])
            for failure in report.failed:
                raise BadInputError(f"set '{name}': {failure.path} was not ingested: {failure.reason}")
            print(f"{name}: {report.added} sources in {report.seconds:.0f} s", file=sys.stderr, flush=True)
            return run_set(service, name, gate, queries, principal=PRINCIPAL)


def write_baseline(rows: list[dict[str, Any]], corpora: Sequence[str]) -> None:
    """Write what was measured, and with which settings; sets that were not measured keep their figures."""
    path = ROOT / "configs" / BASELINE_FILE
    figures: dict[str, Any] = read_baseline()["figures"] if path.is_file() else {}
    for name in {row["set"] for row in rows}:
        figures[name] = {}
    for row in rows:
        family = figures[row["set"]].setdefault(row["family"], {"queries": row["queries"]})
        family[row["metric"]] = round(row["value"], 4)
    document = {"settings": {corpus: retrieval_settings(corpus) for corpus in corpora}, "figures": figures}
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"wrote {path.relative_to(ROOT)}; commit it with the change that it measures")


def run(arguments: argparse.Namespace) -> int:
    """Measure the sets, print a row for each floor, and name what was missed."""
    gates = load_gates()
    for name in arguments.set or []:
        if name not in gates.sets:
            raise BadInputError(f"--set is {name!r}: the sets are {', '.join(gates.sets)}")
    changed = [] if arguments.write_baseline else [line for row in settings_rows(gates) for line in _changes(row)]
    rows: list[dict[str, Any]] = []
    for name, gate in gates.sets.items():
        if arguments.set and name not in arguments.set:
            continue
        queries = query_file(gate, arguments.data)
        if queries is not None:
            rows += measured_set(name, gate, queries)
        elif arguments.set or name == ALWAYS:
            raise BadInputError(f"set '{name}': {gate.queries} is neither in app/ nor in {arguments.data}")
        else:
            print(f"{name}: not measured, {gate.queries} is not in {arguments.data}", file=sys.stderr)
    console_for(sys.stdout).print(gates_view(rows))
    missed = [f"{row['set']}.{row['family']}.{row['metric']}" for row in rows if not row["passed"]]
    if arguments.write_baseline and not missed:
        write_baseline(rows, list(dict.fromkeys(gate.corpus for gate in gates.sets.values())))
    for line in changed:
        print(line)
    if missed:
        print(f"gates missed: {', '.join(missed)}")
    return PARTLY if missed or changed else DONE


def _changes(row: dict[str, Any]) -> list[str]:
    return [
        f"{row['corpus']}: {path} is {new!r}, and the baseline was measured with {old!r}: run benchmarks/gates.py "
        "--write-baseline and commit it"
        for path, (old, new) in row["differences"].items()
    ]


def main() -> int:
    """The command: exit status 0 passed, 1 missed, 2 bad input, 3 no database."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().split("\n", maxsplit=1)[0])
    parser.add_argument("--set", action="append", metavar="NAME", help="only this set; repeatable")
    parser.add_argument("--data", type=Path, default=DATA, help="folder with cuad/ and contractnli/")
    parser.add_argument(
        "--write-baseline", action="store_true", help="write configs/baseline.json from what is measured"
    )
    arguments = parser.parse_args()
    for variable in [name for name in os.environ if name.startswith(("PINCITE_", "KB_"))]:
        del os.environ[variable]
    return outcome(lambda: run(arguments))


if __name__ == "__main__":
    sys.exit(main())
