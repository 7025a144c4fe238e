# SPDX-License-Identifier: Apache-2.0
"""Titles of whole documents: openings of many forms, each written for this test (I4)."""

import pytest
from haystack import Document
from haystack.core.serialization import component_from_dict, component_to_dict
from haystack_integrations.components.pincite.title_extractor import MAX_TITLE_CHARS, TitleExtractor, identify
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

DEFINED = 'between Blue Heron Media, Inc., a Delaware corporation ("Heron"), and Tall Pines LLC ("Pines").'

TITLES = [
    # Covers, headings over several lines, exhibit numbers and notices.
    (
        "Exhibit 10.4\n\nMARKETING\n\nAFFILIATE AGREEMENT\n\nThis Marketing Affiliate Agreement is made " + DEFINED,
        "a.txt",
        "Marketing Affiliate Agreement between Blue Heron Media, Inc. and Tall Pines LLC",
    ),
    (
        "SUPPLY AGREEMENT\n\nby and between\n\nRIVERSTONE FOODS, INC.\n\nand\n\nHARBOR BAKERS, LTD.\n\nJune 1, 2011",
        "1.txt",
        "Supply Agreement between Riverstone Foods, Inc. and Harbor Bakers, Ltd.",
    ),
    (
        "Exhibit 10.2 REDACTED COPY LICENSE AGREEMENT This LICENSE AGREEMENT is made by and " + DEFINED,
        "2.txt",
        "License Agreement between Blue Heron Media, Inc. and Tall Pines LLC",
    ),
    (
        "CONFIDENTIAL TREATMENT REQUESTED\n\n[***] Certain information has been omitted and filed separately.\n\n"
        "OUTSOURCING AGREEMENT\n\nThis Outsourcing Agreement is entered into " + DEFINED,
        "3.txt",
        "Outsourcing Agreement between Blue Heron Media, Inc. and Tall Pines LLC",
    ),
    (
        "EXECUTION VERSION\n\nAMENDED AND RESTATED\nLOAN AGREEMENT\n\nThis Agreement is made " + DEFINED,
        "4.txt",
        "Amended and Restated Loan Agreement between Blue Heron Media, Inc. and Tall Pines LLC",
    ),
    (
        "SERVICES AGREEMENT SERVICES AGREEMENT, dated as of May 2, 2019, " + DEFINED,
        "5.txt",
        "Services Agreement between Blue Heron Media, Inc. and Tall Pines LLC",
    ),
    (
        "B E T W E E N:\nALDER LIMITED\n- and -\nBIRCH GMBH\n\nWHEREAS Alder sells timber",
        "Timber Contract.txt",
        "Timber Contract between Alder Limited and Birch GmbH",
    ),
    # A generic heading takes its name from the first sentence or the file name.
    (
        'AGREEMENT\nThis Grain Storage Agreement ("Agreement") is entered into between Prairie Silo '
        "Co. and Otto Brand.",
        "6.txt",
        "Grain Storage Agreement between Prairie Silo Co. and Otto Brand",
    ),
    (
        "AGREEMENT\n\nmade between Alder Limited and Birch GmbH",
        "Barge Charter Agreement.pdf",
        "Barge Charter Agreement between Alder Limited and Birch GmbH",
    ),
    # Amendments keep their number and say what they amend.
    (
        "Amendment No. 1\nto\nSupply Agreement\nbetween\nALDER LIMITED\nand\nBIRCH GMBH\n",
        "7.txt",
        "Amendment No. 1 to Supply Agreement between Alder Limited and Birch GmbH",
    ),
    (
        "AMENDMENT NO. 3\n\nThis is an amendment to that certain Tower Lease Agreement between Alder "
        "Limited and Birch GmbH",
        "8.txt",
        "Amendment No. 3 to Tower Lease Agreement between Alder Limited and Birch GmbH",
    ),
    (
        "FIRST AMENDMENT TO DISTRIBUTOR AGREEMENT\n\nThis First Amendment is made " + DEFINED,
        "9.txt",
        "First Amendment to Distributor Agreement between Blue Heron Media, Inc. and Tall Pines LLC",
    ),
    # Numbered parties, blocks, individuals, descriptions.
    (
        "LEASE\n\nTHIS LEASE is made on 1 May 2020 BETWEEN\n(1) OLDGATE PROPERTIES LIMITED (company number 1) whose "
        'registered office is at 1 High Street (the "Landlord"); and\n(2) MARIA GREEN of 2 Low Street (the "Tenant").',
        "10.txt",
        "Lease between Oldgate Properties Limited and Maria Green",
    ),
    (
        "ENDORSEMENT AGREEMENT\nThis Agreement is entered into between Fairway Clubs, Inc. "
        '("Fairway") and the professional '
        'golfer, TOM WATERS, (hereinafter "Waters").',
        "11.txt",
        "Endorsement Agreement between Fairway Clubs, Inc. and Tom Waters",
    ),
    (
        "TRANSPORT CONTRACT\nBetween: Alder Limited\n12 Quay Street, Leith\nAnd: Birch GmbH\nHafenstrasse 4, Hamburg\n",
        "12.txt",
        "Transport Contract between Alder Limited and Birch GmbH",
    ),
    (
        "JOINT VENTURE AGREEMENT\n\nThis Agreement is made by and among Alder Limited, a company "
        "organised and existing under "
        'the laws of Scotland and having its office in Leith ("Alder"), Birch GmbH, acting through its branch in Wales '
        '("Birch"), and Cedar S.p.A. ("Cedar").',
        "13.txt",
        "Joint Venture Agreement among Alder Limited, Birch GmbH and Cedar S.p.A.",
    ),
    (
        "SPONSORSHIP AGREEMENT\n\nThis Agreement is between Museum of Kites, Inc., d/b/a Kite World, "
        "an Ohio corporation "
        '("Museum"), and Alder Limited ("Sponsor").',
        "14.txt",
        "Sponsorship Agreement between Museum of Kites, Inc. d/b/a Kite World and Alder Limited",
    ),
    (
        'HOSTING AGREEMENT\n\nmade by and between quietpages.com, inc. ("Host"), and At Hearth Corporation ("Client").',
        "15.txt",
        "Hosting Agreement between quietpages.com, inc. and At Hearth Corporation",
    ),
    (
        'AGENCY AGREEMENT\n\nbetween Smith, Jones & Wood, Inc. (the "Agent") and Bank of the Isles plc (the "Bank").',
        "16.txt",
        "Agency Agreement between Smith, Jones & Wood, Inc. and Bank of the Isles plc",
    ),
    (
        'LICENCE AGREEMENT\n\nbetween 2204417 Ontario Limited ("Licensor") and 3M Kites Company ("Licensee").',
        "17.txt",
        "Licence Agreement between 2204417 Ontario Limited and 3M Kites Company",
    ),
    (
        "SUPPLY CONTRACT\nThe Seller: Alder Limited\nAddress: Leith\nThe Buyer: Birch GmbH\nAddress: Hamburg\n",
        "18.txt",
        "Supply Contract between Alder Limited and Birch GmbH",
    ),
    (
        "COOPERATION AGREEMENT\nParty A: Alder Limited Party B: Birch GmbH\nParty A and Party B will cooperate.",
        "19.txt",
        "Cooperation Agreement between Alder Limited and Birch GmbH",
    ),
    (
        "TRANSPORTATION CONTRACT\nAstoria\nPREAMBLE\nJSC Northern Oil, hereinafter referred to as "
        'the "Company", and JSC Delta '
        'Port, hereinafter referred to as the "Carrier"',
        "20.txt",
        "Transportation Contract between JSC Northern Oil and JSC Delta Port",
    ),
    # Places left open: the role stands for the party.
    (
        'NON-DISCLOSURE AGREEMENT\n\nThis Agreement is between ______________ ("Customer") and '
        "Hillside Power. Customer",
        "21.txt",
        "Non-Disclosure Agreement between Customer and Hillside Power",
    ),
    (
        "CONSULTING AGREEMENT\n\nmade between [ * * * ] and Alder Limited, a company",
        "22.txt",
        "Consulting Agreement with Alder Limited",
    ),
    (
        'FRANCHISE AGREEMENT\n\nbetween [Alder Ltd] ("Franchisor") and [insert name] ("Franchisee").',
        "23.txt",
        "Franchise Agreement between Alder Ltd and Franchisee",
    ),
    # Instruments that one side gives.
    (
        'GUARANTY\n\nThis Guaranty is made by Northfield Holdings LLC (the "Guarantor") in favor of '
        'First Valley Bank (the "Lender").',
        "24.txt",
        "Guaranty of Northfield Holdings LLC in favor of First Valley Bank",
    ),
    (
        "PROMISSORY NOTE\n$500,000\nFOR VALUE RECEIVED, the undersigned, Brookline Community Homes, "
        'Inc. ("Maker"), promises to '
        "pay to the order of City Housing Fund",
        "25.txt",
        "Promissory Note of Brookline Community Homes, Inc. in favor of City Housing Fund",
    ),
    ("BY-LAWS\nOF\nOAK HILL ASSOCIATION, INC.\n\nARTICLE I\nName", "26.txt", "By-Laws of Oak Hill Association, Inc."),
    (
        "POWER OF ATTORNEY\n\nI, Daniel Osei, of 4 Mill Lane, hereby appoint Ruth Osei as my attorney.",
        "27.txt",
        "Power of Attorney of Daniel Osei",
    ),
    (
        "HFA BOND MORTGAGE\n\nTHIS MORTGAGE is made as of June 1, 2011, by ELM COURT APARTMENTS, "
        'L.P. ("Mortgagor") to NEW YORK '
        'STATE HOUSING FINANCE AGENCY ("Mortgagee")',
        "28.txt",
        "HFA Bond Mortgage between Elm Court Apartments, L.P. and New York State Housing Finance Agency",
    ),
    (
        "OPERATING AGREEMENT OF KINGSFORD ESTATES LLC\n\nThis Operating Agreement is entered into by the members.",
        "29.txt",
        "Operating Agreement of Kingsford Estates LLC",
    ),
    # Letters, signatures, captions.
    (
        "CONFIDENTIALITY AGREEMENT\n\nMarch 1, 2012\n\nGreenfield Mills, Inc.\n4 Main "
        "Street\nYork\n\nLadies and Gentlemen:\n\n"
        'In connection with your interest in Alder Limited (the "Company"), you agree',
        "30.txt",
        "Confidentiality Agreement between Alder Limited and Greenfield Mills, Inc.",
    ),
    (
        "Harbor Logistics Ltd\n12 Quay Street\n\nMarch 4, 2019\n\nMs. Anna Stone\n44 Hill "
        "Road\n\nRe: Overdue invoices\n\n"
        "Dear Ms. Stone:\n\nWe write",
        "letter.pdf",
        "Letter to Ms. Anna Stone regarding Overdue invoices",
    ),
    (
        "JOINT FILING AGREEMENT\n\nThe undersigned hereby agree to file jointly.\n\nALDER CAPITAL "
        "LP\nBy: /s/ A. Reed\n\n"
        "BIRCH CAPITAL LLC\nBy: /s/ B. Reed",
        "31.txt",
        "Joint Filing Agreement between Alder Capital LP and Birch Capital LLC",
    ),
    (
        "UNITED STATES DISTRICT COURT\n\nJANE MILLER,\n\n          Plaintiff,\n\n     v.\n\nACME "
        "TOOL CORP.,\n\n          "
        "Defendant.\n\nOPINION AND ORDER\n",
        "op.txt",
        "Jane Miller v. Acme Tool Corp",
    ),
    # Hebrew.
    (
        'הסכם שכירות בלתי מוגנת\n\nשנערך ונחתם בתל אביב\n\nבין: רחל לוי, ת.ז. 012345678 (להלן: "המשכירה")\n\n'
        'לבין: יוסי כהן בע"מ, ח.פ. 512345678 (להלן: "השוכר")\n',
        "scan001.pdf",
        "הסכם שכירות בלתי מוגנת בין רחל לוי לבין יוסי כהן בע״מ",
    ),
    ('חוזה מכר\nבין\nאלון נכסים בע"מ\nלבין\nמשפחת ברק\n', "h.docx", "חוזה מכר בין אלון נכסים בע״מ לבין משפחת ברק"),
    ("פסק דין\nמדינת ישראל נ' אברהם לוי\n", "psak.txt", "מדינת ישראל נ' אברהם לוי"),
    ("נוהל שימוש ברכב\n\nהנוהל חל על כל העובדים.", "32.docx", "נוהל שימוש ברכב"),
    # General texts.
    ("# House rules\n\nNo smoking.", "notes.md", "House rules"),
    (
        "Hiking the northern ridge\n\nThe path begins at the village church. It climbs.",
        "hike.txt",
        "Hiking the northern ridge",
    ),
    (
        "The path begins at the village church and climbs for two hours until the hut.\n\nThen it rains.",
        "hiking-the-northern-ridge.txt",
        "Hiking the Northern Ridge",
    ),
    ('{"a": {"b": 1}}', "config/Orbit.json", "Orbit"),
    ("", "sample-nda (2) final.docx", "Sample NDA"),
    ("Travel Expense Policy\n\nThis policy applies to all staff.", "33.docx", "Travel Expense Policy"),
    ("DRAFT\n\nTERM SHEET\n\nAlder Limited proposes to lend", "34.txt", "Term Sheet"),
    # What the file name alone says goes into parentheses.
    (
        "NON-DISCLOSURE AGREEMENT\n\nThe Recipient will keep all information secret.",
        "NDA-Windmill_Kites.txt",
        "Non-Disclosure Agreement (Windmill Kites)",
    ),
    (
        "CONSULTING AGREEMENT\n\nmade " + DEFINED,
        "ZephyrHoldingsInc_20140520_10-Q_EX-10.27_8605784_EX-10.27_Consulting Agreement.txt",
        "Consulting Agreement between Blue Heron Media, Inc. and Tall Pines LLC (Zephyr Holdings Inc)",
    ),
    (
        "SUPPLY AGREEMENT\n\nbetween Alder Limited and Jack's Golf Unlimited, Inc., a company",
        "JACKSGOLFUNLIMITEDINC_03_29_2000-EX-10.13-SUPPLY AGREEMENT.PDF",
        "Supply Agreement between Alder Limited and Jack's Golf Unlimited, Inc.",
    ),
]


