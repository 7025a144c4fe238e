# SPDX-License-Identifier: Apache-2.0
"""Judgements and runs that other tools made, over span ids or source ids."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.errors import BadInputError
from pincite.bench.backends import Answer, Asking
from pincite.bench.corpus_facts import facts, hits_by_id, located, sources_present
from pincite.bench.ir_metrics import Qrels, Run
from pincite.bench.measuring import SetReport, backend_report, judged, unstored
from pincite.bench.metrics import Hit
from pincite.bench.queries import Label, Query

RUN = "run"


def with_judgements(store: CorpusDocumentStore, queries: Sequence[Query], qrels: Qrels) -> list[Query]:
    """
    The questions that have judgements, labelled by them instead of by their own file.

    :raises BadInputError: no question has any, or an id that is neither a span nor a source of the corpus.
    """
    known = _known(store, (name for names in qrels.values() for name in names))
    labelled = [
        replace(query, labels=tuple(_label(known[name]) for name in qrels[query.id]))
        for query in queries
        if qrels.get(query.id)
    ]
    if not labelled:
        raise BadInputError(f"the qrels judge none of the {len(queries)} questions; their ids must be the same")
    return labelled


def measure_run(
    store: CorpusDocumentStore, asking: Asking, queries: Sequence[Query], run: Run, measures: Sequence[Any]
) -> SetReport:
    """
    Measure a ranking that another system made, as if it were a backend's answer.

    A question that the run lacks has no results, as for ``ir_measures``. A run over source ids says nothing about
    spans: only measures over documents apply.

    :raises BadInputError: an id that is neither a span nor a source of the corpus, or no question in common.
    """
    if not any(query.id in run for query in queries):
        raise BadInputError(f"the run answers none of the {len(queries)} questions; their ids must be the same")
    known = _known(store, (name for query in queries for name in run.get(query.id, [])[: asking.k]))
    questions = located(store, queries)
    if any(hit.span_id == hit.source_id for hit in known.values()):
        questions = [replace(query, labels=tuple(Label(doc) for doc in query.documents)) for query in questions]
    corpus = facts(store, questions)
    rows = []
    for query in questions:
        hits = [known[name] for name in run.get(query.id, [])[: asking.k]]
        rows.append(judged(query, Answer(hits, None, 0.0), asking.k, corpus))
    return SetReport(asking, {RUN: backend_report(RUN, rows, corpus, measures)}, set(), unstored(corpus, questions))


def _known(store: CorpusDocumentStore, ids: Iterable[str]) -> dict[str, Hit]:
    wanted = set(ids)
    spans = hits_by_id(store, wanted)
    sources = {name: Hit(name, name, 0, 0) for name in sources_present(store, wanted - spans.keys())}
    for name in sorted(wanted - spans.keys() - sources.keys()):
        raise BadInputError(f"{name!r:.120} is neither a span nor a source of corpus '{store.corpus}'")
    return {**spans, **sources}


def _label(hit: Hit) -> Label:
    return Label(hit.source_id) if hit.span_id == hit.source_id else Label(hit.source_id, hit.start, hit.end)
