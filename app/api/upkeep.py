# SPDX-License-Identifier: Apache-2.0
"""What a server does besides answering: it gives stale spans new vectors (S3)."""

import logging
import threading

import psycopg
from haystack_integrations.document_stores.pincite.errors import PinciteError
from pincite.pipelines.corpora import load_corpora
from pincite.reembed import refresh

_log = logging.getLogger("pincite.api")


class Upkeep:
    """
    Looks for stale spans from time to time, in a thread of its own.

    :param seconds: between two looks; 0 for none at all.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._ended = threading.Event()

    def start(self) -> None:
        """Begin. The thread holds up no exit: each batch is a transaction, and the next look does the rest."""
        if self.seconds:
            threading.Thread(target=self._run, name="pincite-upkeep", daemon=True).start()

    def end(self) -> None:
        """Look no more."""
        self._ended.set()

    def _run(self) -> None:
        while not self._ended.wait(self.seconds):
            # Whatever fails may be mended by the next look: a corpus not set up, a database away, a file half edited.
            try:
                corpora = list(load_corpora().corpora)
            except PinciteError as error:
                _log.warning("stale vectors are not looked for: %s", error)
                continue
            for corpus in corpora:
                if not self._ended.is_set():
                    _refresh(corpus)


def _refresh(corpus: str) -> None:
    try:
        report = refresh(corpus)
    except (PinciteError, psycopg.Error) as error:
        _log.warning("corpus '%s': stale spans stay as they are for now: %s", corpus, error)
        return
    if report.embedded:
        _log.info("corpus '%s': %d stale spans have new vectors", corpus, report.embedded)
