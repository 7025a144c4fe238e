# SPDX-License-Identifier: Apache-2.0
"""The agent example as it is run: without a model it quotes, and gives the page (with one: test_newcomer.py)."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from haystack.dataclasses import ChatMessage
from pincite.service import Service

AGENT = Path(__file__).resolve().parents[2] / "examples" / "agent.py"
HFA = "What does the HFA bond mortgage say about limitation on liability?"
MODEL_VARIABLES = ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(AGENT), *arguments], capture_output=True, text=True, check=False)


@pytest.fixture
def without_model(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in MODEL_VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_without_a_model_it_quotes(service: Service, without_model: None) -> None:
    done = run()
    assert done.returncode == 0, done.stderr
    first = service.search("knowledge", HFA, principal="local-owner")["results"][0]
    assert first["source_id"] == "demo/hfa-bond-mortgage-riverside.txt"
    assert done.stdout.startswith(HFA)
    assert f"{first['title']}, page {first['locator']['page']}, " in done.stdout
    assert "limitation on liability" in done.stdout.partition("“")[2].casefold()
    assert "No model is configured" in done.stderr


def test_it_says_that_a_document_is_not_here(service: Service, without_model: None) -> None:
    done = run("What does the Acme bond mortgage say about prepayment?")
    assert "There is no acme bond mortgage here." in done.stdout


def test_nothing_is_reported_to_anybody(without_model: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HAYSTACK_TELEMETRY_ENABLED")
    code = "import agent; from haystack.telemetry._telemetry import telemetry; print(telemetry)"
    done = subprocess.run([sys.executable, "-c", code], cwd=AGENT.parent, capture_output=True, text=True, check=False)
    assert done.stdout == "None\n", done.stderr


def test_a_server_that_does_not_start_is_said_in_one_line(
    service: Service, without_model: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PINCITE_CONFIG", str(tmp_path / "nowhere"))
    done = run()
    assert done.returncode == 2
    assert "make demo" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_the_sentence_of_an_answer_is_the_one_that_says_most(example: Callable[[str], SimpleNamespace]) -> None:
    made = example("extractive_chat_generator.py")
    text = "Vibration.\n  The Tenant pays the rent for it. No such machine may cause vibration; the floor is stiff.\n"
    start, sentence = made.best_sentence(text, "vibration of a machine")
    assert sentence == "No such machine may cause vibration;"
    assert text[start : start + len(sentence)] == sentence
    assert made.best_sentence("Short one", "x") == (0, "Short one")


def test_a_failed_call_is_told_as_it_is(example: Callable[[str], SimpleNamespace]) -> None:
    made = example("extractive_chat_generator.py")
    call = made.ExtractiveChatGenerator().run([ChatMessage.from_user("What is due?")])["replies"][0].tool_call
    failed = ChatMessage.from_tool("no database", origin=call, error=True)
    assert made.ExtractiveChatGenerator().run([failed])["replies"][0].text == "no database"
