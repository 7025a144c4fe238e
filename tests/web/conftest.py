# SPDX-License-Identifier: Apache-2.0
"""One database and one server for all tests of the page, and a Chromium that looks at it."""

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
import yaml
from haystack_integrations.document_stores.pincite.resources import read_config
from pincite.api.app import create_app
from pincite.api.server import address, listening
from pincite.api.settings import ServerSettings
from pincite.service import Service
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

DEMO = Path(__file__).resolve().parents[2] / "app" / "demo"
EVIL_NAME = "<img src=x onerror=window.hacked=1>.md"
EVIL = """---
title: Deed of <img src=x onerror=window.hacked=1> Trust
---
# Deed of <img src=x onerror=window.hacked=1> Trust

## <script>window.hacked=1</script> Aardvarks

The trustee keeps aardvarks. <script>window.hacked=1</script><img src=x onerror=window.hacked=1> The aardvarks are fed
at noon, and <a href="javascript:window.hacked=1">nobody</a> but the trustee may feed the aardvarks of the trust.
"""
EVIL_RULE = """- statement: <img src=x onerror=window.hacked=1> An aardvark is no dog.
  quote: A permit for dogs does not cover an aardvark, however it is called.
  review_status: approved
"""
EVIL_PRECEDENT = """---
title: Aardvark v. Committee
court: <script>window.hacked=1</script>
date: '2020-01-01'
---
# Aardvark v. Committee

A permit for dogs does not cover an aardvark, however it is called. The appeal of the keeper is dismissed.
"""
LEASE = (
    "Lighthouse Lease between Skerry Holdings and Beacon Trust. "
    + " ".join(f"Recital {number} tells of the rock, its harbour and its former keepers." for number in range(1, 22)),
    "Duties of the keeper. The tenant lights the lamp at dusk and puts it out at dawn, in every weather. "
    + " ".join(f"Duty {number} is to trim the wick and to polish the brass of the lantern." for number in range(1, 20)),
    " ".join(f"Instalment {number} may be paid in herring if the landlord agrees." for number in range(1, 27))
    + " Rent. The yearly rent of the lighthouse is nine hundred pounds, payable at Michaelmas to the landlord.",
)
"""Text of the pages of a PDF, in sentences; each page has enough of it for passages of its own."""


def pdf(*pages: str) -> PdfWriter:
    """A PDF with some lines on each page."""
    writer = PdfWriter()
    font = DictionaryObject({
        NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1"),
        NameObject("/BaseFont"): NameObject("/Helvetica"),
    })  # fmt: skip
    for text in pages:
        page = writer.add_blank_page(612, 792)
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
        )
        stream = DecodedStreamObject()
        lines = " ".join(f"({line}.) Tj 0 -18 Td" for line in text.rstrip(".").split(". "))
        stream.set_data(f"BT /F1 11 Tf 60 700 Td {lines} ET".encode())
        page[NameObject("/Contents")] = writer._add_object(stream)
    return writer


@pytest.fixture(scope="package")
def files(home: Path) -> Iterator[Path]:
    """A folder with a PDF, files that try to be markup, and a folder of reports."""
    folder = Path(tempfile.mkdtemp(prefix="pincite web tests "))
    folder.chmod(0o755)
    for name in ("knowledge", "precedents", "reports"):
        (folder / name).mkdir()
    pdf(*LEASE).write(folder / "knowledge" / "lighthouse-lease.pdf")
    (folder / "knowledge" / EVIL_NAME).write_text(EVIL, encoding="utf-8")
    (folder / "precedents" / "aardvark.md").write_text(EVIL_PRECEDENT, encoding="utf-8")
    (folder / "precedents" / "aardvark.md.rules.yaml").write_text(EVIL_RULE, encoding="utf-8")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="package")
