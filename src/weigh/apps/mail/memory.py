"""A ledger in memory: the snapshot, and what the journal has after it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from weigh._core import MailLedger
from weigh.apps.mail.archive import last_changes, learned, remaining, touches
from weigh.apps.mail.change import SPAM, Change, changes_of
from weigh.apps.mail.glance import narrowed
from weigh.apps.mail.learners import LEARNERS
from weigh.apps.mail.snapshot import load
from weigh.errors import LostPlace, ModelFileError
from weigh.journal import Journal, Position, Record

_AT_ONCE = 256
_TRIES = 10


@dataclass
class Memory:
    """A ledger, and the number of its archive; it is void if something was undone that it cannot undo."""

    ledger: MailLedger
    archive: int
    is_void: bool = False

    def add(self, changes: list[Change]) -> None:
        """Learn and unlearn what has changed."""
        undone = [change for change in changes if change.old]
        if undone and LEARNERS[self.ledger.learner].is_ordered:
            self.is_void = True
        if self.is_void:
            return
        new = [change for change in changes if change.new]
        # Counts come in any order, and learning first keeps them from falling below zero on the way.
        self.ledger.learn([each.print for each in new], bytes(each.new == SPAM for each in new))
        if undone:
            self.ledger.unlearn([each.print for each in undone], bytes(each.old == SPAM for each in undone))


def remembered(
    folder: str,
    learner: str,
    journal: Journal,
    held: tuple[Memory, Position] | None = None,
    keys: set[int] | None = None,
) -> tuple[Memory, Position]:
    """The ledger as it is now, and the position that it includes; only what is new is read if one is held.

    With `keys` it is as it is now for these keys only, which takes less time.
    """

    def begin() -> tuple[Memory, Position]:
        ledger, note = load(folder, learner)
        return Memory(ledger, note.archive.number), note.position

    def add(memory: Memory, records: list[Record]) -> Memory:
        changes = changes_of(records, folder)
        try:
            memory.add(changes if keys is None else [narrowed(change, keys) for change in changes])
        except ValueError as error:
            raise ModelFileError(
                f"{folder}: the journal takes back messages that the ledger does not have. "
                "Restore the whole folder from a copy."
            ) from error
        return memory

    if held and LEARNERS[learner].is_ordered and load(folder, learner).note.archive.number != held[0].archive:
        # Others have learned all messages anew, in another order.
        held = None
    try:
        memory, position = journal.state(begin, add, held)
    except LostPlace as error:
        raise strangers(folder) from error
    return relearned(folder, learner, journal) if memory.is_void else (memory, position)


def strangers(folder: str) -> ModelFileError:
    """What to say of a ledger and a journal of which one does not go on from the other."""
    return ModelFileError(
        f"{folder}: the ledger and the journal do not belong together. Restore the whole folder from a copy."
    )


def relearned(folder: str, learner: str, journal: Journal) -> tuple[Memory, Position]:
    """A ledger that has learned all remaining messages in their order."""
    for _ in range(_TRIES):
        ledger, note = load(folder, learner)
        try:
            groups = list(journal.groups(note.position))
            changes = changes_of((record for records, _ in groups for record in records), folder)
            if touches(changes):
                ledger = MailLedger(learner)
                learn(ledger, remaining(folder, note.archive, changes))
            else:
                learn(ledger, learned(last_changes(changes)))
            return Memory(ledger, note.archive.number), groups[-1][1] if groups else note.position
        except (LostPlace, FileNotFoundError):
            # A writer has folded in the meantime, and there is a later snapshot.
            continue
    raise ModelFileError(
        f"{folder}: the archive of learned messages is gone. Restore the folder from a copy."
    )


def learn(ledger: MailLedger, records: Iterable[Record]) -> None:
    """Learn the messages of an archive, some at a time."""
    coming = iter(records)
    while batch := list(itertools.islice(coming, _AT_ONCE)):
        ledger.learn([each.payload for each in batch], bytes(each.mark == SPAM for each in batch))
