# SPDX-License-Identifier: Apache-2.0
"""Runs the checks in the order in which one needs the other."""

import time
from collections.abc import Callable, Iterator

from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.writer_session import writer_session
from pincite.audit.answer import AuditAnswer, Check, audit_answer
from pincite.audit.catalog import corpus_checks, database_checks
from pincite.audit.configuration import configuration_check, migrations_check, pending_scopes, registry_check
from pincite.audit.contents import content_checks
from pincite.audit.embedder import embedder_check
from pincite.audit.probes import leak_check, opened
from pincite.pipelines.corpora import CorporaSettings

Quality = Callable[[str], Check]


def audit(
    database: Database, settings: CorporaSettings, corpora: list[str] | None = None, *, quality: Quality | None = None
) -> AuditAnswer:
    """
    Check that the database keeps what it should (C2, S1, S3).

    :param settings: the configuration.
    :param corpora: names of the corpora to look at; ``None`` for all that are configured. Crossings are tried into
        every other corpus of the database all the same.
    :param quality: measures a corpus with its own questions; ``None`` leaves that out.
    :raises DatabaseUnavailableError: the database cannot be reached.
    """
    started = time.monotonic()
    wanted = list(settings.corpora) if corpora is None else [settings.corpus(name).name for name in corpora]
    checks = list(_checks(database, settings, wanted, quality))
    return audit_answer(checks, time.monotonic() - started)


def _checks(
    database: Database, settings: CorporaSettings, wanted: list[str], quality: Quality | None
) -> Iterator[Check]:
    yield migrations_check(database, wanted)
    with database.admin() as connection:
        yield registry_check(connection, list(settings.corpora))
        rows = connection.execute(
            "SELECT name FROM pincite.corpora WHERE to_regclass('pincite_' || name || '.spans') IS NOT NULL ORDER BY 1"
        ).fetchall()
        there = [str(row[0]) for row in rows]
        superuser = connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone()
        yield from database_checks(connection, there, superuser=bool(superuser and superuser[0]))
    # Checks ask for tables and columns that an older schema does not have.
    old = pending_scopes(database, [name for name in settings.corpora if name in there])
    ready = [settings.corpora[name] for name in settings.corpora if name in there and name not in old]
    corpora = {corpus.name: opened(database, corpus) for corpus in ready}
    for name in wanted:
        if name not in corpora:
            continue
        with database.admin() as connection:
            configured, fingerprint = configuration_check(connection, settings.corpora[name])
            yield configured
            yield from corpus_checks(
                connection,
                name,
                required_scopes=settings.corpora[name].required_scopes,
                scopes=settings.corpora[name].scopes,
            )
            yield embedder_check(connection, name, fingerprint, settings.corpora[name].embedding_dimension)
        with writer_session(database, name, read_only=True) as session:
            yield from content_checks(session, name, fingerprint)
        yield leak_check(database, corpora[name], [other for key, other in corpora.items() if key != name])
        if quality is not None:
            yield quality(name)
