# SPDX-License-Identifier: Apache-2.0
"""Counts and shares among the parameters of a stage: refused when the pipeline is loaded, not at each search."""

from haystack_integrations.document_stores.pincite.errors import ConfigurationError


def check_counts(stage: str, least: int = 1, **counts: int) -> None:
    """
    Refuse a count that no search could use.

    :param stage: class of the stage, for the message.
    :param least: the smallest count that makes sense.
    :param counts: values by parameter name.
    :raises ConfigurationError: the first one below ``least``.
    """
    for name, value in counts.items():
        if value < least:
            raise ConfigurationError(f"{stage}: {name} is {value}, expected {least} or more")


def check_shares(stage: str, **shares: float) -> None:
    """
    Refuse a share outside 0..1: no name would ever be taken for matched, or any.

    :raises ConfigurationError: the first one outside, or no number.
    """
    for name, value in shares.items():
        if not 0 <= value <= 1:
            raise ConfigurationError(f"{stage}: {name} is {value}, expected 0 to 1")
