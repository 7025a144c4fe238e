# SPDX-License-Identifier: Apache-2.0
"""
Random attempts to cross corpora or groups, on every path, sync and async mixed in one process (C1, C3).

Three corpora hold the same texts, and one of them requires a scope; each text has a canary that names its corpus, its
groups and its scope, so that a foreign row is known by what it says, whatever its id claims. Each attempt asks one
corpus, as somebody, for a row of another corpus, group or scope; forges ids and scopes, injects filters and groups,
comes with the token of another corpus, asks right after a failed or cancelled statement. Its control asks on the same
path where the row is, as somebody who may see it, and has to find it. Paths are statements, stores, pipelines, REST and
MCP.

Usage: ``python benchmarks/crossing.py [ATTEMPTS [SEED]]`` (10,000 and 1). Prints a table by path; exit status 1 on one
foreign row or one control that finds nothing. Uses ``PINCITE_HOME`` or ``PINCITE_DATABASE_URL``, in corpora of its own.
"""

import asyncio
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

import psycopg
from crossing_doors import DOORS, Doors, configure
from haystack import Document, Pipeline
from haystack.core.errors import PipelineRuntimeError
from haystack.document_stores.errors import DocumentStoreError
from haystack.errors import FilterError
from haystack_integrations.components.pincite.word_llama_document_embedder import WordLlamaDocumentEmbedder
from haystack_integrations.document_stores.pincite.corpora import CorpusDefinition
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.errors import PinciteError
from haystack_integrations.document_stores.pincite.leg_statements import dense, lexical
from haystack_integrations.document_stores.pincite.migrations import initialise
from haystack_integrations.document_stores.pincite.scopes import within
from haystack_integrations.document_stores.pincite.source_writer import SourceWriter
from haystack_integrations.document_stores.pincite.spans import SourceRecord, SpanRecord, span_id
from haystack_integrations.document_stores.pincite.statements import Statement
from haystack_integrations.document_stores.pincite.writer_session import writer_session
from pincite.audit.paths import STATEMENTS, STORE_PATHS, Target, reached, why_ids
from pincite.pipelines.loader import load_pipeline
from pincite.service import Service

CORPORA = ("crossing_law", "crossing_notes", "crossing_cases")
GROUP_SETS: tuple[tuple[str, ...], ...] = ((), ("ann",), ("bob",), ("ann", "bob"))
SOURCES = 24
AT_ONCE = 8
# Stock code opens a connection for each of our attempts, and a search is a dozen statements: both get fewer of them.
_SLOW_SHARE = 0.1
SEARCH, WHY = "search", "why"
# Share of the attempts that go through REST and MCP.
_DOOR_SHARE = 0.15
SCOPE_KEY = "practice_area"
SCOPES = ("red", "blue")
ALL, UNSCOPED = "all", "any"
_CANARY = re.compile(rf"canary([a-z]+)of([a-z]+)in({'|'.join((*SCOPES, UNSCOPED))})x\d+")
_HOSTILE = (
    "' OR '1'='1",
    "x'; RESET ROLE; SELECT * FROM pincite_crossing_notes.spans; --",
    '"; SET ROLE pincite_crossing_notes_writer; --',
    "RESET ROLE",
    "%(groups)s",
    "{*}",
    '"*"',
    "x,*",
    '\\"*',
    "*}'::text[]) OR true --",
    "pincite_crossing_notes.spans",
    "$$ RESET ALL $$",
)


_REFUSALS = (PinciteError, PipelineRuntimeError, DocumentStoreError, FilterError, psycopg.Error)
Scope = tuple[tuple[str, str], ...]


class Row(NamedTuple):
    """A stored span, and who may see it."""

    corpus: str
    groups: tuple[str, ...]
    target: Target


@dataclass
class World:
    """The corpora and everything in them."""

    database: Database
    stores: dict[str, CorpusDocumentStore]
    pipelines: dict[str, Pipeline]
    rows: list[Row]
    scoped: str
    doors: Doors

    def scope(self, corpus: str, rng: random.Random) -> Scope:
        """A scope that a request to this corpus could have, or tries to have."""
        if corpus != self.scoped:
            return ()
        return ((SCOPE_KEY, rng.choice([*SCOPES, "*", "", '"*"', rng.choice(_HOSTILE)])),)


@dataclass
class Outcome:
    """What came of the attempts, by path; ``foreign`` and ``blind`` say what went wrong, and should be empty."""

    attempts: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    foreign: list[str] = field(default_factory=list)
    blind: list[str] = field(default_factory=list)


def principals() -> dict[str, list[str]]:
    """Groups of everybody who has a name: those of the sources, and groups that try to be more."""
    honest = {ALL: ["*"], "ann": ["ann"], "bob": ["bob"], "both": ["ann", "bob"]}
    return honest | {f"hostile-{number}": [text] for number, text in enumerate(_HOSTILE)}


