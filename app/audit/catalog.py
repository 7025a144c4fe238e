# SPDX-License-Identifier: Apache-2.0
"""What the database says about itself: roles and their rights, policies, triggers, indexes, LEAKPROOF (C1, C3)."""

import re
from collections.abc import Sequence
from typing import Any

from haystack_integrations.document_stores.pincite.connections import SyncConnection
from haystack_integrations.document_stores.pincite.corpora import reader_role, schema_name, writer_role
from haystack_integrations.document_stores.pincite.database import APPLICATION_ROLE
from haystack_integrations.document_stores.pincite.scopes import scope_condition, scope_indexes
from pincite.audit.answer import Check
from psycopg.rows import dict_row

# Every entry of an access control list in our schemas; a list that is not there stands for the default one, which lets
# everybody execute functions.
_GRANTS = """
SELECT n.nspname AS schema, g.what, g.name, g.definer,
       coalesce(r.rolname, 'PUBLIC') AS grantee, a.privilege_type AS right
FROM pg_namespace AS n
CROSS JOIN LATERAL (
    SELECT 'schema' AS what, '' AS name, n.nspacl AS acl, n.nspowner AS owner, false AS definer
    UNION ALL
    SELECT CASE c.relkind WHEN 'S' THEN 'sequence' ELSE 'table' END, c.relname, c.relacl, c.relowner, false
    FROM pg_class AS c WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
    UNION ALL
    SELECT 'column', c.relname || '.' || t.attname, t.attacl, c.relowner, false
    FROM pg_attribute AS t JOIN pg_class AS c ON c.oid = t.attrelid
    WHERE c.relnamespace = n.oid AND t.attacl IS NOT NULL
    UNION ALL
    SELECT 'function', p.proname, coalesce(p.proacl, acldefault('f', p.proowner)), p.proowner, p.prosecdef
    FROM pg_proc AS p WHERE p.pronamespace = n.oid
) AS g
CROSS JOIN LATERAL aclexplode(g.acl) AS a
LEFT JOIN pg_roles AS r ON r.oid = a.grantee
WHERE n.nspname = ANY (%(schemas)s) AND a.grantee <> g.owner
ORDER BY 1, 2, 3, 5, 6
"""
_ROLES = """
SELECT rolname AS name, rolsuper AS superuser, rolbypassrls AS bypassrls, rolcreaterole AS createrole,
    rolcreatedb AS createdb, rolreplication AS replication, rolinherit AS inherit, rolcanlogin AS login
FROM pg_roles WHERE rolname = ANY (%(roles)s) ORDER BY 1
"""
# `inherit_option` came with PostgreSQL 16; before, a role that inherits nothing is enough.
_MEMBERS = """
SELECT role.rolname AS role, member.rolname AS member, member.rolsuper AS superuser,
    coalesce((to_jsonb(m) ->> 'inherit_option')::boolean, member.rolinherit) AS inherits,
    EXISTS (SELECT FROM pg_namespace WHERE nspname = 'pincite' AND nspowner = member.oid) AS owner
FROM pg_auth_members AS m JOIN pg_roles AS role ON role.oid = m.roleid JOIN pg_roles AS member ON member.oid = m.member
WHERE role.rolname = ANY (%(roles)s) OR member.rolname = ANY (%(roles)s)
ORDER BY 1, 2
"""
_OWNED = """
SELECT d.classid::regclass::text AS what, d.objid, coalesce(c.relname, n.nspname, p.proname, d.objid::text) AS name
FROM pg_shdepend AS d JOIN pg_roles AS r ON r.oid = d.refobjid
LEFT JOIN pg_class AS c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
LEFT JOIN pg_namespace AS n ON d.classid = 'pg_namespace'::regclass AND n.oid = d.objid
LEFT JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
WHERE d.refclassid = 'pg_authid'::regclass AND d.deptype = 'o' AND r.rolname = %(role)s
"""
_SECURITY = """
SELECT c.relname AS name, c.relkind AS kind, c.relrowsecurity AS secured,
    coalesce('security_invoker=true' = ANY (c.reloptions), false) AS invoker
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %(schema)s AND c.relname IN ('sources', 'spans', 'documents', 'fresh_documents')
"""
_POLICIES = """
SELECT tablename AS table, policyname AS name, permissive, roles::text[] AS roles, cmd, qual
FROM pg_policies WHERE schemaname = %(schema)s
"""
_POLICY = "searchableandvisible_to&&current_setting'pincite.groups'::text[]"
_TRIGGERS = """
SELECT c.relname AS table, t.tgname AS name, t.tgenabled::text AS state
FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %(schema)s AND NOT t.tgisinternal
"""
_EXPECTED_TRIGGERS = {
    ("sources", "source_fill"),
    ("sources", "source_spread"),
    ("sources", "count_version"),
    ("spans", "span_a_review"),
    ("spans", "span_beside"),
    ("spans", "span_fill"),
    ("spans", "span_stale"),
    ("spans", "span_gone"),
    ("spans", "count_version"),
}
_DEFINERS = """
SELECT p.proname AS name FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
WHERE n.nspname = %(schema)s AND p.prosecdef
"""
_INDEXES = """
SELECT c.relname AS name, i.indisvalid AND i.indisready AS valid
FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %(schema)s
"""
_EXPECTED_INDEXES = (
    "spans_embedding",
    "spans_tsv",
    "spans_source",
    "spans_visible_to",
    "spans_pkey",
    "sources_visible_to",
    "sources_identity",
    "sources_title_trigram",
    "sources_pkey",
    "identity_lexemes_trigram",
)
# The functions of operators that the legs filter by: as in sql/database/0004_leakproof.sql and 0030_metadata.sql.
_LEAKPROOF = """
SELECT DISTINCT p.oid::regprocedure::text AS name, p.proleakproof AS marked
FROM pg_operator AS o JOIN pg_proc AS p ON p.oid = o.oprcode
WHERE (o.oprname = '@@' AND o.oprleft IN ('tsvector'::regtype, 'tsquery'::regtype)
       AND o.oprright IN ('tsvector'::regtype, 'tsquery'::regtype))
   OR (o.oprname IN ('%%', '<%%', '~~', '~~*') AND o.oprleft = 'text'::regtype AND o.oprright = 'text'::regtype)
   OR (o.oprname IN ('&&', '@>') AND o.oprleft = 'anyarray'::regtype)
   OR (o.oprname = '->>' AND o.oprleft = 'jsonb'::regtype AND o.oprright = 'text'::regtype)
ORDER BY 1
"""
_POWERS = ("superuser", "bypassrls", "createrole", "createdb", "replication")
_MEND = "pincite docs, isolation: take it away as a superuser"


