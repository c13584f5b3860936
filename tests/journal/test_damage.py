"""A torn end is cut, damage before it is told, and what is read was written."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.journal.ledger import Ledger, plain, record
from weigh.errors import CutJournal, JournalError
from weigh.journal import JournalRecord, generation
from weigh.journal.storage import HEADER_BYTES

GROUPS = [
    [record("a", 1, b"first")],
    [record("b"), record("c", 2, b"x" * 40)],
    [record("a", 0)],
    [record("d")],
]
ALL = [each for group in GROUPS for each in group]


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    monkeypatch.setattr(generation, "_RETRY_PAUSE", 0)
    ledger = Ledger(tmp_path)
    for group in GROUPS:
        ledger.learn(*group)
    return ledger


def again(ledger: Ledger) -> Ledger:
    """The same files, seen by somebody who knows nothing of them yet."""
    return Ledger(os.path.dirname(ledger.path))


def ends(ledger: Ledger) -> list[int]:
    """Where in the file every group ends."""
    return [HEADER_BYTES] + [HEADER_BYTES + position.offset for _, position in ledger.journal.groups()]


def whole(ledger: Ledger, length: int) -> list[JournalRecord]:
    """The records of the groups that so many bytes hold."""
    kept = sum(end <= length for end in ends(ledger)) - 1
    return [each for group in GROUPS[:kept] for each in group]


def test_at_every_length_the_whole_groups_are_there_and_writing_goes_on(ledger: Ledger) -> None:
    content = Path(ledger.path).read_bytes()
    prefixes = [whole(ledger, length) for length in range(HEADER_BYTES, len(content) + 1)]
    boundaries = ends(ledger)
    for length, prefix in zip(range(HEADER_BYTES, len(content) + 1), prefixes, strict=True):
        Path(ledger.path).write_bytes(content[:length])
        assert list(again(ledger).journal.records()) == prefix
        cut = length - max(end for end in boundaries if end <= length)
        told = (
            pytest.warns(CutJournal, match=f"the last {cut} bytes were not whole") if cut else nullcontext()
        )
        with told, again(ledger).journal.transaction() as turn:
            turn.append([record("e")])
        assert again(ledger).entries() == plain(*prefix, record("e"))
        assert os.path.getsize(ledger.path) == HEADER_BYTES + again(ledger).journal.position.offset


def test_every_flipped_byte_before_the_last_group_is_told_and_nothing_is_cut(ledger: Ledger) -> None:
    content = Path(ledger.path).read_bytes()
    last = ends(ledger)[-2]
    for place in range(last):
        damaged = flipped(content, place)
        Path(ledger.path).write_bytes(damaged)
        for use in (Ledger.entries, lambda other: other.learn(record("e"))):
            with pytest.raises(JournalError, match=r"damaged|not a journal|has format"):
                use(again(ledger))
        assert Path(ledger.path).read_bytes() == damaged


def test_every_flipped_byte_in_the_last_group_loses_that_group_alone(ledger: Ledger) -> None:
    content = Path(ledger.path).read_bytes()
    last = ends(ledger)[-2]
    kept = whole(ledger, last)
    for place in range(last, len(content)):
        Path(ledger.path).write_bytes(flipped(content, place))
        assert again(ledger).entries() == plain(*kept)
        with pytest.warns(CutJournal):
            assert again(ledger).learn(*GROUPS[-1]) == [True]
        assert Path(ledger.path).read_bytes() == content


def test_who_reads_while_another_replaces_a_torn_group_looks_again(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = Path(ledger.path).read_bytes()
    Path(ledger.path).write_bytes(flipped(content, HEADER_BYTES + 20))
    monkeypatch.setattr(generation.time, "sleep", lambda pause: Path(ledger.path).write_bytes(content))
    assert again(ledger).entries() == plain(*ALL)


def test_zeros_that_a_lost_write_leaves_are_cut(ledger: Ledger) -> None:
    content = Path(ledger.path).read_bytes()
    Path(ledger.path).write_bytes(content + bytes(5000))
    assert again(ledger).entries() == plain(*ALL)
    with pytest.warns(CutJournal, match="5,000 bytes"):
        again(ledger).learn(record("e"))
    assert Path(ledger.path).read_bytes()[: len(content)] == content


def test_every_flipped_byte_of_the_table_of_keys_is_told_to_writers(ledger: Ledger) -> None:
    ledger.fold()
    content = Path(ledger.path).read_bytes()
    for place in range(HEADER_BYTES, len(content)):
        Path(ledger.path).write_bytes(flipped(content, place))
        with pytest.raises(JournalError, match="damaged in its table of keys"):
            again(ledger).learn(record("e"))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is not a journal of weigh"),
        (b"From nobody\n" * 9, "is not a journal of weigh"),
        (b"weigh\x00jr\x01", "is cut short within its header"),
        (b"weigh\x00jr\x02" + bytes(99), "has format 2; this weigh reads formats up to 1"),
    ],
)
def test_files_of_others_are_left_alone(tmp_path: Path, content: bytes, told: str) -> None:
    ledger = Ledger(tmp_path)
    Path(ledger.path).write_bytes(content)
    for use in (Ledger.entries, lambda other: other.learn(record("e"))):
        with pytest.raises(JournalError, match=told):
            use(ledger)
    assert Path(ledger.path).read_bytes() == content


def test_a_table_cut_short_is_told(ledger: Ledger) -> None:
    ledger.fold()
    os.truncate(ledger.path, os.path.getsize(ledger.path) - 1)
    with pytest.raises(JournalError, match="cut short within its table of keys"):
        ledger.learn(record("e"))


def test_short_writes_are_gone_on_with(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda descriptor, data, at: write(descriptor, data[:7], at))
    ledger.learn(record("e", 1, b"payload" * 9))
    assert again(ledger).entries()[-1:] == plain(record("e", 1, b"payload" * 9))


def full_after(some: int) -> Callable[[int, bytes, int], int]:
    """Writing to a disk that takes so many bytes more."""
    write = os.pwrite
    left = some

    def pwrite(descriptor: int, data: bytes, at: int) -> int:
        nonlocal left
        if not left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        done = write(descriptor, data[:left], at)
        left -= done
        return done

    return pwrite


@pytest.mark.parametrize("some", [0, 1, 20, 60])
def test_a_full_disk_is_told_and_the_journal_stays_as_it_was(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, some: int
) -> None:
    content = Path(ledger.path).read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full_after(some))
        with pytest.raises(JournalError, match="cannot be written: No space left on device"):
            ledger.learn(record("e", 1, b"x" * 100))
        assert Path(ledger.path).read_bytes() == content
    assert ledger.learn(record("e")) == [True]
    assert ledger.entries() == plain(*ALL, record("e"))


def test_a_disk_that_fails_to_flush_has_acknowledged_nothing(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = Path(ledger.path).read_bytes()

    def fails(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(generation, "flush_to_disk", fails)
        with pytest.raises(JournalError, match="Input/output error"):
            ledger.learn(record("e"))
    assert Path(ledger.path).read_bytes() == content
    assert ledger.learn(record("e")) == [True]


def test_a_folder_that_cannot_be_written_can_be_read(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    system_open = os.open

    def read_only(path: str, flags: int, *mode: int) -> int:
        if flags & (os.O_RDWR | os.O_WRONLY | os.O_CREAT):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return system_open(path, flags, *mode)

    monkeypatch.setattr(os, "open", read_only)
    assert ledger.entries() == plain(*ALL)
    with pytest.raises(JournalError, match=r"journal\.lock.*cannot be written: Read-only file system"):
        ledger.learn(record("e"))


def flipped(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :]
