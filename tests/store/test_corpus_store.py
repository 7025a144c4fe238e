# SPDX-License-Identifier: Apache-2.0
"""Reading a corpus: who sees what, and what a query that forgets its corpus gets."""

import asyncio
import random

import psycopg
import pytest
from haystack.utils import Secret
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.errors import BadInputError, IsolationError, UnknownCorpusError
from haystack_integrations.document_stores.pincite.source_writer import SourceWriter
from haystack_integrations.document_stores.pincite.spans import SourceRecord, SpanRecord
from haystack_integrations.document_stores.pincite.statements import Statement
from psycopg.sql import SQL

ALL = ["*"]
IDS = Statement("SELECT id, source_id FROM spans ORDER BY id")


def record(source_id: str, *texts: str, embedded: bool = True, **fields: object) -> SourceRecord:
    """A source whose text is its spans one after the other, with an embedding that depends on the text."""
    spans, position = [], 0
    for number, text in enumerate(texts):
        rng = random.Random(text)
        embedding = [rng.gauss(0, 1) for _ in range(256)] if embedded else None
        spans.append(
            SpanRecord(
                "chunk", number, position, position + len(text), text, page=1, section="Terms", embedding=embedding
            )
        )
        position += len(text)
    values: dict[str, object] = {"title": source_id, "content_hash": str(hash(texts)), "media_type": "text/plain"}
    return SourceRecord(source_id, text="".join(texts), spans=spans, **(values | fields))  # type: ignore[arg-type]


LONG = "The Borrower shall repay the Loan in full on the Maturity Date, without notice or demand. "
OTHER = "This Agreement is governed by the laws of the State of New York, without its conflict rules. "


@pytest.fixture
def writer(database: Database, corpus_store: CorpusDocumentStore) -> SourceWriter:
    return SourceWriter(database, corpus_store.corpus)


def sources(store: CorpusDocumentStore, groups: list[str] | None) -> set[str]:
    seen = {row["source_id"] for row in store.fetch(Statement("SELECT source_id FROM spans"), groups=groups)}
    assert seen == {row["source_id"] for row in store.fetch(Statement("SELECT source_id FROM sources"), groups=groups)}
    return seen


def test_groups_decide_what_is_visible(corpus_store: CorpusDocumentStore, writer: SourceWriter) -> None:
    writer.write_sources([record("open", LONG), record("a", LONG, groups=["a"]), record("ab", LONG, groups=["a", "b"])])
    assert sources(corpus_store, None) == set()
    assert sources(corpus_store, []) == {"open"}
    assert sources(corpus_store, ["b"]) == {"open", "ab"}
    assert sources(corpus_store, ["a", "unknown"]) == {"open", "a", "ab"}
    assert sources(corpus_store, ALL) == {"open", "a", "ab"}
    assert sources(corpus_store, ['odd"{},\\ name']) == {"open"}


def test_a_group_named_like_the_wildcard_is_refused(writer: SourceWriter) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        writer.write_sources([record("x", LONG, groups=["*"])])


def test_only_active_sources_are_visible(corpus_store: CorpusDocumentStore, writer: SourceWriter) -> None:
    writer.write_sources([record(s, LONG, status=s) for s in ("active", "draft", "superseded", "withdrawn")])
    assert sources(corpus_store, ALL) == {"active"}


def test_incomplete_spans_are_kept_but_not_searchable(
    database: Database, corpus_store: CorpusDocumentStore, writer: SourceWriter
) -> None:
    lost = SpanRecord("chunk", 7, 5000, 5100, LONG, embedding=[1.0] * 256)
    writer.write_sources(
        [
            record("short", "Too short.   " + " " * 60),
            record("bare", LONG, embedded=False),
            SourceRecord("lost", "lost", LONG, "h", "text/plain", spans=[lost]),
            record("", LONG, title="  "),
            record("good", LONG),
        ]
    )
    ids = {row["source_id"] for row in corpus_store.fetch(IDS, groups=ALL)}
    assert ids == {"good"}
    with database.admin() as owner:
        row = owner.execute(SQL(f"SELECT count(*) FROM {corpus_store.schema_name}.spans")).fetchone()  # type: ignore[arg-type]
    assert row == (5,)


def test_changes_of_a_source_reach_its_spans(
    database: Database, corpus_store: CorpusDocumentStore, writer: SourceWriter
) -> None:
    writer.write_sources([record("x", LONG, meta={"matter": "M1"})])
    schema = corpus_store.schema_name
    meta = Statement("SELECT meta ->> 'matter' AS matter, meta ->> 'title' AS title FROM spans")
    with database.admin() as owner:
        owner.execute(f"UPDATE {schema}.sources SET meta = '{{\"matter\": \"M2\"}}', title = 'New'")  # type: ignore[call-overload]
        assert corpus_store.fetch(meta, groups=ALL) == [{"matter": "M2", "title": "New"}]
        owner.execute(f"UPDATE {schema}.sources SET groups = '{{secret}}'")  # type: ignore[call-overload]
        assert sources(corpus_store, ["a"]) == set()
        assert sources(corpus_store, ["secret"]) == {"x"}
        owner.execute(f"UPDATE {schema}.sources SET status = 'withdrawn'")  # type: ignore[call-overload]
        assert sources(corpus_store, ALL) == set()
        owner.execute(f"UPDATE {schema}.sources SET status = 'active'")  # type: ignore[call-overload]
        assert sources(corpus_store, ALL) == {"x"}