def database_checks(connection: SyncConnection, corpora: list[str], *, superuser: bool) -> list[Check]:
    """
    The checks that concern all corpora.

    :param connection: of the owner.
    :param corpora: those that the database holds.
    :param superuser: whether the owner is one, and could mark functions LEAKPROOF.
    """
    return [_roles(connection, corpora), _grants(connection, corpora), _leakproof(connection, superuser)]


def corpus_checks(
    connection: SyncConnection, corpus: str, *, required_scopes: Sequence[str] = (), scopes: Sequence[str] = ()
) -> list[Check]:
    """
    The checks of the schema of one corpus.

    :param required_scopes: those of the configuration, which policies have to ask for.
    :param scopes: those that have an index.
    """
    return [
        _policies(connection, corpus, required_scopes),
        _triggers(connection, corpus),
        _indexes(connection, corpus, scopes),
    ]


def _rows(connection: SyncConnection, query: Any, **values: Any) -> list[dict[str, Any]]:
    return connection.cursor(row_factory=dict_row).execute(query, values).fetchall()


def _roles(connection: SyncConnection, corpora: list[str]) -> Check:
    corpus_roles = [role(corpus) for corpus in corpora for role in (reader_role, writer_role)]
    names = [APPLICATION_ROLE, *corpus_roles]
    there = _rows(connection, _ROLES, roles=names)
    check = Check("roles", looked_at=len(there))
    for name in sorted(set(names) - {row["name"] for row in there}):
        check.fail(f"role {name}", "it is not there", "pincite init, after dropping what is left of its corpus")
    for row in there:
        for power in _POWERS:
            if row[power]:
                check.fail(
                    f"role {row['name']}", f"it is {power.upper()}", f"ALTER ROLE {row['name']} NO{power.upper()}"
                )
        if row["inherit"]:
            check.fail(f"role {row['name']}", "it inherits the rights of others", f"ALTER ROLE {row['name']} NOINHERIT")
        if row["login"] and row["name"] != APPLICATION_ROLE:
            check.fail(f"role {row['name']}", "it may log in", f"ALTER ROLE {row['name']} NOLOGIN")
    for row in _rows(connection, _MEMBERS, roles=names):
        _member(check, row, corpus_roles)
    for name in [APPLICATION_ROLE, *map(reader_role, corpora)]:
        for row in _rows(connection, _OWNED, role=name):
            subject = f"{row['what'].removeprefix('pg_')} {row['name']}"
            check.fail(
                f"role {name}", f"it owns {subject}, and an owner is above the policies", f"REASSIGN OWNED BY {name}"
            )
    return check


