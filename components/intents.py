# SPDX-License-Identifier: Apache-2.0
"""What stages tell each other about instruments that a query names."""

from typing import TypedDict


class Intent(TypedDict):
    """
    One instrument that the query names (contract, "A search result").

    ``phrase`` is the instrument phrase as it stands in the query, normalised; ``type`` the canonical type of the
    vocabulary, or the generic head ("agreement") for a type that the vocabulary lacks; ``qualifiers`` the words that
    identify this one instrument, normalised, in query order; ``title_query`` qualifiers and phrase as one string.
    """

    phrase: str
    type: str
    qualifiers: list[str]
    title_query: str


class NamedSource(TypedDict):
    """A source that the title leg takes for the instrument of ``intents[intent]``."""

    source_id: str
    title: str
    intent: int


class Degradation(TypedDict):
    """A stage that gave nothing or less than it should, and why, in one line."""

    stage: str
    reason: str
