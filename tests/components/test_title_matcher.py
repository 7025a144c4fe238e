# SPDX-License-Identifier: Apache-2.0
"""Which hits of any retriever carry the name (N3, A5)."""

from typing import Any

from haystack import Document, Pipeline
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack_integrations.components.pincite.named_instrument_recognizer import NamedInstrumentRecognizer
from haystack_integrations.components.pincite.title_matcher import TitleMatcher


def title(source_id: str, name: str) -> Document:
    return Document(id=source_id, content=name, meta={"source_id": source_id, "title": name})


TITLES = [
    title("acme-nda", "Non-Disclosure Agreement of Acme Corporation"),
    title("acme-lease", "Lease between Acme Corporation and Birch LLC"),
    title("cedar-lease", "Lease of Cedar Mills"),
]


def matched(query: str, titles: list[Document], **parameters: Any) -> dict[str, Any]:
    found = NamedInstrumentRecognizer().run(query)
    return TitleMatcher(**parameters).run(titles, found["intents"], query, found["topic_query"])


def test_a_carrier_has_the_type_and_the_name() -> None:
    found = matched("What does the Acme lease say about repairs?", TITLES)
    assert found["matches"] == [{"source_id": "acme-lease", "title": TITLES[1].meta["title"], "intent": 0}]
    assert found["search_query"] == "repairs"
    assert found["filters"] == {"field": "meta.source_id", "operator": "in", "value": ["acme-lease"]}


def test_an_absent_document_leaves_the_query_whole_and_lets_nothing_through() -> None:
    query = "What does the Dogwood lease say about repairs?"
    found = matched(query, TITLES)
    assert (found["matches"], found["search_query"]) == ([], query)
    store = InMemoryDocumentStore()
    store.write_documents(TITLES)
    assert store.filter_documents(found["filters"]) == []
    assert len(store.filter_documents(matched("What does the Acme lease say?", TITLES)["filters"])) == 1


def test_a_query_without_a_name_is_left_as_it_is() -> None:
    query = "who repairs the roof"
    found = matched(query, TITLES)
    assert (found["matches"], found["search_query"], found["filters"]["value"]) == ([], query, [])
    assert matched(query, [])["matches"] == []


def test_two_names_have_their_own_carriers() -> None:
    found = matched("Compare the Acme lease and the Cedar Mills lease", TITLES)
    assert [(match["source_id"], match["intent"]) for match in found["matches"]] == [
        ("acme-lease", 0),
        ("cedar-lease", 1),
    ]


def test_matches_keep_the_order_of_the_hits_and_are_bounded() -> None:
    leases = [title(f"lease-{number}", f"Lease {number} of Acme Corporation") for number in (3, 1, 2)]
    found = matched("the Acme lease", [*leases, *leases], max_matches=2)
    assert [match["source_id"] for match in found["matches"]] == ["lease-3", "lease-1"]


def test_a_document_without_a_title_carries_nothing() -> None:
    assert matched("the Acme lease", [Document(content="Acme lease")])["matches"] == []


def test_it_is_saved_and_loaded() -> None:
    pipeline = Pipeline()
    pipeline.add_component("matcher", TitleMatcher(max_matches=3))
    assert Pipeline.loads(pipeline.dumps()).get_component("matcher").max_matches == 3
