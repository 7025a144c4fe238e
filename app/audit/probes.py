# SPDX-License-Identifier: Apache-2.0
"""Tries to cross from each corpus into the others, and past groups and roles, on every path (C2)."""

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import Any, NamedTuple

import psycopg
from haystack.core.errors import PipelineRuntimeError
from haystack_integrations.document_stores.pincite.corpora import reader_role, schema_name
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.errors import BadInputError, IsolationError, PinciteError
from haystack_integrations.document_stores.pincite.execution import ALL_GROUPS
from haystack_integrations.document_stores.pincite.statements import Statement
from haystack_integrations.document_stores.pincite.writer_session import writer_session
from pincite.audit.answer import Check
from pincite.audit.paths import (
    STATEMENTS,
    STOCK_PATHS,
    STORE_PATHS,
    Target,
    pipeline_ids,
    reached,
    stock_ids,
    stock_store,
    why_ids,
)
from pincite.pipelines.corpora import CorpusSettings
from pincite.pipelines.loader import load_pipeline
from psycopg.sql import SQL, Identifier
from psycopg.types.json import Jsonb

NOBODY = "pincite-audit-nobody"
_TARGETS = 2
_MEND = "tell nobody the content of this corpus until it is mended; docs/isolation.md says what guards this path"
_PICK = """
SELECT s.id, s.source_id, d.title, s.content, s.embedding::text, s.embedding_fingerprint,
    ARRAY(SELECT d.meta ->> key FROM unnest(%(keys)s::text[]) WITH ORDINALITY AS k (key, place) ORDER BY place)
FROM spans AS s JOIN sources AS d USING (source_id)
WHERE s.searchable AND s.embedding IS NOT NULL AND s.content IS NOT NULL
  AND NOT EXISTS (SELECT FROM unnest(%(keys)s::text[]) AS key WHERE coalesce(d.meta ->> key, '') = '')
ORDER BY md5(s.id) LIMIT %(targets)s
"""
_VISIBLE = """
WITH theirs AS (
    SELECT d.source_id, d.searchable FROM sources AS d
    WHERE d.status = 'active' AND (%(all)s OR d.groups = '{}' OR d.groups && %(groups)s::text[])
      AND NOT EXISTS (
          SELECT FROM jsonb_each_text(%(scope)s) AS asked WHERE d.meta ->> asked.key IS DISTINCT FROM asked.value
      )
)
SELECT s.id FROM spans AS s JOIN theirs USING (source_id) WHERE s.id = ANY (%(ids)s) AND s.searchable
UNION
SELECT source_id FROM theirs WHERE source_id = ANY (%(ids)s) AND searchable
"""
_GROUPS = "SELECT DISTINCT unnest(groups) FROM sources WHERE searchable ORDER BY 1 LIMIT 3"

Path = Callable[[Target, list[str] | None], set[str]]


class Corpus(NamedTuple):
    """A corpus under audit: its settings, its store, and a few of its rows."""

    settings: CorpusSettings
    store: CorpusDocumentStore
    targets: list[Target]


def opened(database: Database, settings: CorpusSettings) -> Corpus:
    """The corpus with the rows that attempts will be made for."""
    keys = list(settings.required_scopes)
    with writer_session(database, settings.name, read_only=True) as connection:
        rows = connection.execute(_PICK, {"keys": keys, "targets": _TARGETS}).fetchall()
    targets = [
        Target(row[0], row[1], row[2], row[3], _vector(row[4]), row[5], tuple(zip(keys, row[6], strict=True)))
        for row in rows
    ]
    store = CorpusDocumentStore(
        settings.name,
        # While the embedder changes, the configuration may name vectors of another length.
        embedding_dimension=len(targets[0].embedding) if targets else settings.embedding_dimension,
        text_search=settings.text_search_config,
    )
    return Corpus(settings, store, targets)


def _vector(text: str) -> list[float]:
    return [float(part) for part in text.strip("[]").split(",")]