def build(database: Database, folder: Path, corpora: Iterable[str] = CORPORA) -> World:
    """
    Make the corpora anew and fill them: the same sources with the same texts, but for the canaries.

    The last one requires a scope. ``PINCITE_CONFIG`` has to name ``folder``, which gets the configuration.
    """
    names = tuple(corpora)
    required = {name: [SCOPE_KEY] if name == names[-1] else [] for name in names}
    configure(folder, required, principals())
    initialise(database, [CorpusDefinition(name, required_scopes=keys) for name, keys in required.items()])
    rows: list[Row] = []
    embedder = WordLlamaDocumentEmbedder()
    for corpus in names:
        writer = SourceWriter(database, corpus)
        records = [_record(corpus, number, rows, embedder, bool(required[corpus])) for number in range(SOURCES)]
        writer.write_sources(records, fingerprint=embedder.fingerprint)
        writer.refresh_statistics()
        with writer_session(database, corpus) as session:
            session.execute("UPDATE settings SET embedding_fingerprint = %s", [embedder.fingerprint])
    stores = {name: CorpusDocumentStore(name) for name in names}
    pipelines = {name: load_pipeline(name, "query") for name in names}
    for pipeline in pipelines.values():
        pipeline.warm_up()
    return World(database, stores, pipelines, rows, names[-1], Doors(Service(), principals()))


