# SPDX-License-Identifier: Apache-2.0
"""What a document may not do to a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pincite.plain_text import is_right_to_left, isolates, one_line, plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\r\n  lines\tand\fpages", "two lines and pages"),
        ("\x1b[2Jgone", "\ufffd[2Jgone"),
        ("\x1b]0;title\x07", "\ufffd]0;title\ufffd"),
        ("c1 \x9b31m", "c1 \ufffd31m"),
        ("next\x85line", "next line"),
        ("turned \u202eround\u2066", "turned round"),
        ("half \ud800 a pair", "half \ufffd a pair"),
        ("nul\x00", "nul\ufffd"),
        ("[bold]x[/bold] :smile:", "[bold]x[/bold] :smile:"),
        ("שָׁלוֹם", "שָׁלוֹם"),
    ],
)
def test_plain_keeps_the_words_and_loses_the_power(text: str, shown: str) -> None:
    assert plain(text) == shown


@given(st.text(st.characters()))
def test_plain_is_one_harmless_encodable_line(text: str) -> None:
    shown = plain(text)
    assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in shown)
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029")
    shown.encode()
    assert plain(shown) == shown


def test_direction_is_the_majority_not_the_first_letter() -> None:
    assert is_right_to_left("ABC חברת הנדל״ן של הצפון") is True
    assert is_right_to_left("the term הסכם means an agreement") is False
    assert is_right_to_left("plain") is None
    assert isolates("plain") == ("", "")
    assert isolates("הסכם") == ("\u2067", "\u2069")


def test_a_message_is_one_short_line() -> None:
    assert one_line("a\nb\x1b[0m") == "a b\ufffd[0m"
    assert len(one_line("x" * 50_000)) == 600
