# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLC0415 - see below
"""
``pincite audit``: its options.

The checks are imported when the command runs, so that ``--help`` answers at once.
"""

import sys
from typing import Annotated

import typer
from pincite.outcome import DONE, PARTLY


def audit(
    context: typer.Context,
    *,
    corpus: Annotated[str | None, typer.Argument(metavar="CORPUS", help="Which corpus; without, all of them.")] = None,
    quality: Annotated[
        bool, typer.Option("--quality", help="Also measure with the corpus's own questions, against their floors.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")] = False,
) -> None:
    """Check isolation, completeness and configuration.

    Exit status 1 means that a check failed.
    """
    from pincite.service import Service

    with Service(config=context.obj) as service:
        answer = service.audit(None if corpus is None else [corpus], quality=quality)
    if as_json:
        from pincite.json_output import write_json

        write_json(answer, sys.stdout)
    else:
        from pincite.audit.view import audit_view
        from pincite.render import console_for

        console_for(sys.stdout).print(audit_view(answer))
    raise typer.Exit(DONE if answer["passed"] else PARTLY)
