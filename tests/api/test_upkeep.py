# SPDX-License-Identifier: Apache-2.0
"""A running server gives stale spans new vectors (S3)."""

import time
from collections.abc import Callable
from typing import Any

import httpx
from pincite.service import Service


def test_a_running_server_embeds_what_somebody_changed(service: Service, start: Callable[..., Any]) -> None:
    def stale() -> int:
        with service.database.admin() as connection:
            rows = connection.execute("SELECT count(*) FROM pincite_kb.spans WHERE stale").fetchall()
        return int(rows[0][0])

    with service.database.admin() as connection:
        connection.execute(f"SET search_path = {service.database.search_path('pincite_kb')}")
        connection.execute("UPDATE spans SET content_hash = NULL")
    assert stale() > 0
    server = start("serve", "--port", "0", "--upkeep", "0.2")
    assert httpx.get(server.address() + "/health", timeout=60).status_code == 200
    deadline = time.monotonic() + 60
    while stale() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert stale() == 0
    assert server.end() == (0, "", "")
