# SPDX-License-Identifier: Apache-2.0
"""
Where the load of ``load.py`` takes place: a home of its own with all demo corpora, principals, tokens and a server.

Every group has a *canary* in every corpus: a source for that group alone which answers every question of the corpus
word for word, so that it comes up wherever it may be seen, with a mark that stands nowhere else.
"""

import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from haystack_integrations.document_stores.pincite.embedded_files import data_folder
from haystack_integrations.document_stores.pincite.resources import read_config
from load_memory import Watched
from pincite.pipelines.corpora import load_corpora
from pincite.service import Service
from pincite.tokens import new_token

DEMO = Path(__file__).resolve().parents[1] / "app" / "demo"
QUESTIONS = Path(__file__).with_name("load_questions.yaml")
DEMO_QUESTIONS = 20  # of the demo's, spread over all families, beside every one in Hebrew
GROUPS = ("lenders", "internal", "clerks")
PRINCIPALS: dict[str, list[str]] = {
    "local-owner": ["*"],
    "lender": ["lenders"],
    "clerk": ["clerks", "internal"],
    "visitor": ["visitors"],  # a group that nothing is shared with: what is public, and no canary
    "guest": [],
}
OPENED: dict[str, tuple[str, ...]] = {"guest": ("kb", "precedent_library")}
"""Tokens that open some corpora only."""


class Asker(NamedTuple):
    """A token, and the marks that its holder must never see."""

    principal: str
    token: str
    corpora: tuple[str, ...]
    foreign: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """What one client asks at one time."""

    asker: Asker
    corpus: str
    path: str
    body: str

    def request(self) -> dict[str, Any]:
        """As arguments of ``httpx.AsyncClient.post``."""
        headers = {"Authorization": f"Bearer {self.asker.token}", "Content-Type": "application/json"}
        return {"url": self.path, "content": self.body, "headers": headers}

    def __str__(self) -> str:
        return f"{self.asker.principal} {self.path} {self.corpus} {self.body}"


class Scene(NamedTuple):
    """A running server, and all that is asked of it. ``marks``: of each group; ``log``: what the server says."""

    address: str
    watched: Watched
    questions: list[Question]
    marks: dict[str, str]
    log: Path


@contextmanager
def scene(serve_options: list[str]) -> Iterator[Scene]:
    """Set everything up, and take it down again."""
    with tempfile.TemporaryDirectory(prefix="pincite load ") as name:
        folder = Path(name)
        folder.chmod(0o755)  # as root, the database runs under another account
        os.environ["PINCITE_HOME"] = str(folder / "home")
        os.environ["PINCITE_CONFIG"] = str(_configuration(folder / "configuration"))
        os.environ.pop("PINCITE_DATABASE_URL", None)
        asked = _asked()
        marks = {group: f"canary{group}{secrets.token_hex(6)}" for group in GROUPS}
        with Service() as service:
            _fill(service, asked, marks, folder / "canaries")
            questions = _questions(_askers(service, list(asked), marks), asked)
            with _server(serve_options, folder / "serve.log") as (process, address):
                watched = Watched(process.pid, _postmaster(folder / "home"))
                yield Scene(address, watched, questions, marks, folder / "serve.log")


def _configuration(folder: Path) -> Path:
    folder.mkdir()
    settings = yaml.safe_load(read_config("corpora.yaml")[0])
    settings["principals"] = {name: {"groups": groups} for name, groups in PRINCIPALS.items()}
    (folder / "corpora.yaml").write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    return folder


