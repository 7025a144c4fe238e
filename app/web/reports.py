# SPDX-License-Identifier: Apache-2.0
"""Reports of ``pincite bench --out`` in one folder, as the page shows them."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypedDict

from haystack_integrations.document_stores.pincite.errors import BadInputError
from pincite.bench.comparison import compared, read_report
from pincite.bench.report import comparison_json
from pincite.tokens import Caller

_MOST_FILES = 200
_MOST_BYTES = 50 * 1024 * 1024


class ReportLine(TypedDict):
    """A report in the list. ``problem``: why it cannot be shown; nothing else of it is known then."""

    name: str
    corpus: str | None
    queries: str | None
    questions: int | None
    k: int | None
    backends: list[str]
    problem: str | None


class ShownReport(TypedDict):
    """
    A report: per backend its ``figures`` and ``measures``, and the difference to a baseline, if one was named or the
    measurement was made against one.
    """

    line: ReportLine
    version: str
    backends: dict[str, Any]
    comparison: dict[str, Any] | None
    baseline: str | None


class Reports:
    """
    The reports of a folder.

    :param folder: only files that are listed in it are ever read, whatever name is asked for; ``None`` for none.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._read: dict[tuple[str, int, int], dict[str, Any]] = {}

    def lines(self, caller: Caller) -> list[ReportLine]:
        """The reports of corpora that the caller may use, the newest first; files that are no reports are named."""
        lines = []
        for name, path in self._files().items():
            try:
                line = _line(name, self._report(path))
            except BadInputError as error:
                lines.append(_line(name, None, str(error).removeprefix(f"{path}: ")))
                continue
            if caller.may_use(str(line["corpus"])):
                lines.append(line)
        return lines

    def shown(self, caller: Caller, name: str, baseline: str | None = None) -> ShownReport:
        """
        One report.

        :param baseline: name of the report to compare with.
        :raises BadInputError: no such report for this caller, or the two do not measure the same.
        :raises ConfigurationError: comparing needs a package that is not installed.
        """
        report = self._of(caller, name)
        comparison = report.get("comparison")
        if baseline is not None:
            try:
                comparison = comparison_json(compared(self._of(caller, baseline), report))
            except (KeyError, TypeError, AttributeError) as error:  # somebody wrote in them
                raise BadInputError(f"reports {baseline!r:.80} and {name!r:.80} cannot be compared") from error
        backends = {
            backend: {key: found[key] for key in ("figures", "measures", "stages") if key in found}
            for backend, found in report["backends"].items()
        }
        return {
            "line": _line(name, report),
            "version": str(report.get("version", "")),
            "backends": backends,
            "comparison": comparison,
            "baseline": baseline,
        }

    def _of(self, caller: Caller, name: str) -> dict[str, Any]:
        path = self._files().get(name)
        if path is not None:
            report = self._report(path)
            if caller.may_use(str(report["corpus"])):
                return report
        raise BadInputError(f"no report {name!r:.200}")

    def _files(self) -> dict[str, Path]:
        if self.folder is None:
            return {}
        try:
            files = sorted(self._candidates(self.folder), reverse=True)
        except OSError as error:
            raise BadInputError(f"the folder of reports cannot be read: {error.strerror or error}") from error
        return {path.name: path for _, path in files[:_MOST_FILES]}

    @staticmethod
    def _candidates(folder: Path) -> Iterator[tuple[int, Path]]:
        for path in folder.iterdir():
            if path.suffix == ".json" and path.is_file():
                yield path.stat().st_mtime_ns, path

    def _report(self, path: Path) -> dict[str, Any]:
        """The report, read again only when its file has changed."""
        try:
            facts = path.stat()
        except OSError as error:
            raise BadInputError(f"{path}: cannot be read: {error.strerror or error}") from error
        if facts.st_size > _MOST_BYTES:
            raise BadInputError(f"{path}: has {facts.st_size:,} bytes; reports of up to {_MOST_BYTES:,} are shown")
        key = (path.name, facts.st_mtime_ns, facts.st_size)
        if key not in self._read:
            report = read_report(path)
            try:
                _line(path.name, report)
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                raise BadInputError(f"{path}: no report of `pincite bench --out`: it lacks something") from error
            self._read = {held: it for held, it in self._read.items() if held[0] != path.name} | {key: report}
        return self._read[key]


def _line(name: str, report: Mapping[str, Any] | None, problem: str | None = None) -> ReportLine:
    if report is None:
        return {
            "name": name,
            "corpus": None,
            "queries": None,
            "questions": None,
            "k": None,
            "backends": [],
            "problem": problem,
        }
    backends = report["backends"]
    return {
        "name": name,
        "corpus": str(report["corpus"]),
        "queries": str(report["queries"]["file"]),
        "questions": max((len(one["queries"]) for one in backends.values()), default=0),
        "k": int(report["k"]),
        "backends": list(backends),
        "problem": None,
    }
