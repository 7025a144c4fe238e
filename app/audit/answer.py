# SPDX-License-Identifier: Apache-2.0
"""What an audit says: checks, each with what it looked at and what it found."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypedDict

OK, NOTICE, FAILED, SKIPPED = "ok", "notice", "failed", "skipped"
_SHOWN = 100


class Finding(TypedDict):
    """
    One thing that is not as it should be.

    ``subject`` names it, ``reason`` says what is wrong, ``mend`` what to do about it. A ``notice`` is known and allowed
    (a draft, a heading too short to be found) and fails no audit.
    """

    subject: str
    reason: str
    mend: str
    notice: bool


class CheckAnswer(TypedDict):
    """
    A check of one corpus, or of the database (``corpus`` is ``None``).

    ``status``: ``ok``, ``notice``, ``failed``, or ``skipped`` with the reason in ``note``. ``looked_at`` counts what
    was examined. ``failures`` and ``notices`` count findings, of which the first are in ``findings``.
    """

    check: str
    corpus: str | None
    status: str
    looked_at: int
    failures: int
    notices: int
    findings: list[Finding]
    note: str


class AuditAnswer(TypedDict):
    """``passed`` is false when any check failed."""

    passed: bool
    checks: list[CheckAnswer]
    seconds: float


@dataclass(slots=True)
class Check:
    """Collects what one check finds."""

    name: str
    corpus: str | None = None
    looked_at: int = 0
    findings: list[Finding] = field(default_factory=list)
    note: str = ""
    skipped: bool = False

    def fail(self, subject: str, reason: str, mend: str) -> None:
        """Something is wrong."""
        self.findings.append({"subject": subject, "reason": reason, "mend": mend, "notice": False})

    def notice(self, subject: str, reason: str, mend: str) -> None:
        """Something is worth knowing."""
        self.findings.append({"subject": subject, "reason": reason, "mend": mend, "notice": True})

    def skip(self, reason: str) -> "Check":
        """It cannot be looked at."""
        self.skipped, self.note = True, reason
        return self

    def answer(self) -> CheckAnswer:
        """As it is reported; failures first."""
        failures = [finding for finding in self.findings if not finding["notice"]]
        notices = [finding for finding in self.findings if finding["notice"]]
        status = FAILED if failures else SKIPPED if self.skipped else NOTICE if notices else OK
        return {
            "check": self.name,
            "corpus": self.corpus,
            "status": status,
            "looked_at": self.looked_at,
            "failures": len(failures),
            "notices": len(notices),
            "findings": [*failures, *notices][:_SHOWN],
            "note": self.note,
        }


def audit_answer(checks: Iterable[Check], seconds: float) -> AuditAnswer:
    """The whole audit."""
    answers = [check.answer() for check in checks]
    passed = all(answer["status"] != FAILED for answer in answers)
    return {"passed": passed, "checks": answers, "seconds": round(seconds, 3)}
