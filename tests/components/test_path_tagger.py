# SPDX-License-Identifier: Apache-2.0
"""Tags from folders (A6)."""

import pytest
from haystack import Document, Pipeline
from haystack_integrations.components.pincite.path_tagger import PathTagger
from haystack_integrations.document_stores.pincite.errors import ConfigurationError


def tags(source_id: str, depth: int | None = None, **meta: object) -> list[str] | None:
    document = Document(content="x", meta={"source_id": source_id, **meta})
    before = dict(document.meta)
    result = PathTagger(depth).run([document])["documents"][0]
    assert document.meta == before
    return result.meta.get("tags")


@pytest.mark.parametrize(
    ("source_id", "settings", "expected"),
    [
        ("note.md", {}, None),
        ("note.md", {"tags": ["a"]}, ["a"]),
        ("office/travel/visas.md", {}, ["office", "travel"]),
        ("office/travel/visas.md", {"tags": ["visa"]}, ["visa", "office", "travel"]),
        ("Office/office/x.md", {"tags": ["OFFICE"]}, ["OFFICE"]),
        ("team/office/x.md", {"_prefix": "team/"}, ["office"]),
        ("a/b/c/x.md", {"depth": 2}, ["a", "b"]),
        ("מיסוי/היטל/הערה.md", {}, ["מיסוי", "היטל"]),
        ("cafe\u0301/x.md", {}, ["caf\u00e9"]),
        (" /x.md", {}, None),
    ],
)
def test_folders_are_tags(source_id: str, settings: dict[str, object], expected: list[str] | None) -> None:
    assert tags(source_id, **settings) == expected


def test_settings() -> None:
    with pytest.raises(ConfigurationError, match="depth is 0, expected at least 1"):
        PathTagger(0)
    pipeline = Pipeline()
    pipeline.add_component("tags", PathTagger(depth=1))
    assert Pipeline.loads(pipeline.dumps()) == pipeline
