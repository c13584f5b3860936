"""Regular files are replaced atomically; pipes and devices are written to directly."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import threading
from pathlib import Path

import pytest

import weigh
from weigh.atomic_files import atomic_write

TABLE = {"x": [1.0, 2.0, 3.0, 4.0], "y": ["a", "b", "a", "b"]}


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def read_in_background(path: Path) -> tuple[threading.Thread, list[bytes]]:
    received: list[bytes] = []
    thread = threading.Thread(target=lambda: received.append(path.read_bytes()), daemon=True)
    thread.start()
    return thread, received


def test_a_pipe_is_written_to_and_stays_a_pipe(pipe: Path) -> None:
    thread, received = read_in_background(pipe)
    with atomic_write(pipe) as file:
        file.write(b"through")
    thread.join(10)
    assert received == [b"through"]
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)


def test_a_report_can_be_written_to_a_pipe(pipe: Path) -> None:
    thread, received = read_in_background(pipe)
    weigh.report_on(weigh.NaiveBayes().fit(TABLE, "y"), TABLE, "y").save(pipe)
    thread.join(10)
    assert received[0].startswith(b"<!doctype html>")
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)


@pytest.mark.parametrize(
    "number", [errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM, errno.EIO, errno.ENOSPC]
)
def test_unsupported_folder_fsync_is_ignored_but_disk_errors_are_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def fail(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    fails = number in (errno.EIO, errno.ENOSPC)
    with (
        pytest.raises(OSError, match=r"error|space") if fails else contextlib.nullcontext(),
        atomic_write(tmp_path / "new") as file,
    ):
        file.write(b"new")
    assert (tmp_path / "new").read_bytes() == b"new"


def test_a_failure_keeps_the_old_file_and_removes_the_draft(tmp_path: Path) -> None:
    old = tmp_path / "kept"
    old.write_bytes(b"old")

    def fail() -> None:
        with atomic_write(old) as file:
            file.write(b"new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert old.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["kept"]


@pytest.mark.parametrize("is_permitted", [True, False])
def test_the_owner_is_preserved_where_permitted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_permitted: bool
) -> None:
    owners: list[tuple[int, int]] = []

    def chown(path: str, owner: int, group: int) -> None:
        if not is_permitted:
            raise PermissionError(errno.EPERM, "not permitted", path)
        owners.append((owner, group))

    monkeypatch.setattr(os, "chown", chown)
    target = tmp_path / "target"
    target.write_bytes(b"old")
    target.chmod(0o640)
    old = target.stat()
    with atomic_write(target) as handle:
        handle.write(b"new")
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert owners == ([(old.st_uid, old.st_gid)] if is_permitted else [])
