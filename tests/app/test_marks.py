# SPDX-License-Identifier: Apache-2.0
"""Which words are marked, and which stretch of a passage is shown."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pincite.marks import best_window, excerpt, marked, topic_stems


def words(text: str, topic: str) -> list[str]:
    return [text[start:end] for start, end in marked(text, topic_stems(topic))]


@pytest.mark.parametrize(
    ("topic", "text", "found"),
    [
        ("limitation on liability", "No limits. LIABILITIES are limited.", ["limits", "LIABILITIES are limited"]),
        ("limitation on liability", "the limitation of the liability", ["limitation of the liability"]),
        ("limitation, liability", "Limitation. Liability", ["Limitation", "Liability"]),
        ("who are the members", "Each Member's share; members' votes", ["Member's", "members"]),
        ("maturity date", "It matures on the date below.", ["matures on the date"]),
        ("what does it say about the", "It says what the parties say about it", []),
        ("notice", "Noticed: a not-so novel thing", ["Noticed"]),
        ("אחריות השוכר", "האחריות של שוכר, וְהָאַחֲרָיוּת", ["האחריות של שוכר", "וְהָאַחֲרָיוּת"]),
        ("rule 5", "rule 5 and rule 6", ["rule 5 and rule"]),
        ("", "anything", []),
    ],
)
def test_marks_follow_the_words_not_their_endings(topic: str, text: str, found: list[str]) -> None:
    assert words(text, topic) == found


def test_the_window_shows_the_place_with_most_different_words() -> None:
    filler = "The parties agree to many other things here. " * 20
    text = f"Liability. {filler}The maturity date of this Note is June 1, 2034. {filler}"
    shown = excerpt(text, topic_stems("maturity date of liability"), 120)
    assert "maturity date of this Note is June 1, 2034" in shown
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert len(shown) <= 120


def test_a_window_without_a_hit_is_the_beginning() -> None:
    assert excerpt("word " * 100, topic_stems("nothing"), 50).startswith("word word")


@given(st.text("ab .,é", max_size=400), st.text("ab ", max_size=10), st.integers(1, 200))
def test_a_window_fits_and_lies_inside(text: str, topic: str, size: int) -> None:
    start, end = best_window(text, topic_stems(topic), size)
    assert 0 <= start <= end <= len(text)
    assert end - start <= size


@given(st.text(max_size=200), st.text(max_size=50))
def test_marks_are_ordered_and_apart(text: str, topic: str) -> None:
    stretches = marked(text, topic_stems(topic))
    assert all(start < end for start, end in stretches)
    assert all(left.end <= right.start for left, right in pairwise(stretches))


def test_hebrew_words_are_marked_whatever_their_marks_and_final_letters() -> None:
    topic = topic_stems("מה אמר ח״כ על ההסכם?")
    text = 'דברי ח"כ לוי בהסכמים ובהסכם'
    assert [text[start:end] for start, end in marked(text, topic)] == ['ח"כ', "ובהסכם"]
