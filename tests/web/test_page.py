# SPDX-License-Identifier: Apache-2.0
"""The page as a person uses it, in a real browser: searching, reading, opening the source."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from pincite.service import Service

Look = Callable[..., Any]
HFA = "What does the HFA bond mortgage say about limitation on liability?"
LEASE = "What is the yearly rent in the Lighthouse lease?"
HEBREW = "היטל השבחה בתכניות עוקבות"


def address(url: str, corpus: str, query: str, **more: str) -> str:
    return f"{url}/#/search?{urlencode({'corpus': corpus, 'q': query, **more})}"


def searched(page: Any, url: str, corpus: str, query: str, **more: str) -> Any:
    page.searched(address(url, corpus, query, **more))
    return page


def test_a_question_is_asked_and_its_answer_read_with_the_keyboard_alone(look: Look, url: str) -> None:
    page = look()
    page.goto(url)
    page.wait_for_selector("#question:focus")
    page.keyboard.type(HFA)
    page.keyboard.press("Enter")
    page.wait_for_selector(".result")
    assert "Found the document you named" in page.inner_text(".message-found")
    page.keyboard.press("ArrowDown")
    assert focused(page) == "result-1"
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert focused(page) == "result-2"
    page.keyboard.press("w")
    assert page.is_visible("#result-2 .chart")
    page.keyboard.press("Enter")
    page.wait_for_selector("#source-dialog[open] .the-passage")
    page.keyboard.press("Escape")
    assert not page.is_visible("#source-dialog")
    assert focused(page) == "result-2"
    page.keyboard.press("/")
    assert focused(page) == "question"
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert focused(page) == "corpus"
    assert page.errors == []


def focused(page: Any) -> str:
    return str(page.evaluate("document.activeElement.id"))


def test_the_first_tab_skips_to_the_content(look: Look, url: str) -> None:
    page = searched(look(), url, "knowledge", HFA)
    before = page.url
    page.keyboard.press("Tab")
    assert focused(page) == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    page.keyboard.press("Enter")
    assert focused(page) == "main"
    assert page.url == before


def test_results_say_what_the_search_found(look: Look, url: str) -> None:
    page = look()
    wanted = page.searched(address(url, "knowledge", HFA, n="4"))["results"]
    assert len(wanted) == 4
    assert page.locator(".result .title").all_inner_texts() == [it["title"] for it in wanted]
    assert page.locator(".result .place").all_inner_texts()[0] == f"p. {wanted[0]['locator']['page']}"
    assert "limitation on liability" in page.locator("#result-1 .passage mark").all_inner_texts()
    page.click("#result-1 .more")
    whole = page.inner_text("#result-1 .passage")
    assert words(whole) == words(wanted[0]["text"])
    page.until("document.getElementById('status').textContent.startsWith('4 results')")


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def test_an_address_says_what_is_asked(look: Look, url: str) -> None:
    page = searched(look(), url, "knowledge", HFA, n="3", names="off")
    assert page.locator(".result").count() == 3
    assert page.locator(".message-found").count() == 0
    assert page.input_value("#top-k") == "3"
    page.check("input[name=names]")
    page.keyboard.press("Enter")
    page.wait_for_selector(".message-found")
    assert "names" not in page.url
    page.go_back()
    page.wait_for_selector(".result")
    assert page.locator(".message-found").count() == 0
    # What was asked stands behind the '#', which no server is sent.
    assert not [asked for asked in page.asked if "HFA" in asked]


def test_the_explanation_is_a_chart_a_sentence_and_a_table(look: Look, url: str) -> None:
    page = look()
    answer = page.searched(address(url, "knowledge", "cap on liability of the guarantor"))
    explained = answer["explain"]["results"][0]
    page.click("#result-1 [data-key=w]")
    legs = page.locator("#result-1 .chart .dot-leg").count()
    assert legs == len(explained["legs"])
    assert page.locator("#result-1 .chart .dot-line").count() == len(explained["positions"])
    names = {"dense": "Meaning", "lexical": "Words", "title": "Title"}
    said = page.inner_text("#result-1 figcaption")
    for leg, hit in explained["legs"].items():
        assert f"{names[leg]} found it at rank {hit['rank']}".lower() in said.lower()
    # The chart carries the same sentence for who cannot see it.
    described = page.get_attribute("#result-1 .chart", "aria-labelledby")
    assert page.locator(f"[id='{described.split()[1]}']").text_content() in said
    page.click("#result-1 .why summary")
    assert f"{explained['fused']['score']:.4f}" in page.inner_text("#result-1 .why-table tfoot")
    page.click("#result-1 [data-key=w]")
    assert not page.is_visible("#result-1 .chart")


def test_the_source_opens_at_the_locator(look: Look, url: str, service: Service) -> None:
    page = look(height=420)  # too low to show the passage without going to it
    first = page.searched(address(url, "knowledge", HFA))["results"][0]
    passage = service.show("knowledge", first["span_id"], principal="local-owner")
    page.click("#result-1 .title")
    page.wait_for_selector(".the-passage")
    assert words(page.inner_text(".the-passage")) == words(first["text"])
    assert words(page.inner_text(".context")) == words("".join(passage["context"].values()))
    assert "limitation on liability" in page.locator(".the-passage mark").all_inner_texts()
    box, frame = page.locator(".the-passage mark").first.bounding_box(), page.locator(".source-body").bounding_box()
    assert frame["y"] <= box["y"] <= frame["y"] + frame["height"]
    assert page.evaluate("document.querySelector('.source-body').scrollTop") > 0
    assert f"characters {first['locator']['start']:,}" in page.inner_text(".source-head")
    assert page.locator(".page-picture").count() == 0
    page.click(".source-head button")
    assert not page.is_visible("#source-dialog")
    assert page.errors == []


def test_the_page_of_a_pdf_stands_beside_its_text(look: Look, url: str) -> None:
    page = searched(look(), url, "knowledge", LEASE)
    assert page.inner_text("#result-1 .place") == "p. 3"
    page.click("#result-1 .title")
    page.until("document.querySelector('.page-picture')?.naturalWidth > 1000")
    assert page.inner_text(".page-tools span") == "Page 3 of 3"
    assert marked_pixels(page) > 1000
    assert "Page 3 of Lighthouse Lease" in page.get_attribute(".page-picture", "alt")
    assert page.is_disabled(".page-tools button:last-child")
    shown = page.get_attribute(".page-picture", "src")
    page.click(".page-tools button:first-child")
    page.until("shown => document.querySelector('.page-picture').src !== shown", shown)
    assert page.inner_text(".page-tools span") == "Page 2 of 3"
    assert page.errors == []


def marked_pixels(page: Any) -> int:
    """Pixels of the page's picture in the colour of the pen."""
    return int(
        page.evaluate(
            """() => {
              const image = document.querySelector('.page-picture');
              const canvas = document.createElement('canvas');
              [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
              const context = canvas.getContext('2d');
              context.drawImage(image, 0, 0);
              const dots = context.getImageData(0, 0, canvas.width, canvas.height).data;
              let count = 0;
              for (let at = 0; at < dots.length; at += 4) if (dots[at] > 230 && dots[at + 2] < 200) count += 1;
              return count;
            }"""
        )
    )


