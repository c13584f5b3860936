"""Acknowledged records and file names have been flushed to disk."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from tests.journal.ledger import Ledger, record
from weigh.errors import JournalError
from weigh.journal.storage import flush_to_disk


class Disk:
    """The content of every file at its last flush: what a power failure would leave."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.flushed: dict[int, bytes] = {}
        self.steps: list[str] = []
        self._replace = os.replace
        patch.setattr(os, "fsync", self.fsync)
        patch.setattr(os, "replace", self.replace)

    def fsync(self, descriptor: int) -> None:
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        self.steps.append("flush folder" if os.path.isdir(path) else "flush file")
        if os.path.isfile(path):
            self.flushed[os.stat(path).st_ino] = Path(path).read_bytes()

    def replace(self, source: str, target: str) -> None:
        assert self.has(source)
        self._replace(source, target)
        self.steps.append(f"name {os.path.basename(target)}")

    def has(self, path: str) -> bool:
        return self.flushed.get(os.stat(path).st_ino) == Path(path).read_bytes()


needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs /proc/self/fd")


@needs_proc
def test_every_transaction_ends_with_the_file_flushed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, disk = Ledger(tmp_path), Disk(monkeypatch)
    for number in range(3):
        ledger.append(record(number), record((number, "more")))
        assert disk.has(ledger.path)
    assert disk.steps == ["flush file", "name journal", "flush folder"] + ["flush file"] * 3


@needs_proc
def test_the_snapshot_and_its_name_are_flushed_before_records_are_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(tmp_path)
    ledger.append(record("a"))
    disk = Disk(monkeypatch)
    ledger.compact()
    in_place = ["flush folder", "flush file", "name journal", "flush folder"]
    assert disk.steps[:6] == ["flush file", "name snapshot", *in_place]


@needs_proc
def test_an_existing_record_is_flushed_before_it_is_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        Ledger(tmp_path).append(record("a"))
    disk = Disk(monkeypatch)
    ledger = Ledger(tmp_path)
    assert ledger.append(record("a")) == [False]
    assert disk.has(ledger.path)
    assert ledger.append(record("a")) == [False]
    assert disk.steps == ["flush file"]


@needs_proc
def test_nothing_is_written_after_an_unflushed_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        Ledger(tmp_path).append(record("a"))
    ledger, disk = Ledger(tmp_path), Disk(monkeypatch)
    was_flushed: list[bool] = []
    pwrite = os.pwrite

    def recording_pwrite(descriptor: int, data: memoryview, offset: int) -> int:
        was_flushed.append(disk.has(ledger.path))
        return pwrite(descriptor, data, offset)

    monkeypatch.setattr(os, "pwrite", recording_pwrite)
    assert ledger.append(record("b")) == [True]
    assert ledger.append(record("c")) == [True]
    # Each append writes a group, and then the position up to which records are acknowledged.
    assert was_flushed == [True] * 4
    assert disk.steps == ["flush file"] * 3


@needs_proc
def test_a_failed_folder_flush_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(descriptor: int) -> None:
        if os.path.isdir(os.readlink(f"/proc/self/fd/{descriptor}")):
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(JournalError, match="cannot be written: Input/output error"):
        Ledger(tmp_path).append(record("a"))


@pytest.mark.parametrize("is_supported", [True, False])
def test_the_drive_cache_is_flushed_where_supported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_supported: bool
) -> None:
    calls: list[object] = []

    def full(descriptor: int, command: int) -> None:
        calls.append(command)
        if not is_supported:
            raise OSError

    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", full)
    monkeypatch.setattr(os, "fsync", lambda descriptor: calls.append("fsync"))
    with open(tmp_path / "file", "wb") as file:
        flush_to_disk(file.fileno())
    assert calls == ([51] if is_supported else [51, "fsync"])
