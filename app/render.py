# SPDX-License-Identifier: Apache-2.0
"""A search response, a passage and a status as people like to read them, on 60 to 200 columns."""

from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any

from pincite.marks import excerpt, marked, topic_stems
from pincite.plain_text import isolates, plain
from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_TABLE_FROM = 96  # columns; below, each result is a small block of its own
_PASSAGE_LINES = 4
_MARK_STYLE = "bold yellow"
_MARK_SIGNS = ("«", "»")


def console_for(stream: IO[str], *, width: int | None = None) -> Console:
    """A console that prints text as it is: no markup, no emoji codes, no guessing of what to colour."""
    return Console(file=stream, width=width, markup=False, emoji=False, highlight=False, soft_wrap=False)


def shows_colour(console: Console) -> bool:
    """Whether a mark may be a colour; otherwise it is a pair of signs (pipes, ``NO_COLOR``, dumb terminals)."""
    return console.is_terminal and console.color_system is not None and not console.no_color


def page_label(locator: Mapping[str, Any]) -> str:
    """Where to look: ``p. 3``, ``pp. 3-4``, ``§9.2 Notices``, or the characters where a source has neither."""
    page, page_end = locator.get("page"), locator.get("page_end")
    if page is not None:
        return f"pp. {page}-{page_end}" if page_end and page_end > page else f"p. {page}"
    section = section_label(locator.get("section"))
    return section or f"at {locator['start']:,}"


def section_label(section: str | None) -> str:
    """A section's heading; one that begins with its number gets the sign."""
    heading = plain(section or "")
    return f"§{heading}" if heading[:1].isdigit() else heading


def marked_text(console: Console, text: str, topic: frozenset[str]) -> Text:
    """The text with the words of the topic marked, in colour or between signs."""
    in_colour = shows_colour(console)
    result = Text()
    done = 0
    for start, end in marked(text, topic):
        result.append(text[done:start])
        word = text[start:end]
        result.append(*((word, _MARK_STYLE) if in_colour else (word.join(_MARK_SIGNS),)))
        done = end
    return result.append(text[done:])


def isolated(console: Console, text: Text, width: int) -> Text:
    """The text wrapped to ``width``, each line inside a direction isolate when letters run from right to left."""
    before, after = isolates(text.plain)
    lines = text.wrap(console, max(1, width))
    if not before:
        return Text("\n").join(lines)
    return Text("\n").join(Text.assemble(before, line, after) for line in lines)


