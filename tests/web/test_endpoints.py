# SPDX-License-Identifier: Apache-2.0
"""What the page asks the server, without a browser: its files, source pages, reports, drawings."""

import json
import shutil
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import httpx
import pytest
from haystack_integrations.document_stores.pincite.errors import BadInputError
from pincite.api.settings import ServerSettings
from pincite.marks import marked, topic_stems
from pincite.serve_command import _folder
from pincite.service import Service
from pincite.tokens import new_token
from pincite.web.assets import ASSETS, POLICY
from pincite.web.passages import shown_passages

RENT = "What is the yearly rent in the Lighthouse lease?"


@pytest.fixture
def ask(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, timeout=60) as client:
        yield client


@pytest.fixture
def lease(service: Service) -> str:
    """A passage on the last page of the PDF."""
    return str(service.search("knowledge", RENT, principal="local-owner")["results"][0]["span_id"])


# -- files -------------------------------------------------------------------------------------------------------------


def test_the_files_come_from_the_package_to_everybody(ask: httpx.Client, service: Service) -> None:
    inside = {file.name for file in (resources.files("pincite.web") / "static").iterdir()}
    assert {path.rpartition("/")[2] or "index.html" for path in ASSETS} == inside
    new_token(service.database, "asks", "local-owner", ["knowledge"])
    try:
        assert ask.get("/web/facts").status_code == 401
        for path, asset in ASSETS.items():
            response = ask.get(path)
            assert (response.status_code, response.content) == (200, asset.content)
            assert response.headers["content-security-policy"] == POLICY
            assert response.headers["x-content-type-options"] == "nosniff"
            assert ask.get(path, headers={"If-None-Match": asset.etag}).status_code == 304
    finally:
        with service.database.admin() as connection:
            connection.execute("DELETE FROM pincite.tokens")


def test_the_policy_is_strict() -> None:
    assert POLICY.startswith("default-src 'none'")
    assert "unsafe" not in POLICY
    assert "*" not in POLICY


@pytest.mark.parametrize("path", ["/static/", "/static/../assets.py", "/static/%2e%2e/assets.py", "/static/no.js"])
def test_other_paths_do_not_exist(ask: httpx.Client, path: str) -> None:
    assert ask.get(path).status_code == 404


def test_files_are_short_and_name_their_licence() -> None:
    for file in (resources.files("pincite.web") / "static").iterdir():
        lines = file.read_text(encoding="utf-8").splitlines()
        assert "SPDX-License-Identifier: Apache-2.0" in lines[0], file.name
        assert len(lines) <= 450, file.name


def test_the_page_has_no_word_in_one_language_alone() -> None:
    words = {}
    for language in ("en", "he"):
        text = (resources.files("pincite.web") / "static" / f"words_{language}.js").read_text(encoding="utf-8")
        entries = [line.strip().rstrip(",").split(": ", 1) for line in text.splitlines() if line.startswith('  "')]
        words[language] = {json.loads(key): json.loads(value) for key, value in entries}
    assert words["en"].keys() == words["he"].keys()
    slots = {key: set(value.split("{")[1:]) for key, value in words["en"].items()}
    for key, names in slots.items():
        for name in names:
            if not key.endswith(".one"):
                assert "{" + name.split("}")[0] + "}" in words["he"][key], key


# -- passages ----------------------------------------------------------------------------------------------------------


def test_passages_are_cut_as_the_terminal_marks_them(service: Service) -> None:
    answer = service.search("knowledge", "limitation on liability of the mortgagor", principal="local-owner")
    topic = topic_stems(answer["topic_query"])
    for result, shown in zip(answer["results"], shown_passages(answer), strict=True):
        assert "".join(piece["text"] for piece in shown["whole"]) == result["text"]
        wanted = [result["text"][mark.start : mark.end] for mark in marked(result["text"], topic)]
        assert [piece["text"] for piece in shown["whole"] if piece["mark"]] == wanted
        excerpt = "".join(piece["text"] for piece in shown["excerpt"])
        assert excerpt in result["text"]
        assert shown["cut_before"] == (not result["text"].startswith(excerpt))
        assert shown["cut_after"] == (not result["text"].endswith(excerpt))


def test_the_page_gets_the_answer_of_the_rest_api(ask: httpx.Client) -> None:
    body = {"corpus": "knowledge", "query": RENT, "top_k": 3}
    mine = ask.post("/web/search", json=body).json()["answer"]
    api = ask.post("/search", json={**body, "explain": True}).json()
    same = [{**it, "timings_ms": {}, "explain": {**it["explain"], "stages": []}} for it in (mine, api)]
    assert same[0] == same[1]
    refused = ask.post("/web/search", json={**body, "top_k": 0})
    assert (refused.status_code, refused.headers["content-type"]) == (422, "application/problem+json")


