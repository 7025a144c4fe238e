# SPDX-License-Identifier: Apache-2.0
"""``pincite mcp --client-config`` prints what an MCP client needs, and no secret."""

import json
from pathlib import Path

import pytest
from pincite.cli import run

URL = "postgresql://me:hunter2@db.example/pincite"


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[dict[str, str], str]:
    assert run([*arguments, "mcp", "--client-config"]) == 0
    out, err = capsys.readouterr()
    server = json.loads(out)["mcpServers"]["pincite"]
    assert server["args"] == ["-m", "pincite", "mcp"]
    assert Path(server["command"]).is_absolute()
    return server["env"], err


def test_home_and_principal_of_this_machine(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    assert printed(capsys) == ({"PINCITE_HOME": str(home), "PINCITE_PRINCIPAL": "local-owner"}, "")


def test_the_configuration_in_force(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINCITE_CONFIG", "elsewhere")  # set aside by --config, and put back after the test
    monkeypatch.chdir(tmp_path)
    assert run(["init", "--here"]) == 0
    capsys.readouterr()
    environment, _ = printed(capsys, "--config", ".")
    assert environment["PINCITE_CONFIG"] == str(tmp_path)


def test_a_password_is_not_printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINCITE_DATABASE_URL", URL)
    environment, err = printed(capsys)
    assert "hunter2" not in str(environment) + err
    assert "PINCITE_DATABASE_URL" in err


def test_a_principal_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["mcp", "--client-config", "--principal", "nobody"]) == 2
    assert "nobody" in capsys.readouterr().err
