"""The page's files, with the headers for browsers to keep them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class Asset:
    """A file of the page in memory; browsers ask each time whether it has changed.

    The security headers of all answers (`weigh.serve.http.access`) let the page load its own files only.
    """

    def __init__(self, name: str, content: bytes) -> None:
        self.content = content
        self.headers = {
            "Content-Type": MEDIA_TYPES[name[name.rindex(".") :]],
            "Cache-Control": "no-cache",
            "ETag": f'"{hashlib.sha256(content).hexdigest()[:32]}"',
        }

    def respond(self, request: Request) -> Response:
        """Answer 304 without a body if the browser has this version."""
        known = request.headers.get("if-none-match", "")
        if self.headers["ETag"] in [tag.strip().removeprefix("W/") for tag in known.split(",")]:
            return Response(status_code=304, headers=self.headers)
        return Response(self.content, headers=self.headers)


@cache
def static_files() -> Mapping[str, Asset]:
    """Return the style sheet, the scripts and the icon by file name."""
    folder = files("weigh.serve.page") / "static"
    return {each.name: Asset(each.name, each.read_bytes()) for each in folder.iterdir()}


@cache
def shell(depth: int) -> Asset:
    """Return the page before its scripts fill it, for an address `depth` levels below the root."""
    content = (files("weigh.serve.page") / "templates" / "page.html").read_text("utf-8")
    # Relative addresses work wherever the application is mounted.
    for start in ('href="static/', 'src="static/', 'href="openapi.json'):
        content = content.replace(start, start.replace('"', '"' + "../" * depth))
    return Asset("page.html", content.encode())
