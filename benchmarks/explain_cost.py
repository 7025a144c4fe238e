# SPDX-License-Identifier: Apache-2.0
"""
What ``--explain`` costs: the same searches with and without it, taking turns in one process, on the demo corpus.

Taking turns, both meet the same caches and the same neighbours on the machine, so that their ratio holds where the
times themselves do not. Usage: ``python benchmarks/explain_cost.py [CORPUS QUERIES.jsonl]``, with the corpus ingested;
without arguments the demo's questions on ``knowledge``. Exit status 1 when the ratio is above 1.25 (E1).
"""

import json
import statistics
import sys
import time
from pathlib import Path

import yaml
from pincite.pipelines.corpora import load_corpora
from pincite.service import Service

LIMIT = 1.25
ROUNDS = 5
QUESTIONS = 40
DEMO = Path(__file__).resolve().parents[1] / "app" / "demo"


def questions(path: Path | None) -> list[str]:
    """The questions of a file of JSON lines, evenly drawn; or those of the demo."""
    if path is None:
        entries = yaml.safe_load((DEMO / "questions.yaml").read_text(encoding="utf-8"))
    else:
        entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    found = [entry["query"] for entry in entries]
    return found[:: max(1, len(found) // QUESTIONS)][:QUESTIONS]


def measure(service: Service, corpus: str, queries: list[str]) -> tuple[list[float], list[float]]:
    """Milliseconds of each search without and with the explanation; which one is first changes each time."""
    who = load_corpora().command_line_principal
    times: dict[bool, list[float]] = {False: [], True: []}
    for turn in range(ROUNDS + 1):
        for number, query in enumerate(queries):
            for explain in (False, True) if (turn + number) % 2 else (True, False):
                started = time.perf_counter()
                service.search(corpus, query, principal=who, explain=explain)
                if turn:  # the first round warms up
                    times[explain].append((time.perf_counter() - started) * 1000)
    return times[False], times[True]


def main() -> int:
    """Measure and print."""
    corpus, path = (sys.argv[1], Path(sys.argv[2])) if len(sys.argv) > 2 else ("knowledge", None)
    with Service() as service:
        if path is None:
            service.ingest(corpus, [DEMO / "texts"])
        without, with_it = measure(service, corpus, questions(path))
    # Pair by pair: one slow search then weighs no more than another.
    ratio = statistics.median(b / a for a, b in zip(without, with_it, strict=True))
    print(f"search            {statistics.median(without):7.2f} ms (median of {len(without)})")
    print(f"search --explain  {statistics.median(with_it):7.2f} ms")
    print(f"ratio             {ratio:7.3f} (at most {LIMIT})")
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
