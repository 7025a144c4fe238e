# SPDX-License-Identifier: Apache-2.0
"""The corpora and principals that ``corpora.yaml`` describes, as frozen data."""

import json
from dataclasses import fields
from functools import lru_cache
from typing import Any, Literal

from haystack_integrations.document_stores.pincite.corpora import check_corpus_name
from haystack_integrations.document_stores.pincite.errors import BadInputError, ConfigurationError
from haystack_integrations.document_stores.pincite.resources import read_config
from pincite.pipelines.strict_yaml import KeyPath, YamlText, did_you_mean, parse_yaml
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

FILE_NAME = "corpora.yaml"
_FILE_KEYS = ("corpora", "tools", "principals", "command_line_principal", "serve_principal")
SpanKind = Literal["chunk", "rule", "page_image"]
_STRICT = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, slots=True, config=_STRICT)
class CorpusSettings:
    """
    What one corpus is (specification, section C).

    ``query_pipeline`` and ``indexing_pipeline`` are file names; weights and caps are parameters of the first.
    ``source_kind`` says what its sources are: one that says otherwise in its metadata is not searchable. ``language``
    is a two-letter code, ``text_search_config`` the PostgreSQL text-search configuration for it; ``embedder`` the name
    of the model of both pipelines, as its fingerprint begins, and ``embedding_dimension`` the length of its vectors;
    ``spans`` the kinds of spans that it holds. ``minimum_characters`` is the trimmed length from which a span is
    searchable, ``minimum_rule_characters`` that of a rule's quote, ``required_metadata`` what a source must have to be
    searchable (S1). ``scopes`` are the metadata keys that a search may give with ``--scope``, ``required_scopes`` those
    that it must (C3). ``local_only`` forbids rankers that call a service outside (F3). ``tools`` are the agent tools
    that search it.
    """

    name: str
    description: str
    query_pipeline: str
    indexing_pipeline: str
    language: str
    text_search_config: str
    embedding_dimension: int = Field(ge=1, le=16_000)
    source_kind: str | None = None
    embedder: str | None = None
    spans: tuple[SpanKind, ...] = ("chunk",)
    minimum_characters: int = Field(default=50, ge=1)
    minimum_rule_characters: int = Field(default=20, ge=1)
    required_metadata: tuple[str, ...] = ("title",)
    required_scopes: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    local_only: bool = False
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, config=_STRICT)
class ToolSettings:
    """
    A search that agents may call (specification, section C): one corpus, asked in one way.

    ``corpus`` is the only one that it reaches; ``action`` what it does there: ``search`` by a question, ``similar``
    from a case to cases like it, ``status``. ``pipeline`` is the file of its query pipeline, by default the corpus's
    own; ``required_scopes`` are those that a call must give; ``scopes_of_case`` those that are looked up from the
    ``case_id`` of the call where it does not give them; ``filters`` a Haystack filter that every call gets.
    """

    name: str
    corpus: str
    description: str
    action: Literal["search", "similar", "status"] = "search"
    pipeline: str | None = None
    required_scopes: tuple[str, ...] = ()
    scopes_of_case: tuple[str, ...] = ()
    filters: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, config=_STRICT)
class Principal:
    """Who asks: the groups whose sources he sees; ``("*",)`` is all of them."""

    name: str
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True, config=_STRICT)
class CorporaSettings:
    """
    ``corpora.yaml`` as a whole. ``origin`` says where it was read. ``command_line_principal`` asks on the command line
    where nobody is named; ``serve_principal`` asks REST and MCP where no token is needed. Both may be ``None``.
    """

    origin: str
    corpora: dict[str, CorpusSettings]
    principals: dict[str, Principal]
    tools: dict[str, ToolSettings] = Field(default_factory=dict)
    command_line_principal: str | None = None
    serve_principal: str | None = None

    def corpus(self, name: str) -> CorpusSettings:
        """
        The settings of one corpus.

        :raises BadInputError: there is no such corpus.
        """
        if name not in self.corpora:
            raise BadInputError(f"unknown corpus {name!r:.80}; corpora: {', '.join(self.corpora)}")
        return self.corpora[name]

    def tool(self, name: str) -> ToolSettings:
        """
        One tool.

        :raises BadInputError: there is no such tool.
        """
        if name not in self.tools:
            raise BadInputError(f"unknown tool {name!r:.80}; tools: {', '.join(self.tools) or 'none'}")
        return self.tools[name]

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
        "tools": _with_names(source, "tools") if source.data.get("tools") else {},
    }
    try:
        # JSON mode: a YAML list is a tuple's natural form, while "10" for a number stays an error.
        settings = TypeAdapter(CorporaSettings).validate_json(json.dumps(named, default=str))
    except ValidationError as error:
        raise _located(source, error) from error
    _check_consistency(source, settings)
    return settings


_SECTIONS: dict[str, type] = {"corpora": CorpusSettings, "principals": Principal, "tools": ToolSettings}


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
        known = {field.name for field in fields(_SECTIONS[str(path[0])])} - {"name"}
        return source.error(path, f"unknown key '{shown}'; {did_you_mean(path[-1], known)}")
    if first["type"] == "missing":
        return source.error(path, f"'{shown}' is missing")
    return source.error(path, f"{shown} is {first['input']!r:.80}; {_lower_first(first['msg'])}")


def _lower_first(message: str) -> str:
    return message[:1].lower() + message[1:]


def _check_tools(source: YamlText, settings: CorporaSettings) -> None:
    for name, tool in settings.tools.items():
        if tool.corpus not in settings.corpora:
            raise source.error(
                ("tools", name, "corpus"),
                f"tools.{name}: corpus is '{tool.corpus}'; {did_you_mean(tool.corpus, settings.corpora)}",
            )
        entry = settings.corpora[tool.corpus]
        if name not in entry.tools:
            raise source.error(("tools", name), f"tools.{name} is not among the tools of corpus '{tool.corpus}'")
        for key in ("required_scopes", "scopes_of_case"):
            for scope in getattr(tool, key):
                if scope not in entry.scopes:
                    raise source.error(
                        ("tools", name, key),
                        f"tools.{name}: '{scope}' is no scope of '{tool.corpus}'; {did_you_mean(scope, entry.scopes)}",
                    )
    for name, entry in settings.corpora.items():
        for tool_name in entry.tools:
            owner = settings.tools.get(tool_name)
            if owner is None or owner.corpus != name:
                raise source.error(
                    ("corpora", name, "tools"),
                    f"corpora.{name}: tool '{tool_name}' is not in tools for this corpus; "
                    f"{did_you_mean(tool_name, [t.name for t in settings.tools.values() if t.corpus == name])}",
                )


def _check_consistency(source: YamlText, settings: CorporaSettings) -> None:
    _check_tools(source, settings)
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
    for key in ("command_line_principal", "serve_principal"):
        default = getattr(settings, key)
        if default is not None and default not in settings.principals:
            raise source.error(
                (key,), f"{key} is '{default}', no principal; {did_you_mean(default, settings.principals)}"
            )
