# SPDX-License-Identifier: Apache-2.0
"""``pincite corpus add``: another corpus, set up like one that is there."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from haystack_integrations.document_stores.pincite.corpora import check_corpus_name
from haystack_integrations.document_stores.pincite.errors import BadInputError, ConfigurationError
from haystack_integrations.document_stores.pincite.resources import PACKAGES, config_dir, read_config
from pincite.pipelines.corpora import FILE_NAME, CorpusSettings, load_corpora, parse_corpora
from pincite.pipelines.loader import check_pipeline_text
from pincite.pipelines.strict_yaml import KeyPath, YamlText, parse_yaml

Lines = list[str]


@dataclass(frozen=True, slots=True)
class AddedCorpus:
    """A new corpus: its ``name``, the one it was set up ``like``, and the ``files`` that were written or changed."""

    name: str
    like: str
    files: list[Path]


def add_corpus(name: str, like: str) -> AddedCorpus:
    """
    Write an entry of ``corpora.yaml``, a search tool and two pipelines into the user's configuration folder.

    Everything is checked before anything is written; comments and layout of the user's file stay.

    :raises BadInputError: a name that is no corpus name or is taken, no corpus ``like``, or a file in the way.
    :raises ConfigurationError: there is no configuration folder, or its file is written in a way that cannot be
        added to.
    """
    check_corpus_name(name)
    settings = load_corpora()
    model = settings.corpus(like)
    if name in settings.corpora:
        raise BadInputError(f"corpus '{name}' is there already ({settings.origin}); choose another name")
    folder = config_dir()
    if folder is None:
        raise ConfigurationError(
            "no configuration folder to write to: run `pincite init --here` in one, then "
            f"`pincite --config FOLDER corpus add {name}`"
        )
    files = {f"{name}.yaml": model.query_pipeline, f"{name}.indexing.yaml": model.indexing_pipeline}
    for file in files:
        if (folder / file).exists() or any(resources.files(package).joinpath(file).is_file() for package in PACKAGES):
            raise BadInputError(f"{file} is there already; choose another name than '{name}'")
    tool = f"search_{name}" if f"search_{name}" not in settings.tools else None
    text = _with_corpus(*read_config(FILE_NAME), name, model, tool)
    parse_corpora(text, str(folder / FILE_NAME))
    written = {file: _pipeline(file, copied, name, like) for file, copied in files.items()}
    _write(folder, {**written, FILE_NAME: text})
    return AddedCorpus(name, like, [folder / file for file in (*written, FILE_NAME)])


def _pipeline(file: str, copied: str, name: str, like: str) -> str:
    """The text of a pipeline as one of another corpus."""
    text, _ = read_config(copied)
    text = re.sub(rf"(?m)^(\s*(?:- )?corpus: ){like}[ \t]*$", rf"\g<1>{name}", text)
    text = text.replace(f"of corpus `{like}`", f"of corpus `{name}`")
    check_pipeline_text(text, file, "indexing" if file.endswith(".indexing.yaml") else "query")
    return text


def _with_corpus(text: str, origin: str, name: str, model: CorpusSettings, tool: str | None) -> str:
    """``corpora.yaml`` with an entry after that of the model, and its tool after the others."""
    source = parse_yaml(text, origin)
    lines = text.splitlines()
    first, end = _extent(source, lines, ("corpora", model.name))
    if not re.fullmatch(rf"\s+{model.name}:\s*(#.*)?", lines[first]):
        raise source.error(("corpora", model.name), f"the entry '{model.name}' is not written as a block; add by hand")
    entry = _entry(source, lines, name, model, tool)
    added = _tool(source, lines, name, tool) if tool else []
    place = _extent(source, lines, ("tools",))[1] if "tools" in source.data else len(lines)
    if added and "tools" not in source.data:
        added = ["", "tools:", *added]
    # The later place first, so that the earlier one stays where it is.
    for where, new in sorted([(end, entry), (place, added)], reverse=True):
        lines[where:where] = new
    return "\n".join(lines) + "\n"


def _entry(source: YamlText, lines: Lines, name: str, model: CorpusSettings, tool: str | None) -> Lines:
    path: KeyPath = ("corpora", model.name)
    changed = {
        "description": f"Set up like {model.name}",
        "query_pipeline": f"{name}.yaml",
        "indexing_pipeline": f"{name}.indexing.yaml",
        "tools": f"[{tool}]" if tool else "[]",
    }
    first = source.lines[path] - 1
    keys = [key for key in source.data["corpora"][model.name] if (*path, key) in source.lines]
    start = min(source.lines[(*path, key)] - 1 for key in keys)
    result = [lines[first].replace(f"{model.name}:", f"{name}:", 1), *lines[first + 1 : start]]
    for key in keys:
        begin, end = _extent(source, lines, (*path, key))
        result += [_set(lines[begin], key, changed.pop(key))] if key in changed else lines[begin:end]
        result += _comments(lines, end)
    indent = re.match(r"\s*", lines[start])
    return result + [f"{indent[0] if indent else ''}{key}: {value}" for key, value in changed.items()]


def _set(line: str, key: str, value: str) -> str:
    return re.sub(rf"^(\s*){key}:.*", rf"\g<1>{key}: {value}", line)


def _tool(source: YamlText, lines: Lines, name: str, tool: str) -> Lines:
    existing = [number for path, number in source.lines.items() if len(path) == 2 and path[0] == "tools"]
    indent = re.match(r"\s*", lines[existing[0] - 1]) if existing else None
    outer = indent[0] if indent else "  "
    return [f"{outer}{tool}:", f"{outer}  corpus: {name}", f"{outer}  description: Search the corpus {name}."]


def _extent(source: YamlText, lines: Lines, path: KeyPath) -> tuple[int, int]:
    """
    Lines of an entry, half-open, from 0: up to the next line that is indented no deeper.

    Blank lines and comments before that line belong to what follows.
    """
    first = source.lines[path] - 1
    depth = _depth(lines[first])
    end = first + 1
    for number in range(first + 1, len(lines)):
        bare = lines[number].strip()
        if bare and not bare.startswith("#"):
            # A list may stand as deep as the key that it belongs to.
            if _depth(lines[number]) < depth or (_depth(lines[number]) == depth and not bare.startswith("- ")):
                break
            end = number + 1
    return first, end


def _comments(lines: Lines, start: int) -> Lines:
    """The comments that stand between two keys of an entry."""
    found: Lines = []
    for line in lines[start:]:
        if not line.strip().startswith("#"):
            return found if line.strip() and _depth(line) > 2 else []
        found.append(line)
    return []


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    """New files first; ``corpora.yaml``, which makes them count, last and in one step."""
    try:
        for file, text in texts.items():
            new = folder / f"{file}.new"
            new.write_text(text, encoding="utf-8")
            os.replace(new, folder / file)  # noqa: PTH105 - the same, and says what is replaced
    except OSError as error:
        raise BadInputError(f"{folder} cannot be written to: {error.strerror}") from error
