"""The store of a mail filter: a folder that survives crashes and that many processes may use at once."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar, cast

from weigh._core import DamagedLedgerError
from weigh.advice import Step
from weigh.apps.mail.filter import Filter
from weigh.apps.mail.folder import (
    ARCHIVE_FILE,
    JOURNAL_FILE,
    REPAIR_ADVICE,
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
    missing_label_hint,
    store_status,
    strongest_words,
)
from weigh.apps.mail.settings import (
    StoreSettings,
    create_store,
    existing_settings,
    new_settings,
    upgrade_settings,
)
from weigh.apps.mail.storage import (
    HAM_MARK,
    MARK_BY_LABEL,
    NOT_LEARNED,
    SPAM_MARK,
    LabelChange,
    SnapshotMetadata,
    check_ledger,
    count_labels,
    encode_feature_names,
    feature_keys,
    load_snapshot,
    read_feature_names,
    resolve_old_marks,
    unusable_ledger_error,
)
from weigh.apps.mail.verdict import Costs, Verdict
from weigh.errors import (
    DamagedJournal,
    FileError,
    LabelError,
    ModelFileError,
    ParameterError,
    UnfoldedJournal,
    Unsupported,
    one_line_repr,
)
from weigh.journal.journal import Journal, WriteTransaction
from weigh.journal.storage import Position

if TYPE_CHECKING:
    from weigh.apps.mail.verdict import Explanation, FeatureContribution

Item = TypeVar("Item")
Result = TypeVar("Result")
Progress = Callable[[int], object]
Method = TypeVar("Method", bound=Callable[..., Any])

# Bytes of the journal that every reader has to replay: about 200 messages, 10 ms.
_MAX_JOURNAL_TAIL = 1 << 20
# Bulk learning allows a longer tail, which is folded at the end.
_MAX_BULK_JOURNAL_TAIL = 64 << 20
_MAX_PARTIAL_REPLAY = 4  # messages judged with a replay of only their own keys
_MAX_BATCH_MESSAGES = 256
_MAX_BATCH_BYTES = 8 << 20
# Batches take unequal times; a few in flight keep both the extracting and the writing thread busy.
_MAX_PENDING_BATCHES = 3


def advise_repair(method: Method) -> Method:
    """Make a method of a store say what to do when it meets a damaged file."""

    @functools.wraps(method)
    def wrapper(self: MailStore, *args: Any, **options: Any) -> Any:
        try:
            return method(self, *args, **options)
        except DamagedLedgerError as error:
            raise unusable_ledger_error(self.folder, error) from error
        except DamagedJournal as error:
            error.hint = REPAIR_ADVICE
            raise

    return cast("Method", wrapper)


class MailStore:
    """A durable mail filter in a folder.

    Any number of processes and threads may learn and judge at the same time. Messages are identified by their
    content: a message learned twice counts once, and a message learned under the other label moves there.
    When `learn` or `unlearn` returns, the messages are on disk; if the process is killed before that, each
    batch counts completely or not at all::

        store = MailStore.open("mail", create=True)
        store.learn(spams, "spam")
        store.learn(hams, "ham")
        store.judge([message])

    `open` creates a store with these settings, or checks that the existing one has them:

    Parameters
    ----------
    folder : the folder; by default $WEIGH_MAIL, or weigh/mail in the user data folder
    create : whether to create the store if there is none
    learner : "naive-bayes" (default), "logistic" or "perceptron"
    pairs, characters : which features are extracted, as in `FeatureExtractor`
    words : whether to store the words themselves; by default only hashes keyed by a secret salt are stored
    costs : the costs of mistakes, which determine verdicts; for an existing store, of this object only
    """

    def __init__(self, folder: str, settings: StoreSettings, costs: Costs | None = None) -> None:
        # A long-running process may change its working directory.
        self.folder = os.path.abspath(folder)
        self.settings = settings
        self.costs = costs or settings.costs
        self._journal = Journal(os.path.join(self.folder, JOURNAL_FILE))
        self._is_ordered = LEARNERS[settings.learner].is_ordered
        self._cached_state: tuple[LedgerState, Position] | None = None
        self._has_judged = False
        self._checked_position: Position | None = None
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
        """Open the store in a folder."""
        path = os.fspath(folder or default_folder())
        options = {"learner": learner, "pairs": pairs, "characters": characters, "words": words}
        requested = {name: value for name, value in options.items() if value is not None}
        settings = existing_settings(path)
        if settings is None:
            if not create:
                raise ModelFileError(
                    f"{path}: there is no mail store.",
                    hint=(
                        "Create one by learning mail: ",
                        Step("new store", "MailStore.open(folder, create=True)."),
                    ),
                )
            settings = create_store(path, new_settings(requested, costs))
        settings.check_matches(path, requested)
        return cls(path, settings, costs)

    def __repr__(self) -> str:
        return f"MailStore({self.folder!r})"

    @advise_repair
    def learn(
        self, contents: Iterable[bytes], label: str, *, progress: Progress | None = None, tidy: bool = True
    ) -> LearnResult:
        """Learn raw messages as "ham" or "spam".

        `progress` is called with the number of messages done. For many calls, `tidy=False` and one final call
        of `tidy` are faster.
        """
        if label not in MARK_BY_LABEL:
            raise LabelError(f"A message is learned as 'ham' or 'spam', got {one_line_repr(label)}.")
        mark = MARK_BY_LABEL[label]
        old_marks = self._set_marks(contents, mark, progress, tidy)
        new, known = old_marks[NOT_LEARNED], old_marks[mark]
        return LearnResult(new, old_marks.total() - new - known, known)

    @advise_repair
    def unlearn(
        self, contents: Iterable[bytes], *, progress: Progress | None = None, tidy: bool = True
    ) -> UnlearnResult:
        """Unlearn raw messages, whatever their label, as if they had never been learned."""
        old_marks = self._set_marks(contents, NOT_LEARNED, progress, tidy)
        return UnlearnResult(old_marks[HAM_MARK], old_marks[SPAM_MARK], old_marks[NOT_LEARNED])

    @advise_repair
    def judge(self, contents: Iterable[bytes]) -> list[Verdict]:
        """Return verdicts on raw messages, based on everything learned so far."""
        verdicts = []
        for batch in batch_messages(contents):
            hashed = self.settings.features.hashed_features(batch)
            verdicts += self._filter_for(hashed).judge_hashed(hashed)
        return verdicts

    @advise_repair
    def explain(self, content: bytes) -> Explanation:
        """Return the verdict on a raw message with all reasons for and against spam."""
        mail = self.settings.features.parse(content)
        return self._filter_for([mail.hashed_features]).explain_parsed(mail)

    @advise_repair
    def brief(self, content: bytes, most: int) -> tuple[Verdict, tuple[FeatureContribution, ...]]:
        """Return the verdict on a raw message and its `most` strongest reasons."""
        mail = self.settings.features.parse(content)
        return self._filter_for([mail.hashed_features]).brief_parsed(mail, most)

    @advise_repair
    def filter(self) -> Filter:
        """Return a filter based on everything learned so far; it changes when this store learns."""
        return Filter(self.settings.features, self._current_state().ledger, self.costs, self.folder)

    @advise_repair
    def strongest(self, k: int = 10) -> StrongestWords:
        """Return the `k` strongest features for spam and the `k` strongest for ham.

        Only a store created with `words=True` knows their names.
        """
        if not self.settings.words:
            raise Unsupported(
                f"{self.folder}: this store keeps no words, only their hashes.",
                hint=(
                    "Create one with words in another folder: ",
                    Step(
                        "store with words",
                        "MailStore.open(folder, create=True, words=True), and learn all mail there.",
                    ),
                ),
            )
        with self._lock, self._journal.transaction() as transaction:
            self._fold_journal(transaction)
            with translate_os_errors(self.folder, "read"):
                words = read_feature_names(self.folder, self._snapshot_metadata().words)
        return strongest_words(words, self._current_state().ledger, k)

    @advise_repair
    def tidy(self) -> None:
        """Fold the journal if it has become long or all messages have to be learned again."""
        needs_shuffling = self._is_ordered and is_imbalanced(self._new_marks)
        if self._unfolded_bytes > _MAX_JOURNAL_TAIL or self._needs_relearning or needs_shuffling:
            try:
                self.fold()
            except FileError as error:
                # What was learned is already on disk, so a failure here loses nothing.
                from weigh.deduplicated_warnings import warn

                warn(
                    UnfoldedJournal(
                        (
                            f"{self.folder}: everything is learned, but the journal cannot be folded into ",
                            "the ledger and goes on growing: ",
                            error,
                        )
                    ),
                    [self.folder],
                )

    @advise_repair
    def fold(self) -> None:
        """Write a snapshot that includes the whole journal; learning does so by itself when it is long."""
        with self._lock, self._journal.transaction() as transaction:
            self._fold_journal(transaction)
            self._unfolded_bytes, self._needs_relearning, self._new_marks = 0, False, Counter()

    @advise_repair
    def status(self) -> StoreStatus:
        """Return the settings and counts of the store."""
        ledger = self._current_state().ledger
        # In this order, because other processes may write in between.
        folded, end = self._snapshot_metadata().position, self._journal.position
        return store_status(self.folder, self.settings, ledger, end.offset - folded.offset)

    @advise_repair
    def hint(self) -> str:
        """Return the hint of `status`, without reading the ledger."""
        return missing_label_hint(*count_labels(self._journal.marks()))

    def _set_marks(
        self, contents: Iterable[bytes], mark: int, progress: Progress | None, tidy: bool
    ) -> Counter[int]:
        """Give messages a mark, and count their old marks."""
        old_marks: Counter[int] = Counter()
        for changes in prefetch(lambda batch: self._extract_changes(batch, mark), batch_messages(contents)):
            old_marks.update(self._commit_changes(changes))
            if self._unfolded_bytes > _MAX_JOURNAL_TAIL:
                # Overlaps with feature extraction for the next batches.
                self._catch_up()
            if progress:
                progress(old_marks.total())
        if tidy:
            self.tidy()
        return old_marks

    def _catch_up(self) -> None:
        """Fold the journal if it is too long even for bulk learning, otherwise replay it in memory."""
        with contextlib.suppress(FileError):
            self.fold() if self._unfolded_bytes > _MAX_BULK_JOURNAL_TAIL else self._current_state()

    def _extract_changes(self, contents: list[bytes], mark: int) -> list[LabelChange]:
        """Extract the features of messages: the slow part, which needs no lock."""
        features = self.settings.features
        identified = features.identify(contents)
        if not self.settings.words:
            return [LabelChange(identity, NOT_LEARNED, mark, hashed) for identity, hashed in identified]
        return [
            LabelChange(identity, NOT_LEARNED, mark, hashed, encode_feature_names(features, content))
            for (identity, hashed), content in zip(identified, contents, strict=True)
        ]

    def _commit_changes(self, requested: list[LabelChange]) -> list[int]:
        """Write the changes of marks to the journal, and return the old marks."""
        with self._lock:
            with self._journal.transaction() as transaction:
                self._check_snapshot(transaction)
                begin = transaction.position
                resolved = resolve_old_marks(requested, transaction.mark)
                changes = [change for change in resolved if change.old != change.new]
                transaction.append([change.record for change in changes])
                is_undoing = any(change.old for change in changes)
                if is_undoing:
                    self._check_undoable(changes)
                    self._needs_relearning = self._is_ordered
                transaction.commit()
                self._unfolded_bytes, end = transaction.bytes_since_snapshot, transaction.position
            self._new_marks.update(change.new for change in changes)
            if not is_undoing:
                self._update_cached_state(changes, begin, end)
            return [change.old for change in resolved]

    def _check_snapshot(self, transaction: WriteTransaction) -> None:
        """Raise, before anything is committed, if the journal cannot be folded into the ledger later."""
        position = self._snapshot_metadata().position
        if not transaction.contains(position):
            raise mismatch_error(self.folder)
        if position != self._checked_position:
            check_ledger(self.folder)
            self._checked_position = position

    def _update_cached_state(self, changes: list[LabelChange], begin: Position, end: Position) -> None:
        """Apply committed changes to the cached state if it is up to date, which saves reading them back."""
        cached, self._cached_state = self._cached_state, None
        if cached and cached[1] == begin:
            cached[0].apply_changes(changes)
            cached = cached[0], end
        self._cached_state = cached

    def _check_undoable(self, changes: list[LabelChange]) -> None:
        """Raise, before anything is committed, if the ledger cannot apply the changes."""
        state = self._current_state()
        self._snapshot_metadata().check_files(self.folder)
        if self._is_ordered:
            return
        self._cached_state = None
        try:
            state.apply_changes(changes)
        except ValueError as error:
            raise ModelFileError(
                f"{self.folder}: messages have different features than when they were learned, and cannot be "
                "unlearned. Nothing was changed. Learn all messages again into another folder."
            ) from error

    def _filter_for(self, hashed: list[bytes]) -> Filter:
        """Return a filter for messages with these hashed features.

        A process often judges a single message, so the first call replays only the keys of its messages.
        """
        is_first, self._has_judged = not self._has_judged, True
        if self._is_ordered or self._cached_state or not is_first or len(hashed) > _MAX_PARTIAL_REPLAY:
            return self.filter()
        keys = feature_keys(hashed)
        state, _ = replay_journal(self.folder, self.settings.learner, self._journal, keys=keys)
        return Filter(self.settings.features, state.ledger, self.costs, self.folder)

    def _current_state(self) -> LedgerState:
        """Return the up-to-date ledger."""
        with self._lock:
            # Cleared first: an interrupt may leave the state half updated.
            cached, self._cached_state = self._cached_state, None
            self._cached_state = replay_journal(self.folder, self.settings.learner, self._journal, cached)
            return self._cached_state[0]

    def _snapshot_metadata(self) -> SnapshotMetadata:
        return load_snapshot(self.folder, self.settings.learner).metadata

    def _fold_journal(self, transaction: WriteTransaction) -> None:
        with translate_os_errors(self.folder, "written"):
            if transaction.bytes_since_snapshot:
                transaction.compact(self._write_snapshot)
                upgrade_settings(self.folder, self.settings)
            metadata = self._snapshot_metadata()
            current = {metadata.archive.file_name(ARCHIVE_FILE), metadata.words.file_name(WORDS_FILE)}
            remove_stale_files(self.folder, current)

    def _write_snapshot(self, position: Position) -> None:
        """Write a snapshot that includes the whole journal."""
        write_snapshot(self.folder, self.settings, self._journal, self._current_state().ledger, position)


def batch_messages(contents: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Group messages into batches of bounded number and size."""
    batch: list[bytes] = []
    size = 0
    for content in contents:
        if not isinstance(content, bytes):
            # Only the type is shown: the content may be private.
            kind = type(content).__name__
            raise ParameterError(
                f"MailStore: contents must be raw messages, a list of bytes; one of them is of type {kind}."
            )
        batch.append(content)
        size += len(content)
        if len(batch) >= _MAX_BATCH_MESSAGES or size >= _MAX_BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def prefetch(function: Callable[[Item], Result], items: Iterator[Item]) -> Iterator[Result]:
    """Map a function over items in order, computing the next results in a thread while one is used."""
    first_items = list(itertools.islice(items, 2))
    if len(first_items) < 2:
        yield from map(function, first_items)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        pending = deque(pool.submit(function, item) for item in first_items)
        for item in items:
            pending.append(pool.submit(function, item))
            if len(pending) > _MAX_PENDING_BATCHES:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
