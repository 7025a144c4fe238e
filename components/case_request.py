# SPDX-License-Identifier: Apache-2.0
"""The entrance of the pipeline that leads from a case to cases like it."""

from typing import Any

from haystack import component
from haystack_integrations.components.pincite.search_request import checked_count, checked_groups
from haystack_integrations.components.pincite.stages.clean_text import clean_text
from haystack_integrations.components.pincite.stages.filter_check import checked_filters
from haystack_integrations.components.pincite.stages.inline_async import inline_async
from haystack_integrations.components.pincite.stages.scopes import all_of, scope_conditions, scope_values
from haystack_integrations.document_stores.pincite.errors import BadInputError
from haystack_integrations.document_stores.pincite.scopes import within
from haystack_integrations.document_stores.pincite.spans import shared

MAX_TOP_K = 100


@component
@inline_async
class CaseRequest:
    """
    Takes a case, and says which rows are its own and which are of other cases in the same scope.

    Rows without a case (the style corpus) are neither; the case itself is never among the others.
    """

    def __init__(self, scopes: list[str] | None = None, required_scopes: list[str] | None = None) -> None:
        """
        :param scopes: metadata keys that a request may give as a scope.
        :param required_scopes: those that it must give.
        """
        self.scopes = list(scopes or [])
        self.required_scopes = list(required_scopes or [])

    @component.output_types(
        case_id=str,
        query=str,
        groups=list[str] | None,
        own=dict[str, Any] | None,
        others=dict[str, Any] | None,
        top_k=int,
    )
    def run(
        self,
        case_id: str,
        *,
        query: str = "",
        groups: list[str] | None = None,
        filters: dict[str, Any] | None = None,
        scope: dict[str, str] | None = None,
        top_k: int = 10,
    ) -> dict[str, Any]:
        """
        Check a request.

        :param case_id: the case to start from.
        :param query: words that the likeness should be about, if any.
        :param groups: groups of the principal; ``None`` is no principal, who sees nothing.
        :param filters: Haystack filter on the cases wanted.
        :param scope: metadata that both the case and the others must have.
        :param top_k: cases wanted, 1 to 100.
        :returns: the same values, checked; ``own`` and ``others`` are filters of the rows of the case and of others.
        :raises BadInputError: one line that names the value and what would be right.
        """
        if not isinstance(case_id, str) or not case_id.strip():
            raise BadInputError(f"case_id is {case_id!r:.80}: expected the case to start from")
        case = clean_text(case_id, "case_id")
        scopes = scope_conditions(scope or {}, self.scopes, self.required_scopes)
        wanted = [] if filters in (None, {}) else [checked_filters(filters)]
        others = [_case("!=", case), _case("!=", None)]
        asked = within(checked_groups(groups), scope_values(scopes, self.required_scopes))
        return {
            "case_id": case,
            "query": clean_text(query or "", "query"),
            "groups": None if asked is None else shared(asked),
            "own": all_of([*scopes, _case("==", case)]),
            "others": all_of([*scopes, *others, *wanted]),
            "top_k": checked_count("top_k", top_k, MAX_TOP_K),
        }


def _case(operator: str, value: str | None) -> dict[str, Any]:
    return {"field": "meta.case_id", "operator": operator, "value": value}
