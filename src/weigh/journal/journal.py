"""The journal: lock-free reading, and writing in transactions under a file lock."""

from __future__ import annotations

import contextlib
import os
import struct
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from weigh.errors import CutJournal, DamagedJournal, JournalError, LostPlace, parameter_error
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

# Enough retries to outlast the moment in which a writer replaces a torn group.
_MAX_READ_ATTEMPTS = 10
_MIN_LOCK_PAUSE = 0.0005
_MAX_LOCK_PAUSE = 0.02
# Content of the lock file: the offset up to which records were acknowledged, and its CRC-32.
_ACKNOWLEDGED = struct.Struct("<QI")


class Journal:
    """A durable file of records, in which every change of a key's mark is written exactly once.

    A *mark* is a small integer, the current state of a key (0: never recorded). The records of one commit
    form a *group*, read all or none. Compacting replaces the file by a new *generation*.

    Several processes and threads may write, one at a time::

        journal = Journal("learned.journal")
        with journal.transaction() as transaction:
            [is_new] = transaction.append([JournalRecord(key, 1, payload)])

    After the transaction the records are on disk; if the process is killed earlier, either all of them are or
    none. A record whose key already has its mark is not written, so repeating an operation has no effect.
    Readers need no lock::

        for record in journal.records(since=position):
            ...

    State derived from the records, such as a model, is stored as a snapshot together with the position it
    covers. `WriteTransaction.compact` writes a snapshot and drops the records; `state` combines the two.

    The lock files (`.lock`, `.queue`) beside the file are permanent; the draft of a new generation (`.new`)
    is temporary. The lock file also says up to which byte records were acknowledged: after that byte, an
    incomplete group is the trace of a killed writer; before it, damage. `timeout` is the number of seconds
    that a writer waits for the lock.
    """

    def __init__(self, path: str | os.PathLike[str], *, timeout: float = 30.0) -> None:
        if not timeout >= 0:
            raise parameter_error("Journal", "timeout", "a number of seconds, 0 or more", timeout)
        # Locks and drafts belong beside the file, not beside a symbolic link to it.
        self.path = os.path.realpath(path)
        self._timeout = timeout
        self._cache = WriterCache()
        check_file_locks(self.path)

    def __repr__(self) -> str:
        return f"Journal({self.path!r})"

    @contextlib.contextmanager
    def transaction(self) -> Iterator[WriteTransaction]:
        """Wait for the lock and begin a transaction; an exception in its block appends nothing."""
        with (
            write_lock(self.path, self._timeout) as lock,
            contextlib.closing(WriteTransaction(self.path, self._cache, lock)) as transaction,
        ):
            if transaction.truncated_bytes:
                from weigh.deduplicated_warnings import warn

                warn(
                    CutJournal(
                        f"{self.path}: the last {transaction.truncated_bytes:,} bytes were incomplete and "
                        "were removed.",
                        hint="A writer was killed there, or the disk lost data; append those records again.",
                    ),
                    [self.path],
                )
            yield transaction
            transaction.commit()

    @property
    def position(self) -> Position:
        """The end of the last complete group."""
        file = open_generation(self.path, os.O_RDONLY)
        if file is None:
            return JOURNAL_START
        with contextlib.closing(file):
            end = file.header.snapshot_position
            for _, after in file.groups(end, _MAX_READ_ATTEMPTS):
                end = after
            return end

    def marks(self) -> MarkIndex:
        """Return the marks of all keys after reading and verifying the whole file."""
        acknowledged = read_acknowledged(self.path)
        file = open_generation(self.path, os.O_RDONLY)
        if file is None:
            return MarkIndex(MarkTable())
        cache = WriterCache()
        with contextlib.closing(file):
            cache.catch_up(file, _MAX_READ_ATTEMPTS)
            file.require_acknowledged(cache.end, acknowledged)
        return cache.marks

    def records(self, since: Position = JOURNAL_START) -> Iterator[JournalRecord]:
        """Yield the records of complete groups after a position; raises LostPlace if some were compacted."""
        for records, _ in self.groups(since):
            yield from records

    def groups(self, since: Position = JOURNAL_START) -> Iterator[tuple[list[JournalRecord], Position]]:
        """Yield the records of each complete group after a position, and the position after the group."""
        # Before the groups, so that a writer cannot append and acknowledge in between.
        acknowledged = read_acknowledged(self.path)
        file = open_generation(self.path, os.O_RDONLY)
        if file is None:
            if since != JOURNAL_START:
                raise LostPlace(
                    f"{self.path}: there is a snapshot, but no journal. Restore the journal from a copy."
                )
            return
        with contextlib.closing(file):
            end = since
            for records, end in file.groups(since, _MAX_READ_ATTEMPTS):
                yield records, end
            file.require_acknowledged(end, acknowledged)

    def state(
        self,
        load: Callable[[], tuple[State, Position]],
        apply: Callable[[State, list[JournalRecord]], State],
        current: tuple[State, Position] | None = None,
    ) -> tuple[State, Position]:
        """Return the state of the snapshot and the records after it, and the position that it covers.

        `load` returns the snapshot and the position stored in it, or an empty state and JOURNAL_START if
        there is none yet; `apply` returns the state after further records. If a writer compacts in between
        and drops records that the loaded snapshot lacks, the newer snapshot is loaded. Pass the previous
        result as `current` to read only new records::

            state, position = journal.state(load, apply)
            state, position = journal.state(load, apply, current=(state, position))
        """
        lost = None
        while True:
            state, start = current or load()
            position = start
            try:
                for records, after in self.groups(start):
                    state, position = apply(state, records), after
                return state, position
            except LostPlace:
                # Snapshots are written before records are dropped, so a second load must return a later one.
                if current is None and start == lost:
                    raise
                lost = None if current else start
                current = None