def _asked() -> dict[str, list[dict[str, Any]]]:
    """Per corpus what is asked."""
    asked: dict[str, list[dict[str, Any]]] = yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))
    demo = [it["query"] for it in yaml.safe_load((DEMO / "questions.yaml").read_text(encoding="utf-8"))]
    taken = {*demo[:: len(demo) // DEMO_QUESTIONS], *(query for query in demo if re.search("[\u0590-\u05ff]", query))}
    asked["knowledge"] += [{"query": query} for query in demo if query in taken]
    return asked


def _fill(service: Service, asked: dict[str, list[dict[str, Any]]], marks: dict[str, str], canaries: Path) -> None:
    service.init()
    for corpus, entries in asked.items():
        _put_canaries(canaries / corpus, [entry["query"] for entry in entries if entry["query"]], marks)
        _ingest(service, corpus, DEMO / ("texts" if corpus == "knowledge" else f"corpora/{corpus}"), None)
        _ingest(service, corpus, canaries / corpus, "canary")


def _ingest(service: Service, corpus: str, folder: Path, name: str | None) -> None:
    failed = service.ingest(corpus, [folder], as_name=name).failed
    if failed:
        raise SystemExit(f"{corpus}: {failed}")


def _put_canaries(folder: Path, queries: list[str], marks: dict[str, str]) -> None:
    folder.mkdir(parents=True)
    for group, mark in marks.items():
        meta = {
            "title": f"Canary of the {group}",
            "groups": [group],
            "matter": f"canary-{group}",
            "case_id": f"CANARY-{group}",
            "case_number": f"Canary {group}",
            "case_name": f"Canary of the {group}",
            "court": "Court of Canaries",
            "practice_area": "betterment_levy",
            "document_type": "appeal",
            "language": "en",
            "date": "2023-01-01",
        }
        parts = [f"## {query}\n\n{query} For the {group} alone the answer is {mark}.\n" for query in queries]
        text = f"---\n{yaml.safe_dump(meta)}---\n# Canary of the {group}\n\n" + "\n".join(parts)
        (folder / f"{group}.md").write_text(text, encoding="utf-8")


def _askers(service: Service, corpora: list[str], marks: dict[str, str]) -> list[Asker]:
    askers = []
    for principal, groups in PRINCIPALS.items():
        opened = OPENED.get(principal, tuple(corpora))
        token = new_token(service.database, f"load-{principal}", principal, list(opened))
        foreign = tuple(mark for group, mark in marks.items() if group not in groups and "*" not in groups)
        askers.append(Asker(principal, token, opened, foreign))
    return askers


def _questions(askers: list[Asker], asked: dict[str, list[dict[str, Any]]]) -> list[Question]:
    made = []
    for asker in askers:
        for corpus in asker.corpora:
            for entry in [*asked[corpus], *_about_canaries(corpus)]:
                body = {key: value for key, value in entry.items() if key != "tool"}
                tool = entry.get("tool")
                path = f"/tools/{tool}" if tool else "/search"
                body |= {} if tool else {"corpus": corpus}
                made.append(Question(asker, corpus, path, json.dumps(body, ensure_ascii=False)))
    return made


def _about_canaries(corpus: str) -> list[dict[str, Any]]:
    """Of each group's canary alone: something for the group, nothing at all for the others."""
    practice = {"scope": {"practice_area": "betterment_levy"}} if corpus == "case_documents" else {}
    field = "meta.matter"
    return [
        {"query": "canary", "filters": {"field": field, "operator": "==", "value": f"canary-{group}"}, **practice}
        for group in GROUPS
    ]


@contextmanager
def _server(options: list[str], log: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-c", "from pincite.cli import main; main()", "serve", "--port", "0", *options]
    # To a file: a pipe that nobody empties would hold the server up.
    with log.open("w", encoding="utf-8") as said, subprocess.Popen(command, stderr=said, text=True) as process:  # noqa: S603
        try:
            yield process, _address(process, log)
        finally:
            process.send_signal(signal.SIGTERM)


def _address(process: subprocess.Popen[str], log: Path) -> str:
    while process.poll() is None:
        found = re.search(r"http://\S+:\d+", log.read_text(encoding="utf-8"))
        if found is not None:
            return found.group()
        time.sleep(0.05)
    raise SystemExit(log.read_text(encoding="utf-8"))


def _postmaster(home: Path) -> int:
    data = data_folder(home / "database")
    assert data is not None  # noqa: S101 - ingestion has made it
    return int((data / "postmaster.pid").read_text(encoding="ascii").splitlines()[0])


def corpora_of(questions: list[Question]) -> list[str]:
    """The corpora that are asked."""
    return [name for name in load_corpora().corpora if any(it.corpus == name for it in questions)]
