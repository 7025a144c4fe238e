# SPDX-License-Identifier: Apache-2.0
"""What an MCP client is told so that it starts this server: the JSON that most clients read."""

import os
import sys
from pathlib import Path
from typing import Any

from haystack_integrations.document_stores.pincite.database import pincite_home
from pincite.api.settings import PRINCIPAL_VARIABLE

_CONFIG_VARIABLE = "PINCITE_CONFIG"


def client_settings(principal: str | None) -> dict[str, Any]:
    """
    The entry ``mcpServers`` for this installation, home and configuration.

    All paths are absolute: a client starts the server from a folder of its own, without this shell's variables. The
    address of a database may hold a password, so it is not among them.

    :param principal: who asks through the client.
    """
    environment = {"PINCITE_HOME": str(pincite_home().resolve())}
    if config := os.environ.get(_CONFIG_VARIABLE):
        environment[_CONFIG_VARIABLE] = str(Path(config).absolute())
    if principal is not None:
        environment[PRINCIPAL_VARIABLE] = principal
    # Not resolved: a virtual environment's Python is a link, and without its own path it is another Python.
    python = str(Path(sys.executable).absolute())
    return {"mcpServers": {"pincite": {"command": python, "args": ["-m", "pincite", "mcp"], "env": environment}}}