def test_hebrew_is_read_from_the_right(look: Look, url: str) -> None:
    page = searched(look(locale="he-IL"), url, "internal_decisions", HEBREW)
    assert page.evaluate("[document.documentElement.lang, document.documentElement.dir]") == ["he", "rtl"]
    assert page.inner_text("#nav [aria-current]") == "חיפוש"
    for part in ("#question", "#result-1 .title span", "#result-1 .passage"):
        assert page.evaluate(f"getComputedStyle(document.querySelector('{part}')).direction") == "rtl", part
    assert page.locator("#result-1 mark").count() > 0
    rank, title = page.locator("#result-1 .rank").bounding_box(), page.locator("#result-1 .title").bounding_box()
    assert rank["x"] > title["x"] + title["width"]
    page.click("#result-1 [data-key=w]")
    assert "משמעות" in page.inner_text("#result-1 figcaption")
    assert page.errors == []


def test_a_hebrew_text_keeps_its_direction_in_an_english_page(look: Look, url: str) -> None:
    page = searched(look(), url, "internal_decisions", HEBREW)
    assert page.evaluate("document.documentElement.dir") == "ltr"
    assert page.evaluate("getComputedStyle(document.querySelector('#result-1 .passage')).direction") == "rtl"
    page.click("button[lang=he]")
    page.wait_for_selector("html[dir=rtl] .result")
    page.reload()
    page.wait_for_selector("html[dir=rtl] .result")


