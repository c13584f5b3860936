"""A client of the server for short-lived programs: it imports little more than sockets.

The functions return None if no server runs or if it fails for any reason. The caller then uses the store
itself, which also reports the reason. Learning a message a second time changes nothing.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

SOCKET_NAME = "serve.sock"
TIMEOUT_SECONDS = 30.0
_MAX_LINE_BYTES = 80
JsonObject = dict[str, Any]
Answer = TypeVar("Answer")


def default_socket(folder: str) -> str:
    """Return the default socket path of a store's server."""
    return os.path.join(folder, SOCKET_NAME)


def request_filter(path: str, content: bytes, timeout: float = TIMEOUT_SECONDS) -> bytes | None:
    """Return the message with its verdict in a header."""
    return _request_once(path, timeout, lambda client: client.filter(content))


def request_verdict(path: str, content: bytes, timeout: float = TIMEOUT_SECONDS) -> JsonObject | None:
    """Return the label, probability and score of a message."""
    return _request_once(path, timeout, lambda client: client.judge(content))


def request_explanation(path: str, content: bytes, timeout: float = TIMEOUT_SECONDS) -> JsonObject | None:
    """Return the explanation of a message's verdict."""
    return _request_once(path, timeout, lambda client: client.explain(content))


def request_learn(
    path: str, content: bytes, label: str, timeout: float = TIMEOUT_SECONDS
) -> JsonObject | None:
    """Learn a message durably, and return the counts of new, moved and known messages."""
    return _request_once(path, timeout, lambda client: client.learn(content, label))


def request_unlearn(path: str, content: bytes, timeout: float = TIMEOUT_SECONDS) -> JsonObject | None:
    """Unlearn a message durably, and return the counts of unlearned messages."""
    return _request_once(path, timeout, lambda client: client.unlearn(content))


class Client:
    """A connection for many requests: `with Client(path) as client: client.filter(content)`.

    Raises OSError if no server of this user answers, and ValueError with the server's message if it reports
    an error.
    """

    def __init__(self, path: str | os.PathLike[str], timeout: float = TIMEOUT_SECONDS) -> None:
        # In a shared folder such as /tmp, another user could listen to read mail and forge verdicts.
        if os.stat(path).st_uid != os.geteuid():
            raise PermissionError(f"{os.fspath(path)} belongs to another user.")
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.settimeout(timeout)
            self._socket.connect(os.fspath(path))
        except BaseException:
            self._socket.close()
            raise
        self._file = self._socket.makefile("rb")

    def filter(self, content: bytes) -> bytes:
        """Return the message with its verdict in a header."""
        return self.request("FILTER", content)

    def judge(self, content: bytes) -> JsonObject:
        """Return the label, probability and score of a message."""
        return _parse_json(self.request("JUDGE", content))

    def explain(self, content: bytes) -> JsonObject:
        """Return the explanation of a message's verdict."""
        return _parse_json(self.request("EXPLAIN", content))

    def learn(self, content: bytes, label: str) -> JsonObject:
        """Learn a message as "ham" or "spam"."""
        return _parse_json(self.request(f"LEARN {label}", content))

    def unlearn(self, content: bytes) -> JsonObject:
        """Unlearn a message."""
        return _parse_json(self.request("UNLEARN", content))

    def status(self) -> JsonObject:
        """Return the status of the store."""
        return _parse_json(self.request("STATUS"))

    def request(self, command: str, content: bytes | None = None) -> bytes:
        """Send a request, with or without a message, and return the answer."""
        length = b"" if content is None else b" %d" % len(content)
        self._socket.sendall(b"%b%b\n%b" % (command.encode("ascii"), length, content or b""))
        outcome, _, size = self._file.readline(_MAX_LINE_BYTES).partition(b" ")
        if outcome not in (b"OK", b"NO"):
            raise ConnectionError("The server closed the connection.")
        answer = self._file.read(int(size))
        if len(answer) < int(size):
            raise ConnectionError("The server closed the connection.")
        if outcome == b"NO":
            raise ValueError(answer.decode("utf-8", "replace"))
        return answer

    def close(self) -> None:
        """Close the connection."""
        self._file.close()
        self._socket.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _request_once(path: str, timeout: float, send: Callable[[Client], Answer]) -> Answer | None:
    try:
        with Client(path, timeout) as client:
            return send(client)
    except (OSError, ValueError):
        return None


def _parse_json(answer: bytes) -> JsonObject:
    document: JsonObject = json.loads(answer)
    return document
