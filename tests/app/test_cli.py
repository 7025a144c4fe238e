# SPDX-License-Identifier: Apache-2.0
"""What a command line answers before any database is needed: help, mistakes, and how things end."""

import json
import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from haystack_integrations.document_stores.pincite.errors import (
    BadInputError,
    ConfigurationError,
    DatabaseUnavailableError,
    IsolationError,
)
from pincite.cli import app, run
from pincite.outcome import outcome
from pincite.pairs import equality_filter, pairs

COMMANDS = (
    "init", "ingest", "search", "show", "status", "demo", "audit", "bench", "draw", "mcp", "reembed", "review", "serve",
    "tag-describe", "tool", "why",
)  # fmt: skip


def complaint(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line on stderr; nothing else may be anywhere."""
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("pincite: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err.removeprefix("pincite: ").strip()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--help"]) == 0
    out = capsys.readouterr().out
    assert f"Usage: pincite {command}" in out
    assert len(out.splitlines()) > 4


def test_every_command_is_tested_here() -> None:
    names = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    assert names == set(COMMANDS)


def test_no_command_prints_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    out = capsys.readouterr().out
    assert all(command in out for command in COMMANDS)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("pincite 0.")


def test_help_imports_no_haystack_and_no_database() -> None:
    code = "import sys; from pincite.cli import run; run(['--help']); print(sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stderr
    assert "'haystack'" not in loaded
    assert "'psycopg'" not in loaded
    assert "'numpy'" not in loaded


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["serch"], "No such command 'serch'"),
        (["search"], "Missing argument 'CORPUS'; see 'pincite search --help'"),
        (["search", "knowledge"], "Missing argument 'QUERY'"),
        (["search", "knowledge", "what", "is"], "unexpected extra argument"),
        (["search", "knowledge", "q", "--top-k", "ten"], "Invalid value for '--top-k'"),
        (["search", "knowledge", "q", "--nonsense"], "No such option"),
        (["search", "knowledge", "q", "--filter", "language"], "--filter is 'language': expected key=value"),
        (["search", "knowledge", "q", "--filter", "=en"], "--filter is '=en': expected key=value"),
        (["search", "knowledge", "q", "--scope", "matter="], "--scope is 'matter=': expected key=value"),
        (["search", "knowledge", "q", "--filter", "a=1", "--filter", "a=2"], "two values, '1' and '2'"),
        (["ingest", "knowledge"], "Missing argument 'PATH"),
        (["ingest", "knowledge", "x", "--meta", "title"], "--meta is 'title': expected key=value"),
        (["ingest", "knowledge", "x", "--workers", "0"], "Invalid value for '--workers'"),
        (["--nonsense"], "No such option"),
    ],
)
def test_a_mistake_is_one_line_and_exit_2(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    assert said in complaint(capsys)


def wrapped(error: Exception) -> Exception:
    outer = RuntimeError("component 'dense' failed")
    outer.__cause__ = error
    return outer


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (BadInputError("query is empty"), 2, "query is empty"),
        (ConfigurationError("corpora.yaml: bad"), 2, "corpora.yaml: bad"),
        (DatabaseUnavailableError("no server at x"), 3, "no server at x"),
        (IsolationError("no role"), 2, "no role"),
        (wrapped(DatabaseUnavailableError("no server at x")), 3, "no server at x"),
        (psycopg.OperationalError("server closed\nthe connection"), 3, "the database failed: server closed the conn"),
        (BadInputError("two\nlines \x1b[31mred"), 2, "two lines \ufffd[31mred"),
        (
            ZeroDivisionError("division"),
            2,
            "unexpected ZeroDivisionError: division (set PINCITE_DEBUG=1 for the trace)",
        ),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_an_error_is_one_line_with_its_status(
    error: BaseException, status: int, said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PINCITE_DEBUG", raising=False)

    def fail() -> int:
        raise error

    assert outcome(fail) == status
    assert said in complaint(capsys)


def test_debug_shows_the_trace(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINCITE_DEBUG", "1")

    def fail() -> int:
        raise ZeroDivisionError("division")

    assert outcome(fail) == 2
    assert "Traceback" in capsys.readouterr().err


def test_a_reader_that_leaves_is_no_complaint() -> None:
    code = (
        "import sys; from pincite.outcome import outcome;"
        "sys.exit(outcome(lambda: [print('x' * 99) for _ in range(9999)] and 0))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 128 + 13


def test_pairs_and_filters() -> None:
    assert pairs("--meta", ["a=1", " b = x=y ", "a=1"]) == {"a": "1", "b": "x=y"}
    assert equality_filter([]) is None
    one = {"field": "meta.court", "operator": "==", "value": "Haifa"}
    assert equality_filter(["court=Haifa"]) == one
    assert equality_filter(["court=Haifa", "language=he"]) == {
        "operator": "AND",
        "conditions": [one, {"field": "meta.language", "operator": "==", "value": "he"}],
    }


def test_init_here_copies_what_can_be_edited_and_overwrites_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpora.yaml").write_text("mine")
    assert run(["init", "--here"]) == 0
    out = capsys.readouterr().out
    assert "kept  corpora.yaml" in out
    assert (tmp_path / "corpora.yaml").read_text() == "mine"
    assert {"instruments.yaml", "knowledge.yaml", "knowledge.indexing.yaml"} <= {
        file.name for file in tmp_path.iterdir()
    }


def test_output_is_utf8_whatever_the_locale() -> None:
    code = (
        "from pincite.quiet import utf8_streams; import sys; utf8_streams();"
        "from pincite.json_output import write_json;"
        "write_json({'title': chr(0x5d4), 'half': chr(0xd800)}, sys.stdout);"
        "print('pincite: ' + chr(0xdc80) + ' ' + chr(0x5d4), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        env={**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    )
    assert json.loads(done.stdout.decode()) == {"title": "ה", "half": "\ud800"}
    assert done.stderr.decode() == "pincite: \\udc80 ה\n"
