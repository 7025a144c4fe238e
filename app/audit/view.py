# SPDX-License-Identifier: Apache-2.0
"""An audit as people like to read it: a line for each check, and below it what was found."""

from collections.abc import Iterable

from pincite.audit.answer import FAILED, NOTICE, OK, AuditAnswer, CheckAnswer
from pincite.plain_text import plain
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

_STYLES = {OK: "green", NOTICE: "yellow", FAILED: "bold red"}
_SHOWN = 10


def audit_view(answer: AuditAnswer) -> Group:
    """
    The whole audit.

    :param answer: of :func:`pincite.audit.run.audit`.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("check", "corpus", "state", "looked at", "found"):
        table.add_column(name, justify="right" if name in ("looked at", "found") else "left", no_wrap=True)
    for check in answer["checks"]:
        found = check["failures"] + check["notices"]
        state = Text(check["status"], style=_STYLES.get(check["status"], "dim"))
        table.add_row(
            check["check"], check["corpus"] or "-", state, f"{check['looked_at']:,}", f"{found:,}" if found else ""
        )
    failed = sum(check["status"] == FAILED for check in answer["checks"])
    verdict = Text("passed", style="green") if answer["passed"] else Text(f"{failed} checks failed", style="bold red")
    parts: list[RenderableType] = [table, *_found(answer["checks"]), Text()]
    return Group(*parts, Text.assemble(verdict, f" in {answer['seconds']:.1f} s"))


def _found(checks: Iterable[CheckAnswer]) -> Iterable[Text]:
    for check in checks:
        if not check["findings"] and not check["note"]:
            continue
        yield Text()
        where = f" of {check['corpus']}" if check["corpus"] else ""
        yield Text(f"{check['check']}{where}", style="bold")
        if check["note"]:
            yield Text(f"  {plain(check['note'])}", style="dim")
        for finding in check["findings"][:_SHOWN]:
            style = "yellow" if finding["notice"] else "red"
            yield Text.assemble(("  ", ""), (plain(finding["subject"]), style), f": {plain(finding['reason'])}")
            yield Text(f"      {plain(finding['mend'])}", style="dim")
        more = check["failures"] + check["notices"] - min(len(check["findings"]), _SHOWN)
        if more:
            yield Text(f"  and {more:,} more; --json lists the first 100", style="dim")
