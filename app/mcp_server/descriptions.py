# SPDX-License-Identifier: Apache-2.0
"""What agents read: how to search well, and which tool is for what (A1)."""

from pincite.pipelines.corpora import CorporaSettings, ToolSettings

INSTRUCTIONS = """\
Pincite finds passages and pins each to its source: document, page, section, character range.

How to search well:
1. Name the document in the query if the user did ("HFA bond mortgage", "Kingsbrook Estates operating agreement"): its \
passages then come first. If `intents` is not empty and `named.matched` is false, that document is not here: say so, \
and do not answer from another one as if it were the named one.
2. Expand a complex question into 2-3 phrasings, call the tool once for each, and de-duplicate the results by `span_id`.
3. Results are reranked by the server by default when a reranker is on; `rerank=false` is faster. A status tool says \
whether it is on. When it is off (`reranked` is false), you may rerank the results with your own judgement.
4. Quote `text` exactly and cite title and page (`locator`). `show` gives a passage in its context.
5. `degraded` names what did not work as it should; tell the user if it matters.
"""

_SEARCH = (
    "Returns passages, best first, each with title, page and span_id. Expand a complex question into 2-3 phrasings, "
    "call once for each, and de-duplicate by span_id. Name the document in the query if the user did; when "
    "`named.matched` is false although `intents` is not empty, the named document is not here: say so. Results are "
    "reranked by the server by default when a reranker is on; rerank=false is faster. {status}When it is off, you may "
    "rerank with your own judgement."
)
_SIMILAR = "Returns one passage of each similar case, most similar first, each with title, page and span_id."
_STATUS = "Says how much there is to search, and whether a reranker is on, which model, and why not if it is off."

SHOW = (
    "Read a passage again at its locator, with what stands before and after it in its section. Takes the corpus and "
    "the span_id of a search result; a corpus with required scopes (case_documents: practice_area) needs them here too."
)


def description(tool: ToolSettings, settings: CorporaSettings) -> str:
    """What a tool does, which other one it is not, and how it is used well."""
    parts = [_sentence(tool.description), *_not_these(tool, settings), _use(tool, settings)]
    return " ".join(parts)


def _use(tool: ToolSettings, settings: CorporaSettings) -> str:
    if tool.action == "search":
        status = next((it.name for it in settings.tools.values() if it.action == "status"), None)
        return _SEARCH.format(status=f"{status} says whether it is on. " if status else "")
    return _SIMILAR if tool.action == "similar" else _STATUS


def _not_these(tool: ToolSettings, settings: CorporaSettings) -> list[str]:
    """A warning for each tool whose name has the same words in another order."""
    words = sorted(tool.name.split("_"))
    alike = [it for it in settings.tools.values() if it.name != tool.name and sorted(it.name.split("_")) == words]
    return [
        f"Not to be confused with {it.name}, which searches something else: {_sentence(it.description)}" for it in alike
    ]


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