def check_file_locks(path: str) -> None:
    """Raise JournalError on a system without fcntl locks."""
    try:
        import fcntl  # noqa: F401
    except ImportError:
        raise JournalError(
            f"{path}: a journal needs the file locks of Unix (fcntl), which this system does not have. "
            "Use Linux, macOS or the Windows Subsystem for Linux."
        ) from None


@contextlib.contextmanager
def write_lock(path: str, timeout: float) -> Iterator[int]:
    """Hold a journal's lock, waiting for it up to `timeout` seconds; yields the descriptor of its file.

    There are two locks, in files that are never deleted. The holder of the queue lock polls the main lock
    often, and a writer that releases the main lock must queue again. With one lock alone, a busy writer
    would reacquire it before anyone else polls.
    """
    deadline = time.monotonic() + timeout
    with _open_lock_file(f"{path}.lock") as lock:
        with _open_lock_file(f"{path}.queue") as queue:
            is_locked = _acquire(queue, deadline, _MAX_LOCK_PAUSE) and _acquire(
                lock, deadline, _MIN_LOCK_PAUSE
            )
        if not is_locked:
            raise JournalError(
                f"{path}.lock is taken: another writer has not finished within {timeout:g} s. "
                "Try again, or wait longer: Journal(path, timeout=...)."
            )
        yield lock


def read_acknowledged(path: str) -> int:
    """Return the offset up to which records were acknowledged; 0 if the lock file does not say so.

    It may be too small, after a power failure and for journals of earlier versions, but never too large.
    """
    try:
        with open(f"{path}.lock", "rb") as file:
            data = file.read(_ACKNOWLEDGED.size)
    except OSError:
        return 0
    if len(data) < _ACKNOWLEDGED.size:
        return 0
    offset, checksum = _ACKNOWLEDGED.unpack(data)
    return offset if checksum == zlib.crc32(data[:-4]) else 0


def write_acknowledged(lock: int, offset: int) -> None:
    """Write the offset up to which records were acknowledged into the lock file.

    It is not flushed to disk, which would double the time of a commit. Records are already on disk, so that a
    failure does not matter.
    """
    data = offset.to_bytes(8, "little")
    with contextlib.suppress(OSError):
        os.pwrite(lock, data + zlib.crc32(data).to_bytes(4, "little"), 0)


@contextlib.contextmanager
def _open_lock_file(path: str) -> Iterator[int]:
    # flock belongs to the open file description; a new one per transaction also excludes threads.
    with translate_os_errors(path, "written"):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, deadline: float, max_pause: float) -> bool:
    """Lock a file; returns False if that is not possible before the deadline."""
    import fcntl

    pause = _MIN_LOCK_PAUSE
    while True:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            return False
        time.sleep(min(pause, remaining))
        pause = min(2 * pause, max_pause)


class WriterCache:
    """The marks and the end of a journal's file, kept between transactions so as not to read it again."""

    def __init__(self) -> None:
        self.identity: tuple[int, int, int] | None = None
        self.marks = MarkIndex(MarkTable())
        self.end = JOURNAL_START
        self.flushed_position = JOURNAL_START

    def catch_up(self, file: Generation, attempts: int = 1) -> None:
        """Read what other writers have appended; a reader without the lock needs several attempts."""
        if self.identity != file.identity or not file.contains(self.end):
            self.marks = file.read_marks()
            self.end = file.header.snapshot_position
            self.flushed_position = JOURNAL_START
            self.identity = file.identity
        for records, end in file.groups(self.end, attempts):
            self.marks.update({record.key: record.mark for record in records})
            self.end = end