def test_changed_content_is_stale_until_it_is_embedded_again(
    database: Database, corpus_store: CorpusDocumentStore, writer: SourceWriter
) -> None:
    writer.write_sources([record("x", LONG)], fingerprint="model-1")
    spans = f"{corpus_store.schema_name}.spans"
    stale = Statement("SELECT stale FROM spans")
    assert corpus_store.fetch(stale, groups=ALL) == [{"stale": False}]
    with database.admin() as owner:
        owner.execute(f"UPDATE {spans} SET content = replace(content, 'full', 'part')")  # type: ignore[call-overload]
        assert corpus_store.fetch(stale, groups=ALL) == [{"stale": True}]
        # An embedding that happens to come out the same: whoever made it says what it was made from.
        owner.execute(f"UPDATE {spans} SET content_hash = md5(content)")  # type: ignore[call-overload]
        assert corpus_store.fetch(stale, groups=ALL) == [{"stale": False}]
        owner.execute(f"UPDATE {spans} SET content = upper(content)")  # type: ignore[call-overload]
        owner.execute(f"UPDATE {spans} SET embedding = embedding + embedding")  # type: ignore[call-overload]
        assert corpus_store.fetch(stale, groups=ALL) == [{"stale": False}]


def test_a_query_without_a_corpus_is_refused(corpus_store: CorpusDocumentStore, database: Database) -> None:
    with database.sync_pool().connection() as connection:
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("SELECT * FROM spans")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(f"SELECT * FROM {corpus_store.schema_name}.spans")  # type: ignore[call-overload]


def test_a_role_without_groups_gets_an_error(corpus_store: CorpusDocumentStore, database: Database) -> None:
    with database.sync_pool().connection() as connection, connection.transaction(force_rollback=True):
        connection.execute("SELECT set_config('role', %s, true)", [f"pincite_{corpus_store.corpus}_reader"])
        with pytest.raises(psycopg.Error), connection.transaction():
            connection.execute(f"SELECT * FROM {corpus_store.schema_name}.spans").fetchall()  # type: ignore[call-overload]


def test_no_statement_reaches_another_corpus(
    corpus_store: CorpusDocumentStore, writer: SourceWriter, make_corpus: object
) -> None:
    writer.write_sources([record("mine", LONG)])
    other = CorpusDocumentStore(make_corpus())  # type: ignore[operator]
    foreign = Statement(SQL(f"SELECT * FROM {corpus_store.schema_name}.spans"))  # type: ignore[arg-type]
    with pytest.raises(IsolationError, match="refused"):
        other.fetch(foreign, groups=ALL)
    with pytest.raises(IsolationError, match="refused"):
        asyncio.run(other.fetch_async(foreign, groups=ALL))
    assert other.fetch(IDS, groups=ALL) == []


@pytest.mark.parametrize("name", ["role", "ROLE", "search_path", "pincite.groups", "row_security"])
def test_a_statement_cannot_set_who_asks(corpus_store: CorpusDocumentStore, name: str) -> None:
    with pytest.raises(IsolationError, match="may not set"):
        corpus_store.fetch(Statement("SELECT 1", {}, {name: "x"}), groups=ALL)


def test_fetch_cannot_write(corpus_store: CorpusDocumentStore) -> None:
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        corpus_store.fetch(Statement("CREATE TABLE x (y int)"), groups=ALL)


def test_settings_hold_for_their_statement_only(corpus_store: CorpusDocumentStore, database: Database) -> None:
    show = "SELECT current_setting('hnsw.ef_search', true) AS ef"
    assert corpus_store.fetch(Statement(show, {}, {"hnsw.ef_search": "321"}), groups=ALL) == [{"ef": "321"}]
    assert corpus_store.fetch(Statement(show), groups=ALL) != [{"ef": "321"}]
    who = Statement("SELECT current_user AS who")
    assert corpus_store.fetch(who, groups=ALL) == [{"who": f"pincite_{corpus_store.corpus}_reader"}]
    with database.sync_pool().connection() as connection:
        assert connection.execute("SELECT current_user").fetchone() == ("pincite_app",)


