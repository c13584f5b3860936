"""What the server does with a message, whoever asks."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from weigh.apps.mail.header import STRONGEST, Judged, Telling, with_header
from weigh.text import chance

Told = Callable[[str], None]


class Written(Protocol):
    """A result that can be written as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""


class Verdict(Judged, Written, Protocol):
    """A verdict of the store."""


class Explained(Written, Protocol):
    """An explanation of the store."""

    @property
    def verdict(self) -> Judged:
        """What is explained."""


class Store(Protocol):
    """What is asked of a store, by several threads at once."""

    def judge(self, contents: Sequence[bytes]) -> Sequence[Verdict]:
        """A verdict for each message."""

    def brief(self, content: bytes, most: int) -> tuple[Judged, Sequence[Telling]]:
        """The verdict and the features that say most."""

    def explain(self, content: bytes) -> Explained:
        """Why a message is judged as it is."""

    def learn(self, contents: Sequence[bytes], label: str) -> Written:
        """Learn messages for good."""

    def unlearn(self, contents: Sequence[bytes]) -> Written:
        """Unlearn messages for good."""

    def status(self) -> Written:
        """What the store has learned."""


class Service:
    """The commands of the server, by name, for a store.

    `told` is given a line for each message: when, what was asked, how long the message is and, where there
    is one, its verdict; nothing that the message says.
    """

    def __init__(self, store: Store, told: Told | None = None) -> None:
        self._store = store
        self._told = told
        self._commands: dict[str, Callable[[bytes], bytes]] = {
            "FILTER": self.filtered,
            "JUDGE": self._judged,
            "EXPLAIN": self._explained,
            "LEARN SPAM": lambda content: self._learned(content, "spam"),
            "LEARN HAM": lambda content: self._learned(content, "ham"),
            "UNLEARN": self._unlearned,
            "STATUS": lambda _: self._status(),
            "PING": lambda _: b"weigh\n",
        }

    def answer(self, command: str, content: bytes) -> bytes:
        """Do what a request asks."""
        return self._commands[command](content)

    def filtered(self, content: bytes) -> bytes:
        """The message with its verdict and the strongest evidence in a header."""
        verdict, evidence = self._store.brief(content, STRONGEST)
        self._tell("filter", content, verdict)
        return with_header(content, verdict, evidence)

    def _judged(self, content: bytes) -> bytes:
        verdict = self._store.judge([content])[0]
        self._tell("judge", content, verdict)
        return _written(verdict)

    def _explained(self, content: bytes) -> bytes:
        explained = self._store.explain(content)
        self._tell("explain", content, explained.verdict)
        return _written(explained)

    def _learned(self, content: bytes, label: str) -> bytes:
        learned = self._store.learn([content], label)
        self._tell(f"learn {label}", content)
        return _written(learned)

    def _unlearned(self, content: bytes) -> bytes:
        unlearned = self._store.unlearn([content])
        self._tell("unlearn", content)
        return _written(unlearned)

    def _status(self) -> bytes:
        return _written(self._store.status())

    def _tell(self, asked: str, content: bytes, verdict: Judged | None = None) -> None:
        if self._told is not None:
            now = time.strftime("%Y-%m-%d %H:%M:%S")
            found = "" if verdict is None else f", {verdict.label} {chance(verdict.probability)}"
            self._told(f"{now} {asked}, {len(content):,} bytes{found}")


def _written(result: Written) -> bytes:
    return json.dumps(result.to_dict(), ensure_ascii=False).encode("utf-8", "replace") + b"\n"
