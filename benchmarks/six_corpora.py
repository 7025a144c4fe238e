# SPDX-License-Identifier: Apache-2.0
"""
Whether five neighbours slow a corpus down: the same questions to the same corpus alone and among the six shipped ones.

Two embedded servers: one holds a single corpus of 20,000 spans, the other that corpus with the same sources and the
five others of the same size. Each question is asked of both in one process, by turns, and who begins alternates; in
between the neighbours are asked as well, so that they take part in caches and pools. The bar is the ratio of medians.

Usage: ``python benchmarks/six_corpora.py [--corpus knowledge]``. The first run ingests some 140,000 spans.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from haystack import Pipeline
from haystack_integrations.document_stores.pincite.corpora import schema_name
from pincite.bench.metrics import percentile
from pincite.pipelines.corpora import load_corpora
from pincite.pipelines.loader import load_pipeline
from pincite.service import Service
from psycopg.sql import SQL, Identifier
from recombined import Made, questions, sources

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 1.2
WARM_UP = 10
_SPANS = 20  # of a source, before any was counted


@contextmanager
def at_home(home: Path) -> Iterator[None]:
    """The server of this folder is the one that stores connect to; both stay open."""
    before = os.environ.get("PINCITE_HOME")
    os.environ["PINCITE_HOME"] = str(home)
    try:
        yield
    finally:
        if before is None:
            del os.environ["PINCITE_HOME"]
        else:
            os.environ["PINCITE_HOME"] = before


def filled(service: Service, corpus: str, spans: int) -> list[Made]:
    """Bring sources in until the corpus holds so many spans, if it does not; the same sources wherever it is done."""
    service.init([corpus])
    known, there = counts(service, corpus)
    while there < spans:
        per_source = there / known if known else _SPANS
        new = sources(corpus, range(known, known + int((spans - there) / per_source) + 1))
        with tempfile.TemporaryDirectory(prefix="pincite-six-") as folder:
            for source in new:
                (Path(folder) / source.name).write_text(source.file(), encoding="utf-8")
            report = service.ingest(corpus, [Path(folder)], as_name=f"from-{known}")
        if report.failed:
            raise SystemExit(f"{corpus}: {len(report.failed)} files did not go in, first: {report.failed[0].reason}")
        known, there = counts(service, corpus)
    print(f"{corpus}: {known:,} sources, {there:,} searchable spans", flush=True)
    return list(sources(corpus, range(known)))


def counts(service: Service, corpus: str) -> tuple[int, int]:
    """Sources and searchable spans of a corpus."""
    schema = Identifier(schema_name(corpus))
    with service.database.admin() as connection:
        query = SQL("SELECT (SELECT count(*) FROM {0}.sources), (SELECT count(*) FROM {0}.spans WHERE searchable)")
        row = connection.execute(query.format(schema)).fetchone()
    return (int(row[0]), int(row[1])) if row else (0, 0)


def asker(home: Path, corpus: str) -> Callable[[str], None]:
    """A function that asks the corpus of one server a question."""
    settings = load_corpora()
    scope = dict.fromkeys(settings.corpus(corpus).required_scopes, "planning")
    pipeline: Pipeline = load_pipeline(corpus, "query")
    pipeline.warm_up()

    def ask(query: str) -> None:
        request: dict[str, Any] = {"query": query, "groups": ["*"], "scope": scope or None}
        with at_home(home):
            outputs = pipeline.run({"request": request})
        if not outputs["attribution"]["documents"]:
            raise SystemExit(f"{corpus} gives nothing for {query!r}")

    return ask


def measure(
    alone: Callable[[str], None],
    among: Callable[[str], None],
    neighbours: list[tuple[Callable[[str], None], list[str]]],
    asked: list[str],
) -> tuple[list[float], list[float]]:
    """Milliseconds of each question, alone and among six."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn, query in enumerate([*asked[:WARM_UP], *asked]):
        other, others = neighbours[turn % len(neighbours)]
        other(others[turn // len(neighbours) % len(others)])
        contestants = [(alone, times[0]), (among, times[1])]
        for ask, taken in contestants if turn % 2 else reversed(contestants):
            started = time.perf_counter()
            ask(query)
            if turn >= WARM_UP:
                taken.append((time.perf_counter() - started) * 1000)
    return times


def main() -> int:
    """Fill, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default="knowledge", help="the corpus asked (default: %(default)s)")
    parser.add_argument("--spans", type=int, default=20_000, help="of each corpus (default: %(default)s)")
    parser.add_argument("--questions", type=int, default=300, help="how many (default: %(default)s)")
    options = parser.parse_args()
    base = Path(os.environ.get("PINCITE_HOME", ROOT / ".pincite" / "benchmarks"))
    homes = {kind: base / f"six-corpora-{kind}" for kind in (f"{options.corpus}-alone", "together")}
    alone, together = homes.values()
    for home in homes.values():
        home.mkdir(parents=True, exist_ok=True)
    names, made = list(load_corpora().corpora), {}
    with at_home(together), Service() as six:
        for name in names:
            made[name] = filled(six, name, options.spans)
        with at_home(alone):
            filled(six, options.corpus, options.spans)
        neighbours = [
            (asker(together, name), questions(name, made[name], options.questions))
            for name in names
            if name != options.corpus
        ]
        asked = questions(options.corpus, made[options.corpus], options.questions)
        times = measure(asker(alone, options.corpus), asker(together, options.corpus), neighbours, asked)
    for name, taken in zip(("alone", "among six"), times, strict=True):
        print(f"{name:10} median {percentile(taken, 0.5):7.1f} ms   p95 {percentile(taken, 0.95):7.1f} ms")
    ratio = percentile(times[1], 0.5) / percentile(times[0], 0.5)
    print(f"ratio of medians, {options.corpus} among {len(names)} corpora to alone: {ratio:.2f} (at most {LIMIT:.2f})")
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
