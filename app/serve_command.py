# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLC0415 - see below
"""
``pincite serve``: its options.

The server is imported when the command runs, so that ``--help`` answers at once.
"""

from pathlib import Path
from typing import Annotated

import typer
from haystack_integrations.document_stores.pincite.errors import BadInputError

Host = Annotated[str, typer.Option(metavar="H", help="Where to listen; beyond this machine only with tokens.")]
RunningOption = Annotated[int, typer.Option("--running", metavar="N", min=1, help="Requests worked on at one time.")]
WaitingOption = Annotated[int, typer.Option("--waiting", metavar="N", min=0, help="Requests in line; more get 429.")]
SecondsOption = Annotated[float, typer.Option("--timeout", metavar="S", min=0.1, help="Seconds; then 504.")]
PrincipalOption = Annotated[
    str | None, typer.Option(metavar="P", help="Who asks without a token, where none is needed.")
]


def serve(
    context: typer.Context,
    *,
    host: Host = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="0 for any that is free.")] = 8000,
    principal: PrincipalOption = None,
    running: RunningOption = 4,
    waiting: WaitingOption = 64,
    timeout: SecondsOption = 30.0,
    upkeep: Annotated[
        float, typer.Option(metavar="S", min=0, help="Seconds between two looks for stale vectors; 0 for none.")
    ] = 60.0,
    reports: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder with reports of `pincite bench --out` that the page shows."),
    ] = None,
) -> None:
    """Serve the REST API and a web page.

    Listens on this machine alone unless told otherwise.
    """
    from pincite.api.app import create_app
    from pincite.api.server import check_ready, listening, orderly_end
    from pincite.api.server import serve as serve_app
    from pincite.api.settings import ServerSettings, default_principal
    from pincite.service import Service

    bounds = ServerSettings(
        principal=default_principal(principal),
        running=running,
        waiting=waiting,
        seconds=timeout,
        upkeep_seconds=upkeep,
        reports=_folder(reports),
    ).listening_on(host)
    with orderly_end(), Service(config=context.obj) as service, listening(host, port) as listener:
        check_ready(service.database, host)
        serve_app(create_app(service, bounds), listener, "Pincite serves its page and REST API")


def _folder(reports: Path | None) -> Path | None:
    if reports is not None and not reports.is_dir():
        raise BadInputError(
            f"--reports {str(reports)!r:.300} is no folder; give the one that `pincite bench --out` writes to"
        )
    return None if reports is None else reports.resolve()
