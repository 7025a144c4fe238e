# SPDX-License-Identifier: Apache-2.0
"""Makes a span of each rule of a source, at the words that support it (C5)."""

from bisect import bisect_right
from collections import defaultdict
from typing import Any, NamedTuple

from haystack import Document, component
from haystack_integrations.components.pincite.reading.quotes import Place, best_place, find_quote
from haystack_integrations.components.pincite.reading.rule_sidecar import RULES_KEY, Rule, checked_rules
from haystack_integrations.components.pincite.source_converter import Note
from haystack_integrations.document_stores.pincite.spans import SpanDocument


class _Found(NamedTuple):
    place: Place | None
    note: str | None


@component
class RuleSplitter:
    """
    Adds the rules of each source to the spans that were cut from it.

    A rule stands at its supporting quote: its text is what the source says there, so that it can be fetched again like
    that of any span (S2); its statement travels beside it, is embedded and searched. A rule whose quote is not in the
    source is kept without a place, which keeps it from being found, and told as a note (S1).
    """

    def __init__(self, max_characters: int = 1200) -> None:
        """:param max_characters: most characters of a quote, as it stands in the source (contract: 1,200)."""
        self.max_characters = max_characters

    @component.output_types(documents=list[Document], notes=list[Note])
    def run(self, documents: list[Document], sources: list[Document]) -> dict[str, Any]:
        """
        :param documents: spans of the sources, in order.
        :param sources: documents with ``meta["_rules"]``, a list of :class:`~.rule_sidecar.Rule`, where they have any.
        :returns: ``documents``: the spans, and after those of each source its rules (kind ``rule``) with ``statement``,
            ``quote`` and ``review_status`` in ``meta``; ``notes``: rules whose quote was not found.
        :raises BadInputError: a rule of another form.
        """
        spans: dict[str, list[Document]] = defaultdict(list)
        for document in documents:
            spans[document.meta["source_id"]].append(document)
        notes: list[Note] = []
        result: list[Document] = []
        for source in sources:
            source_id = str(source.meta.get("source_id", source.id))
            chunks = spans[source_id]
            result += chunks
            for number, rule in enumerate(checked_rules(source.meta.get(RULES_KEY), f"source {source_id!r}")):
                found = self._find(source, rule)
                result.append(_span(source, source_id, number, rule, found.place, chunks))
                if found.note:
                    path = str(source.meta.get("_path") or source_id)
                    notes.append({"path": path, "note": f"rule {number + 1} {found.note}"})
        return {"documents": result, "notes": notes}

    def _find(self, source: Document, rule: Rule) -> _Found:
        places = list(find_quote(source.content or "", rule["quote"]))
        pages = [_page(source, place.start) or 0 for place in places]
        wanted = rule.get("page")
        best = best_place(places, pages, wanted)
        if best is None:
            return _Found(None, f"is not searchable: its quote is not in the source ({rule['quote']!r:.80})")
        place = places[best]
        if place.end - place.start > self.max_characters:
            length = place.end - place.start
            return _Found(None, f"is not searchable: its quote has {length:,} characters of {self.max_characters:,}")
        elsewhere = f"stands on page {pages[best]}, not {wanted}" if wanted and pages[best] not in (0, wanted) else None
        return _Found(place, elsewhere)


def _page(source: Document, offset: int) -> int | None:
    return bisect_right(source.meta.get("page_starts") or [], offset) or None


def _span(
    source: Document, source_id: str, number: int, rule: Rule, place: Place | None, chunks: list[Document]
) -> Document:
    # Its surroundings are those of the chunk in which the quote begins.
    around = next((c.meta for c in reversed(chunks) if place and c.meta["start"] <= place.start), {})
    text = (source.content or "")[place.start : place.end] if place else rule["quote"]
    parent_end = around.get("parent_end")
    if place and parent_end is not None:
        parent_end = max(parent_end, place.end)
    return SpanDocument(
        id=f"{source_id}#rule-{number}",
        content=text,
        meta={
            "source_id": source_id,
            "title": source.meta.get("title"),
            "kind": "rule",
            "number": number,
            "start": place.start if place else None,
            "end": place.end if place else None,
            "page": _page(source, place.start) if place else rule.get("page"),
            "page_end": _page(source, place.end - 1) if place else rule.get("page"),
            "section": around.get("section"),
            "quote": text,
            "statement": rule["statement"],
            "review_status": rule["review_status"],
            "parent_start": around.get("parent_start"),
            "parent_end": parent_end,
        },
    )
