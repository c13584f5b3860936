"""What the server does with a message, whoever asks."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from weigh.apps.mail.header import MAX_REASONS, ContributionLike, VerdictLike, add_verdict_header
from weigh.text import format_clipped_probability

LogCallback = Callable[[str], None]


class JsonResult(Protocol):
    """A result that can be written as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""


class JsonVerdict(VerdictLike, JsonResult, Protocol):
    """A verdict of the store."""


class JsonExplanation(JsonResult, Protocol):
    """An explanation of the store."""

    @property
    def verdict(self) -> VerdictLike:
        """What is explained."""


class FilterStore(Protocol):
    """What is asked of a store, by several threads at once."""

    def judge(self, contents: Sequence[bytes]) -> Sequence[JsonVerdict]:
        """A verdict for each message."""

    def brief(self, content: bytes, most: int) -> tuple[VerdictLike, Sequence[ContributionLike]]:
        """The verdict and the features that say most."""

    def explain(self, content: bytes) -> JsonExplanation:
        """Why a message is judged as it is."""

    def learn(self, contents: Sequence[bytes], label: str) -> JsonResult:
        """Learn messages for good."""

    def unlearn(self, contents: Sequence[bytes]) -> JsonResult:
        """Unlearn messages for good."""

    def status(self) -> JsonResult:
        """What the store has learned."""


class FilterService:
    """The commands of the server, by name, for a store.

    `told` is given a line for each message: when, what was asked, how long the message is and, where there
    is one, its verdict; nothing that the message says.
    """

    def __init__(self, store: FilterStore, told: LogCallback | None = None) -> None:
        self._store = store
        self._log = told
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
        """Do what a request asks."""
        return self._commands[command](content)

    def filter(self, content: bytes) -> bytes:
        """The message with its verdict and the strongest evidence in a header."""
        verdict, evidence = self._store.brief(content, MAX_REASONS)
        self._log_request("filter", content, verdict)
        return add_verdict_header(content, verdict, evidence)

    def _judge(self, content: bytes) -> bytes:
        verdict = self._store.judge([content])[0]
        self._log_request("judge", content, verdict)
        return _to_json(verdict)

    def _explain(self, content: bytes) -> bytes:
        explained = self._store.explain(content)
        self._log_request("explain", content, explained.verdict)
        return _to_json(explained)

    def _learn(self, content: bytes, label: str) -> bytes:
        learned = self._store.learn([content], label)
        self._log_request(f"learn {label}", content)
        return _to_json(learned)

    def _unlearn(self, content: bytes) -> bytes:
        unlearned = self._store.unlearn([content])
        self._log_request("unlearn", content)
        return _to_json(unlearned)

    def _status(self) -> bytes:
        return _to_json(self._store.status())

    def _log_request(self, asked: str, content: bytes, verdict: VerdictLike | None = None) -> None:
        if self._log is not None:
            now = time.strftime("%Y-%m-%d %H:%M:%S")
            found = (
                ""
                if verdict is None
                else f", {verdict.label} {format_clipped_probability(verdict.probability)}"
            )
            self._log(f"{now} {asked}, {len(content):,} bytes{found}")


def _to_json(result: JsonResult) -> bytes:
    return json.dumps(result.to_dict(), ensure_ascii=False).encode("utf-8", "replace") + b"\n"


MESSAGE_COMMANDS = ("FILTER", "JUDGE", "EXPLAIN", "LEARN SPAM", "LEARN HAM", "UNLEARN")
PLAIN_COMMANDS = ("STATUS", "PING")
UNTIL_EOF = "-"
MAX_LINE_BYTES = 80
MAX_MESSAGE_BYTES = 64 << 20


class ProtocolError(Exception):
    """A request that breaks the rules; what follows it cannot be understood either."""


class FilterRequest(NamedTuple):
    """What is asked, and the bytes of the message that follows; None means all until the end."""

    command: str
    length: int | None


def parse_request(line: bytes) -> FilterRequest:
    """Read the first line of a request."""
    words = line.decode("ascii", "replace").upper().split()
    if " ".join(words) in PLAIN_COMMANDS:
        return FilterRequest(" ".join(words), 0)
    *command, length = words or [""]
    if " ".join(command) not in MESSAGE_COMMANDS:
        known = ", ".join(f"{each} LENGTH" for each in MESSAGE_COMMANDS)
        raise ProtocolError(f"Not a command. The commands are {known}, {', '.join(PLAIN_COMMANDS)}.")
    if length == UNTIL_EOF:
        return FilterRequest(" ".join(command), None)
    if not (length.isascii() and length.isdigit()):
        raise ProtocolError("The length must be a number of bytes, or - for all until the end.")
    if int(length) > MAX_MESSAGE_BYTES:
        raise message_too_long_error()
    return FilterRequest(" ".join(command), int(length))


def message_too_long_error() -> ProtocolError:
    """Word the refusal of a message that is too long."""
    return ProtocolError(f"The message is longer than {MAX_MESSAGE_BYTES:,} bytes.")


def encode_success(content: bytes) -> bytes:
    """An answer to what was asked."""
    return b"OK %d\n%b" % (len(content), content)


def encode_failure(sentence: str) -> bytes:
    """An answer that says why there is none."""
    content = sentence.encode("utf-8", "replace")
    return b"NO %d\n%b" % (len(content), content)
