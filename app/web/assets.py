# SPDX-License-Identifier: Apache-2.0
"""The files of the page, read once from the package and served to everybody: nothing stored is in them."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from importlib import resources

from fastapi import APIRouter, Request, Response

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""
What the page may do: run and show what this server sends, and talk to nobody else. ``blob:`` is for pictures that need
the token, which an address must not carry.
"""

_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of the page. ``etag`` names its content, so that a browser asks for it again only when it has changed."""

    content: bytes
    media_type: str
    etag: str


def _read() -> dict[str, Asset]:
    found = {}
    for file in (resources.files(__package__ or "") / "static").iterdir():
        media_type = _TYPES.get("." + file.name.rpartition(".")[2])
        if media_type is not None:
            content = file.read_bytes()
            asset = Asset(content, media_type, f'"{hashlib.sha256(content).hexdigest()[:24]}"')
            found["/" if file.name == "index.html" else f"/static/{file.name}"] = asset
    return found


ASSETS: Mapping[str, Asset] = _read()
"""By path."""


def asset_routes() -> APIRouter:
    """A route for each file; other paths below ``/static`` do not exist."""
    router = APIRouter(include_in_schema=False)
    for path in ASSETS:
        router.get(path)(_serve)
    return router


async def _serve(request: Request) -> Response:
    asset = ASSETS[request.scope["route"].path]
    headers = {**_HEADERS, "ETag": asset.etag}
    if request.headers.get("if-none-match") == asset.etag:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(asset.content, media_type=asset.media_type, headers=headers)
