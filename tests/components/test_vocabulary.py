# SPDX-License-Identifier: Apache-2.0
"""The vocabulary of instruments: words written in many ways, types, and words that distinguish nothing (N1, N2, N6)."""

from itertools import pairwise
from pathlib import Path

import pytest
from haystack_integrations.components.pincite.naming.vocabulary import Vocabulary
from haystack_integrations.components.pincite.naming.word_tokens import tokenise
from haystack_integrations.document_stores.pincite.errors import ConfigurationError
from hypothesis import given
from hypothesis import strategies as st

vocabulary = Vocabulary.load()


def types(text: str) -> list[str]:
    return [match.type for match in vocabulary.find_types(vocabulary.tokens(text))]


# -- words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Non-Disclosure", "Nondisclosure"),
        ("Non-Disclosure", "non disclosure"),
        ("co‑branding", "Cobranding"),
        ("by-laws", "bylaws"),
        ("Marketing & Sales", "marketing and sales"),
        ("Acme’s", "ACME"),
        ("the tenants' lease", "the tenants lease"),
        ("O'Brien", "O’Brien"),
        ("Cologuard®", "cologuard"),
        ("“Acme” lease", "Acme lease"),
        ("L.P.", "LP"),
        ("S.A.S", "sas"),
        ("Inc.'s lease", "inc lease"),
        ("No.3", "no 3"),
        ("ﬁnance", "finance"),
        ("הֶסְכֵּם", "הסכם"),
        ("בע״מ", 'בע"מ'),
        ("אי־גילוי", "אי גילוי"),
    ],
)
def test_two_ways_to_write_the_same_words(one: str, other: str) -> None:
    assert vocabulary.normalise(one) == vocabulary.normalise(other)


@pytest.mark.parametrize("word", ["playboy.com", "2themart.com", "at&t", "10.27", "1,200", "5/8/14", "d/b/a"])
def test_a_word_with_marks_inside_stays_one(word: str) -> None:
    assert [token.text for token in tokenise(word.upper())] == [word]


@given(st.text(st.one_of(st.characters(), st.sampled_from("aB '’\"-.&/אַ״®")), max_size=60))
def test_tokens_say_where_they_stand(text: str) -> None:
    tokens = vocabulary.tokens(text)
    end = 0
    for token in tokens:
        assert end <= token.start <= token.end <= len(text)
        assert token.gap == text[end : token.start]
        assert text[token.start : token.end].startswith(token.raw)
        end = token.end


# -- types -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bond mortgage", "bond mortgage"),
        ("bond mortgages", "bond mortgage"),
        ("two leases", "lease"),
        ("guaranties", "guaranty"),
        ("Guarantees", "guaranty"),
        ("loan agreements", "loan agreement"),
        ("NDA", "non-disclosure agreement"),
        ("NDAs", "non-disclosure agreement"),
        ("Confidentiality and Nondisclosure Agreement", "non-disclosure agreement"),
        ("by laws", "by-laws"),
        ("licence agreement", "license agreement"),
        ("Supply Contract", "supply agreement"),
        ("afiliate agrement", "affiliate agreement"),
        ("promisory note", "promissory note"),
        ("operatign agreement", "operating agreement"),
        ("environmental indemnity agreement", "environmental indemnity agreement"),
        ("tooling recapture agreement", "agreement"),
        ("loan/credit agreement", "credit agreement"),
        ("הסכם השכירות", "lease"),
        ("בהסכמי ההלוואה", "loan agreement"),
        ("בהסכם אי-גילוי", "non-disclosure agreement"),
    ],
)
def test_a_type_in_other_words(text: str, expected: str) -> None:
    assert types(text)[-1] == expected


CONTRACT_TYPES = """affiliate|agency|collaboration|co-branding|consulting|development|distributor|endorsement|franchise|
    hosting|intellectual property|joint venture|joint filing|license|maintenance|manufacturing|marketing|non-compete|
    outsourcing|promotion|remarketing|reseller|service|services|servicing|sponsorship|strategic alliance|supply|
    transportation|transition services"""


@pytest.mark.parametrize("kind", [kind.strip() for kind in CONTRACT_TYPES.split("|")])
def test_common_kinds_of_contracts_are_types_of_their_own(kind: str) -> None:
    (found,) = vocabulary.find_types(vocabulary.tokens(f"{kind} agreement"))
    assert (found.start, found.generic) == (0, False)