@pytest.mark.parametrize(("text", "source_id", "title"), TITLES, ids=[str(n) for n in range(len(TITLES))])
def test_display_title(text: str, source_id: str, title: str) -> None:
    assert identify(text, source_id, {}).title == title


def test_there_are_fifty_forms() -> None:
    assert len(TITLES) >= 50


def test_a_title_of_the_metadata_is_kept() -> None:
    found = identify("LEASE\n\nbetween Alder Limited and Birch GmbH", "x.txt", {"title": "  The  quay lease "})
    assert (found.title, found.title_source) == ("The quay lease", "meta")
    assert found.parties == ("Alder Limited", "Birch GmbH")


@pytest.mark.parametrize(
    ("text", "source_id", "source"),
    [
        ("LEASE\n\nbetween Alder Limited and Birch GmbH", "x.txt", "heading"),
        ("", "harbour-lease.txt", "file_name"),
        ('{"a": 1}', "x.json", "file_name"),
    ],
)
def test_title_source(text: str, source_id: str, source: str) -> None:
    assert identify(text, source_id, {}).title_source == source


def test_identity_holds_short_names_file_name_and_opening() -> None:
    text = (
        'LEASE\n\nThis Lease is made between Alder Limited ("Kite Shop") and Birch GmbH, f/k/a Elm AG, a '
        "company of Kiel."
    )
    identity = identify(text, "leases/north-quay_17.txt", {}).identity
    for words in ("Kite Shop", "Elm AG", "north-quay 17", "a company of Kiel"):
        assert words in identity


