# SPDX-License-Identifier: Apache-2.0
"""Errors that a user can act on. The message is the one line that is shown, and the class gives the exit status."""


class PinciteError(Exception):
    """Something the user can mend; ``str(error)`` is one line that names the thing, the value and what is right."""

    exit_status = 2


class BadInputError(PinciteError, ValueError):
    """An argument, a query or a file that cannot be used as it is."""


class ConfigurationError(PinciteError):
    """A configuration or pipeline file that contradicts itself or the database."""


class DatabaseUnavailableError(PinciteError):
    """No usable PostgreSQL: not reachable, not started, or without a needed extension."""

    exit_status = 3


class IsolationError(PinciteError):
    """A query reached for rows outside its corpus or without a role; never degraded, always raised."""


class UnknownCorpusError(ConfigurationError, IsolationError):
    """A corpus that the database does not hold (yet); neither rows nor a degraded answer, always raised."""


class AttributionError(PinciteError):
    """A span whose locator does not resolve to its text: the store is broken."""