def leak_check(database: Database, corpus: Corpus, others: list[Corpus]) -> Check:
    """
    Every path of a corpus, asked for rows of the other corpora, by nobody, by a group that is nobody's, and within a
    scope that is no row's.

    Each path first has to find rows of its own: one that finds nothing proves nothing.
    """
    check = Check("leaks", corpus.settings.name)
    judge = _Judge(check, database, corpus, _other_corpora(database, corpus.settings.name))
    _forgetful(judge)
    strangers = [None, [NOBODY], *([group] for group in _group_names(database, corpus))]
    with closing(_StockStores(corpus.store)) as stock:
        for name, path in _paths(corpus, stock):
            _control(check, name, path, corpus)
            for target in [target for other in others for target in _fitting(other, corpus)]:
                judge.attempt(name, path, target, [ALL_GROUPS])
            for target in corpus.targets:
                for groups in strangers:
                    judge.attempt(name, path, target, groups)
                if target.scope:
                    judge.attempt(name, path, target._replace(scope=_nowhere(corpus)), [ALL_GROUPS])
    _without_scope(check, corpus)
    return check


def _fitting(other: Corpus, corpus: Corpus) -> list[Target]:
    """
    A row of another corpus, asked for in a scope of ours.

    A vector of another length would only be refused, so it gets the length of ours.
    """
    length = corpus.store.embedding_dimension
    scope = corpus.targets[0].scope if corpus.targets else _nowhere(corpus)
    return [
        target._replace(embedding=(target.embedding * length)[:length], scope=scope) for target in other.targets[:1]
    ]


def _nowhere(corpus: Corpus) -> tuple[tuple[str, str], ...]:
    """The required scopes with values that no row has."""
    return tuple((key, NOBODY) for key in corpus.settings.required_scopes)


class _StockStores:
    """A stock store for each who asks, kept open: connecting takes longer than asking."""

    def __init__(self, store: CorpusDocumentStore) -> None:
        self._store = store
        self._open: dict[str, CorpusDocumentStore] = {}

    def of(self, target: Target, groups: list[str] | None) -> CorpusDocumentStore:
        """That of these groups in the scope of the target."""
        key = repr((groups, target.scope))
        if key not in self._open:
            self._open[key] = stock_store(self._store, groups, dict(target.scope))
        return self._open[key]

    def close(self) -> None:
        """Close the connections."""
        for store in self._open.values():
            store.close()


def _paths(corpus: Corpus, stock: _StockStores) -> Iterator[tuple[str, Path]]:
    store, text_search = corpus.store, corpus.settings.text_search_config
    for name, build in STATEMENTS.items():
        yield (
            name,
            lambda target, groups, build=build: reached(  # type: ignore[misc]
                store.fetch(build(target, text_search), groups=target.within(groups))
            ),
        )
    for name, path in STORE_PATHS.items():
        if name in STOCK_PATHS:
            yield name, lambda target, groups, name=name: stock_ids(name, stock.of(target, groups), target)  # type: ignore[misc]
        else:
            yield name, lambda target, groups, path=path: path(store, target, groups)  # type: ignore[misc]
    if corpus.targets or not corpus.settings.required_scopes:  # else there is no scope that a search could give
        pipeline = load_pipeline(corpus.settings.name, "query")
        pipeline.warm_up()
        yield "search", lambda target, groups: pipeline_ids(pipeline, _request(target, groups))
        yield "why", lambda target, groups: why_ids(pipeline, _request(target, groups), target)


def _request(target: Target, groups: list[str] | None) -> dict[str, Any]:
    # The title asks for the source by name, the text for the passage.
    query = f"{target.title}: {target.text[:300]}"
    return {"query": query, "groups": groups, "scope": dict(target.scope) or None}


def _group_names(database: Database, corpus: Corpus) -> list[str]:
    with writer_session(database, corpus.settings.name, read_only=True) as connection:
        return [str(row[0]) for row in connection.execute(_GROUPS).fetchall()]


def _control(check: Check, name: str, path: Path, corpus: Corpus) -> None:
    found: set[str] = set()
    for target in corpus.targets:
        with suppress(PinciteError, PipelineRuntimeError, psycopg.Error):  # the attempts that follow say so
            found |= path(target, [ALL_GROUPS])
    check.looked_at += len(corpus.targets)
    if corpus.targets and not found:
        check.fail(f"path '{name}'", "it does not even find rows of its own, so it proves nothing", _MEND)


