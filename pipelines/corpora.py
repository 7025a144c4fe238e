# SPDX-License-Identifier: Apache-2.0
"""The corpora and principals that ``corpora.yaml`` describes, as frozen data."""

import json
from dataclasses import fields
from functools import lru_cache
from typing import Any

from haystack_integrations.document_stores.pincite.corpora import check_corpus_name
from haystack_integrations.document_stores.pincite.errors import BadInputError, ConfigurationError
from haystack_integrations.document_stores.pincite.resources import read_config
from pincite.pipelines.strict_yaml import KeyPath, YamlText, did_you_mean, parse_yaml
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

FILE_NAME = "corpora.yaml"
_FILE_KEYS = ("corpora", "principals", "command_line_principal")
_STRICT = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, slots=True, config=_STRICT)
class CorpusSettings:
    """
    What one corpus is (specification, section C).

    ``query_pipeline`` and ``indexing_pipeline`` are file names; ``language`` a two-letter code and
    ``text_search_config`` the PostgreSQL text-search configuration for it; ``embedding_dimension`` the length of its
    vectors; ``minimum_characters`` the trimmed length from which a span is searchable (S1); ``required_metadata``
    what a source must have to be searchable; ``scopes`` the metadata keys that a search may give with ``--scope``,
    ``required_scopes`` those that it must (C3); ``tools`` the agent tools that search it.
    """

    name: str
    description: str
    query_pipeline: str
    indexing_pipeline: str
    language: str
    text_search_config: str
    embedding_dimension: int = Field(ge=1, le=16_000)
    minimum_characters: int = Field(default=50, ge=1)
    required_metadata: tuple[str, ...] = ("title",)
    required_scopes: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, config=_STRICT)
class Principal:
    """Who asks: the groups whose sources he sees; ``("*",)`` is all of them."""

    name: str
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True, config=_STRICT)
class CorporaSettings:
    """``corpora.yaml`` as a whole. ``origin`` says where it was read; ``command_line_principal`` may be ``None``."""

    origin: str
    corpora: dict[str, CorpusSettings]
    principals: dict[str, Principal]
    command_line_principal: str | None = None

    def corpus(self, name: str) -> CorpusSettings:
        """
        The settings of one corpus.

        :raises BadInputError: there is no such corpus.
        """
        if name not in self.corpora:
            raise BadInputError(f"unknown corpus {name!r:.80}; corpora: {', '.join(self.corpora)}")
        return self.corpora[name]

    def principal(self, name: str) -> Principal:
        """
        One principal.

        :raises BadInputError: there is no such principal.
        """
        if name not in self.principals:
            raise BadInputError(f"unknown principal {name!r:.80}; principals: {', '.join(self.principals)}")
        return self.principals[name]


def load_corpora() -> CorporaSettings:
    """
    Read and check ``corpora.yaml``.

    :raises ConfigurationError: one line that names file, line, key, value found and what would be right.
    """
    return parse_corpora(*read_config(FILE_NAME))


def corpus(name: str) -> CorpusSettings:
    """
    The settings of one corpus of the configuration in force.

    :raises BadInputError: there is no such corpus.
    :raises ConfigurationError: the file is wrong.
    """
    return load_corpora().corpus(name)


@lru_cache(maxsize=8)
def parse_corpora(text: str, origin: str) -> CorporaSettings:
    """
    Check the text of a ``corpora.yaml``; :func:`load_corpora` is what callers use.

    The cache makes asking per search free and still sees a changed file, whose text is its key.
    """
    source = parse_yaml(text, origin)
    for key in source.data:
        if key not in _FILE_KEYS:
            raise source.error((key,), f"unknown key '{key}'; {did_you_mean(key, _FILE_KEYS)}")
    named = {
        **source.data,
        "origin": origin,
        "corpora": _with_names(source, "corpora"),
        "principals": _with_names(source, "principals"),
    }
    try:
        # JSON mode: a YAML list is a tuple's natural form, while "10" for a number stays an error.
        settings = TypeAdapter(CorporaSettings).validate_json(json.dumps(named, default=str))
    except ValidationError as error:
        raise _located(source, error) from error
    _check_consistency(source, settings)
    return settings


def _with_names(source: YamlText, section: str) -> dict[str, Any]:
    entries = source.data.get(section)
    if not isinstance(entries, dict) or not entries:
        raise source.error((section,), f"'{section}' is {entries!r:.80}; it must be a mapping with at least one name")
    for name, entry in entries.items():
        if not isinstance(entry, dict):
            raise source.error((section, name), f"{section}.{name} is {entry!r:.80}; it must be a mapping")
        if "name" in entry:
            raise source.error((section, name, "name"), f"{section}.{name}: 'name' is the key itself; remove it")
    return {name: {**entry, "name": name} for name, entry in entries.items()}


def _located(source: YamlText, error: ValidationError) -> ConfigurationError:
    # An unknown key first: it is usually the misspelt form of one that is missing, too.
    first = min(error.errors(include_url=False), key=lambda found: found["type"] != "unexpected_keyword_argument")
    path: KeyPath = first["loc"]
    shown = ".".join(str(part) for part in path)
    if first["type"] == "unexpected_keyword_argument":
        known = {field.name for field in fields(CorpusSettings if path[0] == "corpora" else Principal)} - {"name"}
        return source.error(path, f"unknown key '{shown}'; {did_you_mean(path[-1], known)}")
    if first["type"] == "missing":
        return source.error(path, f"'{shown}' is missing")
    return source.error(path, f"{shown} is {first['input']!r:.80}; {_lower_first(first['msg'])}")


def _lower_first(message: str) -> str:
    return message[:1].lower() + message[1:]


def _check_consistency(source: YamlText, settings: CorporaSettings) -> None:
    for name, entry in settings.corpora.items():
        try:
            check_corpus_name(name)
        except BadInputError as error:
            raise source.error(("corpora", name), str(error)) from error
        for scope in entry.required_scopes:
            if scope not in entry.scopes:
                raise source.error(
                    ("corpora", name, "required_scopes"),
                    f"corpora.{name}: required scope '{scope}' is not in scopes; {did_you_mean(scope, entry.scopes)}",
                )
    default = settings.command_line_principal
    if default is not None and default not in settings.principals:
        raise source.error(
            ("command_line_principal",),
            f"command_line_principal is '{default}', no principal; {did_you_mean(default, settings.principals)}",
        )
