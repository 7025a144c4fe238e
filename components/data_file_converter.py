# SPDX-License-Identifier: Apache-2.0
"""Turns data files into documents, for pipelines that read nothing else."""

from pathlib import PurePath
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict
from haystack_integrations.components.pincite.reading.data_text import DATA_SUFFIXES
from haystack_integrations.components.pincite.source_converter import Failure, Source, SourceConverter, source_path


@component
class DataFileConverter:
    """
    Reads JSON, YAML and TOML files as text of media type ``data`` (I1); minified JSON is pretty-printed.

    What :class:`~.source_converter.SourceConverter` does with such files, and a failure for every other type.
    """

    def to_dict(self) -> dict[str, Any]:
        """Constructor arguments for YAML: none."""
        return default_to_dict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "DataFileConverter":
        """Rebuild from :meth:`to_dict`."""
        return default_from_dict(cls, data)

    @component.output_types(documents=list[Document], failures=list[Failure])
    def run(
        self, sources: list[Source], meta: dict[str, Any] | list[dict[str, Any]] | None = None
    ) -> dict[str, list[Any]]:
        """
        :param sources: Paths or named byte streams.
        :param meta: One mapping for all, or one for each.
        :returns: ``documents`` and ``failures``.
        """
        metas = meta if isinstance(meta, list) else [dict(meta or {}) for _ in sources]
        data = [PurePath(source_path(source)).suffix.lower() in DATA_SUFFIXES for source in sources]
        read = SourceConverter().run(
            [source for source, wanted in zip(sources, data, strict=True) if wanted],
            [given for given, wanted in zip(metas, data, strict=True) if wanted],
        )
        others: list[Failure] = [
            {"path": source_path(source), "reason": "no data file; supported: json, jsonl, yaml, yml, toml"}
            for source, wanted in zip(sources, data, strict=True)
            if not wanted
        ]
        return {"documents": read["documents"], "failures": [*read["failures"], *others]}