def service(files: Path) -> Iterator[Service]:
    """A service over demo collections and :func:`files`, in a home of its own, which is in force until the end."""
    home = Path(tempfile.mkdtemp(prefix="pincite web home "))
    home.chmod(0o755)
    settings = yaml.safe_load(read_config("corpora.yaml")[0])
    settings["principals"]["visitor"] = {"groups": ["visitors"]}
    (home / "corpora.yaml").write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PINCITE_HOME", str(home))
        patch.setenv("PINCITE_CONFIG", str(home))
        with Service() as service:
            service.init()
            for corpus, paths in (
                ("knowledge", [DEMO / "texts", files / "knowledge"]),
                ("precedent_library", [DEMO / "corpora" / "precedent_library", files / "precedents"]),
                ("internal_decisions", [DEMO / "corpora" / "internal_decisions"]),
                ("case_documents", [DEMO / "corpora" / "case_documents"]),
            ):
                assert not service.ingest(corpus, paths).failed
            yield service
    shutil.rmtree(home)


class Server:
    """The application on a port of this machine, in a thread."""

    def __init__(self, service: Service, settings: ServerSettings) -> None:
        self._listening = listening("127.0.0.1", 0)
        self.listener = self._listening.__enter__()
        self.url = address(self.listener)
        self.app = create_app(service, settings)
        self._server = uvicorn.Server(uvicorn.Config(self.app, log_config=None, access_log=False, lifespan="on"))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self.listener]})
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive()
            time.sleep(0.02)

    def end(self) -> None:
        """Stop, and wait for it."""
        self._server.should_exit = True
        self._thread.join()
        self._listening.__exit__(None, None, None)


@pytest.fixture(scope="module")
def serve(service: Service) -> Iterator[Callable[..., Server]]:
    """``serve(**settings)``: a server with these settings, ended after the module."""
    started: list[Server] = []

    def make(**settings: Any) -> Server:
        started.append(Server(service, ServerSettings(**settings)))
        return started[-1]

    yield make
    for server in started:
        server.end()


@pytest.fixture(scope="module")
def url(serve: Callable[..., Server], files: Path) -> str:
    """Where the owner's server is, who needs no token."""
    return serve(principal="local-owner", reports=files / "reports").url


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """
    The system's Chromium; a test is skipped without one, except in continuous integration (``CI`` is set).

    Of this module alone: while Playwright runs, its thread has an event loop, and other tests run their own.
    """
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"no browser: none of {', '.join(names)} is installed")
    from playwright.sync_api import sync_playwright

    # Chromium refuses to build its sandbox for root.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=arguments)
        yield browser
        browser.close()


class Watched:
    """A page, what it asked for, and what went wrong in it."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.asked: list[str] = []
        self.errors: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.page, name)

    def until(self, script: str, argument: Any = None) -> None:
        """
        Wait until a function of JavaScript says yes.

        Asked from outside: Playwright's own ``wait_for_function`` needs ``eval``, which the page's policy forbids.
        """
        deadline = time.monotonic() + 60
        while not self.page.evaluate(script, argument):
            assert time.monotonic() < deadline, script
            self.page.wait_for_timeout(50)

    def searched(self, address: str) -> dict[str, Any]:
        """Go to a search, wait for its results, and give the answer that the page got."""
        with self.page.expect_response("**/web/search") as caught:
            self.page.goto(address)
        self.page.wait_for_selector(".result")
        answer: dict[str, Any] = caught.value.json()["answer"]
        return answer


@pytest.fixture
def look(chromium: Any) -> Iterator[Callable[..., Watched]]:
    """``look(width=1280, **options)``: a page in a context of its own, in English unless ``locale`` says otherwise."""
    contexts = []

    def make(width: int = 1280, height: int = 900, locale: str = "en-US", **options: Any) -> Watched:
        context = chromium.new_context(viewport={"width": width, "height": height}, locale=locale, **options)
        context.set_default_timeout(60_000)  # for a machine that does much else; what is there is not waited for
        contexts.append(context)
        return Watched(context.new_page())

    yield make
    for context in contexts:
        context.close()
