# SPDX-License-Identifier: Apache-2.0
"""Tags from folders: what a note lies in says what it is about (A6)."""

import unicodedata
from dataclasses import replace
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict
from haystack_integrations.document_stores.pincite.errors import ConfigurationError


@component
class PathTagger:
    """
    Adds the names of the folders between the ingested folder and the file to the tags of a source.

    ``office/travel/visas.md`` gets ``office`` and ``travel`` after the tags of its own metadata. A tag that is there
    already, in whatever case, is not added again. ``--as`` prefixes are no folders.
    """

    def __init__(self, depth: int | None = None) -> None:
        """
        :param depth: how many folders count, from the top; ``None`` for all.
        :raises ConfigurationError: ``depth`` is not positive.
        """
        if depth is not None and depth < 1:
            raise ConfigurationError(f"PathTagger: depth is {depth}, expected at least 1; leave the stage out for none")
        self.depth = depth

    def to_dict(self) -> dict[str, Any]:
        """Constructor arguments for YAML."""
        return default_to_dict(self, depth=self.depth)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "PathTagger":
        """Rebuild from :meth:`to_dict`."""
        return default_from_dict(cls, data)

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """
        :param documents: sources as the converter gives them, with ``source_id`` in ``meta``.
        :returns: ``documents`` with ``tags`` in ``meta`` where there are any.
        """
        return {"documents": [self._tagged(document) for document in documents]}

    def _tagged(self, document: Document) -> Document:
        path = str(document.meta["source_id"]).removeprefix(str(document.meta.get("_prefix") or ""))
        folders = [unicodedata.normalize("NFC", name).strip() for name in path.split("/")[:-1]]
        tags = list(document.meta.get("tags") or [])
        known = {str(tag).casefold() for tag in tags}
        for name in folders[: self.depth]:
            if name and name.casefold() not in known:
                known.add(name.casefold())
                tags.append(name)
        return replace(document, meta={**document.meta, "tags": tags}) if tags else document
