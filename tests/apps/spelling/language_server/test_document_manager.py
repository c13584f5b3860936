"""Documents are checked in threads, one check of each at a time, and only the newest text counts."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from weigh.apps.spelling.language_server import document_manager as desks
from weigh.apps.spelling.language_server.document_manager import DocumentManager, OpenDocument, SpellerLoader
from weigh.apps.spelling.language_server.text_document import TextDocument
from weigh.apps.spelling.suggestions import Suggestion, SuggestionReason


class Slow:
    """A speller that waits until it is let go on, and remembers what it was asked."""

    def __init__(self):
        self.asked = []
        self.running = self.most = 0
        self.go = threading.Event()
        self.go.set()

    def check(self, text, *, name="text.txt"):
        self.asked.append(text)
        self.running += 1
        self.most = max(self.most, self.running)
        self.go.wait(10)
        self.running -= 1
        if "odd" in text:
            raise ValueError(text)
        reason = (SuggestionReason("before:know", 1.0),)
        return [
            Suggestion(name, 1, 1, each.start(), each.end(), "weather", "whether", 0.9, reason)
            for each in re.finditer("weather", text)
        ]


class Shown(list):
    """What a desk shows, tells and notes."""

    def show(self, paper):
        self.append((paper.uri, [each.begin for each in paper.result.suggestions]))


def played(play, tmp_path, pause=0.02):
    """Let a coroutine play with a desk whose speller is slow."""
    (tmp_path / "model").write_text("")

    async def scene():
        slow, shown, told = Slow(), Shown(), []
        with ThreadPoolExecutor(2) as pool:
            model = SpellerLoader(str(tmp_path / "model"), lambda path: slow)
            desk = DocumentManager(
                model, pool, show=shown.show, tell=told.append, note=told.append, pause=pause
            )
            await play(desk, slow, shown)
        return slow, shown, told

    return asyncio.run(scene())


def paper(text, uri="a", name="a.txt"):
    return OpenDocument(uri, "plaintext", name, 1, TextDocument(text))


async def changed(desk, sheet, text):
    sheet.text.replace(text)
    sheet.version += 1
    desk.handle_change(sheet)


async def running(slow):
    while not slow.running:
        await asyncio.sleep(0.001)


def test_a_check_that_began_before_a_change_is_dropped(tmp_path):
    async def play(desk, slow, shown):
        slow.go.clear()
        sheet = paper("weather")
        desk.open(sheet)
        await running(slow)
        await changed(desk, sheet, "a weather")
        await asyncio.sleep(0.05)
        slow.go.set()
        assert [each.begin for each in (await desk.wait_for_result(sheet)).suggestions] == [2]

    slow, shown, told = played(play, tmp_path)
    assert slow.asked == ["weather", "a weather"]
    assert slow.most == 1
    assert (shown, told) == ([("a", [2])], [])


def test_many_changes_are_one_check_after_a_pause(tmp_path):
    async def play(desk, slow, shown):
        sheet = paper("")
        desk.open(sheet)
        await desk.wait_for_result(sheet)
        for end in range(1, 8):
            await changed(desk, sheet, "weather"[:end])
            await asyncio.sleep(0.001)
        while len(shown) < 2:
            await asyncio.sleep(0.01)

    slow, shown, _ = played(play, tmp_path, pause=0.6)
    assert slow.asked == ["", "weather"]
    assert shown == [("a", []), ("a", [0])]


def test_whoever_asks_does_not_wait_for_the_pause(tmp_path):
    async def play(desk, slow, shown):
        sheet = paper("")
        desk.open(sheet)
        await changed(desk, sheet, "weather")
        assert len((await desk.wait_for_result(sheet)).suggestions) == 1

    begun = time.monotonic()
    played(play, tmp_path, pause=60)
    assert time.monotonic() - begun < 30


def test_one_long_check_does_not_keep_others_waiting(tmp_path):
    async def play(desk, slow, shown):
        slow.go.clear()
        desk.open(paper("weather", "long"))
        await running(slow)
        other = slow.go
        slow.go = threading.Event()
        slow.go.set()
        short = paper("weather", "short")
        desk.open(short)
        await desk.wait_for_result(short)
        assert shown == [("short", [0])]
        other.set()

    played(play, tmp_path)


def test_a_document_that_was_closed_is_cleared_and_shown_no_more(tmp_path):
    async def play(desk, slow, shown):
        slow.go.clear()
        sheet = paper("weather")
        desk.open(sheet)
        await running(slow)
        desk.close("a")
        desk.close("never-opened")
        slow.go.set()
        assert await desk.wait_for_result(sheet) is None
        await asyncio.sleep(0.05)

    _, shown, _ = played(play, tmp_path)
    assert shown == [("a", [])]


def test_a_document_that_is_opened_again_is_another(tmp_path):
    async def play(desk, slow, shown):
        slow.go.clear()
        desk.open(paper("weather"))
        await running(slow)
        again = paper("a weather")
        desk.open(again)
        slow.go.set()
        await desk.wait_for_result(again)
        await asyncio.sleep(0.05)

    _, shown, _ = played(play, tmp_path)
    assert shown == [("a", []), ("a", [2])]


def test_what_is_not_prose_or_too_long_is_not_checked(tmp_path, monkeypatch):
    monkeypatch.setattr(desks, "MAX_DOCUMENT_LENGTH", 20)

    async def play(desk, slow, shown):
        for sheet in (paper("weather", "code", None), paper("weather" * 3, "long")):
            desk.open(sheet)
            await desk.wait_for_result(sheet)

    slow, shown, told = played(play, tmp_path)
    assert slow.asked == []
    assert shown == [("code", []), ("long", [])]
    assert told == ["long has more than 20 characters and is not checked."]


def test_a_check_that_fails_is_noted_without_a_word_of_the_document(tmp_path):
    async def play(desk, slow, shown):
        sheet = paper("odd secret")
        desk.open(sheet)
        assert (await desk.wait_for_result(sheet)).suggestions == ()
        await changed(desk, sheet, "weather")
        assert len((await desk.wait_for_result(sheet)).suggestions) == 1

    *_, told = played(play, tmp_path)
    assert told == ["a could not be checked: ValueError."]
