# SPDX-License-Identifier: Apache-2.0
"""Puts sources with their spans into the store, each whole or not at all."""

import hashlib
from collections import defaultdict
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.errors import ConfigurationError
from haystack_integrations.document_stores.pincite.source_writer import SourceWriter
from haystack_integrations.document_stores.pincite.spans import SourceRecord, SpanRecord

# Meta of a source document that has a column of its own, or was only meant for the stages before.
_NOT_META = frozenset(
    "source_id title identity media_type status groups content_hash page_starts encoding file_path _rules".split()
)


@component
class SpanWriter:
    """
    Writes one batch in one transaction; each source replaces what the corpus held under its id (I2).

    :param document_store: The store of the corpus.
    :param embedding_fingerprint: Identity of the embedder, for one that does not mark its documents with it (S3).
    """

    def __init__(self, document_store: CorpusDocumentStore, embedding_fingerprint: str | None = None) -> None:
        self.document_store = document_store
        self.embedding_fingerprint = embedding_fingerprint

    def to_dict(self) -> dict[str, Any]:
        """Constructor arguments for YAML."""
        return default_to_dict(
            self, document_store=self.document_store.to_dict(), embedding_fingerprint=self.embedding_fingerprint
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "SpanWriter":
        """Rebuild from :meth:`to_dict`."""
        parameters = data.get("init_parameters", {})
        if isinstance(parameters.get("document_store"), dict):
            store = CorpusDocumentStore.from_dict(parameters["document_store"])
            data = {**data, "init_parameters": {**parameters, "document_store": store}}
        return default_from_dict(cls, data)

    @component.output_types(source_ids=list[str], spans_written=int)
    def run(self, documents: list[Document], sources: list[Document]) -> dict[str, Any]:
        """
        :param documents: Spans of the splitter, embedded; ``meta["source_id"]`` says whose.
        :param sources: The documents they were cut from, with ``title`` and ``identity`` in ``meta``.
        :returns: ``source_ids`` that are in the store now, and the number of ``spans_written``.
        :raises BadInputError: A source that PostgreSQL cannot hold; nothing of the batch is written then.
        :raises ConfigurationError: Spans of two embedders, which could never be compared.
        """
        spans: dict[str, list[SpanRecord]] = defaultdict(list)
        for document in documents:
            spans[document.meta["source_id"]].append(_span(document))
        records = [_source(source, spans[_source_id(source)]) for source in sources]
        writer = SourceWriter(self.document_store.database, self.document_store.corpus)
        written = writer.write_sources(records, fingerprint=self._fingerprint(documents))
        return {"source_ids": [record.source_id for record in records], "spans_written": written}

    def _fingerprint(self, documents: list[Document]) -> str | None:
        marks = {document.meta.get("embedding_fingerprint") for document in documents if document.embedding is not None}
        if len(marks) > 1:
            raise ConfigurationError(
                f"SpanWriter: spans of more than one embedder in a batch: {sorted(map(str, marks))}"
            )
        return next(iter(marks), None) or self.embedding_fingerprint


def _source_id(source: Document) -> str:
    return str(source.meta.get("source_id", source.id))


def _span(document: Document) -> SpanRecord:
    meta = document.meta
    return SpanRecord(
        kind=meta["kind"],
        number=meta["number"],
        start=meta["start"],
        end=meta["end"],
        text=document.content or "",
        page=meta["page"],
        page_end=meta["page_end"],
        section=meta["section"],
        quote=meta["quote"],
        parent_start=meta["parent_start"],
        parent_end=meta["parent_end"],
        embedding=document.embedding,
        statement=meta.get("statement"),
        review_status=meta.get("review_status"),
    )


def _source(source: Document, spans: list[SpanRecord]) -> SourceRecord:
    meta, text = source.meta, source.content or ""
    return SourceRecord(
        source_id=_source_id(source),
        title=meta.get("title") or _source_id(source),
        text=text,
        content_hash=meta.get("content_hash") or hashlib.sha256(text.encode()).hexdigest(),
        media_type=meta.get("media_type", "text"),
        identity=meta.get("identity", ""),
        status=meta.get("status", "active"),
        groups=list(meta.get("groups", [])),
        meta={key: value for key, value in meta.items() if key not in _NOT_META},
        spans=spans,
    )
