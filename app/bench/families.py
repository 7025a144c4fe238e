# SPDX-License-Identifier: Apache-2.0
"""
The test families of a query file: questions of one form, each with its own floors.

A file that says ``family`` for each question is taken at its word. From a file with several names of the same document
(``query``, ``query_short``, ``query_unnamed``, and ``variants.jsonl`` and ``docs.jsonl`` beside it) they are derived.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from haystack_integrations.document_stores.pincite.errors import BadInputError
from pincite.bench.made_up_names import absent_queries, other_type_queries
from pincite.bench.queries import Label, Query, in_family, json_lines, read_queries, sampled

NOTHING_NAMED = ("absent", "other_type", "no_instrument", "control")
"""Families whose questions name no document that is here: their order must be that without the policy."""

ALWAYS_ABSENT = ("absent", "other_type")
"""Those that do name one, which is not here: the answer must say so."""

_OPENINGS = (
    "I am going through the data room before tomorrow's call with the other side's counsel and have only a few minutes "
    "left, so please tell me exactly, and with the page where it can be read: {query}",
    "Our committee meets this afternoon and one of its members, who has read only the summary sent around last week, "
    "wants to have one point settled before anything is signed. {query}",
    "While preparing the closing memorandum for the file I came across a note in the margin which I can no longer make "
    "out, and I would rather check the text itself than trust my memory. {query}",
)

Families = dict[str, list[Query]]


def families_of(path: Path, *, as_name: str | None = None) -> Families:
    """
    All families that a query file gives.

    :param as_name: the prefix that the documents were ingested with.
    :raises BadInputError: the file cannot be read, or says a family for some of its questions only.
    """
    queries = read_queries(path, as_name=as_name)
    said = [query for query in queries if query.family is not None]
    if not said:
        return _derived(path, queries, as_name)
    if len(said) < len(queries):
        without = next(query.id for query in queries if query.family is None)
        raise BadInputError(f"{path.name}: query '{without}' says no family, others do; say it for all or for none")
    families: Families = {}
    for query in queries:
        families.setdefault(str(query.family), []).append(query)
    return families


def family_sample(queries: Sequence[Query], size: int | None, seed: int) -> list[Query]:
    """
    The questions of a family that are asked, drawn with a fixed seed.

    :raises BadInputError: there are none.
    """
    chosen = sampled(queries, size, seed)
    if not chosen:
        raise BadInputError("a test family is empty; an empty family proves nothing")
    return chosen


def _derived(path: Path, queries: list[Query], as_name: str | None) -> Families:
    names = {"named_full": "query", "named_short": "query_short", "no_instrument": "query_unnamed"}
    families: Families = {}
    for family, field in names.items():
        if any(query.facts.get(field) for query in queries):
            families[family] = in_family(read_queries(path, field_name=field, as_name=as_name), family)
    variants = path.with_name("variants.jsonl")
    if variants.is_file():
        families["variants"] = in_family(read_queries(variants, as_name=as_name), "variants")
    families["long_question"] = _long(families.get("variants") or queries)
    if all("name" in query.facts and "query_unnamed" in query.facts for query in queries):
        families["two_instruments"] = _two(queries)
    families["absent"] = absent_queries()
    if parties := _parties(path.with_name("docs.jsonl")):
        families["other_type"] = other_type_queries(parties)
    return families


def _long(queries: list[Query]) -> list[Query]:
    """Each question behind an opening that has nothing to do with it."""
    return [
        replace(query, text=_OPENINGS[number % len(_OPENINGS)].format(query=query.text), family="long_question")
        for number, query in enumerate(queries)
    ]


def _two(queries: list[Query]) -> list[Query]:
    """
    A question about one document that names the next one, too.

    The answer is labelled in the first; of the second only the document, which must be found as well (N12).
    """
    firsts: dict[str, Query] = {}
    for query in queries:
        firsts.setdefault(query.documents[0], query)
    return [
        Query(
            f"two-{one.id}",
            f"Compare {_with_article(one)} with {_with_article(other)}: {one.facts['query_unnamed']}",
            (*one.labels, Label(other.documents[0])),
            "two_instruments",
        )
        for one, other in pairwise(firsts.values())
    ]


def _with_article(query: Query) -> str:
    return "the " + str(query.facts["name"]).removeprefix("The ")


def _parties(path: Path) -> list[str]:
    if not path.is_file():
        return []
    records = (record for _, record in json_lines(path, path.read_text(encoding="utf-8")))
    return [str(record["parties"][0]) for record in records if record.get("parties")]
