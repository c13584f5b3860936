"""A store of what a mail filter has learned: a folder that outlives crashes and serves many processes."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from weigh.apps.mail.archive import is_lopsided
from weigh.apps.mail.change import HAM, LABELS, NONE, SPAM, Change, after
from weigh.apps.mail.filter import Filter
from weigh.apps.mail.folder import ARCHIVE, JOURNAL, WORDS, default_folder, swept, telling
from weigh.apps.mail.folding import fold
from weigh.apps.mail.glance import keys_of
from weigh.apps.mail.groups import ahead, groups
from weigh.apps.mail.learners import LEARNERS
from weigh.apps.mail.making import found, made
from weigh.apps.mail.memory import Memory, remembered, strangers
from weigh.apps.mail.results import Learned, Status, Unlearned, status_of
from weigh.apps.mail.settings import Settings, new_settings
from weigh.apps.mail.snapshot import Note, load
from weigh.apps.mail.strongest import StrongestWords, strongest_words
from weigh.apps.mail.verdict import Costs, Verdict
from weigh.apps.mail.words import read_words, words_of
from weigh.errors import FileError, LabelError, ModelFileError, Unsupported, told
from weigh.journal import Journal, Position, Turn

if TYPE_CHECKING:
    from weigh.apps.mail.explanation import Explanation, Reason

Progress = Callable[[int], object]

# Bytes of the journal that every reader has to replay: some 200 messages, and ten milliseconds.
_TAIL = 1 << 20
# While many messages are learned a longer one is put up with, and folded at the end.
_BULK_TAIL = 64 << 20
_FEW = 4


class MailStore:
    """What a mail filter has learned, in a folder.

    Any number of processes and threads may learn and judge at the same time. Messages are known by their
    content: what is learned twice counts once, and what is learned under the other label moves there. When
    `learn` or `unlearn` has returned, the messages are on the disk; when it is killed before, those of the
    group at hand are counted as a whole or not at all::

        store = MailStore.open("mail", create=True)
        store.learn(spams, "spam")
        store.learn(hams, "ham")
        store.judge([message])

    `open` makes a store with these settings, or finds that the one that is there has them:

    Parameters
    ----------
    folder : where; $WEIGH_MAIL by default, or weigh/mail in the user's folder for data
    create : whether to make the store if there is none
    learner : "naive-bayes" (default), "logistic" or "perceptron"
    pairs, characters : which features are seen, as in `Features`
    words : whether to keep the words themselves; by default there are only keys, made with a secret number
    costs : what mistakes cost, from which verdicts follow; of an existing store, for this object only
    """

    def __init__(self, folder: str, settings: Settings, costs: Costs | None = None) -> None:
        # Programs that stay may go to another folder.
        self.folder = os.path.abspath(folder)
        self.settings = settings
        self.costs = costs or settings.costs
        self._journal = Journal(os.path.join(self.folder, JOURNAL))
        self._is_ordered = LEARNERS[settings.learner].is_ordered
        self._held: tuple[Memory, Position] | None = None
        self._has_judged = False
        self._unfolded = 0
        self._is_undone = False
        self._fresh: Counter[int] = Counter()
        self._lock = threading.RLock()

    @classmethod
    def open(
        cls,
        folder: str | os.PathLike[str] | None = None,
        *,
        create: bool = False,
        learner: str | None = None,
        pairs: str | None = None,
        characters: int | None = None,
        words: bool | None = None,
        costs: Costs | None = None,
    ) -> MailStore:
        """The store in a folder."""
        place = os.fspath(folder or default_folder())
        given = {"learner": learner, "pairs": pairs, "characters": characters, "words": words}
        asked = {name: value for name, value in given.items() if value is not None}
        settings = found(place)
        if settings is None:
            if not create:
                raise ModelFileError(
                    f"{place}: there is no mail store. Make one by learning: "
                    "weigh mail learn --ham FOLDER --spam FOLDER, or MailStore.open(folder, create=True)."
                )
            settings = made(place, new_settings(asked, costs))
        settings.require(place, asked)
        return cls(place, settings, costs)

    def __repr__(self) -> str:
        return f"MailStore({self.folder!r})"

    def learn(
        self, contents: Iterable[bytes], label: str, *, progress: Progress | None = None, tidy: bool = True
    ) -> Learned:
        """Learn raw messages as "ham" or "spam".

        `progress` is told how many are done. Whoever learns much in many calls spares time with `tidy=False`
        and one call of `tidy` at the end.
        """
        if label not in LABELS:
            raise LabelError(f"A message is learned as 'ham' or 'spam', got {told(label)}.")
        mark = LABELS[label]
        olds = self._changed(contents, mark, progress, tidy)
        return Learned(olds[NONE], olds.total() - olds[NONE] - olds[mark], olds[mark])

    def unlearn(
        self, contents: Iterable[bytes], *, progress: Progress | None = None, tidy: bool = True
    ) -> Unlearned:
        """Take raw messages back, whatever their label, as if they had never been learned."""
        olds = self._changed(contents, NONE, progress, tidy)
        return Unlearned(olds[HAM], olds[SPAM], olds[NONE])

    def judge(self, contents: Iterable[bytes]) -> list[Verdict]:
        """What raw messages are, by all that has been learned until now."""
        verdicts = []
        for group in groups(contents):
            verdicts += self._filter_for(group).judge(group)
        return verdicts

    def explain(self, content: bytes) -> Explanation:
        """What speaks for and against spam in a raw message."""
        return self._filter_for([content]).explain(content)

    def brief(self, content: bytes, most: int) -> tuple[Verdict, tuple[Reason, ...]]:
        """The verdict on a raw message, and what speaks most for and against spam."""
        return self._filter_for([content]).brief(content, most)

    def filter(self) -> Filter:
        """A filter that judges by all that has been learned until now, and changes when this store learns."""
        return Filter(self.settings.features, self._remember().ledger, self.costs)

    def strongest(self, k: int = 10) -> StrongestWords:
        """The `k` features that speak most for spam and the `k` that speak most for ham, of all learned.

        Only a store that was made with `words=True` knows how they are called.
        """
        if not self.settings.words:
            raise Unsupported(
                f"{self.folder}: this store keeps no words, only keys made of them. Make one that does in "
                "another folder: MailStore.open(folder, create=True, words=True), and learn all mail there."
            )
        with self._lock, self._journal.writing() as turn:
            self._fold(turn)
            with telling(self.folder, "read"):
                words = read_words(self.folder, self._note().words)
        return strongest_words(words, self._remember().ledger, k)

    def tidy(self) -> None:
        """Fold if the journal has become long, or all messages have to be learned anew."""
        is_lopsided_now = self._is_ordered and is_lopsided(self._fresh)
        if self._unfolded > _TAIL or self._is_undone or is_lopsided_now:
            # What was learned is on the disk, and counts whether or not this works out now.
            with contextlib.suppress(FileError):
                self.fold()

    def fold(self) -> None:
        """Write a snapshot, so that readers need no journal; learning does so by itself from time to time."""
        with self._lock, self._journal.writing() as turn:
            self._fold(turn)
            self._unfolded, self._is_undone, self._fresh = 0, False, Counter()

    def status(self) -> Status:
        """What the store is and has."""
        ledger = self._remember().ledger
        # In this order: others may write meanwhile.
        folded, end = self._note().position, self._journal.position
        return status_of(self.folder, self.settings, ledger, end.offset - folded.offset)

    def _changed(
        self, contents: Iterable[bytes], mark: int, progress: Progress | None, tidy: bool
    ) -> Counter[int]:
        """Give messages a mark, and count the marks that they had."""
        olds: Counter[int] = Counter()
        for seen in ahead(lambda group: self._seen(group, mark), groups(contents)):
            olds.update(self._turn(seen))
            if self._unfolded > _TAIL:
                # While the next messages are seen.
                self._keep_up()
            if progress:
                progress(olds.total())
        if tidy:
            self.tidy()
        return olds

    def _keep_up(self) -> None:
        """Fold a journal that is too long even for a while, or else learn in memory what it has."""
        with contextlib.suppress(FileError):
            self.fold() if self._unfolded > _BULK_TAIL else self._remember()

    def _seen(self, contents: list[bytes], mark: int) -> list[Change]:
        """Messages as they are learned: the slow part, which needs no lock."""
        features = self.settings.features
        found = features.identified(contents)
        if not self.settings.words:
            return [Change(identity, NONE, mark, print) for identity, print in found]
        return [
            Change(identity, NONE, mark, print, words_of(features, content))
            for (identity, print), content in zip(found, contents, strict=True)
        ]

    def _turn(self, seen: list[Change]) -> list[int]:
        """Write what changes, and tell the marks that were there."""
        with self._lock:
            with self._journal.writing() as turn:
                if not turn.has(self._note().position):
                    raise strangers(self.folder)
                begin = turn.position
                found = after(seen, turn.mark)
                changes = [change for change in found if change.old != change.new]
                turn.append([change.record for change in changes])
                is_undoing = any(change.old for change in changes)
                if is_undoing:
                    self._require_undoable(changes)
                    self._is_undone = self._is_ordered
                turn.commit()
                self._unfolded, end = turn.unfolded, turn.position
            self._fresh.update(change.new for change in changes)
            if not is_undoing:
                self._follow(changes, begin, end)
            return [change.old for change in found]

    def _follow(self, changes: list[Change], begin: Position, end: Position) -> None:
        """Learn in memory what was written, if all that was there before is known: it need not be read."""
        held, self._held = self._held, None
        if held and held[1] == begin:
            held[0].add(changes)
            held = held[0], end
        self._held = held

    def _require_undoable(self, changes: list[Change]) -> None:
        """Refuse, before anything is written, changes that the ledger could not follow."""
        memory = self._remember()
        self._note().require_files(self.folder)
        if self._is_ordered:
            return
        self._held = None
        try:
            memory.add(changes)
        except ValueError as error:
            raise ModelFileError(
                f"{self.folder}: messages have other features than when they were learned, and cannot be "
                "unlearned. Nothing was changed. Learn all messages anew into another folder."
            ) from error

    def _filter_for(self, contents: list[bytes]) -> Filter:
        """A filter for these messages, which for the first ones may be all that a program wants to know."""
        is_first, self._has_judged = not self._has_judged, True
        if self._is_ordered or self._held or not is_first or len(contents) > _FEW:
            return self.filter()
        keys = keys_of(self.settings.features.prints(contents))
        memory, _ = remembered(self.folder, self.settings.learner, self._journal, keys=keys)
        return Filter(self.settings.features, memory.ledger, self.costs)

    def _remember(self) -> Memory:
        """The ledger as it is now."""
        with self._lock:
            # What an interrupt leaves half learned is not held any more.
            held, self._held = self._held, None
            self._held = remembered(self.folder, self.settings.learner, self._journal, held)
            return self._held[0]

    def _note(self) -> Note:
        return load(self.folder, self.settings.learner).note

    def _fold(self, turn: Turn) -> None:
        with telling(self.folder, "written"):
            if turn.unfolded:
                turn.fold(self._write)
            note = self._note()
            swept(self.folder, {note.archive.file(ARCHIVE), note.words.file(WORDS)})

    def _write(self, position: Position) -> None:
        """Write a snapshot that includes all of the journal."""
        fold(self.folder, self.settings, self._journal, self._remember().ledger, position)
