# SPDX-License-Identifier: Apache-2.0
"""How a command ends: its exit status, and one line on stderr instead of a stack trace."""

import os
import sys
import traceback
from collections.abc import Callable, Iterator

from haystack_integrations.document_stores.pincite.errors import PinciteError
from pincite.plain_text import one_line
from pincite.quiet import DEBUG_VARIABLE, wants_trace

DONE, PARTLY, BAD_INPUT, NO_DATABASE = 0, 1, 2, 3
INTERRUPTED, PIPE_CLOSED = 128 + 2, 128 + 13  # as a shell counts SIGINT and SIGPIPE


def outcome(command: Callable[[], int]) -> int:
    """
    Run a command and return its exit status; whatever it raises becomes one line on stderr (contract, "Command line").

    :param command: returns the exit status of an ordinary end.
    """
    try:
        status = command()
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        complain("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        _abandon_stdout()
        return PIPE_CLOSED
    except Exception as error:
        return _failed(error)


def complain(message: object) -> None:
    """Write one line to stderr. A stderr that is closed is no reason to fail."""
    try:
        print(f"pincite: {one_line(message)}", file=sys.stderr, flush=True)
    except (OSError, ValueError):
        return


def _failed(error: Exception) -> int:
    if wants_trace():
        traceback.print_exception(error)
    for cause in _causes(error):
        if isinstance(cause, PinciteError):
            complain(cause)
            return cause.exit_status
        if _is_usage_error(cause):
            complain(_usage_line(cause))
            return BAD_INPUT
        if _is_lost_database(cause):
            complain(f"the database failed: {cause}")
            return NO_DATABASE
    complain(f"unexpected {type(error).__name__}: {error} (set {DEBUG_VARIABLE}=1 for the trace)")
    return BAD_INPUT


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what it was raised from: Haystack wraps what a component raises."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__


def _is_usage_error(error: BaseException) -> bool:
    # Typer carries its own copy of Click since 0.29 and the real one before: both have this method, nothing else does.
    return hasattr(error, "format_message")


def _usage_line(error: BaseException) -> str:
    message = str(error.format_message()).rstrip(".")  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "pincite"
    return f"{message}; see '{path} --help'"


def _is_lost_database(error: BaseException) -> bool:
    psycopg = sys.modules.get("psycopg")  # an error of a module that nobody imported does not exist
    return psycopg is not None and isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)


def _abandon_stdout() -> None:
    """Point stdout nowhere, so that the interpreter's last flush does not complain about the closed pipe."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
