# SPDX-License-Identifier: Apache-2.0
"""The named document first, and never another of its type (N6 to N8, N12)."""

import pytest
from haystack_integrations.components.pincite.intents import Intent, NamedSource
from haystack_integrations.components.pincite.named_instrument_partition import NamedInstrumentPartition
from haystack_integrations.document_stores.pincite.spans import SpanDocument
from hypothesis import given
from hypothesis import strategies as st

TITLES = {
    "hfa": "Grandview Apartments HFA Bond Mortgage",
    "riverside": "Riverside Bond Mortgage",
    "env": "HFA Environmental Indemnity Agreement",
    "note": "Brooklyn Community Housing Services, Inc. Promissory Note",
    "note2": "Harlem Housing Services, Inc. Promissory Note",
    "tooling": "Acme Tooling Recapture Agreement",
}


def intent(kind, *qualifiers):
    title_query = " ".join((*qualifiers, kind))
    return Intent(phrase=kind, type=kind, qualifiers=list(qualifiers), title_query=title_query)


def match(source, number=0):
    return NamedSource(source_id=source, title=TITLES.get(source, source), intent=number)


def pool(sources):
    return [
        SpanDocument(id=f"{s}{n}", content="x", score=1 / (n + 1), meta={"source_id": s, "title": TITLES[s]})
        for n, s in enumerate(sources)
    ]


def partition(sources, intents, matches):
    result = NamedInstrumentPartition().run(documents=pool(sources), intents=intents, matches=matches)
    return [document.meta["source_id"] for document in result["documents"]], result["named"], result["documents"]


def test_the_named_document_comes_first():
    order, named, documents = partition(
        ["env", "riverside", "hfa", "env", "hfa"], [intent("bond mortgage", "hfa")], [match("hfa")]
    )
    assert order == ["hfa", "hfa", "env", "riverside", "env"]
    assert named == {"matched": True, "sources": [match("hfa")]}
    assert [document.score for document in documents] == [1 / 3, 1 / 5, 1, 1 / 2, 1 / 4]
    assert [document.meta.get("_promoted") for document in documents] == [True, True, None, None, None]


@pytest.mark.parametrize(
    ("intents", "matches"),
    [
        ([], []),
        ([intent("bond mortgage", "acme")], []),
        ([intent("bond mortgage", "acme")], [match("hfa"), match("riverside")]),  # type alone
        ([intent("bond mortgage", "hfa")], [match("env")]),  # name alone
        ([intent("promissory note", "harbor", "housing", "services", "inc")], [match("note"), match("note2")]),
        ([intent("promissory note", "services")], [match("note"), match("note2")]),
        ([intent("promissory note", "services", "inc")], [match("note"), match("note2")]),
        ([intent("bond mortgage", "hfa")], [match("elsewhere")]),  # no candidate of that source
    ],
)
def test_without_a_candidate_that_meets_the_whole_condition_nothing_changes(intents, matches):
    documents = pool(["env", "riverside", "note", "hfa", "note2"])
    result = NamedInstrumentPartition().run(documents=documents, intents=intents, matches=matches)
    assert result == {"documents": documents, "named": {"matched": False, "sources": []}}
    assert all(kept is given_ for kept, given_ in zip(result["documents"], documents, strict=True))


def test_a_source_that_the_title_leg_did_not_match_is_not_promoted():
    order, named, _ = partition(["note2", "note"], [intent("promissory note", "brooklyn", "harlem")], [match("note")])
    assert order == ["note", "note2"]
    assert named["sources"] == [match("note")]


def test_only_the_matches_that_meet_the_condition_are_reported_best_first():
    intents = [intent("bond mortgage", "hfa", "riverside")]
    _, named, _ = partition(["riverside", "env", "hfa"], intents, [match("hfa"), match("env"), match("riverside")])
    assert named["sources"] == [match("hfa"), match("riverside")]


def test_without_qualifiers_the_type_is_the_condition():
    order, _, _ = partition(["env", "hfa"], [intent("bond mortgage")], [match("hfa"), match("env")])
    assert order == ["hfa", "env"]


