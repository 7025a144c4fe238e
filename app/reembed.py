# SPDX-License-Identifier: Apache-2.0
"""
Gives spans whose vectors are stale new ones: in batches, resumable, while readers go on reading (S3).

docs/decisions/embedder-switch.md says how a corpus changes its embedder.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.errors import ConfigurationError
from haystack_integrations.document_stores.pincite.source_writer import SourceWriter
from haystack_integrations.document_stores.pincite.stale_spans import StaleSpan, StaleSpans
from haystack_integrations.document_stores.pincite.vector_sets import VectorSets
from pincite.embedders import DocumentEmbedder, document_embedder
from pincite.pipelines.corpora import load_corpora
from pincite.pipelines.loader import load_pipeline

Tell = Callable[[int, int, str | None], None]
"""Called with what is done, of how many, and the source of the last span."""

_BATCH = 256  # spans: one transaction, and what is lost by a kill
_ROUNDS = 20  # of catching up with others who write before the switch


@dataclass(slots=True)
class ReembedReport:
    """
    What a re-embedding did.

    ``embedded`` spans got new vectors; ``left`` are still stale, because they changed meanwhile; ``fingerprint`` is the
    embedder's; ``replaces`` is that of the embedder whose vectors stay beside for searches with the configuration
    before, ``None`` if there are none; ``seconds`` it took.
    """

    fingerprint: str
    embedded: int = 0
    left: int = 0
    replaces: str | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class FinishReport:
    """What the end of a change dropped: the fingerprint of the embedder whose vectors are gone, ``None`` if none."""

    dropped: str | None


def reembed(corpus: str, *, everything: bool = False, progress: Tell | None = None) -> ReembedReport:
    """
    Embed the stale spans of a corpus with the embedder of its indexing pipeline, and make the corpus be for it.

    A span is stale when its content or embedded metadata changed, when it has no vector, or when another embedder made
    it. Each batch is a transaction of its own, so that a run that is killed has only to do the rest. If the corpus is
    for another embedder, the new vectors are made beside the old ones and then put in force; searches with either
    configuration find all the vectors of their own embedder before, meanwhile and after, until :func:`finish`.

    :param everything: all spans, not only stale ones. A run that was interrupted goes on where it stopped.
    :param progress: called after each batch.
    :raises ConfigurationError: nothing says which vectors the pipeline makes, they do not fit into the corpus, or it
        holds those of two other embedders.
    """
    embedder, sets = _embedder(corpus)
    if sets.state().column(embedder.fingerprint) is None:
        dimension = load_corpora().corpus(corpus).embedding_dimension
        sets.begin(embedder.fingerprint, dimension=dimension, embedded_meta=embedder.embedded_meta)
    run = _Run(embedder, sets, progress or (lambda done, of, source_id: None))
    run.embed(everything=everything)
    if run.sets.state().in_force not in (None, embedder.fingerprint):
        run.switch()
    return run.finished()


def refresh(corpus: str, *, progress: Tell | None = None) -> ReembedReport:
    """
    Embed the stale spans of a corpus, as :func:`reembed`, but change no corpus over to another embedder.

    That takes a decision; an ingestion or a server that finds another embedder in its configuration leaves it to
    ``pincite reembed``, and the vectors that are being made for a change to the run that makes them.

    :raises ConfigurationError: nothing says which vectors the pipeline makes, or they do not fit into the corpus.
    """
    embedder, sets = _embedder(corpus)
    state = sets.state()
    if state.column(embedder.fingerprint) is None or state.coming(embedder.fingerprint):
        return ReembedReport(embedder.fingerprint)
    run = _Run(embedder, sets, progress or (lambda done, of, source_id: None))
    run.embed(everything=False)
    return run.finished()


def finish(corpus: str) -> FinishReport:
    """
    Drop the vectors beside those in force: the old ones after a change of embedder, or those of one that was given up.

    Searches with the configuration of the embedder that goes find nothing by meaning from then on, and say so.

    :raises ConfigurationError: they are those of the configured embedder, to which the corpus is still changing.
    """
    embedder, sets = _embedder(corpus)
    if sets.state().beside == embedder.fingerprint:
        raise ConfigurationError(
            f"corpus '{corpus}': the vectors beside are those of the configured embedder ({embedder.fingerprint:.80}); "
            f"put them in force first: pincite reembed {corpus}"
        )
    return FinishReport(sets.drop())


def ready_to_write(corpus: str) -> None:
    """
    Whether an ingestion may write what the indexing pipeline makes; a corpus without spans is made to fit.

    :raises ConfigurationError: the corpus is for another embedder.
    """
    embedder, sets = _embedder(corpus)
    if sets.state().column(embedder.fingerprint) is not None:
        return
    stale = StaleSpans(sets.database, corpus, embedder.fingerprint)
    if stale.total() == 0:
        reembed(corpus)
        sets.drop()
    stale.count()  # says what is wrong


def _embedder(corpus: str) -> tuple[DocumentEmbedder, VectorSets]:
    return document_embedder(load_pipeline(corpus, "indexing"), corpus), VectorSets(Database.current(), corpus)


class _Run:
    """One re-embedding."""

    def __init__(self, embedder: DocumentEmbedder, sets: VectorSets, tell: Tell) -> None:
        self._started = time.monotonic()
        self._embedder = embedder
        self._tell = tell
        self.sets = sets
        self.stale = StaleSpans(sets.database, sets.corpus, embedder.fingerprint)
        self.stale.expect(embedder.embedded_meta)
        self.report = ReembedReport(embedder.fingerprint)

    def embed(self, *, everything: bool) -> None:
        after = self.stale.reached() if everything else ""
        if everything or self.stale.count():
            _embed(self._embedder, self.stale, after, self.report, everything, self._tell)
            SourceWriter(self.sets.database, self.sets.corpus).refresh_statistics()
        if everything:
            self.stale.remember(None)

    def switch(self) -> None:
        """What was written while the vectors were made gets its own, until there is nothing left to switch."""
        self.sets.build_index()
        for _ in range(_ROUNDS):
            if not self.sets.switch(self.report.fingerprint):
                return
            self.embed(everything=False)

    def finished(self) -> ReembedReport:
        state = self.sets.state()
        self.report.left = self.stale.count()
        self.report.replaces = state.beside if state.in_force == self.report.fingerprint else None
        self.report.seconds = time.monotonic() - self._started
        return self.report


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