# -- pages of sources --------------------------------------------------------------------------------------------------


def test_pages_of_a_pdf_are_pictures(ask: httpx.Client, lease: str) -> None:
    place = {"corpus": "knowledge", "span_id": lease}
    facts = ask.get("/source", params=place).json()
    assert (facts["media_type"], facts["pages"], facts["reason"]) == ("pdf", 3, None)
    pictures = [ask.get("/source/page.png", params={**place, "page": page}) for page in (1, 2, 3)]
    assert {it.headers["content-type"] for it in pictures} == {"image/png"}
    assert len({it.content for it in pictures}) == 3
    own = ask.get("/source/page.png", params=place)
    assert own.content == pictures[facts["page"] - 1].content
    beyond = ask.get("/source/page.png", params={**place, "page": 4})
    assert (beyond.status_code, beyond.json()["type"]) == (404, "urn:pincite:no-page")
    assert "no page 4" in beyond.json()["detail"]


def test_a_text_has_no_pages_to_show(ask: httpx.Client, service: Service) -> None:
    (first, *_) = service.search("knowledge", "HFA bond mortgage: prepayment", principal="local-owner")["results"]
    place = {"corpus": "knowledge", "span_id": first["span_id"]}
    assert ask.get("/source", params=place).json()["pages"] is None
    assert ask.get("/source/page.png", params=place).status_code == 404


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda path: path.unlink(), "is not where it was ingested from"),
        (lambda path: path.write_bytes(path.read_bytes() + b" "), "has changed since it was ingested"),
        (lambda path: (path.unlink(), path.symlink_to("/etc/hostname")), "has changed since it was ingested"),
        (lambda path: (path.unlink(), path.mkdir()), "is not where it was ingested from"),
    ],
)
def test_only_the_file_that_was_ingested_is_shown(
    ask: httpx.Client, lease: str, files: Path, change: Callable[[Path], Any], said: str
) -> None:
    path = files / "knowledge" / "lighthouse-lease.pdf"
    kept = path.read_bytes()
    try:
        change(path)
        place = {"corpus": "knowledge", "span_id": lease}
        facts = ask.get("/source", params=place).json()
        assert facts["pages"] is None
        assert said in facts["reason"]
        assert str(files) not in facts["reason"]
        assert ask.get("/source/page.png", params=place).status_code == 404
    finally:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        path.write_bytes(kept)


def test_a_source_is_shown_only_to_who_may_see_it(ask: httpx.Client, service: Service, lease: str) -> None:
    token = new_token(service.database, "visitor", "visitor", ["knowledge"])
    other = new_token(service.database, "elsewhere", "local-owner", ["kb"])
    place = {"corpus": "knowledge", "span_id": lease}
    try:
        seen = {"Authorization": f"Bearer {token}"}
        assert ask.get("/source/page.png", params=place, headers=seen).status_code == 200
        service.set_meta("knowledge", "lighthouse-lease.pdf", {"groups": "keepers"})
        for path in ("/source", "/source/page.png"):
            hidden = ask.get(path, params=place, headers=seen)
            assert (hidden.status_code, hidden.json()["type"]) == (404, "urn:pincite:not-found")
            assert "lighthouse" not in hidden.json()["detail"].replace(lease, "")
            assert ask.get(path, params=place, headers={"Authorization": f"Bearer {other}"}).status_code == 403
            assert ask.get(path, params=place).status_code == 401
    finally:
        service.set_meta("knowledge", "lighthouse-lease.pdf", {"groups": None})
        with service.database.admin() as connection:
            connection.execute("DELETE FROM pincite.tokens")


def test_a_source_needs_the_scope_of_its_corpus(ask: httpx.Client, service: Service) -> None:
    scope = {"practice_area": "betterment_levy"}
    (first, *_) = service.search("case_documents", "levy", principal="local-owner", scope=scope)["results"]
    place = {"corpus": "case_documents", "span_id": first["span_id"]}
    assert ask.get("/source", params={**place, "scope": "practice_area=betterment_levy"}).status_code == 200
    for wrong in ({}, {"scope": "practice_area=building_permits"}):
        assert ask.get("/source", params={**place, **wrong}).status_code == 404


# -- drawings ----------------------------------------------------------------------------------------------------------


def test_a_drawing_takes_what_it_is_told_as_text(ask: httpx.Client) -> None:
    run = {
        "corpus": "knowledge",
        "query": "<script>alert(1)</script>",
        "results": 1,
        "total_ms": 12.5,
        "stages": [{"stage": "diversifier", "received": 60, "gave": 7, "ms": 3.25}, {"stage": "<b>", "ms": 1}],
    }
    drawn = ask.post("/web/drawing", json=run)
    assert drawn.headers["content-type"] == "image/svg+xml"
    assert "1 result in 12 ms" in drawn.text
    assert "3.2 ms" in drawn.text
    assert ">7<" in drawn.text
    assert "<script" not in drawn.text
    assert ask.post("/web/drawing", json={**run, "total_ms": -1}).status_code == 422
    assert ask.post("/web/drawing", json={**run, "corpus": "no_such"}).status_code == 404


