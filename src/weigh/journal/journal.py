"""The journal itself, for writers and readers."""

from __future__ import annotations

import contextlib
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from weigh.errors import CutJournal, JournalError, LostPlace, parameter_error
from weigh.journal.generation import Generation, MarkIndex, MarkTable, open_generation, write_generation
from weigh.journal.storage import (
    JOURNAL_START,
    JournalHeader,
    JournalRecord,
    Position,
    check_record,
    pack_record,
    translate_os_errors,
)

State = TypeVar("State")

# Looking again, ten times at most, spans the moment between a writer's cut and its next group.
_MAX_READ_ATTEMPTS = 10


class Journal:
    """Records on the disk that outlive their writer, each key changing its mark exactly once.

    Several processes and threads may write, one at a time::

        journal = Journal("learned.journal")
        with journal.writing() as turn:
            new = turn.append([Record(key, 1, payload)])

    After the turn the records are on the disk; if the process is killed before, all of them are or none. A
    record whose key has its mark already is not written, so that doing something twice counts once. Readers
    need no lock::

        for record in journal.records(since=position):
            ...

    A state that is made of the records, a model say, is kept as a snapshot with the position that it
    includes. `turn.fold` writes one and frees the journal of its records, and `state` reads the two
    together.

    Beside the file are its locks (`.lock`, `.queue`), which stay there for ever, and for a moment the draft
    of a new generation (`.new`). `patience` is how many seconds a writer waits for its turn.
    """

    def __init__(self, path: str | os.PathLike[str], *, patience: float = 30.0) -> None:
        if not patience >= 0:
            raise parameter_error("Journal", "patience", "a number of seconds, 0 or more", patience)
        # Locks and drafts belong beside the file, and not beside a link to it.
        self.path = os.path.realpath(path)
        self._patience = patience
        self._cache = WriterCache()
        check_file_locks(self.path)

    def __repr__(self) -> str:
        return f"Journal({self.path!r})"

    @contextlib.contextmanager
    def transaction(self) -> Iterator[WriteTransaction]:
        """A turn to write, once all others are through with theirs; an exception in it appends nothing."""
        with (
            write_lock(self.path, self._patience),
            contextlib.closing(WriteTransaction(self.path, self._cache)) as turn,
        ):
            if turn.truncated_bytes:
                warnings.warn(
                    f"{self.path}: the last {turn.truncated_bytes:,} bytes were not whole and were cut. A writer was "
                    "stopped there, or the disk has lost them; what they held has to be given again.",
                    CutJournal,
                    stacklevel=3,
                )
            yield turn
            turn.commit()

    @property
    def position(self) -> Position:
        """The end of the last whole group."""
        file = open_generation(self.path, os.O_RDONLY)
        if file is None:
            return JOURNAL_START
        with contextlib.closing(file):
            end = file.header.snapshot_position
            for _, after in file.groups(end, _MAX_READ_ATTEMPTS):
                end = after
            return end

    def records(self, since: Position = JOURNAL_START) -> Iterator[JournalRecord]:
        """All records after a position, of whole groups only; LostPlace if some of them are gone."""
        for records, _ in self.groups(since):
            yield from records

    def groups(self, since: Position = JOURNAL_START) -> Iterator[tuple[list[JournalRecord], Position]]:
        """The records of each group after a position, together with the position after the group."""
        file = open_generation(self.path, os.O_RDONLY)
        if file is None:
            if since != JOURNAL_START:
                raise LostPlace(
                    f"{self.path}: there is no journal, but a snapshot of one. Restore it from a copy."
                )
            return
        with contextlib.closing(file):
            yield from file.groups(since, _MAX_READ_ATTEMPTS)

    def state(
        self,
        load: Callable[[], tuple[State, Position]],
        add: Callable[[State, list[JournalRecord]], State],
        held: tuple[State, Position] | None = None,
    ) -> tuple[State, Position]:
        """The state that the snapshot and the records after it make up, and the position that it includes.

        `load` gives the snapshot and the position stored in it, or an empty state and START if there is
        none yet; `add` gives the state after some more records. Between the two a writer may fold, and drop
        records that the snapshot just loaded does not have; then the newer snapshot is loaded. Whoever asks
        again and again passes what it holds, and only reads what is new::

            state, position = journal.state(load, add)
            state, position = journal.state(load, add, held=(state, position))
        """
        lost = None
        while True:
            state, position = begun = held or load()
            try:
                for records, after in self.groups(position):
                    state, position = add(state, records), after
                return state, position
            except LostPlace:
                # Snapshots are written before records are dropped, so a second look must find a later one.
                if held is None and begun[1] == lost:
                    raise
                lost = None if held else begun[1]
                held = None


_MIN_LOCK_PAUSE = 0.0005
_MAX_LOCK_PAUSE = 0.02


def check_file_locks(path: str) -> None:
    """Refuse a system without the locks that a journal needs."""
    try:
        import fcntl
    except ImportError:
        raise JournalError(
            f"{path}: a journal needs the file locks of Unix (fcntl), which this system does not have. "
            "Use Linux or macOS, or the Linux subsystem of Windows."
        ) from None


@contextlib.contextmanager
def write_lock(path: str, patience: float) -> Iterator[None]:
    """Hold the lock that belongs to a journal, waiting for it as long as `patience` allows.

    There are two locks, in files that are never deleted. Whoever is first in the queue looks for the lock
    often, and the one who has just let go of it has to queue first; with one lock alone, a busy writer
    would take it again and again before anybody else looks.
    """
    until = time.monotonic() + patience
    with _open_lock_file(f"{path}.lock") as lock:
        with _open_lock_file(f"{path}.queue") as queue:
            locks = _acquire(queue, until, _MAX_LOCK_PAUSE) and _acquire(lock, until, _MIN_LOCK_PAUSE)
        if not locks:
            raise JournalError(
                f"{path}.lock is taken: another program, or another part of this one, is writing and has not "
                f"finished within {patience:g} s. Try again, or wait longer: Journal(path, patience=...)."
            )
        yield


