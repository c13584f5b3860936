"""Limits on what one request and all requests together may take."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, fields

from weigh import errors
from weigh.serve.http.problems import Problem
from weigh.serve.http.reply import Receive, Scope, Send, route_path

RETRY_AFTER = (b"retry-after", b"1")


@dataclass(frozen=True)
class Limits:
    """Limits of the service; what exceeds one is refused with a sentence.

    Attributes
    ----------
    body_bytes : of a request (413)
    rows : of a request to predict, learn or forget (413)
    explained_rows : of a request to explain (413)
    text_length : characters of a cell (413)
    nesting : of lists and objects in JSON (400)
    header_bytes : of all header fields and the address (431)
    body_seconds : in which the whole request must arrive (408)
    connections : to one process of `weigh serve` (503)
    requests : answered at the same time by one process (503)
    requests_per_client : of them, for one token or one address (429)
    """

    body_bytes: int = 16 * 2**20
    rows: int = 100_000
    explained_rows: int = 1_000
    text_length: int = 2_000_000
    nesting: int = 16
    header_bytes: int = 16_384
    body_seconds: float = 20.0
    connections: int = 2_000
    requests: int = 256
    requests_per_client: int = 128

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise errors.parameter_error("Limits", field.name, "a number above 0", value)


class LimitRequests:
    """ASGI middleware that bounds header fields and the number of requests at the same time."""

    def __init__(self, app: object, limits: Limits) -> None:
        self._app, self._limits = app, limits
        self._by_client: Counter[str] = Counter()
        self._n_requests = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 431, 429 or 503, or pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)  # type: ignore[operator]
            return
        problem = self._check(scope)
        if problem is not None:
            await problem.to_reply().send(send)
            return
        client = _client_of(scope)
        self._n_requests += 1
        self._by_client[client] += 1
        try:
            await self._app(scope, receive, send)  # type: ignore[operator]
        finally:
            self._n_requests -= 1
            self._by_client[client] -= 1
            if not self._by_client[client]:
                del self._by_client[client]

    def _check(self, scope: Scope) -> Problem | None:
        limits = self._limits
        size = sum(len(name) + len(value) for name, value in scope["headers"])
        size += len(scope.get("raw_path") or b"") + len(scope["query_string"])
        if size > limits.header_bytes:
            return Problem(
                431, f"The header fields and the address are longer than {limits.header_bytes:,} bytes."
            )
        if route_path(scope).startswith("/health/"):
            return None
        if self._n_requests >= limits.requests:
            detail = f"The server is answering {limits.requests:,} requests already; try again in a second."
            return Problem(503, detail, [RETRY_AFTER])
        if self._by_client[_client_of(scope)] >= limits.requests_per_client:
            detail = f"This client waits for {limits.requests_per_client:,} answers already; wait for some."
            return Problem(429, detail, [RETRY_AFTER])
        return None


def _client_of(scope: Scope) -> str:
    token = scope.get("weigh.token")
    return token or (scope["client"][0] if scope.get("client") else "")


async def read_body(scope: Scope, receive: Receive, limits: Limits) -> bytes:
    """Return the body of a request, or raise the problem 413 or 408."""
    too_large = Problem(
        413, f"The body is larger than {limits.body_bytes:,} bytes; send fewer rows at a time."
    )
    length = scope["weigh.headers"].get(b"content-length", b"")
    if length.isdigit() and int(length[:20]) > limits.body_bytes:
        raise too_large
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(limits.body_seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnected
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > limits.body_bytes:
                    raise too_large
                if not message.get("more_body", False):
                    return parts[0] if len(parts) == 1 else b"".join(parts)
    except TimeoutError:
        late = f"The body did not arrive within {limits.body_seconds:g} seconds."
        raise Problem(408, late, [(b"connection", b"close")]) from None


class ClientDisconnected(Exception):
    """The client closed the connection before its request was complete."""