class _Judge(NamedTuple):
    """Says of what a path gave whether it was theirs who asked; ``others`` are the other corpora of the database."""

    check: Check
    database: Database
    corpus: Corpus
    others: list[str]

    def attempt(self, name: str, path: Path, target: Target, groups: list[str] | None) -> None:
        """Ask a path for a row, and tell what it should not have given."""
        self.check.looked_at += 1
        try:
            found = path(target, groups)
            foreign = found - self._visible(found, target, groups)
        except (PinciteError, PipelineRuntimeError, psycopg.Error) as error:
            cause = error.__cause__ if isinstance(error, PipelineRuntimeError) else error
            self.check.fail(f"path '{name}'", f"it failed: {str(cause).splitlines()[0]:.200}", _MEND)
            return
        if foreign:
            asked = "nobody" if groups is None else f"groups {groups}"
            reason = f"it gave {len(foreign)} rows to {asked} that are not theirs ({', '.join(sorted(foreign))[:200]})"
            self.check.fail(f"path '{name}'", reason, _MEND)

    def _visible(self, ids: set[str], target: Target, groups: list[str] | None) -> set[str]:
        if groups is None or not ids:
            return set()
        scope = Jsonb(dict(target.scope))
        values = {"ids": sorted(ids), "groups": groups, "all": ALL_GROUPS in groups, "scope": scope}
        with writer_session(self.database, self.corpus.settings.name, read_only=True) as connection:
            rows = [str(row[0]) for row in connection.execute(_VISIBLE, values).fetchall()]
        # The tables themselves may be what leaks: an id that names another corpus is never one of ours.
        others = tuple(f"{other}:" for other in self.others)
        return {row for row in rows if not row.startswith(others)}


def _forgetful(judge: _Judge) -> None:
    """Queries that forget their corpus, role, principal or scope: each must be refused by PostgreSQL."""
    check, database, name = judge.check, judge.database, judge.corpus.settings.name
    table = SQL("SELECT id FROM {}.spans").format(Identifier(schema_name(name)))
    mine = Statement(SQL("SELECT id FROM {}.spans").format(Identifier(schema_name(name))))
    for other in judge.others:
        check.looked_at += 1
        foreign = CorpusDocumentStore(other)
        with suppress(IsolationError):
            foreign.fetch(mine, groups=[ALL_GROUPS])
            check.fail(f"role {reader_role(other)}", f"it may read corpus {name}", _MEND)
    forgetful: list[tuple[str, dict[str, str], Any]] = [
        ("a query that forgets its corpus", {}, SQL("SELECT id FROM spans")),
        ("a query that forgets its role", {}, table),
        ("a query that forgets who asks", {"role": reader_role(name)}, table),
    ]
    if judge.corpus.settings.required_scopes and judge.corpus.targets:  # rows that could be reached
        asks = {"pincite.groups": "{*}", "role": reader_role(name)}
        forgetful.append(("a query that forgets its scope", asks, table))
    for subject, settings, query in forgetful:
        check.looked_at += 1
        if not _refused(database, settings, query):
            check.fail(subject, "it is not refused", _MEND)


def _other_corpora(database: Database, corpus: str) -> list[str]:
    with database.admin() as connection:
        rows = connection.execute("SELECT name FROM pincite.corpora WHERE name <> %s ORDER BY 1", [corpus]).fetchall()
    return [str(row[0]) for row in rows]


def _refused(database: Database, settings: dict[str, str], query: Any) -> bool:
    try:
        with database.sync_pool().connection() as connection, connection.transaction(force_rollback=True):
            for key, value in settings.items():
                connection.execute("SELECT set_config(%s, %s, true)", [key, value])
            connection.execute(query)
    except psycopg.Error:
        return True
    return False


def _without_scope(check: Check, corpus: Corpus) -> None:
    """A search that leaves out a required scope is refused (C3)."""
    if not corpus.settings.required_scopes:
        return
    check.looked_at += 1
    pipeline = load_pipeline(corpus.settings.name, "query")
    pipeline.warm_up()
    try:
        pipeline.run({"request": {"query": "rent", "groups": [ALL_GROUPS]}})
    except PipelineRuntimeError as error:
        if isinstance(error.__cause__, BadInputError):
            return
        raise
    check.fail("search", f"it is not refused without {', '.join(corpus.settings.required_scopes)}", _MEND)
