"""The feedback on one served model: a folder that survives crashes, for many processes at once."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from weigh import errors
from weigh.deduplicated_warnings import warn
from weigh.journal.journal import Journal, WriteTransaction
from weigh.journal.storage import JOURNAL_START, JournalRecord, Position
from weigh.model.base import Model
from weigh.model.count_model import CountModel
from weigh.serve.feedback.change import Change, CheckedChange, Outcome, check_change, hash_id
from weigh.serve.feedback.decision import Checked, decide
from weigh.serve.feedback.history import History
from weigh.serve.feedback.replay import carry_over, check_can_learn, replay
from weigh.serve.feedback.snapshot import (
    RESTORE_ADVICE,
    STATE_FILE,
    FileSignature,
    Snapshot,
    advise_restoring,
    create_folder,
    read_base,
    read_signature,
    read_state,
    remove_other_bases,
    write_base,
    write_state,
)

JOURNAL_FILE = "journal"

# Bytes of the journal that are replayed at the start: a few thousand changes, less than a second.
MAX_JOURNAL_TAIL = 1 << 20


@dataclass(frozen=True)
class FeedbackState:
    """The model with all changes up to a position, and the files that it was read from.

    `counted` is None if the feedback belongs to another base, whose model is not needed then.
    """

    journal_file: FileSignature
    state_file: FileSignature
    base_digest: str
    position: Position
    counted: CountModel | None


class FeedbackStore:
    """The durable feedback on one model, in a folder.

    Any number of processes and threads may apply changes and read the model at the same time. When `apply`
    returns, its changes are on disk. A change whose id was applied before is not applied again, also after
    restarts and compaction::

        store = FeedbackStore.open("feedback/mails", model, digest)
        store.apply([Change("click-17", "learn", [{"text": "cheap pills", "label": "spam"}])])
        store.model().predict([{"text": "cheap"}])

    The folder has a journal of changes, a snapshot of the model that includes the older ones, a copy of the
    base model, and `history.jsonl`, which says who said what and when.
    """

    def __init__(self, folder: str, base: CountModel, digest: str) -> None:
        self.folder = os.path.abspath(folder)
        self._base = base
        self._digest = digest
        self._journal = Journal(os.path.join(self.folder, JOURNAL_FILE))
        self._state_path = os.path.join(self.folder, STATE_FILE)
        self._history = History(self.folder)
        self._lock = threading.Lock()
        self._state: FeedbackState | None = None

    @classmethod
    def open(
        cls, folder: str | os.PathLike[str], base: Model, digest: str, *, rebase: bool = False
    ) -> FeedbackStore:
        """Open the feedback on a model, or begin it; all feedback is replayed.

        `digest` identifies the file of the model. If the feedback began from another file, `rebase` carries
        it over to this one; without it the store is stale.
        """
        store = cls(os.fspath(folder), check_can_learn(base, os.path.basename(folder)), digest)
        store._create()
        if rebase and store.is_stale:
            store._rebase()
        store.model()
        return store

    def __repr__(self) -> str:
        return f"FeedbackStore({self.folder!r})"

    @property
    def is_stale(self) -> bool:
        """Whether the feedback began from another model file than the one that is served."""
        return self._current_state().base_digest != self._digest

    def model(self) -> CountModel:
        """Return the model with everything acknowledged, also by other processes.

        If nothing has changed, this takes one os.stat. If the feedback is stale, it is the base model.
        """
        counted = self._current_state().counted
        return self._base if counted is None else counted

    def apply(self, changes: Sequence[Change]) -> list[Outcome]:
        """Apply changes in one transaction, which is on disk when this returns; one outcome per change.

        A change is applied as a whole or refused as a whole, independently of the others.
        """
        checked: list[Checked] = [_check(change, self._base) for change in changes]
        with self._transaction() as transaction:
            if self._is_stale_now():
                return [Outcome(0, error=self._stale_error()) for _ in changes]
            decided = decide(checked, transaction.mark, self._model_now)
            accepted = [each for each in decided if isinstance(each, CheckedChange)]
            if accepted:
                self._history.append(accepted)
                transaction.append(record for each in accepted for record in each.records)
            transaction.commit()
            if transaction.bytes_since_snapshot > MAX_JOURNAL_TAIL:
                self._compact_if_possible(transaction)
        return [Outcome(len(each.rows)) if isinstance(each, CheckedChange) else each for each in decided]

    def compact(self) -> None:
        """Write a snapshot of the model, and drop the rows from the journal; ids stay known."""
        with self._transaction() as transaction:
            if self._is_stale_now():
                raise self._stale_error()
            self._compact(transaction)

    def history(self, who: str | None = None) -> list[dict[str, Any]]:
        """Return who said what and when, of one client or of all."""
        with self._transaction() as transaction:
            return [each for each in self._applied_entries(transaction) if who in (None, each["who"])]

    def erase(self, who: str) -> int:
        """Erase what a client said and when; returns the number of changes. The model stays as it is.

        The rows also leave the journal, which is compacted unless the feedback is stale.
        """
        with self._transaction() as transaction:
            entries = list(self._applied_entries(transaction))
            if not self._is_stale_now():
                self._compact(transaction)
            remaining = [each for each in entries if each["who"] != who]
            self._history.rewrite(remaining)
            return len(entries) - len(remaining)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[WriteTransaction]:
        with advise_restoring(), self._journal.transaction() as transaction:
            yield transaction

    def _create(self) -> None:
        """Begin the feedback unless it exists; opening a transaction also checks the journal."""
        create_folder(self.folder)
        with self._transaction() as transaction:
            if os.path.exists(self._state_path):
                return
            if transaction.position != JOURNAL_START:
                raise errors.ModelFileError(f"{self._state_path} is missing.", hint=RESTORE_ADVICE)
            write_base(self.folder, self._base, self._digest)
            write_state(self.folder, Snapshot(self._base, self._digest, JOURNAL_START))

    def _rebase(self) -> None:
        """Carry the feedback over to the served model; its own counts are those beyond the old base."""
        with self._transaction() as transaction:
            old = read_state(self.folder)
            if old.base_digest == self._digest:
                return  # another process has done it
            records = list(self._journal.records(old.position))
            old_base = read_base(self.folder, old.base_digest)
            rebased = carry_over(self.folder, records, old.model, old_base, self._base)
            write_base(self.folder, self._base, self._digest)
            self._write_snapshot(transaction, rebased)
            remove_other_bases(self.folder, self._digest)

    def _compact(self, transaction: WriteTransaction) -> None:
        self._write_snapshot(transaction, self._model_now())

    def _write_snapshot(self, transaction: WriteTransaction, model: CountModel) -> None:
        transaction.compact(
            lambda position: write_state(self.folder, Snapshot(model, self._digest, position))
        )

    def _compact_if_possible(self, transaction: WriteTransaction) -> None:
        try:
            self._compact(transaction)
        except errors.FileError as error:
            # The changes are already on disk, so a failure here loses nothing.
            message = (
                f"{self.folder}: all feedback is kept, but its journal cannot be compacted and goes on ",
                "growing: ",
                error,
            )
            warn(errors.UnfoldedJournal(message), [self.folder])

    def _applied_entries(self, transaction: WriteTransaction) -> Iterator[dict[str, Any]]:
        """Yield one entry of the history per applied change, the last one that was written."""
        latest = {entry["id"]: entry for entry in self._history.entries()}
        return (entry for entry in latest.values() if transaction.mark(hash_id(entry["id"])))

    def _is_stale_now(self) -> bool:
        """Whether the feedback is stale; call it with the lock of the journal."""
        state = self._state
        if state is None or state.state_file != read_signature(self._state_path):
            state = self._read_state()
        return state.base_digest != self._digest

    def _stale_error(self) -> errors.Unsupported:
        return errors.Unsupported(
            "The feedback was given to another file of the model, so nothing is learned or forgotten.",
            hint="To carry it over to the new file, start the server with --rebase.",
        )

    def _model_now(self) -> CountModel:
        """Return the model with all of the journal; call it with the lock, and if it is not stale."""
        counted = self._read_state().counted
        return self._base if counted is None else counted

    def _current_state(self) -> FeedbackState:
        state = self._state
        if state is not None and state.journal_file == read_signature(self._journal.path):
            return state
        return self._read_state()

    def _read_state(self) -> FeedbackState:
        """Read what has changed since the last state."""
        with self._lock:
            while True:
                journal_file = read_signature(self._journal.path)
                state_file = read_signature(self._state_path)
                state = self._read_files(journal_file, state_file)
                # Another process may have replaced the snapshot by that of another base.
                if read_signature(self._state_path) == state_file:
                    self._state = state
                    return state

    def _read_files(self, journal_file: FileSignature, state_file: FileSignature) -> FeedbackState:
        known = self._state
        current = None
        if known is not None and known.state_file == state_file:
            current = _Tail(known.base_digest, known.counted, []), known.position
        with advise_restoring():
            tail, position = self._journal.state(self._load, _collect, current)
            counted = tail.counted
            if counted is not None:
                counted = replay(counted, tail.records, self._journal.path)
        return FeedbackState(journal_file, state_file, tail.base_digest, position, counted)

    def _load(self) -> tuple[_Tail, Position]:
        snapshot = read_state(self.folder)
        is_stale = snapshot.base_digest != self._digest
        # The base may have functions of derived columns, which are not in files.
        counted = None if is_stale else self._base.with_counts(snapshot.model.counts)
        return _Tail(snapshot.base_digest, counted, []), snapshot.position


@dataclass(frozen=True)
class _Tail:
    """A model and the records that it does not include yet."""

    base_digest: str
    counted: CountModel | None
    records: list[JournalRecord]


def _collect(tail: _Tail, records: list[JournalRecord]) -> _Tail:
    tail.records.extend(records)
    return tail


def _check(change: Change, model: CountModel) -> Checked:
    try:
        return check_change(change, model)
    except errors.WeighError as error:
        return Outcome(0, error=error)
