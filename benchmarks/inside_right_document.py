# SPDX-License-Identifier: Apache-2.0
"""
The ceiling: search inside the right document only, for the question without its name.

Every named question whose document is found ends in this ranking (statement ``extents``, as the recovery stage asks
it), so no figure for named questions can be much higher. Usage: ``python benchmarks/inside_right_document.py``.
"""

import argparse
import sys

from bench_corpora import add_data_option, benchmark_service, ingest_collection
from haystack import Pipeline
from haystack_integrations.components.pincite.best_extent_recovery import BestExtentRecovery
from haystack_integrations.components.pincite.word_llama_text_embedder import WordLlamaTextEmbedder
from haystack_integrations.document_stores.pincite.leg_statements import extents
from pincite.bench.metrics import Hit, span_recall
from pincite.bench.queries import Query, read_queries, sampled
from pincite.pipelines.loader import load_pipeline

COLLECTIONS = ("cuad", "contractnli")
K = 10


def best_inside(pipeline: Pipeline, query: Query) -> list[Hit]:
    """The ten best spans of the labelled documents, a list for each joined in turn (they are one, here)."""
    recovery, embedder = pipeline.get_component("recovery"), pipeline.get_component("text_embedder")
    assert isinstance(recovery, BestExtentRecovery)  # noqa: S101 - the loader has checked the file
    assert isinstance(embedder, WordLlamaTextEmbedder)  # noqa: S101
    statement = extents(
        query.documents,
        query.text,
        embedder.run(query.text)["embedding"],
        limit=K,
        lexical_weight=recovery.lexical_weight,
        dense_weight=recovery.dense_weight,
        k=recovery.source_k,
    )
    rows = recovery.document_store.fetch(statement, groups=["*"])
    rows.sort(key=lambda row: row["extent_rank"])
    return [Hit(row["id"], row["source_id"], row["start_offset"], row["end_offset"]) for row in rows[:K]]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_option(parser)
    parser.add_argument("--questions", type=int, help="of each collection (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (default: %(default)s)")
    options = parser.parse_args()
    with benchmark_service(COLLECTIONS) as service:
        for name in COLLECTIONS:
            ingest_collection(service, options.data, name)
            pipeline = load_pipeline(name, "query")
            pipeline.warm_up()
            queries = read_queries(options.data / name / "queries.jsonl", field_name="query_unnamed")
            chosen = sampled(queries, options.questions, options.seed)
            recalls = [span_recall(query.labels, best_inside(pipeline, query)) for query in chosen]
            mean = sum(recalls) / len(recalls)
            print(
                f"{name:12} span recall@{K} inside the right document {mean:.3f} ({len(chosen)} questions)", flush=True
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
