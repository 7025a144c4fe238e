# SPDX-License-Identifier: Apache-2.0
"""Pages of PDF files as pictures: the right page, the passage marked where it stands, nothing too large."""

import io
import re

import pytest
from haystack_integrations.components.pincite.reading.extraction import UnreadableError
from haystack_integrations.components.pincite.reading.pdf_image import page_count, page_png, passage_ranges
from haystack_integrations.components.pincite.reading.pdf_text import page_text
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject, RectangleObject

FIRST, SECOND = "The tenant lights the lamp at dusk.", "The rent is nine hundred pounds."


def pdf(*, turned: int = 0, size: tuple[float, float] = (612, 792), left: float = 0) -> bytes:
    """Two pages; on the second stand two lines, on the first none. ``left``: where the page's own origin is."""
    writer = PdfWriter()
    for text in ("", f"({FIRST}) Tj 0 -200 Td ({SECOND}) Tj"):
        page = writer.add_blank_page(*size)
        page.mediabox = RectangleObject((left, 0, left + size[0], size[1]))
        font = {NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1")}
        fonts = DictionaryObject({NameObject("/F1"): DictionaryObject(font)})
        fonts["/F1"][NameObject("/BaseFont")] = NameObject("/Helvetica")
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 14 Tf {left + 60} 600 Td {text} ET".encode())
        page[NameObject("/Contents")] = writer._add_object(stream)
        page.rotate(turned)
    written = io.BytesIO()
    writer.write(written)
    return written.getvalue()


def picture(data: bytes, number: int, passage: str = "") -> Image.Image:
    return Image.open(io.BytesIO(page_png(data, number, passage)))


def box(image: Image.Image, *, yellow: bool) -> tuple[int, int, int, int] | None:
    """The smallest box around what is marked, or around the ink."""
    red, _, blue = image.split()
    wanted = blue.point(lambda value: 255 if value < 200 else 0)
    light = red.point(lambda value: 255 if value > 230 else 0)
    return (Image.composite(light, wanted, wanted) if yellow else wanted).getbbox()


def test_a_page_is_drawn_as_it_is() -> None:
    data = pdf()
    assert page_count(data) == 2
    assert picture(data, 2).size[0] == 1400
    assert box(picture(data, 1), yellow=False) is None
    assert box(picture(data, 2), yellow=False) is not None
    assert box(picture(data, 2), yellow=True) is None


@pytest.mark.parametrize("turned", [0, 90, 180, 270])
@pytest.mark.parametrize("left", [0, 300])
def test_the_passage_is_marked_where_it_stands(turned: int, left: float) -> None:
    data = pdf(turned=turned, left=left)
    marks = [box(picture(data, 2, line), yellow=True) for line in (FIRST, SECOND)]
    both = box(picture(data, 2), yellow=False)
    assert both is not None
    assert all(marks)
    # Each mark lies around one line, and the two lines are all the ink there is.
    union = [min(one[0], other[0]) for one, other in [marks]] + [min(one[1], other[1]) for one, other in [marks]]
    union += [max(one[2], other[2]) for one, other in [marks]] + [max(one[3], other[3]) for one, other in [marks]]
    assert all(abs(mark - ink) <= 12 for mark, ink in zip(union, both, strict=True))
    one, other = marks
    assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_what_does_not_stand_on_the_page_is_not_marked() -> None:
    assert picture(pdf(), 2, "The rent is ten pounds.").tobytes() == picture(pdf(), 2).tobytes()


@pytest.mark.parametrize("number", [0, 3, 10**9])
def test_a_page_that_is_not_there(number: int) -> None:
    with pytest.raises(UnreadableError, match=r"2 page\(s\)"):
        page_png(pdf(), number)


@pytest.mark.parametrize("data", [b"", b"%PDF-1.4 cut off", b"<html>"])
def test_what_is_no_pdf(data: bytes) -> None:
    for look in (page_count, lambda given: page_png(given, 1)):
        with pytest.raises(UnreadableError, match="not a PDF"):
            look(data)


def test_a_huge_page_is_drawn_small() -> None:
    width, height = picture(pdf(size=(20, 14_000)), 1).size
    assert width * height <= 4_000_000 * 1.01


@given(
    st.lists(st.text("ab c.\ufffe", max_size=8), min_size=1, max_size=6),
    st.sampled_from(["\r\n", "\n", "\r"]),
    st.data(),
)
def test_ranges_are_the_passage(lines: list[str], end: str, data: st.DataObject) -> None:
    raw = end.join(lines)
    text = page_text(raw)
    start = data.draw(st.integers(0, len(text)))
    passage = text[start : data.draw(st.integers(start, len(text)))]
    found = "".join(raw[part.start : part.end] for part in passage_ranges(raw, passage)).replace("\ufffe", "-")
    assert re.sub(r"\s", "", found) == re.sub(r"\s", "", passage)


def test_a_line_that_was_turned_round_is_marked_whole() -> None:
    raw = "first line\r\nםולש םכל םידידי\r\nlast line"
    turned = page_text(raw).split("\n")[1]
    assert turned == "ידידים לכם שלום"
    (part,) = passage_ranges(raw, turned[:5])
    assert raw[part.start : part.end] == "םולש םכל םידידי"
