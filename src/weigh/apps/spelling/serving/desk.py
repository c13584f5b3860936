"""The documents that an editor has open, each checked in a thread and never more than once at a time.

A check that began before the document changed is dropped, and the document is checked again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field

from weigh.apps.spelling.serving.model import Checker, Model
from weigh.apps.spelling.serving.text import Places, Text
from weigh.apps.spelling.suggestion import Suggestion

# While somebody types, a pause of this many seconds comes before a check.
PAUSE = 0.25
# A longer document is not checked: its copies would fill the memory of the editor's machine.
LONGEST = 1 << 25


@dataclass(frozen=True)
class Found:
    """The suggestions of a speller for one version of a document, and where its characters are."""

    version: int
    speller: Checker | None = None
    suggestions: tuple[Suggestion, ...] = ()
    places: Places = field(default_factory=lambda: Places((), "utf-32"))


@dataclass(eq=False)
class Paper:
    """An open document: the file name that it is read as (None: not at all), its text, what was found."""

    uri: str
    language: str
    name: str | None
    version: int
    text: Text
    revision: int = 0
    found: Found | None = None
    timer: asyncio.TimerHandle | None = None
    task: asyncio.Task[None] | None = None
    is_due: bool = False


class Desk:
    """All open documents of one editor.

    `show` gets a document whose suggestions are new, `tell` a sentence for the user, and `note` one for the
    editor's log; no sentence ever has a word of a document in it.
    """

    def __init__(
        self,
        model: Model,
        pool: Executor,
        *,
        show: Callable[[Paper], None],
        tell: Callable[[str], None],
        note: Callable[[str], None],
        pause: float = PAUSE,
    ) -> None:
        self.model = model
        self._pool = pool
        self._show = show
        self._tell = tell
        self._note = note
        self._pause = pause
        self._is_held = False
        self._papers: dict[str, Paper] = {}

    def get(self, uri: str) -> Paper | None:
        """The open document of a name."""
        return self._papers.get(uri)

    def open(self, paper: Paper) -> None:
        """Check a document, and heed it from now on."""
        self.close(paper.uri)
        self._papers[paper.uri] = paper
        self._ask(paper, 0)

    def changed(self, paper: Paper) -> None:
        """Check a document after a pause: its text is another."""
        paper.revision += 1
        self._ask(paper, self._pause)

    def saved(self, paper: Paper) -> None:
        """Check a document at once."""
        self._ask(paper, 0)

    def close(self, uri: str) -> None:
        """Forget a document, and what is shown of it."""
        paper = self._papers.pop(uri, None)
        if paper is None:
            return
        if paper.timer is not None:
            paper.timer.cancel()
        paper.found = Found(paper.version)
        self._show(paper)

    def use(self, model: Model) -> None:
        """Check everything with another speller."""
        self.model = model
        self._ask_all()

    def read_again(self, name: Callable[[Paper], str | None]) -> None:
        """Check every document, read as a function says now."""
        for paper in self._papers.values():
            paper.name = name(paper)
        self._ask_all()

    def hold(self) -> None:
        """Check nothing for now: how to check is not settled yet."""
        self._is_held = True

    def release(self) -> None:
        """Check what was asked for meanwhile."""
        self._is_held = False
        self._ask_all()

    async def reload(self) -> None:
        """Look whether the speller was learned again; if so, check everything."""
        await asyncio.get_running_loop().run_in_executor(self._pool, self.model.current)
        self._heed_model()

    async def settled(self, paper: Paper) -> Found | None:
        """What is found in a document as it is now; None if it is not checked, or closed meanwhile."""
        while self._papers.get(paper.uri) is paper:
            if paper.timer is not None:
                paper.timer.cancel()
                self._begin(paper)
            if paper.task is None:
                return paper.found
            await asyncio.shield(paper.task)
        return None

    def _ask(self, paper: Paper, pause: float) -> None:
        if paper.timer is not None:
            paper.timer.cancel()
        paper.timer = asyncio.get_running_loop().call_later(pause, self._begin, paper)

    def _ask_all(self) -> None:
        for paper in self._papers.values():
            self._ask(paper, 0)

    def _begin(self, paper: Paper) -> None:
        paper.timer = None
        paper.is_due = True
        if paper.task is None and not self._is_held:
            paper.task = asyncio.get_running_loop().create_task(self._tend(paper))

    async def _tend(self, paper: Paper) -> None:
        """Check a document until the newest version is checked."""
        try:
            while paper.is_due and self._papers.get(paper.uri) is paper:
                paper.is_due = False
                # Editors may give a version twice, so it is not what tells stale suggestions.
                revision = paper.revision
                found = await self._check(paper)
                if paper.revision == revision and self._papers.get(paper.uri) is paper:
                    paper.found = found
                    self._show(paper)
                self._heed_model()
        finally:
            paper.task = None

    async def _check(self, paper: Paper) -> Found:
        version, name = paper.version, paper.name
        if name is None:
            return Found(version, self.model.loaded)
        text, places = paper.text.whole(), paper.text.places()
        if len(text) > LONGEST:
            self._note(f"{paper.uri} has more than {LONGEST:,} characters and is not checked.")
            return Found(version, self.model.loaded)
        loop = asyncio.get_running_loop()
        try:
            speller, suggestions = await loop.run_in_executor(self._pool, _work, self.model, text, name)
        except Exception as error:
            # Its words may be the document's.
            self._note(f"{paper.uri} could not be checked: {type(error).__name__}.")
            return Found(version, self.model.loaded)
        return Found(version, speller, tuple(suggestions), places)

    def _heed_model(self) -> None:
        """Tell trouble with the speller, and check again what an older one has checked."""
        trouble = self.model.trouble()
        if trouble is not None:
            self._tell(trouble)
        for paper in self._papers.values():
            if paper.found is not None and paper.found.speller is not self.model.loaded:
                self._ask(paper, 0)


def _work(model: Model, text: str, name: str) -> tuple[Checker | None, list[Suggestion]]:
    speller = model.current()
    return speller, [] if speller is None else speller.check(text, name=name)
