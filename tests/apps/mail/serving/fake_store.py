"""A fake store that judges by one word and records what it learns, and its server in a thread."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import threading
import time

from weigh.apps.mail.serving.server import running_server
from weigh.apps.mail.serving.service import FilterService


class JsonResult:
    def to_dict(self):
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True)
class Verdict(JsonResult):
    label: str
    probability: float


@dataclasses.dataclass(frozen=True)
class Reason:
    name: str
    contribution: float


@dataclasses.dataclass(frozen=True)
class Explanation(JsonResult):
    verdict: Verdict
    rows: list[Reason]


@dataclasses.dataclass(frozen=True)
class Count(JsonResult):
    new: int


class FakeStore:
    """Judges mail with `prize` as spam; `fail` makes it raise, and `slow` makes it wait."""

    def __init__(self):
        self.learned = []

    def judge(self, contents):
        return [self._judge(content) for content in contents]

    def _judge(self, content):
        if b"fail" in content:
            raise RuntimeError(content.decode())
        if b"slow" in content:
            time.sleep(0.3)
        return Verdict("spam", 0.9995) if b"prize" in content else Verdict("ham", 0.0005)

    def explain(self, content):
        return Explanation(self._judge(content), [Reason("prize", 2.5)] if b"prize" in content else [])

    def brief(self, content, most):
        explanation = self.explain(content)
        return explanation.verdict, explanation.rows[:most]

    def learn(self, contents, label):
        self.learned += [(content, label) for content in contents]
        return Count(len(contents))

    def unlearn(self, contents):
        before = len(self.learned)
        self.learned = [each for each in self.learned if each[0] not in contents]
        return Count(before - len(self.learned))

    def status(self):
        return Count(len(self.learned))


@contextlib.contextmanager
def server(path, store=None, route=None, log=None):
    """Serve in a thread during the block."""
    service = FilterService(store or FakeStore(), log)
    ready, state = threading.Event(), {}

    async def run():
        async with running_server(service, str(path), route) as addresses:
            state.update(addresses=addresses, loop=asyncio.get_running_loop(), stop=asyncio.Event())
            ready.set()
            await state["stop"].wait()

    def main():
        try:
            asyncio.run(run())
        except BaseException as error:
            state["error"] = error
            ready.set()

    thread = threading.Thread(target=main)
    thread.start()
    assert ready.wait(10)
    try:
        if "error" in state:
            raise state["error"]
        yield state["addresses"]
    finally:
        if "stop" in state:
            state["loop"].call_soon_threadsafe(state["stop"].set)
        thread.join(40)
        assert not thread.is_alive()
    if "error" in state:
        raise state["error"]
