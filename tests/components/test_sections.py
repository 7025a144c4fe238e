# SPDX-License-Identifier: Apache-2.0
"""Headings in the forms that documents use, and none in running text."""

import pytest
from haystack_integrations.components.pincite.reading.sections import find_headings, governing, place_name, sections_of
from hypothesis import given
from hypothesis import strategies as st


def labels(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.label) for heading in find_headings(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## Scope ##\ntext", [(2, "Scope")]),
        ("ARTICLE IV\nREPRESENTATIONS\n", [(1, "ARTICLE IV"), (2, "REPRESENTATIONS")]),
        ("Article 2 - License Grant\n", [(1, "Article 2 License Grant")]),
        ("EXHIBIT A\n", [(1, "EXHIBIT A")]),
        ("4. Term. This Agreement lasts a year.", [(3, "4 Term")]),
        ("4.2 Term and Termination.\nIt ends.", [(4, "4.2 Term and Termination")]),
        ("  1.1.1 Fees: the fees are", [(5, "1.1.1 Fees")]),
        ("7 Insurance\n", [(3, "7 Insurance")]),
        ("Section 5. Indemnification. Each party", [(3, "Section 5 Indemnification")]),
        ("SECTION 5.02 Covenants of the Company\n", [(4, "SECTION 5.02 Covenants of the Company")]),
        ("It is so. 4.2 Term. This Agreement begins now.", [(4, "4.2 Term")]),
        ("It is so. Section 6. Governing Law. New York.", [(3, "Section 6 Governing Law")]),
        ("LIMITATION OF LIABILITY\n", [(2, "LIMITATION OF LIABILITY")]),
        ("page\fNOTICES\ntext", [(2, "NOTICES")]),
        ("סעיף 4\nהתקופה", [(3, "סעיף 4")]),
        ("סעיף 5. שיפוי: הצד", [(3, "סעיף 5 שיפוי")]),
        ("פרק ב' הגדרות\n", [(1, "פרק ב' הגדרות")]),
        ("3. תמורה\n", [(3, "3 תמורה")]),
    ],
)
def test_headings(text: str, expected: list[tuple[int, str]]) -> None:
    assert labels(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Section 4 of this Agreement shall survive.",
        "30 days after the notice it ends.",
        "The fee is 4.2 million. It is due in 30 days.",
        "2019, 2020\n",
        "$ 1,000,000.00\n",
        "See Section 5 hereof. The rest is void.",
        "סעיף 7 לחוק קובע כי הצדדים יפעלו בהתאם לאמור לעיל ובכפוף לכל דין החל עליהם באותה עת ובכל עת",
    ],
)
def test_running_text_is_no_heading(text: str) -> None:
    assert labels(text) == []


def test_sections_nest_and_end_where_the_next_of_their_depth_begins() -> None:
    text = "ARTICLE I\n1. Fees.\nx\n1.1 Due Date.\ny\n2. Term.\nz\nARTICLE II\nw"
    sections = sections_of(find_headings(text), len(text))
    assert [s.path for s in sections] == [
        "ARTICLE I",
        "ARTICLE I > 1 Fees",
        "ARTICLE I > 1 Fees > 1.1 Due Date",
        "ARTICLE I > 2 Term",
        "ARTICLE II",
    ]
    assert [s.parent for s in sections] == [-1, 0, 1, 0, -1]
    assert sections[0].end == sections[4].start == text.index("ARTICLE II")
    assert sections[1].end == sections[2].end == sections[3].start


def test_the_section_of_a_span_is_the_one_that_fills_most_of_it() -> None:
    assert governing([10, 20], 0, 15) == -1
    assert governing([10, 20], 5, 20) == 0
    assert governing([10, 20], 18, 40) == 1
    assert governing([], 0, 9) == -1


@given(st.text(alphabet="aA1. \n#\f§", max_size=200))
def test_headings_are_in_order_and_inside(text: str) -> None:
    starts = [heading.start for heading in find_headings(text)]
    assert starts == sorted(set(starts))
    assert all(0 <= start < len(text) for start in starts)


def test_a_span_of_several_sections_is_named_by_the_first_and_the_last() -> None:
    text = "".join(f"Section {n}. {'Alpha Beta Gamma'.split()[n]}.\n\n{'words of it ' * 20}\n\n" for n in range(3))
    headings = find_headings(text)
    sections = sections_of(headings, len(text))
    starts = [section.start for section in sections]
    assert place_name(sections, starts, 0, len(text)) == "Section 0 Alpha – Section 2 Gamma"
    assert place_name(sections, starts, starts[1], starts[2]) == "Section 1 Beta"
    # The end of one section before another is no place to look for the other.
    assert place_name(sections, starts, starts[1] - 20, starts[2]) == "Section 1 Beta"
    assert place_name(sections, starts, starts[1], starts[2] + 20) == "Section 1 Beta"


def test_text_before_the_first_heading_has_no_section() -> None:
    text = "words before it " * 20 + "\n\nSection 1. Alpha.\n\nwords"
    sections = sections_of(find_headings(text), len(text))
    assert place_name(sections, [sections[0].start], 0, 200) is None