def _member(check: Check, row: dict[str, Any], corpus_roles: list[str]) -> None:
    role, member = row["role"], row["member"]
    revoke = f"REVOKE {role} FROM {member}"
    if member == APPLICATION_ROLE and role in corpus_roles:
        if row["inherits"]:
            check.fail(f"role {member}", f"it has the rights of {role} without taking that role", revoke)
    elif member in (APPLICATION_ROLE, *corpus_roles):
        check.fail(f"role {member}", f"it is a member of {role}", revoke)
    elif not (row["superuser"] or row["owner"]):
        check.fail(f"role {member}", f"it may act as {role}", revoke)


def _grants(connection: SyncConnection, corpora: list[str]) -> Check:
    owners = {schema_name(corpus): corpus for corpus in corpora}
    rows = _rows(connection, _GRANTS, schemas=[*owners, "pincite"])
    check = Check("rights", looked_at=len(rows))
    for row in rows:
        corpus = owners.get(row["schema"])
        allowed = _allowed_in_corpus(row, corpus) if corpus else _allowed_in_registry(row)
        if not allowed:
            place = f"{row['what']} {row['schema']}{'.' if row['name'] else ''}{row['name']}"
            check.fail(
                f"role {row['grantee']}",
                f"it has {row['right']} on {place}",
                f"REVOKE {row['right']} ON {place} FROM {row['grantee']}",
            )
    for schema in owners:
        for row in _rows(connection, _DEFINERS, schema=schema):
            check.fail(
                f"function {schema}.{row['name']}",
                "it runs with its owner's rights",
                "ALTER FUNCTION .. SECURITY INVOKER",
            )
    return check


_REGISTRY = {
    ("schema", "", "USAGE"),
    ("table", "corpora", "SELECT"),
    ("table", "migrations", "SELECT"),
    ("function", "token_holder", "EXECUTE"),
    ("function", "has_tokens", "EXECUTE"),
}
# What a reader may read: what has policies, and what says nothing about a source. A new table has to be thought about.
_READABLE = {
    "sources",
    "spans",
    "documents",
    "fresh_documents",
    "span_lexemes",
    "identity_lexemes",
    "corpus_stats",
    "settings",
    "tags",
}


def _allowed_in_corpus(row: dict[str, Any], corpus: str) -> bool:
    if row["grantee"] == reader_role(corpus):
        if row["what"] == "table":
            return bool(row["right"] == "SELECT" and row["name"] in _READABLE)
        if row["what"] == "function":
            return not row["definer"]
        return bool(row["what"] == "schema" and row["right"] == "USAGE")
    return bool(row["grantee"] == writer_role(corpus))  # the owner of its tables


def _allowed_in_registry(row: dict[str, Any]) -> bool:
    if row["what"] == "function" and not row["definer"]:
        return True  # it can do what its caller may do anyhow
    if row["grantee"] != APPLICATION_ROLE:
        return False
    return (row["what"], row["name"], row["right"]) in _REGISTRY


def _leakproof(connection: SyncConnection, superuser: bool) -> Check:
    rows = _rows(connection, _LEAKPROOF)
    check = Check("leakproof", looked_at=len(rows))
    for row in rows:
        if not row["marked"]:
            reason = (
                "it is not LEAKPROOF, so text search below the policies reads every row; the same rows, more slowly"
            )
            mend = f"once, as a superuser: ALTER FUNCTION {row['name']} LEAKPROOF"
            (check.fail if superuser else check.notice)(f"function {row['name']}", reason, mend)
    return check


