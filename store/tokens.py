# SPDX-License-Identifier: Apache-2.0
"""Bearer tokens in the database: who holds one, and for which corpora. Only hashes are stored."""

import asyncio
import contextlib
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

import psycopg

from .connections import SyncConnection
from .database import Database
from .errors import BadInputError, ConfigurationError

_HOLDER = "SELECT name, principal, corpora FROM pincite.token_holder(%s)"
_ANY = "SELECT pincite.has_tokens()"


class TokenHolder(NamedTuple):
    """Who a token stands for: its name, the principal of the configuration, the corpora that it opens."""

    name: str
    principal: str
    corpora: list[str]


class TokenRecord(NamedTuple):
    """One line of the list of tokens. ``revoked_at`` is ``None`` while it is good."""

    name: str
    principal: str
    corpora: list[str]
    created_at: datetime
    revoked_at: datetime | None


def add_token(database: Database, holder: TokenHolder, token_hash: bytes) -> None:
    """
    Store a token by its SHA-256.

    :raises BadInputError: the name is taken, also by a revoked one, or has other characters than names have.
    """
    with _owner(database) as connection:
        try:
            connection.execute(
                "INSERT INTO pincite.tokens (name, token_hash, principal, corpora) VALUES (%s, %s, %s, %s)",
                [holder.name, token_hash, holder.principal, holder.corpora],
            )
        except psycopg.errors.UniqueViolation as error:
            raise BadInputError(f"there is a token {holder.name!r:.80} already: choose another name") from error
        except (psycopg.errors.CheckViolation, psycopg.DataError, UnicodeEncodeError) as error:
            raise BadInputError(
                f"token name {holder.name!r:.80}: expected up to 63 letters, digits and any of _ . @ -"
            ) from error


def list_tokens(database: Database) -> list[TokenRecord]:
    """All tokens by name, revoked ones too."""
    with _owner(database) as connection:
        rows = connection.execute(
            "SELECT name, principal, corpora, created_at, revoked_at FROM pincite.tokens ORDER BY name"
        ).fetchall()
    return [TokenRecord(*row) for row in rows]


def revoke_token(database: Database, name: str) -> None:
    """
    Make a token worthless, from its next use on.

    :raises BadInputError: there is none of that name, or it was revoked before.
    """
    with _owner(database) as connection:
        done = connection.execute(
            "UPDATE pincite.tokens SET revoked_at = now() WHERE name = %s AND revoked_at IS NULL", [name]
        )
        if done.rowcount == 0:
            raise BadInputError(f"there is no token {name!r:.80} to revoke; see: pincite token list")


def has_tokens(database: Database) -> bool:
    """Whether any token is good."""
    with _owner(database) as connection:
        row = connection.execute(_ANY).fetchone()
    return bool(row and row[0])


@contextlib.contextmanager
def _owner(database: Database) -> Iterator[SyncConnection]:
    try:
        with database.admin() as connection:
            yield connection
    except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedFunction, psycopg.errors.InvalidSchemaName) as error:
        raise ConfigurationError(f"{database.describe()} is not set up for tokens; run: pincite init") from error


async def token_holder(database: Database, token_hash: bytes) -> TokenHolder | None:
    """
    Who holds the token of this hash; ``None`` for an unknown or revoked one.

    :raises DatabaseUnavailableError: the database cannot be reached.
    """
    row = await _row(database, _HOLDER, [token_hash])
    return None if row is None else TokenHolder(*row)


async def any_token(database: Database) -> bool:
    """:func:`has_tokens` for the running event loop, asked as the application."""
    row = await _row(database, _ANY, [])
    return bool(row and row[0])


async def _row(database: Database, sql: str, values: list[bytes]) -> tuple[Any, ...] | None:
    generation = database.generation
    try:
        return await _row_once(database, sql, values)
    except psycopg.OperationalError:
        # A read may be repeated: once, when the database is back.
        await asyncio.to_thread(database.recover, generation)
        try:
            return await _row_once(database, sql, values)
        except psycopg.OperationalError as again:
            raise database.unavailable(again) from again


async def _row_once(database: Database, sql: str, values: list[bytes]) -> tuple[Any, ...] | None:
    pool = await database.async_pool()
    async with pool.connection() as connection:
        return await (await connection.execute(sql, values)).fetchone()
