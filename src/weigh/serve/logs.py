"""The log of a server: one line per request or event, as text or JSON, never with the content of requests."""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any, TextIO

from weigh.text import escape_control_characters

TEXT, JSON, NONE = "text", "json", "none"
FORMATS = (TEXT, JSON, NONE)
MAX_FRAMES = 8


class ServerLog:
    """Writes lines to a stream.

    Requests are logged with the endpoint, the model, the status, the number of rows, the time and the name
    of the token: not with their address, their rows or their answers. Unforeseen errors are logged with their
    type and their place in the code, because their messages may quote rows.
    """

    def __init__(self, format: str = TEXT, stream: TextIO | None = None) -> None:
        self._format = format
        self._stream = stream or sys.stderr
        self._second, self._time = 0, ""
        self.request: Callable[..., None] | None = None if format == NONE else self._log_request

    def event(self, message: str) -> None:
        """Log what happened in the server."""
        self._write({"event": message}, message)

    def failure(self, endpoint: str, error: BaseException) -> None:
        """Log an error that was not foreseen, without its message."""
        frames = traceback.extract_tb(error.__traceback__)[-MAX_FRAMES:]
        places = [f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames]
        kind = type(error).__name__
        text = f"internal error: {kind} in {endpoint}, at {' < '.join(reversed(places))}"
        self._write({"event": "internal error", "endpoint": endpoint, "type": kind, "at": places}, text)

    def _log_request(
        self, endpoint: str, model: str, status: int, rows: int, seconds: float, client: str
    ) -> None:
        if self._format == JSON:
            fields = {"endpoint": endpoint, "model": model, "status": status, "rows": rows}
            self._write({**fields, "ms": round(1000 * seconds, 3), "client": client}, "")
        else:
            counted = f" rows={rows}" if rows else ""
            by = f" by {client}" if client else ""
            self._write({}, f"{status} {endpoint} {model}{counted} {1000 * seconds:.2f} ms{by}")

    def _write(self, fields: dict[str, Any], text: str) -> None:
        now = time.time()
        if int(now) != self._second:
            self._second = int(now)
            self._time = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
        if self._format == JSON:
            line = json.dumps({"time": self._time, **fields})
        else:
            line = f"{self._time} {escape_control_characters(text)}"
        try:
            self._stream.write(f"{line}\n")
            self._stream.flush()
        except (OSError, ValueError):
            # A log that cannot be written must not stop the service.
            return
