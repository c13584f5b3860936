"""A ledger in memory: the snapshot, and what the journal has after it."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from weigh._core import MailLedger
from weigh.apps.mail.folder import ARCHIVE_FILE
from weigh.apps.mail.learners import LEARNERS
from weigh.apps.mail.settings import StoreSettings
from weigh.apps.mail.storage import (
    HAM_MARK,
    NOT_LEARNED,
    SPAM_MARK,
    LabelChange,
    SidecarFile,
    SnapshotMetadata,
    decode_changes,
    load_snapshot,
    restrict_to_keys,
    save_snapshot,
    update_feature_names,
)
from weigh.errors import LostPlace, ModelFileError
from weigh.journal import Journal, JournalRecord, Position
from weigh.journal.storage import pack_record, unpack_records

_BATCH_SIZE = 256
_MAX_ATTEMPTS = 10


@dataclass
class LedgerState:
    """A ledger, and the number of its archive; it is void if something was undone that it cannot undo."""

    ledger: MailLedger
    archive_number: int
    is_invalid: bool = False

    def apply_changes(self, changes: list[LabelChange]) -> None:
        """Learn and unlearn what has changed."""
        undone = [change for change in changes if change.old]
        if undone and LEARNERS[self.ledger.learner].is_ordered:
            self.is_invalid = True
        if self.is_invalid:
            return
        new = [change for change in changes if change.new]
        # Counts come in any order, and learning first keeps them from falling below zero on the way.
        self.ledger.learn(
            [each.hashed_features for each in new], bytes(each.new == SPAM_MARK for each in new)
        )
        if undone:
            self.ledger.unlearn(
                [each.hashed_features for each in undone], bytes(each.old == SPAM_MARK for each in undone)
            )


def replay_journal(
    folder: str,
    learner: str,
    journal: Journal,
    held: tuple[LedgerState, Position] | None = None,
    keys: set[int] | None = None,
) -> tuple[LedgerState, Position]:
    """The ledger as it is now, and the position that it includes; only what is new is read if one is held.

    With `keys` it is as it is now for these keys only, which takes less time.
    """

    def begin() -> tuple[LedgerState, Position]:
        ledger, note = load_snapshot(folder, learner)
        return LedgerState(ledger, note.archive.number), note.position

    def add(memory: LedgerState, records: list[JournalRecord]) -> LedgerState:
        changes = decode_changes(records, folder)
        try:
            memory.apply_changes(
                changes if keys is None else [restrict_to_keys(change, keys) for change in changes]
            )
        except ValueError as error:
            raise ModelFileError(
                f"{folder}: the journal takes back messages that the ledger does not have. "
                "Restore the whole folder from a copy."
            ) from error
        return memory

    if (
        held
        and LEARNERS[learner].is_ordered
        and load_snapshot(folder, learner).metadata.archive.number != held[0].archive_number
    ):
        # Others have learned all messages anew, in another order.
        held = None
    try:
        memory, position = journal.state(begin, add, held)
    except LostPlace as error:
        raise mismatch_error(folder) from error
    return relearn_all(folder, learner, journal) if memory.is_invalid else (memory, position)


def mismatch_error(folder: str) -> ModelFileError:
    """What to say of a ledger and a journal of which one does not go on from the other."""
    return ModelFileError(
        f"{folder}: the ledger and the journal do not belong together. Restore the whole folder from a copy."
    )


def relearn_all(folder: str, learner: str, journal: Journal) -> tuple[LedgerState, Position]:
    """A ledger that has learned all remaining messages in their order."""
    for _ in range(_MAX_ATTEMPTS):
        ledger, note = load_snapshot(folder, learner)
        try:
            groups = list(journal.groups(note.position))
            changes = decode_changes((record for records, _ in groups for record in records), folder)
            if changes_archive(changes):
                ledger = MailLedger(learner)
                learn_records(ledger, remaining_records(folder, note.archive, changes))
            else:
                learn_records(ledger, learned_records(latest_changes(changes)))
            return LedgerState(ledger, note.archive.number), groups[-1][1] if groups else note.position
        except (LostPlace, FileNotFoundError):
            # A writer has folded in the meantime, and there is a later snapshot.
            continue
    raise ModelFileError(
        f"{folder}: the archive of learned messages is gone. Restore the folder from a copy."
    )


def learn_records(ledger: MailLedger, records: Iterable[JournalRecord]) -> None:
    """Learn the messages of an archive, some at a time."""
    coming = iter(records)
    while batch := list(itertools.islice(coming, _BATCH_SIZE)):
        ledger.learn([each.payload for each in batch], bytes(each.mark == SPAM_MARK for each in batch))


# From how many messages of one kind on, with hardly one of the other between them, their order does harm.
_MIN_RUN_LENGTH = 64
_MAX_IMBALANCE = 8


def is_imbalanced(marks: Counter[int]) -> bool:
    """Whether messages are so many and so nearly all of one kind that the other would be forgotten."""
    fewer, more = sorted((marks[HAM_MARK], marks[SPAM_MARK]))
    return more >= _MIN_RUN_LENGTH and fewer * _MAX_IMBALANCE < more


def latest_changes(changes: Iterable[LabelChange]) -> list[LabelChange]:
    """The last change of every message, in the order of these."""
    last: dict[bytes, LabelChange] = {}
    for change in changes:
        last.pop(change.key, None)
        last[change.key] = change
    return list(last.values())


def changes_archive(changes: Iterable[LabelChange]) -> bool:
    """Whether any of the messages was learned before these changes, and is therefore in the archive."""
    first: dict[bytes, int] = {}
    for change in changes:
        first.setdefault(change.key, change.old)
    return any(first.values())


def remaining_records(
    folder: str, extent: SidecarFile, changes: Sequence[LabelChange]
) -> Iterator[JournalRecord]:
    """The messages that are learned after some changes, in order: archived ones, then changed ones."""
    last = latest_changes(changes)
    gone = {change.key for change in last}
    for record in unpack_records(extent.read(os.path.join(folder, ARCHIVE_FILE))):
        if record.key not in gone:
            yield record
    yield from learned_records(last)


def learned_records(changes: Iterable[LabelChange]) -> Iterator[JournalRecord]:
    """What changes leave as learned, for an archive."""
    return (
        JournalRecord(each.key, each.new, each.hashed_features) for each in changes if each.new != NOT_LEARNED
    )


def shuffle_archive(
    folder: str, extent: SidecarFile, changes: Sequence[LabelChange]
) -> tuple[list[JournalRecord], SidecarFile]:
    """The messages that are learned after some changes as if dealt by lot, and an archive of them so."""
    records = sorted(remaining_records(folder, extent, changes), key=lambda record: record.key)
    return records, extent.next_version().append(os.path.join(folder, ARCHIVE_FILE), _encode_records(records))


def update_archive(folder: str, extent: SidecarFile, changes: Sequence[LabelChange]) -> SidecarFile:
    """Bring the archive up to date: grown, or written anew if something in it has changed."""
    path = os.path.join(folder, ARCHIVE_FILE)
    if changes_archive(changes):
        return extent.next_version().append(path, _encode_records(remaining_records(folder, extent, changes)))
    return extent.append(path, _encode_records(learned_records(latest_changes(changes))))


def _encode_records(records: Iterable[JournalRecord]) -> Iterator[bytes]:
    for record in records:
        yield from pack_record(record)


def write_snapshot(
    folder: str, settings: StoreSettings, journal: Journal, ledger: MailLedger, position: Position
) -> None:
    """Write a snapshot of a ledger that knows all of a journal, which ends at a position.

    A learner that goes by the order of messages takes a long run of one kind for all mail there is. After one
    it learns all messages anew, mixed.
    """
    before, note = load_snapshot(folder, settings.learner)
    archive, words = note.archive, note.words
    is_ordered = LEARNERS[settings.learner].is_ordered
    changes = decode_changes(journal.records(note.position), folder) if is_ordered or settings.words else []
    if is_ordered and is_imbalanced(Counter(change.new for change in changes)):
        records, archive = shuffle_archive(folder, archive, changes)
        ledger = MailLedger(settings.learner)
        learn_records(ledger, records)
    elif is_ordered:
        archive = update_archive(folder, archive, changes)
    if settings.words:
        words = update_feature_names(folder, words, changes, before, ledger)
    save_snapshot(folder, ledger, SnapshotMetadata(position, archive, words))
