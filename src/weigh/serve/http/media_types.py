"""The media types of bodies and answers, and what a request says about them."""

from __future__ import annotations

from collections.abc import Sequence

from weigh.serve.http.problems import Problem
from weigh.serve.http.reply import Scope

JSON = "application/json"
JSON_LINES = "application/x-ndjson"
CSV = "text/csv"
ARROW = "application/vnd.apache.arrow.stream"

_ALIASES = {
    "application/jsonl": JSON_LINES,
    "application/jsonlines": JSON_LINES,
    "application/ndjson": JSON_LINES,
}


def content_type(scope: Scope, allowed: Sequence[str]) -> str:
    """Return the media type of a body, or raise the problem 415."""
    encoding = _header(scope, b"content-encoding")
    if encoding not in ("", "identity"):
        raise Problem(415, f"The body must not be compressed; its Content-Encoding is {encoding[:80]!r}.")
    given = _header(scope, b"content-type")
    media_type, charset = _split(given)
    if media_type in allowed and charset in ("", "utf-8", "utf8"):
        return media_type
    listed = ", ".join(allowed)
    raise Problem(415, f"The header Content-Type must be one of {listed}, in UTF-8; it is {given[:80]!r}.")


def accepted_type(scope: Scope, offered: Sequence[str]) -> str:
    """Return the first offered media type that the client accepts, by its order, or raise the problem 406."""
    header = _header(scope, b"accept")
    if not header or header == "*/*":
        return offered[0]
    for part in header.split(","):
        media_type, _ = _split(part)
        if media_type in offered:
            return media_type
        if media_type in ("*/*", "application/*"):
            return offered[0]
    raise Problem(406, f"The header Accept must have one of {', '.join(offered)}; it is {header[:80]!r}.")


def _split(value: str) -> tuple[str, str]:
    """Return the media type, in its usual spelling, and the charset of a header value, in lower case."""
    media_type, *parameters = value.lower().split(";")
    name = media_type.strip()
    charsets = [each.strip()[8:].strip('"') for each in parameters if each.strip().startswith("charset=")]
    return _ALIASES.get(name, name), charsets[0] if charsets else ""


def _header(scope: Scope, name: bytes) -> str:
    value: bytes = scope["weigh.headers"].get(name, b"")
    return value.decode("latin-1")