def _policies(connection: SyncConnection, corpus: str, required_scopes: Sequence[str]) -> Check:
    schema, expected = schema_name(corpus), _expected_policies(corpus, required_scopes)
    tables = {row["name"]: row for row in _rows(connection, _SECURITY, schema=schema)}
    policies = _rows(connection, _POLICIES, schema=schema)
    check = Check("policies", corpus, len(tables) + len(policies))
    for name in ("sources", "spans"):
        if name in tables and not tables[name]["secured"]:
            statement = f"ALTER TABLE {schema}.{name} ENABLE ROW LEVEL SECURITY"
            check.fail(f"table {schema}.{name}", "row level security is off", statement)
    held = {_shape(row): row for row in policies}
    for table, name, *_ in sorted(expected - held.keys()):
        what = "of its readers" if name == "reader" else "of its required scopes"
        check.fail(f"table {schema}.{table}", f"the policy {what} is not there or another", _MEND)
    for shape in sorted(held.keys() - expected):
        statement = f"DROP POLICY {shape[1]} ON {schema}.{shape[0]}"
        check.fail(f"policy {shape[1]} on {schema}.{shape[0]}", "nothing that Pincite made", statement)
    for name in _VIEWS & tables.keys():
        if not tables[name]["invoker"]:
            statement = f"ALTER VIEW {schema}.{name} SET (security_invoker = true)"
            check.fail(f"view {schema}.{name}", "it reads with its owner's rights", statement)
    for name in ({"sources", "spans"} | _VIEWS) - tables.keys():
        check.fail(f"table {schema}.{name}", "it is not there", "restore a backup, or ingest into a new corpus")
    return check


_VIEWS = {"documents", "fresh_documents"}  # what stock Haystack components read
_Shape = tuple[str, str, str, str, str, str]


def _expected_policies(corpus: str, required_scopes: Sequence[str]) -> set[_Shape]:
    """Table, name, kind, role, command and condition of the policies of a corpus."""
    wanted = [("reader", "PERMISSIVE", _POLICY)]
    if required_scopes:
        written = scope_condition(required_scopes).as_string(None)
        wanted.append(("scope", "RESTRICTIVE", _plain(written)))
    return {
        (table, name, kind, reader_role(corpus), "SELECT", condition)
        for table in ("sources", "spans")
        for name, kind, condition in wanted
    }


def _shape(row: dict[str, Any]) -> _Shape:
    roles = ",".join(row["roles"])
    return row["table"], row["name"], row["permissive"], roles, row["cmd"], _plain(str(row["qual"] or ""))


def _plain(condition: str) -> str:
    """A condition without blanks, brackets and the type that PostgreSQL adds to each constant."""
    return re.sub(r"[\s()]|(?<=')::text(?!\[)", "", condition).lower()


def _triggers(connection: SyncConnection, corpus: str) -> Check:
    schema = schema_name(corpus)
    states = {(row["table"], row["name"]): row["state"] for row in _rows(connection, _TRIGGERS, schema=schema)}
    check = Check("triggers", corpus, len(states))
    for table, name in sorted(_EXPECTED_TRIGGERS):
        if (table, name) not in states:
            check.fail(f"trigger {name} on {schema}.{table}", "it is not there", "restore it from the migrations")
        elif states[table, name] not in ("O", "A"):
            statement = f"ALTER TABLE {schema}.{table} ENABLE TRIGGER {name}"
            check.fail(f"trigger {name} on {schema}.{table}", "it is disabled", statement)
    return check


def _indexes(connection: SyncConnection, corpus: str, scopes: Sequence[str]) -> Check:
    schema = schema_name(corpus)
    there = {row["name"]: row["valid"] for row in _rows(connection, _INDEXES, schema=schema)}
    check = Check("indexes", corpus, len(there))
    for name in [*_EXPECTED_INDEXES, *scope_indexes(schema, scopes)]:
        if name not in there:
            check.fail(f"index {schema}.{name}", "it is not there", "pincite init")
        elif not there[name]:
            check.fail(f"index {schema}.{name}", "it is not valid", "pincite init")
    return check
