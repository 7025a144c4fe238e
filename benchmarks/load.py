# SPDX-License-Identifier: Apache-2.0
"""
Load on ``pincite serve``: 64 clients with mixed corpora and principals, and whether answers stay right.

``python benchmarks/load.py`` sets up a home of its own (``load_scene.py``), asks each question once with each token
while nothing else is asked, and keeps the answers. Many clients warm everything up. Then a few ask, then many, then the
few again; each client asks, waits for the answer, and asks something else. A client that gets 429 waits as long as it
is told. The bars:

- every answer is the one from before the load but for its times, and no canary is ever seen by another group;
- no other status than 200, 429 and 504, no lost connection, no stage that gave less than it should;
- many clients get at least 80 % of the answered searches a second that few get, and at most a third is refused;
- memory of the server is flat over the last four fifths (``load_memory.py`` says what flat means).

On a machine that does other work too, compare the processor time of a search: it is what many clients can cost more.

Exit status 1: a bar was missed. Linux only, since memory is read from ``/proc``.
"""

import argparse
import asyncio
import hashlib
import itertools
import json
import os
import random
import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

import httpx
from load_memory import MOST_BYTES_A_SEARCH, Reading, Watched, trend
from load_scene import GROUPS, PRINCIPALS, Question, Scene, corpora_of, scene

DECLARED = {200, 429, 504}
KEPT_THROUGHPUT = 0.8  # of what few clients get
MOST_REFUSED = 1 / 3
STANDSTILL_SECONDS = 3.0  # between two readings that should be one apart
WARM_UP_SECONDS = 15.0  # between two looks at whether it was enough
EXAMPLES = 5  # of wrong answers that are printed
Wanted = dict[Question, str]


@dataclass
class Run:
    """What came of one number of clients."""

    clients: int
    seconds: float
    statuses: Counter[int] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)
    memory: list[Reading] = field(default_factory=list)
    processor_seconds: float = 0.0

    @property
    def answered(self) -> float:
        """Answered searches a second."""
        return self.statuses[200] / self.seconds

    @property
    def refused(self) -> float:
        """Share of the requests that were told to come again."""
        return self.statuses[429] / max(1, self.statuses.total())

    @property
    def standstill(self) -> float:
        """Seconds in which the machine let not even a reading of memory happen: then times say nothing of us."""
        gaps = (after.at - before.at for before, after in itertools.pairwise(self.memory))
        return sum(gap for gap in gaps if gap > STANDSTILL_SECONDS)

    def settled(self) -> list[Reading]:
        """Readings of the last four fifths: the first fifth fills caches."""
        return [it for it in self.memory if it.at >= self.memory[0].at + self.seconds / 5]

    def figures(self) -> dict[str, Any]:
        """As printed."""
        ordered = sorted(self.latencies) or [0.0]
        return {
            "clients": self.clients,
            "seconds": self.seconds,
            "answered_per_second": round(self.answered, 2),
            "refused_share": round(self.refused, 4),
            "processor_ms_a_search": round(self.processor_seconds * 1000 / max(1, self.statuses[200]), 2),
            "median_ms": round(statistics.median(ordered) * 1000, 1),
            "p95_ms": round(ordered[int(len(ordered) * 0.95)] * 1000, 1),
            "statuses": dict(self.statuses),
            "errors": dict(self.errors),
            "wrong": len(self.wrong),
            "machine_stood_still_seconds": round(self.standstill, 1),
        }


def memory_figures(run: Run) -> dict[str, Any]:
    """Memory of a long run, of the server and of the database's processes together."""
    kept = run.settled()
    if not kept:
        return {}
    found: dict[str, Any] = {"processes_of_the_database": [kept[0].processes, kept[-1].processes]}
    for name, sizes in (("server", [it.server for it in kept]), ("database", [it.backends for it in kept])):
        line = trend([(it.at, size) for it, size in zip(kept, sizes, strict=True)])
        bytes_a_search = 1024 / max(run.answered * 60, 1e-9)
        found[name] = {
            "mib": [round(sizes[0] / 1024, 1), round(sizes[-1] / 1024, 1)],
            "kib_per_minute": round(line.slope, 1),
            "bytes_a_search": round(line.slope * bytes_a_search, 1),
            "bytes_a_search_at_most": round(line.upper * bytes_a_search, 1),
        }
    return found


