# SPDX-License-Identifier: Apache-2.0
"""
The field's measures, by ``ir_measures`` and in its notation, over documents and over spans.

Over documents, a document counts at the rank of its first span. Over spans, a span is relevant when it shares a
character with a label. All judgements are 1; what is not judged is not relevant.
"""

import importlib
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Literal, NamedTuple

from haystack_integrations.document_stores.pincite.errors import BadInputError, ConfigurationError

DEFAULT_MEASURES = ("P@5", "R@10", "RR", "nDCG@10", "AP")

Unit = Literal["document", "span"]
UNITS: tuple[Unit, Unit] = ("document", "span")

Qrels = dict[str, list[str]]
"""Per question the relevant ids."""
Run = dict[str, list[str]]
"""Per question the ids found, best first, each once."""


class Scores(NamedTuple):
    """Values of the measures, for the set as ``ir_measures`` aggregates them, and for each question."""

    overall: dict[str, float]
    by_query: dict[str, dict[str, float]]


def parsed_measures(names: Sequence[str], k: int) -> list[Any]:
    """
    Measures from their names, such as ``nDCG@10`` or ``P(rel=1)@5``.

    :param k: results that were asked for; a measure that looks deeper would measure that limit.
    :raises BadInputError: a name that ``ir_measures`` does not know, or one that looks deeper than ``k``.
    :raises ConfigurationError: ``ir_measures`` is not installed.
    """
    library = _library()
    measures = []
    for name in names:
        try:
            measure = library.parse_measure(name)
            cutoff = measure.params.get("cutoff")
        except (NameError, ValueError, TypeError, AttributeError, KeyError) as error:
            raise BadInputError(f"measure {name!r:.60}: {error}; write it like nDCG@10, P@5, RR or AP") from error
        if cutoff is not None and cutoff > k:
            raise BadInputError(f"measure {name} looks {cutoff} deep and --k asks for {k} results; say --k {cutoff}")
        measures.append(measure)
    return measures


def scores(measures: Sequence[Any], qrels: Qrels, run: Run) -> Scores:
    """
    Evaluate a run.

    A question of the qrels that the run lacks counts with the measure's value for an empty list.

    :raises BadInputError: a measure that no installed provider can compute.
    """
    library = _library()
    judged = [library.Qrel(query, doc, 1) for query, docs in qrels.items() for doc in docs]
    scored = [library.ScoredDoc(query, doc, score) for query, docs in run.items() for doc, score in ranked(docs)]
    try:
        overall, by_query = library.calc(measures, judged, scored)
    except (ValueError, RuntimeError) as error:
        raise BadInputError(f"measures {', '.join(map(str, measures))}: {' '.join(str(error).split())}") from error
    table: dict[str, dict[str, float]] = {query: {} for query in qrels}
    for metric in by_query:
        table[metric.query_id][str(metric.measure)] = metric.value
    return Scores({str(measure): overall[measure] for measure in measures}, table)


def ranked(ids: Sequence[str]) -> list[tuple[str, float]]:
    """
    A ranking as scores: ``n`` for the first of ``n``, 1 for the last.

    Scores of a search are no ranking: a partition moves results past others with higher ones (N6).
    """
    return [(name, float(len(ids) - place)) for place, name in enumerate(ids)]


def first_places(ids: Sequence[str]) -> list[str]:
    """The ids, each at its first place."""
    return list(dict.fromkeys(ids))


def _library() -> ModuleType:
    try:
        return importlib.import_module("ir_measures")
    except ImportError as error:
        raise ConfigurationError(
            "measuring needs ir-measures, which is not installed: pip install 'pincite-haystack[bench]'"
        ) from error
