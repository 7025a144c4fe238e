# SPDX-License-Identifier: Apache-2.0
"""A search response, a passage and a status as people like to read them, on 60 to 200 columns."""

import re
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
_PATH_SIGN = " > "  # between the headings of a section inside a section
_LABEL_CHARACTERS = 18
_SECTION_NUMBER = re.compile(r"(?:§|(?:section|article|clause)\s+)(?P<number>\d+(?:\.\d+)*)", re.IGNORECASE)
_MARK_STYLE = "bold yellow"
_MARK_SIGNS = ("«", "»")


def console_for(stream: IO[str], *, width: int | None = None) -> Console:
    """A console that prints text as it is: no markup, no emoji codes, no guessing of what to colour."""
    return Console(file=stream, width=width, markup=False, emoji=False, highlight=False, soft_wrap=False)


def shows_colour(console: Console) -> bool:
    """Whether a mark may be a colour; otherwise it is a pair of signs (pipes, ``NO_COLOR``, dumb terminals)."""
    return console.is_terminal and console.color_system is not None and not console.no_color


def page_label(locator: Mapping[str, Any]) -> str:
    """Where to look: ``p. 3``, ``pp. 3-4``, ``§9.2``, or the characters where a source has neither."""
    page, page_end = locator.get("page"), locator.get("page_end")
    if page is not None:
        return f"pp. {page}-{page_end}" if page_end and page_end > page else f"p. {page}"
    heading = section_label(locator.get("section"))
    if not heading:
        return f"at {locator['start']:,}"
    number = _SECTION_NUMBER.match(heading)
    if number:
        return f"§{number['number']}"
    return heading if len(heading) <= _LABEL_CHARACTERS else heading[: _LABEL_CHARACTERS - 1].rstrip() + "…"


def section_label(section: str | None) -> str:
    """The innermost heading of a section; one that begins with its number gets the sign."""
    heading = plain(section or "").rpartition(_PATH_SIGN)[2]
    return f"§{heading}" if heading[:1].isdigit() else heading


def place(result: Mapping[str, Any]) -> str:
    """Page and section on one line."""
    locator = result["locator"]
    section = section_label(locator.get("section"))
    if locator.get("page") is None:
        return section or page_label(locator)
    return f"{page_label(locator)} · {section}" if section else page_label(locator)


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


def _saying(console: Console, result: Mapping[str, Any], topic: frozenset[str], width: int) -> list[Text]:
    """The passage; of a rule what it holds, and then the words that support it."""
    statement = result["meta"].get("statement")
    held = [isolated(console, marked_text(console, plain(statement), topic), width)] if statement else []
    return [*held, _passage(console, result, topic, width)]


def one_line_of(console: Console, text: Text, width: int) -> Text:
    """The text cut to one line of ``width``, with an ellipsis when something is gone."""
    line = text.copy()
    line.truncate(max(1, width), overflow="ellipsis")
    return isolated(console, line, width)


def _title(console: Console, result: Mapping[str, Any], width: int, *, repeated: bool = False) -> Text:
    """The title; cut to a dim line where the result above is from the same source, so that a change stands out."""
    if repeated:
        return one_line_of(console, Text(plain(result["title"]), style="dim"), width)
    return isolated(console, Text(plain(result["title"]), style="bold"), width)


def _with_repeats(results: Sequence[Mapping[str, Any]]) -> Iterable[tuple[Mapping[str, Any], bool]]:
    """Each result, and whether the one above is from the same source."""
    above = None
    for result in results:
        yield result, result["source_id"] == above
        above = result["source_id"]


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
        parts.extend(_block(console, *result, topic) for result in _with_repeats(response["results"]))
    parts.extend(_notes(response))
    return Group(*parts)


def _heading(response: Mapping[str, Any]) -> Iterable[Text]:
    failed = any(note["stage"] == "title" for note in response["degraded"])
    for number, intent in enumerate(response["intents"]):
        sources = [source for source in response["named"]["sources"] if source["intent"] == number]
        yield _recognised(intent, sources, looked_up=not failed)
    if response["intents"] and response["topic_query"].strip():
        yield Text.assemble(("looking for ", "dim"), plain(response["topic_query"]))


def _recognised(intent: Mapping[str, Any], sources: Sequence[Mapping[str, Any]], *, looked_up: bool) -> Text:
    """One line for an instrument that the question names: its type, its name, and whether it is here (N10)."""
    qualifiers = plain(" ".join(intent["qualifiers"]))
    asked = Text.assemble((plain(intent["type"]), "bold"), f" · {qualifiers}" if qualifiers else "")
    if not sources:
        # Absence may only be told by a title leg that worked.
        told = ("not in this corpus: ", "bold red") if looked_up else ("not looked up: ", "yellow")
        return Text.assemble(told, asked)
    titles = list(dict.fromkeys(plain(source["title"]) for source in sources))
    more = f" and {len(titles) - 3} more" if len(titles) > 3 else ""
    return Text.assemble(("matched ", "green"), asked, (" → ", "dim"), ", ".join(titles[:3]) + more)


def _table(console: Console, results: Sequence[Mapping[str, Any]], topic: frozenset[str]) -> Table:
    title_width = max(22, console.width * 22 // 100)
    place_width = max(len(page_label(result["locator"])) for result in results)
    passage_width = console.width - title_width - place_width - 3 - 3 * 3
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), expand=True)
    table.add_column("#", width=3, justify="right", style="dim")
    table.add_column("title", width=title_width)
    table.add_column("page", width=place_width, style="cyan")
    table.add_column("passage", width=passage_width)
    for result, repeated in _with_repeats(results):
        label, section = page_label(result["locator"]), section_label(result["locator"].get("section"))
        title = _title(console, result, title_width, repeated=repeated)
        if section and section != label:
            title = Text("\n").join([title, isolated(console, Text(section, style="cyan dim"), title_width)])
        passage = Text("\n").join([*_saying(console, result, topic, passage_width), _id(result), Text()])
        table.add_row(str(result["rank"]), title, label, passage)
    return table


def _block(console: Console, result: Mapping[str, Any], repeated: bool, topic: frozenset[str]) -> Padding:
    """One result below another, for narrow terminals."""
    width = console.width - 5
    head = Table.grid(padding=(0, 1))
    head.add_column(width=3, justify="right", style="dim")
    head.add_column(width=width)
    title = _title(console, result, width, repeated=repeated)
    where = one_line_of(console, Text(place(result), style="cyan"), width)
    lines = [title, where, *_saying(console, result, topic, width), _id(result)]
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
        *(isolated(console, Text(plain(held)), console.width) for held in [passage["meta"].get("statement")] if held),
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


def status_view(status: Mapping[str, Any]) -> Table:
    """What `pincite status` knows, as headings with indented facts."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for key, value in status.items():
        if isinstance(value, Mapping):
            table.add_row(Text(_name(key), style="bold"), "")
            for name, fact in value.items():
                table.add_row(f"  {_name(name)}", _fact(fact))
        else:
            table.add_row(Text(_name(key), style="bold"), _fact(value))
    return table


def _name(key: object) -> str:
    return plain(str(key)).replace("_", " ")


def _fact(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Mapping):
        return ", ".join(f"{_name(name)}: {_fact(fact)}" for name, fact in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_fact(item) for item in value) or "none"
    return "-" if value is None else plain(str(value))
