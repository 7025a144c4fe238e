# SPDX-License-Identifier: Apache-2.0
"""The README's commands give a newcomer an agent's answer with a page number, pasted as they stand."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECTION = "An agent's answer in five commands"
PASTED_BEFORE = 2  # git clone, cd
MOST = 5
ENDPOINT = "http://localhost:11434/v1"

Shell = Callable[[str], "subprocess.CompletedProcess[str]"]


def commands() -> list[str]:
    """The commands of the section, without their comments."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme.split(f"## {SECTION}\n")[1].split("\n## ")[0]
    blocks = re.findall(r"```console\n(.*?)```", section, re.DOTALL)
    return [line.split("  #")[0].strip() for block in blocks for line in block.splitlines()]


@pytest.fixture(scope="module")
def checkout() -> Iterator[Path]:
    """
    What the commands need of a clone, in a folder whose path holds a blank.

    Its ``.venv`` stands for what ``make`` installs from a registry, which is not asked here: links to this environment.
    """
    folder = Path(tempfile.mkdtemp(prefix="pincite newcomer "))
    folder.chmod(0o755)  # as root, the database runs under another account
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    environment = folder / ".venv"
    environment.mkdir()
    for entry in Path(sys.prefix).iterdir():
        if entry.name != "installed":
            (environment / entry.name).symlink_to(entry)
    (environment / "installed").touch()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def shell(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Runs a line as a shell does that knows nothing of this test session."""
    for name in [name for name in os.environ if name.startswith(("PINCITE_", "OPENAI_", "MAKE", "MFLAGS"))]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("QUESTION", raising=False)
    return lambda line: subprocess.run(["sh", "-c", line], cwd=checkout, capture_output=True, text=True, check=False)


def test_an_answer_with_a_page_after_five_commands_at_most(shell: Shell) -> None:
    pasted = PASTED_BEFORE
    for line in commands():
        pasted += 1
        done = shell(line)
        assert done.returncode == 0, done.stdout + done.stderr
        if line.startswith("make agent"):
            break
    assert pasted <= MOST
    assert re.search(r"“.*limitation on liability.*”\nHFA Bond Mortgage between .*, page \d+, ", done.stdout), (
        done.stdout
    )
    # The README shows what is said here.
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert done.stdout.partition(", characters")[0].rpartition(", ARTICLE")[0] in readme


def test_another_question(shell: Shell) -> None:
    done = shell("""QUESTION="What does the Tessera lease say about \\"vibration\\"; \\$HOME?" make agent""")
    assert done.returncode == 0, done.stderr
    assert "page 2, " in done.stdout
    assert '"vibration"; $HOME?' in done.stdout


def test_a_model_answers_with_the_page(shell: Shell, endpoint: SimpleNamespace) -> None:
    (line,) = [line for line in commands() if line.startswith("OPENAI_BASE_URL=")]
    assert ENDPOINT in line
    done = shell(line.replace(ENDPOINT, endpoint.url))
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"Here it is: HFA Bond Mortgage between .*, page \d+", done.stdout)
    assert [body["model"] for _, body in endpoint.asked] == ["qwen3:8b"] * 2  # for the call, and for the answer
    assert {tool["function"]["name"] for tool in endpoint.asked[0][1]["tools"]} == {"search_knowledge", "show"}
    assert "word for word" in endpoint.asked[0][1]["messages"][0]["content"]


def test_an_mcp_client_can_start_what_is_printed(shell: Shell, checkout: Path) -> None:
    (line,) = [line for line in commands() if line.endswith("--client-config")]
    done = shell(line)
    assert done.returncode == 0, done.stderr
    server = json.loads(done.stdout)["mcpServers"]["pincite"]
    assert server["env"] == {"PINCITE_HOME": str(checkout / ".pincite"), "PINCITE_PRINCIPAL": "local-owner"}
    request = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    started = subprocess.run(
        [server["command"], *server["args"]],
        input=json.dumps(request) + "\n",
        cwd="/",  # a client starts it from wherever it is, with little of this environment
        env=server["env"] | {"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert started.returncode == 0, started.stderr
    assert json.loads(started.stdout)["id"] == 1
