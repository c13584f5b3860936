"""Asking a running server, from programs that start often: nothing but sockets is imported.

Every function returns None if no server runs there or if it cannot answer, for whatever reason; the caller
then works by itself, which also words the reason. To learn a message a second time changes nothing.
"""

from __future__ import annotations

import json
import os
import socket
from types import TracebackType
from typing import Any

SOCKET = "serve.sock"
PATIENCE = 30.0
_LINE = 80


def default_socket(folder: str) -> str:
    """Where the server of a store listens unless it is told otherwise."""
    return os.path.join(folder, SOCKET)


def filter_through(path: str, content: bytes, patience: float = PATIENCE) -> bytes | None:
    """The message with its verdict in a header."""
    return _once(path, "FILTER", content, patience)


def judge_through(path: str, content: bytes, patience: float = PATIENCE) -> dict[str, Any] | None:
    """Label, probability and score of a message."""
    return _read(_once(path, "JUDGE", content, patience))


def explain_through(path: str, content: bytes, patience: float = PATIENCE) -> dict[str, Any] | None:
    """The explanation of a message's verdict, as a dictionary."""
    return _read(_once(path, "EXPLAIN", content, patience))


def learn_through(path: str, content: bytes, label: str, patience: float = PATIENCE) -> dict[str, Any] | None:
    """How many messages were new, moved and known; what is returned has been learned for good."""
    return _read(_once(path, f"LEARN {label.upper()}", content, patience))


def unlearn_through(path: str, content: bytes, patience: float = PATIENCE) -> dict[str, Any] | None:
    """How many messages were unlearned; what is returned has been unlearned for good."""
    return _read(_once(path, "UNLEARN", content, patience))


class Connection:
    """A connection for many requests: `with Connection(path) as server: server.ask("JUDGE", content)`.

    It raises OSError where a server does not answer, and ValueError with the server's words where it refuses.
    """

    def __init__(self, path: str, patience: float = PATIENCE) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.settimeout(patience)
            self._socket.connect(path)
        except BaseException:
            self._socket.close()
            raise
        self._file = self._socket.makefile("rb")

    def ask(self, command: str, content: bytes = b"") -> bytes:
        """The answer to one request."""
        length = f" {len(content)}" if content or command not in ("PING", "STATUS") else ""
        self._socket.sendall(f"{command}{length}\n".encode("ascii") + content)
        outcome, _, size = self._file.readline(_LINE).partition(b" ")
        if outcome not in (b"OK", b"NO"):
            raise ConnectionError("The server hung up.")
        answer = self._file.read(int(size))
        if len(answer) < int(size):
            raise ConnectionError("The server hung up.")
        if outcome == b"NO":
            raise ValueError(answer.decode("utf-8", "replace"))
        return answer

    def close(self) -> None:
        """Hang up."""
        self._file.close()
        self._socket.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _once(path: str, command: str, content: bytes, patience: float) -> bytes | None:
    try:
        with Connection(path, patience) as server:
            return server.ask(command, content)
    except (OSError, ValueError):
        return None


def _read(answer: bytes | None) -> dict[str, Any] | None:
    if answer is None:
        return None
    found: dict[str, Any] = json.loads(answer)
    return found
