# SPDX-License-Identifier: Apache-2.0
"""Serving over HTTP: where to listen, and how to end so that nothing is left behind."""

import contextlib
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator

import uvicorn
from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.errors import BadInputError, ConfigurationError
from haystack_integrations.document_stores.pincite.migrations import pending
from haystack_integrations.document_stores.pincite.tokens import has_tokens
from pincite.api.memory import steady_memory
from pincite.api.settings import is_loopback
from pincite.ending import leaving_on
from starlette.types import ASGIApp

GRACE_SECONDS = 10
"""Requests that are worked on or in line at the end get so long to be answered; then 503."""

_LAST_WORDS_SECONDS = 3  # beyond them, to send those answers; then connections are cut

KEEP_ALIVE_SECONDS = 75
"""A connection that is idle stays open so long. A client that asks again just as it is closed gets an error."""

_BACKLOG = 256  # connections that the system keeps for us; more than the line at the door holds


def check_ready(database: Database, host: str) -> None:
    """
    Refuse to serve what is not set up, or what anybody could read.

    :raises ConfigurationError: ``pincite init`` has work to do, or the server would listen beyond this machine and no
        token exists.
    """
    waiting = pending(database)
    if waiting:
        raise ConfigurationError(f"{database.describe()} is not up to date ({waiting[0].name}); run: pincite init")
    if not is_loopback(host) and not has_tokens(database):
        raise ConfigurationError(
            f"host {host!r:.80} is reachable from other machines and there is no token: make one first, "
            "pincite token add NAME --principal P --corpora A,B"
        )


@contextlib.contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """
    A listening socket, made before anything is loaded, so that a taken port is said at once.

    :param port: 0 for any that is free.
    :raises BadInputError: nothing can listen there.
    """
    try:
        family = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        listener = socket.create_server((host.strip("[]"), port), family=family, backlog=_BACKLOG)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadInputError(f"cannot listen on {host!r:.80} port {port}: {reason}; choose another --port") from error
    with listener:
        yield listener


def address(listener: socket.socket) -> str:
    """Where a socket listens, as a URL."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Server(uvicorn.Server):
    """Tells the application when it begins to end; uvicorn itself says so only once the last request is answered."""

    def __init__(self, config: uvicorn.Config, ending: Callable[[float], None]) -> None:
        super().__init__(config)
        self._ending = ending

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._ending(GRACE_SECONDS)
        await super().shutdown(sockets)


def serve(app: ASGIApp, listener: socket.socket, what: str) -> None:
    """
    Answer requests until SIGTERM or SIGINT; those that are worked on or in line then are answered first.

    :param app: one whose ``state.ending`` is callable is told how many seconds are left when the end begins.
    :param what: is served, for the line that says where.
    """
    steady_memory(os.environ)
    ending = getattr(getattr(app, "state", None), "ending", lambda seconds: None)
    with log_to_stderr():
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="on",
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=GRACE_SECONDS + _LAST_WORDS_SECONDS,
        )
        print(f"{what} at {address(listener)}; Ctrl-C ends it", file=sys.stderr, flush=True)
        # uvicorn raises the signal again once it has ended, which Python turns into KeyboardInterrupt for SIGINT.
        with contextlib.suppress(KeyboardInterrupt):
            _Server(config, ending).run(sockets=[listener])


def orderly_end() -> contextlib.AbstractContextManager[None]:
    """Inside the block SIGTERM ends the process with status 0: for a server that is how it is meant to end."""
    return leaving_on(signal.SIGTERM, status=0)


@contextlib.contextmanager
def log_to_stderr() -> Iterator[None]:
    """Warnings and errors of the server, with traces, on stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    loggers = [logging.getLogger(name) for name in ("uvicorn.error", "pincite", "mcp")]
    for logger in loggers:
        logger.setLevel(logging.WARNING)
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