def test_a_name_of_common_words_in_a_row_is_a_name():
    order, _, _ = partition(
        ["note2", "note"], [intent("promissory note", "community", "housing", "services")], [match("note")]
    )
    assert order == ["note", "note2"]


def test_two_instruments_are_both_admitted_in_the_order_they_had():
    intents = [intent("bond mortgage", "hfa"), intent("promissory note", "brooklyn")]
    order, named, _ = partition(["env", "note", "riverside", "hfa", "note"], intents, [match("hfa"), match("note", 1)])
    assert order == ["note", "hfa", "note", "env", "riverside"]
    assert named["sources"] == [match("hfa"), match("note", 1)]


def test_a_match_counts_for_its_own_instrument_only():
    intents = [intent("bond mortgage", "hfa"), intent("promissory note", "brooklyn")]
    order, named, _ = partition(["env", "hfa"], intents, [match("hfa", 1)])
    assert order == ["env", "hfa"]
    assert named["matched"] is False


@pytest.mark.parametrize("qualifier", ["Grandveiw", "grandview's", "GrandviewApartments"])
def test_typing_errors_possessives_and_missing_spaces(qualifier):
    order, _, _ = partition(["env", "hfa"], [intent("bond mortgage", qualifier)], [match("hfa")])
    assert order == ["hfa", "env"]


@pytest.mark.parametrize(
    ("title", "qualifier"),
    [
        ("iPAYMENT, Inc. Bond Mortgage", "ipayment"),
        ("Tickets.com, Inc. Bond Mortgage", "tickets"),
        ("Tickets, Inc. Bond Mortgage", "tickets.com"),
        ("BirchFirst BondMortgage", "birch"),
    ],
)
def test_capitals_and_dots_inside_a_name(title, qualifier):
    document = SpanDocument(id="t", content="x", meta={"source_id": "t", "title": title})
    result = NamedInstrumentPartition().run(
        documents=[*pool(["env"]), document], intents=[intent("bond mortgage", qualifier)], matches=[match("t")]
    )
    assert result["named"]["matched"] is True


def test_two_sites_have_no_name_in_common():
    document = SpanDocument(id="t", content="x", meta={"source_id": "t", "title": "Tickets.com Bond Mortgage"})
    result = NamedInstrumentPartition().run(
        documents=[document], intents=[intent("bond mortgage", "schoolpop.com")], matches=[match("t")]
    )
    assert result["named"]["matched"] is False


def test_an_alias_of_the_type_and_a_generic_head():
    order, _, _ = partition(
        ["hfa", "tooling"], [intent("agreement", "tooling", "recapture", "acme")], [match("tooling")]
    )
    assert order == ["tooling", "hfa"]
    aliased = SpanDocument(id="m", content="x", meta={"source_id": "m", "title": "HFA Mortgage Bond"})
    result = NamedInstrumentPartition().run(
        documents=[*pool(["env"]), aliased], intents=[intent("bond mortgage", "hfa")], matches=[match("m")]
    )
    assert [document.meta["source_id"] for document in result["documents"]] == ["m", "env"]


@given(
    st.lists(st.sampled_from(sorted(TITLES)), max_size=20),
    st.lists(
        st.builds(
            intent,
            st.sampled_from(["bond mortgage", "promissory note", "agreement"]),
            st.sampled_from(["hfa", "brooklyn", "acme", "services", "zebra"]),
        ),
        min_size=1,
        max_size=2,
    ),
    st.lists(st.sampled_from(sorted(TITLES)), unique=True),
)
def test_it_is_a_stable_partition(sources, intents, matched):
    matches = [match(source, number % len(intents)) for number, source in enumerate(matched)]
    _, named, documents = partition(sources, intents, matches)
    promoted = {source["source_id"] for source in named["sources"]}
    plain = pool(sources)
    first = [document.id for document in plain if document.meta["source_id"] in promoted]
    rest = [document.id for document in plain if document.meta["source_id"] not in promoted]
    assert [document.id for document in documents] == first + rest
    assert {document.id: document.score for document in documents} == {
        document.id: document.score for document in plain
    }
    assert promoted <= set(matched) & set(sources)
    assert named["matched"] == bool(promoted)