@pytest.mark.parametrize(("corpus", "query", "locale"), [
    ("knowledge", HFA, "en-US"), ("internal_decisions", HEBREW, "he-IL"),
])  # fmt: skip
def test_nothing_hangs_over_the_edge_of_a_phone(look: Look, url: str, corpus: str, query: str, locale: str) -> None:
    page = searched(look(width=390, height=844, locale=locale), url, corpus, query)
    assert overhang(page) == 0
    page.click("#result-1 [data-key=w]")
    page.click("#result-1 .why summary")
    assert overhang(page) == 0
    page.click("#result-1 .title")
    page.wait_for_selector(".the-passage")
    assert overhang(page) == 0
    assert page.evaluate("(e => e.scrollWidth - e.clientWidth)(document.querySelector('.source-body'))") == 0
    page.keyboard.press("Escape")
    for view in ("pipeline", "reports", "search"):
        page.goto(f"{url}/#/{view}")
        page.wait_for_selector(f"#nav [data-view={view}][aria-current]")
        assert overhang(page) == 0, view


def overhang(page: Any) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))


def test_the_drawing_has_the_figures_of_the_last_search(look: Look, url: str) -> None:
    page = look()
    page.goto(f"{url}/#/pipeline")
    page.until("document.querySelector('.drawing img')?.naturalWidth > 500")
    assert page.locator(".number").count() == 0
    searched(page, url, "knowledge", HFA)
    drawn = []

    def keep(route: Any) -> None:
        response = route.fetch()
        drawn.append(response.text())
        route.fulfill(response=response)

    page.route("**/web/drawing", keep)
    page.click("#nav [data-view=pipeline]")
    page.until("document.querySelector('.drawing img')?.naturalWidth > 500")
    assert "10 results in" in drawn[0]
    assert HFA in page.inner_text(".page .lead")
    row = page.locator("tbody tr", has_text="attribution")
    assert row.locator("td").all_inner_texts()[:2] == ["10", "10"]
    assert page.errors == []


def test_dark_and_light_have_enough_contrast(look: Look, url: str) -> None:
    for scheme in ("light", "dark"):
        page = searched(look(color_scheme=scheme), url, "knowledge", HFA)
        for part in (".passage", ".where", ".title", "#result-1 mark", ".source-id", ".badge", "#nav a", ".facts"):
            assert contrast(page, part) >= 4.5, (scheme, part)


def contrast(page: Any, part: str) -> float:
    """Contrast of an element's text as WCAG 2.2 has it, 1 to 21."""
    ink, paper = page.evaluate(
        """part => {
          let element = document.querySelector(part);
          const ink = getComputedStyle(element).color;
          let paper = 'rgba(0, 0, 0, 0)';
          for (; element && paper === 'rgba(0, 0, 0, 0)'; element = element.parentElement)
            paper = getComputedStyle(element).backgroundColor;
          return [ink, paper];
        }""",
        part,
    )
    lighter, darker = sorted((luminance(ink), luminance(paper)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
