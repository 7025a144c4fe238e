# SPDX-License-Identifier: Apache-2.0
"""
How long a question takes: Pincite's whole query pipeline against a stock Haystack pipeline, taking turns.

Same server, same spans, same vectors, same embedder, same process; at each question the order of the contestants moves
on by one, so that the ratio of medians holds where the times themselves do not. Usage: ``python benchmarks/speed.py``.
Exit status 1 when Pincite's median is above the stock pipeline's.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Callable
from typing import Any

from bench_corpora import PRINCIPAL, add_data_option, benchmark_service, ingest_collection, stock_store
from haystack import Pipeline
from pincite.bench.metrics import percentile
from pincite.bench.queries import read_queries, sampled
from pincite.pipelines.corpora import load_corpora
from pincite.pipelines.loader import load_pipeline
from pincite.service import LEGS, Service
from stock_haystack import stock_inputs, stock_pipeline

LIMIT = 1.0
CORPUS = "cuad"
STOCK, PINCITE = "stock Haystack, run", "Pincite, run"
WARM_UP = 5

Ask = Callable[[str], Any]


def contestants(service: Service, runner: asyncio.Runner) -> dict[str, Ask]:
    """Every way to ask a question, by name."""
    store = stock_store(service.database, CORPUS)
    stock = stock_pipeline(store, leg_top_k=60)
    small, large = (stock_pipeline(store, leg_top_k=depth) for depth in (10, 100))
    ours = load_pipeline(CORPUS, "query")
    ours.warm_up()
    groups = list(load_corpora().principal(PRINCIPAL).groups)

    def request(query: str, **options: Any) -> dict[str, Any]:
        return {"request": {"query": query, "groups": groups, **options}}

    return {
        STOCK: lambda query: stock.run(stock_inputs(query)),
        "stock Haystack, run_async": lambda query: runner.run(_awaited(stock, stock_inputs(query))),
        "stock Haystack, 10 a leg, run": lambda query: small.run(stock_inputs(query)),
        "stock Haystack, 100 a leg, run": lambda query: large.run(stock_inputs(query)),
        PINCITE: lambda query: ours.run(request(query)),
        "Pincite, run_async": lambda query: runner.run(_awaited(ours, request(query))),
        "Pincite --no-names, run": lambda query: ours.run(request(query, names=False)),
    }


async def _awaited(pipeline: Pipeline, inputs: dict[str, Any]) -> dict[str, Any]:
    return await pipeline.run_async(inputs, concurrency_limit=len(LEGS) + 1)


def measure(asked: dict[str, Ask], queries: list[str]) -> dict[str, list[float]]:
    """Milliseconds of each question, per contestant."""
    names = list(asked)
    times: dict[str, list[float]] = {name: [] for name in names}
    for turn, query in enumerate([*queries[:WARM_UP], *queries]):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            started = time.perf_counter()
            asked[name](query)
            if turn >= WARM_UP:
                times[name].append((time.perf_counter() - started) * 1000)
    return times


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_option(parser)
    parser.add_argument("--questions", type=int, default=200, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (default: %(default)s)")
    options = parser.parse_args()
    queries = sampled(read_queries(options.data / CORPUS / "queries.jsonl"), options.questions, options.seed)
    with benchmark_service([CORPUS]) as service, asyncio.Runner() as runner:
        sources = ingest_collection(service, options.data, CORPUS)
        times = measure(contestants(service, runner), [query.text for query in queries])
    print(f"{len(queries)} questions (seed {options.seed}) on {sources} contracts; milliseconds")
    base = percentile(times[STOCK], 0.5)
    for name, taken in times.items():
        middle = percentile(taken, 0.5)
        print(f"{name:32} median {middle:7.1f}   p95 {percentile(taken, 0.95):7.1f}   ratio {middle / base:5.2f}")
    ratio = percentile(times[PINCITE], 0.5) / base
    print(f"ratio of medians, '{PINCITE}' to '{STOCK}': {ratio:.2f} (at most {LIMIT:.2f})")
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
