# SPDX-License-Identifier: Apache-2.0
"""A count that no search could use is refused when the stage is made."""

from collections.abc import Callable
from typing import Any

import pytest
from haystack_integrations.components.pincite.best_extent_recovery import BestExtentRecovery
from haystack_integrations.components.pincite.lexical_retriever import LexicalRetriever
from haystack_integrations.components.pincite.source_diversifier import SourceDiversifier
from haystack_integrations.components.pincite.title_reservation import TitleReservation
from haystack_integrations.components.pincite.title_retriever import TitleRetriever
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.errors import ConfigurationError

STORE = CorpusDocumentStore("knowledge")


@pytest.mark.parametrize(
    ("make", "parameter", "least"),
    [
        (lambda **given: TitleRetriever(STORE, **given), "top_k", 1),
        (lambda **given: LexicalRetriever(STORE, **given), "top_k", 1),
        (lambda **given: LexicalRetriever(STORE, **given), "rows", 1),
        (lambda **given: LexicalRetriever(STORE, **given), "max_words", 1),
        (lambda **given: BestExtentRecovery(STORE, **given), "max_sources", 1),
        (lambda **given: BestExtentRecovery(STORE, **given), "spans_per_source", 1),
        (SourceDiversifier, "max_per_source", 1),
        (SourceDiversifier, "max_per_named_source", 1),
        (TitleReservation, "places", 0),
    ],
)
def test_a_count_below_the_least_is_refused(make: Callable[..., Any], parameter: str, least: int) -> None:
    make(**{parameter: least})
    with pytest.raises(ConfigurationError, match=rf"{parameter} is {least - 1}, expected {least} or more"):
        make(**{parameter: least - 1})


@pytest.mark.parametrize("parameter", ["min_coverage", "margin"])
@pytest.mark.parametrize("value", [5.0, -1.0, float("nan")])
def test_a_share_outside_0_to_1_is_refused(parameter: str, value: float) -> None:
    with pytest.raises(ConfigurationError, match=rf"{parameter} is {value}, expected 0 to 1"):
        TitleRetriever(STORE, **{parameter: value})
