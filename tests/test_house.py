# SPDX-License-Identifier: Apache-2.0
"""The house rules that a machine can check: layers, packaging, public names, and the form of the files."""

import ast
import importlib
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
COMPONENTS = "haystack_integrations.components.pincite"
STORE = "haystack_integrations.document_stores.pincite"

# Layer by import name, the longest name first; and what each layer may import.
LAYERS = {
    "pincite.pipelines": "pipelines",
    "pincite.configs": "configs",
    COMPONENTS: "components",
    STORE: "store",
    "pincite": "app",
}
MAY_IMPORT = {
    "app": {"app", "pipelines", "components", "store", "configs"},
    "pipelines": {"pipelines", "components", "store", "configs"},
    "components": {"components", "store", "configs"},
    "store": {"store", "configs"},
    "configs": {"configs"},
}
SOURCE_FOLDERS = ("app", "pipelines", "components", "store", "configs")

# A saved pipeline names these paths: moving or renaming one of them breaks every file that users have written.
PUBLIC_TYPES = {
    "haystack_integrations.components.pincite.attribution_gate.AttributionGate",
    "haystack_integrations.components.pincite.best_extent_recovery.BestExtentRecovery",
    "haystack_integrations.components.pincite.case_diversifier.CaseDiversifier",
    "haystack_integrations.components.pincite.case_profile.CaseProfile",
    "haystack_integrations.components.pincite.case_request.CaseRequest",
    "haystack_integrations.components.pincite.data_file_converter.DataFileConverter",
    "haystack_integrations.components.pincite.dense_retriever.DenseRetriever",
    "haystack_integrations.components.pincite.fingerprinted_document_embedder.FingerprintedDocumentEmbedder",
    "haystack_integrations.components.pincite.fingerprinted_text_embedder.FingerprintedTextEmbedder",
    "haystack_integrations.components.pincite.e5_document_embedder.E5DocumentEmbedder",
    "haystack_integrations.components.pincite.e5_text_embedder.E5TextEmbedder",
    "haystack_integrations.components.pincite.lexical_retriever.LexicalRetriever",
    "haystack_integrations.components.pincite.matter_partition.MatterPartition",
    "haystack_integrations.components.pincite.named_instrument_partition.NamedInstrumentPartition",
    "haystack_integrations.components.pincite.named_instrument_recognizer.NamedInstrumentRecognizer",
    "haystack_integrations.components.pincite.onnx_cross_encoder_ranker.OnnxCrossEncoderRanker",
    "haystack_integrations.components.pincite.optional_reranker.OptionalReranker",
    "haystack_integrations.components.pincite.parent_expansion.ParentExpansion",
    "haystack_integrations.components.pincite.path_tagger.PathTagger",
    "haystack_integrations.components.pincite.reciprocal_rank_joiner.ReciprocalRankJoiner",
    "haystack_integrations.components.pincite.rule_splitter.RuleSplitter",
    "haystack_integrations.components.pincite.search_request.SearchRequest",
    "haystack_integrations.components.pincite.source_converter.SourceConverter",
    "haystack_integrations.components.pincite.source_diversifier.SourceDiversifier",
    "haystack_integrations.components.pincite.span_splitter.SpanSplitter",
    "haystack_integrations.components.pincite.span_writer.SpanWriter",
    "haystack_integrations.components.pincite.title_extractor.TitleExtractor",
    "haystack_integrations.components.pincite.title_matcher.TitleMatcher",
    "haystack_integrations.components.pincite.title_reservation.TitleReservation",
    "haystack_integrations.components.pincite.title_retriever.TitleRetriever",
    "haystack_integrations.components.pincite.voyage_reranker.VoyageReranker",
    "haystack_integrations.components.pincite.word_llama_document_embedder.WordLlamaDocumentEmbedder",
    "haystack_integrations.components.pincite.word_llama_text_embedder.WordLlamaTextEmbedder",
    "haystack_integrations.document_stores.pincite.corpus_store.CorpusDocumentStore",
}

MAX_FILE_LINES = 450
MAX_FUNCTION_LINES = 60


def python_files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def named(paths: list[Path]) -> list[object]:
    return [pytest.param(path, id=path.relative_to(ROOT).as_posix()) for path in paths]


def written_files() -> list[Path]:
    """Every text file that somebody wrote, and nothing that a tool made."""
    folders = [*SOURCE_FOLDERS, "tests", "docs", "examples", "benchmarks", ".ci"]
    inside = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    top = [path for path in ROOT.iterdir() if path.is_file() and path.name != ".git"]
    binary = {".onnx", ".pyc", ".pdf", ".docx", ".png", ".zip", ".whl"}
    return sorted(path for path in [*top, *inside] if path.suffix not in binary)


SOURCES = python_files(*SOURCE_FOLDERS)
ALL_PYTHON = [*SOURCES, *python_files("tests", "examples", "benchmarks", ".ci")]


def layer_of(module: str) -> str | None:
    for name, layer in LAYERS.items():
        if module == name or module.startswith(f"{name}."):
            return layer
    return None


