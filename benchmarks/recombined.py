# SPDX-License-Identifier: Apache-2.0
"""
Large collections from the small ones of the demo: its sentences in new orders, with other numbers and other names.

No two sources are alike, the words keep the frequencies of the corpus, and the same seed gives the same files. What a
corpus requires of a source stands in front matter; ``matter`` divides each collection into parts of known size.
"""

import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml

DEMO = Path(__file__).resolve().parents[1] / "app" / "demo"
# Of a hundred sources so many have this matter: what a search that is filtered by it leaves.
MATTERS = {"half": 50, "tenth": 10, "hundredth": 1}
_AREAS = ("betterment_levy", "building_permit", "planning")
_PARAGRAPH = 900  # characters from which a paragraph is full
_FIRST = (
    "Alder Birch Cedar Damson Elder Fennel Gorse Hazel Ivy Juniper Kelp Larch Myrtle Nettle Osier Poplar Quince Rowan "
    "Sorrel Tansy Umber Vetch Willow Yarrow Zinnia Amber Basalt Copper Dolomite Ember Flint Granite"
).split()
_SECOND = (
    "Quay Terrace Court Mills Landing Square Gardens Wharf Heights Meadow Crossing Harbor Bluff Commons Foundry Green "
    "Junction Lodge Orchard Parade Ridge Springs Tower Vale Works Yard Arcade Basin Cottages Depot Estates Fields"
).split()
_KINDS = (
    "Loan Agreement,Bond Mortgage,Operating Agreement,Lease,Guaranty,Regulatory Agreement,Deed of Trust,"
    "Environmental Indemnity Agreement,Term Sheet,Consulting Agreement,Promissory Note,License Agreement"
).split(",")


class Made(NamedTuple):
    """A source: the name of its file, its title, its metadata, and its text without front matter."""

    name: str
    title: str
    meta: dict[str, str]
    text: str

    def file(self) -> str:
        """The Markdown file with its front matter."""
        front = yaml.safe_dump({"title": self.title, **self.meta}, allow_unicode=True, sort_keys=False)
        return f"---\n{front}---\n{self.text}"


def sources(corpus: str, numbers: range, *, seed: int = 1) -> Iterator[Made]:
    """The sources of a corpus with these numbers; each depends on its corpus, its number and the seed alone."""
    for number in numbers:
        yield _source(corpus, number, random.Random(f"{seed} {corpus} {number}"))  # noqa: S311 - not for secrets


def questions(corpus: str, made: list[Made], count: int, *, seed: int = 2) -> list[str]:
    """Questions on made sources: by turns a topic inside a source that is named, and a topic alone."""
    rng = random.Random(f"{seed} {corpus}")  # noqa: S311
    asked = []
    for turn in range(count):
        words = rng.choice(_sentences(corpus)).split()
        start = rng.randrange(max(1, len(words) - 7))
        topic = " ".join(words[start : start + 7])
        asked.append(f"What does the {rng.choice(made).title} say about {topic}?" if turn % 2 else topic)
    return asked


def _source(corpus: str, number: int, rng: random.Random) -> Made:
    # Each name once in a collection: the number picks it, and comes back in the title where the names are used up.
    place = f"{_FIRST[number % 32]} {_SECOND[number // 32 % 32]}" + (f" {number // 1024 + 1}" if number >= 1024 else "")
    kind = rng.choice(_KINDS)
    title = f"{kind} of {place}" if corpus == "knowledge" else f"{place} in the matter of {kind}"
    parts = [f"# {title}\n"]
    for section in range(1, rng.randint(12, 28)):
        heading = " ".join(rng.choice(_sentences(corpus)).split()[:4]).strip(".,;:()")
        parts.append(f"## {section}. {heading}\n\n{_paragraph(corpus, place, rng)}\n")
    return Made(f"source-{number:05}.md", title, _meta(corpus, number, rng), "\n".join(parts))


def _paragraph(corpus: str, place: str, rng: random.Random) -> str:
    sentences, said, length = _sentences(corpus), [f"So much for {place}."], 0
    while length < _PARAGRAPH:
        start = rng.randrange(len(sentences))
        for sentence in sentences[start : start + rng.randint(1, 3)]:
            said.append(re.sub(r"\d+", lambda found: str(rng.randrange(1, 10 ** len(found[0]))), sentence))
            length += len(sentence)
    return " ".join(said)


def _meta(corpus: str, number: int, rng: random.Random) -> dict[str, str]:
    place = number * 37 % 100  # spread over the collection, and of exact size in every hundred
    matter, below = "other", 0
    for name, share in MATTERS.items():
        if below <= place < below + share:
            matter = name
        below += share
    case = f"C-{number // 5:04}"
    of_corpus = {
        "case_documents": {"case_id": case, "practice_area": rng.choice(_AREAS)},
        "precedent_library": {"court": "Court of Appeal", "date": "2021-03-04"},
        "internal_decisions": {"case_number": str(number + 1000), "date": "2022-05-06"},
        "attached_citations": {"case_id": case},
    }
    return {"matter": matter, **of_corpus.get(corpus, {})}


@cache
def _sentences(corpus: str) -> list[str]:
    folder = DEMO / "texts" if corpus == "knowledge" else DEMO / "corpora" / corpus
    found = []
    for file in sorted(path for path in folder.rglob("*") if path.suffix in (".md", ".txt")):
        text = re.sub(r"\A---\n.*?\n---\n", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
        body = " ".join(line for line in text.splitlines() if not line.startswith("#"))
        found += [one for one in re.split(r"(?<=[.;])\s+", " ".join(body.split())) if 30 <= len(one) <= 600]
    return found
