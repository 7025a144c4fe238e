# SPDX-License-Identifier: Apache-2.0
"""YAML read strictly: errors with their line, no key given twice, and the line of every key for later messages."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import yaml
from haystack.marshal.yaml import YamlLoader
from haystack_integrations.document_stores.pincite.errors import ConfigurationError

# The parser in C reads a pipeline in a tenth of the time, which every command waits for; builds of PyYAML may lack it.
_Parser = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class YamlText:
    """
    A YAML mapping and where its parts stand.

    ``data`` is what Haystack's own loader makes of the text; ``lines`` gives the line, from 1, of each key and list
    item by its path, such as ``("components", "dense", "type")``.
    """

    data: dict[str, Any]
    origin: str
    lines: dict[KeyPath, int]

    def error(self, path: KeyPath, message: str) -> ConfigurationError:
        """An error at ``path``, or at the nearest part around it that has a line: ``origin:line: message``."""
        while path and path not in self.lines:
            path = path[:-1]
        where = f"{self.origin}:{self.lines[path]}" if path else self.origin
        return ConfigurationError(f"{where}: {' '.join(message.split())}")


def parse_yaml(text: str, origin: str) -> YamlText:
    """
    Read a text that must be one YAML mapping.

    :param origin: how messages name the text; see ``read_config``.
    :raises ConfigurationError: no YAML, no mapping at the top, a key that is no text or given twice.
    """
    loader: YamlLoader | None = None
    try:
        loader = YamlLoader("")
        node = yaml.compose(text, _Parser)
        lines: dict[KeyPath, int] = {}
        if node is not None:
            _walk(node, (), lines, origin)
        data = loader.construct_document(node) if node is not None else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{origin}:{mark.line + 1}" if mark else origin
        raise ConfigurationError(f"{where}: not valid YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split()) or "nested too deeply"
        raise ConfigurationError(f"{origin}: not valid YAML: {reason}") from error
    finally:
        if loader is not None:
            loader.dispose()
    if not isinstance(data, dict):
        found = "nothing" if data is None else f"a {type(data).__name__}"
        raise ConfigurationError(f"{origin}: holds {found}; a mapping (key: value) is needed")
    return YamlText(data, origin, lines)


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """The end of a message about an unknown word: the nearest known one, or else all of them."""
    names = sorted(known)
    close = difflib.get_close_matches(str(word), names, n=1, cutoff=0.6)
    if close:
        return f"did you mean '{close[0]}'?"
    return f"known: {', '.join(names)}" if names else "none is known here"


def _walk(node: yaml.Node, path: KeyPath, lines: dict[KeyPath, int], origin: str) -> None:
    if isinstance(node, yaml.MappingNode):
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue  # "<<": its keys stand where the anchor is
            if not isinstance(key_node, yaml.ScalarNode) or key_node.tag != "tag:yaml.org,2002:str":
                shown = key_node.value if isinstance(key_node, yaml.ScalarNode) else "a list or mapping"
                raise ConfigurationError(f"{origin}:{line}: the key {shown} is no text; quote it")
            here = (*path, key_node.value)
            if here in lines:
                # YAML keeps the last one without a word, so that half of a file may be dead.
                raise ConfigurationError(
                    f"{origin}:{line}: '{key_node.value}' is given twice (first on line {lines[here]}); keep one"
                )
            lines[here] = line
            _walk(value_node, here, lines, origin)
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            lines[(*path, number)] = item.start_mark.line + 1
            _walk(item, (*path, number), lines, origin)