def test_an_accession_number_gives_no_words() -> None:
    found = identify("", "0000950134-97-006281.txt", {})
    assert found.title == "0000950134-97-006281.txt"


def test_component_keeps_documents_and_given_titles() -> None:
    given = Document(content="# One", meta={"source_id": "a.md", "title": "Given"})
    bare = Document(content="# Two", meta={"source_id": "b.md"})
    named = TitleExtractor().run([given, bare])["documents"]
    assert [d.meta["title"] for d in named] == ["Given", "Two"]
    assert [d.meta["title_source"] for d in named] == ["meta", "heading"]
    assert all("identity" in d.meta and d.meta["parties"] == [] for d in named)
    assert bare.meta == {"source_id": "b.md"}
    assert [d.id for d in named] == [given.id, bare.id]


def test_component_is_serialisable() -> None:
    extractor = TitleExtractor()
    data = component_to_dict(extractor, "titles")
    assert data["type"] == "haystack_integrations.components.pincite.title_extractor.TitleExtractor"
    assert isinstance(component_from_dict(TitleExtractor, data, "titles"), TitleExtractor)


PIECES = st.sampled_from(
    [
        "AGREEMENT",
        "between",
        "(the",
        '"Company")',
        "Inc.",
        "and",
        "\n",
        "   ",
        "....",
        "____",
        "[***]",
        "by",
        "1.",
        ",",
        ".",
        "THIS",
        "Dear",
        "Acme",
        "הסכם",
        "בין",
        "v.",
        '"',
        "(",
        ")",
        "No",
        "to",
        "of",
        "S.A.",
        "&",
        "—",
        "\u200f",
        "\x00",
        "ß",
        "İ",
    ]
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(PIECES, max_size=400).map(" ".join), st.text(max_size=80))
def test_instrument_like_debris_never_fails_and_titles_are_bounded(text: str, source_id: str) -> None:
    found = identify(text, source_id, {})
    assert 0 < len(found.title) <= MAX_TITLE_CHARS
    assert "\n" not in found.title


@settings(deadline=None)
@given(st.text(max_size=3_000), st.text(max_size=300))
def test_any_text_has_a_title(text: str, source_id: str) -> None:
    found = identify(text, source_id, {})
    assert 0 < len(found.title) <= MAX_TITLE_CHARS
    assert len(found.identity) < 8_000


@pytest.mark.parametrize(
    "piece",
    [
        " ",
        ".",
        "_",
        ". ",
        "_ ",
        "\u3000",
        "A ",
        "AGREEMENT ",
        '"A" and ',
        "(",
        "1. ",
        "-",
        "\n",
        "İ",
        "between A ",
        "x" * 9,
    ],
)
def test_a_megabyte_on_one_line_is_read_as_quickly_as_its_front(piece: str) -> None:
    found = identify(piece * (1_000_000 // len(piece)), "big.txt", {})
    assert 0 < len(found.title) <= MAX_TITLE_CHARS
