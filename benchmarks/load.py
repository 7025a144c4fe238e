# SPDX-License-Identifier: Apache-2.0
"""
Load on ``pincite serve``: many clients with mixed corpora and principals, and whether the answers stay right.

Each client asks, waits for the answer, and asks again. Before the load every question is asked once by each token; an
answer under load that differs from it is a wrong row. A client that gets 429 waits as long as it is told. Reported per
number of clients: answered searches a second, latencies, statuses, wrong answers, and of the last run the slope of the
server's memory over the last four fifths.

Run it on a server of your own::

    python benchmarks/load.py --corpus knowledge --corpus kb --questions app/demo/questions.yaml --seconds 300

It starts ``pincite serve`` on the database of ``PINCITE_HOME``, makes a token for each ``--principal``, and revokes
them at the end. Exit status 1: a bar was missed.
"""

import argparse
import asyncio
import json
import os
import random
import re
import secrets
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import yaml
from pincite.pipelines.corpora import load_corpora

DECLARED = {200, 429, 504}
KEPT_THROUGHPUT = 0.8  # of what few clients get
MOST_REFUSED = 1 / 3
MOST_GROWTH_KIB_PER_MINUTE = 1024


@dataclass(frozen=True)
class Question:
    """What one client asks at one time."""

    token: str
    corpus: str
    query: str
    scope: tuple[tuple[str, str], ...]

    def request(self) -> dict[str, Any]:
        """As arguments of ``httpx.AsyncClient.post``."""
        body = {"corpus": self.corpus, "query": self.query, "scope": dict(self.scope) or None}
        return {"url": "/search", "json": body, "headers": {"Authorization": f"Bearer {self.token}"}}


@dataclass
class Run:
    """What came of one number of clients."""

    clients: int
    seconds: float
    statuses: Counter[int] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    wrong: int = 0
    latencies: list[float] = field(default_factory=list)
    memory: list[tuple[float, int]] = field(default_factory=list)

    def figures(self) -> dict[str, Any]:
        """As printed."""
        ordered = sorted(self.latencies) or [0.0]
        total = sum(self.statuses.values())
        return {
            "clients": self.clients,
            "answered_per_second": round(self.statuses[200] / self.seconds, 2),
            "refused_share": round(self.statuses[429] / max(total, 1), 4),
            "median_ms": round(statistics.median(ordered) * 1000, 1),
            "p95_ms": round(ordered[int(len(ordered) * 0.95)] * 1000, 1),
            "statuses": dict(self.statuses),
            "errors": dict(self.errors),
            "wrong": self.wrong,
            "memory_mib": round(self.memory[-1][1] / 1024, 1) if self.memory else None,
            "memory_slope_kib_per_minute": round(slope(self.memory) * 60, 1),
        }