@pytest.mark.parametrize(
    "text",
    [
        "the contact person",
        "at least two",
        "compelled by law",
        "the police",
        "the licensee and the mortgagor",
        "MEDICA S.p.A.",
        "guaranteed",
        "leased",
    ],
)
def test_right_words_are_no_types(text: str) -> None:
    assert types(text) == []


@pytest.mark.parametrize("text", ["lease, agreement", "loan. Agreement", "loan (agreement)"])
def test_a_mark_ends_a_type(text: str) -> None:
    assert types(text)[-1] == "agreement"


@given(st.lists(st.sampled_from("bond mortgage loan agreement credit of trust deed NDA the acme".split()), max_size=12))
def test_types_are_the_longest_and_do_not_overlap(words: list[str]) -> None:
    text = " ".join(words)
    matches = vocabulary.find_types(vocabulary.tokens(text))
    assert all(one.end <= other.start for one, other in pairwise(matches))
    loans = [match for match in matches if match.type == "loan agreement"]
    # "mortgage loan agreement" is a type of its own, and the longer one counts.
    assert len(loans) == text.count("loan agreement") or "mortgage loan agreement" in text


# -- titles ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("title", "type_name", "holds"),
    [
        ("HFA Bond Mortgage", "bond mortgage", True),
        ("Acme – Mutual Non-Disclosure Agreements", "non-disclosure agreement", True),
        ("Acme NDA", "non-disclosure agreement", True),
        ("ACME NDA", "agreement", True),
        ("Acme Supply Contract", "agreement", True),
        ("Acme Supply Agreement", "contract", True),
        ("Acme Tooling Recapture Agreement", "agreement", True),
        ("Acme AffiliateAgreement", "affiliate agreement", True),
        ("Amended By-Laws of Acme", "by-laws", True),
        ("הסכם שכירות - אלפא", "lease", True),
        ("Environmental Indemnity Agreement", "bond mortgage", False),
        ("Acme Mortgage", "bond mortgage", False),
        ("Acme Promissory Note", "agreement", False),
        ("", "lease", False),
    ],
)
def test_a_title_holds_a_type(title: str, type_name: str, holds: bool) -> None:
    assert vocabulary.holds_type(title, type_name) is holds


@pytest.mark.parametrize(
    "word",
    "Inc|LLC|S.A.|Housing|Services|the|of|Agreement|amended|Holdings|Co|gmbh|בע״מ|Housing Services Inc".split("|"),
)
def test_words_that_distinguish_nothing(word: str) -> None:
    assert vocabulary.is_generic(word)


@pytest.mark.parametrize("word", "Kingsbrook|Brooklyn|HFA|Acme|3|2014|קינגסברוק|Kingsbrook Housing".split("|"))
def test_words_that_distinguish(word: str) -> None:
    assert not vocabulary.is_generic(word)


# -- the file --------------------------------------------------------------------------------------------------------


def test_a_new_type_is_a_line_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("types:\n  side pocket deed: {en: 'SPD'}\nheads:\n  deed: {}\n", encoding="utf-8")
    mine = Vocabulary.load(str(path))
    assert [match.type for match in mine.find_types(mine.tokens("the Acme SPD and the Beta deeds"))] == [
        "side pocket deed",
        "deed",
    ]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("types: [lease]", "has no mapping 'types'"),
        ("types: {", "is no valid YAML"),
        ("types: {lease: {}}\nkinds: {}", "has the unknown section 'kinds'"),
        ("types: {lease: [ground lease]}", "type 'lease' must be a mapping"),
        ("types: {lease: {en: [ground lease]}}", "'en' is a list"),
        ("types: {lease: {}}\nspelling: [licence]", "'spelling' is a list"),
    ],
)
def test_a_malformed_file_is_named_with_what_is_wrong(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError) as raised:
        Vocabulary.load(str(path))
    assert says in str(raised.value)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="does not exist"):
        Vocabulary.load(str(tmp_path / "none.yaml"))


@pytest.mark.parametrize(
    ("title", "type_", "held"),
    [
        (
            "Confidentiality, Non-Disclosure and Non-Solicitation Agreement between A and B",
            "non-disclosure agreement",
            True,
        ),
        ("Content License, Marketing and Sales Agreement", "marketing agreement", True),
        ("Supply and Lease Agreement", "supply agreement", True),
        ("Supply of Steel: Letter, and Lease Agreement", "supply agreement", False),
        ("Letter Agreement between A and B", "non-disclosure agreement", False),
    ],
)
def test_types_that_share_a_head_are_all_held(title: str, type_: str, held: bool) -> None:
    assert Vocabulary.load().holds_type(title, type_) is held
