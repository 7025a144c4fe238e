# SPDX-License-Identifier: Apache-2.0
"""Parties of an opening, with their short names (I4)."""

import pytest
from haystack_integrations.components.pincite.titles.opening_text import squeeze, tokenize
from haystack_integrations.components.pincite.titles.party_extraction import find_parties
from haystack_integrations.components.pincite.titles.party_mentions import Party
from hypothesis import given
from hypothesis import strategies as st


def parties(text: str) -> tuple[Party, ...]:
    opening = squeeze(text)
    return find_parties(opening, tokenize(opening), text)


def test_short_names_go_to_the_party_before_them() -> None:
    first, second = parties(
        "This Lease is between Alder Limited, a company of 4 Mill Road, Leith, Scotland 10013 "
        '("Alder" or the "Landlord"), '
        'and Birch GmbH, formerly Elm AG (the "Tenant").'
    )
    assert (first.name, first.aliases) == ("Alder Limited", ("Alder", "Landlord"))
    assert (second.name, second.aliases) == ("Birch GmbH", ("Elm AG", "Tenant"))


@pytest.mark.parametrize(
    "description",
    [
        "a corporation organized and existing under the laws of the State of Delaware",
        "with its principal place of business at 12 Quay Street, Suite 4, New York, New York 10013",
        "a division of Cedar Corporation",
        "acting through its general partner, Cedar Holdings",
        "having offices in Carson City, NV and Reno",
        "a subsidiary of Cedar",
        "on behalf of itself and its affiliates",
    ],
)
def test_descriptions_hold_no_parties(description: str) -> None:
    found = parties(
        f'This Agreement is made by and between Alder Limited, {description} ("Alder"), and Birch GmbH ("Birch").'
    )
    assert [p.name for p in found] == ["Alder Limited", "Birch GmbH"]


@pytest.mark.parametrize(
    "name",
    [
        "Oil and Gas Inc.",
        "Corporation of America",
        "Smith & Sons",
        "Alder (Bermuda) Ltd.",
        "A. B. Waters, Inc.",
        "Kites Co., Ltd.",
        "quiet-pages interactive, Inc.",
        "Alder Savings and Loan Association",
        "Bank of the West",
        "Ms. Anna Stone",
        "Leo Kites A/S",
        "CEDAR S.à r.l.",
        "Alder Etc. USA, Inc.",
        "City of Leith",
        "Alder & Co. Incorporated",
    ],
)
def test_names_of_many_forms(name: str) -> None:
    found = parties(f'This Agreement is between {name} ("First") and Birch GmbH ("Second").')
    assert [p.name for p in found] == [name, "Birch GmbH"]


def test_open_places_keep_their_role() -> None:
    first, second = parties('This Agreement is between ________ ("Buyer") and [insert name] (the "Seller").')
    assert (first.name, first.aliases[0], second.name, second.aliases[0]) == ("", "Buyer", "", "Seller")


def test_later_prose_names_no_parties() -> None:
    assert parties("The difference between Spring and Autumn is told by Storks. Nothing is agreed here.") == ()


@given(st.text(alphabet="aAzZ .,;:()\"'-_&\n1אב", max_size=600))
def test_names_come_from_the_text(text: str) -> None:
    squeezed = " ".join(squeeze(text).split())
    for party in parties(f"Agreement between {text}"):
        assert party.name in f"Agreement between {squeezed}" or party.name in " ".join(
            squeeze(f"Agreement between {text}").split()
        )
