# SPDX-License-Identifier: Apache-2.0
"""
Bearer tokens: made, hashed, and turned into who is calling.

A token is 256 random bits, so a single SHA-256 is a safe way to store it: nobody can try 2^256 inputs, and a slow,
salted hash (needed for passwords, which people choose) would only make each request slower.
"""

import hashlib
import secrets
from dataclasses import dataclass

from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.errors import BadInputError
from haystack_integrations.document_stores.pincite.tokens import TokenHolder, add_token
from pincite.pipelines.corpora import load_corpora

PREFIX = "pincite_"
"""Begins every token, so that people and secret scanners know one when they see it."""

_RANDOM_BYTES = 32


@dataclass(frozen=True, slots=True)
class Caller:
    """
    Who sends a request. ``principal`` is ``None`` for nobody, who sees nothing; ``corpora`` are those that his token
    opens, ``None`` for all; ``token`` is its name.
    """

    principal: str | None
    corpora: frozenset[str] | None = None
    token: str | None = None

    def may_use(self, corpus: str) -> bool:
        """Whether the token opens this corpus. What he sees inside is for the groups of his principal to say."""
        return self.corpora is None or corpus in self.corpora


def token_hash(token: str) -> bytes:
    """What is stored of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def new_token(database: Database, name: str, principal: str, corpora: list[str]) -> str:
    """
    Make a token and return it: this is the only time that anybody sees it.

    :param principal: of the configuration; what he may see, the token may.
    :param corpora: those that it opens, at least one.
    :raises BadInputError: a name is unknown or taken.
    """
    settings = load_corpora()
    settings.principal(principal)
    if not corpora:
        raise BadInputError(
            f"token {name!r:.80} opens no corpus: give --corpora, such as {next(iter(settings.corpora))}"
        )
    for corpus in corpora:
        settings.corpus(corpus)
    token = PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
    add_token(database, TokenHolder(name, principal, list(dict.fromkeys(corpora))), token_hash(token))
    return token