def digest(response: httpx.Response) -> str:
    """An answer but for its times: ids, order, scores, texts, notes."""
    answer = response.json()
    del answer["timings_ms"]
    return hashlib.sha256(json.dumps(answer, sort_keys=True).encode()).hexdigest()


def faults(question: Question, response: httpx.Response, wanted: str | None) -> list[str]:
    """What is wrong with an answer. ``wanted``: its digest; ``None`` where it owns up to having less."""
    found = []
    if any(mark in response.text for mark in question.asker.foreign):
        found.append(f"a canary of others was seen: {question}")
    if wanted is not None and digest(response) != wanted:
        found.append(f"another answer than without load: {question}")
    return found


async def one_client(run: Run, client: httpx.AsyncClient, wanted: Wanted, seed: int, until: float) -> None:
    """Ask, wait for the answer, ask again."""
    choose = random.Random(seed)  # noqa: S311 - which question comes next is no secret
    questions = list(wanted)
    while time.monotonic() < until:
        question, started = choose.choice(questions), time.monotonic()
        try:
            response = await client.post(**question.request())
        except httpx.HTTPError as error:
            run.errors[type(error).__name__] += 1
            continue
        run.statuses[response.status_code] += 1
        if response.status_code == 200:
            run.latencies.append(time.monotonic() - started)
            notes = [f"degraded: {note['stage']}" for note in response.json()["degraded"]]
            run.errors.update(notes)
            run.wrong += faults(question, response, None if notes else wanted[question])
        elif response.status_code == 429:
            told = float(response.headers["Retry-After"])
            await asyncio.sleep(min(told, max(0.0, until - time.monotonic())))


async def watch_memory(run: Run, watched: Watched, until: float) -> None:
    """Write memory down once a second."""
    while time.monotonic() < until:
        run.memory.append(watched.read())
        await asyncio.sleep(1)


async def load(there: Scene, clients: int, seconds: float, wanted: Wanted, timeout: float) -> Run:
    """One number of clients for so many seconds; answers that come later are checked and not counted."""
    run, until, used = Run(clients, seconds), time.monotonic() + seconds, there.watched.processor_seconds()
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(base_url=there.address, timeout=timeout, limits=limits) as client:
        await asyncio.gather(
            watch_memory(run, there.watched, until),
            *(one_client(run, client, wanted, seed, until) for seed in range(clients)),
        )
    run.seconds = max(seconds, time.monotonic() - until + seconds)
    run.memory.append(there.watched.read())  # so that a standstill at the end shows
    run.processor_seconds = there.watched.processor_seconds() - used
    return run


async def expected(there: Scene, timeout: float) -> Wanted:
    """The answer to each question without any load; checked for what makes a wrong answer show."""
    answers, texts = {}, {}
    async with httpx.AsyncClient(base_url=there.address, timeout=timeout) as client:
        for question in there.questions:
            response = await client.post(**question.request())
            if response.status_code != 200 or response.json()["degraded"]:
                raise SystemExit(f"{question}: {response.status_code} {response.text:.300}")
            answers[question], texts[question] = digest(response), response.text
            if found := faults(question, response, answers[question]):
                raise SystemExit("; ".join(found))
    check_canaries(there, texts)
    return answers


