# SPDX-License-Identifier: Apache-2.0
"""The instruments that a query names, and what it asks about them (N1, N2, N12)."""

from typing import Any

from haystack import component
from haystack_integrations.components.pincite.intents import Intent
from haystack_integrations.components.pincite.naming.named_instruments import NamedInstrument, find_instruments
from haystack_integrations.components.pincite.naming.query_sentence import Sentence
from haystack_integrations.components.pincite.naming.topic_text import topic_text
from haystack_integrations.components.pincite.naming.vocabulary import Vocabulary
from haystack_integrations.components.pincite.stages.inline_async import inline_async
from haystack_integrations.document_stores.pincite.spans import shared


@component
@inline_async
class NamedInstrumentRecognizer:
    """
    Finds the instruments that a query names ("the HFA bond mortgage") and keeps the name apart from the topic.

    Decides from language alone: types come from the vocabulary file, and it knows no title, party or id of a corpus.
    """

    def __init__(self, vocabulary: str | None = None, max_intents: int = 3) -> None:
        """
        :param vocabulary: path of the vocabulary file; ``None`` is the configured ``instruments.yaml``.
        :param max_intents: at most so many instruments are taken from one query, the first named.
        """
        self.vocabulary = vocabulary
        self.max_intents = max_intents
        self._vocabulary: Vocabulary | None = None

    def warm_up(self) -> None:
        """
        Read the vocabulary, once.

        :raises ConfigurationError: the vocabulary file is missing or malformed.
        """
        if self._vocabulary is None:
            self._vocabulary = Vocabulary.load(self.vocabulary)

    @component.output_types(intents=list[Intent], topic_query=str, title_query=str)
    def run(self, query: str, names: bool = True) -> dict[str, Any]:
        """
        Recognise the instruments named in a query.

        :param query: what the user asks.
        :param names: off, the query stays whole.
        :returns: ``intents``, one for each named instrument in the order of the query; ``topic_query``, the query
            without names; ``title_query``, the names alone. Without an intent both are the query exactly as given.
        """
        self.warm_up()
        vocabulary = self._vocabulary
        assert vocabulary is not None  # noqa: S101  (`warm_up` has set it)
        tokens = vocabulary.tokens(query) if names and self.max_intents > 0 else []
        matches = vocabulary.find_types(tokens)
        if not matches:
            return {"intents": [], "topic_query": query, "title_query": query}
        sentence = Sentence(query, tokens, matches, vocabulary)
        found = find_instruments(sentence)[: self.max_intents]
        intents = [_intent(instrument) for instrument in found]
        if not intents:
            return {"intents": [], "topic_query": query, "title_query": query}
        ranges = sorted({(instrument.start, instrument.end) for instrument in found})
        title_query = " ".join(dict.fromkeys(intent["title_query"] for intent in intents))
        return {"intents": shared(intents), "topic_query": topic_text(sentence, ranges), "title_query": title_query}


def _intent(instrument: NamedInstrument) -> Intent:
    before, after = list(instrument.before), list(instrument.after)
    return {
        "phrase": instrument.match.text,
        "type": instrument.match.type,
        "qualifiers": before + after,
        "title_query": " ".join([*before, instrument.match.text, *after]),
    }
