"""Documents are checked in threads, one check at a time, and only the newest text counts."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from weigh.apps.spelling.language_server import document_manager
from weigh.apps.spelling.language_server.document_manager import DocumentManager, OpenDocument, SpellerLoader
from weigh.apps.spelling.language_server.text_document import TextDocument
from weigh.apps.spelling.suggestions import Suggestion, SuggestionReason


class SlowSpeller:
    """A speller that records the texts it checks, and waits for an event."""

    def __init__(self):
        self.texts = []
        self.running = self.max_running = 0
        self.go = threading.Event()
        self.go.set()

    def check(self, text, *, name="text.txt"):
        self.texts.append(text)
        self.running += 1
        self.max_running = max(self.max_running, self.running)
        self.go.wait(10)
        self.running -= 1
        if "odd" in text:
            raise ValueError(text)
        reason = (SuggestionReason("before:know", 1.0),)
        return [
            Suggestion(name, 1, 1, each.start(), each.end(), "weather", "whether", 0.9, reason)
            for each in re.finditer("weather", text)
        ]


class Published(list):
    """The URIs and suggestion offsets that a manager publishes."""

    def publish(self, document):
        self.append((document.uri, [each.begin for each in document.result.suggestions]))


def run_scenario(scenario, tmp_path, typing_pause=0.02):
    """Run a coroutine with a document manager whose speller is slow."""
    (tmp_path / "model").write_text("")

    async def run():
        slow, published, messages = SlowSpeller(), Published(), []
        with ThreadPoolExecutor(2) as executor:
            loader = SpellerLoader(str(tmp_path / "model"), lambda path: slow)
            manager = DocumentManager(
                loader,
                executor,
                publish=published.publish,
                warn=messages.append,
                log=messages.append,
                typing_pause=typing_pause,
            )
            await scenario(manager, slow, published)
        return slow, published, messages

    return asyncio.run(run())


def open_document(text, uri="a", name="a.txt"):
    return OpenDocument(uri, "plaintext", name, 1, TextDocument(text))


async def change(manager, document, text):
    document.text.replace(text)
    document.version += 1
    manager.handle_change(document)


async def wait_until_running(slow):
    while not slow.running:
        await asyncio.sleep(0.001)


def test_stale_result_is_discarded(tmp_path):
    async def scenario(manager, slow, published):
        slow.go.clear()
        document = open_document("weather")
        manager.open(document)
        await wait_until_running(slow)
        await change(manager, document, "a weather")
        await asyncio.sleep(0.05)
        slow.go.set()
        assert [each.begin for each in (await manager.wait_for_result(document)).suggestions] == [2]

    slow, published, messages = run_scenario(scenario, tmp_path)
    assert slow.texts == ["weather", "a weather"]
    assert slow.max_running == 1
    assert (published, messages) == ([("a", [2])], [])


def test_changes_during_the_typing_pause_cause_one_check(tmp_path):
    async def scenario(manager, slow, published):
        document = open_document("")
        manager.open(document)
        await manager.wait_for_result(document)
        for end in range(1, 8):
            await change(manager, document, "weather"[:end])
            await asyncio.sleep(0.001)
        while len(published) < 2:
            await asyncio.sleep(0.01)

    slow, published, _ = run_scenario(scenario, tmp_path, typing_pause=0.6)
    assert slow.texts == ["", "weather"]
    assert published == [("a", []), ("a", [0])]


def test_waiting_for_a_result_skips_the_typing_pause(tmp_path):
    async def scenario(manager, slow, published):
        document = open_document("")
        manager.open(document)
        await change(manager, document, "weather")
        assert len((await manager.wait_for_result(document)).suggestions) == 1

    start = time.monotonic()
    run_scenario(scenario, tmp_path, typing_pause=60)
    assert time.monotonic() - start < 30


def test_long_check_does_not_block_other_documents(tmp_path):
    async def scenario(manager, slow, published):
        slow.go.clear()
        manager.open(open_document("weather", "long"))
        await wait_until_running(slow)
        other = slow.go
        slow.go = threading.Event()
        slow.go.set()
        short = open_document("weather", "short")
        manager.open(short)
        await manager.wait_for_result(short)
        assert published == [("short", [0])]
        other.set()

    run_scenario(scenario, tmp_path)


def test_closed_document_is_cleared_and_not_published_again(tmp_path):
    async def scenario(manager, slow, published):
        slow.go.clear()
        document = open_document("weather")
        manager.open(document)
        await wait_until_running(slow)
        manager.close("a")
        manager.close("never-opened")
        slow.go.set()
        assert await manager.wait_for_result(document) is None
        await asyncio.sleep(0.05)

    _, published, _ = run_scenario(scenario, tmp_path)
    assert published == [("a", [])]


def test_reopened_document_replaces_the_first(tmp_path):
    async def scenario(manager, slow, published):
        slow.go.clear()
        manager.open(open_document("weather"))
        await wait_until_running(slow)
        again = open_document("a weather")
        manager.open(again)
        slow.go.set()
        await manager.wait_for_result(again)
        await asyncio.sleep(0.05)

    _, published, _ = run_scenario(scenario, tmp_path)
    assert published == [("a", []), ("a", [2])]


def test_code_and_overlong_documents_are_not_checked(tmp_path, monkeypatch):
    monkeypatch.setattr(document_manager, "MAX_DOCUMENT_LENGTH", 20)

    async def scenario(manager, slow, published):
        for document in (open_document("weather", "code", None), open_document("weather" * 3, "long")):
            manager.open(document)
            await manager.wait_for_result(document)

    slow, published, messages = run_scenario(scenario, tmp_path)
    assert slow.texts == []
    assert published == [("code", []), ("long", [])]
    assert messages == ["long has more than 20 characters and is not checked."]


def test_failed_check_is_logged_without_document_text(tmp_path):
    async def scenario(manager, slow, published):
        document = open_document("odd secret")
        manager.open(document)
        assert (await manager.wait_for_result(document)).suggestions == ()
        await change(manager, document, "weather")
        assert len((await manager.wait_for_result(document)).suggestions) == 1

    *_, messages = run_scenario(scenario, tmp_path)
    assert messages == ["a could not be checked: ValueError."]
