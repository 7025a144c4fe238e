# SPDX-License-Identifier: Apache-2.0
"""A ranker that works, or has a fault, as files in a folder say while it runs: for servers in another process."""

import subprocess
import time
from pathlib import Path
from typing import Any

from haystack import Document, component


@component
class FaultyRanker:
    """Loads once ``<folder>/loaded`` is there. Turns the order round, or while ``<folder>/broken`` is there fails."""

    def __init__(self, fault: str, folder: str) -> None:
        self.fault = fault
        self.folder = folder

    def warm_up(self) -> None:
        while not (Path(self.folder) / "loaded").exists():
            time.sleep(0.01)
        if self.fault == "load failure":
            raise OSError("the model is no model")

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document], top_k: int | None = None) -> dict[str, Any]:
        ranked = [Document(id=it.id, score=float(n)) for n, it in enumerate(documents)][::-1]
        if (Path(self.folder) / "broken").exists():
            return self._failed(ranked)
        return {"documents": ranked}

    def _failed(self, ranked: list[Document]) -> dict[str, Any]:
        match self.fault:
            case "timeout":
                while (Path(self.folder) / "broken").exists():
                    time.sleep(0.01)
            case "error":
                raise RuntimeError("key sk-123 refused")
            case "malformed answer":
                return {"replies": []}
            case "too few scores":
                return {"documents": ranked[:-1]}
            case "NaN":
                return {"documents": [Document(id=it.id, score=float("nan")) for it in ranked]}
            case "killed":
                subprocess.run(["/bin/sh", "-c", "echo half an answer; kill -9 $$"], check=True, capture_output=True)
            case "killed in its thread":
                raise SystemExit(1)
        return {"documents": ranked}
