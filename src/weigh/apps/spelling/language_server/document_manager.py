"""The documents that an editor has open, each checked in a thread and never more than once at a time.

A check that began before the document changed is dropped, and the document is checked again.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Protocol

from weigh.apps.spelling.language_server.text_document import PositionIndex, TextDocument
from weigh.apps.spelling.suggestions import Suggestion
from weigh.errors import WeighError

# While somebody types, a pause of this many seconds comes before a check.
TYPING_PAUSE = 0.25
# A longer document is not checked: its copies would fill the memory of the editor's machine.
MAX_DOCUMENT_LENGTH = 1 << 25


@dataclass(frozen=True)
class CheckResult:
    """The suggestions of a speller for one version of a document, and where its characters are."""

    version: int
    speller: SpellChecker | None = None
    suggestions: tuple[Suggestion, ...] = ()
    position_index: PositionIndex = field(default_factory=lambda: PositionIndex((), "utf-32"))


@dataclass(eq=False)
class OpenDocument:
    """An open document: the file name that it is read as (None: not at all), its text, what was found."""

    uri: str
    language: str
    name: str | None
    version: int
    text: TextDocument
    revision: int = 0
    result: CheckResult | None = None
    timer: asyncio.TimerHandle | None = None
    task: asyncio.Task[None] | None = None
    is_due: bool = False


class DocumentManager:
    """All open documents of one editor.

    `show` gets a document whose suggestions are new, `tell` a sentence for the user, and `note` one for the
    editor's log; no sentence ever has a word of a document in it.
    """

    def __init__(
        self,
        model: SpellerLoader,
        pool: Executor,
        *,
        show: Callable[[OpenDocument], None],
        tell: Callable[[str], None],
        note: Callable[[str], None],
        pause: float = TYPING_PAUSE,
    ) -> None:
        self.loader = model
        self._pool = pool
        self._show = show
        self._tell = tell
        self._note = note
        self._pause = pause
        self._is_paused = False
        self._documents: dict[str, OpenDocument] = {}

    def get(self, uri: str) -> OpenDocument | None:
        """The open document of a name."""
        return self._documents.get(uri)

    def open(self, paper: OpenDocument) -> None:
        """Check a document, and heed it from now on."""
        self.close(paper.uri)
        self._documents[paper.uri] = paper
        self._schedule(paper, 0)

    def handle_change(self, paper: OpenDocument) -> None:
        """Check a document after a pause: its text is another."""
        paper.revision += 1
        self._schedule(paper, self._pause)

    def handle_save(self, paper: OpenDocument) -> None:
        """Check a document at once."""
        self._schedule(paper, 0)

    def close(self, uri: str) -> None:
        """Forget a document, and what is shown of it."""
        paper = self._documents.pop(uri, None)
        if paper is None:
            return
        if paper.timer is not None:
            paper.timer.cancel()
        paper.result = CheckResult(paper.version)
        self._show(paper)

    def use_loader(self, model: SpellerLoader) -> None:
        """Check everything with another speller."""
        self.loader = model
        self._schedule_all()

    def update_formats(self, name: Callable[[OpenDocument], str | None]) -> None:
        """Check every document, read as a function says now."""
        for paper in self._documents.values():
            paper.name = name(paper)
        self._schedule_all()

    def pause(self) -> None:
        """Check nothing for now: how to check is not settled yet."""
        self._is_paused = True

    def resume(self) -> None:
        """Check what was asked for meanwhile."""
        self._is_paused = False
        self._schedule_all()

    async def reload(self) -> None:
        """Look whether the speller was learned again; if so, check everything."""
        await asyncio.get_running_loop().run_in_executor(self._pool, self.loader.load_current)
        self._handle_loader_change()

    async def wait_for_result(self, paper: OpenDocument) -> CheckResult | None:
        """What is found in a document as it is now; None if it is not checked, or closed meanwhile."""
        while self._documents.get(paper.uri) is paper:
            if paper.timer is not None:
                paper.timer.cancel()
                self._start_check(paper)
            if paper.task is None:
                return paper.result
            await asyncio.shield(paper.task)
        return None

    def _schedule(self, paper: OpenDocument, pause: float) -> None:
        if paper.timer is not None:
            paper.timer.cancel()
        paper.timer = asyncio.get_running_loop().call_later(pause, self._start_check, paper)

    def _schedule_all(self) -> None:
        for paper in self._documents.values():
            self._schedule(paper, 0)

    def _start_check(self, paper: OpenDocument) -> None:
        paper.timer = None
        paper.is_due = True
        if paper.task is None and not self._is_paused:
            paper.task = asyncio.get_running_loop().create_task(self._check_until_current(paper))

    async def _check_until_current(self, paper: OpenDocument) -> None:
        """Check a document until the newest version is checked."""
        try:
            while paper.is_due and self._documents.get(paper.uri) is paper:
                paper.is_due = False
                # Editors may give a version twice, so it is not what tells stale suggestions.
                revision = paper.revision
                found = await self._check_once(paper)
                if paper.revision == revision and self._documents.get(paper.uri) is paper:
                    paper.result = found
                    self._show(paper)
                self._handle_loader_change()
        finally:
            paper.task = None

    async def _check_once(self, paper: OpenDocument) -> CheckResult:
        version, name = paper.version, paper.name
        if name is None:
            return CheckResult(version, self.loader.last_speller)
        text, places = paper.text.to_string(), paper.text.position_index()
        if len(text) > MAX_DOCUMENT_LENGTH:
            self._note(f"{paper.uri} has more than {MAX_DOCUMENT_LENGTH:,} characters and is not checked.")
            return CheckResult(version, self.loader.last_speller)
        loop = asyncio.get_running_loop()
        try:
            speller, suggestions = await loop.run_in_executor(self._pool, _run_check, self.loader, text, name)
        except Exception as error:
            # Its words may be the document's.
            self._note(f"{paper.uri} could not be checked: {type(error).__name__}.")
            return CheckResult(version, self.loader.last_speller)
        return CheckResult(version, speller, tuple(suggestions), places)

    def _handle_loader_change(self) -> None:
        """Tell trouble with the speller, and check again what an older one has checked."""
        trouble = self.loader.take_error()
        if trouble is not None:
            self._tell(trouble)
        for paper in self._documents.values():
            if paper.result is not None and paper.result.speller is not self.loader.last_speller:
                self._schedule(paper, 0)


def _run_check(model: SpellerLoader, text: str, name: str) -> tuple[SpellChecker | None, list[Suggestion]]:
    speller = model.load_current()
    return speller, [] if speller is None else speller.check(text, name=name)


FileSignature = tuple[int, int, int] | None
LEARN_ADVICE = "Learn one from text of your own (weigh spell learn FOLDER -o FILE)"


class SpellChecker(Protocol):
    """What a server asks of a speller."""

    def check(self, text: str, *, name: str = ...) -> list[Suggestion]:
        """The suggestions for a text; its name says how it is to be read."""


class SpellerLoader:
    """A speller in a file. Any thread may ask for it; trouble is told once, and an older speller stays."""

    def __init__(self, path: str | None, load: Callable[[str], SpellChecker] | None = None) -> None:
        self.path = path
        self._load = load or _load_speller
        self._lock = threading.Lock()
        self._loaded_signature: FileSignature | str = "nothing yet"
        self._speller: SpellChecker | None = None
        self._error: str | None = None

    def load_current(self) -> SpellChecker | None:
        """The speller as its file is now."""
        with self._lock:
            mark = self._file_signature()
            if mark != self._loaded_signature:
                # A file that is replaced while it is read has another mark, and is read again.
                self._loaded_signature = mark
                self._reload()
            return self._speller

    @property
    def last_speller(self) -> SpellChecker | None:
        """The speller as it was last asked for."""
        return self._speller

    def take_error(self) -> str | None:
        """What was wrong with the file, if it has not been told yet."""
        with self._lock:
            told, self._error = self._error, None
            return told

    def _reload(self) -> None:
        if self.path is None:
            self._error = f"There is no speller. {LEARN_ADVICE}, and give the file as the setting model."
            return
        try:
            self._speller = self._load(self.path)
            self._error = None
        except Exception as error:
            told = str(error) if isinstance(error, WeighError) else f"{self.path}: {type(error).__name__}."
            if self._loaded_signature is None:
                told = f"{self.path}: there is no such speller. {LEARN_ADVICE}, or give another as the setting model."
            self._error = told + (" The speller loaded before stays in use." if self._speller else "")

    def _file_signature(self) -> FileSignature:
        """What changes when a file is replaced or rewritten."""
        try:
            found = os.stat(self.path or "")
        except (OSError, ValueError):
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size


def _load_speller(path: str) -> SpellChecker:
    from weigh.apps.spelling.speller import Speller

    return Speller.load(path)