def imported_modules(path: Path) -> Iterator[tuple[int, str]]:
    """Line and full name of everything that a file imports, also inside functions and for type checkers only."""
    top, *below = path.parent.relative_to(ROOT).parts
    package = ".".join([next(name for name, layer in LAYERS.items() if layer == top), *below])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            # "from pincite import pipelines" imports pincite.pipelines; for a class the longer name changes nothing.
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


@pytest.mark.parametrize("path", named(SOURCES))
def test_imports_point_downwards(path: Path) -> None:
    layer = path.relative_to(ROOT).parts[0]
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for line, module in imported_modules(path)
        if (target := layer_of(module)) is not None and target not in MAY_IMPORT[layer]
    ]
    assert not wrong


def test_every_package_folder_is_in_the_packaging() -> None:
    folders = {path.parent.relative_to(ROOT).as_posix() for path in SOURCES}
    assert set(SETUPTOOLS["package-dir"].values()) == folders
    assert set(SETUPTOOLS["packages"]) == set(SETUPTOOLS["package-dir"])
    assert all((ROOT / folder / "__init__.py").is_file() for folder in folders)


def test_no_folder_at_the_root_shadows_the_package() -> None:
    assert not (ROOT / "pincite").exists()
    assert not (ROOT / "haystack_integrations").exists()


def test_the_wheel_holds_every_file_of_the_packages(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    for folder in SOURCE_FOLDERS:
        shutil.copytree(ROOT / folder, tree / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree / name)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", "--no-index"]
    built = subprocess.run([*command, "-w", tmp_path, tree], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert packed == expected_in_wheel(tree)


def expected_in_wheel(tree: Path) -> set[str]:
    # Deepest folders first, so that app/demo/x is pincite/demo/x by its own entry.
    mapping = sorted(SETUPTOOLS["package-dir"].items(), key=lambda pair: -len(pair[1]))
    expected = set()
    for folder in SOURCE_FOLDERS:
        for path in (tree / folder).rglob("*"):
            if path.is_file():
                package, home = next((p, h) for p, h in mapping if path.is_relative_to(tree / h))
                expected.add(f"{package.replace('.', '/')}/{path.relative_to(tree / home).as_posix()}")
    return expected


def component_paths() -> set[str]:
    """Type paths of the classes in ``components/`` that carry Haystack's ``@component``."""
    found = set()
    for path in python_files("components"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and any(ast.unparse(mark) == "component" for mark in node.decorator_list):
                found.add(f"{COMPONENTS}.{path.stem}.{node.name}")
    return found


def test_public_type_paths_are_pinned() -> None:
    assert {path for path in PUBLIC_TYPES if path.startswith(COMPONENTS)} == component_paths()


@pytest.mark.parametrize("path", sorted(PUBLIC_TYPES))
def test_a_public_type_path_is_where_its_class_is_defined(path: str) -> None:
    module, _, name = path.rpartition(".")
    found = getattr(importlib.import_module(module), name)
    assert f"{found.__module__}.{found.__name__}" == path


def test_the_pipelines_use_pinned_types_only() -> None:
    used = set()
    for file in (ROOT / "pipelines").glob("*.yaml"):
        used |= set(types_in(yaml.safe_load(file.read_text(encoding="utf-8"))))
    assert {path for path in used if ".pincite." in path} <= PUBLIC_TYPES


def types_in(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("type"), str):
            yield value["type"]
        for item in value.values():
            yield from types_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from types_in(item)


@pytest.mark.parametrize("path", named([*ALL_PYTHON, *sorted((ROOT / "store").rglob("*.sql"))]))
def test_the_first_line_names_the_licence(path: Path) -> None:
    mark = "--" if path.suffix == ".sql" else "#"
    assert path.read_text(encoding="utf-8").splitlines()[0] == f"{mark} SPDX-License-Identifier: Apache-2.0"


@pytest.mark.parametrize("path", named(ALL_PYTHON))
def test_files_and_functions_are_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MAX_FILE_LINES
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert {node.name: code_lines(node) for node in functions if code_lines(node) > MAX_FUNCTION_LINES} == {}


def code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function's body; its signature and its docstring may be as long as they need."""
    first = function.body[0]
    lines = (function.end_lineno or 0) - first.lineno + 1
    if ast.get_docstring(function) is not None:
        lines -= (first.end_lineno or 0) - first.lineno + 1
    return lines


@pytest.mark.parametrize("path", named([path for path in SOURCES if path.name == "__init__.py"]))
def test_an_init_file_holds_no_logic(path: Path) -> None:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        exports = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        assert docstring or exports or isinstance(node, ast.Import | ast.ImportFrom), ast.unparse(node)


def test_no_file_names_a_place_on_one_machine() -> None:
    places = re.compile(r"(?<![\w.])/(?:work|tmp|root|home/\w+)/")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in written_files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if places.search(line) and path != Path(__file__)
    ]
    assert not found
