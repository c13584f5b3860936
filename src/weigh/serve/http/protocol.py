"""The HTTP protocol of the server, with bounds on connections, on header fields and on their time."""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from weigh.serve.http.access import DATA_HEADERS
from weigh.serve.http.limits import Limits
from weigh.serve.http.problems import Problem


class BoundedConfig(uvicorn.Config):  # type: ignore[misc]
    """The configuration of a server with limits."""

    def __init__(self, limits: Limits, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.limits = limits


class BoundedProtocol(HttpToolsProtocol):  # type: ignore[misc]
    """Closes connections that are too many, send too large header fields, or take too long for a request.

    The application bounds the time of a body, but sees a request only when its header fields are complete.
    """

    def __init__(self, config: BoundedConfig, *arguments: Any, **keywords: Any) -> None:
        super().__init__(config, *arguments, **keywords)
        self.limits = config.limits
        self._began: float | None = None  # when the request began that is still incomplete
        self._header_bytes: int | None = 0  # received so far; None while a body is read
        self._timer: asyncio.TimerHandle | None = None
        self._unsent: tuple[int, float] | None = None  # bytes of answers that wait, and since when

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin a connection, or refuse it if there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            self._refuse(Problem(503, "The server has too many connections; try again in a second."))
            return
        self._began = self.loop.time()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """End a connection."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what was received, unless the header fields are too large."""
        if self._began is None:
            self._began = self.loop.time()
        if self._header_bytes is not None:
            self._header_bytes += len(data)
        super().data_received(data)
        # A small request that is complete has set the count to zero; of a body, only the header fields count.
        if self._header_bytes and self._header_bytes > 4 * self.limits.header_bytes:
            self._refuse(
                Problem(431, f"The header fields are longer than {self.limits.header_bytes:,} bytes.")
            )

    def on_headers_complete(self) -> None:
        """Begin to answer a request."""
        self._header_bytes = None
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Note that the request is complete."""
        self._began, self._header_bytes = None, 0
        super().on_message_complete()

    def _watch(self) -> None:
        """Look at the connection again when its request may be late."""
        patience, now = self.limits.body_seconds, self.loop.time()
        if self._is_stuck(now, patience):
            if self.cycle is not None:
                self.cycle.disconnected = True
            self.transport.abort()
            return
        late = now if self._began is None else self._began
        if self._began is not None and now - late >= patience:
            if self._header_bytes is not None:
                self._refuse(Problem(408, f"The request did not arrive within {patience:g} seconds."))
                return
            if now - late >= 2 * patience:
                # The application has refused the body, and the client goes on sending.
                self.transport.close()
                return
        self._timer = self.loop.call_later(max(1.0, late + patience - now), self._watch)

    def _is_stuck(self, now: float, patience: float) -> bool:
        """Return whether the client has read nothing of its answers for too long."""
        n_bytes = self.transport.get_write_buffer_size()
        if not n_bytes:
            self._unsent = None
        elif self._unsent is None or n_bytes != self._unsent[0]:
            self._unsent = n_bytes, now
        return self._unsent is not None and now - self._unsent[1] >= patience

    def _refuse(self, problem: Problem) -> None:
        """Answer before the application could, and close the connection."""
        if self.transport.is_closing():
            return
        reply = problem.to_reply()
        headers = [
            (b"content-type", reply.media_type.encode()),
            (b"content-length", b"%d" % len(reply.body)),
            (b"connection", b"close"),
            *DATA_HEADERS,
        ]
        lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
        self.transport.write(STATUS_LINE[reply.status] + lines + b"\r\n" + reply.body)
        self.transport.close()