def slope(memory: list[tuple[float, int]]) -> float:
    """KiB a second, by least squares over the last four fifths: the first fifth fills caches."""
    kept = memory[len(memory) // 5 :]
    if len(kept) < 3:
        return 0.0
    return statistics.linear_regression([at for at, _ in kept], [size for _, size in kept]).slope


def resident_kib(pid: int) -> int:
    """Memory of a process, in KiB."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


@contextmanager
def server(options: argparse.Namespace) -> Iterator[tuple[str, int]]:
    """A server of its own; its address and process id."""
    command = [sys.executable, "-c", "from pincite.cli import main; main()", "serve", "--port", "0"]
    command += ["--running", str(options.running), "--waiting", str(options.waiting)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stderr is not None  # noqa: S101
        line = process.stderr.readline()
        found = re.search(r"http://\S+:\d+", line)
        if found is None:
            raise SystemExit(line + process.stderr.read())
        try:
            yield found.group(), process.pid
        finally:
            process.terminate()


@contextmanager
def tokens(principals: list[str], corpora: list[str]) -> Iterator[list[str]]:
    """A token for each principal, revoked at the end."""
    made = {f"load-{secrets.token_hex(4)}": principal for principal in principals}
    try:
        yield [
            pincite("token", "add", name, "--principal", principal, "--corpora", ",".join(corpora)).strip()
            for name, principal in made.items()
        ]
    finally:
        for name in made:
            pincite("token", "revoke", name)


def pincite(*arguments: str) -> str:
    """What a command prints."""
    command = [sys.executable, "-c", "from pincite.cli import main; main()", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603


def answer_of(response: httpx.Response) -> list[tuple[str, float]]:
    """What must not change under load: ids, order, scores. A leg that was late makes another answer, and says so."""
    return [(it["span_id"], it["score"]) for it in response.json()["results"]]


async def one_client(run: Run, client: httpx.AsyncClient, wanted: dict[Question, Any], seed: int, until: float) -> None:
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
            degraded = bool(response.json()["degraded"])
            run.wrong += not degraded and answer_of(response) != wanted[question]
            run.errors["degraded answer"] += degraded
        elif response.status_code == 429:
            await asyncio.sleep(float(response.headers["Retry-After"]))


async def watch_memory(run: Run, pid: int, until: float) -> None:
    """Write down the server's memory twice a second."""
    while time.monotonic() < until:
        run.memory.append((time.monotonic(), resident_kib(pid)))
        await asyncio.sleep(0.5)


async def load(
    address: str, pid: int, clients: int, seconds: float, wanted: dict[Question, Any], timeout: float
) -> Run:
    """One number of clients for so many seconds."""
    run, until = Run(clients, seconds), time.monotonic() + seconds
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(base_url=address, timeout=timeout, limits=limits) as client:
        await asyncio.gather(
            watch_memory(run, pid, until),
            *(one_client(run, client, wanted, seed, until) for seed in range(clients)),
        )
    return run


async def expected(address: str, questions: list[Question], timeout: float) -> dict[Question, Any]:
    """The answer to each question without any load."""
    async with httpx.AsyncClient(base_url=address, timeout=timeout) as client:
        answers = {}
        for question in questions:
            response = await client.post(**question.request())
            response.raise_for_status()
            answers[question] = answer_of(response)
        return answers


def missed(few: dict[str, Any], many: dict[str, Any]) -> list[str]:
    """The bars that were missed, in words."""
    found = []
    for run in (few, many):
        undeclared = {status: n for status, n in run["statuses"].items() if status not in DECLARED}
        broken = {name: n for name, n in run["errors"].items() if name != "degraded answer" and n}
        found += [f"{run['clients']} clients: {run['wrong']} wrong answers"] if run["wrong"] else []
        found += [f"{run['clients']} clients: {undeclared} {broken}"] if undeclared or broken else []
    kept = many["answered_per_second"] / max(few["answered_per_second"], 0.01)
    found += [f"throughput kept {kept:.2f}, wanted {KEPT_THROUGHPUT}"] if kept < KEPT_THROUGHPUT else []
    found += [f"refused {many['refused_share']:.2f}"] if many["refused_share"] > MOST_REFUSED else []
    growth = many["memory_slope_kib_per_minute"]
    found += [f"memory grows {growth} KiB a minute"] if growth > MOST_GROWTH_KIB_PER_MINUTE else []
    return found


def parsed() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[1])
    parser.add_argument("--corpus", action="append", required=True, help="repeatable")
    parser.add_argument("--principal", action="append", help="repeatable; default: that of the command line")
    parser.add_argument("--scope", action="append", default=[], metavar="CORPUS:K=V", help="where required")
    parser.add_argument("--questions", type=Path, required=True, help="YAML or JSON lines with 'query'")
    parser.add_argument("--limit", type=int, default=40, help="questions of each corpus and principal")
    parser.add_argument("--few", type=int, default=4)
    parser.add_argument("--many", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=300, help="with many clients; few get a fifth of it")
    parser.add_argument("--running", type=int, default=4)
    parser.add_argument("--waiting", type=int, default=64)
    parser.add_argument("--timeout", type=float, default=120, help="of a client, in seconds")
    return parser.parse_args()


def read_questions(path: Path, limit: int) -> list[str]:
    """The texts, spread over the whole file."""
    text = path.read_text(encoding="utf-8")
    entries = yaml.safe_load(text) if path.suffix in (".yaml", ".yml") else map(json.loads, text.splitlines())
    queries = [entry["query"] for entry in entries]
    return queries[:: max(1, len(queries) // limit)][:limit]


def main() -> int:
    """Run the load and print figures as JSON."""
    os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
    options = parsed()
    principals = options.principal or [str(load_corpora().command_line_principal)]
    scopes: dict[str, dict[str, str]] = {}
    for entry in options.scope:
        corpus, _, pair = entry.partition(":")
        scopes.setdefault(corpus, {}).update([pair.split("=", 1)])
    queries = read_questions(options.questions, options.limit)
    with server(options) as (address, pid), tokens(principals, options.corpus) as made:
        questions = [
            Question(token, corpus, query, tuple(scopes.get(corpus, {}).items()))
            for token in made
            for corpus in options.corpus
            for query in queries
        ]
        wanted = asyncio.run(expected(address, questions, options.timeout))
        few = asyncio.run(load(address, pid, options.few, options.seconds / 5, wanted, options.timeout)).figures()
        many = asyncio.run(load(address, pid, options.many, options.seconds, wanted, options.timeout)).figures()
    bars = missed(few, many)
    print(json.dumps({"few": few, "many": many, "missed": bars}, indent=2))
    return 1 if bars else 0


if __name__ == "__main__":
    sys.exit(main())
