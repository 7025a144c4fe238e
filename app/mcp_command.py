# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLC0415 - see below
"""
``pincite mcp``: its options.

The server is imported when the command runs, so that ``--help`` answers at once.
"""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from pincite.serve_command import Host, PrincipalOption, RunningOption, SecondsOption, WaitingOption


def mcp(
    context: typer.Context,
    *,
    http: Annotated[bool, typer.Option("--http", help="Streamable HTTP instead of stdin and stdout.")] = False,
    host: Host = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="With --http; 0 for any that is free.")
    ] = 8001,
    principal: PrincipalOption = None,
    running: RunningOption = 4,
    waiting: WaitingOption = 64,
    timeout: SecondsOption = 30.0,
    client_config: Annotated[
        bool, typer.Option("--client-config", help="Print what to paste into an MCP client, and end.")
    ] = False,
) -> None:
    """Serve the tools for agents (Model Context Protocol).

    Over stdin and stdout the principal is that of --principal, PINCITE_PRINCIPAL or the configuration; over HTTP that
    of the token.
    """
    if client_config:
        _print_client_config(principal, config=context.obj)
        return
    from pincite.api.server import check_ready, listening, log_to_stderr, orderly_end, serve
    from pincite.api.settings import ServerSettings, default_principal
    from pincite.mcp_server.server import PATH, create_http_app, create_server
    from pincite.mcp_server.stdin import stdin_until_signal
    from pincite.service import Service

    settings = ServerSettings(principal=default_principal(principal), running=running, waiting=waiting, seconds=timeout)
    with orderly_end(), Service(config=context.obj) as service:
        if not http:
            check_ready(service.database, "localhost")
            with log_to_stderr(), stdin_until_signal():
                create_server(service, settings).run("stdio")
            return
        with listening(host, port) as listener:
            check_ready(service.database, host)
            app = create_http_app(service, settings.listening_on(host), host)
            serve(app, listener, f"Pincite serves its tools (path {PATH})")


def _print_client_config(principal: str | None, *, config: Path | None) -> None:
    from pincite.api.settings import default_principal
    from pincite.json_output import write_json
    from pincite.mcp_server.client_settings import client_settings
    from pincite.pipelines.corpora import load_corpora

    if config is not None:
        os.environ["PINCITE_CONFIG"] = os.fspath(config)
    # Who asks for this is at the command line, so its principal is the one who will ask.
    who = default_principal(principal) or load_corpora().command_line_principal
    if os.environ.get("PINCITE_DATABASE_URL"):
        print("PINCITE_DATABASE_URL may hold a password: add it to env yourself", file=sys.stderr)
    write_json(client_settings(who), sys.stdout)
