# SPDX-License-Identifier: Apache-2.0
"""The asker's own matter first (F4)."""

from haystack_integrations.components.pincite.matter_partition import MatterPartition
from haystack_integrations.document_stores.pincite.spans import SpanDocument
from hypothesis import given
from hypothesis import strategies as st

matters = st.lists(st.sampled_from(["M-1", "M-2", None]), max_size=20)


def pool(names):
    return [
        SpanDocument(id=str(n), content="x", score=1 / (n + 1), meta={"matter": name} if name else {})
        for n, name in enumerate(names)
    ]


@given(matters)
def test_the_matter_comes_first_and_both_groups_keep_their_order_and_scores(names):
    documents = pool(names)
    result = MatterPartition().run(documents, matter="M-1")["documents"]
    own = [document for document in documents if document.meta.get("matter") == "M-1"]
    assert result == own + [document for document in documents if document.meta.get("matter") != "M-1"]


@given(matters, st.sampled_from([None, "M-9", ""]))
def test_no_matter_or_a_matter_without_candidates_changes_nothing(names, matter):
    assert MatterPartition().run(pool(names), matter=matter)["documents"] == pool(names)
