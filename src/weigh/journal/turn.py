"""A writer's turn: marks as they are, records that change them, folding."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from weigh.errors import JournalError
from weigh.journal.disk import telling
from weigh.journal.generation import Generation, made, opened
from weigh.journal.header import Header
from weigh.journal.marks import Marks, Table
from weigh.journal.record import START, Position, Record, checked, packed


class Known:
    """What a process knows of a journal's file, so that it need not read it again for its next turn."""

    def __init__(self) -> None:
        self.identity: tuple[int, int, int] | None = None
        self.marks = Marks(Table())
        self.end = START
        self.flushed = START

    def catch_up(self, file: Generation) -> None:
        """Read what others have written since."""
        if self.identity != file.identity or not file.has(self.end):
            self.marks = file.marks()
            self.end = file.header.folded
            self.flushed = START
            self.identity = file.identity
        for records, end in file.groups(self.end):
            self.marks.update({record.key: record.mark for record in records})
            self.end = end


class Turn:
    """The time during which one writer, and nobody else, appends; `Journal.writing` gives one."""

    def __init__(self, path: str, known: Known) -> None:
        self._known = known
        self._parts: list[bytes] = []
        self._pending: dict[bytes, int] = {}
        self._over = False
        self._file = _current(path)
        try:
            with telling(path, "read"):
                known.catch_up(self._file)
            self.cut = self._file.cut(known.end)
            """Bytes of an unfinished group that a killed writer had left, and that are gone now."""
        except BaseException:
            self.close()
            raise

    @property
    def position(self) -> Position:
        """The end of all groups that are on the disk."""
        return self._known.end

    @property
    def unfolded(self) -> int:
        """Bytes of records since the last snapshot, by which an owner may decide when to fold."""
        return self._known.end.offset - self._file.header.folded.offset

    def has(self, position: Position) -> bool:
        """Whether the journal goes on from a position, that of a snapshot say, and so belongs to it."""
        return self._file.has(position)

    def mark(self, key: bytes) -> int:
        """The present mark of a key, 0 if it has none."""
        mark = self._pending.get(key)
        return self._known.marks[key] if mark is None else mark

    def append(self, records: Iterable[Record]) -> list[bool]:
        """Take the records that change their key's mark, and tell of each whether it was one.

        They are on the disk, all of them or none, when the turn has ended without an exception.
        """
        self._require_open()
        new = []
        for record in [checked(record) for record in records]:
            changes = record.mark != self.mark(record.key)
            new.append(changes)
            if changes:
                self._pending[record.key] = record.mark
                self._parts += packed(record)
        return new

    def fold(self, write: Callable[[Position], None], *, keep: bool = False) -> None:
        """Begin a new generation of the journal, after its owner has written a snapshot.

        What the turn has appended is committed first, so `Journal.records` has it. `write` is called with
        the position that the snapshot includes. It must store that position in the snapshot, and have all
        of it on the disk before it returns, as `weigh.replacing.replaced` does. The new generation knows
        the mark of every key and has no records, or all of them with `keep`. Wherever this is interrupted,
        the snapshot and the journal together give the same state.
        """
        self.commit()
        write(self._known.end)
        # Should anything fail from here on, nobody knows which file has the name, and none may be written to.
        self._over = True
        try:
            self._file.succeed(self._known.marks, self._known.end, keep)
        finally:
            following = _current(self._file.path)
            self._file.close()
            self._file = following
            self._known.catch_up(following)
            self._over = False

    def commit(self) -> None:
        """Write what was appended as one group, and have it on the disk; the end of a turn does so."""
        self._require_open()
        if self._known.flushed != self._known.end:
            # A writer that was killed between writing and flushing may have left whole groups. Whoever is
            # told that a record is there already must be able to rely on it; and should the power fail, no
            # group may be on the disk behind one that is not.
            self._file.flush()
            self._known.flushed = self._known.end
        if self._parts:
            end = self._file.append(self._parts, self._known.end)
            # In this order: whoever is interrupted in between reads the group again, which changes nothing.
            self._known.marks.update(self._pending)
            self._known.end = self._known.flushed = end
            self._parts, self._pending = [], {}

    def close(self) -> None:
        """End the turn; what was not committed is forgotten."""
        self._over = True
        self._file.close()

    def _require_open(self) -> None:
        if self._over:
            raise JournalError(
                f"{self._file.path}: this turn is over. Begin another: with journal.writing() as turn."
            )


def _current(path: str) -> Generation:
    """A journal's file, open for writing, and made if there is none; the caller holds the lock."""
    file = opened(path, os.O_RDWR)
    if file is None:
        made(path, Header())
        file = opened(path, os.O_RDWR)
    if file is None:
        raise JournalError(f"{path}: the journal has vanished while it was made. Leave its folder to weigh.")
    return file
