# SPDX-License-Identifier: Apache-2.0
"""
Isolation, by trying to break it (C1, C3, C6): every path of docs/isolation.md, with positive controls.

The attempts themselves are those of benchmarks/crossing.py, which makes ten thousand.
"""

import asyncio
import importlib.util
import random
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import psycopg
import pytest
from haystack.core.errors import PipelineRuntimeError
from haystack.document_stores.errors import DocumentStoreError
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.errors import BadInputError, IsolationError, PinciteError
from haystack_integrations.document_stores.pincite.leg_statements import dense, lexical, title_whole
from haystack_integrations.document_stores.pincite.scopes import ANY_SCOPE, within
from haystack_integrations.document_stores.pincite.source_writer import SourceWriter
from haystack_integrations.document_stores.pincite.spans import SourceRecord, SpanRecord
from haystack_integrations.document_stores.pincite.statements import Statement
from pincite.audit.paths import STATEMENTS, STORE_PATHS
from psycopg.sql import SQL

ROOT = Path(__file__).resolve().parents[2]
ALL = ["*"]
ATTEMPTS = 400
SPANS = 6_000
FEW = "few"  # a group that sees one span in a hundred
FINGERPRINT = "random;dim=64"


def _benchmark(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up, and it imports its neighbour by name
    spec.loader.exec_module(module)
    return module


DOORS = _benchmark("crossing_doors").DOORS
CROSSING = _benchmark("crossing")


@pytest.fixture(scope="module")
def world(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Three corpora with the same texts, told apart by canaries; the last one requires a scope."""
    folder, names = tmp_path_factory.mktemp("crossing"), ("crossone", "crosstwo", "crossthree")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PINCITE_CONFIG", str(folder))
        yield CROSSING.build(database, folder, names)
    for name in names:
        _drop(database, name)


def _drop(database: Database, name: str) -> None:
    with database.admin() as owner:
        owner.execute(f"DROP SCHEMA pincite_{name} CASCADE")  # type: ignore[call-overload]
        owner.execute("DELETE FROM pincite.corpora WHERE name = %s", [name])
        owner.execute("DELETE FROM pincite.migrations WHERE scope = %s", [name])
        owner.execute(f"DROP ROLE pincite_{name}_reader, pincite_{name}_writer")  # type: ignore[call-overload]


def test_no_attempt_crosses_and_every_control_finds_its_row(world: Any) -> None:
    outcome = asyncio.run(CROSSING.run(world, ATTEMPTS, seed=20260101))
    assert outcome.foreign == []
    assert outcome.blind == []
    assert sum(outcome.attempts.values()) >= ATTEMPTS
    assert {*STATEMENTS, *DOORS} <= set(outcome.attempts)


@pytest.mark.parametrize("path", [*STATEMENTS, *STORE_PATHS, CROSSING.SEARCH, CROSSING.WHY, *DOORS])
def test_each_path_stays_in_its_corpus_and_group(world: Any, path: str) -> None:
    own = next(row for row in world.rows if row.corpus == "crossone" and row.groups == ("ann",))
    ask = _asker(world, path)
    mine = {own.target.span_id, own.target.source_id}
    for groups in (ALL, ["ann"]):
        wrong, ids = ask("crossone", own.target, groups)
        assert wrong == []
        assert ids & mine  # the control: the path does find its own row
    wrong, ids = ask("crossone", own.target, ["bob"])
    assert wrong == []
    assert not ids & mine
    assert ask("crossone", own.target, None) == ([], set())
    wrong, ids = ask("crosstwo", own.target, ALL)
    assert wrong == []
    assert own.target.span_id not in ids
    assert ask("crosstwo", own.target, None) == ([], set())


@pytest.mark.parametrize("path", [*STATEMENTS, *STORE_PATHS, CROSSING.SEARCH, CROSSING.WHY, *DOORS])
def test_each_path_stays_in_its_scope(world: Any, path: str) -> None:
    own = next(row for row in world.rows if row.corpus == "crossthree" and row.groups == ("ann",))
    other = next(scope for scope in CROSSING.SCOPES if own.target.scope != ((CROSSING.SCOPE_KEY, scope),))
    ask = _asker(world, path)
    wrong, ids = ask("crossthree", own.target, ALL)
    assert wrong == []
    assert ids & {own.target.span_id, own.target.source_id}  # the control
    for scope in (other, "*", '"*"'):
        wrong, ids = ask("crossthree", own.target._replace(scope=((CROSSING.SCOPE_KEY, scope),)), ALL)
        assert wrong == []
        assert not ids & {own.target.span_id, own.target.source_id}
    assert ask("crossthree", own.target, None) == ([], set())
    with pytest.raises((PinciteError, DocumentStoreError, PipelineRuntimeError)):
        ask("crossthree", own.target._replace(scope=()), ALL, refused=False)


def _asker(world: Any, path: str) -> Callable[..., tuple[list[str], set[str]]]:
    """Asks on a path: what it should not have given, and the ids of what it gave; none where a door did not open."""

    async def asked(corpus: str, target: Any, groups: list[str] | None, refused: bool) -> tuple[Any, set[str]]:
        if path not in DOORS:
            given: tuple[Any, set[str]] = await CROSSING._ask(world, corpus, path, target, groups, True)
            return given
        async with world.doors.open([world.doors.principal(groups)]):
            try:
                given = await world.doors.ask(path, corpus, target, groups)
            except PinciteError as error:
                return None if refused else error, set()
        return given

    def ask(corpus: str, target: Any, groups: list[str] | None, refused: bool = True) -> tuple[list[str], set[str]]:
        said, ids = asyncio.run(asked(corpus, target, groups, refused))
        if isinstance(said, PinciteError):
            raise said
        wrong = CROSSING.foreign_canaries(said, corpus, groups, target.scope)
        return [*wrong, *CROSSING.foreign_ids(ids, world, corpus, groups, target.scope)], ids

    return ask


def test_the_judge_sees_a_breach(world: Any, database: Database) -> None:
    """A test that cannot fail proves nothing: with the policy off, the same attempts are reported."""
    with database.admin() as owner:
        owner.execute("ALTER TABLE pincite_crossone.spans DISABLE ROW LEVEL SECURITY")
        try:
            outcome = asyncio.run(CROSSING.run(world, 150, seed=7))
        finally:
            owner.execute("ALTER TABLE pincite_crossone.spans ENABLE ROW LEVEL SECURITY")
    assert outcome.foreign


# -- planted queries that forget something ---------------------------------------------------------------------------


def test_a_query_that_forgets_its_corpus_gets_an_error(world: Any, database: Database) -> None:
    with database.sync_pool().connection() as connection, pytest.raises(psycopg.errors.UndefinedTable):
        connection.execute("SELECT content FROM spans")


def test_a_query_that_forgets_its_role_gets_an_error(world: Any, database: Database) -> None:
    with database.sync_pool().connection() as connection:
        for table in ("spans", "sources", "documents", "settings", "corpus_stats"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT * FROM pincite_crossone.{table}")  # type: ignore[call-overload]


def test_a_query_that_forgets_who_asks_gets_an_error(world: Any, database: Database) -> None:
    with database.sync_pool().connection() as connection, connection.transaction(force_rollback=True):
        connection.execute("SELECT set_config('role', 'pincite_crossone_reader', true)")
        # Not set at all, or set by an earlier transaction and empty since.
        with pytest.raises((psycopg.errors.UndefinedObject, psycopg.errors.InvalidTextRepresentation)):
            connection.execute("SELECT content FROM pincite_crossone.spans")


def test_a_query_that_forgets_its_scope_gets_an_error(world: Any, database: Database) -> None:
    three = world.stores["crossthree"]
    for table in ("spans", "sources", "documents"):
        with pytest.raises(IsolationError, match="only read within its required scopes"):
            three.fetch(Statement(SQL(f"SELECT * FROM {table}")), groups=ALL)  # type: ignore[arg-type]
        with pytest.raises(IsolationError):  # again, where the setting is there and empty
            asyncio.run(three.fetch_async(Statement(SQL(f"SELECT * FROM {table}")), groups=ALL))  # type: ignore[arg-type]
        assert three.fetch(Statement(SQL(f"SELECT * FROM {table}")), groups=None) == []  # type: ignore[arg-type]
    with pytest.raises(IsolationError, match="may not set"):
        three.fetch(Statement("SELECT 1", {}, {"pincite.scope": '"*"'}), groups=ALL)
    with pytest.raises(BadInputError, match="stand for scopes"):
        within(["scope:*"], {})


def test_a_scope_gives_its_rows_and_any_scope_is_for_those_who_say_so(world: Any) -> None:
    three, areas = world.stores["crossthree"], "SELECT DISTINCT meta ->> 'practice_area' AS area FROM spans ORDER BY 1"

    def seen(scope: dict[str, str] | str) -> list[str]:
        return [row["area"] for row in three.fetch(Statement(areas), groups=within(ALL, scope))]

    assert [seen({CROSSING.SCOPE_KEY: value}) for value in ("red", "blue", "*", "")] == [["red"], ["blue"], [], []]
    assert seen({"matter": "M1"}) == []  # another key than the one required
    assert seen(ANY_SCOPE) == ["blue", "red"]


def test_a_query_that_forgets_its_transaction_gets_an_error(world: Any, database: Database) -> None:
    """Outside a transaction the role holds for its own statement alone: the next one is refused."""
    with database.sync_pool().connection() as connection:
        connection.execute(
            "SELECT set_config('role', 'pincite_crossone_reader', true), set_config('pincite.groups', '{*}', true)"
        )
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT content FROM pincite_crossone.spans")


def test_a_query_of_one_corpus_that_names_another_gets_an_error(world: Any) -> None:
    one = world.stores["crossone"]
    for table in ("spans", "sources", "documents", "span_lexemes", "identity_lexemes", "corpus_stats", "settings"):
        statement = Statement(SQL(f"SELECT * FROM pincite_crosstwo.{table}"))  # type: ignore[arg-type]
        with pytest.raises(IsolationError):
            one.fetch(statement, groups=ALL)
        with pytest.raises(IsolationError):
            asyncio.run(one.fetch_async(statement, groups=ALL))


def test_a_breached_session_does_not_reach_the_next_borrower(world: Any, database: Database) -> None:
    """Whatever a borrower does to its connection, the next one starts as nobody."""
    pool = database.sync_pool()
    for statement in (
        "SET ROLE pincite_crossone_writer",
        "SELECT set_config('role', 'pincite_crossone_reader', false), set_config('pincite.groups', '{*}', false)",
        "SET search_path = pincite_crossone",
    ):
        with pool.connection() as connection:
            connection.execute(statement)
        for _ in range(3):
            with pool.connection() as connection:
                assert connection.execute("SELECT current_user").fetchone() == ("pincite_app",)
                with pytest.raises(psycopg.errors.UndefinedTable):
                    connection.execute("SELECT content FROM spans")
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute("SELECT content FROM pincite_crossone.spans")


# -- the indexes below the policy, and the principal who sees one row in a hundred -----------------------------------


@pytest.fixture(scope="module")
def large(database: Database) -> Iterator[CorpusDocumentStore]:
    """Six thousand spans of random words and clustered vectors; every hundredth source is for one group alone."""
    from haystack_integrations.document_stores.pincite.corpora import CorpusDefinition
    from haystack_integrations.document_stores.pincite.migrations import initialise

    initialise(database, [CorpusDefinition("largetest", dimension=64, scopes=["matter"])])
    writer = SourceWriter(database, "largetest")
    writer.begin_bulk(SPANS)
    rng = random.Random(5)
    centres = [[rng.gauss(0, 1) for _ in range(64)] for _ in range(60)]
    for first in range(0, SPANS, 1000):
        writer.write_sources(
            [_source(rng, centres, number) for number in range(first, first + 1000)], fingerprint=FINGERPRINT
        )
    writer.refresh_statistics()
    writer.finish_bulk()
    with database.admin() as owner:
        owner.execute("ANALYZE pincite_largetest.spans")
    yield CorpusDocumentStore("largetest", embedding_dimension=64)
    _drop(database, "largetest")


def _source(rng: random.Random, centres: list[list[float]], number: int) -> SourceRecord:
    words = [f"word{min(int(rng.paretovariate(0.6)), 3000)}" for _ in range(40)]
    text = f"clause {number} " + " ".join(words)
    vector = [value + rng.gauss(0, 0.6) for value in rng.choice(centres)]
    span = SpanRecord("chunk", 0, 0, len(text), text, embedding=vector)
    groups = [FEW] if number % 100 == 0 else ["many"]
    return SourceRecord(
        f"s{number}",
        "".join(rng.choices("abcdefghijklmnopqrstuvwxyz ", k=24)),
        text,
        "h",
        "text/plain",
        groups=groups,
        meta={"matter": "few" if number % 100 == 1 else "one" if number % 1000 == 2 else "many"},
        spans=[span],
    )


def _vector(seed: int) -> list[float]:
    rng = random.Random(seed)
    return [rng.gauss(0, 1) for _ in range(64)]


def _plan(store: CorpusDocumentStore, statement: Statement, groups: list[str]) -> str:
    explained = Statement(
        SQL("EXPLAIN ") + SQL(statement.sql) if isinstance(statement.sql, str) else SQL("EXPLAIN ") + statement.sql,
        statement.params,
        statement.settings,
    )
    return "\n".join(str(next(iter(row.values()))) for row in store.fetch(explained, groups=groups))


def test_the_vector_index_is_used_below_the_policy(large: CorpusDocumentStore) -> None:
    statement = dense(_vector(1), limit=60, ef_search=100, fingerprint=FINGERPRINT)
    for groups in (ALL, ["many"]):
        assert "Index Scan using spans_embedding" in _plan(large, statement, groups)


def test_the_text_index_is_used_below_the_policy(large: CorpusDocumentStore) -> None:
    statement = lexical("word700 word900 word1200", limit=60, rows=2000, words=32)
    for groups in (ALL, ["many"]):
        assert "Bitmap Index Scan on spans_tsv" in _plan(large, statement, groups)


def test_the_trigram_index_is_used_below_the_policy(large: CorpusDocumentStore) -> None:
    statement = title_whole("qxkzv wjpy agreement", limit=10)
    for groups in (ALL, ["many"]):
        assert "Bitmap Index Scan on sources_title_trigram" in _plan(large, statement, groups)


def _nearest(
    store: CorpusDocumentStore, embedding: list[float], limit: int, groups: list[str], matter: str | None = None
) -> list[str]:
    exact = Statement(
        "SELECT id FROM spans WHERE %(m)s::text IS NULL OR meta ->> 'matter' = %(m)s"
        " ORDER BY embedding <=> %(e)s::vector, id LIMIT %(n)s",
        {"e": str(embedding), "n": limit, "m": matter},
        {"enable_indexscan": "off"},
    )
    return [row["id"] for row in store.fetch(exact, groups=groups)]


@pytest.mark.parametrize("groups", [[FEW], ["many"], ALL])
def test_lists_are_full_whatever_one_sees(large: CorpusDocumentStore, groups: list[str]) -> None:
    for seed in range(5):
        statement = dense(_vector(seed), limit=60, ef_search=100, fingerprint=FINGERPRINT)
        assert len(large.fetch(statement, groups=groups)) == 60


def test_who_sees_one_row_in_a_hundred_gets_the_right_ones(large: CorpusDocumentStore) -> None:
    hits = wanted = 0
    for seed in range(20):
        statement = dense(_vector(seed), limit=60, ef_search=100, fingerprint=FINGERPRINT)
        exact = _nearest(large, _vector(seed), 60, [FEW])
        hits += len({row["id"] for row in large.fetch(statement, groups=[FEW])} & set(exact))
        wanted += len(exact)
    assert wanted == 20 * 60
    assert hits / wanted >= 0.95


@pytest.mark.parametrize(("matter", "there"), [("few", 60), ("one", 6), ("many", 60), ("none", 0)])
def test_a_filter_on_a_scope_leaves_full_lists(large: CorpusDocumentStore, matter: str, there: int) -> None:
    """One row in a hundred, one in a thousand, nearly all, and none (C3: applied before the limit)."""
    filters = {"field": "meta.matter", "operator": "==", "value": matter}
    hits = wanted = 0
    for seed in range(10):
        statement = dense(_vector(seed), limit=60, ef_search=100, fingerprint=FINGERPRINT, filters=filters)
        exact = _nearest(large, _vector(seed), 60, ["many", FEW], matter)
        found = [row["id"] for row in large.fetch(statement, groups=["many", FEW])]
        assert len(found) == len(exact) == there
        hits, wanted = hits + len({*found} & {*exact}), wanted + len(exact)
    # A frequent value goes through the vector index, which is approximate with and without a filter.
    assert matter == "many" or hits >= 0.95 * wanted


def test_the_index_of_a_scope_is_used_below_the_policy_for_a_rare_value(large: CorpusDocumentStore) -> None:
    def plan(matter: str) -> str:
        filters = {"field": "meta.matter", "operator": "==", "value": matter}
        statement = dense(_vector(1), limit=60, ef_search=100, fingerprint=FINGERPRINT, filters=filters)
        return _plan(large, statement, ALL)

    assert "spans_scope_matter" in plan("few")
    assert "Index Scan using spans_embedding" in plan("many")


def test_who_sees_little_finds_all_that_holds_the_words(large: CorpusDocumentStore) -> None:
    statement = lexical("word700 word900 word1200", limit=100, rows=10_000, words=32)
    pattern = re.compile(r"\bword(700|900|1200)\b")
    everything = large.fetch(Statement("SELECT id, content FROM spans"), groups=[FEW])
    assert {row["id"] for row in large.fetch(statement, groups=[FEW])} == {
        row["id"] for row in everything if pattern.search(row["content"])
    }


# -- C6: the known breach --------------------------------------------------------------------------------------------


def test_c6_the_same_rule_is_found_in_each_corpus_by_itself_alone(
    database: Database, make_corpus: Callable[..., str]
) -> None:
    """Rules were once joined without the corpus condition: both corpora gave the rules of both."""
    quote = "a landlord who accepts rent after a notice to quit waives that notice, unless both sides say otherwise"
    stores = {}
    for name in (make_corpus("library"), make_corpus("committee")):
        rule = SpanRecord(
            "rule", 0, 0, len(quote), quote, quote=quote, embedding=[0.25] * 256,
            statement="Accepting rent waives a notice to quit.", review_status="approved",
        )  # fmt: skip
        record = SourceRecord("decision", "Smith v Jones", quote, "h", "text/plain", spans=[rule])
        writer = SourceWriter(database, name)
        writer.write_sources([record], fingerprint=FINGERPRINT)
        writer.refresh_statistics()
        stores[name] = CorpusDocumentStore(name)
    for name, store in stores.items():
        for statement in (
            dense([0.25] * 256, limit=20, ef_search=60, fingerprint=FINGERPRINT),
            lexical(quote, limit=20, rows=500, words=32),
            title_whole("Smith v Jones", limit=20),
        ):
            assert [row["id"] for row in store.fetch(statement, groups=ALL)] == [f"{name}:decision#rule-0"]
