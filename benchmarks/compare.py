# SPDX-License-Identifier: Apache-2.0
"""
One table: how often the right document comes first, how much of the answer is in the first ten results, and how long
a question takes, for Pincite and for what else one could use. All search the same spans, in the same database, with
the same vectors, one question after the other by turns.

Usage: ``pip install -r benchmarks/requirements.txt``, then ``python benchmarks/compare.py``. The table is printed and
written to ``benchmarks/results.md``, times only as ratios to the stock Haystack pipeline of the same run.
"""

import argparse
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bench_corpora import PRINCIPAL, add_data_option, benchmark_service, ingest_collection, spans, stock_store
from pincite.bench.metrics import Hit, percentile, right_document_first, span_recall
from pincite.bench.queries import Query, read_queries, sampled
from pincite.service import Service
from rivals import BM25, DEPTH, TOP_K, Search, VectorSearch, fused, hit_of, langchain_ensemble, llama_fusion
from stock_haystack import stock_inputs, stock_pipeline

RESULTS = Path(__file__).parent / "results.md"
STOCK = "stock Haystack hybrid"
# What the columns are called, and where their questions stand.
SETS = {
    "cuad full": ("cuad", "queries.jsonl", "query"),
    "cuad short": ("cuad", "queries.jsonl", "query_short"),
    "cuad variants": ("cuad", "variants.jsonl", "query"),
    "contractnli": ("contractnli", "queries.jsonl", "query"),
}


@dataclass(slots=True)
class Cell:
    """What one system made of one set: a figure for each question."""

    first: list[float] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)

    def figures(self) -> tuple[float, float, float]:
        """Right document first, span recall@10, median milliseconds."""
        count = len(self.first)
        return sum(self.first) / count, sum(self.recall) / count, percentile(self.milliseconds, 0.5)


Table = dict[str, dict[str, Cell]]


def systems(service: Service, corpus: str, cleanup: ExitStack) -> dict[str, Search]:
    """Every system over one collection, by name, in the order of the table."""
    store = stock_store(service.database, corpus)
    stock = stock_pipeline(store, leg_top_k=DEPTH)
    held = spans(service.database, corpus)
    words = BM25(held)
    vectors = VectorSearch(store, cleanup.enter_context(service.database.admin()))

    def stock_search(query: str) -> list[Hit]:
        metas = [document.meta for document in stock.run(stock_inputs(query))["joiner"]["documents"]]
        return [hit_of(meta["source_id"], meta["start"], meta["end"]) for meta in metas]

    def pincite(query: str, *, names: bool = True) -> list[Hit]:
        results = service.search(corpus, query, principal=PRINCIPAL, names=names, top_k=TOP_K)["results"]
        return [hit_of(one["source_id"], one["locator"]["start"], one["locator"]["end"]) for one in results]

    return {
        STOCK: stock_search,
        "bm25s (stems, stop words)": words,
        "bm25s + vectors, RRF": lambda query: fused([words(query, DEPTH), vectors(query)]),
        "LangChain EnsembleRetriever": langchain_ensemble(held, vectors),
        "LlamaIndex QueryFusionRetriever": llama_fusion(held, vectors),
        "Pincite --no-names": lambda query: pincite(query, names=False),
        "Pincite": pincite,
    }


def measure(asked: dict[str, Search], queries: list[Query]) -> dict[str, Cell]:
    """Ask all of all, by turns: at each question another system is first."""
    cells = {name: Cell() for name in asked}
    names = list(asked)
    for name in names:
        asked[name](queries[0].text)  # models are read, connections opened
    for turn, query in enumerate(queries):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            started = time.perf_counter()
            hits = asked[name](query.text)
            cells[name].milliseconds.append((time.perf_counter() - started) * 1000)
            cells[name].first.append(right_document_first(query.labels, hits))
            cells[name].recall.append(span_recall(query.labels, hits))
    return cells


def markdown(table: Table, *, absolute: bool) -> str:
    """The table; times in milliseconds, or as ratios to the stock pipeline."""
    unit = "ms" if absolute else "time"
    columns = [f"{name}: {figure}" for name in table for figure in ("first", "recall", unit)]
    lines = ["| system | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for system in next(iter(table.values())):
        cells = []
        for cells_of_set in table.values():
            first, recall, middle = cells_of_set[system].figures()
            shown = f"{middle:.1f}" if absolute else f"{middle / cells_of_set[STOCK].figures()[2]:.2f}"
            cells += [f"{first:.3f}", f"{recall:.3f}", shown]
        lines.append(f"| {system} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def report(table: Table, command: str, facts: str) -> str:
    """What ``results.md`` holds."""
    return f"""<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Written by benchmarks/compare.py; do not edit. -->
# Comparison of {datetime.now(UTC):%Y-%m-%d}

`{command}`: {facts}.

- **first**: share of the questions whose first result comes from the right document.
- **recall**: share of the labelled characters that the ranges of the ten results cover, mean over the questions.
- **time**: median time of a question, as a multiple of the stock Haystack pipeline's in the same run.

{markdown(table, absolute=False)}
"""


def main() -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_option(parser)
    parser.add_argument("--questions", type=int, default=300, help="of each set; 0 for all (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the table (default: %(default)s)")
    options = parser.parse_args()
    collections = list(dict.fromkeys(collection for collection, _, _ in SETS.values()))
    table: Table = {}
    counts = []
    with benchmark_service(collections) as service, ExitStack() as cleanup:
        for collection in collections:
            ingest_collection(service, options.data, collection)
            asked = systems(service, collection, cleanup)
            for name, (held_by, file, field_name) in SETS.items():
                if held_by == collection:
                    queries = read_queries(options.data / collection / file, field_name=field_name)
                    chosen = sampled(queries, options.questions or None, options.seed)
                    table[name] = measure(asked, chosen)
                    counts.append(f"{len(chosen)} {name}")
                    print(f"{name}: {len(chosen)} questions", flush=True)
    print(f"seed {options.seed}\n\n{markdown(table, absolute=True)}")
    command = f"python benchmarks/compare.py --questions {options.questions} --seed {options.seed}"
    options.out.write_text(report(table, command, f"{', '.join(counts)} questions"), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
