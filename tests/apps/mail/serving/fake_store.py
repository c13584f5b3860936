"""A store that judges by one word and remembers what it is told, and a server for it in a thread."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import threading
import time

from weigh.apps.mail.serving.server import running_server
from weigh.apps.mail.serving.service import FilterService


class Plain:
    def to_dict(self):
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True)
class Verdict(Plain):
    label: str
    probability: float


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    contribution: float


@dataclasses.dataclass(frozen=True)
class Explanation(Plain):
    verdict: Verdict
    rows: list[Row]


@dataclasses.dataclass(frozen=True)
class Learned(Plain):
    new: int


class StandIn:
    """Mail with `prize` is spam; `fail` makes it stumble, and `slow` wait."""

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
        return Explanation(self._judge(content), [Row("prize", 2.5)] if b"prize" in content else [])

    def brief(self, content, most):
        found = self.explain(content)
        return found.verdict, found.rows[:most]

    def learn(self, contents, label):
        self.learned += [(content, label) for content in contents]
        return Learned(len(contents))

    def unlearn(self, contents):
        before = len(self.learned)
        self.learned = [each for each in self.learned if each[0] not in contents]
        return Learned(before - len(self.learned))

    def status(self):
        return Learned(len(self.learned))


@contextlib.contextmanager
def server(path, store=None, route=None, told=None):
    """Serve in a thread as long as the block lasts."""
    service = FilterService(store or StandIn(), told)
    ready, found = threading.Event(), {}

    async def run():
        async with running_server(service, str(path), route) as places:
            found.update(places=places, loop=asyncio.get_running_loop(), stop=asyncio.Event())
            ready.set()
            await found["stop"].wait()

    def main():
        try:
            asyncio.run(run())
        except BaseException as error:
            found["error"] = error
            ready.set()

    thread = threading.Thread(target=main)
    thread.start()
    assert ready.wait(10)
    try:
        if "error" in found:
            raise found["error"]
        yield found["places"]
    finally:
        if "stop" in found:
            found["loop"].call_soon_threadsafe(found["stop"].set)
        thread.join(40)
        assert not thread.is_alive()
    if "error" in found:
        raise found["error"]
