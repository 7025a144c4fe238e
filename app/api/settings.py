# SPDX-License-Identifier: Apache-2.0
"""How a server is told to behave, and who asks where nobody says so."""

import ipaddress
import os
from dataclasses import dataclass, replace
from pathlib import Path

from pincite.api.auth import LOOPBACK_NAMES
from pincite.api.limits import MAX_BODY_BYTES
from pincite.pipelines.corpora import load_corpora

PRINCIPAL_VARIABLE = "PINCITE_PRINCIPAL"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """
    ``principal``: who asks without a token, where none is needed. ``token_needed``: also while no token exists.
    ``hosts``: names that the server answers to, ``None`` for any. ``running``, ``waiting``: requests worked on, and in
    line. ``seconds``: from a request's arrival to its answer. ``body_bytes``: of a request.
    ``upkeep_seconds``: between two looks for stale vectors, 0 for none. ``reports``: folder with the reports of
    ``pincite bench --out`` that the page shows.
    """

    principal: str | None = None
    token_needed: bool = False
    hosts: frozenset[str] | None = LOOPBACK_NAMES
    running: int = 4
    waiting: int = 64
    seconds: float = 30.0
    body_bytes: int = MAX_BODY_BYTES
    upkeep_seconds: float = 0.0
    reports: Path | None = None

    def listening_on(self, host: str) -> "ServerSettings":
        """The same on a host: beyond this machine every request needs a token, and any name of the host will do."""
        return self if is_loopback(host) else replace(self, token_needed=True, hosts=None)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens there."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def default_principal(given: str | None) -> str | None:
    """
    Who asks without a token: as given, or of ``PINCITE_PRINCIPAL``, or ``serve_principal`` of the configuration.

    :raises BadInputError: the configuration has no such principal.
    """
    settings = load_corpora()
    principal = given or os.environ.get(PRINCIPAL_VARIABLE) or settings.serve_principal
    return None if principal is None else settings.principal(principal).name
