# SPDX-License-Identifier: Apache-2.0
"""A database for the tests: the real embedded server, in a home of its own whose path holds a blank."""

import os
import shutil
import signal
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # before any import of Haystack: it reports usage otherwise

from haystack_integrations.document_stores.pincite.corpora import (
    CorpusDefinition,
    reader_role,
    schema_name,
    writer_role,
)
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.migrations import initialise
from hypothesis import HealthCheck, settings
from psycopg.sql import SQL, Identifier

# A slow machine is no failure: no test has a limit of time.
settings.register_profile("pincite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("pincite")

_REPOSITORY = Path(__file__).resolve().parents[1]


# Commands take over from us which signals are ignored: hang-ups below nohup, interrupts in the background of a script.
for _number, _handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _handler)


def open_folder(prefix: str) -> Path:
    """A new temporary folder that other accounts may enter: as root, the server runs under one of them."""
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    folder.chmod(0o755)
    return folder


@pytest.fixture(scope="session", autouse=True)
def home() -> Iterator[Path]:
    """``PINCITE_HOME`` of the test session; no test touches the user's own. Its server stops at the end."""
    folder = open_folder("pincite tests ")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PINCITE_HOME", str(folder))
        for name in ("PINCITE_DATABASE_URL", "PINCITE_CONFIG"):
            patch.delenv(name, raising=False)
        yield folder
        Database.for_url(None).close()
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def database(home: Path) -> Database:
    """The embedded database of the session, without corpora."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PINCITE_HOME", str(home))  # a module with a home of its own may be the first to ask
        database = Database.for_url(None)
        initialise(database)
    return database


@pytest.fixture
def make_corpus(database: Database) -> Iterator[Callable[..., str]]:
    """Make initialised corpora of this test, ``make_corpus(name=None, **definition)``; they are dropped after it."""
    made: list[str] = []

    def make(name: str | None = None, **definition: object) -> str:
        name = name or f"test_{uuid.uuid4().hex[:12]}"
        made.append(name)
        initialise(database, [CorpusDefinition(name, **definition)])  # type: ignore[arg-type]
        return name

    yield make
    for name in made:
        drop_corpus(database, name)


@pytest.fixture
def corpus_store(make_corpus: Callable[..., str]) -> Iterator[CorpusDocumentStore]:
    """A store on a fresh corpus (256 dimensions, English), whose stock methods see all groups."""
    store = CorpusDocumentStore(make_corpus(), groups=["*"])
    yield store
    store.close()


@pytest.fixture(scope="module")
def own_home(home: Path) -> Iterator[Database]:
    """
    A home and database of this module alone, for tests that fill or empty a packaged corpus.

    The home of the session is in force again after it.
    """
    folder = open_folder("pincite own home ")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PINCITE_HOME", str(folder))
        database = Database.for_url(None)
        initialise(database)
        yield database
        database.close()
    shutil.rmtree(folder)


@pytest.fixture
def knowledge(own_home: Database) -> Iterator[Database]:
    """The packaged corpus, empty, in :func:`own_home`."""
    initialise(own_home, [CorpusDefinition("knowledge")])
    yield own_home
    drop_corpus(own_home, "knowledge")


@pytest.fixture(scope="session")
def shared() -> Path:
    """
    The folder with the collections to measure on, beside the repository.

    A checkout elsewhere goes without those tests; continuous integration (``CI`` is set) must not pass that way.
    """
    folder = _REPOSITORY.parent / "shared"
    if not folder.is_dir():
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"the shared collections are not there: {folder}")
    return folder


def drop_corpus(database: Database, name: str) -> None:
    """Remove a corpus with its roles."""
    with database.admin() as connection:
        connection.execute(SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(Identifier(schema_name(name))))
        connection.execute("DELETE FROM pincite.corpora WHERE name = %s", [name])
        connection.execute("DELETE FROM pincite.migrations WHERE scope = %s", [name])
        for role in (reader_role(name), writer_role(name)):
            connection.execute(SQL("DROP ROLE IF EXISTS {}").format(Identifier(role)))
