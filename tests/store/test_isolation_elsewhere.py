# SPDX-License-Identifier: Apache-2.0
"""On a server where our login is no superuser: the same isolation, and status says what is slower (C3)."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from haystack.utils import Secret
from haystack_integrations.document_stores.pincite.corpora import CorpusDefinition
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.embedded import DATABASE, OWNER, EmbeddedServer
from haystack_integrations.document_stores.pincite.errors import IsolationError
from haystack_integrations.document_stores.pincite.leg_statements import lexical
from haystack_integrations.document_stores.pincite.migrations import initialise
from haystack_integrations.document_stores.pincite.source_writer import SourceWriter
from haystack_integrations.document_stores.pincite.spans import SourceRecord, SpanRecord
from haystack_integrations.document_stores.pincite.stale_spans import StaleSpans
from haystack_integrations.document_stores.pincite.statements import Statement
from haystack_integrations.document_stores.pincite.vector_sets import VectorSets
from pincite.audit.catalog import corpus_checks, database_checks
from pincite.pipelines.corpora import load_corpora
from pincite.status import status
from psycopg.conninfo import make_conninfo

TEXT = "The Landlord warrants good title to the Premises and quiet enjoyment of them to the Tenant."


@pytest.fixture(scope="module")
def database(home: Path) -> Iterator[Database]:
    """A database on another server; its owner may make roles and is no superuser. It holds two corpora."""
    folder = home / "somebody else's server"
    folder.mkdir()
    server = EmbeddedServer(folder)
    socket = str(server.acquire())
    with psycopg.connect(host=socket, user=OWNER, dbname=DATABASE, autocommit=True) as connection:
        connection.execute("CREATE ROLE tenant LOGIN CREATEROLE NOSUPERUSER")
        connection.execute("CREATE DATABASE tenants OWNER tenant")
    with psycopg.connect(host=socket, user=OWNER, dbname="tenants") as connection:
        connection.execute("CREATE EXTENSION vector")
    database = Database.for_url(make_conninfo(host=socket, user="tenant", dbname="tenants"))
    initialise(database, [CorpusDefinition("one"), CorpusDefinition("two")])
    for corpus in ("one", "two"):
        writer = SourceWriter(database, corpus)
        writer.write_sources([_source(name, groups) for name, groups in (("all", []), ("ann", ["ann"]))])
        writer.refresh_statistics()
    yield database
    database.close()
    server.release()


def _source(name: str, groups: list[str]) -> SourceRecord:
    span = SpanRecord("chunk", 0, 0, len(TEXT), TEXT, embedding=[1.0] * 256)
    return SourceRecord(name, f"Lease {name}", TEXT, "h", "text/plain", groups=groups, spans=[span])


def test_the_same_rows_without_the_marks(database: Database) -> None:
    assert database.url is not None
    words = lexical("landlord premises", limit=10, rows=100, words=8)
    for corpus in ("one", "two"):
        store = CorpusDocumentStore(corpus, database_url=Secret.from_token(database.url))
        found = {tuple(groups or ["nobody"]): store.fetch(words, groups=groups) for groups in (None, [], ["ann"])}
        assert {who: [row["id"] for row in rows] for who, rows in found.items()} == {
            ("nobody",): [f"{corpus}:all#chunk-0"],
            ("ann",): [f"{corpus}:all#chunk-0", f"{corpus}:ann#chunk-0"],
        }
        assert store.fetch(words, groups=None) == []
        other = "two" if corpus == "one" else "one"
        with pytest.raises(IsolationError):
            store.fetch(Statement(f"SELECT * FROM pincite_{other}.spans"), groups=["*"])  # type: ignore[arg-type]


def test_status_says_which_form_is_in_force(database: Database) -> None:
    facts = status(database, load_corpora(), Path("home"), "1")
    assert facts["database"]["row_level_security"] == "sequential (needs a superuser once: pincite init)"
    initialise(Database.for_url(None))  # the embedded server, where we are a superuser
    here = status(Database.for_url(None), load_corpora(), Path("home"), "1")
    assert here["database"]["row_level_security"] == "indexed"


def test_the_audit_tells_the_missing_marks_and_finds_nothing_wrong(database: Database) -> None:
    with database.admin() as owner:
        checks = [*database_checks(owner, ["one", "two"], superuser=False), *corpus_checks(owner, "one")]
    states = {check.name: check.answer() for check in checks}
    assert states.pop("leakproof")["status"] == "notice"
    assert {name: answer["findings"] for name, answer in states.items() if answer["status"] != "ok"} == {}


def test_a_corpus_changes_its_embedder(database: Database) -> None:
    """The owner of the tables may do it: no superuser is needed."""
    sets = VectorSets(database, "two")
    StaleSpans(database, "two", "old").expect([])
    sets.begin("new", dimension=8, embedded_meta=[])
    stale = StaleSpans(database, "two", "new")
    assert stale.store([(span, [1.0] * 8) for span in stale.batch("", 10)]) == 2
    assert sets.build_index()
    assert sets.switch("new") == 0
    with database.admin() as owner:
        states = {check.name: check.answer()["status"] for check in corpus_checks(owner, "two")}
        assert (states["indexes"], states["policies"]) == ("ok", "ok")
    assert sets.drop() == "old"