@contextlib.contextmanager
def _open_lock_file(path: str) -> Iterator[int]:
    # Every turn opens the file anew: a lock belongs to an opening, so that threads exclude each other as
    # well.
    with translate_os_errors(path, "written"):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, until: float, longest_pause: float) -> bool:
    """Whether the lock of a file could be taken in time."""
    import fcntl

    pause = _MIN_LOCK_PAUSE
    while True:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        left = until - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(pause, left))
        pause = min(2 * pause, longest_pause)


class WriterCache:
    """What a process knows of a journal's file, so that it need not read it again for its next turn."""

    def __init__(self) -> None:
        self.identity: tuple[int, int, int] | None = None
        self.marks = MarkIndex(MarkTable())
        self.end = JOURNAL_START
        self.flushed_position = JOURNAL_START

    def catch_up(self, file: Generation) -> None:
        """Read what others have written since."""
        if self.identity != file.identity or not file.contains(self.end):
            self.marks = file.read_marks()
            self.end = file.header.snapshot_position
            self.flushed_position = JOURNAL_START
            self.identity = file.identity
        for records, end in file.groups(self.end):
            self.marks.update({record.key: record.mark for record in records})
            self.end = end


class WriteTransaction:
    """The time during which one writer, and nobody else, appends; `Journal.writing` gives one."""

    def __init__(self, path: str, known: WriterCache) -> None:
        self._cache = known
        self._parts: list[bytes] = []
        self._pending: dict[bytes, int] = {}
        self._is_closed = False
        self._file = _open_or_create(path)
        try:
            with translate_os_errors(path, "read"):
                known.catch_up(self._file)
            self.truncated_bytes = self._file.truncate(known.end)
            """Bytes of an unfinished group that a killed writer had left, and that are gone now."""
        except BaseException:
            self.close()
            raise

    @property
    def position(self) -> Position:
        """The end of all groups that are on the disk."""
        return self._cache.end

    @property
    def bytes_since_snapshot(self) -> int:
        """Bytes of records since the last snapshot, by which an owner may decide when to fold."""
        return self._cache.end.offset - self._file.header.snapshot_position.offset

    def contains(self, position: Position) -> bool:
        """Whether the journal goes on from a position, that of a snapshot say, and so belongs to it."""
        return self._file.contains(position)

    def mark(self, key: bytes) -> int:
        """The present mark of a key, 0 if it has none."""
        mark = self._pending.get(key)
        return self._cache.marks[key] if mark is None else mark

    def append(self, records: Iterable[JournalRecord]) -> list[bool]:
        """Take the records that change their key's mark, and tell of each whether it was one.

        They are on the disk, all of them or none, when the turn has ended without an exception.
        """
        self._require_open()
        new = []
        for record in [check_record(record) for record in records]:
            changes = record.mark != self.mark(record.key)
            new.append(changes)
            if changes:
                self._pending[record.key] = record.mark
                self._parts += pack_record(record)
        return new

    def compact(self, write: Callable[[Position], None], *, keep: bool = False) -> None:
        """Begin a new generation of the journal, after its owner has written a snapshot.

        What the turn has appended is committed first, so `Journal.records` has it. `write` is called with
        the position that the snapshot includes. It must store that position in the snapshot, and have all
        of it on the disk before it returns, as `weigh.atomic_files.atomic_write` does. The new generation knows
        the mark of every key and has no records, or all of them with `keep`. Wherever this is interrupted,
        the snapshot and the journal together give the same state.
        """
        self.commit()
        write(self._cache.end)
        # Should anything fail from here on, nobody knows which file has the name, and none may be written to.
        self._is_closed = True
        try:
            self._file.write_successor(self._cache.marks, self._cache.end, keep)
        finally:
            following = _open_or_create(self._file.path)
            self._file.close()
            self._file = following
            self._cache.catch_up(following)
            self._is_closed = False

    def commit(self) -> None:
        """Write what was appended as one group, and have it on the disk; the end of a turn does so."""
        self._require_open()
        if self._cache.flushed_position != self._cache.end:
            # A writer that was killed between writing and flushing may have left whole groups. Whoever is
            # told that a record is there already must be able to rely on it; and should the power fail, no
            # group may be on the disk behind one that is not.
            self._file.flush()
            self._cache.flushed_position = self._cache.end
        if self._parts:
            end = self._file.append(self._parts, self._cache.end)
            # In this order: whoever is interrupted in between reads the group again, which changes nothing.
            self._cache.marks.update(self._pending)
            self._cache.end = self._cache.flushed_position = end
            self._parts, self._pending = [], {}

    def close(self) -> None:
        """End the turn; what was not committed is forgotten."""
        self._is_closed = True
        self._file.close()

    def _require_open(self) -> None:
        if self._is_closed:
            raise JournalError(
                f"{self._file.path}: this turn is over. Begin another: with journal.writing() as turn."
            )


def _open_or_create(path: str) -> Generation:
    """A journal's file, open for writing, and made if there is none; the caller holds the lock."""
    file = open_generation(path, os.O_RDWR)
    if file is None:
        write_generation(path, JournalHeader())
        file = open_generation(path, os.O_RDWR)
    if file is None:
        raise JournalError(f"{path}: the journal has vanished while it was made. Leave its folder to weigh.")
    return file
