# SPDX-License-Identifier: Apache-2.0
"""A service over the demo corpus, brought in as a user would."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pincite.service import Service

DEMO = Path(__file__).resolve().parents[2] / "app" / "demo" / "texts"


@pytest.fixture(scope="session")
def demo_service(home: Path) -> Iterator[Service]:
    """Corpus ``knowledge`` holds the demo's instruments; ask with ``principal="local-owner"``."""
    service = Service()
    report = service.ingest("knowledge", [DEMO])
    assert not report.failed
    yield service
