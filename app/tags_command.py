# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLC0415 - what does the work is imported when the command runs, so that --help answers at once
"""``pincite tag-describe``: its options."""

import sys
from typing import Annotated

import typer


def tag_describe(
    context: typer.Context,
    *,
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="Which corpus; `pincite status` lists them.")],
    tag: Annotated[str | None, typer.Argument(metavar="TAG", help="Without one, all tags are listed.")] = None,
    description: Annotated[
        str | None, typer.Argument(metavar="DESCRIPTION", help="What it means, in a line; without one it is shown.")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take the description away.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")] = False,
) -> None:
    """Say what a tag means.

    Searches give it with the results that carry the tag.
    """
    from haystack_integrations.document_stores.pincite.errors import BadInputError
    from pincite.json_output import write_json
    from pincite.plain_text import plain
    from pincite.service import Service

    if remove and (tag is None or description is not None):
        raise BadInputError("--remove takes a TAG and no DESCRIPTION")
    with Service(config=context.obj) as service:
        if tag is not None and (remove or description is not None):
            found = [service.describe_tag(corpus, tag, description)]
        else:
            found = service.tags(corpus, tag)
    if as_json:
        write_json(found, sys.stdout)
        return
    for entry in found:
        sources = f"{entry['sources']:,} source{'' if entry['sources'] == 1 else 's'}"
        print(f"{plain(entry['tag'])} ({sources}): {plain(entry['description'] or 'no description')}")
    if not found:
        print(f"{corpus}: no tags")
