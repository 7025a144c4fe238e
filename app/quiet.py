# SPDX-License-Identifier: Apache-2.0
"""What a command line sets right before anything else is imported: no telemetry, no stray lines, UTF-8 out."""

import logging
import os
import sys
import warnings
from io import TextIOWrapper

DEBUG_VARIABLE = "PINCITE_DEBUG"


def wants_trace() -> bool:
    """Whether the user asked for stack traces and library messages."""
    return os.environ.get(DEBUG_VARIABLE, "") not in ("", "0")


def quiet() -> None:
    """
    Keep libraries from the user's terminal and the network.

    Haystack reports usage unless told not to before its import. Messages and warnings of libraries (a converter about
    a font, say) would break the one-line promise of stderr; they stay visible with ``PINCITE_DEBUG=1``.
    """
    os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
    if not wants_trace():
        logging.getLogger().addHandler(logging.NullHandler())
        warnings.simplefilter("ignore")


def utf8_streams() -> None:
    """Write UTF-8 whatever the locale says, and a character that cannot be encoded as its escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
