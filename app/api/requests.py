# SPDX-License-Identifier: Apache-2.0
"""What REST takes: the request bodies, whose fields are the options of the command line and of the Service."""

from typing import Annotated, Any

from pincite.service import SearchOptions
from pydantic import BaseModel, ConfigDict, Field

QUESTION = "What does the HFA bond mortgage say about limitation on liability?"
"""The question of all examples."""


class SearchBody(BaseModel):
    """A question to a corpus."""

    model_config = ConfigDict(extra="forbid", strict=True)

    corpus: Annotated[str, Field(description="Which corpus; GET /corpora lists them.", examples=["knowledge"])]
    query: Annotated[str, Field(description="The question, in any words.", examples=[QUESTION])]
    top_k: Annotated[int, Field(ge=1, le=100, description="Results wanted.")] = 10
    names: Annotated[bool, Field(description="False: ignore that the question names an instrument.")] = True
    rerank: Annotated[bool, Field(description="False: skip the reranker, which is faster.")] = True
    matter: Annotated[str | None, Field(description="The asker's own matter; its sources come first.")] = None
    scope: Annotated[dict[str, str] | None, Field(description="Scopes of the corpus, such as practice_area.")] = None
    filters: Annotated[dict[str, Any] | None, Field(description="A Haystack filter on meta fields.")] = None
    max_per_source: Annotated[int | None, Field(ge=1, le=100, description="Results of one source at most.")] = None

    def options(self, principal: str | None) -> SearchOptions:
        """The options of the Service, asked by this principal."""
        return {
            "principal": principal,
            "top_k": self.top_k,
            "names": self.names,
            "rerank": self.rerank,
            "matter": self.matter,
            "scope": self.scope,
            "filters": self.filters,
            "max_per_source": self.max_per_source,
        }


class ExplainableSearchBody(SearchBody):
    """A question to a corpus that may want its answer explained."""

    explain: Annotated[bool, Field(description="True: say how each result came to its place.")] = False


class WhyBody(SearchBody):
    """A question to a corpus, and the document that was expected."""

    source: Annotated[str, Field(description="Id of the document.", examples=["hfa-bond-mortgage-riverside.txt"])]
    span: Annotated[str | None, Field(description="One passage of it; without, its best.")] = None


class ToolBody(BaseModel):
    """A call of an agent tool: what it asks, and the scopes that it needs."""

    model_config = ConfigDict(extra="forbid", strict=True)

    query: Annotated[str, Field(description="The question; of find_similar_cases, words to stress.")] = ""
    top_k: Annotated[int, Field(ge=1, le=100, description="Results wanted.")] = 10
    rerank: Annotated[bool, Field(description="False: skip the reranker, which is faster.")] = True
    scope: Annotated[dict[str, str] | None, Field(description="Scopes that the tool needs, such as case_id.")] = None
    filters: Annotated[dict[str, Any] | None, Field(description="A Haystack filter on meta fields.")] = None

    def options(self, principal: str | None) -> SearchOptions:
        """The options of the Service, asked by this principal."""
        return {
            "principal": principal,
            "top_k": self.top_k,
            "rerank": self.rerank,
            "scope": self.scope,
            "filters": self.filters,
        }
