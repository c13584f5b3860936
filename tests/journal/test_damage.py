"""A torn last group that was not acknowledged is removed, and other damage is reported."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path

import pytest

from tests.journal.ledger import Ledger, plain, record
from weigh.errors import CutJournal, DamagedJournal, JournalError
from weigh.journal import generation
from weigh.journal.storage import HEADER_BYTES, JournalRecord

GROUPS = [
    [record("a", 1, b"first")],
    [record("b"), record("c", 2, b"x" * 40)],
    [record("a", 0)],
    [record("d")],
]
ALL = [record for group in GROUPS for record in group]


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    monkeypatch.setattr(generation, "_RETRY_PAUSE", 0)
    ledger = Ledger(tmp_path)
    for group in GROUPS:
        ledger.append(*group)
    return ledger


def reopen(ledger: Ledger) -> Ledger:
    """Open the same files without a cache."""
    return Ledger(os.path.dirname(ledger.path))


def forget_acknowledgements(ledger: Ledger) -> None:
    """Make a journal look as if its last writer had been killed before its records were acknowledged."""
    os.truncate(f"{ledger.path}.lock", 0)


def ends(ledger: Ledger) -> list[int]:
    """Return the file offset at which each group ends."""
    return [HEADER_BYTES] + [HEADER_BYTES + position.offset for _, position in ledger.journal.groups()]


def complete_records(ledger: Ledger, length: int) -> list[JournalRecord]:
    """Return the records of the groups that are complete in the first `length` bytes."""
    n_groups = sum(end <= length for end in ends(ledger)) - 1
    return [record for group in GROUPS[:n_groups] for record in group]


def test_after_truncation_at_any_length_complete_groups_remain_and_writing_continues(ledger: Ledger) -> None:
    content = Path(ledger.path).read_bytes()
    prefixes = [complete_records(ledger, length) for length in range(HEADER_BYTES, len(content) + 1)]
    boundaries = ends(ledger)
    for length, prefix in zip(range(HEADER_BYTES, len(content) + 1), prefixes, strict=True):
        Path(ledger.path).write_bytes(content[:length])
        forget_acknowledgements(ledger)
        assert list(reopen(ledger).journal.records()) == prefix
        cut = length - max(end for end in boundaries if end <= length)
        warned = (
            pytest.warns(CutJournal, match=f"the last {cut} bytes were incomplete") if cut else nullcontext()
        )
        with warned, reopen(ledger).journal.transaction() as transaction:
            transaction.append([record("e")])
        assert reopen(ledger).entries() == plain(*prefix, record("e"))
        assert os.path.getsize(ledger.path) == HEADER_BYTES + reopen(ledger).journal.position.offset


def test_a_flipped_byte_before_the_last_group_is_reported_and_nothing_is_removed(ledger: Ledger) -> None:
    content = Path(ledger.path).read_bytes()
    last = ends(ledger)[-2]
    for index in range(last):
        damaged = flip(content, index)
        Path(ledger.path).write_bytes(damaged)
        for use in (Ledger.entries, lambda other: other.append(record("e"))):
            with pytest.raises(JournalError, match=r"damaged|not a journal|has format"):
                use(reopen(ledger))
        assert Path(ledger.path).read_bytes() == damaged


def test_missing_or_flipped_bytes_of_acknowledged_records_are_reported_and_nothing_is_removed(
    ledger: Ledger,
) -> None:
    content = Path(ledger.path).read_bytes()
    last = ends(ledger)[-2]
    cut = [content[:length] for length in range(HEADER_BYTES, len(content))]
    for damaged in (*cut, *(flip(content, index) for index in range(last, len(content)))):
        Path(ledger.path).write_bytes(damaged)
        for use in (
            Ledger.entries,
            lambda other: other.append(record("e")),
            lambda other: other.journal.marks(),
        ):
            with pytest.raises(
                DamagedJournal, match=r"which were on disk, are overwritten or missing\. Nothing"
            ):
                use(reopen(ledger))
        assert Path(ledger.path).read_bytes() == damaged


def test_a_damaged_lock_file_does_no_harm(ledger: Ledger) -> None:
    lock = Path(f"{ledger.path}.lock")
    content = lock.read_bytes()
    for damaged in (b"", b"x" * 1000, *(flip(content, index) for index in range(len(content)))):
        lock.write_bytes(damaged)
        assert reopen(ledger).entries() == plain(*ALL)
    assert ledger.append(record("e")) == [True]
    assert lock.read_bytes()[:12] != content


def test_a_flipped_byte_in_a_last_group_that_was_not_acknowledged_loses_only_that_group(
    ledger: Ledger,
) -> None:
    content = Path(ledger.path).read_bytes()
    last = ends(ledger)[-2]
    kept = complete_records(ledger, last)
    for index in range(last, len(content)):
        Path(ledger.path).write_bytes(flip(content, index))
        forget_acknowledgements(ledger)
        assert reopen(ledger).entries() == plain(*kept)
        with pytest.warns(CutJournal):
            assert reopen(ledger).append(*GROUPS[-1]) == [True]
        assert Path(ledger.path).read_bytes() == content


def test_a_reader_retries_while_a_writer_replaces_a_torn_group(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = Path(ledger.path).read_bytes()
    Path(ledger.path).write_bytes(flip(content, HEADER_BYTES + 20))
    monkeypatch.setattr(generation.time, "sleep", lambda pause: Path(ledger.path).write_bytes(content))
    assert reopen(ledger).entries() == plain(*ALL)


def test_trailing_zeros_of_a_lost_write_are_removed(ledger: Ledger) -> None:
    content = Path(ledger.path).read_bytes()
    Path(ledger.path).write_bytes(content + bytes(5000))
    assert reopen(ledger).entries() == plain(*ALL)
    with pytest.warns(CutJournal, match="5,000 bytes"):
        reopen(ledger).append(record("e"))
    assert Path(ledger.path).read_bytes()[: len(content)] == content


def test_a_flipped_byte_in_the_table_of_keys_is_reported_to_writers(ledger: Ledger) -> None:
    ledger.compact()
    content = Path(ledger.path).read_bytes()
    for index in range(HEADER_BYTES, len(content)):
        Path(ledger.path).write_bytes(flip(content, index))
        with pytest.raises(JournalError, match="damaged in its table of keys"):
            reopen(ledger).append(record("e"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"is not a journal of weigh\. Move it and its lock file away, or use another path\."),
        (b"From nobody\n" * 9, "is not a journal of weigh"),
        (b"weigh\x00jr\x01", "is truncated in its header"),
        (b"weigh\x00jr\x02" + bytes(99), "has format 2; this version of weigh reads formats up to 1"),
    ],
)
def test_foreign_files_are_not_modified(tmp_path: Path, content: bytes, message: str) -> None:
    ledger = Ledger(tmp_path)
    Path(ledger.path).write_bytes(content)
    for use in (Ledger.entries, lambda other: other.append(record("e"))):
        with pytest.raises(JournalError, match=message):
            use(ledger)
    assert Path(ledger.path).read_bytes() == content


def test_a_truncated_table_is_reported(ledger: Ledger) -> None:
    ledger.compact()
    os.truncate(ledger.path, os.path.getsize(ledger.path) - 1)
    with pytest.raises(JournalError, match="truncated in its table of keys"):
        ledger.append(record("e"))


def test_short_writes_are_continued(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda descriptor, data, at: write(descriptor, data[:7], at))
    ledger.append(record("e", 1, b"payload" * 9))
    assert reopen(ledger).entries()[-1:] == plain(record("e", 1, b"payload" * 9))


def full_after(n_bytes: int) -> Callable[[int, bytes, int], int]:
    """Return an `os.pwrite` for a disk with room for `n_bytes` more bytes."""
    write = os.pwrite
    remaining = n_bytes

    def pwrite(descriptor: int, data: bytes, at: int) -> int:
        nonlocal remaining
        if not remaining:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        done = write(descriptor, data[:remaining], at)
        remaining -= done
        return done

    return pwrite


@pytest.mark.parametrize("n_bytes", [0, 1, 20, 60])
def test_a_full_disk_is_reported_and_the_journal_is_unchanged(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, n_bytes: int
) -> None:
    content = Path(ledger.path).read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full_after(n_bytes))
        with pytest.raises(JournalError, match="cannot be written: No space left on device"):
            ledger.append(record("e", 1, b"x" * 100))
        assert Path(ledger.path).read_bytes() == content
    assert ledger.append(record("e")) == [True]
    assert ledger.entries() == plain(*ALL, record("e"))


def test_a_failed_flush_acknowledges_nothing(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    content = Path(ledger.path).read_bytes()

    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(generation, "flush_to_disk", fail)
        with pytest.raises(JournalError, match="Input/output error"):
            ledger.append(record("e"))
    assert Path(ledger.path).read_bytes() == content
    assert ledger.append(record("e")) == [True]


def test_a_read_only_folder_can_be_read(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    system_open = os.open

    def read_only(path: str, flags: int, *mode: int) -> int:
        if flags & (os.O_RDWR | os.O_WRONLY | os.O_CREAT):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return system_open(path, flags, *mode)

    monkeypatch.setattr(os, "open", read_only)
    assert ledger.entries() == plain(*ALL)
    with pytest.raises(JournalError, match=r"journal\.lock.*cannot be written: Read-only file system"):
        ledger.append(record("e"))


def flip(content: bytes, index: int) -> bytes:
    return content[:index] + bytes([content[index] ^ 0x55]) + content[index + 1 :]


def test_truncating_a_journal_whose_keys_are_in_use_does_not_end_the_process(ledger: Ledger) -> None:
    # More than the page that a mapping would keep.
    ledger.append(*(record(f"key {number}") for number in range(2_000)))
    ledger.compact()
    file = generation.open_generation(ledger.path, os.O_RDONLY)
    assert file is not None
    with closing(file):
        marks = file.read_marks()
        os.truncate(ledger.path, 0)
        assert {marks[record(f"key {number}").key] for number in range(2_000)} == {1}
        assert marks[record("unknown").key] == 0
        with pytest.raises(JournalError, match="is damaged in its table of keys"):
            file.read_marks()