class WriteTransaction:
    """Exclusive write access to a journal; created by `Journal.transaction`."""

    def __init__(self, path: str, cache: WriterCache, lock: int) -> None:
        self._cache = cache
        self._lock = lock
        self._parts: list[bytes] = []
        self._pending: dict[bytes, int] = {}
        self._is_closed = False
        acknowledged = read_acknowledged(path)
        if acknowledged and not os.path.exists(path):
            raise DamagedJournal(
                f"{path} is missing.",
                hint=(
                    "Restore it and its lock file from a copy, or remove "
                    f"{path}.lock to begin an empty journal."
                ),
            )
        self._file = _open_or_create(path)
        try:
            with translate_os_errors(path, "read"):
                cache.catch_up(self._file)
            self._file.require_acknowledged(cache.end, acknowledged)
            self.truncated_bytes = self._file.truncate(cache.end)
            """Size of an incomplete group that a killed writer had left and that was removed."""
        except BaseException:
            self.close()
            raise

    @property
    def position(self) -> Position:
        """The end of the last committed group."""
        return self._cache.end

    @property
    def bytes_since_snapshot(self) -> int:
        """Bytes of records since the last snapshot, for deciding when to compact."""
        return self._cache.end.offset - self._file.header.snapshot_position.offset

    def contains(self, position: Position) -> bool:
        """Whether the journal continues from a position, and so belongs to a snapshot with that position."""
        return self._file.contains(position)

    def mark(self, key: bytes) -> int:
        """Return the current mark of a key, 0 if it has none."""
        mark = self._pending.get(key)
        return self._cache.marks[key] if mark is None else mark

    def append(self, records: Iterable[JournalRecord]) -> list[bool]:
        """Add the records that change their key's mark; returns for each record whether it does.

        They are on disk, all or none, once the transaction has ended without an exception.
        """
        self._require_open()
        are_new = []
        for record in [check_record(record) for record in records]:
            is_new = record.mark != self.mark(record.key)
            are_new.append(is_new)
            if is_new:
                self._pending[record.key] = record.mark
                self._parts += pack_record(record)
        return are_new

    def compact(self, write_snapshot: Callable[[Position], None], *, keep_records: bool = False) -> None:
        """Write a snapshot with `write_snapshot`, then replace the journal by a new generation.

        Pending records are committed first, so `Journal.records` includes them. `write_snapshot` is called
        with the position that the snapshot covers; it must store that position in the snapshot and flush it
        to disk, as `weigh.atomic_files.atomic_write` does. The new generation has the mark of every key, and
        no records unless `keep_records` is true. After an interruption at any point, the snapshot and the
        journal still give the same state.
        """
        self.commit()
        write_snapshot(self._cache.end)
        # Until the file is reopened below, it is unknown which generation has the path; stay closed if
        # reopening fails.
        self._is_closed = True
        try:
            self._file.write_successor(self._cache.marks, self._cache.end, keep_records)
        finally:
            successor = _open_or_create(self._file.path)
            self._file.close()
            self._file = successor
            self._cache.catch_up(successor)
            self._is_closed = False

    def commit(self) -> None:
        """Write the appended records as one group and flush it; the end of a transaction does this too."""
        self._require_open()
        if self._cache.flushed_position != self._cache.end:
            # A writer killed before its flush may have left complete groups. A caller who learns that a
            # record already exists must be able to rely on it, and after a power failure no group may be
            # on disk behind one that is not.
            self._file.flush()
            self._cache.flushed_position = self._cache.end
        if self._parts:
            end = self._file.append(self._parts, self._cache.end)
            # In this order: after an interruption in between, the group is read again, which changes nothing.
            self._cache.marks.update(self._pending)
            self._cache.end = self._cache.flushed_position = end
            self._parts, self._pending = [], {}
            write_acknowledged(self._lock, end.offset)

    def close(self) -> None:
        """End the transaction; uncommitted records are discarded."""
        self._is_closed = True
        self._file.close()

    def _require_open(self) -> None:
        if self._is_closed:
            raise JournalError(
                f"{self._file.path}: this transaction is over. Begin a new one with Journal.transaction()."
            )


def _open_or_create(path: str) -> Generation:
    """Open a journal's file for writing, creating it if necessary; the caller holds the lock."""
    file = open_generation(path, os.O_RDWR)
    if file is None:
        write_generation(path, JournalHeader())
        file = open_generation(path, os.O_RDWR)
    if file is None:
        raise JournalError(
            f"{path}: the journal was deleted while it was being created. Do not modify its folder meanwhile."
        )
    return file
