"""A store of what a mail filter has learned: a folder that outlives crashes and serves many processes."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from weigh.apps.mail.filter import Filter
from weigh.apps.mail.folder import (
    ARCHIVE_FILE,
    JOURNAL_FILE,
    WORDS_FILE,
    default_folder,
    remove_stale_files,
    translate_os_errors,
)
from weigh.apps.mail.learners import LEARNERS
from weigh.apps.mail.replay import LedgerState, is_imbalanced, mismatch_error, replay_journal, write_snapshot
from weigh.apps.mail.results import (
    LearnResult,
    StoreStatus,
    StrongestWords,
    UnlearnResult,
    store_status,
    strongest_words,
)
from weigh.apps.mail.settings import StoreSettings, create_store, existing_settings, new_settings
from weigh.apps.mail.storage import (
    HAM_MARK,
    MARK_BY_LABEL,
    NOT_LEARNED,
    SPAM_MARK,
    LabelChange,
    SnapshotMetadata,
    encode_feature_names,
    feature_keys,
    load_snapshot,
    read_feature_names,
    resolve_old_marks,
)
from weigh.apps.mail.verdict import Costs, Verdict
from weigh.errors import FileError, LabelError, ModelFileError, ParameterError, Unsupported, one_line_repr
from weigh.journal import Journal, Position, WriteTransaction

if TYPE_CHECKING:
    from weigh.apps.mail.verdict import Explanation, FeatureContribution

Progress = Callable[[int], object]

# Bytes of the journal that every reader has to replay: some 200 messages, and ten milliseconds.
_MAX_JOURNAL_TAIL = 1 << 20
# While many messages are learned a longer one is put up with, and folded at the end.
_MAX_BULK_JOURNAL_TAIL = 64 << 20
_MAX_PARTIAL_REPLAY = 4


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

    def __init__(self, folder: str, settings: StoreSettings, costs: Costs | None = None) -> None:
        # Programs that stay may go to another folder.
        self.folder = os.path.abspath(folder)
        self.settings = settings
        self.costs = costs or settings.costs
        self._journal = Journal(os.path.join(self.folder, JOURNAL_FILE))
        self._is_ordered = LEARNERS[settings.learner].is_ordered
        self._cached_state: tuple[LedgerState, Position] | None = None
        self._has_judged = False
        self._unfolded_bytes = 0
        self._needs_relearning = False
        self._new_marks: Counter[int] = Counter()
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
        settings = existing_settings(place)
        if settings is None:
            if not create:
                raise ModelFileError(
                    f"{place}: there is no mail store. Make one by learning: "
                    "weigh mail learn --ham FOLDER --spam FOLDER, or MailStore.open(folder, create=True)."
                )
            settings = create_store(place, new_settings(asked, costs))
        settings.check_matches(place, asked)
        return cls(place, settings, costs)

    def __repr__(self) -> str:
        return f"MailStore({self.folder!r})"

    def learn(
        self, contents: Iterable[bytes], label: str, *, progress: Progress | None = None, tidy: bool = True
    ) -> LearnResult:
        """Learn raw messages as "ham" or "spam".

        `progress` is told how many are done. Whoever learns much in many calls spares time with `tidy=False`
        and one call of `tidy` at the end.
        """
        if label not in MARK_BY_LABEL:
            raise LabelError(f"A message is learned as 'ham' or 'spam', got {one_line_repr(label)}.")
        mark = MARK_BY_LABEL[label]
        olds = self._set_marks(contents, mark, progress, tidy)
        return LearnResult(olds[NOT_LEARNED], olds.total() - olds[NOT_LEARNED] - olds[mark], olds[mark])

    def unlearn(
        self, contents: Iterable[bytes], *, progress: Progress | None = None, tidy: bool = True
    ) -> UnlearnResult:
        """Take raw messages back, whatever their label, as if they had never been learned."""
        olds = self._set_marks(contents, NOT_LEARNED, progress, tidy)
        return UnlearnResult(olds[HAM_MARK], olds[SPAM_MARK], olds[NOT_LEARNED])

    def judge(self, contents: Iterable[bytes]) -> list[Verdict]:
        """What raw messages are, by all that has been learned until now."""
        verdicts = []
        for group in batch_messages(contents):
            verdicts += self._filter_for(group).judge(group)
        return verdicts

    def explain(self, content: bytes) -> Explanation:
        """What speaks for and against spam in a raw message."""
        return self._filter_for([content]).explain(content)

    def brief(self, content: bytes, most: int) -> tuple[Verdict, tuple[FeatureContribution, ...]]:
        """The verdict on a raw message, and what speaks most for and against spam."""
        return self._filter_for([content]).brief(content, most)

    def filter(self) -> Filter:
        """A filter that judges by all that has been learned until now, and changes when this store learns."""
        return Filter(self.settings.features, self._current_state().ledger, self.costs)

    def strongest(self, k: int = 10) -> StrongestWords:
        """The `k` features that speak most for spam and the `k` that speak most for ham, of all learned.

        Only a store that was made with `words=True` knows how they are called.
        """
        if not self.settings.words:
            raise Unsupported(
                f"{self.folder}: this store keeps no words, only keys made of them. Make one that does in "
                "another folder: MailStore.open(folder, create=True, words=True), and learn all mail there."
            )
        with self._lock, self._journal.transaction() as turn:
            self._fold_journal(turn)
            with translate_os_errors(self.folder, "read"):
                words = read_feature_names(self.folder, self._snapshot_metadata().words)
        return strongest_words(words, self._current_state().ledger, k)

    def tidy(self) -> None:
        """Fold if the journal has become long, or all messages have to be learned anew."""
        is_lopsided_now = self._is_ordered and is_imbalanced(self._new_marks)
        if self._unfolded_bytes > _MAX_JOURNAL_TAIL or self._needs_relearning or is_lopsided_now:
            # What was learned is on the disk, and counts whether or not this works out now.
            with contextlib.suppress(FileError):
                self.fold()

    def fold(self) -> None:
        """Write a snapshot, so that readers need no journal; learning does so by itself from time to time."""
        with self._lock, self._journal.transaction() as turn:
            self._fold_journal(turn)
            self._unfolded_bytes, self._needs_relearning, self._new_marks = 0, False, Counter()

    def status(self) -> StoreStatus:
        """What the store is and has."""
        ledger = self._current_state().ledger
        # In this order: others may write meanwhile.
        folded, end = self._snapshot_metadata().position, self._journal.position
        return store_status(self.folder, self.settings, ledger, end.offset - folded.offset)

    def _set_marks(
        self, contents: Iterable[bytes], mark: int, progress: Progress | None, tidy: bool
    ) -> Counter[int]:
        """Give messages a mark, and count the marks that they had."""
        olds: Counter[int] = Counter()
        for seen in prefetch(lambda group: self._extract_changes(group, mark), batch_messages(contents)):
            olds.update(self._commit_changes(seen))
            if self._unfolded_bytes > _MAX_JOURNAL_TAIL:
                # While the next messages are seen.
                self._catch_up()
            if progress:
                progress(olds.total())
        if tidy:
            self.tidy()
        return olds

    def _catch_up(self) -> None:
        """Fold a journal that is too long even for a while, or else learn in memory what it has."""
        with contextlib.suppress(FileError):
            self.fold() if self._unfolded_bytes > _MAX_BULK_JOURNAL_TAIL else self._current_state()

    def _extract_changes(self, contents: list[bytes], mark: int) -> list[LabelChange]:
        """Messages as they are learned: the slow part, which needs no lock."""
        features = self.settings.features
        found = features.identify(contents)
        if not self.settings.words:
            return [LabelChange(identity, NOT_LEARNED, mark, print) for identity, print in found]
        return [
            LabelChange(identity, NOT_LEARNED, mark, print, encode_feature_names(features, content))
            for (identity, print), content in zip(found, contents, strict=True)
        ]

    def _commit_changes(self, seen: list[LabelChange]) -> list[int]:
        """Write what changes, and tell the marks that were there."""
        with self._lock:
            with self._journal.transaction() as turn:
                if not turn.contains(self._snapshot_metadata().position):
                    raise mismatch_error(self.folder)
                begin = turn.position
                found = resolve_old_marks(seen, turn.mark)
                changes = [change for change in found if change.old != change.new]
                turn.append([change.record for change in changes])
                is_undoing = any(change.old for change in changes)
                if is_undoing:
                    self._check_undoable(changes)
                    self._needs_relearning = self._is_ordered
                turn.commit()
                self._unfolded_bytes, end = turn.bytes_since_snapshot, turn.position
            self._new_marks.update(change.new for change in changes)
            if not is_undoing:
                self._update_cached_state(changes, begin, end)
            return [change.old for change in found]

    def _update_cached_state(self, changes: list[LabelChange], begin: Position, end: Position) -> None:
        """Learn in memory what was written, if all that was there before is known: it need not be read."""
        held, self._cached_state = self._cached_state, None
        if held and held[1] == begin:
            held[0].apply_changes(changes)
            held = held[0], end
        self._cached_state = held

    def _check_undoable(self, changes: list[LabelChange]) -> None:
        """Refuse, before anything is written, changes that the ledger could not follow."""
        memory = self._current_state()
        self._snapshot_metadata().check_files(self.folder)
        if self._is_ordered:
            return
        self._cached_state = None
        try:
            memory.apply_changes(changes)
        except ValueError as error:
            raise ModelFileError(
                f"{self.folder}: messages have other features than when they were learned, and cannot be "
                "unlearned. Nothing was changed. Learn all messages anew into another folder."
            ) from error

    def _filter_for(self, contents: list[bytes]) -> Filter:
        """A filter for these messages, which for the first ones may be all that a program wants to know."""
        is_first, self._has_judged = not self._has_judged, True
        if self._is_ordered or self._cached_state or not is_first or len(contents) > _MAX_PARTIAL_REPLAY:
            return self.filter()
        keys = feature_keys(self.settings.features.hashed_features(contents))
        memory, _ = replay_journal(self.folder, self.settings.learner, self._journal, keys=keys)
        return Filter(self.settings.features, memory.ledger, self.costs)

    def _current_state(self) -> LedgerState:
        """The ledger as it is now."""
        with self._lock:
            # What an interrupt leaves half learned is not held any more.
            held, self._cached_state = self._cached_state, None
            self._cached_state = replay_journal(self.folder, self.settings.learner, self._journal, held)
            return self._cached_state[0]

    def _snapshot_metadata(self) -> SnapshotMetadata:
        return load_snapshot(self.folder, self.settings.learner).metadata

    def _fold_journal(self, turn: WriteTransaction) -> None:
        with translate_os_errors(self.folder, "written"):
            if turn.bytes_since_snapshot:
                turn.compact(self._write_snapshot)
            note = self._snapshot_metadata()
            remove_stale_files(
                self.folder, {note.archive.file_name(ARCHIVE_FILE), note.words.file_name(WORDS_FILE)}
            )

    def _write_snapshot(self, position: Position) -> None:
        """Write a snapshot that includes all of the journal."""
        write_snapshot(self.folder, self.settings, self._journal, self._current_state().ledger, position)


Item = TypeVar("Item")
Result = TypeVar("Result")

_MAX_BATCH_MESSAGES = 256
_MAX_BATCH_BYTES = 8 << 20
# How many are computed or wait for it: groups take unequal times, and neither side shall wait for the other.
_MAX_PENDING_BATCHES = 3


def batch_messages(contents: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Messages in lists that are short enough for memory and long enough for speed."""
    group: list[bytes] = []
    size = 0
    for content in contents:
        if not isinstance(content, bytes):
            # Only its type is told: whatever it is, it may be private.
            kind = type(content).__name__
            raise ParameterError(
                f"MailStore: contents must be raw messages, a list of bytes; one of them is of type {kind}."
            )
        group.append(content)
        size += len(content)
        if len(group) >= _MAX_BATCH_MESSAGES or size >= _MAX_BATCH_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def prefetch(function: Callable[[Item], Result], given: Iterator[Item]) -> Iterator[Result]:
    """A function of each thing in turn, computed for the next ones while the last one is used."""
    begun = list(itertools.islice(given, 2))
    if len(begun) < 2:
        yield from map(function, begun)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        coming = deque(pool.submit(function, each) for each in begun)
        for each in given:
            coming.append(pool.submit(function, each))
            if len(coming) > _MAX_PENDING_BATCHES:
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()
