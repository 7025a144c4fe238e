# SPDX-License-Identifier: Apache-2.0
"""The asker's own matter first (F4)."""

from haystack import Document, component
from haystack_integrations.components.pincite.stages.inline_async import inline_async
from haystack_integrations.components.pincite.stages.ordering import stable_partition
from haystack_integrations.document_stores.pincite.spans import shared


@component
@inline_async
class MatterPartition:
    """Puts the candidates of one matter before the others. Order inside both groups and all scores stay."""

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document], matter: str | None = None) -> dict[str, list[Document]]:
        """
        Partition by matter.

        :param documents: the candidates, best first.
        :param matter: the asker's matter, as in ``meta["matter"]``; ``None`` changes nothing.
        :returns: ``documents``, the same ones.
        """
        if matter is None:
            return {"documents": documents}
        return {
            "documents": shared(stable_partition(documents, lambda document: document.meta.get("matter") == matter))
        }
