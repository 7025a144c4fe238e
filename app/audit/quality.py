# SPDX-License-Identifier: Apache-2.0
"""The floors of a corpus's own questions, so that a nightly run watches quality too (E4)."""

from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.resources import config_dir
from haystack_integrations.document_stores.pincite.writer_session import writer_session
from pincite.audit.answer import Check

if TYPE_CHECKING:
    from pincite.bench.gates import GateSet
    from pincite.service import Service

_PREFIXES = "SELECT DISTINCT coalesce(meta ->> '_prefix', '') FROM sources ORDER BY 1"


def quality_check(service: "Service", corpus: str, principal: str | None) -> Check:
    """
    Run the question sets of ``gates.yaml`` that belong to a corpus and whose documents it holds.

    :param principal: who asks, by a name of the configuration.
    """
    from pincite.bench.gates import load_gates, run_set  # noqa: PLC0415 - imports the service, which imports this

    check, gates = Check("quality", corpus), load_gates()
    notes = []
    for name, gate in gates.sets.items():
        if gate.corpus != corpus:
            continue
        file = question_file(gate)
        if file is None:
            notes.append(f"set '{name}': its questions ({gate.queries}) are not here")
            continue
        fits, as_name = _fitting(service, corpus, file)
        if not fits:
            notes.append(f"set '{name}': the corpus does not hold its documents")
            continue
        for row in run_set(service, name, gate, file, principal=principal, as_name=as_name):
            check.looked_at += row["queries"]
            if not row["passed"]:
                reason = f"{row['metric']} is {row['value']:.3f}, its floor {row['floor']:.3f}"
                mend = f"pincite bench {corpus} --queries {file} --gates"
                check.fail(f"set {name}, family {row['family']}", reason, mend)
    check.note = "; ".join(notes)
    return check if check.looked_at else check.skip(check.note or "gates.yaml has no question set for it")


def question_file(gate: "GateSet") -> Path | None:
    """The file of a question set, below the user's configuration or in the package; ``None`` if it is in neither."""
    folder = config_dir()
    packaged = resources.files("pincite") / gate.queries
    candidates = [*([folder / gate.queries] if folder else []), *([packaged] if isinstance(packaged, Path) else [])]
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _fitting(service: "Service", corpus: str, file: Path) -> tuple[bool, str | None]:
    """Whether the corpus holds the documents of all labels, and below which name of ``--as``."""
    from pincite.bench.corpus_facts import sources_present  # noqa: PLC0415 - as above
    from pincite.bench.families import families_of  # noqa: PLC0415

    store = CorpusDocumentStore(corpus)
    for as_name in _names(service, corpus):
        families = families_of(file, as_name=as_name)
        wanted = {label.doc for family in families.values() for query in family for label in query.labels}
        if wanted and sources_present(store, wanted) == wanted:
            return True, as_name
    return False, None


def _names(service: "Service", corpus: str) -> Iterable[str | None]:
    with writer_session(service.database, corpus, read_only=True) as connection:
        prefixes = [str(row[0]) for row in connection.execute(_PREFIXES).fetchall()]
    return [prefix.rstrip("/") or None for prefix in prefixes]