# -- reports -----------------------------------------------------------------------------------------------------------


def report(found: float, corpus: str = "knowledge") -> dict[str, Any]:
    """A report as ``bench --out`` writes it, of twelve questions."""
    queries = [
        {"id": f"q{number}", "query": f"question {number}", "figures": {"span_recall@10": found}, "results": []}
        for number in range(12)
    ]
    full = {"figures": {"span_recall@10": found, "p50_ms": 12.0}, "measures": {}, "stages": {}, "queries": queries}
    return {
        "format": "pincite-bench/1", "version": "0.1.0", "corpus": corpus, "k": 10, "settings": {"weight": found},
        "queries": {"file": "questions.yaml"}, "backends": {"full": full},
    }  # fmt: skip


@pytest.fixture
def reports(files: Path) -> Iterator[Path]:
    folder = files / "reports"
    for name, content in (
        ("before.json", report(0.25)),
        ("after.json", report(1.0)),
        ("elsewhere.json", report(1.0, "kb")),
        ("broken.json", {"format": "pincite-bench/1"}),
        ("none.json", {"a": 1}),
        ("notes.txt", {}),
    ):
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    yield folder
    for file in folder.iterdir():
        file.unlink()


def test_reports_are_listed_and_shown_with_their_difference(ask: httpx.Client, reports: Path) -> None:
    lines = {line["name"]: line for line in ask.get("/web/reports").json()}
    assert lines.keys() == {"before.json", "after.json", "elsewhere.json", "broken.json", "none.json"}
    assert {name for name, line in lines.items() if line["problem"]} == {"broken.json", "none.json"}
    assert (lines["after.json"]["questions"], lines["after.json"]["backends"]) == (12, ["full"])
    assert all(str(reports) not in str(line) for line in lines.values())
    shown = ask.get("/web/report", params={"name": "after.json", "baseline": "before.json"}).json()
    assert shown["backends"]["full"]["figures"] == {"span_recall@10": 1.0, "p50_ms": 12.0}
    (change,) = shown["comparison"]["changes"]
    assert (change["before"], change["after"], change["rose"]) == (0.25, 1.0, 12)
    assert change["p"] < 0.05
    assert ask.get("/web/report", params={"name": "after.json"}).json()["comparison"] is None


@pytest.mark.parametrize("name", ["../knowledge/x.json", "/etc/passwd", "no.json", "notes.txt", "none.json", ""])
def test_only_reports_of_the_folder_are_read(ask: httpx.Client, reports: Path, name: str) -> None:
    response = ask.get("/web/report", params={"name": name})
    assert response.status_code == 400, response.text


def test_reports_that_do_not_measure_the_same_are_not_compared(ask: httpx.Client, reports: Path) -> None:
    refused = ask.get("/web/report", params={"name": "after.json", "baseline": "elsewhere.json"})
    assert refused.status_code == 400
    assert "corpus" in refused.json()["detail"]


def test_reports_are_for_who_sees_all_groups_and_their_corpora(
    ask: httpx.Client, service: Service, reports: Path
) -> None:
    visitor = new_token(service.database, "visitor", "visitor", ["knowledge"])
    owner = new_token(service.database, "owner", "local-owner", ["kb"])
    try:
        assert ask.get("/web/reports", headers={"Authorization": f"Bearer {visitor}"}).status_code == 403
        opened = {"Authorization": f"Bearer {owner}"}
        names = {line["name"] for line in ask.get("/web/reports", headers=opened).json() if not line["problem"]}
        assert names == {"elsewhere.json"}
        assert ask.get("/web/report", params={"name": "after.json"}, headers=opened).status_code == 400
    finally:
        with service.database.admin() as connection:
            connection.execute("DELETE FROM pincite.tokens")


def test_a_server_without_reports_says_so(serve: Callable[..., Any]) -> None:
    url = serve(principal="local-owner").url
    assert httpx.get(f"{url}/web/facts", timeout=60).json()["reports"] is False
    response = httpx.get(f"{url}/web/reports", timeout=60)
    assert (response.status_code, response.json()["type"]) == (404, "urn:pincite:no-reports")


def test_the_folder_of_reports_must_be_one(tmp_path: Path) -> None:
    assert _folder(None) is None
    assert _folder(tmp_path) == tmp_path.resolve()
    with pytest.raises(BadInputError, match="is no folder"):
        _folder(tmp_path / "none")
    assert ServerSettings().reports is None
