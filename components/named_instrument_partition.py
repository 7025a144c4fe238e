# SPDX-License-Identifier: Apache-2.0
"""The document that the query names, first (N6 to N8, N12)."""

from typing import Any

from haystack import Document, component
from haystack_integrations.components.pincite.intents import Intent, NamedSource
from haystack_integrations.components.pincite.naming.name_overlap import common_name_stands, names_overlap, parted
from haystack_integrations.components.pincite.naming.vocabulary import Vocabulary
from haystack_integrations.components.pincite.stages.inline_async import inline_async
from haystack_integrations.components.pincite.stages.ordering import source_of, stable_partition
from haystack_integrations.document_stores.pincite.spans import restated, shared


@component
@inline_async
class NamedInstrumentPartition:
    """
    Puts the candidates of the named instruments before the others.

    A candidate is promoted only if the title leg took its source for the instrument, its display title holds the
    recognised type or an alias, and, where the name has qualifiers, the title shares a distinguishing word with them.
    The order inside both groups and all scores stay. When no candidate meets the whole condition the order stays too:
    a document of the same type is never promoted for one that is not there.
    """

    def __init__(self, vocabulary: str | None = None) -> None:
        """:param vocabulary: path of the vocabulary file; ``None`` is the configured one."""
        self.vocabulary = vocabulary
        self._vocabulary: Vocabulary | None = None
        self._organisations: frozenset[str] = frozenset()

    def warm_up(self) -> None:
        """Read the vocabulary, once."""
        if self._vocabulary is None:
            self._vocabulary = Vocabulary.load(self.vocabulary)
            english, hebrew = (self._vocabulary.words("organisations", language) for language in ("en", "he"))
            self._organisations = english | hebrew

    @component.output_types(documents=list[Document], named=dict[str, Any])
    def run(self, documents: list[Document], intents: list[Intent], matches: list[NamedSource]) -> dict[str, Any]:
        """
        Partition by name.

        :param documents: the candidates, best first.
        :param intents: the instruments that the query names.
        :param matches: the sources that the title leg takes for them, best first.
        :returns: ``documents``, the same rows, the promoted ones marked ``_promoted``; ``named`` with ``matched`` and
            ``sources``, the matches that were promoted, best first.
        """
        titles = {source_of(document): str(document.meta.get("title") or "") for document in documents}
        sources = [match for match in matches if self._carries(titles.get(match["source_id"]), intents, match)]
        if not sources:
            return {"documents": documents, "named": {"matched": False, "sources": []}}
        promoted = {source["source_id"] for source in sources}
        marked = [_marked(document) if source_of(document) in promoted else document for document in documents]
        ordered = stable_partition(marked, lambda document: source_of(document) in promoted)
        return {"documents": shared(ordered), "named": {"matched": True, "sources": sources}}

    def _carries(self, title: str | None, intents: list[Intent], match: NamedSource) -> bool:
        """Whether a candidate's title holds what the intent names; ``None`` is a source without candidates."""
        if title is None:
            return False
        self.warm_up()
        vocabulary = self._vocabulary
        assert vocabulary is not None  # noqa: S101  (`warm_up` has set it)
        intent = intents[match["intent"]]
        if not (vocabulary.holds_type(title, intent["type"]) or vocabulary.holds_type(parted(title), intent["type"])):
            return False
        name, held = " ".join(intent["qualifiers"]), title
        wanted, words = vocabulary.normalise(name).split(), vocabulary.normalise(held).split()
        if not wanted or names_overlap(wanted, words, vocabulary.is_generic):
            return True
        # Not both parted: then the "com" of one site would be that of another.
        for way in ((name, parted(held)), (parted(name), held)):
            one, other = (vocabulary.normalise(text).split() for text in way)
            if names_overlap(one, other, vocabulary.is_generic):
                return True
        return common_name_stands(wanted, words, vocabulary.is_generic, self._organisations, vocabulary.type_words)


def _marked(document: Document) -> Document:
    return restated(document, {**document.meta, "_promoted": True}, document.score)