def _passage(console: Console, result: Mapping[str, Any], topic: frozenset[str], width: int) -> Text:
    # A line rarely fills its width to the end, and marks may be signs: an eighth is kept for both.
    size = max(40, _PASSAGE_LINES * width * 7 // 8)
    return isolated(console, marked_text(console, excerpt(plain(result["text"]), topic, size), topic), width)


def _title(console: Console, result: Mapping[str, Any], width: int, style: str = "bold") -> Text:
    return isolated(console, Text(plain(result["title"]), style=style), width)


def place(result: Mapping[str, Any]) -> str:
    """Page and section on one line."""
    locator = result["locator"]
    label, section = page_label(locator), section_label(locator.get("section"))
    return f"{label} · {section}" if locator.get("page") is not None and section else label


def search_view(console: Console, response: Mapping[str, Any]) -> Group:
    """
    A search response: what was recognised, the results, and what did not go as usual.

    :param console: where it will be printed; its width and colours decide the form.
    :param response: the JSON of the contract.
    """
    parts: list[RenderableType] = [*_heading(response)]
    topic = topic_stems(response["topic_query"])
    if not response["results"]:
        parts.append(Text("No results.", style="bold"))
    elif console.width >= _TABLE_FROM:
        parts.append(_table(console, response["results"], topic))
    else:
        parts.extend(_block(console, result, topic) for result in response["results"])
    parts.extend(_notes(response))
    return Group(*parts)


def _heading(response: Mapping[str, Any]) -> Iterable[Text]:
    for number, intent in enumerate(response["intents"]):
        yield _recognised(intent, [source for source in response["named"]["sources"] if source["intent"] == number])
    if response["intents"] and response["topic_query"].strip():
        yield Text.assemble(("looking for ", "dim"), plain(response["topic_query"]))


def _recognised(intent: Mapping[str, Any], sources: Sequence[Mapping[str, Any]]) -> Text:
    """One line for an instrument that the question names: its type, its name, and whether it is here (N10)."""
    qualifiers = plain(" ".join(intent["qualifiers"]))
    asked = Text.assemble((plain(intent["type"]), "bold"), f" · {qualifiers}" if qualifiers else "")
    if not sources:
        return Text.assemble(("not in this corpus: ", "bold red"), asked)
    titles = list(dict.fromkeys(plain(source["title"]) for source in sources))
    more = f" and {len(titles) - 3} more" if len(titles) > 3 else ""
    return Text.assemble(("matched ", "green"), asked, (" → ", "dim"), ", ".join(titles[:3]) + more)


def _table(console: Console, results: Sequence[Mapping[str, Any]], topic: frozenset[str]) -> Table:
    title_width = max(22, console.width * 22 // 100)
    place_width = max(len(page_label(result["locator"])[:16]) for result in results)
    passage_width = console.width - title_width - place_width - 3 - 4 * 3
    table = Table(box=box.SIMPLE_HEAD, show_lines=False, padding=(0, 1), expand=True, show_edge=False)
    table.add_column("#", width=3, justify="right", style="dim")
    table.add_column("title", width=title_width)
    table.add_column("page", width=place_width, style="cyan")
    table.add_column("passage", width=passage_width)
    for result in results:
        passage = Text("\n").join([_passage(console, result, topic, passage_width), _id(result), Text()])
        title = _title(console, result, title_width)
        if (section := section_label(result["locator"].get("section"))) and result["locator"].get("page") is not None:
            title = Text("\n").join([title, isolated(console, Text(section, style="dim"), title_width)])
        table.add_row(str(result["rank"]), title, page_label(result["locator"]), passage)
    return table


def _block(console: Console, result: Mapping[str, Any], topic: frozenset[str]) -> Padding:
    """One result below another, for narrow terminals."""
    width = console.width - 5
    head = Table.grid(padding=(0, 1))
    head.add_column(width=3, justify="right", style="dim")
    head.add_column(width=width)
    where = Text(place(result), style="cyan")
    where.truncate(width, overflow="ellipsis")
    lines = [_title(console, result, width), where, _passage(console, result, topic, width), _id(result)]
    head.add_row(str(result["rank"]), Text("\n").join(lines))
    return Padding(head, (0, 0, 1, 0))


def _id(result: Mapping[str, Any]) -> Text:
    return Text(plain(result["span_id"]), style="dim", overflow="fold")


def _notes(response: Mapping[str, Any]) -> Iterable[Text]:
    for note in response["degraded"]:
        yield Text(f"degraded: {plain(note['stage'])}: {plain(note['reason'])}", style="yellow")
    count = len(response["results"])
    facts = [f"{count} result{'' if count == 1 else 's'}", f"{response['timings_ms']['total']:,.0f} ms"]
    if response["reranked"]:
        facts.append("reranked")
    elif response["rerank_reason"]:
        facts.append(f"not reranked: {plain(response['rerank_reason'])}")
    yield Text(" · ".join(facts), style="dim")


def show_view(console: Console, passage: Mapping[str, Any]) -> Group:
    """A passage in its context: title, page and offsets above, the passage bright between what surrounds it."""
    locator, context = passage["locator"], passage["context"]
    first, last = locator["start"] - len(context["before"]), locator["end"] + len(context["after"])
    facts = [
        place(passage),
        f"characters {locator['start']:,}-{locator['end']:,}",
        f"shown {first:,}-{last:,}",
    ]
    in_colour = shows_colour(console)
    core = context["text"] if in_colour else context["text"].join(_MARK_SIGNS)
    body = [(context["before"], "dim"), (core, "bold"), (context["after"], "dim")]
    return Group(
        _title(console, passage, console.width),
        Text(" · ".join(dict.fromkeys(facts)), style="cyan"),
        _id(passage),
        Text(),
        *_paragraphs(console, body),
    )


def _paragraphs(console: Console, pieces: Iterable[tuple[str, str]]) -> Iterable[Text]:
    """Styled pieces as wrapped paragraphs; line breaks of the source stay, everything else is made harmless."""
    text = Text()
    for piece, style in pieces:
        lines = [plain_line(line) for line in piece.replace("\r\n", "\n").replace("\f", "\n").split("\n")]
        text.append("\n".join(lines), style=style)
    for line in text.split("\n", allow_blank=True):
        yield isolated(console, line, console.width)


def plain_line(line: str) -> str:
    """A line with its outer spaces kept (a piece may begin in the middle of a line) and its inside made plain."""
    body = plain(line)
    if not body:
        return " " if line else ""
    return f"{' ' if line[0].isspace() else ''}{body}{' ' if line[-1].isspace() else ''}"


def status_view(status: Mapping[str, Any]) -> Group:
    """What `pincite status` knows, as headings with indented facts."""
    parts: list[RenderableType] = []
    for key, value in status.items():
        if isinstance(value, Mapping):
            parts.append(Text(plain(str(key)), style="bold"))
            parts.extend(Text(f"  {name:<16} {fact}") for name, fact in _facts(value))
        else:
            parts.append(Text.assemble((f"{key:<18} ", "bold"), _fact(value)))
    return Group(*parts)


def _facts(block: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for name, value in block.items():
        yield plain(str(name)), _fact(value)


def _fact(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {fact}" for name, fact in _facts(value))
    if isinstance(value, list | tuple):
        return ", ".join(_fact(item) for item in value) or "none"
    return "-" if value is None else plain(str(value))
