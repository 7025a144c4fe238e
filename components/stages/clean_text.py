# SPDX-License-Identifier: Apache-2.0
"""Text as a database can take it."""

from haystack_integrations.document_stores.pincite.errors import BadInputError


def clean_text(text: str, name: str) -> str:
    """
    The text with each lone surrogate replaced by U+FFFD; a proper pair becomes its character.

    Half a character comes from a client that cut a string of UTF-16; it cannot be encoded, and says nothing.

    :param text: text from outside.
    :param name: what to call it in an error.
    :raises BadInputError: a NUL character, which no PostgreSQL text holds, and which nobody types.
    """
    if "\0" in text:
        raise BadInputError(f"{name} has a NUL character at position {text.index(chr(0))}: remove it")
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
