# SPDX-License-Identifier: Apache-2.0
"""When a title shares a distinguishing word with a name (N6)."""

import pytest
from haystack_integrations.components.pincite.naming.name_overlap import common_name_stands, names_overlap, parted
from hypothesis import given
from hypothesis import strategies as st

GENERIC = {"inc", "housing", "services", "of", "bond", "mortgage", "the", "group"}


def overlap(name, title):
    return names_overlap(name.split(), title.split(), GENERIC.__contains__)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("hfa", "grandview hfa bond mortgage"),
        ("brooklyn community housing services", "brooklyn mortgage"),
        ("kingsbroook", "kingsbrook estates bond"),
        ("kigsbrook", "kingsbrook estates bond"),
        ("kignsbrook", "kingsbrook estates bond"),
        ("kingsbrooks", "kingsbrook estates bond"),
        ("interantionel", "international mortgage"),
        ("birch first", "birchfirst mortgage"),
        ("birchfirst", "birch first mortgage"),
        ("cybergy holdings inc", "cybergyholdingsinc mortgage"),
        ("brookhousing", "brook housing mortgage"),
        ("2014", "hfa mortgage 2014"),
        ("מרכז", "משכנתא מרכז"),
    ],
)
def test_names_that_overlap(name, title):
    assert overlap(name, title)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("acme", "grandview hfa bond mortgage"),
        ("acme housing services inc", "brooklyn housing services inc mortgage"),
        ("housing services", "housing services mortgage"),
        ("acme housing", "acre housing mortgage"),
        ("hfa", "hfb mortgage"),
        ("2014", "hfa mortgage 2015"),
        ("20140520", "hfa mortgage 20140521"),
        ("baker", "maker mortgage"),
        ("marine", "martin mortgage"),
        ("housin", "housing mortgage"),
        ("acme", ""),
        ("", "acme mortgage"),
    ],
)
def test_names_that_do_not(name, title):
    assert not overlap(name, title)


words = st.lists(st.sampled_from(["acme", "birch", "first", *sorted(GENERIC)]), max_size=5)


@given(words, words)
def test_without_slips_and_compounds_a_shared_distinguishing_word_decides(name, title):
    assert names_overlap(name, title, GENERIC.__contains__) == bool((set(name) & set(title)) - GENERIC)


@pytest.mark.parametrize(
    ("name", "title", "stands"),
    [
        ("housing services", "housing services inc mortgage", True),
        ("housing services inc", "the housing services mortgage", True),
        ("housing services", "housing group services mortgage", False),
        ("services housing", "housing services mortgage", False),
        ("services", "housing services mortgage", False),
        ("services inc", "housing services inc mortgage", False),
        ("acme housing services", "brooklyn housing services mortgage", False),
        ("services housing group", "the housing group for services mortgage", True),
        ("housing services group", "housing services mortgage", False),
        ("group bond", "group bond services mortgage", True),
        ("bond mortgage", "bond mortgage", False),
        ("", "housing services mortgage", False),
    ],
)
def test_a_name_of_common_words_counts_whole_and_only_where_there_is_no_other(name, title, stands):
    organisations = {"housing", "services", "group"}
    types = {"bond", "mortgage"}
    assert common_name_stands(name.split(), title.split(), GENERIC.__contains__, organisations, types) is stands


def test_words_are_parted_where_a_reader_would():
    assert parted("BirchFirst GlobalLLC hfa") == "Birch First Global LLC hfa"
    assert parted("Tickets.com AT&T U.S. No.5") == "Tickets com AT&T U.S. No.5"
