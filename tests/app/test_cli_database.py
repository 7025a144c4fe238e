# SPDX-License-Identifier: Apache-2.0
"""The command line as a user has it: processes, an embedded database, real files, streams and exit statuses."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.source_writer import SourceWriter
from pincite.cli import run

NOTE = """# Promissory Note of Larkfield Community Housing

1. Principal. The Maker, Larkfield Community Housing, promises to pay the principal sum of $410,000 to the Holder.

2. Maturity. The whole unpaid balance of this Note falls due on March 1, 2031 (the "Maturity Date"), without notice.

3. Notices. A notice under this Note is given in writing and delivered by hand or by registered mail to the address.
"""
LEASE = """---
title: Office Lease of Quarry Street
language: en
---
# Office Lease

The Tenant shall pay rent of $4,000 a month. The maturity of a loan of the Landlord does not end this Lease.

The Landlord keeps the roof and the walls in good repair, and the Tenant everything within the walls of the premises.
"""
HOSTILE = (
    "Memo\n\nThe maturity date of the memo is \x1b[31mred\x1b[0m and \x9b2J cleared, "
    "[bold]marked[/bold] :smile: at the end.\n"
)


class Done(NamedTuple):
    """A finished command."""

    status: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """The one line on stderr of a command that failed."""
        assert self.out == ""
        assert self.err.count("\n") == 1, self.err
        assert self.err.startswith("pincite: ")
        assert "Traceback" not in self.err
        return self.err.removeprefix("pincite: ").strip()


class Cli:
    """Runs ``pincite`` for one home."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def __call__(self, *arguments: str | bytes, **environment: str) -> Done:
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(("PINCITE_", "KB_"))}
        done = subprocess.run(
            [sys.executable, "-c", "from pincite.cli import main; main()", *arguments],
            capture_output=True,
            check=False,
            env=inherited | {"PINCITE_HOME": str(self.home), "COLUMNS": "110"} | environment,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def json(self, *arguments: str) -> dict[str, Any]:
        done = self(*arguments, "--json")
        assert (done.status, done.err) == (0, "")
        loaded: dict[str, Any] = json.loads(done.out)
        return loaded


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    # Not pytest's folder: its parents are closed to the account that the server runs under when tests run as root.
    folder = Path(tempfile.mkdtemp(prefix="pincite-cli-"))
    folder.chmod(0o711)
    yield folder / "home"
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def cli(home: Path) -> Iterator[Cli]:
    # One user of the server stays, so that not every command starts and stops it.
    code = "from pincite.service import Service; s = Service(); s.init(); print('up', flush=True); input(); s.close()"
    environment = os.environ | {"PINCITE_HOME": str(home)}
    with subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as staying:
        assert staying.stdin is not None
        assert staying.stdout is not None
        assert staying.stdout.readline() == "up\n"
        yield Cli(home)
        staying.stdin.write("\n")
        staying.stdin.close()


class InProcess(Cli):
    """The same without a process of its own, for tables of many cases."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        super().__init__(home)
        self.capsys = capsys

    def __call__(self, *arguments: str | bytes, **environment: str) -> Done:
        status = run([os.fsdecode(argument) for argument in arguments])
        return Done(status, *self.capsys.readouterr())


@pytest.fixture
def here(cli: Cli, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> InProcess:
    for variable in [name for name in os.environ if name.startswith(("PINCITE_", "KB_"))]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("PINCITE_HOME", str(cli.home))
    monkeypatch.setenv("PINCITE_CONFIG", "")  # `--config` sets it for the process; this takes it back
    return InProcess(cli.home, capsys)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    (folder / "note.md").write_text(NOTE)
    (folder / "lease.md").write_text(LEASE)
    (folder / "memo.txt").write_text(HOSTILE)
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing of the kind")
    return folder


@pytest.fixture(scope="module")
def ingested(cli: Cli, files: Path) -> Done:
    return cli("ingest", "knowledge", str(files))


def test_ingest_names_what_stayed_out_and_says_so_in_its_status(ingested: Done) -> None:
    assert ingested.status == 1
    assert ingested.out.startswith("knowledge: 3 added, 1 failed; ")
    assert [line for line in ingested.out.splitlines() if line.startswith("not in: ") and "broken.pdf: " in line]
    assert ingested.err == ""


def test_ingesting_again_does_nothing_and_leaves_well(cli: Cli, ingested: Done, files: Path) -> None:
    again = cli("ingest", "knowledge", str(files / "note.md"), str(files / "lease.md"))
    assert again.status == 0
    assert again.out.startswith("knowledge: 2 unchanged; 0 spans written")


def test_json_is_one_document_with_the_named_note_first(cli: Cli, ingested: Done) -> None:
    response = cli.json("search", "knowledge", "What is the maturity date of the Larkfield promissory note?")
    assert response["named"]["matched"] is True
    first = response["results"][0]
    assert first["source_id"] == "note.md"
    assert "March 1, 2031" in first["text"]
    assert [result["rank"] for result in response["results"]] == list(range(1, len(response["results"]) + 1))


def test_the_table_marks_the_words_and_obeys_no_document(cli: Cli, ingested: Done) -> None:
    done = cli("search", "knowledge", "What is the maturity date of the Larkfield promissory note?")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("matched promissory note · larkfield → ")
    assert "«Maturity Date»" in done.out
    assert "[bold]marked[/bold] :smile:" in done.out
    assert not set(done.out) & set("\x1b\x9b")


def test_what_is_not_here_is_said(cli: Cli, ingested: Done) -> None:
    done = cli("search", "knowledge", "What does the Acme bond mortgage say about notices?")
    assert done.status == 0
    assert done.out.startswith("not in this corpus: bond mortgage · acme")


def test_options_reach_the_search(cli: Cli, ingested: Done) -> None:
    query = "maturity date"
    assert len(cli.json("search", "knowledge", query, "--top-k", "1")["results"]) == 1
    filtered = cli.json("search", "knowledge", query, "--filter", "language=en")["results"]
    assert {result["source_id"] for result in filtered} == {"lease.md"}
    assert cli.json("search", "knowledge", "the Larkfield promissory note", "--no-names")["intents"] == []
    once = cli.json("search", "knowledge", query, "--max-per-source", "1")["results"]
    assert len({result["source_id"] for result in once}) == len(once)
    assert cli.json("search", "knowledge", query, "--scope", "matter=none-such")["results"] == []


def test_show_prints_what_a_search_found(cli: Cli, ingested: Done) -> None:
    first = cli.json("search", "knowledge", "Larkfield promissory note maturity")["results"][0]
    shown = cli.json("show", "knowledge", first["span_id"])
    assert shown["text"] == first["text"] == shown["context"]["text"]
    done = cli("show", "knowledge", first["span_id"])
    assert done.status == 0
    assert f"characters {first['locator']['start']:,}-{first['locator']['end']:,}" in done.out


def test_status(cli: Cli, ingested: Done) -> None:
    assert cli.json("status")["corpora"]["knowledge"]["sources"] == 3
    done = cli("status")
    assert done.status == 0
    assert "knowledge" in done.out


def test_init_twice(cli: Cli, ingested: Done) -> None:
    done = cli("init")
    assert (done.status, done.err) == (0, "")
    assert "all were there" in done.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("search", "nowhere", "q"), "nowhere"),
        (("ingest", "nowhere", "."), "nowhere"),
        (("show", "knowledge", "knowledge:none#chunk-0"), "knowledge:none#chunk-0"),
        (("search", "knowledge", ""), "query is empty"),
        (("search", "knowledge", " \t\n"), "query is empty"),
        (("search", "knowledge", "q", "--top-k", "0"), "top_k is 0"),
        (("search", "knowledge", "q", "--top-k", "101"), "top_k is 101"),
        (("search", "knowledge", "q", "--max-per-source", "0"), "max_per_source is 0"),
        (("search", "knowledge", "q", "--principal", "nobody"), "nobody"),
        (("search", "knowledge", "q", "--scope", "court=x"), "scope 'court' is unknown"),
        (("ingest", "knowledge", "/no/such/file"), "/no/such/file"),
        (("ingest", "knowledge", ".", "--as", "../up"), "../up"),
        (("--config", "/no/such/folder", "search", "knowledge", "q"), "/no/such/folder"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(here: Cli, ingested: Done, arguments: tuple[str, ...], said: str) -> None:
    done = here(*arguments)
    assert done.status == 2
    assert said in done.complaint


@pytest.mark.parametrize(
    "query",
    [
        "':*&|!",
        "the of and is",
        "maturity " * 5_555,
        b"half \xff a character",
        "\\",
        "%_'\";--",
        "\U0001f600",
        "é\u0301",
    ],
    ids=["operators", "stop words", "50,000 characters", "no UTF-8", "backslash", "quotes", "emoji", "combining"],
)
def test_an_odd_question_is_only_a_question(here: Cli, ingested: Done, query: str | bytes) -> None:
    done = here("search", "knowledge", query, "--json")
    assert (done.status, done.err) == (0, "")
    assert json.loads(done.out)["corpus"] == "knowledge"


def test_a_database_that_is_down_is_exit_3(cli: Cli) -> None:
    url = "postgresql://pincite@127.0.0.1:1/pincite?connect_timeout=2"
    for arguments in (("search", "knowledge", "q"), ("status",), ("init",)):
        done = cli(*arguments, PINCITE_DATABASE_URL=url)
        assert done.status == 3
        assert "127.0.0.1:1" in done.complaint


def test_a_switch_that_is_no_switch(cli: Cli, ingested: Done) -> None:
    done = cli("search", "knowledge", "q", PINCITE_RERANK_ENABLED="perhaps")
    assert done.status == 2
    assert "PINCITE_RERANK_ENABLED" in done.complaint


def test_a_changed_copy_of_the_configuration_counts(cli: Cli, ingested: Done, tmp_path: Path) -> None:
    copied = subprocess.run(
        [sys.executable, "-c", "from pincite.cli import main; main()", "init", "--here"],
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    assert b"wrote corpora.yaml" in copied.stdout
    corpora = tmp_path / "corpora.yaml"
    corpora.write_text(corpora.read_text().replace("command_line_principal: local-owner", ""))
    done = cli("--config", str(tmp_path), "search", "knowledge", "maturity", "--json")
    assert done.status == 0
    assert json.loads(done.out)["results"] == []  # nobody asks, nobody sees


def test_the_demo_stays_apart_from_sources_of_the_user(cli: Cli, ingested: Done) -> None:
    before = cli.json("status")["corpora"]["knowledge"]["sources"]
    done = cli("demo")
    assert (done.status, done.err) == (0, "")
    assert "a home of its own" in done.out
    assert cli.json("status")["corpora"]["knowledge"]["sources"] == before
    # By its path where it is not on the PATH, and in quotes where that holds a blank.
    assert re.search(rf"PINCITE_HOME={re.escape(str(cli.home / 'demo'))} \S?[^\n]*pincite'? search ", done.out)
    apart = Cli(cli.home / "demo")
    found = apart.json("search", "knowledge", "What does the HFA bond mortgage say about limitation on liability?")
    assert found["results"][0]["source_id"] == "demo/hfa-bond-mortgage-riverside.txt"


def test_the_demo_shows_the_failure_and_its_remedy(cli: Cli, ingested: Done) -> None:
    done = Cli(cli.home / "demo")("demo")
    assert (done.status, done.err) == (0, "")
    verdicts = [
        line.split("the right document: ")[1:] for line in done.out.splitlines() if "the right document" in line
    ]
    assert [(after.strip()) for _, after in verdicts] == ["rank 1"] * 3
    assert verdicts[0][0].strip().startswith("not among")
    assert "look solely to the Mortgaged" in done.out
    assert "October 31, 2029" in done.out
    assert "Hester Lindqvist, 35 percent" in done.out


def test_a_reader_that_leaves_early_hears_no_complaint(cli: Cli, ingested: Done) -> None:
    environment = os.environ | {"PINCITE_HOME": str(cli.home)}
    code = "from pincite.cli import main; main()"
    command = [sys.executable, "-c", code, "search", "knowledge", "maturity", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 128 + 13


def test_an_interrupted_ingestion_ends_in_one_line(cli: Cli, ingested: Done, tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / f"{number}.txt").write_text(f"Number {number}. " + "The parties agree to many things. " * 3_000)
    environment = os.environ | {"PINCITE_HOME": str(cli.home), "PINCITE_DEBUG": "0"}
    command = [sys.executable, "-c", "from pincite.cli import main; main()", "ingest", "knowledge", str(tmp_path)]
    database = Database(None, cli.home)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        while len(SourceWriter(database, "knowledge").known_sources()) <= 3:
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    database.close()
    assert (process.returncode, out) == (130, b"")
    # A slow machine may have seen a line of progress before.
    assert err.splitlines()[-1] == b"pincite: interrupted"
    assert b"Traceback" not in err
