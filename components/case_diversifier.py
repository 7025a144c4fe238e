# SPDX-License-Identifier: Apache-2.0
"""Each case once: the cap of a search for cases rather than passages (F5)."""

from collections import Counter
from typing import Any

from haystack import Document, component
from haystack_integrations.components.pincite.source_diversifier import CappedSpan
from haystack_integrations.components.pincite.stages.inline_async import inline_async
from haystack_integrations.components.pincite.stages.ordering import source_of


@component
@inline_async
class CaseDiversifier:
    """
    Lets at most so many spans of one case pass, and cuts at ``top_k``.

    It drops and never reorders, so a case stands where its best span stood.
    """

    def __init__(self, max_per_case: int = 1) -> None:
        """:param max_per_case: results of one case."""
        self.max_per_case = max_per_case

    @component.output_types(documents=list[Document], dropped=list[CappedSpan])
    def run(self, documents: list[Document], top_k: int = 10) -> dict[str, Any]:
        """
        Apply the cap, then the page size.

        :param documents: the candidates in their final order; ``meta["case_id"]`` says whose they are.
        :param top_k: results wanted.
        :returns: ``documents``, the first ``top_k`` within the cap; ``dropped``, all that are over the cap, in order.
        """
        seen: Counter[str] = Counter()
        kept: list[Document] = []
        dropped: list[CappedSpan] = []
        for document in documents:
            case = str(document.meta.get("case_id") or source_of(document))
            seen[case] += 1
            if seen[case] <= self.max_per_case:
                kept.append(document)
            else:
                dropped.append(CappedSpan(id=document.id, source_id=source_of(document)))
        return {"documents": kept[:top_k], "dropped": dropped}
