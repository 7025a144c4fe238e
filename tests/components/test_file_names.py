# SPDX-License-Identifier: Apache-2.0
"""File names read as people read them (I4)."""

import pytest
from haystack_integrations.components.pincite.titles.file_names import read_file_name, spell_name, telling
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("sample-nda (2) final.docx", "Sample NDA"),
        ("a/b/Loan_Agreement_v3.pdf", "Loan Agreement"),
        ("annual%20report%202019.html", "Annual Report"),
        ("&quot;Spring&quot; fair.txt", "Spring Fair"),
        ("MutualNonDisclosureAgreement.pdf", "Mutual Non-Disclosure Agreement"),
        ("0000950134-97-006281.txt", ""),
        ("1010471_0000950134-97-006281_document_5.txt", ""),
        ("2019-03-04 board minutes.txt", "Board Minutes"),
        ("notes.tar.md.txt", "Notes Tar"),
        ("Layer_8_Kites_NDA.txt", "Layer 8 Kites NDA"),
        ("Franchise Agreement4.txt", "Franchise Agreement"),
        ("iKite lease.txt", "iKite Lease"),
        ("נוהל רכב.docx", "נוהל רכב"),
    ],
)
def test_title_of_a_file_name(name: str, title: str) -> None:
    assert read_file_name(name).title == title


@pytest.mark.parametrize(
    ("name", "filer", "kind"),
    [
        (
            "ZephyrHoldingsInc_20140520_10-Q_EX-10.27_8605784_EX-10.27_Affiliate Agreement.txt",
            "Zephyr Holdings Inc",
            "Affiliate Agreement",
        ),
        ("ZEPHYRHOLDINGSINC_03_29_2000-EX-10.13-SUPPLY AGREEMENT.PDF", "Zephyr Holdings Inc", "SUPPLY AGREEMENT"),
        ("ZEPHYR,INC_03_29_2000-EX-99.(D)(2)-SUPPLY AGREEMENT.PDF", "Zephyr Inc", "SUPPLY AGREEMENT"),
        ("Zephyr Kites, Inc. - Supply Agreement.txt", "Zephyr Kites, Inc", "Supply Agreement"),
        ("Attachment 9 - Supply Agreement.txt", "", "Attachment Supply Agreement"),
    ],
)
def test_filer_and_kind(name: str, filer: str, kind: str) -> None:
    found = read_file_name(name)
    assert (found.filer, found.kind) == (filer, kind)


def test_the_text_knows_the_spelling() -> None:
    assert (
        spell_name("JACKSGOLFUNLIMITEDINC", 'between Alder and Jack\'s Golf Unlimited, Inc. ("Jack")')
        == "Jack's Golf Unlimited, Inc"
    )
    # Letters inside longer words are no spelling.
    assert spell_name("ALDERCORP", "the Balder Corporal") == "Alder Corp"


def test_a_kind_of_document_is_no_telling_word() -> None:
    assert not telling("Agreement")
    assert not telling("template")
    assert telling("Windmill")


@given(st.text(max_size=400), st.text(max_size=400))
def test_any_file_name_is_read(name: str, text: str) -> None:
    found = read_file_name(name, text)
    assert len(found.title) <= 2_000


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("What to pack for 3 days_ a list.txt", "What to pack for 3 days: a list"),
        ("אולימפיאדת בייג'ינג (2022).txt", "אולימפיאדת בייג'ינג (2022)"),
        ("Minutes of the Kite Club 1998 (2).docx", "Minutes of the Kite Club 1998"),
    ],
)
def test_a_name_written_as_a_phrase_is_kept(name: str, title: str) -> None:
    assert read_file_name(name).title == title
