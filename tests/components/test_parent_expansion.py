# SPDX-License-Identifier: Apache-2.0
"""The parent extent of every candidate (N5)."""

import pytest
from haystack_integrations.components.pincite.parent_expansion import ParentExpansion
from haystack_integrations.document_stores.pincite.spans import SpanDocument


@pytest.mark.parametrize(
    ("meta", "parent"),
    [
        ({"parent_start": 0, "parent_end": 900, "section": "8. Liability"}, (0, 900, "8. Liability")),
        ({"parent_start": 5, "parent_end": 9}, (5, 9, None)),
        ({"parent_start": None, "parent_end": None, "section": "1."}, None),
        ({"parent_start": 5, "parent_end": None}, None),
        ({}, None),
    ],
)
def test_the_parent_is_an_extent_or_none(meta, parent):
    given = SpanDocument(id="s", content="the span", score=0.5, meta=meta)
    (document,) = ParentExpansion().run([given])["documents"]
    expected = None if parent is None else dict(zip(("start", "end", "section"), parent, strict=True))
    assert document.meta == {**meta, "parent": expected}
    assert (document.id, document.content, document.score) == ("s", "the span", 0.5)
