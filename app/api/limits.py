# SPDX-License-Identifier: Apache-2.0
"""What a server accepts: bytes, seconds, work at one time. Beyond it the answer is 413, 408, 504 or 429, no silence."""

import asyncio
import concurrent.futures
import contextlib
import contextvars
import math
import statistics
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from http import HTTPStatus
from typing import TypeVar

from pincite.api.problems import RequestError, problem_of
from starlette.types import ASGIApp, Message, Receive, Scope, Send

T = TypeVar("T")

MAX_BODY_BYTES = 1024 * 1024  # the longest query that is searched, in escaped JSON, with room to spare
BODY_SECONDS = 10.0
_REMEMBERED = 32  # durations of the latest jobs
_FIRST_GUESS_SECONDS = 0.1


class BodyLimit:
    """
    ASGI middleware: a request has its whole body, within these bounds, before anything works on it.

    :param max_bytes: larger bodies get 413.
    :param seconds: a client that takes longer to send one gets 408.
    """

    def __init__(self, app: ASGIApp, *, max_bytes: int = MAX_BODY_BYTES, seconds: float = BODY_SECONDS) -> None:
        self.app = app
        self.max_bytes = max_bytes
        self.seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS", "DELETE"):
            await self.app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self.seconds):
                body = await self._body(scope, receive)
        except TimeoutError:
            late = f"the body did not arrive within {self.seconds:g} s"
            await problem_of(RequestError(HTTPStatus.REQUEST_TIMEOUT, "slow-body", late))(scope, receive, send)
            return
        except RequestError as error:
            await problem_of(error)(scope, receive, send)
            return
        if body is not None:
            await self.app(scope, _once(body, receive), send)

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        """The body; ``None`` if the client went away."""
        declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        self._check(int(declared) if declared.isdigit() else 0)
        parts, size, more = [], 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            self._check(size)
            more = message.get("more_body", False)
        return b"".join(parts)

    def _check(self, size: int) -> None:
        if size > self.max_bytes:
            raise RequestError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                "too-large",
                f"the body has {size:,} bytes or more: at most {self.max_bytes:,} are read",
                {"Connection": "close"},
            )


def _once(body: bytes, receive: Receive) -> Receive:
    """A ``receive`` that gives the body, then what the server says (that the client went away)."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


class Turnstile:
    """
    Lets a bounded number of jobs run, a bounded number wait in line, and tells the others to come again.

    :param running: jobs at one time.
    :param waiting: jobs in line; one more gets 429 at once. So does one that, going by how long jobs took lately, would
        still be in line when its time is up.
    :param seconds: from a job's arrival to its end. One that is still in line then gets 429 (nothing was done), one
        that runs gets 504.
    """

    def __init__(self, *, running: int = 4, waiting: int = 64, seconds: float = 30.0) -> None:
        self.waiting_limit = waiting
        self.seconds = seconds
        self.running = 0
        self.waiting = 0
        self.refused = 0
        self._running_limit = running
        self._free = asyncio.Semaphore(running)
        # As many threads as places: who has a place never waits for a thread.
        self._threads = concurrent.futures.ThreadPoolExecutor(running, thread_name_prefix="pincite-request")
        self._durations: deque[float] = deque([_FIRST_GUESS_SECONDS], _REMEMBERED)
        self._ends_at = math.inf
        self._bounds: set[asyncio.Timeout] = set()

    async def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """
        Await ``work()`` when its turn comes.

        :raises RequestError: 429 or 504; 503 where the server ends first.
        """
        deadline = time.monotonic() + self.seconds
        leave = await self._enter(deadline)
        task = asyncio.ensure_future(work())
        task.add_done_callback(lambda _: leave())
        return await self._result(task, deadline)

    async def run_in_thread(self, work: Callable[[], T]) -> T:
        """As :meth:`run` for blocking work. A thread cannot be stopped, so it keeps its place until it ends."""
        deadline = time.monotonic() + self.seconds
        leave = await self._enter(deadline)
        loop = asyncio.get_running_loop()

        def ended(_: "concurrent.futures.Future[T]") -> None:
            with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits any more
                loop.call_soon_threadsafe(leave)

        job = self._threads.submit(contextvars.copy_context().run, work)
        job.add_done_callback(ended)
        return await self._result(asyncio.wrap_future(job), deadline)

    def end(self, seconds: float) -> None:
        """The server ends: whatever is not done within so many seconds gets 503 and no more time."""
        self._ends_at = time.monotonic() + seconds
        at = asyncio.get_running_loop().time() + seconds
        for bound in self._bounds:
            bound.reschedule(min(at, bound.when() or at))

    def close(self) -> None:
        """Take no more blocking work."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _enter(self, deadline: float) -> Callable[[], None]:
        """Wait for a place; what to call when it becomes free."""
        if self._free.locked() and not self._has_room():
            raise self._busy()
        self.waiting += 1
        try:
            async with self._until(deadline):
                await self._free.acquire()
        except TimeoutError as error:
            raise self._ending(deadline) or self._busy() from error
        finally:
            self.waiting -= 1
        self.running += 1
        return self._leaver()

    async def _result(self, task: "asyncio.Future[T]", deadline: float) -> T:
        try:
            async with self._until(deadline):
                await asyncio.wait({task})
        except TimeoutError as error:
            late = f"no answer within {self.seconds:g} s; ask for less, or later"
            raise self._ending(deadline) or RequestError(HTTPStatus.GATEWAY_TIMEOUT, "timeout", late) from error
        finally:
            task.cancel()  # where somebody waits no longer; nothing for one that is done
        return task.result()

    @contextlib.asynccontextmanager
    async def _until(self, deadline: float) -> AsyncIterator[None]:
        """
        A block that ends at the deadline, or earlier when the server ends.

        :raises TimeoutError: it was not done by then.
        """
        async with asyncio.timeout(min(deadline, self._ends_at) - time.monotonic()) as bound:
            self._bounds.add(bound)
            try:
                yield
            finally:
                self._bounds.discard(bound)

    def _has_room(self) -> bool:
        """Whether one more may stand in line. Not who would wait for nothing: he is told at once, not at the end."""
        return self.waiting < self.waiting_limit and self._line_seconds(self.waiting + 1) <= self.seconds

    def _line_seconds(self, waiting: int) -> float:
        """
        How long a line of this length takes to be served, going by how long jobs took lately.

        By their median: a few that hung say nothing of those in line.
        """
        return statistics.median(self._durations) * waiting / self._running_limit

    def _leaver(self) -> Callable[[], None]:
        started = time.monotonic()

        def leave() -> None:
            self._durations.append(time.monotonic() - started)
            self.running -= 1
            self._free.release()

        return leave

    def _ending(self, deadline: float) -> RequestError | None:
        """Where the end of the server came before the deadline: the refusal that says so."""
        if deadline <= self._ends_at:
            return None
        again = "the server is ending; ask again when it is back"
        return RequestError(HTTPStatus.SERVICE_UNAVAILABLE, "ending", again)

    def _busy(self) -> RequestError:
        self.refused += 1
        # Whoever is in line now was served or told to go by the time that he has.
        seconds = max(1, math.ceil(min(self._line_seconds(self.waiting), self.seconds)))
        busy = f"{self.running} requests are worked on and {self.waiting} wait: try again in {seconds} s"
        return RequestError(HTTPStatus.TOO_MANY_REQUESTS, "busy", busy, {"Retry-After": str(seconds)})
