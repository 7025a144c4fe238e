# SPDX-License-Identifier: Apache-2.0
"""The searches that agents may call: what a call must say, and the answer of the one that starts from a case (C3)."""

from typing import TYPE_CHECKING, Any, cast

from haystack_integrations.components.pincite.stages.scopes import all_of
from haystack_integrations.document_stores.pincite.case_statements import scope_values
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.errors import BadInputError
from haystack_integrations.document_stores.pincite.scopes import ANY_SCOPE, within
from pincite.pipelines.corpora import ToolSettings
from pincite.response import SearchResponse, result_of

if TYPE_CHECKING:
    from pincite.service import SearchOptions

SIMILAR_LEGS = ("dense", "lexical")
SIMILAR_OBSERVED = {"profile", "dense", "lexical", "attribution"}
_CASE = "case_id"
_SIMILAR_OPTIONS = {"principal", "scope", "filters", "top_k", "names", "rerank"}


def tool_options(
    tool: ToolSettings, options: "SearchOptions", store: CorpusDocumentStore, groups: list[str] | None
) -> "SearchOptions":
    """
    The options of a search as a tool makes it: its own filters added, and the scopes of the case looked up.

    :param store: the corpus of the tool.
    :param groups: groups of the principal, who only learns of a case what he may see.
    :raises BadInputError: a scope that the tool requires is missing, or the case is not there.
    """
    if tool.action == "status":
        raise BadInputError(f"tool '{tool.name}' searches nothing: ask for its status")
    scope = dict(options.get("scope") or {})
    for key in tool.required_scopes:
        if key not in scope:
            raise BadInputError(f"scope '{key}' is missing: {tool.name} only searches within one {key}")
    for key in tool.scopes_of_case:
        if key not in scope:
            scope[key] = _scope_of_case(key, scope[_CASE], store, groups)
    conditions = [condition for condition in (tool.filters, options.get("filters")) if condition]
    changed = {**options, "scope": scope or None, "filters": all_of(conditions)}
    return cast("SearchOptions", changed)


def _scope_of_case(key: str, case_id: str, store: CorpusDocumentStore, groups: list[str] | None) -> str:
    # Not a search: it says where one may go, and nothing of what is there.
    anywhere = within(groups, ANY_SCOPE)
    found = [row["value"] for row in store.fetch(scope_values(key, str(case_id).strip()), groups=anywhere)]
    if not found:
        raise BadInputError(f"no case {case_id!r:.80} in corpus '{store.corpus}'")
    if len(found) > 1:
        raise BadInputError(f"case {case_id!r:.80} has sources of several {key}s ({', '.join(found)}, ..): give {key}")
    return str(found[0])


def similar_request(query: str, options: "SearchOptions", groups: list[str] | None) -> dict[str, Any]:
    """
    Inputs of the pipeline that finds cases like one.

    :param options: those of :func:`tool_options`; ``scope`` names the case.
    :raises BadInputError: an option that has no meaning there.
    """
    for key, value in options.items():
        if key not in _SIMILAR_OPTIONS and value not in (None, False):
            raise BadInputError(f"option '{key}' is not known to a search for similar cases")
    scope = dict(options.get("scope") or {})
    request: dict[str, Any] = {"case_id": scope.pop(_CASE), "query": query, "groups": groups, "scope": scope}
    return request | {key: options[key] for key in ("filters", "top_k") if key in options}


def similar_response(
    corpus: str, outputs: dict[str, dict[str, Any]], timings: dict[str, float], total_ms: float
) -> SearchResponse:
    """The answer in the shape of every search; ``query`` is what the case was searched by, and nothing is named."""
    searched = outputs["profile"]["search_query"]
    return {
        "corpus": corpus,
        "query": searched,
        "intents": [],
        "topic_query": searched,
        "named": {"matched": False, "sources": []},
        "reranked": False,
        "rerank_reason": "similar cases are not reranked",
        "degraded": [note for leg in SIMILAR_LEGS for note in outputs[leg]["degraded"]],
        "tag_contexts": {},
        "timings_ms": {"total": round(total_ms, 3)} | {stage: round(ms, 3) for stage, ms in timings.items()},
        "results": [result_of(rank, document) for rank, document in enumerate(outputs["attribution"]["documents"], 1)],
    }
