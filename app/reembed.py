# SPDX-License-Identifier: Apache-2.0
"""Gives spans whose vectors are stale new ones: in batches, resumable, while readers go on reading (S3)."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.errors import ConfigurationError
from haystack_integrations.document_stores.pincite.source_writer import SourceWriter
from haystack_integrations.document_stores.pincite.stale_spans import StaleSpan, StaleSpans
from pincite.embedders import DocumentEmbedder, document_embedder
from pincite.pipelines.loader import load_pipeline

Tell = Callable[[int, int, str | None], None]
"""Called with what is done, of how many, and the source of the last span."""

_BATCH = 256  # spans: one transaction, and what is lost by a kill


@dataclass(slots=True)
class ReembedReport:
    """
    What a re-embedding did.

    ``embedded`` spans got new vectors; ``left`` are still stale, because they changed meanwhile; ``fingerprint`` is the
    embedder's; ``seconds`` it took.
    """

    fingerprint: str
    embedded: int = 0
    left: int = 0
    seconds: float = 0.0


def reembed(corpus: str, *, everything: bool = False, progress: Tell | None = None) -> ReembedReport:
    """
    Embed the stale spans of a corpus with the embedder of its indexing pipeline.

    A span is stale when its content or embedded metadata changed, when it has no vector, or when another embedder made
    it. Each batch is a transaction of its own, so that a run that is killed has only to do the rest. Readers see each
    span with its old vector or its new one, and compare neither with that of another embedder.

    :param everything: all spans, not only stale ones. A run that was interrupted goes on where it stopped.
    :param progress: called after each batch.
    :raises ConfigurationError: nothing says which vectors the pipeline makes, or they do not fit into the corpus.
    """
    started = time.monotonic()
    embedder = document_embedder(load_pipeline(corpus, "indexing"), corpus)
    stale = StaleSpans(Database.current(), corpus, embedder.fingerprint)
    stale.expect(embedder.embedded_meta)
    report = ReembedReport(embedder.fingerprint)
    after = stale.reached() if everything else ""
    if everything or stale.count():
        _embed(embedder, stale, after, report, everything, progress or (lambda done, of, source_id: None))
        SourceWriter(stale.database, corpus).refresh_statistics()
    if everything:
        stale.remember(None)
    report.left = stale.count()
    if not report.left:
        stale.switch()
    report.seconds = time.monotonic() - started
    return report


def _embed(
    embedder: DocumentEmbedder,
    stale: StaleSpans,
    after: str,
    report: ReembedReport,
    everything: bool,
    tell: Tell,
) -> None:
    total = stale.total() if everything else stale.count()
    if hasattr(embedder.component, "warm_up"):
        embedder.component.warm_up()
    done = 0
    tell(done, total, None)
    while spans := stale.batch(after, _BATCH, everything=everything):
        report.embedded += stale.store(zip(spans, _vectors(embedder, spans), strict=True))
        after = spans[-1].document.id
        if everything:
            stale.remember(after)
        done += len(spans)
        tell(min(done, total), total, str(spans[-1].document.meta["source_id"]))


def _vectors(embedder: DocumentEmbedder, spans: Sequence[StaleSpan]) -> list[Sequence[float]]:
    documents = embedder.component.run(documents=[span.document for span in spans])["documents"]
    vectors: list[Any] = [document.embedding for document in documents]
    if len(vectors) != len(spans) or any(vector is None for vector in vectors):
        raise ConfigurationError(
            f"embedder '{embedder.name}' gave {sum(vector is not None for vector in vectors)} vectors "
            f"for {len(spans)} spans; it must give one for each"
        )
    return vectors
