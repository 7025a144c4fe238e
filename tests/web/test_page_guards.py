# SPDX-License-Identifier: Apache-2.0
"""What the page must withstand: texts that would be markup, tokens, refusals; and that it talks to nobody else."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from pincite.service import Service
from pincite.tokens import new_token

Look = Callable[..., Any]
ABSENT = "What does the Zanzibar Harbour shareholders agreement say about dividends?"
EVIL_QUERY = "<img src=x onerror=window.hacked=1> aardvarks"


def address(url: str, corpus: str, query: str, **more: str) -> str:
    return f"{url}/#/search?{urlencode({'corpus': corpus, 'q': query, **more})}"


def test_texts_are_never_markup(look: Look, url: str) -> None:
    page = look()
    answer = page.searched(address(url, "knowledge", EVIL_QUERY))
    evil = next(it for it in answer["results"] if "onerror" in it["title"])
    result = f"#result-{evil['rank']}"
    assert "<img src=x onerror=window.hacked=1>" in page.inner_text(f"{result} .title")
    assert evil["source_id"] == page.inner_text(f"{result} .source-id")
    page.click(f"{result} [data-key=w]")
    page.click(f"{result} .title")
    page.wait_for_selector(".the-passage")
    assert "<script>window.hacked=1</script>" in page.inner_text(".context")
    untouched(page)
    page.keyboard.press("Escape")
    page.click("#nav [data-view=pipeline]")
    page.wait_for_selector(".drawing img")
    assert EVIL_QUERY in page.inner_text(".page .lead")
    untouched(page)


def test_metadata_and_rules_are_never_markup(look: Look, url: str) -> None:
    page = look()
    page.searched(address(url, "precedent_library", "does a permit for dogs cover an aardvark"))
    assert "<img src=x onerror=window.hacked=1>" in page.locator(".statement").first.inner_text()
    untouched(page)


def untouched(page: Any) -> None:
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img[src=x], dialog img[src=x], main script, main a[href^=javascript]").count() == 0
    assert page.errors == []


def test_a_hash_full_of_markup_is_a_question(look: Look, url: str) -> None:
    page = look()
    page.goto(f"{url}/#/search?corpus=%3Cimg%20src=x%20onerror=window.hacked=1%3E&q=x&scope.%3Cb%3E=y")
    page.wait_for_selector(".message-error")
    assert "<img src=x onerror=window.hacked=1>" in page.inner_text(".message-error")
    untouched(page)


def test_nothing_is_asked_of_anybody_else(look: Look, url: str) -> None:
    page = look()
    page.searched(address(url, "knowledge", "What is the yearly rent in the Lighthouse lease?"))
    page.click("#result-1 .title")
    page.until("document.querySelector('.page-picture')?.naturalWidth > 1000")
    page.keyboard.press("Escape")
    for view in ("pipeline", "reports"):
        page.click(f"#nav [data-view={view}]")
        page.wait_for_selector(f"#nav [data-view={view}][aria-current]")
    assert {asked for asked in page.asked if not asked.startswith((url, f"blob:{url}"))} == set()
    assert page.errors == []


def test_the_policy_forbids_what_the_page_does_not_do(look: Look, url: str) -> None:
    page = look()
    page.goto(url)
    page.wait_for_selector("#question")
    page.evaluate(
        """() => {
          const script = document.createElement('script');
          script.textContent = 'window.hacked = 1';
          document.body.append(script);
          const styled = '<p id="styled" style="color: red" onclick="window.hacked = 1">x</p>';
          document.body.insertAdjacentHTML('beforeend', styled);
          document.getElementById('styled').click();
          return fetch('http://192.0.2.1/').catch(() => null);
        }"""
    )
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("getComputedStyle(document.getElementById('styled')).color") != "rgb(255, 0, 0)"
    assert len([error for error in page.errors if "Content Security Policy" in error]) >= 4


# -- who may see what -------------------------------------------------------------------------------------------------


@pytest.fixture
def tokens(service: Service) -> Iterator[dict[str, str]]:
    """A token of the owner for one corpus, and one of a visitor; both are gone after the test."""
    yield {
        "owner": new_token(service.database, "owner", "local-owner", ["knowledge"]),
        "visitor": new_token(service.database, "visitor", "visitor", ["knowledge", "precedent_library"]),
    }
    with service.database.admin() as connection:
        connection.execute("DELETE FROM pincite.tokens")


def test_a_token_is_asked_for_and_kept_in_the_tab_alone(look: Look, url: str, tokens: dict[str, str]) -> None:
    page = look()
    page.goto(address(url, "knowledge", "notice of default"))
    page.wait_for_selector("#token:focus")
    page.keyboard.type("pincite_wrong")
    page.keyboard.press("Enter")
    page.wait_for_selector("#token-dialog .field-error")
    assert "does not know this token" in page.inner_text("#token-dialog")
    page.keyboard.type(tokens["owner"])
    page.keyboard.press("Enter")
    page.wait_for_selector(".result")
    assert page.locator("#corpus option").all_inner_texts() == ["knowledge"]
    assert page.evaluate("Object.values(sessionStorage)") == [tokens["owner"]]
    assert tokens["owner"] not in page.evaluate("JSON.stringify([localStorage, document.cookie, location.href])")
    assert not [asked for asked in page.asked if tokens["owner"] in asked]
    page.reload()
    page.wait_for_selector(".result")
    page.click("#tools button:last-child")
    page.wait_for_selector("#token:focus")
    assert page.evaluate("sessionStorage.length") == 0


def test_a_token_that_is_revoked_while_the_page_is_open(
    look: Look, url: str, service: Service, tokens: dict[str, str]
) -> None:
    page = look()
    page.goto(url)
    page.wait_for_selector("#token:focus")
    page.keyboard.type(tokens["visitor"])
    page.keyboard.press("Enter")
    page.wait_for_selector("#question")
    with service.database.admin() as connection:
        connection.execute("DELETE FROM pincite.tokens WHERE name = 'visitor'")
    page.fill("#question", "notice")
    page.keyboard.press("Enter")
    page.wait_for_selector("#token-dialog[open]")
    assert page.evaluate("sessionStorage.length") == 0


def test_audit_and_reports_are_for_who_sees_all_groups(look: Look, url: str, tokens: dict[str, str]) -> None:
    page = look()
    page.goto(f"{url}/#/audit")
    page.wait_for_selector("#token:focus")
    page.keyboard.type(tokens["visitor"])
    page.keyboard.press("Enter")
    page.until(
        "document.querySelector('.message-note')?.textContent.includes('Only who sees all groups may see the audit')"
    )
    page.click("#nav [data-view=reports]")
    page.until("document.querySelector('.message-note')?.textContent.includes('questions and documents')")
    assert not [asked for asked in page.asked if asked.endswith(("/audit", "/web/reports"))]


# -- refusals and failures ---------------------------------------------------------------------------------------------


def test_a_required_scope_is_asked_for(look: Look, url: str) -> None:
    page = look()
    page.goto(url)
    page.select_option("#corpus", "case_documents")
    page.fill("#question", "levy")
    page.press("#question", "Enter")
    page.wait_for_selector("#scope-practice_area:focus")
    assert page.get_attribute("#scope-practice_area", "aria-invalid") == "true"
    assert "Practice area" in page.inner_text(".field-error")
    assert not [asked for asked in page.asked if asked.endswith("/web/search")]
    page.fill("#scope-practice_area", "betterment_levy")
    page.keyboard.press("Enter")
    page.wait_for_selector(".result")
    assert "scope.practice_area=betterment_levy" in page.url
    page.click("#result-1 .title")  # a passage is opened within the scope that it was found in
    page.wait_for_selector(".the-passage")
    assert page.errors == []


def test_an_unknown_corpus_is_named(look: Look, url: str) -> None:
    page = look()
    page.goto(address(url, "no_such", "notice"))
    page.wait_for_selector(".message-error")
    assert "no_such" in page.inner_text(".message-error")
    assert page.input_value("#question") == "notice"


def test_what_is_not_there_is_said(look: Look, url: str) -> None:
    page = look()
    page.searched(
        address(url, "knowledge", "What does the Zanzibar Harbour shareholders agreement say about dividends?")
    )
    said = page.inner_text(".message-missing")
    assert said.startswith("Not there")
    assert "zanzibar harbour shareholders agreement" in said


def test_no_result_is_said(look: Look, url: str) -> None:
    page = look()
    page.goto(address(url, "knowledge", "rent", **{"scope.matter": "no such matter"}))
    page.wait_for_selector(".message-plain")
    assert page.inner_text(".message-plain").startswith("Nothing here answers this.")
    assert page.get_attribute(".options", "open") is not None  # what narrowed the search is to be seen


@pytest.mark.parametrize(
    ("status", "headers", "said"),
    [
        (429, {"Retry-After": "7"}, ["The server is busy", "7 s"]),
        (503, {}, ["Not ready", "run: pincite init"]),
        (504, {}, ["took too long"]),
        (500, {}, ["Something went wrong", "the server's log"]),
        (0, {}, ["does not answer"]),
    ],
)
def test_a_failure_is_told_and_can_be_tried_again(
    look: Look, url: str, status: int, headers: dict[str, str], said: list[str]
) -> None:
    details = {
        503: "corpus 'knowledge' is not set up; run: pincite init",
        500: "something failed; the server's log says",
    }
    page = look()

    def fail(route: Any) -> None:
        if status == 0:
            route.abort()
            return
        body = json.dumps({"title": "x", "status": status, "detail": details.get(status, "")})
        route.fulfill(status=status, headers={"Content-Type": "application/problem+json", **headers}, body=body)

    page.route("**/web/search", fail)
    page.goto(address(url, "knowledge", "notice of default"))
    page.wait_for_selector(".message-error[role=alert]")
    for part in said:
        assert part in page.inner_text(".message-error")
    page.unroute("**/web/search")
    page.click(".message-error button")
    page.wait_for_selector(".result")


def test_stages_that_failed_are_told_in_plain_words(look: Look, url: str) -> None:
    page = look()

    def degrade(route: Any) -> None:
        found = route.fetch().json()
        found["answer"]["degraded"] = [
            {"stage": "dense", "reason": "no answer within 2,000 ms"},
            {"stage": "title", "reason": "<b>gone</b>"},
        ]
        route.fulfill(json=found)

    page.route("**/web/search", degrade)
    page.goto(address(url, "knowledge", ABSENT))
    page.wait_for_selector(".message-warning")
    said = "\n".join(page.locator(".message-warning").all_inner_texts())
    assert "The search by meaning gave nothing this time. no answer within 2,000 ms" in said
    assert "<b>gone</b>" in said
    # Titles were not looked up: nobody can say that the document is not there.
    assert "could not be looked up" in said
    assert page.locator(".message-missing").count() == 0


def test_nobody_is_told_that_nobody_asks(look: Look, serve: Callable[..., Any]) -> None:
    page = look()
    page.goto(address(serve().url, "knowledge", "notice of default"))
    page.wait_for_selector(".message-warning")
    assert "Nobody is named as the asker" in page.inner_text(".message-warning")
    assert page.locator(".result").count() == 0


def test_a_pdf_that_changed_is_shown_as_text_with_the_reason(look: Look, url: str, files: Path) -> None:
    path = files / "knowledge" / "lighthouse-lease.pdf"
    kept = path.read_bytes()
    path.write_bytes(kept + b"\n")
    try:
        page = look()
        page.searched(address(url, "knowledge", "What is the yearly rent in the Lighthouse lease?"))
        page.click("#result-1 .title")
        page.wait_for_selector(".no-picture")
        assert "has changed since it was ingested" in page.inner_text(".no-picture")
        assert "nine hundred pounds" in page.inner_text(".the-passage")
        assert page.errors == []
    finally:
        path.write_bytes(kept)
