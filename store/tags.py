# SPDX-License-Identifier: Apache-2.0
"""Tags of a corpus, and what they mean (A6)."""

from collections.abc import Iterable
from typing import TypedDict, cast

from psycopg.rows import dict_row

from .database import Database
from .statements import Statement
from .writer_session import writer_session

_LIST = """
WITH used AS (
    SELECT tag, count(*) AS sources FROM sources CROSS JOIN jsonb_array_elements_text(
        CASE jsonb_typeof(meta -> 'tags') WHEN 'array' THEN meta -> 'tags' ELSE '[]' END) AS tag
    GROUP BY tag
)
SELECT tag, coalesce(used.sources, 0) AS sources, description FROM used FULL JOIN tags USING (tag)
WHERE %(tag)s::text IS NULL OR tag = %(tag)s
ORDER BY tag
"""
_SET = """
INSERT INTO tags (tag, description) VALUES (%(tag)s, %(description)s)
ON CONFLICT (tag) DO UPDATE SET description = excluded.description
"""


class Tag(TypedDict):
    """A tag: how many sources carry it, searchable or not, and its description if it has one."""

    tag: str
    sources: int
    description: str | None


def list_tags(database: Database, corpus: str, tag: str | None = None) -> list[Tag]:
    """
    The tags of a corpus by name, those described and those that a source carries.

    :param tag: only this one.
    """
    with writer_session(database, corpus, read_only=True) as connection:
        cursor = connection.cursor(row_factory=dict_row)
        return cast(list[Tag], cursor.execute(_LIST, {"tag": tag}).fetchall())


def set_description(database: Database, corpus: str, tag: str, description: str | None) -> None:
    """Describe a tag; ``None`` takes its description away."""
    with writer_session(database, corpus) as connection:
        if description is None:
            connection.execute("DELETE FROM tags WHERE tag = %s", [tag])
        else:
            connection.execute(_SET, {"tag": tag, "description": description})


def descriptions_statement(tags: Iterable[str]) -> Statement:
    """The descriptions of these tags: rows ``tag``, ``description``."""
    return Statement("SELECT tag, description FROM tags WHERE tag = ANY (%(tags)s) ORDER BY tag", {"tags": list(tags)})
