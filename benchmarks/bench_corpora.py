# SPDX-License-Identifier: Apache-2.0
"""
The measured collections: one corpus of Pincite for each, and the same spans in a stock Haystack table beside it.

Everything stands in one database, so that a comparison meets the same server, the same caches and the same vectors.
The corpora have their own ``PINCITE_HOME`` (``.pincite/benchmarks``, or the one that is set) and a configuration made
anew from the packaged one: corpus ``knowledge`` under the name of each collection.
"""

import argparse
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from haystack.utils import Secret
from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore
from haystack_integrations.document_stores.pincite.corpora import schema_name
from haystack_integrations.document_stores.pincite.database import Database
from pincite.scaffold import copy_configuration
from pincite.service import Service
from psycopg.sql import SQL, Identifier, Literal

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "bench"
PRINCIPAL = "local-owner"
EF_SEARCH = 100  # that of knowledge.yaml, for everyone
_COPIED = "knowledge"


@dataclass(frozen=True, slots=True)
class Span:
    """A stored span as the other systems get it: id, source, range in its text, text, and the row of its vector."""

    id: str
    source_id: str
    start: int
    end: int
    text: str


def add_data_option(parser: argparse.ArgumentParser) -> None:
    """``--data``: where the collections are."""
    parser.add_argument(
        "--data", type=Path, default=DATA, help="folder with cuad/ and contractnli/ (default: %(default)s)"
    )


@contextmanager
def benchmark_service(collections: Sequence[str]) -> Iterator[Service]:
    """A service whose corpora are the collections, with the configuration as packaged; nothing is ingested."""
    os.environ.setdefault("PINCITE_HOME", str(ROOT / ".pincite" / "benchmarks"))
    # A folder of its own for each process: two benchmarks may run side by side.
    with tempfile.TemporaryDirectory(prefix="pincite-benchmark-") as folder:
        _configure(Path(folder), collections)
        with Service(config=Path(folder)) as service:
            yield service


def ingest_collection(service: Service, data: Path, name: str) -> int:
    """Bring a collection's texts in, if they are not; the number of its sources that are in."""
    report = service.ingest(name, [data / name / "corpus"])
    if report.failed:
        raise SystemExit(f"{name}: {len(report.failed)} files did not go in, first: {report.failed[0].reason}")
    if report.spans:
        print(f"{name}: {report.spans:,} spans written in {report.seconds:.1f} s", flush=True)
    return report.added + report.updated + report.unchanged


def _configure(folder: Path, collections: Sequence[str]) -> None:
    copy_configuration(folder)
    settings = yaml.safe_load((folder / "corpora.yaml").read_text(encoding="utf-8"))
    for name in collections:
        entry = {**settings["corpora"][_COPIED], "description": f"Collection {name}", "tools": []}
        for kind in ("query_pipeline", "indexing_pipeline"):
            text = (folder / entry[kind]).read_text(encoding="utf-8")
            entry[kind] = entry[kind].replace(_COPIED, name)
            (folder / entry[kind]).write_text(text.replace(f"corpus: {_COPIED}", f"corpus: {name}"), encoding="utf-8")
        settings["corpora"][name] = entry
    (folder / "corpora.yaml").write_text(yaml.safe_dump(settings, allow_unicode=True), encoding="utf-8")


def stock_store(database: Database, corpus: str) -> PgvectorDocumentStore:
    """
    A stock store with the corpus's spans: same texts and vectors, with Haystack's own keyword and HNSW indexes.

    Ids are hashes of ours, since a stock id ends at 128 characters. Connected as the owner, whom no policy filters;
    rebuilt when the corpus has changed since.
    """
    table = f"stock_{corpus}"
    with database.admin() as connection:
        secret = Secret.from_token(connection.info.dsn)
        version = connection.execute(_version(corpus)).fetchone()
        built = connection.execute(
            "SELECT obj_description(to_regclass(%s), 'pg_class')", [f"public.{table}"]
        ).fetchone()
        if built != version:
            connection.execute(SQL("DROP TABLE IF EXISTS public.{}").format(Identifier(table)))
            # Filled before the vector index is there: the store makes it at its next opening.
            _opened(_store(secret, table, "exact_nearest_neighbor"))
            connection.execute(_filling(corpus, table))
            _opened(_store(secret, table, "hnsw"))
            connection.execute(SQL("VACUUM ANALYZE public.{}").format(Identifier(table)))
            mark = Literal(version[0] if version else "")
            connection.execute(SQL("COMMENT ON TABLE public.{} IS {}").format(Identifier(table), mark))
    return _store(secret, table, "hnsw")


def _store(secret: Secret, table: str, strategy: Any) -> PgvectorDocumentStore:
    return PgvectorDocumentStore(
        connection_string=secret,
        create_extension=False,
        table_name=table,
        embedding_dimension=256,
        search_strategy=strategy,
        hnsw_index_name=f"{table}_hnsw",
        hnsw_ef_search=EF_SEARCH,
        keyword_index_name=f"{table}_keyword",
    )


def _opened(store: PgvectorDocumentStore) -> None:
    store.count_documents()
    store.close()


def _version(corpus: str) -> Any:
    return SQL("SELECT 'version ' || version || ', spans ' || spans FROM {}.corpus_stats").format(
        Identifier(schema_name(corpus))
    )


def _filling(corpus: str, table: str) -> Any:
    return SQL(
        "INSERT INTO public.{} (id, embedding, content, meta) SELECT md5(id), embedding, content,"
        " jsonb_build_object('source_id', source_id, 'start', start_offset, 'end', end_offset)"
        " FROM {}.spans WHERE searchable ORDER BY source_id, number"
    ).format(Identifier(table), Identifier(schema_name(corpus)))


def spans(database: Database, corpus: str) -> list[Span]:
    """The searchable spans of a corpus, in the order of their sources."""
    query = SQL(
        "SELECT id, source_id, start_offset, end_offset, content FROM {}.spans WHERE searchable"
        " ORDER BY source_id, number"
    ).format(Identifier(schema_name(corpus)))
    with database.admin() as connection:
        return [Span(*row) for row in connection.execute(query).fetchall()]
