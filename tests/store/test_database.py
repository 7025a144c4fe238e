# SPDX-License-Identifier: Apache-2.0
"""Any PostgreSQL by its URL, and one clear line when there is none that can be used."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from haystack import Document
from haystack.utils import Secret
from haystack_integrations.document_stores.pincite import embedded, processes
from haystack_integrations.document_stores.pincite.corpora import CorpusDefinition
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.database import Database, pincite_home
from haystack_integrations.document_stores.pincite.embedded import DATABASE, OWNER, EmbeddedServer
from haystack_integrations.document_stores.pincite.embedded_files import copy_programs
from haystack_integrations.document_stores.pincite.errors import (
    ConfigurationError,
    DatabaseUnavailableError,
    IsolationError,
)
from haystack_integrations.document_stores.pincite.migrations import initialise, pending
from haystack_integrations.document_stores.pincite.server_account import server_account
from haystack_integrations.document_stores.pincite.source_writer import SourceWriter
from haystack_integrations.document_stores.pincite.spans import SourceRecord, SpanRecord
from haystack_integrations.document_stores.pincite.statements import Statement
from psycopg.conninfo import make_conninfo

TEXT = "The Landlord warrants good title to the Premises and quiet enjoyment of them to the Tenant."


@pytest.fixture(scope="module")
def elsewhere(home: Path) -> Iterator[EmbeddedServer]:
    """Another server, which stands for one that somebody else administers."""
    folder = home / "another server"
    folder.mkdir()
    server = EmbeddedServer(folder)
    server.acquire()
    yield server
    server.release()


@pytest.fixture
def url(elsewhere: EmbeddedServer) -> Iterator[str]:
    """A database there whose owner may make roles but is no superuser."""
    socket = str(elsewhere.acquire())
    with psycopg.connect(host=socket, user=OWNER, dbname=DATABASE, autocommit=True) as connection:
        connection.execute("CREATE ROLE tenant LOGIN CREATEROLE NOSUPERUSER PASSWORD 'sesame'")
        connection.execute("CREATE DATABASE tenants OWNER tenant")
    with psycopg.connect(host=socket, user=OWNER, dbname="tenants") as connection:
        connection.execute("CREATE EXTENSION vector")  # unlike pg_trgm, it takes a superuser
    url = make_conninfo(host=socket, user="tenant", dbname="tenants", password="sesame")
    yield url
    Database.for_url(url).close()
    with psycopg.connect(host=socket, user=OWNER, dbname=DATABASE, autocommit=True) as connection:
        connection.execute("DROP DATABASE tenants WITH (FORCE)")
        names = connection.execute(
            "SELECT rolname FROM pg_roles WHERE rolname ~ '^(pincite_(?!owner)|tenant)'"
        ).fetchall()
        for (name,) in sorted(names, key=lambda row: row[0] == "tenant"):
            connection.execute(f"DROP ROLE {name}")  # type: ignore[call-overload]


def test_everything_works_for_an_owner_who_is_no_superuser(url: str) -> None:
    database = Database.for_url(url)
    assert not database.embedded
    initialise(database, [CorpusDefinition("one"), CorpusDefinition("two")])
    assert pending(database, ["one", "two"]) == []
    span = SpanRecord("chunk", 0, 0, len(TEXT), TEXT, embedding=[1.0] * 256)
    writer = SourceWriter(database, "one")
    assert writer.begin_bulk()
    writer.write_sources([SourceRecord("x", "Lease", TEXT, "h", "text/plain", groups=["a"], spans=[span])])
    assert writer.finish_bulk() == ["spans_embedding", "spans_tsv"]
    writer.refresh_statistics()
    one = CorpusDocumentStore("one", database_url=Secret.from_token(url), groups=["*"])
    two = CorpusDocumentStore("two", database_url=Secret.from_token(url), groups=["*"])
    ids = Statement("SELECT id, current_user AS who FROM spans WHERE tsv @@ to_tsquery('english', 'landlord')")
    expected = [{"id": "one:x#chunk-0", "who": "pincite_one_reader"}]
    assert one.fetch(ids, groups=["a"]) == expected
    assert asyncio.run(one.fetch_async(ids, groups=["a"])) == expected
    assert one.fetch(ids, groups=["b"]) == one.fetch(ids, groups=None) == two.fetch(ids, groups=["*"]) == []
    with pytest.raises(IsolationError):
        two.fetch(Statement("SELECT * FROM pincite_one.spans"), groups=["*"])
    assert one.write_documents([Document(content=TEXT, embedding=[0.5] * 256)]) == 1
    assert one.count_documents() == 2
    one.close()


def test_the_login_of_the_url_is_not_the_role_of_a_query(url: str) -> None:
    database = Database.for_url(url)
    initialise(database, [CorpusDefinition("one")])
    pool = database.sync_pool()
    for _ in range(2):  # also after the reset
        with pool.connection() as connection:
            assert connection.execute("SELECT session_user, current_user").fetchone() == ("tenant", "pincite_app")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("SELECT * FROM pincite_one.spans")
            connection.execute("SET ROLE pincite_one_writer")


def test_a_login_that_may_not_make_roles_is_told_so(url: str, elsewhere: EmbeddedServer) -> None:
    with psycopg.connect(host=str(elsewhere.acquire()), user=OWNER, dbname=DATABASE) as connection:
        connection.execute("ALTER ROLE tenant NOCREATEROLE")
    with pytest.raises(DatabaseUnavailableError, match="login 'tenant' may not set up the database"):
        initialise(Database.for_url(url), [CorpusDefinition("one")])


def test_a_database_that_was_never_initialised(url: str) -> None:
    store = CorpusDocumentStore("one", database_url=Secret.from_token(url))
    for call in (
        lambda: store.fetch(Statement("SELECT 1"), groups=["*"]),
        lambda: asyncio.run(store.fetch_async(Statement("SELECT 1"), groups=["*"])),
        store.count_documents,
    ):
        with pytest.raises(ConfigurationError, match=r"'tenants' at .* is not initialised; run: pincite init"):
            call()


def test_an_extension_that_takes_a_superuser_is_named(url: str, elsewhere: EmbeddedServer) -> None:
    with psycopg.connect(host=str(elsewhere.acquire()), user=OWNER, dbname="tenants") as connection:
        connection.execute("DROP EXTENSION vector")
    with pytest.raises(DatabaseUnavailableError) as caught:
        initialise(Database.for_url(url))
    assert str(caught.value) == (
        "login 'tenant' may not create extension 'vector': run once, as a superuser in database 'tenants': "
        "CREATE EXTENSION vector;"
    )


def test_a_missing_extension_is_named_with_the_command(url: str) -> None:
    database = Database.for_url(url)
    initialise(database)
    with database.admin() as owner:
        owner.execute("DROP EXTENSION pg_trgm")
    store = CorpusDocumentStore("one", database_url=Secret.from_token(url))
    with pytest.raises(
        DatabaseUnavailableError, match="lacks extension 'pg_trgm': run there CREATE EXTENSION pg_trgm;"
    ):
        database.forget()
        store.fetch(Statement("SELECT 1"), groups=["*"])


def test_a_server_without_pgvector(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = home / "bare"
    programs = copy_programs(embedded.server_programs(server_account(None)).parent, bare / "programs")
    for file in programs.parent.rglob("vector*"):
        if file.is_file():
            file.unlink()
    monkeypatch.setattr(embedded, "server_programs", lambda account: programs)
    server = EmbeddedServer(bare)
    url = make_conninfo(host=str(server.acquire()), user=OWNER, dbname=DATABASE)
    try:
        with pytest.raises(DatabaseUnavailableError) as caught:
            initialise(Database.for_url(url), [CorpusDefinition("one")])
    finally:
        server.release()
    assert str(caught.value) == (
        "the server has no extension 'vector': install it there (apt install postgresql-18-pgvector) and run, "
        "in database 'pincite': CREATE EXTENSION vector;"
    )


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:s3cr3t@127.0.0.1:1/nothing?connect_timeout=2",
        "host=/nowhere user=ann password=s3cr3t dbname=nothing",
        "postgresql://ann:s3cr3t@host.invalid/nothing",
        "this is no url s3cr3t",
        "postgresql://ann:s3cr3t%zz@localhost/nothing",
    ],
)
def test_an_unreachable_database_is_one_line_without_the_password(url: str) -> None:
    store = CorpusDocumentStore("one", database_url=Secret.from_token(url))
    statement = Statement("SELECT 1")
    for call in (
        lambda: store.fetch(statement, groups=["*"]),
        lambda: asyncio.run(store.fetch_async(statement, groups=["*"])),
        store.count_documents,
        lambda: initialise(Database.for_url(url)),
    ):
        with pytest.raises(DatabaseUnavailableError) as caught:
            call()
        line = str(caught.value)
        assert "\n" not in line
        assert "s3cr3t" not in line
        assert "PINCITE_DATABASE_URL" in line
        assert caught.value.exit_status == 3


def test_one_database_per_url_and_process(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Database.current() is database
    assert Database.for_url("") is database
    assert CorpusDocumentStore("one").database is CorpusDocumentStore("two").database is database
    assert database.sync_pool() is database.sync_pool()
    monkeypatch.setenv("PINCITE_DATABASE_URL", "host=/a dbname=b")
    assert Database.current() is Database.for_url("host=/a dbname=b") is not database
    monkeypatch.delenv("PINCITE_HOME")
    assert pincite_home().name == "pincite"


def test_a_server_that_died_is_back_for_the_next_query(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = home / "dying"
    monkeypatch.setenv("PINCITE_HOME", str(folder))
    database = Database.current()
    initialise(database, [CorpusDefinition("one")])
    store = CorpusDocumentStore("one")
    statement = Statement("SELECT 1 AS one")

    def kill() -> None:
        data = EmbeddedServer(folder).data()
        assert data is not None
        pid = int((data / "postmaster.pid").read_text().splitlines()[0])
        os.kill(pid, signal.SIGKILL)
        while processes.start_time(pid) is not None:
            time.sleep(0.01)

    async def twice() -> list[dict[str, int]]:
        first = await store.fetch_async(statement, groups=None)
        await asyncio.to_thread(kill)
        return first + await store.fetch_async(statement, groups=None)

    try:
        assert store.fetch(statement, groups=None) == [{"one": 1}]
        kill()
        assert store.fetch(statement, groups=None) == [{"one": 1}]
        assert asyncio.run(twice()) == [{"one": 1}] * 2
    finally:
        database.close()
    assert not EmbeddedServer(folder).running()


_CHILDREN = """
import multiprocessing, sys
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.statements import Statement

def count(corpus):
    return CorpusDocumentStore(corpus).fetch(Statement("SELECT count(*) AS n FROM spans"), groups=["*"])[0]["n"]

if __name__ == "__main__":
    corpus, method = sys.argv[1:]
    before = count(corpus)
    with multiprocessing.get_context(method).Pool(2) as pool:
        inside = pool.map(count, [corpus] * 4)
    print([before, *inside, count(corpus)])
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_children_have_pools_of_their_own(corpus_store: CorpusDocumentStore, tmp_path: Path, method: str) -> None:
    corpus_store.write_documents([Document(content=TEXT, embedding=[0.5] * 256)])
    script = tmp_path / "children.py"
    script.write_text(_CHILDREN)
    arguments = [sys.executable, "-W", "error", str(script), corpus_store.corpus, method]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[1, 1, 1, 1, 1, 1]\n", "")
    assert corpus_store.count_documents() == 1
