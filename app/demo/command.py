# SPDX-License-Identifier: Apache-2.0
"""``pincite demo``: the failure that Pincite mends, shown on instruments written for it."""

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import yaml
from haystack_integrations.document_stores.pincite.database import Database, pincite_home
from haystack_integrations.document_stores.pincite.source_writer import SourceWriter
from pincite.marks import topic_stems
from pincite.outcome import DONE, PARTLY
from pincite.plain_text import plain
from pincite.progress import ingest_progress, ingest_summary
from pincite.render import console_for, isolated, marked_text, one_line_of, place
from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from pincite.service import Service

CORPUS = "knowledge"
AS_NAME = "demo"
_POOL = 100  # results looked through for the right document without the policy; the most that a search gives
_SHOWN = 3
_CLAUSE_CHARACTERS = 460
_OPENING_CHARACTERS = 60  # of the labelled answer, by which its passage is known


_QUESTION_IDS = ("named-full-01", "named-full-02", "named-full-03")


class NamedQuestion(NamedTuple):
    """A question that names a document, that document, and the words in it that answer."""

    question: str
    source_id: str
    answer: str


ABSENT = "What does the Acme bond mortgage say about prepayment?"


def run_demo(open_service: Callable[[], "Service"], principal: str | None, *, out: TextIO, err: TextIO) -> int:
    """
    Ingest the demo texts and print each named question's answers without and with the named-instrument policy.

    The demo goes into the corpus of ``PINCITE_HOME`` under ids that begin with ``demo/``. Where that corpus holds
    sources of the user, it goes into a home of its own below, so that neither shows up among the other's results.

    :param open_service: gives a service for the environment as it is when called.
    :param principal: who asks.
    :returns: the exit status: 1 when a text could not be ingested.
    """
    console = console_for(out)
    with open_service() as service:
        service.init()
        apart = _holds_other_sources()
    if apart:
        os.environ["PINCITE_HOME"] = str(pincite_home() / AS_NAME)
        os.environ.pop("PINCITE_DATABASE_URL", None)
        console.print(Text(f"Your corpus {CORPUS} stays as it is: the demo has a home of its own.", style="dim"))
    with open_service() as service:
        service.init()
        status = _ingest_texts(service, console, err)
        asked = named_questions()
        best = [_ask(service, principal, console, *numbered) for numbered in enumerate(asked, start=1)]
    _print_commands(console, asked[0].question, best[0], home=pincite_home() if apart else None)
    return status


def named_questions() -> list[NamedQuestion]:
    """The three questions of the demo, from its labelled ones."""
    labelled = yaml.safe_load((resources.files("pincite.demo") / "questions.yaml").read_text(encoding="utf-8"))
    by_id = {entry["id"]: entry for entry in labelled}
    chosen = [by_id[identity] for identity in _QUESTION_IDS]
    return [NamedQuestion(entry["query"], f"{AS_NAME}/{entry['source']}", entry["answer"]) for entry in chosen]


def _holds_other_sources() -> bool:
    known = SourceWriter(Database.current(), CORPUS).known_sources()
    return any(not source_id.startswith(f"{AS_NAME}/") for source_id in known)


def _ingest_texts(service: "Service", console: Console, err: TextIO) -> int:
    with resources.as_file(resources.files("pincite.demo") / "texts") as folder, ingest_progress(err) as progress:
        report = service.ingest(CORPUS, [folder], as_name=AS_NAME, progress=progress)
    for line in ingest_summary(CORPUS, report):
        console.print(Text(line, style="dim"))
    return PARTLY if report.failed else DONE


def _ask(service: "Service", principal: str | None, console: Console, number: int, asked: NamedQuestion) -> str | None:
    """Ask one question both ways, print the comparison, and return the id of the passage that answers."""
    before = service.search(CORPUS, asked.question, principal=principal, names=False, top_k=_POOL)
    after = service.search(CORPUS, asked.question, principal=principal, top_k=_POOL)
    print_comparison(console, number, asked, before, after)
    best = clause_of(asked, after)
    return best["span_id"] if best else None


