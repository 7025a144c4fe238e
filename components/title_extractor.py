# SPDX-License-Identifier: Apache-2.0
"""Give each document a title that a person would say, and the words that identify it besides (I4)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from haystack import Document, component
from haystack_integrations.components.pincite.titles.case_captions import find_caption
from haystack_integrations.components.pincite.titles.display_names import CaseBook, covers, says
from haystack_integrations.components.pincite.titles.document_dates import find_date
from haystack_integrations.components.pincite.titles.file_names import FileName, read_file_name, telling
from haystack_integrations.components.pincite.titles.headings import Heading, find_heading, first_line, is_generic
from haystack_integrations.components.pincite.titles.letters import find_letter
from haystack_integrations.components.pincite.titles.name_words import HEBREW_HEADS, ONE_SIDED, ROLES
from haystack_integrations.components.pincite.titles.opening_text import Token, squeeze, tokenize
from haystack_integrations.components.pincite.titles.party_extraction import find_parties
from haystack_integrations.components.pincite.titles.party_mentions import Party

MAX_TITLE_CHARS = 200
IDENTITY_OPENING_CHARS = 2_500
_MAX_SHOWN_PARTIES = 4
_MAX_HINT_WORDS = 7
_MAX_ROLE_CHARS = 40
_FIRST_LINE_CHARS = 20_000
_GIVEN_TO = frozenset({"guaranty", "guarantee", "note", "indemnity", "undertaking"})
_MAX_LINE_WORDS = 8
_CAPTION_BEFORE_CHARS = 300
_COURT_WORDS = re.compile(
    r"\b(?:opinion|order|judge?ment|decision|ruling|decree|complaint|petition|motion|brief|court|appeal|פסק|החלטה)\b",
    re.IGNORECASE,
)
_DATA_SUFFIXES = (".json", ".yaml", ".yml", ".toml", ".csv")


@dataclass(frozen=True, slots=True)
class Identity:
    """
    What names a document.

    ``title`` is the display title (at most 200 characters), ``title_source`` one of ``meta``, ``heading`` and
    ``file_name``; ``parties`` the names as far as the opening states them; ``doc_date`` an ISO date or ``None``;
    ``identity`` further words that identify the source: file name, filer, short names, opening text.
    """

    title: str
    title_source: str
    parties: tuple[str, ...] = ()
    doc_date: str | None = None
    identity: str = ""


@component
class TitleExtractor:
    """
    Set ``title``, ``title_source``, ``identity`` and ``parties`` in the metadata of documents (I4).

    A title that the metadata already has is kept. The file name is taken from ``meta["source_id"]`` or
    ``meta["file_path"]``; a document with neither is named by its text alone.
    """

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """
        Name the documents.

        :param documents: whole sources, with the extracted text as content.
        :returns: ``documents``, in the same order; the given ones are not changed.
        """
        return {"documents": [_named(document) for document in documents]}


def _named(document: Document) -> Document:
    source_id = str(document.meta.get("source_id") or document.meta.get("file_path") or "")
    found = identify(document.content or "", source_id, document.meta)
    named = {
        "title": found.title,
        "title_source": found.title_source,
        "identity": found.identity,
        "parties": list(found.parties),
    }
    return replace(document, meta={**document.meta, **named})


def identify(text: str, source_id: str, meta: Mapping[str, Any]) -> Identity:
    """
    Name a document from its text, its file name and its metadata.

    :param text: the extracted text; only its first 5,000 characters (blanks squeezed) and last 4,500 count.
    :param source_id: path of the source; its last part is the file name.
    :param meta: metadata; a non-empty ``title`` is taken as it is.
    """
    opening = squeeze(text)
    tokens = tokenize(opening)
    file_name = read_file_name(source_id, opening)
    cases = CaseBook(tokens)
    data = source_id.casefold().endswith(_DATA_SUFFIXES) or meta.get("media_type") == "data"
    heading = None if data else find_heading(opening, tokens, file_name.kind, trusted=bool(file_name.filer))
    parties: tuple[Party, ...] = ()
    if heading is not None or (file_name.kind and not data):
        parties = find_parties(opening, tokens, text)
    title, source = " ".join(str(meta.get("title") or "").split()), "meta"
    if not title and not data:
        title, source, instrument = _title_of_text(text, opening, tokens, heading, file_name)
        if instrument:
            title = _with_hint(_with_parties(cases.phrase(title), parties, cases), file_name, cases)
        title = _shorten(title)
    if not title:
        title, source = _shorten(file_name.title) or _first_words(opening) or source_id or "Untitled", "file_name"
    names = tuple(dict.fromkeys(cases.phrase(p.name, name=True) for p in parties if p.name))
    return Identity(
        title=title,
        title_source=source,
        parties=names,
        doc_date=find_date(opening),
        identity=_identity(source_id, file_name, parties, opening),
    )


def _title_of_text(
    text: str, opening: str, tokens: Sequence[Token], heading: Heading | None, file_name: FileName
) -> tuple[str, str, bool]:
    """
    The title without parties, where it is from, and whether it is an instrument's.

    Empty when neither the text nor the file name's word for the document has one.
    """
    kind = file_name.kind
    caption = find_caption(opening)
    if caption and (heading is None or _COURT_WORDS.search(heading.text) or heading.start > _CAPTION_BEFORE_CHARS):
        return caption, "heading", False
    better = kind if kind and not is_generic(kind) else ""
    if heading is not None:
        return (better if better and is_generic(heading.text) else heading.text), "heading", True
    if better:
        return better, "file_name", True
    line = first_line(text[:_FIRST_LINE_CHARS])
    if line and not line.marked and len(line.text.split()) > _MAX_LINE_WORDS and file_name.title:
        # A long first line is a heading where the file name shares a word with it, else more likely a sentence.
        line = line if any(covers(line.text, word) for word in file_name.words.split() if telling(word)) else None
    return find_letter(opening, tokens) or (line.text if line else ""), "heading", False


def _with_hint(base: str, file_name: FileName, cases: CaseBook) -> str:
    hint = cases.phrase(_hint(base, file_name), name=True)
    return f"{base} ({hint})" if hint and len(base) + len(hint) + 3 <= MAX_TITLE_CHARS else base


def _with_parties(base: str, parties: tuple[Party, ...], cases: CaseBook) -> str:
    """ "<Title> between A and B", "among A, B and others", "of A" for instruments that one side gives."""
    named = [p for p in parties if not _unnamed(p, parties)]
    # A role tells something beside one name ("between Minnesota Power and Customer"), nothing beside two.
    labels = [
        _label(p, cases)
        for p in ([p for p in parties if p.name or _role(p) or p in named] if len(named) == 1 else named)
    ]
    shown = [label for label in dict.fromkeys(labels) if label and not says(base, label)]
    if not shown or not base.strip():
        return base
    hebrew = not HEBREW_HEADS.isdisjoint(base.split())
    while len(shown) > 1:
        rest = len(named) > len(shown)
        title = _phrase(base, shown[:_MAX_SHOWN_PARTIES], others=rest or len(shown) > _MAX_SHOWN_PARTIES, hebrew=hebrew)
        if len(title) <= MAX_TITLE_CHARS:
            return title
        shown = shown[: min(len(shown), _MAX_SHOWN_PARTIES + 1) - 1]
    words = base.casefold().split()
    one_sided = not ONE_SIDED.isdisjoint((words[0], words[-1]))
    link = ("של" if one_sided else "עם") if hebrew else "of" if one_sided else "with"
    return f"{base} {link} {shown[0]}"


def _phrase(base: str, names: list[str], *, others: bool, hebrew: bool) -> str:
    if len(names) == 2 and not others and base.casefold().rsplit(maxsplit=1)[-1] in _GIVEN_TO:
        return f"{base} of {names[0]} in favor of {names[1]}"
    if hebrew:
        return f"{base} בין " + " לבין ".join(names) + (" ואחרים" if others else "")
    if others:
        return f"{base} among {', '.join(names)} and others"
    return f"{base} {'between' if len(names) == 2 else 'among'} {', '.join(names[:-1])} and {names[-1]}"


def _unnamed(party: Party, parties: tuple[Party, ...]) -> bool:
    """Whether nothing but a role ("Customer"), or a short name of another party, stands for the party."""
    if party.name or party.trade_name:
        return False
    if not party.aliases or all(w in ROLES for w in party.aliases[0].casefold().split()):
        return True
    alias = party.aliases[0]
    others = [p for p in parties if p.name]
    return any(alias in p.aliases or alias == "".join(w[0] for w in p.name.split()) for p in others)


def _role(party: Party) -> bool:
    return bool(party.aliases) and all(w in ROLES for w in party.aliases[0].casefold().split())


def _label(party: Party, cases: CaseBook) -> str:
    if not party.name:
        known = party.trade_name or (party.aliases[0] if party.aliases else "")
        return cases.phrase(known) if len(known) <= _MAX_ROLE_CHARS else ""
    name = cases.phrase(party.name, name=True)
    return f"{name} d/b/a {cases.phrase(party.trade_name, name=True)}" if party.trade_name else name


def _hint(title: str, file_name: FileName) -> str:
    """What people know the document by and its title does not say: the filer, or the name in the file name."""
    if file_name.filer:
        return "" if covers(title, file_name.filer) else file_name.filer
    words = file_name.words.split()
    extra = [i for i, w in enumerate(words) if telling(w) and not covers(title, w)]
    if not 0 < len(extra) <= _MAX_HINT_WORDS:
        return ""
    together = extra[-1] - extra[0] < len(extra) + 2
    return " ".join(words[extra[0] : extra[-1] + 1] if together else [words[i] for i in extra])


def _first_words(opening: str) -> str:
    return _shorten(opening.replace("\n", " "), 100)


def _shorten(title: str, limit: int = MAX_TITLE_CHARS) -> str:
    title = " ".join(title.split()).strip(" ,;:-–—*#_")
    return title if len(title) <= limit else title[: limit - 1].rsplit(" ", 1)[0].rstrip(" ,;:-") + "…"


def _identity(source_id: str, file_name: FileName, parties: tuple[Party, ...], opening: str) -> str:
    names = [word for party in parties for word in (party.name, party.trade_name, *party.aliases) if word]
    stem = re.sub(r"[_\s]+", " ", source_id.rsplit("/", 1)[-1])
    lines = [stem, file_name.words, file_name.filer, "; ".join(dict.fromkeys(names)), opening[:IDENTITY_OPENING_CHARS]]
    return "\n".join(dict.fromkeys(line for line in lines if line))