def _record(
    corpus: str, number: int, rows: list[Row], embedder: WordLlamaDocumentEmbedder, scoped: bool
) -> SourceRecord:
    groups = GROUP_SETS[number % len(GROUP_SETS)]
    area = SCOPES[number // len(GROUP_SETS) % len(SCOPES)]
    scope: Scope = ((SCOPE_KEY, area),) if scoped else ()
    text, spans, title = "", [], f"Lease of house {number}, {_canary(corpus, groups, scope, number)}"
    for part in range(2):
        piece = (
            f"The tenant of house {number} pays rent on day {part + 1} of each month without any demand, and says "
            f"{_canary(corpus, groups, scope, number * 10 + part)} at the door. "
        )
        vector = embedder.run([Document(content=piece)])["documents"][0].embedding
        start = len(text)
        text += piece
        spans.append(SpanRecord("chunk", part, start, len(text), piece, page=1, embedding=vector))
    source_id = f"leases/house-{number}.txt"
    for span in spans:
        identity = span_id(corpus, source_id, span.kind, span.number)
        target = Target(identity, source_id, title, span.text, list(span.embedding or []), embedder.fingerprint, scope)
        rows.append(Row(corpus, groups, target))
    return SourceRecord(
        source_id,
        title,
        text,
        "h",
        "text/plain",
        groups=list(groups),
        meta={"matter": "M1", SCOPE_KEY: area},
        spans=spans,
    )


def _canary(corpus: str, groups: tuple[str, ...], scope: Scope, number: int) -> str:
    within = dict(scope).get(SCOPE_KEY, UNSCOPED)
    return f"canary{corpus.replace('_', '')}of{'and'.join(groups) or ALL}in{within}x{number}"


def _may_see(groups: list[str] | None, row_groups: tuple[str, ...]) -> bool:
    return groups is not None and ("*" in groups or not row_groups or bool(set(groups) & set(row_groups)))


def foreign_canaries(found: object, corpus: str, groups: list[str] | None, scope: Scope = ()) -> list[str]:
    """Canaries in what a path gave that this principal may not see in this corpus and scope."""
    wrong = []
    for match in _CANARY.finditer(str(found)):
        owners = () if match[2] == ALL else tuple(match[2].split("and"))
        outside = match[3] != dict(scope).get(SCOPE_KEY, UNSCOPED)
        if match[1] != corpus.replace("_", "") or outside or not _may_see(groups, owners):
            wrong.append(match[0])
    return wrong


def foreign_ids(found: set[str], world: World, corpus: str, groups: list[str] | None, scope: Scope = ()) -> list[str]:
    """Ids in what a path gave that are none of this corpus and scope, or of a row that this principal may not see."""
    visible: set[str] = set()
    for row in world.rows:
        if row.corpus == corpus and row.target.scope == scope and _may_see(groups, row.groups):
            visible |= {row.target.span_id, row.target.source_id}
    return sorted(found - visible)


async def run(world: World, attempts: int, seed: int) -> Outcome:
    """Make the attempts, several at once, on the event loop and in threads."""
    outcome, limit = Outcome(), asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        async with limit:
            await _attempt(world, random.Random(seed * 1_000_003 + number), outcome)  # noqa: S311

    async with world.doors.open():
        for first in range(0, attempts, 500):
            await asyncio.gather(*(one(number) for number in range(first, min(first + 500, attempts))))
    return outcome


async def _attempt(world: World, rng: random.Random, outcome: Outcome) -> None:
    row = rng.choice(world.rows)
    corpus, groups, scope = _crossing(rng, row, world)
    store, target = world.stores[corpus], _forged(rng, row.target._replace(scope=scope), corpus)
    await _trouble(rng, store)
    path = _path(rng)
    concurrent = rng.random() < 0.5
    outcome.attempts[path] += 1
    try:
        if path in DOORS:
            token_of = rng.choice([None, None, *world.stores])
            filters = _widened(rng, row) if rng.random() < 0.3 else None
            found, ids = await world.doors.ask(path, corpus, target, groups, token_of=token_of, filters=filters)
        else:
            found, ids = await _ask(world, corpus, path, target, groups, concurrent)
    except _REFUSALS:
        outcome.refused[path] += 1
    else:
        wrong = [*foreign_canaries(found, corpus, groups, scope), *foreign_ids(ids, world, corpus, groups, scope)]
        outcome.foreign += [f"{path}: {one} was given to {groups} in {corpus} {scope}" for one in wrong]
    if rng.random() < 0.3:
        await _injected(rng, store, row, groups, scope, outcome, world)
    # The control: where the row is, as somebody who may see it.
    may = [*row.groups[:1]] if row.groups and rng.random() < 0.5 else ["*"]
    try:
        _, ids = await _ask(world, row.corpus, path, row.target, may, concurrent)
    except _REFUSALS as error:
        outcome.blind.append(f"{path}: {type(error).__name__} for {may}: {error}")
        return
    if not ids & {row.target.span_id, row.target.source_id}:
        outcome.blind.append(f"{path}: {row.target.span_id} was not found by {may}")


def _path(rng: random.Random) -> str:
    kind = rng.random()
    if kind < _DOOR_SHARE:
        return rng.choice(DOORS)
    return rng.choice([*STORE_PATHS, SEARCH, WHY] if kind < _DOOR_SHARE + _SLOW_SHARE else [*STATEMENTS])


def _crossing(rng: random.Random, row: Row, world: World) -> tuple[str, list[str] | None, Scope]:
    """Another corpus, or the row's own as somebody who may not see it, or in a scope that is not its own."""
    if row.target.scope and rng.random() < 0.4:
        forged = world.scope(row.corpus, rng)
        if forged != row.target.scope:
            return row.corpus, rng.choice([["*"], ["ann"], ["ann", "bob"]]), forged
    if row.groups and rng.random() < 0.4:
        hostile: list[str] = [rng.choice(_HOSTILE)]
        return row.corpus, rng.choice([None, [], ["nobody"], hostile, [*hostile, "nobody"]]), row.target.scope
    if rng.random() < 0.2:
        return row.corpus, None, row.target.scope
    other = rng.choice([name for name in world.stores if name != row.corpus])
    groups = rng.choice([None, ["*"], ["ann"], ["bob"], ["ann", "bob"], [rng.choice(_HOSTILE)]])
    return other, groups, world.scope(other, rng)


def _forged(rng: random.Random, target: Target, corpus: str) -> Target:
    """The target as it is, or with ids and texts that try to be more than values."""
    hostile = rng.choice(_HOSTILE)
    match rng.randrange(6):
        case 0:
            return target._replace(span_id=f"{corpus}:{target.source_id}#chunk-99{hostile}")
        case 1:
            return target._replace(source_id=f"{target.source_id}{hostile}")
        case 2:
            return target._replace(text=f"{hostile} {target.text}", title=f"{hostile} {target.title}")
        case 3:
            return target._replace(fingerprint=f"{target.fingerprint}{hostile}")
        case _:
            return target


async def _ask(
    world: World, corpus: str, path: str, target: Target, groups: list[str] | None, concurrent: bool
) -> tuple[object, set[str]]:
    """What a path gave: everything that its rows say, and the ids among it."""
    store, pipeline = world.stores[corpus], world.pipelines[corpus]
    if path in DOORS:
        return await world.doors.ask(path, corpus, target, groups)
    if path in STORE_PATHS:
        return None, await asyncio.to_thread(STORE_PATHS[path], store, target, groups)
    request = {"query": f"{target.title}: {target.text}", "groups": groups, "scope": dict(target.scope) or None}
    if path == WHY:
        return None, await asyncio.to_thread(why_ids, pipeline, request, target)
    if path == SEARCH:
        stages = set(pipeline.graph.nodes)
        if concurrent:
            outputs = await pipeline.run_async({"request": request}, include_outputs_from=stages, concurrency_limit=4)
        else:
            outputs = await asyncio.to_thread(pipeline.run, {"request": request}, include_outputs_from=stages)
        documents = [one for stage in outputs.values() for one in stage.get("documents", [])]
        matches = [match["source_id"] for match in outputs["title"]["matches"]]
        said = [(one.id, one.content, one.meta) for one in documents]
        return said, {*(one.id for one in documents), *matches}
    statement = STATEMENTS[path](target, "english")
    if concurrent:
        rows = await store.fetch_async(statement, groups=target.within(groups))
    else:
        rows = await asyncio.to_thread(lambda: store.fetch(statement, groups=target.within(groups)))
    return _said(rows), reached(rows)


def _said(rows: list[dict[str, Any]]) -> list[Mapping[str, Any]]:
    return [{key: value for key, value in row.items() if key != "embedding"} for row in rows]


async def _trouble(rng: random.Random, store: CorpusDocumentStore) -> None:
    """Leave a connection behind in a state: after an error, a timeout, a cancelled task, a refused setting."""
    match rng.randrange(12):
        case 0:
            await _fails(store, Statement("SELECT 1 / 0"))
        case 1:
            await _fails(store, Statement("SELECT pg_sleep(1)"), timeout_ms=1)
        case 2:
            task = asyncio.ensure_future(store.fetch_async(Statement("SELECT pg_sleep(0.05)"), groups=["*"]))
            await asyncio.sleep(0.002)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        case 3:
            await _fails(store, Statement("SELECT 1", {}, {rng.choice(["role", "pincite.groups"]): "x"}))
        case 4:
            await _fails(store, Statement("CREATE TABLE mine (x int)"))


async def _fails(store: CorpusDocumentStore, statement: Statement, *, timeout_ms: int | None = None) -> None:
    try:
        await store.fetch_async(statement, groups=["*"], timeout_ms=timeout_ms)
    except (PinciteError, psycopg.Error):
        return
    raise AssertionError(f"{statement.sql!r} was not refused")


def _widened(rng: random.Random, row: Row) -> dict[str, Any]:
    """A filter that tries to widen what is seen."""
    hostile = rng.choice(_HOSTILE)
    condition = rng.choice(
        [
            {"field": f"meta.matter{hostile}", "operator": "!=", "value": "x"},
            {"field": "meta.matter", "operator": "!=", "value": hostile},
            {"field": "meta.groups", "operator": "in", "value": ["ann", "bob", hostile]},
            {"field": f"meta.{SCOPE_KEY}", "operator": "in", "value": [*SCOPES, hostile]},
            {"field": hostile, "operator": "==", "value": "x"},
            {"field": "meta.source_id", "operator": "==", "value": row.target.source_id},
        ]
    )
    return {"operator": "OR", "conditions": [condition, {"field": "meta.x", "operator": "==", "value": None}]}


async def _injected(
    rng: random.Random,
    store: CorpusDocumentStore,
    row: Row,
    groups: list[str] | None,
    scope: Scope,
    outcome: Outcome,
    world: World,
) -> None:
    """Statements with such filters."""
    widened = _widened(rng, row)
    outcome.attempts["injected filter"] += 1
    try:
        statement = (
            dense(row.target.embedding, limit=20, ef_search=60, fingerprint=row.target.fingerprint, filters=widened)
            if rng.random() < 0.5
            else lexical(row.target.text, limit=20, rows=500, words=32, filters=widened)
        )
        rows = await store.fetch_async(statement, groups=within(groups, dict(scope)))
    except _REFUSALS:
        outcome.refused["injected filter"] += 1
        return
    wrong = [*foreign_canaries(_said(rows), store.corpus, groups, scope)]
    wrong += foreign_ids(reached(rows), world, store.corpus, groups, scope)
    outcome.foreign += [f"injected filter {widened}: {one} was given to {groups}" for one in wrong]


def main() -> int:
    attempts = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    database = Database.current()
    with tempfile.TemporaryDirectory(prefix="pincite-crossing-") as folder:
        os.environ["PINCITE_CONFIG"] = folder
        world = build(database, Path(folder))
        started = time.monotonic()
        outcome = asyncio.run(run(world, attempts, seed))
    print(f"{'path':<28} {'attempts':>9} {'refused':>8}")
    for path, count in sorted(outcome.attempts.items()):
        print(f"{path:<28} {count:>9,} {outcome.refused[path]:>8,}")
    total = sum(outcome.attempts.values())
    print(
        f"{total:,} attempts in {time.monotonic() - started:.0f} s (seed {seed}): {len(outcome.foreign)} foreign rows, "
        f"{len(outcome.blind)} controls of {attempts:,} that found nothing"
    )
    for line in [*outcome.foreign[:10], *outcome.blind[:10]]:
        print(f"  {line}")
    database.close()
    return 1 if outcome.foreign or outcome.blind else 0


if __name__ == "__main__":
    sys.exit(main())
