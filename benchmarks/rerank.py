# SPDX-License-Identifier: Apache-2.0
"""
What reranking costs: ``python benchmarks/rerank.py MODEL [CORPUS]``, on a corpus that is in the database.

MODEL is what PINCITE_RERANKER_MODEL takes. Times of the whole search with and without it, by number of candidates; and
what becomes of eight clients at once. What it is worth: ``pincite bench`` with and without ``--no-rerank``.
"""

import asyncio
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from pincite.service import Service

QUESTIONS = [
    "What does the HFA bond mortgage say about limitation on liability?",
    "What is the maturity date of the Brooklyn Community Housing Services promissory note?",
    "How often are the monitoring wells sampled?",
    "What base rent does the lease require?",
    "Who are the members under the Kingsbrook Estates operating agreement?",
    "What is the advance rate for inventory?",
]
ROUNDS, CLIENTS, SEARCHES_EACH = 5, 8, 10
PRINCIPAL = "local-owner"


@contextmanager
def service_with(model: str, candidates: int) -> Iterator[Service]:
    os.environ |= {
        "PINCITE_RERANK_ENABLED": "1",
        "PINCITE_RERANKER_MODEL": model,
        "PINCITE_RERANK_CANDIDATES": str(candidates),
    }
    service = Service()
    yield service
    service.close()


def milliseconds(service: Service, corpus: str, *, rerank: bool) -> tuple[float, float]:
    """Median of the whole search and of the reranker's stage."""
    whole, stage = [], []
    for _ in range(ROUNDS):
        for question in QUESTIONS:
            timings = service.search(corpus, question, principal=PRINCIPAL, rerank=rerank)["timings_ms"]
            whole.append(timings["total"])
            stage.append(timings["reranker"])
    return statistics.median(whole), statistics.median(stage)


async def at_once(service: Service, corpus: str, *, rerank: bool) -> tuple[float, Counter[str]]:
    """Searches per second of eight clients, and how many came reranked or for which reason not."""
    ends: Counter[str] = Counter()

    async def client(number: int) -> None:
        for turn in range(SEARCHES_EACH):
            question = QUESTIONS[(number + turn) % len(QUESTIONS)]
            answer = await service.search_async(corpus, question, principal=PRINCIPAL, rerank=rerank)
            ends[answer["rerank_reason"] or "reranked"] += 1

    started = time.perf_counter()
    await asyncio.gather(*(client(number) for number in range(CLIENTS)))
    return CLIENTS * SEARCHES_EACH / (time.perf_counter() - started), ends


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    model, corpus = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "knowledge"
    for candidates in (10, 20, 50):
        with service_with(model, candidates) as service:
            service.search(corpus, QUESTIONS[0], principal=PRINCIPAL)  # loads
            fused, _ = milliseconds(service, corpus, rerank=False)
            reranked, stage = milliseconds(service, corpus, rerank=True)
            print(f"{candidates} candidates: fused {fused:.1f} ms, reranked {reranked:.1f} ms (stage {stage:.1f} ms)")
            for rerank in (False, True):
                rate, ends = asyncio.run(at_once(service, corpus, rerank=rerank))
                print(f"  {CLIENTS} clients: {rate:.1f} searches/s; {dict(ends)}")


if __name__ == "__main__":
    main()
