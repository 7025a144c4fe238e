# SPDX-License-Identifier: Apache-2.0
"""How a statement runs under the role of its corpus: its first query, and what database errors mean to a user."""

from collections.abc import Mapping

import psycopg
from psycopg import errors
from psycopg.sql import Literal

from .corpora import reader_role, schema_name
from .errors import BadInputError, ConfigurationError, IsolationError, PinciteError, UnknownCorpusError
from .scopes import SCOPE_SETTING, names_of, scope_setting

PUBLIC_GROUP = "public"
ALL_GROUPS = "*"

_GUARDED = {
    "role",
    "session_authorization",
    "search_path",
    "pincite.groups",
    SCOPE_SETTING,
    "transaction_read_only",
    "row_security",
}


def group_list(groups: list[str] | None) -> list[str]:
    """
    What the policies compare with. ``None`` is no principal and sees nothing (C3); any principal sees what is public.
    """
    return [] if groups is None else [*names_of(groups), PUBLIC_GROUP]


def session_query(
    corpus: str,
    *,
    search_path: str,
    groups: list[str] | None,
    settings: Mapping[str, str],
    timeout_ms: int | None,
    role: str | None = None,
    read_only: bool = True,
) -> str:
    """
    One SELECT that puts its transaction under the role of the corpus; every value is a quoted literal.

    Literals and not parameters: so it travels together with the BEGIN before it.

    :param groups: groups of the principal, see :func:`group_list`.
    :param settings: further settings of the transaction; none that takes part in isolation.
    :raises IsolationError: a setting would change who asks or what is visible.
    """
    forbidden = _GUARDED & {name.lower() for name in settings}
    if forbidden:
        msg = f"corpus {corpus!r}: a statement may not set {', '.join(sorted(forbidden))}"
        raise IsolationError(msg)
    wanted: dict[str, str | list[str]] = {
        "pincite.groups": group_list(groups),
        **scope_setting(groups),
        "search_path": search_path,
        "statement_timeout": str(timeout_ms or 0),
        **settings,
    }
    if read_only:
        wanted["transaction_read_only"] = "on"
    wanted["role"] = role or reader_role(corpus)  # last: what comes before is still asked by pincite_app
    calls = [f"set_config({_literal(name)}, {_literal(value)}, true)" for name, value in wanted.items()]
    return "SELECT " + ", ".join(calls)


def _literal(value: str | list[str]) -> str:
    if isinstance(value, list):
        return Literal(value).as_string(None) + "::text[]::text"
    return Literal(value).as_string(None)


def translate(error: psycopg.Error, corpus: str) -> PinciteError | None:
    """
    The error that a user can act on, or ``None`` if the caller should see the database's own (a timeout, say).

    Lost connections are not judged here, since the database may be back by the time that it is looked at.
    """
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    match error:
        case errors.InvalidParameterValue() if reader_role(corpus) in text or "role" in text:
            return unknown_corpus(corpus)
        case errors.InsufficientPrivilege() | errors.UndefinedTable() | errors.InvalidSchemaName():
            return IsolationError(f"corpus {corpus!r} ({schema_name(corpus)}): the database refused the query: {text}")
        case errors.UndefinedFunction() | errors.UndefinedColumn():
            return ConfigurationError(f"corpus {corpus!r} was set up by another version ({text}); run: pincite init")
        case errors.DataError() if "NUL" in text or "0x00" in text or "surrogates" in text:
            return BadInputError(f"corpus {corpus!r}: the query holds a character that no text can hold: {text}")
        case errors.DataException() if "dimensions" in text:
            return BadInputError(f"corpus {corpus!r}: an embedding of the wrong dimension: {text}")
        case _:
            return _without_scope(error, text, corpus)


def _without_scope(error: psycopg.Error, text: str, corpus: str) -> IsolationError | None:
    """Whether a policy asked for the scope, which was never set, or by an earlier transaction and is empty since."""
    match error:
        case errors.UndefinedObject() if SCOPE_SETTING in text:
            pass
        case errors.InvalidTextRepresentation() if "type json" in text:
            pass
        case _:
            return None
    return IsolationError(f"corpus {corpus!r} is only read within its required scopes, and none was given")


def unknown_corpus(corpus: str) -> UnknownCorpusError:
    """The line for a corpus that ``init`` has not made."""
    return UnknownCorpusError(f"corpus {corpus!r} is not in the database; run: pincite init")