def test_a_role_set_by_hand_does_not_reach_the_next_borrower(
    corpus_store: CorpusDocumentStore, database: Database
) -> None:
    role = f"pincite_{corpus_store.corpus}_reader"

    def who() -> set[tuple[object, ...]]:
        with database.sync_pool().connection() as one, database.sync_pool().connection() as two:
            query = "SELECT current_user, current_setting('search_path'), current_setting('plan_cache_mode')"
            return {row for c in (one, two) for row in c.execute(query).fetchall()}

    clean = {("pincite_app", "pg_catalog", "force_custom_plan")}
    assert who() == clean
    with database.sync_pool().connection() as one, database.sync_pool().connection() as two:
        for connection in (one, two):
            connection.execute(
                "SELECT set_config('role', %s, false), set_config('search_path', 'public', false)", [role]
            )
    assert who() == clean

    async def main() -> list[tuple[object, ...]]:
        pool = await database.async_pool()
        async with pool.connection() as connection:
            await connection.execute("SELECT set_config('role', %s, false)", [role])
        async with pool.connection() as connection:
            return await (await connection.execute("SELECT current_user")).fetchall()

    assert asyncio.run(main()) == [("pincite_app",)]


def test_sync_and_async_give_the_same_rows_in_any_event_loop(
    corpus_store: CorpusDocumentStore, writer: SourceWriter
) -> None:
    writer.write_sources([record(f"s{i}", LONG, OTHER) for i in range(5)])
    expected = corpus_store.fetch(IDS, groups=ALL)
    assert len(expected) == 10

    async def many() -> list[list[dict[str, object]]]:
        return await asyncio.gather(*(corpus_store.fetch_async(IDS, groups=ALL) for _ in range(25)))

    for _ in range(3):
        assert asyncio.run(many()) == [expected] * 25


def test_a_cancelled_query_leaves_the_pool_usable(corpus_store: CorpusDocumentStore) -> None:
    async def main() -> list[dict[str, object]]:
        sleep = Statement("SELECT pg_sleep(30)")
        for _ in range(3):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(corpus_store.fetch_async(sleep, groups=ALL), 0.2)
        return await corpus_store.fetch_async(Statement("SELECT 1 AS one"), groups=ALL)

    assert asyncio.run(main()) == [{"one": 1}]


def test_time_limit_is_left_to_the_caller(corpus_store: CorpusDocumentStore) -> None:
    sleep = Statement("SELECT pg_sleep(30)")
    with pytest.raises(psycopg.errors.QueryCanceled):
        corpus_store.fetch(sleep, groups=ALL, timeout_ms=20)
    with pytest.raises(psycopg.errors.QueryCanceled):
        asyncio.run(corpus_store.fetch_async(sleep, groups=ALL, timeout_ms=20))
    assert corpus_store.fetch(Statement("SELECT 1 AS one"), groups=ALL) == [{"one": 1}]


@pytest.mark.parametrize("value", ["a\0b", "lone \ud800 surrogate"])
def test_text_that_no_database_holds_is_bad_input(corpus_store: CorpusDocumentStore, value: str) -> None:
    statement = Statement("SELECT %(q)s::text AS q", {"q": value})
    with pytest.raises(BadInputError):
        corpus_store.fetch(statement, groups=ALL)
    with pytest.raises(BadInputError):
        asyncio.run(corpus_store.fetch_async(statement, groups=ALL))


def test_unknown_corpus_is_one_clear_line(database: Database) -> None:
    store = CorpusDocumentStore("never_made", groups=ALL)
    line = "corpus 'never_made' is not in the database; run: pincite init"
    for call in (
        lambda: store.fetch(IDS, groups=ALL),
        lambda: asyncio.run(store.fetch_async(IDS, groups=ALL)),
        store.count_documents,
        lambda: store.write_documents([]),
        lambda: SourceWriter(database, "never_made").known_sources(),
    ):
        with pytest.raises(UnknownCorpusError) as caught:
            call()
        assert str(caught.value) == line


@pytest.mark.parametrize("name", ["", "Knowledge", "1st", "a-b", "a b", "x" * 42, 'x"; DROP SCHEMA pincite', "ü"])
def test_corpus_names_are_checked(name: str) -> None:
    with pytest.raises(BadInputError, match="corpus name"):
        CorpusDocumentStore(name)


def test_construction_opens_nothing_and_survives_serialisation() -> None:
    store = CorpusDocumentStore(
        "knowledge", database_url=Secret.from_env_var("SOME_URL", strict=False), groups=["a"], embedding_dimension=64
    )
    data = store.to_dict()
    assert data["type"] == "haystack_integrations.document_stores.pincite.corpus_store.CorpusDocumentStore"
    again = CorpusDocumentStore.from_dict(data)
    assert isinstance(again, CorpusDocumentStore)
    assert again.to_dict() == data
    assert (again.corpus, again.groups, again.embedding_dimension) == ("knowledge", ["a"], 64)
    assert (
        CorpusDocumentStore.from_dict(CorpusDocumentStore("kb").to_dict()).to_dict()
        == CorpusDocumentStore("kb").to_dict()
    )
