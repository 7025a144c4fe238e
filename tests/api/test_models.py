# SPDX-License-Identifier: Apache-2.0
"""The published shapes are those that the application makes its answers from."""

from typing import Any, get_type_hints

import pytest
from haystack_integrations.components.pincite.intents import Degradation, Intent, NamedSource
from haystack_integrations.document_stores.pincite.spans import Extent, Locator
from pincite.api import models
from pincite.api.requests import ExplainableSearchBody
from pincite.audit.answer import AuditAnswer, CheckAnswer, Finding
from pincite.passage import Context, Passage
from pincite.response import Named, SearchResponse, SearchResult
from pincite.service import SearchOptions
from pincite.why_answer import Change, Remedy, Step, WhyAnswer
from pydantic import BaseModel


@pytest.mark.parametrize(
    ("model", "made"),
    [
        (models.IntentModel, Intent),
        (models.NamedSourceModel, NamedSource),
        (models.NamedModel, Named),
        (models.DegradationModel, Degradation),
        (models.LocatorModel, Locator),
        (models.ExtentModel, Extent),
        (models.ResultModel, SearchResult),
        (models.ExplainedSearchModel, SearchResponse),
        (models.PassageModel, Passage),
        (models.ContextModel, Context),
        (models.StepModel, Step),
        (models.ChangeModel, Change),
        (models.RemedyModel, Remedy),
        (models.WhyModel, WhyAnswer),
        (models.FindingModel, Finding),
        (models.CheckModel, CheckAnswer),
        (models.AuditModel, AuditAnswer),
    ],
)
def test_a_model_has_the_keys_of_what_is_made(model: type[BaseModel], made: Any) -> None:
    assert set(model.model_fields) == made.__required_keys__ | made.__optional_keys__


def test_a_search_takes_every_option_of_the_service() -> None:
    options = set(SearchOptions.__annotations__) - {"principal"}  # who asks is for the token to say
    assert set(ExplainableSearchBody.model_fields) - {"corpus", "query"} == options
    assert get_type_hints(SearchOptions)
