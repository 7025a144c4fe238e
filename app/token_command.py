# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLC0415 - see below
"""
``pincite token``: its commands.

What reaches the database is imported when a command runs, so that ``--help`` answers at once.
"""

import sys
from typing import Annotated

import typer

token = typer.Typer(help="Bearer tokens of REST and MCP.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="What the token is called; say who or what uses it.")]


@token.command()
def add(
    context: typer.Context,
    *,
    name: Name,
    principal: Annotated[str, typer.Option(metavar="P", help="Of the configuration; decides what it may see.")],
    corpora: Annotated[str, typer.Option(metavar="A,B", help="Corpora that it opens.")],
) -> None:
    """Make a token and print it, this once."""
    from pincite.service import Service
    from pincite.tokens import new_token

    opened = [corpus.strip() for corpus in corpora.split(",") if corpus.strip()]
    with Service(config=context.obj) as service:
        made = new_token(service.database, name, principal, opened)
    print(
        f"Keep it: only its hash is stored, and it is not shown again. Revoke it: pincite token revoke {name}",
        file=sys.stderr,
    )
    print(made)


@token.command("list")
def list_(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")] = False,
) -> None:
    """List tokens; the tokens themselves are not stored."""
    from haystack_integrations.document_stores.pincite.tokens import list_tokens
    from pincite.service import Service

    with Service(config=context.obj) as service:
        found = list_tokens(service.database)
    if as_json:
        from pincite.json_output import write_json

        write_json(
            [
                entry._asdict()
                | {
                    "created_at": entry.created_at.isoformat(),
                    "revoked_at": entry.revoked_at and entry.revoked_at.isoformat(),
                }
                for entry in found
            ],
            sys.stdout,
        )
        return
    from pincite.render import console_for
    from rich.table import Table

    table = Table("name", "principal", "corpora", "made", "revoked", box=None, pad_edge=False)
    for entry in found:
        revoked = f"{entry.revoked_at:%Y-%m-%d %H:%M}" if entry.revoked_at else ""
        table.add_row(
            entry.name, entry.principal, ", ".join(entry.corpora), f"{entry.created_at:%Y-%m-%d %H:%M}", revoked
        )
    console_for(sys.stdout).print(
        table if found else "No tokens. Make one: pincite token add NAME --principal P --corpora A,B"
    )


@token.command()
def revoke(context: typer.Context, name: Name) -> None:
    """Make a token worthless, from its next use on."""
    from haystack_integrations.document_stores.pincite.tokens import revoke_token
    from pincite.service import Service

    with Service(config=context.obj) as service:
        revoke_token(service.database, name)
    print(f"Revoked {name}.")
