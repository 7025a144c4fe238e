# SPDX-License-Identifier: Apache-2.0
"""Reads JSON, JSON Lines, YAML and TOML as text: checked, and minified JSON laid out to be cut at its own structure."""

import json
import re
import tomllib

import yaml
from haystack_integrations.components.pincite.reading.extraction import Extracted, UnreadableError, storable
from haystack_integrations.components.pincite.reading.text_files import decode

DATA_SUFFIXES = frozenset({".json", ".jsonl", ".yaml", ".yml", ".toml"})
_LONG_LINES = 200  # characters a line on average; hand-written or formatted JSON has fewer
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)


def read_data(data: bytes, suffix: str, encoding: str | None = None) -> Extracted:
    """
    The file as it stands, or pretty-printed if it is minified JSON (I1).

    :param suffix: One of :data:`DATA_SUFFIXES`.
    :raises UnreadableError: Wrong encoding, empty, or no valid JSON, YAML or TOML; with line and column.
    """
    text = decode(data, encoding)
    if not text.strip():
        raise UnreadableError("no text in it")
    if suffix == ".json":
        _check_json(text)
        if len(text) > _LONG_LINES * (text.rstrip().count("\n") + 1):
            text = pretty_json(text)
    elif suffix == ".jsonl":
        _check_json_lines(text)
    elif suffix == ".toml":
        _check_toml(text)
    else:
        _check_yaml(text)
    return Extracted(storable(text), "data")


def pretty_json(text: str) -> str:
    """
    Valid JSON with a line for each member, indented by two blanks.

    Works on the tokens, not on the values: numbers keep their digits and repeated keys stay. Only escapes of printable
    characters are resolved, so that words can be found.
    """
    parts: list[str] = []
    depth = 0
    tokens = _TOKEN.findall(text)
    for index, piece in enumerate(tokens):
        if piece in "}]":
            depth -= 1
            if tokens[index - 1] not in "{[":
                parts.append("\n" + "  " * depth)
            parts.append(piece)
        elif piece in "{[":
            depth += 1
            empty = tokens[index + 1] in "}]"
            parts.append(piece if empty else piece + "\n" + "  " * depth)
        elif piece == ",":
            parts.append(",\n" + "  " * depth)
        elif piece == ":":
            parts.append(": ")
        else:
            parts.append(json.dumps(json.loads(piece, strict=False), ensure_ascii=False) if piece[0] == '"' else piece)
    return "".join(parts) + "\n"


def _check_json(text: str) -> None:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        raise UnreadableError(f"no valid JSON: {error.msg} at line {error.lineno}, column {error.colno}") from error
    except (RecursionError, ValueError) as error:
        raise UnreadableError("JSON that is nested too deeply, or holds a number of too many digits") from error


def _check_json_lines(text: str) -> None:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                _check_json(line)
            except UnreadableError as error:
                raise UnreadableError(f"line {number}: {error}") from error


def _check_toml(text: str) -> None:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UnreadableError(f"no valid TOML: {error}") from error


def _check_yaml(text: str) -> None:
    try:
        for _ in yaml.parse(text, Loader=yaml.SafeLoader):  # syntax only: application tags are no error
            pass
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise UnreadableError(f"no valid YAML: {error.problem}{place}") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise UnreadableError(f"no valid YAML: {str(error).splitlines()[0]}") from error