def check_canaries(there: Scene, texts: dict[Question, str]) -> None:
    """Who may see a canary does see it, in each corpus that he asks; or not seeing others' would prove nothing."""
    for principal, groups in PRINCIPALS.items():
        for group in GROUPS if "*" in groups else set(groups) & set(GROUPS):
            seen = {
                question.corpus
                for question, text in texts.items()
                if question.asker.principal == principal and there.marks[group] in text
            }
            missing = set(corpora_of(there.questions)) - seen
            if missing:
                raise SystemExit(f"{principal} does not see the canary of the {group} in {', '.join(sorted(missing))}")


def missed(few: list[Run], many: Run, memory: dict[str, Any]) -> list[str]:
    """The bars that were missed, in words."""
    found = []
    for run in (*few, many):
        undeclared = {status: n for status, n in run.statuses.items() if status not in DECLARED}
        who = f"{run.clients} clients"
        found += [f"{who}: {len(run.wrong)} wrong answers: {run.wrong[:EXAMPLES]}"] if run.wrong else []
        found += [f"{who}: {undeclared or ''} {dict(run.errors) or ''}"] if undeclared or run.errors else []
    if kept(few, many) < KEPT_THROUGHPUT:
        found.append(f"throughput kept {kept(few, many):.2f}, wanted {KEPT_THROUGHPUT}")
    if many.refused > MOST_REFUSED:
        found.append(f"refused {many.refused:.2f}, wanted at most {MOST_REFUSED:.2f}")
    growth = memory.get("server", {}).get("bytes_a_search_at_most", float("inf"))
    if growth > MOST_BYTES_A_SEARCH:
        found.append(f"memory may grow by {growth} bytes a search, wanted at most {MOST_BYTES_A_SEARCH:g}")
    return found


def kept(few: list[Run], many: Run) -> float:
    """Share of the throughput of few clients that many get."""
    return many.answered / max(statistics.fmean(run.answered for run in few), 0.01)


def parsed() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[1])
    parser.add_argument("--few", type=int, default=4, help="clients")
    parser.add_argument("--many", type=int, default=64, help="clients")
    parser.add_argument("--seconds", type=float, default=300, help="with many; few get a fifth of it before and after")
    parser.add_argument(
        "--warm-up", type=int, default=4000, metavar="N", help="searches of many, before anything counts"
    )
    parser.add_argument("--timeout", type=float, default=120, help="of a client, in seconds")
    parser.add_argument("--serve", default="", metavar="OPTIONS", help="of pincite serve; none for its defaults")
    parser.add_argument("--out", type=Path, help="also write the figures, with all readings of memory, to this file")
    return parser.parse_args()


async def measure(there: Scene, options: argparse.Namespace) -> tuple[list[Run], Run]:
    """Few, many, few: the machine is seldom the same for ten minutes."""
    wanted = await expected(there, options.timeout)
    warm = 0
    while warm < options.warm_up:
        warm += (await load(there, options.many, WARM_UP_SECONDS, wanted, options.timeout)).statuses[200]
    before = await load(there, options.few, options.seconds / 5, wanted, options.timeout)
    many = await load(there, options.many, options.seconds, wanted, options.timeout)
    after = await load(there, options.few, options.seconds / 5, wanted, options.timeout)
    return [before, after], many


def main() -> int:
    """Run the load and print figures as JSON."""
    options = parsed()
    with scene(options.serve.split()) as there:
        few, many = asyncio.run(measure(there, options))
        questions, log = len(there.questions), there.log.read_text(encoding="utf-8").splitlines()
    memory = memory_figures(many)
    bars = missed(few, many, memory)
    report = {
        "questions": questions,
        "few": [run.figures() for run in few],
        "many": many.figures(),
        "kept": round(kept(few, many), 3),
        "memory": memory,
        "log": log[1:][:EXAMPLES],
        "missed": bars,
    }
    print(json.dumps(report, indent=2, ensure_ascii=False))
    if options.out:
        options.out.write_text(json.dumps({**report, "readings": many.memory}), encoding="utf-8")
    return 1 if bars else 0


if __name__ == "__main__":
    sys.exit(main())
