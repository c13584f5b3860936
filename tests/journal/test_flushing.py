"""What is told to be on the disk was flushed there, names included."""

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
    """What would be left if the power failed: the content of every file when it was last flushed."""

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


needs_names = pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs the names of open files")


@needs_names
def test_every_turn_ends_with_all_of_the_file_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, disk = Ledger(tmp_path), Disk(monkeypatch)
    for number in range(3):
        ledger.learn(record(number), record((number, "more")))
        assert disk.has(ledger.path)
    assert disk.steps == ["flush file", "name journal", "flush folder"] + ["flush file"] * 3


@needs_names
def test_a_snapshot_and_its_name_are_on_the_disk_before_records_are_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(tmp_path)
    ledger.learn(record("a"))
    disk = Disk(monkeypatch)
    ledger.fold()
    in_place = ["flush folder", "flush file", "name journal", "flush folder"]
    assert disk.steps[:6] == ["flush file", "name snapshot", *in_place]


@needs_names
def test_done_already_means_on_the_disk_even_if_its_writer_was_killed_before_flushing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        Ledger(tmp_path).learn(record("a"))
    disk = Disk(monkeypatch)
    ledger = Ledger(tmp_path)
    assert ledger.learn(record("a")) == [False]
    assert disk.has(ledger.path)
    assert ledger.learn(record("a")) == [False]
    assert disk.steps == ["flush file"]


@needs_names
def test_nothing_is_written_behind_what_is_not_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        Ledger(tmp_path).learn(record("a"))
    ledger, disk = Ledger(tmp_path), Disk(monkeypatch)
    was_there: list[bool] = []
    pwrite = os.pwrite

    def watched(descriptor: int, data: memoryview, at: int) -> int:
        was_there.append(disk.has(ledger.path))
        return pwrite(descriptor, data, at)

    monkeypatch.setattr(os, "pwrite", watched)
    assert ledger.learn(record("b")) == [True]
    assert ledger.learn(record("c")) == [True]
    assert was_there == [True, True]
    assert disk.steps == ["flush file"] * 3


@needs_names
def test_a_folder_that_fails_to_take_the_new_name_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        if os.path.isdir(os.readlink(f"/proc/self/fd/{descriptor}")):
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(JournalError, match="cannot be written: Input/output error"):
        Ledger(tmp_path).learn(record("a"))


@pytest.mark.parametrize("can", [True, False])
def test_a_disk_with_a_memory_of_its_own_is_asked_to_empty_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, can: bool
) -> None:
    asked: list[object] = []

    def full(descriptor: int, command: int) -> None:
        asked.append(command)
        if not can:
            raise OSError

    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", full)
    monkeypatch.setattr(os, "fsync", lambda descriptor: asked.append("fsync"))
    with open(tmp_path / "file", "wb") as file:
        flush_to_disk(file.fileno())
    assert asked == ([51] if can else [51, "fsync"])
