"""The open documents of an editor, and the speller that checks them.

Each document is checked in a thread, with at most one check at a time. If it changes during a check, the
result is discarded and the document is checked again.
"""

from __future__ import annotations

import asyncio
import functools
import os
import threading
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Protocol

from weigh.apps.spelling.language_server.text_document import PositionIndex, TextDocument
from weigh.apps.spelling.suggestions import Suggestion
from weigh.errors import WeighError

TYPING_PAUSE = 0.25  # seconds between the last change and a check
# Longer documents are not checked, because their copies would take too much memory.
MAX_DOCUMENT_LENGTH = 1 << 25


@dataclass(frozen=True)
class CheckResult:
    """The suggestions of a speller for one version of a document, and the positions of its characters."""

    version: int
    speller: SpellChecker | None = None
    suggestions: tuple[Suggestion, ...] = ()
    position_index: PositionIndex = field(default_factory=lambda: PositionIndex((), "utf-32"))


@dataclass(eq=False)
class OpenDocument:
    """An open document; `name` is the file name that determines its markup, None if it is not checked."""

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

    `publish` receives a document with a new result, `warn` a message for the user, and `log` one for the
    editor's log. Messages never contain text of a document.
    """

    def __init__(
        self,
        loader: SpellerLoader,
        executor: Executor,
        *,
        publish: Callable[[OpenDocument], None],
        warn: Callable[[str], None],
        log: Callable[[str], None],
        typing_pause: float = TYPING_PAUSE,
    ) -> None:
        self.loader = loader
        self._executor = executor
        self._publish = publish
        self._warn = warn
        self._log = log
        self._typing_pause = typing_pause
        self._is_paused = False
        self._documents: dict[str, OpenDocument] = {}

    def get(self, uri: str) -> OpenDocument | None:
        """Return the open document with this URI."""
        return self._documents.get(uri)

    def open(self, document: OpenDocument) -> None:
        """Add a document and check it."""
        self.close(document.uri)
        self._documents[document.uri] = document
        self._schedule(document, 0)

    def handle_change(self, document: OpenDocument) -> None:
        """Check a changed document after the typing pause."""
        document.revision += 1
        self._schedule(document, self._typing_pause)

    def handle_save(self, document: OpenDocument) -> None:
        """Check a document at once."""
        self._schedule(document, 0)

    def close(self, uri: str) -> None:
        """Remove a document and clear its published suggestions."""
        document = self._documents.pop(uri, None)
        if document is None:
            return
        if document.timer is not None:
            document.timer.cancel()
        document.result = CheckResult(document.version)
        self._publish(document)

    def use_loader(self, loader: SpellerLoader) -> None:
        """Check all documents with another speller."""
        self.loader = loader
        self._schedule_all()

    def update_formats(self, name: Callable[[OpenDocument], str | None]) -> None:
        """Set the names of all documents with a function, and check them again."""
        for document in self._documents.values():
            document.name = name(document)
        self._schedule_all()

    def pause(self) -> None:
        """Defer all checks until `resume`, because the settings are not known yet."""
        self._is_paused = True

    def resume(self) -> None:
        """Check all documents."""
        self._is_paused = False
        self._schedule_all()

    async def reload(self) -> None:
        """Reload the speller if its file has changed, and check all documents with it."""
        await asyncio.get_running_loop().run_in_executor(self._executor, self.loader.load_current)
        self._handle_loader_change()

    async def wait_for_result(self, document: OpenDocument) -> CheckResult | None:
        """Return the result for the current text of a document; None if it was closed meanwhile."""
        while self._documents.get(document.uri) is document:
            if document.timer is not None:
                document.timer.cancel()
                self._start_check(document)
            if document.task is None:
                return document.result
            await asyncio.shield(document.task)
        return None

    def _schedule(self, document: OpenDocument, pause: float) -> None:
        if document.timer is not None:
            document.timer.cancel()
        document.timer = asyncio.get_running_loop().call_later(pause, self._start_check, document)

    def _schedule_all(self) -> None:
        for document in self._documents.values():
            self._schedule(document, 0)

    def _start_check(self, document: OpenDocument) -> None:
        document.timer = None
        document.is_due = True
        if document.task is None and not self._is_paused:
            document.task = asyncio.get_running_loop().create_task(self._check_until_current(document))

    async def _check_until_current(self, document: OpenDocument) -> None:
        """Check a document until there is a result for its newest revision."""
        try:
            while document.is_due and self._documents.get(document.uri) is document:
                document.is_due = False
                # Editors may send the same version twice, so stale results are detected by our own revision.
                revision = document.revision
                result = await self._check_once(document)
                if document.revision == revision and self._documents.get(document.uri) is document:
                    document.result = result
                    self._publish(document)
                self._handle_loader_change()
        finally:
            document.task = None

    async def _check_once(self, document: OpenDocument) -> CheckResult:
        version, name = document.version, document.name
        if name is None:
            return CheckResult(version, self.loader.last_speller)
        text, position_index = document.text.to_string(), document.text.position_index()
        if len(text) > MAX_DOCUMENT_LENGTH:
            self._log(f"{document.uri} has more than {MAX_DOCUMENT_LENGTH:,} characters and is not checked.")
            return CheckResult(version, self.loader.last_speller)
        check = functools.partial(_run_check, self.loader, text, name)
        try:
            speller, suggestions = await asyncio.get_running_loop().run_in_executor(self._executor, check)
        except Exception as error:
            # The message of the error may quote the document.
            self._log(f"{document.uri} could not be checked: {type(error).__name__}.")
            return CheckResult(version, self.loader.last_speller)
        return CheckResult(version, speller, tuple(suggestions), position_index)

    def _handle_loader_change(self) -> None:
        """Report an error of the loader, and check documents again that an older speller has checked."""
        error = self.loader.take_error()
        if error is not None:
            self._warn(error)
        for document in self._documents.values():
            if document.result is not None and document.result.speller is not self.loader.last_speller:
                self._schedule(document, 0)


def _run_check(loader: SpellerLoader, text: str, name: str) -> tuple[SpellChecker | None, list[Suggestion]]:
    speller = loader.load_current()
    return speller, [] if speller is None else speller.check(text, name=name)


FileSignature = tuple[int, int, int] | None
LEARN_ADVICE = "Train one on your own text (weigh spell learn FOLDER -o FILE)"


class SpellChecker(Protocol):
    """The interface of a speller that the server needs."""

    def check(self, text: str, *, name: str = ...) -> list[Suggestion]:
        """Return the suggestions for a text; its name determines the markup."""


class SpellerLoader:
    """Loads a speller and reloads it when its file changes.

    Thread-safe. An error is reported once, and the speller loaded before stays in use.
    """

    def __init__(self, path: str | None, load: Callable[[str], SpellChecker] | None = None) -> None:
        self.path = path
        self._load = load or _load_speller
        self._lock = threading.Lock()
        self._loaded_signature: FileSignature | str = "nothing yet"
        self._speller: SpellChecker | None = None
        self._error: str | None = None

    def load_current(self) -> SpellChecker | None:
        """Return the speller, reloaded if its file has changed."""
        with self._lock:
            signature = self._file_signature()
            if signature != self._loaded_signature:
                # Taken before reading: a file replaced during the read is read again.
                self._loaded_signature = signature
                self._reload()
            return self._speller

    @property
    def last_speller(self) -> SpellChecker | None:
        """The speller of the last call of `load_current`."""
        return self._speller

    def take_error(self) -> str | None:
        """Return the error of the last load, unless it has been taken before."""
        with self._lock:
            error, self._error = self._error, None
            return error

    def _reload(self) -> None:
        if self.path is None:
            self._error = f"No speller is configured. {LEARN_ADVICE}, and set 'model' to the file."
            return
        try:
            self._speller = self._load(self.path)
            self._error = None
        except Exception as error:
            message = str(error) if isinstance(error, WeighError) else f"{self.path}: {type(error).__name__}."
            if self._loaded_signature is None:
                message = f"{self.path}: no such speller. {LEARN_ADVICE}, or set 'model' to another file."
            self._error = message + (" The speller loaded before stays in use." if self._speller else "")

    def _file_signature(self) -> FileSignature:
        """Return inode, modification time and size; None if there is no such file."""
        try:
            status = os.stat(self.path or "")
        except (OSError, ValueError):
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size


def _load_speller(path: str) -> SpellChecker:
    from weigh.apps.spelling.speller import Speller

    return Speller.load(path)
