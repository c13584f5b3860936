"""The commands of the server, and the protocol of its local socket."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from weigh.apps.mail.header import MAX_REASONS, ContributionLike, VerdictLike, add_verdict_header
from weigh.text import format_clipped_probability

MESSAGE_COMMANDS = ("FILTER", "JUDGE", "EXPLAIN", "LEARN SPAM", "LEARN HAM", "UNLEARN")
PLAIN_COMMANDS = ("STATUS", "PING")
UNTIL_EOF = "-"
MAX_LINE_BYTES = 80
MAX_MESSAGE_BYTES = 64 << 20

LogCallback = Callable[[str], None]


class JsonResult(Protocol):
    """A result that can be written as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""


class JsonVerdict(VerdictLike, JsonResult, Protocol):
    """A verdict that can be written as JSON."""


class JsonExplanation(JsonResult, Protocol):
    """An explanation that can be written as JSON."""

    @property
    def verdict(self) -> VerdictLike:
        """The explained verdict."""


class FilterStore(Protocol):
    """The methods that the server needs of a store; several threads call them at once."""

    def judge(self, contents: Sequence[bytes]) -> Sequence[JsonVerdict]:
        """Return a verdict for each message."""

    def brief(self, content: bytes, most: int) -> tuple[VerdictLike, Sequence[ContributionLike]]:
        """Return the verdict and the `most` strongest reasons."""

    def explain(self, content: bytes) -> JsonExplanation:
        """Explain the verdict on a message."""

    def learn(self, contents: Sequence[bytes], label: str) -> JsonResult:
        """Learn messages durably."""

    def unlearn(self, contents: Sequence[bytes]) -> JsonResult:
        """Unlearn messages durably."""

    def status(self) -> JsonResult:
        """Return the status of the store."""


class FilterService:
    """Runs the server's commands on a store.

    `log` is called with a line for each message: time, command, size and, if there is one, the verdict, but
    nothing of the message's content.
    """

    def __init__(self, store: FilterStore, log: LogCallback | None = None) -> None:
        self._store = store
        self._log = log
        self._commands: dict[str, Callable[[bytes], bytes]] = {
            "FILTER": self.filter,
            "JUDGE": self._judge,
            "EXPLAIN": self._explain,
            "LEARN SPAM": lambda content: self._learn(content, "spam"),
            "LEARN HAM": lambda content: self._learn(content, "ham"),
            "UNLEARN": self._unlearn,
            "STATUS": lambda _: self._status(),
            "PING": lambda _: b"weigh\n",
        }

    def answer(self, command: str, content: bytes) -> bytes:
        """Run a command on a message, and return the answer."""
        return self._commands[command](content)

    def filter(self, content: bytes) -> bytes:
        """Return the message with its verdict and strongest evidence in a header."""
        verdict, evidence = self._store.brief(content, MAX_REASONS)
        self._log_request("filter", content, verdict)
        return add_verdict_header(content, verdict, evidence)

    def _judge(self, content: bytes) -> bytes:
        verdict = self._store.judge([content])[0]
        self._log_request("judge", content, verdict)
        return _to_json(verdict)

    def _explain(self, content: bytes) -> bytes:
        explanation = self._store.explain(content)
        self._log_request("explain", content, explanation.verdict)
        return _to_json(explanation)

    def _learn(self, content: bytes, label: str) -> bytes:
        result = self._store.learn([content], label)
        self._log_request(f"learn {label}", content)
        return _to_json(result)

    def _unlearn(self, content: bytes) -> bytes:
        result = self._store.unlearn([content])
        self._log_request("unlearn", content)
        return _to_json(result)

    def _status(self) -> bytes:
        return _to_json(self._store.status())

    def _log_request(self, command: str, content: bytes, verdict: VerdictLike | None = None) -> None:
        if self._log is None:
            return
        line = f"{time.strftime('%Y-%m-%d %H:%M:%S')} {command}, {len(content):,} bytes"
        if verdict is not None:
            line += f", {verdict.label} {format_clipped_probability(verdict.probability)}"
        self._log(line)


def _to_json(result: JsonResult) -> bytes:
    return json.dumps(result.to_dict(), ensure_ascii=False).encode("utf-8", "replace") + b"\n"


class ProtocolError(Exception):
    """An invalid request; the rest of the connection cannot be parsed either."""


class FilterRequest(NamedTuple):
    """A command and the length of its message in bytes; None means until end of file."""

    command: str
    length: int | None


def parse_request(line: bytes) -> FilterRequest:
    """Parse the first line of a request."""
    words = line.decode("ascii", "replace").upper().split()
    if " ".join(words) in PLAIN_COMMANDS:
        return FilterRequest(" ".join(words), 0)
    *command, length = words or [""]
    if " ".join(command) not in MESSAGE_COMMANDS:
        commands = ", ".join([*(f"{name} LENGTH" for name in MESSAGE_COMMANDS), *PLAIN_COMMANDS])
        raise ProtocolError(f"Unknown command. The commands are {commands}.")
    if length == UNTIL_EOF:
        return FilterRequest(" ".join(command), None)
    if not (length.isascii() and length.isdigit()):
        raise ProtocolError("The length must be a number of bytes, or - to read until end of file.")
    if int(length) > MAX_MESSAGE_BYTES:
        raise message_too_long_error()
    return FilterRequest(" ".join(command), int(length))


def message_too_long_error() -> ProtocolError:
    """Return the error for a message that is too long."""
    return ProtocolError(f"The message is longer than {MAX_MESSAGE_BYTES:,} bytes.")


def encode_success(content: bytes) -> bytes:
    """Encode a successful answer."""
    return b"OK %d\n%b" % (len(content), content)


def encode_failure(message: str) -> bytes:
    """Encode an error answer."""
    content = message.encode("utf-8", "replace")
    return b"NO %d\n%b" % (len(content), content)
