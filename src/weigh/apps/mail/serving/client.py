"""Asking a running server, from programs that start often: nothing but sockets is imported.

The functions return None if no server runs there or if it cannot answer, for whatever reason; the caller
then works by itself, which also words the reason. To learn a message a second time changes nothing.
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
    """Where the server of a store listens unless it is told otherwise."""
    return os.path.join(folder, SOCKET_NAME)


def request_filter(path: str, content: bytes, patience: float = TIMEOUT_SECONDS) -> bytes | None:
    """The message with its verdict in a header."""
    return _request_once(path, patience, lambda client: client.filter(content))


def request_verdict(path: str, content: bytes, patience: float = TIMEOUT_SECONDS) -> JsonObject | None:
    """Label, probability and score of a message."""
    return _request_once(path, patience, lambda client: client.judge(content))


def request_explanation(path: str, content: bytes, patience: float = TIMEOUT_SECONDS) -> JsonObject | None:
    """The explanation of a message's verdict."""
    return _request_once(path, patience, lambda client: client.explain(content))


def request_learn(
    path: str, content: bytes, label: str, patience: float = TIMEOUT_SECONDS
) -> JsonObject | None:
    """How many messages were new, moved and known; what is returned has been learned for good."""
    return _request_once(path, patience, lambda client: client.learn(content, label))


def request_unlearn(path: str, content: bytes, patience: float = TIMEOUT_SECONDS) -> JsonObject | None:
    """How many messages were taken back; what is returned has been unlearned for good."""
    return _request_once(path, patience, lambda client: client.unlearn(content))


class Client:
    """A connection for many requests: `with Client(path) as client: client.filter(content)`.

    Raises OSError where no server of this user answers, and ValueError with the server's words where it
    refuses.
    """

    def __init__(self, path: str | os.PathLike[str], patience: float = TIMEOUT_SECONDS) -> None:
        # In a folder of all, such as /tmp, somebody else could wait for mail to read and verdicts to give.
        if os.stat(path).st_uid != os.geteuid():
            raise PermissionError(f"{os.fspath(path)} is somebody else's.")
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.settimeout(patience)
            self._socket.connect(os.fspath(path))
        except BaseException:
            self._socket.close()
            raise
        self._file = self._socket.makefile("rb")

    def filter(self, content: bytes) -> bytes:
        """The message with its verdict in a header."""
        return self.request("FILTER", content)

    def judge(self, content: bytes) -> JsonObject:
        """Label, probability and score of a message."""
        return _parse_json(self.request("JUDGE", content))

    def explain(self, content: bytes) -> JsonObject:
        """The explanation of a message's verdict."""
        return _parse_json(self.request("EXPLAIN", content))

    def learn(self, content: bytes, label: str) -> JsonObject:
        """Learn a message as "ham" or "spam"."""
        return _parse_json(self.request(f"LEARN {label}", content))

    def unlearn(self, content: bytes) -> JsonObject:
        """Take a message back."""
        return _parse_json(self.request("UNLEARN", content))

    def status(self) -> JsonObject:
        """What the store is and has."""
        return _parse_json(self.request("STATUS"))

    def request(self, command: str, content: bytes | None = None) -> bytes:
        """The answer to a request, with a message or without."""
        length = b"" if content is None else b" %d" % len(content)
        self._socket.sendall(b"%b%b\n%b" % (command.encode("ascii"), length, content or b""))
        outcome, _, size = self._file.readline(_MAX_LINE_BYTES).partition(b" ")
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

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _request_once(path: str, patience: float, ask: Callable[[Client], Answer]) -> Answer | None:
    try:
        with Client(path, patience) as client:
            return ask(client)
    except (OSError, ValueError):
        return None


def _parse_json(answer: bytes) -> JsonObject:
    found: JsonObject = json.loads(answer)
    return found
