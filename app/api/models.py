# SPDX-License-Identifier: Apache-2.0
"""
The shapes of the contract as types that REST and MCP publish (OpenAPI, output schemas) and hold their answers to.

A test compares them with the typed dictionaries of the application, which are what the answers are made from.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Answer(BaseModel):
    """An answer says what its type says, and nothing else."""

    model_config = ConfigDict(extra="forbid")


class IntentModel(Answer):
    """An instrument that the query names."""

    phrase: Annotated[str, Field(description="The instrument phrase as it stands in the query, normalised.")]
    type: Annotated[str, Field(description="Type of instrument, or its generic head, such as 'agreement'.")]
    qualifiers: Annotated[list[str], Field(description="Words that identify this one instrument.")]
    title_query: Annotated[str, Field(description="Qualifiers and phrase: what titles are searched for.")]


class NamedSourceModel(Answer):
    """A source that carries the name."""

    source_id: str
    title: str
    intent: Annotated[int, Field(description="Index into 'intents'.")]


class NamedModel(Answer):
    """Whether a document that the query names is here."""

    matched: Annotated[bool, Field(description="False: no source carries the name; say that it is not here.")]
    sources: list[NamedSourceModel]


class DegradationModel(Answer):
    """A stage that gave nothing or less than it should."""

    stage: str
    reason: str


class LocatorModel(Answer):
    """Where a passage stands in its source. Offsets are code points, half-open; pages begin at 1."""

    page: int | None
    page_end: int | None
    start: int
    end: int
    section: str | None
    quote: str | None


class ExtentModel(Answer):
    """A wider stretch of the same source around a passage."""

    start: int
    end: int
    section: str | None


class ResultModel(Answer):
    """One passage, pinned to its source."""

    rank: int
    corpus: str
    span_id: Annotated[str, Field(description="Identity of the passage; ask 'show' with it, de-duplicate by it.")]
    source_id: str
    title: str
    kind: Annotated[str, Field(description="chunk, rule or page_image.")]
    text: Annotated[str, Field(description="Exactly source_text[locator.start:locator.end].")]
    score: float
    score_kind: Annotated[
        str, Field(description="'fused' (0 to 1, by reciprocal rank) or 'rerank' (the ranker's own).")
    ]
    locator: LocatorModel
    parent: ExtentModel | None
    meta: Annotated[dict[str, Any], Field(description="Metadata of the source that is set.")]


class SearchModel(Answer):
    """The answer to a search; the same from command line, Service, REST and MCP."""

    corpus: str
    query: str
    intents: Annotated[list[IntentModel], Field(description="Instruments that the query names; empty for none.")]
    topic_query: Annotated[str, Field(description="What is asked, names removed.")]
    named: NamedModel
    reranked: bool
    rerank_reason: Annotated[str | None, Field(description="Why the results were not reranked.")]
    degraded: Annotated[list[DegradationModel], Field(description="Stages that gave less than they should, and why.")]
    tag_contexts: dict[str, str]
    timings_ms: dict[str, float]
    results: list[ResultModel]


class ExplainedSearchModel(SearchModel):
    """The answer to a search that may have been asked to explain itself."""

    explain: Annotated[dict[str, Any] | None, Field(description="Only with explain=true: how it came about.")] = None


class ContextModel(Answer):
    """A passage and what stands around it."""

    before: str
    text: str
    after: str


class PassageModel(Answer):
    """A passage read again at its locator, in its context."""

    corpus: str
    span_id: str
    source_id: str
    title: str
    kind: str
    text: str
    locator: LocatorModel
    parent: ExtentModel | None
    context: ContextModel
    meta: dict[str, Any]


class SourceModel(Answer):
    """Whether the pages of a passage's source can be shown."""

    corpus: str
    span_id: str
    source_id: str
    title: str
    media_type: Annotated[str | None, Field(description="pdf, docx, html, markdown, text or data.")]
    page: Annotated[int | None, Field(description="Where the passage begins; null for sources without pages.")]
    pages: Annotated[int | None, Field(description="Pages that GET /source/page.png shows; null for none.")]
    reason: Annotated[str | None, Field(description="Why no page can be shown.")]


class StepModel(Answer):
    """One stage on the way of a document through a search."""

    stage: str
    outcome: Literal["in", "out", "none"]
    rank: int | None
    of: int | None
    text: str


class ChangeModel(Answer):
    """Something to change, as one writes it."""

    parameter: str
    value: Any
    text: str


class RemedyModel(Answer):
    """Changes that together bring the document in, and its rank then."""

    changes: list[ChangeModel]
    rank: int | None


class WhyModel(Answer):
    """Where a search lost a document, and what would have kept it."""

    corpus: str
    query: str
    source_id: str
    title: str | None
    span_id: str | None
    rank: int | None
    lost_at: str | None
    reason: str
    steps: list[StepModel]
    passes_with: ChangeModel | None
    remedies: list[RemedyModel]
    note: str | None


class CorpusModel(Answer):
    """What one corpus is, and how it is asked."""

    name: str
    description: str
    language: str
    spans: Annotated[list[str], Field(description="Kinds of passages that it holds.")]
    scopes: Annotated[list[str], Field(description="Metadata keys that a search may give as its scope.")]
    required_scopes: Annotated[list[str], Field(description="Those that it must give.")]
    tools: Annotated[list[str], Field(description="Agent tools that search it.")]


class CorporaModel(Answer):
    """The corpora that the caller may ask."""

    corpora: list[CorpusModel]


class RerankModel(Answer):
    """Whether the results of a corpus are reranked."""

    enabled: bool
    model: str | None
    loaded: bool
    reason: Annotated[str | None, Field(description="Why not, when it is off.")]


class StatusModel(BaseModel):
    """What is there. ``corpora`` has an entry for each corpus that the caller may ask."""

    model_config = ConfigDict(extra="allow")

    version: str
    database: dict[str, Any]
    corpora: dict[str, dict[str, Any]]
    rerank: dict[str, RerankModel]


class ToolStatusModel(BaseModel):
    """Whether a corpus can be searched, and whether its results are reranked."""

    model_config = ConfigDict(extra="allow")

    corpus: str
    ready: bool
    rerank: RerankModel


class FindingModel(Answer):
    """One thing that is not as it should be; a notice is known and allowed."""

    subject: str
    reason: str
    mend: str
    notice: bool


class CheckModel(Answer):
    """A check of one corpus, or of the database."""

    check: str
    corpus: str | None
    status: Annotated[str, Field(description="ok, notice, failed or skipped.")]
    looked_at: int
    failures: int
    notices: int
    findings: list[FindingModel]
    note: str


class AuditModel(Answer):
    """What an audit found."""

    passed: Annotated[bool, Field(description="False when any check failed.")]
    checks: list[CheckModel]
    seconds: float


class ProblemModel(BaseModel):
    """An error (RFC 9457, ``application/problem+json``)."""

    type: Annotated[str, Field(description="A name of the error for programs.")]
    title: str
    status: int
    detail: Annotated[str, Field(description="One line for people: the thing, the value found, what would be right.")]
    errors: Annotated[list[dict[str, str]], Field(description="Per wrong field: where, and what is wrong.")] = []
