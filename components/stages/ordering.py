# SPDX-License-Identifier: Apache-2.0
"""The two things that reordering stages share: a stable partition, and the source a span counts for."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from haystack import Document

T = TypeVar("T")


def stable_partition(items: Sequence[T], first: Callable[[T], bool]) -> list[T]:
    """
    The items for which ``first`` holds, then the others; the order inside both groups stays.

    ``first`` is asked once per item.
    """
    head: list[T] = []
    tail: list[T] = []
    for item in items:
        (head if first(item) else tail).append(item)
    return head + tail


def source_of(document: Document) -> str:
    """The source of a span. A document that no corpus of ours holds is its own source."""
    return str(document.meta.get("source_id", document.id))
