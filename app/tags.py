# SPDX-License-Identifier: Apache-2.0
"""What the tags of results mean, and how that is written down (A6)."""

from collections.abc import Mapping
from typing import Any

from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.errors import BadInputError, DatabaseUnavailableError
from haystack_integrations.document_stores.pincite.statements import Statement
from haystack_integrations.document_stores.pincite.tags import Tag, descriptions_statement, list_tags, set_description
from pincite.response import SearchResponse

LONGEST_DESCRIPTION = 300
_LONGEST_TAG = 100
_LIMIT_MS = 1_000


def describe_tag(corpus: str, tag: str, description: str | None) -> Tag:
    """
    Write down what a tag means; ``None`` takes the description away.

    :returns: the tag as it is now; it may be one that no source carries yet.
    :raises BadInputError: an empty tag or description, one of more than a line, or too long.
    """
    name = _line("the tag", tag, _LONGEST_TAG)
    told = None if description is None else _line("the description", description, LONGEST_DESCRIPTION)
    database = Database.current()
    set_description(database, corpus, name, told)
    found = list_tags(database, corpus, name)
    return found[0] if found else {"tag": name, "sources": 0, "description": None}


def tags(corpus: str, tag: str | None = None) -> list[Tag]:
    """
    The tags of a corpus, with their descriptions.

    :param tag: only this one.
    :raises BadInputError: no source carries this tag, and it has no description.
    """
    found = list_tags(Database.current(), corpus, tag)
    if tag is not None and not found:
        raise BadInputError(f"no source of '{corpus}' carries the tag {tag!r:.80}, and it has no description")
    return found


def with_tag_contexts(store: CorpusDocumentStore, response: SearchResponse, groups: list[str] | None) -> SearchResponse:
    """The answer with the descriptions of its results' tags; without them where they cannot be had in a second."""
    statement = _statement(response)
    if statement is None:
        return response
    try:
        return _with(response, store.fetch(statement, groups=groups, timeout_ms=_LIMIT_MS))
    except DatabaseUnavailableError as error:
        return _degraded(response, error)


async def with_tag_contexts_async(
    store: CorpusDocumentStore, response: SearchResponse, groups: list[str] | None
) -> SearchResponse:
    """As :func:`with_tag_contexts`, on the event loop."""
    statement = _statement(response)
    if statement is None:
        return response
    try:
        return _with(response, await store.fetch_async(statement, groups=groups, timeout_ms=_LIMIT_MS))
    except DatabaseUnavailableError as error:
        return _degraded(response, error)


def _statement(response: SearchResponse) -> Statement | None:
    # Only of what is shown: a description may say something of sources that this principal does not see.
    shown = {tag for result in response["results"] for tag in result["meta"].get("tags", ())}
    return descriptions_statement(sorted(shown)) if shown else None


def _with(response: SearchResponse, rows: list[dict[str, Any]]) -> SearchResponse:
    contexts: Mapping[str, str] = {row["tag"]: row["description"] for row in rows}
    return {**response, "tag_contexts": dict(contexts)}


def _degraded(response: SearchResponse, error: Exception) -> SearchResponse:
    return {**response, "degraded": [*response["degraded"], {"stage": "tags", "reason": str(error)}]}


def _line(what: str, text: str, longest: int) -> str:
    line = text.strip()
    if not line or not line.isprintable() or len(line) > longest:
        raise BadInputError(f"{what} is {text!r:.80}; it must be one line of 1 to {longest} characters")
    return line
