# SPDX-License-Identifier: Apache-2.0
"""
The query pipeline of a corpus behind Hayhooks, as REST and as a tool of Hayhooks' own MCP server.

    hayhooks run --pipelines-dir examples/hayhooks_pipelines
    curl localhost:1416/knowledge/run -H 'Content-Type: application/json' -d '{"query": "Tessera lease: vibration"}'

Hayhooks knows no principals: whoever reaches it sees what the groups below see.
"""

from importlib import resources
from typing import Any

from hayhooks import BasePipelineWrapper
from haystack import Document, Pipeline

GROUPS = ["visitors"]  # a group that nothing is kept for: what is open to all; ["*"] for every source


class PipelineWrapper(BasePipelineWrapper):  # type: ignore[misc]
    """Hayhooks looks for a class of this name; the folder's name is that of the pipeline."""

    def setup(self) -> None:
        """Load the pipeline, once."""
        self.pipeline = Pipeline.loads((resources.files("pincite.pipelines") / "knowledge.yaml").read_text("utf-8"))

    async def run_api_async(self, query: str, top_k: int = 10) -> list[dict[str, Any]]:
        """
        Passages of legal instruments, each with title, page and character range.

        :param query: the question; name the instrument if you know it.
        :param top_k: passages wanted.
        """
        request = {"query": query, "top_k": top_k, "groups": GROUPS}
        outputs = await self.pipeline.run_async({"request": request})
        return [cited(document) for document in outputs["attribution"]["documents"]]


def cited(document: Document) -> dict[str, Any]:
    """A passage with where it stands."""
    place = {key: document.meta[key] for key in ("source_id", "title", "page", "page_end", "section", "start", "end")}
    return {"span_id": document.id, "text": document.content, "score": document.score, **place}
