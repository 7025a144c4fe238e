# SPDX-License-Identifier: Apache-2.0
"""Hebrew that a PDF holds as drawn is put into reading order; everything else stays as it is."""

import pytest
from haystack_integrations.components.pincite.reading.visual_hebrew import is_visual, logical
from hypothesis import given
from hypothesis import strategies as st

# What is read, and how the same line stands from left to right on paper. Invented.
_LINES = [
    ("ההסכם נחתם בשנת 2019 בין הצדדים.", ".םידדצה ןיב 2019 תנשב םתחנ םכסהה"),
    ('השוכר ישלם 12.5% מן הסכום, ובסך הכול 1,200 ש"ח.', '.ח"ש 1,200 לוכה ךסבו ,םוכסה ןמ 12.5% םלשי רכושה'),
    ("סעיפים 5, 7 (לרבות נספח ב) יחולו מיום 12/05/2020.", ".12/05/2020 םוימ ולוחי (ב חפסנ תוברל) 7 ,5 םיפיעס"),
    ("חברת Acme Holdings Ltd מצהירה כי אין מניעה", "העינמ ןיא יכ הריהצמ Acme Holdings Ltd תרבח"),
    ("פנו אל info@example.org בכל שאלה מן העניין", "ןיינעה ןמ הלאש לכב info@example.org לא ונפ"),
]


@pytest.mark.parametrize(("read", "drawn"), _LINES)
def test_a_line_as_drawn_is_turned_round_without_its_numbers_and_latin_words(read: str, drawn: str) -> None:
    assert is_visual(drawn)
    assert logical(drawn) == read


@pytest.mark.parametrize(("read", "drawn"), _LINES)
def test_a_line_as_read_stays(read: str, drawn: str) -> None:
    assert not is_visual(read)
    assert logical(read) == read


def test_a_page_keeps_its_lines_and_those_without_hebrew() -> None:
    page = "\n".join([*(drawn for _, drawn in _LINES), "", "Signed in London, 4 May (original).", "17"])
    lines = logical(page).split("\n")
    assert lines == [*(read for read, _ in _LINES), "", "Signed in London, 4 May (original).", "17"]


def test_points_stay_on_their_letters() -> None:
    assert logical("םישִׁנָאֲ םע ךלוהה םדאָהָ") == "הָאָדם ההולך עם אֲנָשִׁים"


def test_brackets_that_open_where_they_should_close_are_put_right() -> None:
    page = "התשובה הנכונה) או הקרובה לה( תסומן בעט.\nנספח) ראו להלן( יצורף."
    assert logical(page) == "התשובה הנכונה (או הקרובה לה) תסומן בעט.\nנספח (ראו להלן) יצורף."


def test_brackets_that_are_right_stay() -> None:
    page = "התשובה הנכונה (או הקרובה לה) תסומן בעט. א) ראשית; ב) שנית."
    assert logical(page) == page


def test_a_list_number_stands_before_its_point() -> None:
    assert logical(".12 הצדדים יישאו בהוצאותיהם.") == "12. הצדדים יישאו בהוצאותיהם."


def test_parts_of_a_line_laid_out_as_latin_are_put_in_order() -> None:
    assert logical(",Val d'Ema :באיטלקית ,Emmental :בגרמנית") == "בגרמנית: Emmental, באיטלקית: Val d'Ema,"


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\u0590"), max_size=200))
def test_any_text_keeps_its_length_within_a_page_and_its_lines(text: str) -> None:
    turned = logical(text)
    assert turned.count("\n") == text.count("\n")
    assert sorted(turned.translate(str.maketrans("()[]{}<>«»", "((((((((((")).replace(" ", "")) == sorted(
        text.translate(str.maketrans("()[]{}<>«»", "((((((((((")).replace(" ", "")
    )


@given(st.text(st.characters(codec="ascii"), max_size=200))
def test_text_without_hebrew_is_not_touched(text: str) -> None:
    assert logical(text) == text
