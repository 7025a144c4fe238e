# SPDX-License-Identifier: Apache-2.0
"""
Reads the text of HTML pages.

Readers that guess the main text drop short paragraphs and tables as boilerplate; in a contract those are clauses. This
one leaves out only what the page itself marks as no content (navigation, footer, scripts, forms) and long lists of bare
links.
"""

import re
from dataclasses import dataclass
from html.parser import HTMLParser

from haystack_integrations.components.pincite.reading.extraction import Extracted, UnreadableError, storable
from haystack_integrations.components.pincite.reading.text_files import decode

_SKIPPED = frozenset(
    "script style noscript template nav footer aside form button select svg math iframe object head".split()
)
_BLOCKS = frozenset(
    "p div section article main table tr ul ol li dl dt dd blockquote pre h1 h2 h3 h4 h5 h6 hr br header address "
    "figure figcaption caption body center details summary".split()
)
_PARAGRAPHS = frozenset("p table ul ol dl blockquote pre h1 h2 h3 h4 h5 h6 section article figure".split())
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([a-zA-Z0-9_\-]+)", re.IGNORECASE)
_MENU_ITEMS = 8  # a list of at least so many short items that are nothing but links is a menu
_MENU_ITEM_CHARACTERS = 40
_DECLARATION_WINDOW = 2048  # bytes of the file in which a charset may be declared


def read_html(data: bytes, encoding: str | None = None) -> Extracted:
    """
    The visible text: of ``<main>`` where there is one, else of the page. Headings become Markdown headings, table
    rows lines with ``|`` between cells, ``<title>`` the title.

    :param encoding: The encoding where it is known; default: byte order mark, declared charset, UTF-8.
    :raises UnreadableError: Wrong encoding, or no text.
    """
    declared = _CHARSET.search(data[:_DECLARATION_WINDOW])
    html = decode(data, encoding or (declared[1].decode("ascii") if declared else None))
    parser = _TextParser()
    parser.feed(html)
    parser.close()
    text = parser.text()
    if not text.strip():
        raise UnreadableError("no text in it")
    title = " ".join(parser.title.split())
    return Extracted(storable(text), "html", meta={"title": storable(title)} if title else {})


@dataclass(slots=True)
class _OpenList:
    parts: int
    main: int
    items: int = 0
    characters: int = 0
    linked: int = 0

    def is_menu(self) -> bool:
        short = self.characters <= self.items * _MENU_ITEM_CHARACTERS
        return self.items >= _MENU_ITEMS and short and self.linked >= 0.9 * self.characters


class _TextParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self._parts: list[str] = []
        self._main: list[str] = []
        self._skipping: list[str] = []
        self._in_title = False
        self._main_depth = 0
        self._preformatted = 0
        self._links = 0
        self._lists: list[_OpenList] = []

    def text(self) -> str:
        """Everything seen, with runs of blanks folded and at most one empty line between paragraphs."""
        joined = "".join(self._main if "".join(self._main).strip() else self._parts)
        joined = re.sub(r"[^\S\n]*\n[^\S\n]*", "\n", joined)
        joined = re.sub(r"(?<! ) +\| +", " | ", joined)
        return re.sub(r"\n{3,}", "\n\n", joined).strip("\n")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title" and not self.title:
            self._in_title = True
        if self._skipping:
            if tag == self._skipping[-1]:
                self._skipping.append(tag)
            return
        if tag not in _VOID and (tag in _SKIPPED or _is_hidden(attrs)):
            self._skipping.append(tag)
            return
        if tag == "main":
            self._main_depth += 1
        self._preformatted += tag == "pre"
        self._links += tag == "a"
        if tag in {"ul", "ol"}:
            self._lists.append(_OpenList(len(self._parts), len(self._main)))
        self._break(tag)
        if re.fullmatch("h[1-6]", tag):
            self._add("#" * int(tag[1]) + " ")
        elif tag == "li":
            self._begin_item()
        elif tag in {"td", "th"} and self._row_began():
            self._add(" | ")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if self._skipping:
            if tag == self._skipping[-1]:
                self._skipping.pop()
            return
        self._break(tag)
        if tag == "main":
            self._main_depth = max(0, self._main_depth - 1)
        self._preformatted = max(0, self._preformatted - (tag == "pre"))
        self._links = max(0, self._links - (tag == "a"))
        if tag in {"ul", "ol"} and self._lists:
            closed = self._lists.pop()
            if closed.is_menu():
                del self._parts[closed.parts :], self._main[closed.main :]

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._skipping:
            for each in self._lists:
                each.characters += len(data.strip())
                each.linked += len(data.strip()) if self._links else 0
            self._add(data if self._preformatted else re.sub(r"\s+", " ", data))

    def _begin_item(self) -> None:
        self._add("- ")
        for each in self._lists[-1:]:
            each.items += 1

    def _break(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._add("\n\n" if tag in _PARAGRAPHS else "\n")

    def _add(self, text: str) -> None:
        self._parts.append(text)
        if self._main_depth:
            self._main.append(text)

    def _row_began(self) -> bool:
        """Whether the current line of a table already holds a cell, so that a separator is due."""
        for part in reversed(self._parts):
            if part.endswith("\n"):
                return False
            if part.strip():
                return True
        return False


def _is_hidden(attrs: list[tuple[str, str | None]]) -> bool:
    values = dict(attrs)
    style = (values.get("style") or "").replace(" ", "").lower()
    return "hidden" in values or "display:none" in style or values.get("role") == "navigation"
