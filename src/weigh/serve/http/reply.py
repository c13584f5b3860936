"""Answers as bytes, and how they are sent."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, NamedTuple, TypeAlias

from weigh.result import to_json

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Header: TypeAlias = tuple[bytes, bytes]

JSON = "application/json"


class Reply(NamedTuple):
    """The answer to a request."""

    body: bytes
    status: int = 200
    media_type: str = JSON
    headers: tuple[Header, ...] = ()

    @classmethod
    def of_json(cls, value: Any) -> Reply:
        """Return a value as JSON: NaN becomes null, infinities "inf" and "-inf"."""
        return cls(encode_json(value).encode())

    async def send(self, send: Send) -> None:
        """Send the answer to an ASGI server."""
        headers = [
            (b"content-type", self.media_type.encode()),
            (b"content-length", b"%d" % len(self.body)),
            *self.headers,
        ]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})


def route_path(scope: Scope) -> str:
    """Return the path of a request below the place where the application is mounted."""
    path: str = scope["path"]
    root = scope.get("root_path", "")
    return path[len(root) :] if root and path.startswith(root) else path


# Lone surrogates of names have no UTF-8, so that all characters beyond ASCII are escaped with them.
_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def encode_json(value: Any) -> str:
    """Encode a value as JSON; NaN becomes null, and infinities "inf" and "-inf"."""
    try:
        return _ENCODER.encode(value)
    except ValueError:
        return _ENCODER.encode(to_json(value))
