# SPDX-License-Identifier: Apache-2.0
"""
What an ingestion costs: ``pincite ingest`` of the 510 contracts into a fresh corpus, indexes included, against the
embedder alone on the same passages, in the same batches and threads; and the peak memory of the process and its
children, the database apart.

The embedder is watched at work during the ingestion, which says what its batches were; then it embeds the same batches
once more, by itself. Embedder and ingestion take turns (``--rounds``), and the ratio is that of their medians. Usage:
``python benchmarks/ingestion.py``. Exit status 1 when the ratio is above 3 or the memory above 1.5 GB.
"""

import argparse
import functools
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psutil  # type: ignore[import-untyped,import-not-found,unused-ignore]
from bench_corpora import add_data_option
from haystack import Document
from haystack_integrations.components.pincite.word_llama_document_embedder import WordLlamaDocumentEmbedder
from pincite.ingest import IngestReport
from pincite.service import Service

RATIO_LIMIT = 3.0
MEMORY_LIMIT = 1.5e9
CORPUS = "knowledge"
SAMPLING_SECONDS = 0.05


class Watch:
    """Peak resident memory of this process and its children in bytes, without PostgreSQL's."""

    def __init__(self) -> None:
        self.peak = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        me = psutil.Process()
        while not self._stop.wait(SAMPLING_SECONDS):
            self.peak = max(self.peak, sum(map(_resident, [me, *me.children(recursive=True)])))


def _resident(process: psutil.Process) -> int:
    try:
        return 0 if process.name().startswith("postgres") else int(process.memory_info().rss)
    except psutil.Error:  # it has just ended
        return 0


@contextmanager
def batches_noted() -> Iterator[list[tuple[int, list[str]]]]:
    """While it is open: which thread gave which texts to the document embedder, call by call."""
    noted: list[tuple[int, list[str]]] = []
    run = WordLlamaDocumentEmbedder.run

    @functools.wraps(run)  # Haystack reads the outputs from it
    def noting(self: WordLlamaDocumentEmbedder, documents: list[Document]) -> dict[str, list[Document]]:
        noted.append((threading.get_ident(), [document.content or "" for document in documents]))
        return run(self, documents)

    WordLlamaDocumentEmbedder.run = noting  # type: ignore[method-assign]
    try:
        yield noted
    finally:
        WordLlamaDocumentEmbedder.run = run  # type: ignore[method-assign]


def ingest_fresh(texts: Path) -> IngestReport:
    """Ingest into a database that was not there before; the model's loading counts, starting the server does not."""
    with tempfile.TemporaryDirectory(prefix="pincite-ingestion-") as home:
        # The embedded server runs as another user when this one is root.
        os.chmod(home, 0o755)  # noqa: PTH101, S103
        os.environ["PINCITE_HOME"] = home
        with Service() as service:
            service.init([CORPUS])
            return service.ingest(CORPUS, [texts])


def embed_alone(noted: list[tuple[int, list[str]]]) -> float:
    """Seconds that the embedder takes for the noted batches on as many threads."""
    calls = [[Document(content=text) for text in texts] for _, texts in noted]
    embedder = WordLlamaDocumentEmbedder()
    embedder.warm_up()
    started = time.perf_counter()
    with ThreadPoolExecutor(len({thread for thread, _ in noted})) as pool:
        for _ in pool.map(embedder.run, calls):
            pass
    return time.perf_counter() - started


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_option(parser)
    parser.add_argument("--rounds", type=int, default=3, help="turns of each (default: %(default)s)")
    options = parser.parse_args()
    os.environ.pop("PINCITE_DATABASE_URL", None)
    whole, alone = [], []
    with Watch() as watch:
        for turn in range(options.rounds):
            with batches_noted() as noted:
                report = ingest_fresh(options.data / "cuad" / "corpus")
            whole.append(report.seconds)
            alone.append(embed_alone(noted))
            print(f"round {turn + 1}: {report.added} files, {report.spans:,} spans; ingestion {whole[-1]:.1f} s, "
                  f"embedder alone {alone[-1]:.1f} s", flush=True)  # fmt: skip
    ratio = statistics.median(whole) / statistics.median(alone)
    print(f"ratio {ratio:.2f} (at most {RATIO_LIMIT:.0f})")
    print(f"peak memory without the database {watch.peak / 1e9:.2f} GB (under {MEMORY_LIMIT / 1e9:.1f})")
    return 0 if ratio <= RATIO_LIMIT and watch.peak < MEMORY_LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