def rank_of(source_id: str, response: Mapping[str, Any]) -> int | None:
    """The rank of a source's first result."""
    return next((result["rank"] for result in response["results"] if result["source_id"] == source_id), None)


def print_comparison(
    console: Console, number: int, asked: NamedQuestion, before: Mapping[str, Any], after: Mapping[str, Any]
) -> None:
    """
    One question: the first documents without and with the policy, the right one's rank in each, and its clause.

    :param before: response to the question with ``names=False``.
    :param after: response to the same question with names.
    """
    console.print(Text(f"\n{number}. {asked.question}\n", style="bold"))
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, expand=True, padding=(0, 1))
    table.add_column("", width=3, justify="right", style="dim")
    table.add_column("without the name (--no-names)", ratio=1, header_style="dim")
    table.add_column("with the name", ratio=1)
    columns = (_first_documents(console, response, asked.source_id) for response in (before, after))
    for row, cells in enumerate(zip(*columns, strict=True), start=1):
        table.add_row(str(row), *cells)
    table.add_section()
    table.add_row("", _verdict(asked.source_id, before), _verdict(asked.source_id, after))
    console.print(table)
    clause = clause_of(asked, after)
    if clause:
        _print_clause(console, clause, asked, after["topic_query"])


def clause_of(asked: NamedQuestion, response: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The first result that holds the beginning of the answer, or else the first of the right document."""
    opening = _opening(asked)
    right = [result for result in response["results"] if result["source_id"] == asked.source_id]
    return next((result for result in right if opening in plain(result["text"])), right[0] if right else None)


def _opening(asked: NamedQuestion) -> str:
    return plain(asked.answer)[:_OPENING_CHARACTERS]


def _first_documents(console: Console, response: Mapping[str, Any], right: str) -> list[Text]:
    width = max(10, console.width // 2 - 7)
    titles: dict[str, Text] = {}
    for result in response["results"]:
        style = "bold green" if result["source_id"] == right else ""
        titles.setdefault(result["source_id"], one_line_of(console, Text(plain(result["title"]), style=style), width))
    first = list(titles.values())[:_SHOWN]
    return first + [Text("-", style="dim")] * (_SHOWN - len(first))


def _verdict(source_id: str, response: Mapping[str, Any]) -> Text:
    rank = rank_of(source_id, response)
    if rank is None:
        return Text(f"the right document: not among {len(response['results'])} results", style="red")
    return Text(f"the right document: rank {rank}", style="green" if rank == 1 else "yellow")


def _print_clause(console: Console, result: Mapping[str, Any], asked: NamedQuestion, topic_query: str) -> None:
    topic = topic_stems(topic_query)
    before, opening, after = plain(result["text"]).partition(_opening(asked))
    whole = f"{'… ' if before and opening else ''}{opening}{after}" if opening else before
    clause = whole if len(whole) <= _CLAUSE_CHARACTERS else whole[:_CLAUSE_CHARACTERS].rpartition(" ")[0] + " …"
    head = Text(f"result {result['rank']} · {place(result)} · {plain(result['title'])}", style="cyan")
    width = console.width - 8
    body = Text("\n").join(
        [one_line_of(console, head, width), isolated(console, marked_text(console, clause, topic), width)]
    )
    console.print(Padding(body, (1, 0, 0, 6)))


def _print_commands(console: Console, question: str, span_id: str | None, *, home: Path | None) -> None:
    console.print(Text("\nTry it yourself:", style="bold"))
    commands: list[Sequence[str]] = [
        ("search", CORPUS, question),
        ("search", CORPUS, question, "--no-names"),
        ("search", CORPUS, ABSENT),
    ]
    if span_id:
        commands.append(("show", CORPUS, span_id))
    kept = home or os.environ.get("PINCITE_HOME")  # as `make demo` sets it
    prefix = f"PINCITE_HOME={shlex.quote(str(kept))} " if kept else ""
    # An environment that is not active has no command on the path.
    program = "pincite" if shutil.which("pincite") else str(Path(sys.executable).with_name("pincite"))
    for command in commands:
        console.print(Text(f"  {prefix}{shlex.quote(program)} {shlex.join(command)}"), soft_wrap=True)
