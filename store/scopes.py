# SPDX-License-Identifier: Apache-2.0
"""
Within what a principal asks: the scopes that a corpus requires travel with its groups, and reach the policies (C3).

Every stage that reads gets the groups of the principal. The scope of the request goes with them, as further entries, so
that no stage can pass on the one and forget the other: ``["lenders", "scope:practice_area=planning"]``. A corpus that
requires a scope has a policy for it; a statement without one is refused there by PostgreSQL.
"""

import json
from collections.abc import Mapping, Sequence

from psycopg.sql import SQL, Composed, Identifier, Literal

from .errors import BadInputError

SCOPE_SETTING = "pincite.scope"
ANY_SCOPE = "*"
"""For :func:`within`: whatever the scope. For curation and for what leads to a scope, never for a search."""

_MARK = "scope:"


def within(groups: list[str] | None, scope: Mapping[str, str] | str) -> list[str] | None:
    """
    The groups of a principal with the scope that it asks within.

    :param groups: ``None`` is no principal, who sees nothing in any scope.
    :param scope: value by metadata key, or :data:`ANY_SCOPE`.
    :raises BadInputError: a group that begins like a scope: it would be taken for one.
    """
    if groups is None:
        return None
    for group in groups:
        if group.startswith(_MARK):
            msg = f"group {group!r:.80} is not usable: names that begin with '{_MARK}' stand for scopes"
            raise BadInputError(msg)
    if isinstance(scope, str):
        return [*groups, _MARK + scope]
    return [*groups, *(f"{_MARK}{key}={value}" for key, value in scope.items())]


def names_of(groups: Sequence[str]) -> list[str]:
    """The groups alone."""
    return [group for group in groups if not group.startswith(_MARK)]


def scope_setting(groups: Sequence[str] | None) -> dict[str, str]:
    """
    The setting that the policies compare with, as JSON; none where no scope was given.

    No principal has an empty scope, and so sees nothing rather than an error.
    """
    if groups is None:
        return {SCOPE_SETTING: "{}"}
    entries = [group.removeprefix(_MARK) for group in groups if group.startswith(_MARK)]
    if not entries:
        return {}
    if ANY_SCOPE in entries:
        return {SCOPE_SETTING: json.dumps(ANY_SCOPE)}
    return {SCOPE_SETTING: json.dumps(dict(entry.split("=", 1) for entry in entries))}


def scope_condition(keys: Sequence[str]) -> Composed:
    """
    What a policy asks of a row: it has the values of the scope for these metadata keys.

    The setting is read as it is, without a default: a statement that forgets it gets an error. It is compared
    directly, so that the planner knows how many rows to expect.
    """
    setting = SQL("current_setting({})::jsonb").format(Literal(SCOPE_SETTING))
    each = [SQL("meta ->> {key} = {setting} ->> {key}").format(key=Literal(key), setting=setting) for key in keys]
    return SQL("({}) OR {} = {}::jsonb").format(SQL(" AND ").join(each), setting, Literal(json.dumps(ANY_SCOPE)))


def scope_statements(schema: str, reader: str, keys: Sequence[str]) -> list[Composed]:
    """What gives the tables of a corpus the policy of its required scopes, or takes it away where it requires none."""
    statements: list[Composed] = []
    for table in ("sources", "spans"):
        place = Identifier(schema, table)
        statements.append(SQL("DROP POLICY IF EXISTS scope ON {}").format(place))
        if keys:
            statements.append(
                SQL("CREATE POLICY scope ON {} AS RESTRICTIVE FOR SELECT TO {} USING ({})").format(
                    place, Identifier(reader), scope_condition(keys)
                )
            )
    return statements


def scope_indexes(schema: str, keys: Sequence[str]) -> dict[str, Composed]:
    """
    Per scope of a corpus, required or not, the index that finds its rows, by the name of the index.

    It also tells the planner how many rows a value has: for a rare one they are read and sorted, for a frequent one the
    vector index is gone through until enough of them came.
    """
    return {
        f"spans_scope_{key}": SQL("CREATE INDEX {} ON {} ((meta ->> {}))").format(
            Identifier(f"spans_scope_{key}"), Identifier(schema, "spans"), Literal(key)
        )
        for key in keys
    }
