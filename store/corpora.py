# SPDX-License-Identifier: Apache-2.0
"""A corpus as the database knows it: its definition, and the names of its schema and roles."""

import re
from dataclasses import dataclass, field

from .errors import BadInputError

SPAN_KINDS = ("chunk", "rule", "page_image")

_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")


def check_corpus_name(name: str) -> str:
    """
    ``name`` itself.

    :raises BadInputError: it is no corpus name (a lower-case letter, then up to 40 lower-case letters, digits, ``_``).
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        msg = (
            f"corpus name {str(name)[:60]!r} is not usable: a lower-case letter, then up to 40 lower-case letters, "
            "digits or underscores"
        )
        raise BadInputError(msg)
    return name


def schema_name(corpus: str) -> str:
    """The schema that holds the tables of a corpus."""
    return f"pincite_{check_corpus_name(corpus)}"


def reader_role(corpus: str) -> str:
    """The role that searches run under: may read this schema and nothing else."""
    return f"pincite_{check_corpus_name(corpus)}_reader"


def writer_role(corpus: str) -> str:
    """The role that ingestion runs under: may change the rows of this schema and nothing else."""
    return f"pincite_{check_corpus_name(corpus)}_writer"


@dataclass(frozen=True, slots=True)
class CorpusDefinition:
    """
    What a corpus is made with.

    ``text_search`` (a PostgreSQL text search configuration) is fixed when it is made, and so is ``dimension`` of
    its embeddings until ``pincite reembed`` changes over to another embedder. The rest can change (S1):
    ``minimum_characters`` of a searchable span and ``minimum_rule_characters`` of a rule's quote, ``required_meta``
    of a searchable source, ``span_kinds`` that the corpus holds, and ``source_kind``, which a source may repeat in
    its metadata but not contradict. ``required_scopes`` are metadata keys: rows are read only within one value of
    each (C3); by ``scopes``, which include them, rows are found with an index.
    """

    name: str
    dimension: int = 256
    text_search: str = "english"
    minimum_characters: int = 50
    required_meta: list[str] = field(default_factory=list)
    minimum_rule_characters: int = 20
    span_kinds: list[str] = field(default_factory=lambda: list(SPAN_KINDS))
    source_kind: str | None = None
    required_scopes: list[str] = field(default_factory=list)
    scopes: list[str] = field(default_factory=list)
