# SPDX-License-Identifier: Apache-2.0
"""Reading and checking the vocabulary file."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from haystack_integrations.document_stores.pincite.errors import ConfigurationError
from haystack_integrations.document_stores.pincite.resources import read_config

FILE_NAME = "instruments.yaml"
_SECTIONS = {"types", "heads", "weak", "modifying", "same_heads", "spelling", "no_typing_errors", "words"}
_NOT_LANGUAGES = {"weak"}


@dataclass(frozen=True)
class VocabularyFile:
    """The file's content: aliases by canonical name, and classes of words by language."""

    types: Mapping[str, list[str]]
    heads: Mapping[str, list[str]]
    weak: frozenset[str]
    weak_heads: frozenset[str]
    modifying: frozenset[str]
    same_heads: list[frozenset[str]]
    spelling: Mapping[str, str]
    no_typing_errors: frozenset[str]
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def read_vocabulary(path: str | None) -> VocabularyFile:
    """
    Read a vocabulary file.

    :param path: the file; ``None`` is ``instruments.yaml`` of the configuration (contract, "Where things are").
    :raises ConfigurationError: the file is missing, is no YAML, or has an unknown or malformed entry.
    """
    text, origin = read_config(FILE_NAME) if path is None else (_read(path), path)
    try:
        content = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 (both are safe)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1})" if mark else ""
        raise ConfigurationError(f"{origin} is no valid YAML{where}") from error
    if not isinstance(content, dict) or not isinstance(content.get("types"), dict):
        raise ConfigurationError(f"{origin} has no mapping 'types'; it must name each type with its aliases")
    unknown = sorted(map(str, set(content) - _SECTIONS))
    if unknown:
        raise ConfigurationError(
            f"{origin} has the unknown section '{unknown[0]}'; known: {', '.join(sorted(_SECTIONS))}"
        )
    return _build(content, origin)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise ConfigurationError(f"vocabulary {path} does not exist; name a file such as {FILE_NAME}") from error
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise ConfigurationError(f"vocabulary {path} cannot be read as UTF-8 text") from error


def _build(content: dict[str, Any], origin: str) -> VocabularyFile:
    heads = _section(content, "heads", origin)
    return VocabularyFile(
        types={str(name): _aliases(str(name), entry, origin) for name, entry in content["types"].items()},
        heads={str(name): _aliases(str(name), entry, origin) for name, entry in heads.items()},
        weak=frozenset(phrases(_text(content, "weak", origin))),
        weak_heads=frozenset(str(name) for name, entry in heads.items() if (entry or {}).get("weak")),
        modifying=frozenset(phrases(_text(content, "modifying", origin))),
        same_heads=[frozenset(group.split()) for group in phrases(_text(content, "same_heads", origin))],
        spelling={str(key): str(value) for key, value in _section(content, "spelling", origin).items()},
        no_typing_errors=frozenset(_text(content, "no_typing_errors", origin).split()),
        words={
            str(language): {str(name): _text(classes, name, origin) for name in classes}
            for language, classes in _section(content, "words", origin).items()
        },
    )


def _section(content: dict[str, Any], name: str, origin: str) -> dict[Any, Any]:
    section = content.get(name) or {}
    if not isinstance(section, dict):
        raise ConfigurationError(f"{origin}: '{name}' is a {type(section).__name__}; it must be a mapping")
    return section


def _text(content: dict[str, Any], name: str, origin: str) -> str:
    value = content.get(name) or ""
    if not isinstance(value, str):
        raise ConfigurationError(f"{origin}: '{name}' is a {type(value).__name__}; write its words as one text")
    return value


def _aliases(name: str, entry: Any, origin: str) -> list[str]:
    entry = entry or {}
    if not isinstance(entry, dict):
        raise ConfigurationError(
            f"{origin}: type '{name}' must be a mapping from language to aliases, as {{en: \"..\"}}"
        )
    lists = [_text(entry, language, origin) for language in entry if language not in _NOT_LANGUAGES]
    return list(dict.fromkeys([name, *(alias for text in lists for alias in phrases(text))]))


def phrases(text: str) -> list[str]:
    """The phrases of a list that is separated by commas."""
    return [phrase for part in text.split(",") if (phrase := " ".join(part.split()))]


def inflections(verbs: Iterable[str]) -> frozenset[str]:
    """English verbs with the endings -s and -ed."""
    forms: set[str] = set()
    for verb in verbs:
        stem = verb[:-1] if verb[-1] in "ye" else verb
        if verb[-1] == "y" and verb[-2:-1] not in "aeiou":
            forms |= {stem + "ies", stem + "ied"}
        elif verb[-1] == "e":
            forms |= {verb + "s", verb + "d"}
        else:
            forms |= {verb + "s", verb + "es", verb + "ed", verb + verb[-1] + "ed"}
        forms.add(verb)
    return frozenset(forms)
