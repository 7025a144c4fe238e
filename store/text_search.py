# SPDX-License-Identifier: Apache-2.0
"""
How a corpus makes words of texts: a text search configuration of the server, or functions of ours for a language that
PostgreSQL has none for.
"""

from psycopg.sql import SQL, Composable, Literal

_FUNCTIONS = ("words", "phrase", "all_words", "plain")
_OURS = {"hebrew": "simple"}
"""Our own, each with the server's configuration that comes nearest, for what knows nothing of ours."""


def is_ours(text_search: str) -> bool:
    """Whether ``sql/database`` brings the functions for it, ``pincite.<text_search>_words`` and the like."""
    return text_search in _OURS


def server_configuration(text_search: str) -> str:
    """The configuration of the server for stock Haystack's keyword retriever; ``simple`` for Hebrew."""
    return _OURS.get(text_search, text_search)


def word_functions(text_search: str) -> dict[str, Composable]:
    """The bodies of the functions that a corpus gets (``sql/corpus/0020_words.sql``); their argument is ``body``."""
    if is_ours(text_search):
        return {name: SQL(f"pincite.{text_search}_{name}(body)") for name in _FUNCTIONS}
    configuration = Literal(text_search)
    return {
        "words": SQL("to_tsvector({}::regconfig, body)").format(configuration),
        "phrase": SQL("phraseto_tsquery({}::regconfig, body)").format(configuration),
        "all_words": SQL("plainto_tsquery({}::regconfig, body)").format(configuration),
        "plain": SQL("body"),
    }
