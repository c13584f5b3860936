"""Replay of the journal onto the snapshot, relearning from the archive, and writing of new snapshots."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from weigh._core import MailLedger
from weigh.apps.mail.folder import ARCHIVE_FILE, REPAIR_ADVICE
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
from weigh.journal.journal import Journal
from weigh.journal.storage import JournalRecord, Position, pack_record, unpack_records

_BATCH_SIZE = 256
_MAX_ATTEMPTS = 10
# The order of messages does harm when this many of one label come with fewer than 1/8 as many of the other.
_MIN_RUN_LENGTH = 64
_MAX_IMBALANCE = 8


@dataclass
class LedgerState:
    """A ledger and the number of its archive.

    It becomes invalid when a change must be undone that its learner cannot undo.
    """

    ledger: MailLedger
    archive_number: int
    is_invalid: bool = False

    def apply_changes(self, changes: list[LabelChange]) -> None:
        """Learn the new labels of messages, and unlearn the old ones."""
        undone = [change for change in changes if change.old]
        if undone and LEARNERS[self.ledger.learner].is_ordered:
            self.is_invalid = True
        if self.is_invalid:
            return
        new = [change for change in changes if change.new]
        # Counts do not depend on the order, and learning first keeps them from dropping below zero.
        self.ledger.learn(
            [change.hashed_features for change in new], bytes(change.new == SPAM_MARK for change in new)
        )
        if undone:
            self.ledger.unlearn(
                [change.hashed_features for change in undone],
                bytes(change.old == SPAM_MARK for change in undone),
            )


def replay_journal(
    folder: str,
    learner: str,
    journal: Journal,
    cached: tuple[LedgerState, Position] | None = None,
    keys: set[int] | None = None,
) -> tuple[LedgerState, Position]:
    """Return the current ledger and the journal position that it includes.

    Starts from `cached` if given, and then reads only newer records. With `keys`, the ledger is up to date
    for these keys only, which is faster.
    """

    def begin() -> tuple[LedgerState, Position]:
        ledger, metadata = load_snapshot(folder, learner)
        return LedgerState(ledger, metadata.archive.number), metadata.position

    def add(state: LedgerState, records: list[JournalRecord]) -> LedgerState:
        changes = decode_changes(records, folder)
        try:
            state.apply_changes(
                changes if keys is None else [restrict_to_keys(change, keys) for change in changes]
            )
        except ValueError as error:
            raise ModelFileError(
                f"{folder}: the journal unlearns messages that the ledger does not contain.",
                hint=REPAIR_ADVICE,
            ) from error
        return state

    if (
        cached
        and LEARNERS[learner].is_ordered
        and load_snapshot(folder, learner).metadata.archive.number != cached[0].archive_number
    ):
        # Another process has relearned all messages in a different order.
        cached = None
    try:
        state, position = journal.state(begin, add, cached)
    except LostPlace as error:
        raise mismatch_error(folder) from error
    return relearn_all(folder, learner, journal) if state.is_invalid else (state, position)


def mismatch_error(folder: str) -> ModelFileError:
    """Return the error for a journal that does not continue the ledger."""
    return ModelFileError(
        f"{folder}: the ledger and the journal do not belong together.",
        hint=REPAIR_ADVICE,
    )


def relearn_all(folder: str, learner: str, journal: Journal) -> tuple[LedgerState, Position]:
    """Return a ledger that has learned all remaining messages in order, and its journal position."""
    for _ in range(_MAX_ATTEMPTS):
        ledger, metadata = load_snapshot(folder, learner)
        try:
            groups = list(journal.groups(metadata.position))
            changes = decode_changes((record for records, _ in groups for record in records), folder)
            if changes_archive(changes):
                ledger = MailLedger(learner)
                learn_records(ledger, remaining_records(folder, metadata.archive, changes))
            else:
                learn_records(ledger, learned_records(latest_changes(changes)))
            position = groups[-1][1] if groups else metadata.position
            return LedgerState(ledger, metadata.archive.number), position
        except (LostPlace, FileNotFoundError):
            # A writer has folded the journal in the meantime, so there is a newer snapshot.
            continue
    raise ModelFileError(
        f"{folder}: the archive of learned messages is missing.",
        hint=REPAIR_ADVICE,
    )


def learn_records(ledger: MailLedger, records: Iterable[JournalRecord]) -> None:
    """Learn archived messages in batches."""
    iterator = iter(records)
    while batch := list(itertools.islice(iterator, _BATCH_SIZE)):
        ledger.learn([each.payload for each in batch], bytes(each.mark == SPAM_MARK for each in batch))


def write_snapshot(
    folder: str, settings: StoreSettings, journal: Journal, ledger: MailLedger, position: Position
) -> None:
    """Write a snapshot of a ledger that includes the whole journal up to its end at `position`.

    A learner that depends on the order forgets the other label during a long run of one label. After such a
    run it learns all messages again in shuffled order.
    """
    before, metadata = load_snapshot(folder, settings.learner)
    archive, words = metadata.archive, metadata.words
    is_ordered = LEARNERS[settings.learner].is_ordered
    needs_changes = is_ordered or settings.words
    changes = decode_changes(journal.records(metadata.position), folder) if needs_changes else []
    if is_ordered and is_imbalanced(Counter(change.new for change in changes)):
        records, archive = shuffle_archive(folder, archive, changes)
        ledger = MailLedger(settings.learner)
        learn_records(ledger, records)
    elif is_ordered:
        archive = update_archive(folder, archive, changes)
    if settings.words:
        words = update_feature_names(folder, words, changes, before, ledger)
    save_snapshot(folder, ledger, SnapshotMetadata(position, archive, words))


def is_imbalanced(marks: Counter[int]) -> bool:
    """Return whether there are many messages and so few of one label that it would be forgotten."""
    fewer, more = sorted((marks[HAM_MARK], marks[SPAM_MARK]))
    return more >= _MIN_RUN_LENGTH and fewer * _MAX_IMBALANCE < more


def shuffle_archive(
    folder: str, archive: SidecarFile, changes: Sequence[LabelChange]
) -> tuple[list[JournalRecord], SidecarFile]:
    """Order all learned messages pseudo-randomly, by their keys, and write an archive in that order."""
    records = sorted(remaining_records(folder, archive, changes), key=lambda record: record.key)
    path = os.path.join(folder, ARCHIVE_FILE)
    return records, archive.next_version().append(path, _encode_records(records))


def update_archive(folder: str, archive: SidecarFile, changes: Sequence[LabelChange]) -> SidecarFile:
    """Append changes to the archive, or rewrite it if an archived message has changed."""
    path = os.path.join(folder, ARCHIVE_FILE)
    if changes_archive(changes):
        records = remaining_records(folder, archive, changes)
        return archive.next_version().append(path, _encode_records(records))
    return archive.append(path, _encode_records(learned_records(latest_changes(changes))))


def latest_changes(changes: Iterable[LabelChange]) -> list[LabelChange]:
    """Return the last change of every message, in order."""
    latest: dict[bytes, LabelChange] = {}
    for change in changes:
        latest.pop(change.key, None)
        latest[change.key] = change
    return list(latest.values())


def changes_archive(changes: Iterable[LabelChange]) -> bool:
    """Return whether a changed message was learned before these changes and is therefore in the archive."""
    first_marks: dict[bytes, int] = {}
    for change in changes:
        first_marks.setdefault(change.key, change.old)
    return any(first_marks.values())


def remaining_records(
    folder: str, archive: SidecarFile, changes: Sequence[LabelChange]
) -> Iterator[JournalRecord]:
    """Generate the messages learned after the changes, in order: unchanged archived, then changed ones."""
    latest = latest_changes(changes)
    changed = {change.key for change in latest}
    for record in unpack_records(archive.read(os.path.join(folder, ARCHIVE_FILE))):
        if record.key not in changed:
            yield record
    yield from learned_records(latest)


def learned_records(changes: Iterable[LabelChange]) -> Iterator[JournalRecord]:
    """Generate archive records of the messages that changes leave as learned."""
    return (
        JournalRecord(change.key, change.new, change.hashed_features)
        for change in changes
        if change.new != NOT_LEARNED
    )


def _encode_records(records: Iterable[JournalRecord]) -> Iterator[bytes]:
    for record in records:
        yield from pack_record(record)
