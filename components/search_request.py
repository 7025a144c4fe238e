# SPDX-License-Identifier: Apache-2.0
"""The entrance of a query pipeline: what a caller may ask, checked once."""

import unicodedata
from typing import Any

from haystack import component
from haystack_integrations.components.pincite.stages.clean_text import clean_text
from haystack_integrations.components.pincite.stages.filter_check import checked_filters
from haystack_integrations.components.pincite.stages.inline_async import inline_async
from haystack_integrations.components.pincite.stages.scopes import all_of, scope_conditions, scope_values
from haystack_integrations.document_stores.pincite.errors import BadInputError
from haystack_integrations.document_stores.pincite.scopes import within
from haystack_integrations.document_stores.pincite.spans import shared

MAX_QUERY_CHARACTERS = 100_000
MAX_TOP_K = 100
# Letters, marks, numbers, punctuation, symbols: a query of none of these shows nothing on a screen.
_VISIBLE = frozenset("LMNPS")


@component
@inline_async
class SearchRequest:
    """
    Takes a request, refuses what cannot be searched, and hands its parts to the stages.

    A scope is a piece of metadata that a corpus is divided by. It is added to the filters with AND, so no filter can
    reach past it; a corpus that requires one refuses a search without it, here and in the database (C3).
    """

    def __init__(self, scopes: list[str] | None = None, required_scopes: list[str] | None = None) -> None:
        """
        :param scopes: metadata keys that a request may give as a scope.
        :param required_scopes: those that it must give; they need not be repeated in ``scopes``.
        """
        self.scopes = list(scopes or [])
        self.required_scopes = list(required_scopes or [])

    @component.output_types(
        query=str,
        groups=list[str] | None,
        filters=dict[str, Any] | None,
        matter=str | None,
        names=bool,
        rerank=bool,
        top_k=int,
        max_per_source=int | None,
    )
    def run(
        self,
        query: str,
        *,
        groups: list[str] | None = None,
        filters: dict[str, Any] | None = None,
        scope: dict[str, str] | None = None,
        matter: str | None = None,
        names: bool = True,
        rerank: bool = True,
        top_k: int = 10,
        max_per_source: int | None = None,
    ) -> dict[str, Any]:
        """
        Check a request.

        :param query: the question, at most 100,000 characters; lone surrogates become U+FFFD.
        :param groups: groups of the principal; ``None`` is no principal, who sees nothing; ``["*"]`` sees all.
        :param filters: Haystack filter on ``meta`` fields.
        :param scope: metadata that every row must have, beside the filters.
        :param matter: the asker's own matter, whose sources come first.
        :param names: ``False`` switches the named-instrument policy off.
        :param rerank: ``False`` skips the reranker.
        :param top_k: results wanted, 1 to 100.
        :param max_per_source: results of one source, 1 or more; ``None`` is the pipeline's own cap.
        :returns: the same values, checked; ``scope`` is part of ``filters``, and a required one goes with ``groups``
            to every stage that reads, since the database asks for it.
        :raises BadInputError: one line that names the value and what would be right.
        """
        conditions = scope_conditions(scope or {}, self.scopes, self.required_scopes)
        wanted = [] if filters in (None, {}) else [checked_filters(filters)]
        asked = within(checked_groups(groups), scope_values(conditions, self.required_scopes))
        return {
            "query": _checked_query(query),
            "groups": None if asked is None else shared(asked),
            "filters": all_of([*wanted, *conditions]),
            "matter": clean_text(matter, "matter") if matter else None,
            "names": names,
            "rerank": rerank,
            "top_k": checked_count("top_k", top_k, MAX_TOP_K),
            "max_per_source": None if max_per_source is None else checked_count("max_per_source", max_per_source),
        }


def _checked_query(query: str) -> str:
    if not isinstance(query, str):
        raise BadInputError(f"query is {query!r:.40}: expected text")
    if len(query) > MAX_QUERY_CHARACTERS:
        raise BadInputError(f"query has {len(query):,} characters: at most {MAX_QUERY_CHARACTERS:,} are searched")
    clean = clean_text(query, "query")
    if not any(unicodedata.category(character)[0] in _VISIBLE for character in clean):
        raise BadInputError("query is empty: write what to search for")
    return clean


def checked_groups(groups: list[str] | None) -> list[str] | None:
    """Groups of a principal, cleaned; a :class:`BadInputError` if they are no list of names."""
    if groups is None:
        return None
    # A string is a sequence of strings too: "admin" must not become the groups a, d, m, i and n.
    if isinstance(groups, str) or not all(isinstance(group, str) for group in groups):
        raise BadInputError(f"groups is {groups!r:.80}: expected a list of group names")
    return [clean_text(group, "group") for group in groups]


def checked_count(name: str, value: int, largest: int | None = None) -> int:
    """A count from 1 to ``largest``; a :class:`BadInputError` that names it if it is none."""
    expected = "a whole number from 1" + (f" to {largest}" if largest else "")
    # bool is an int to Python; a client that sends true means no count.
    if not isinstance(value, int) or isinstance(value, bool) or value < 1 or (largest and value > largest):
        raise BadInputError(f"{name} is {value!r:.40}: expected {expected}")
    return value
