"""Files are replaced as a whole; what is no ordinary file is written to, and stays what it is."""

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
    found: list[bytes] = []
    thread = threading.Thread(target=lambda: found.append(path.read_bytes()))
    thread.start()
    return thread, found


def test_a_pipe_is_written_to_and_stays_a_pipe(pipe: Path) -> None:
    thread, found = read_in_background(pipe)
    with atomic_write(pipe) as file:
        file.write(b"through")
    thread.join(10)
    assert found == [b"through"]
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)


def test_a_report_goes_through_a_pipe(pipe: Path) -> None:
    thread, found = read_in_background(pipe)
    weigh.report_on(weigh.NaiveBayes().fit(TABLE, "y"), TABLE, "y").save(pipe)
    thread.join(10)
    assert found[0].startswith(b"<!doctype html>")
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)


@pytest.mark.parametrize(
    "number", [errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM, errno.EIO, errno.ENOSPC]
)
def test_a_folder_may_be_one_that_cannot_be_flushed_but_not_one_that_fails(
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


def test_a_failure_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
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


@pytest.mark.parametrize("may", [True, False])
def test_what_is_replaced_stays_its_owners_where_that_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, may: bool
) -> None:
    given: list[tuple[int, int]] = []

    def chown(path: str, owner: int, group: int) -> None:
        if not may:
            raise PermissionError(errno.EPERM, "not permitted", path)
        given.append((owner, group))

    monkeypatch.setattr(os, "chown", chown)
    target = tmp_path / "target"
    target.write_bytes(b"old")
    target.chmod(0o640)
    old = target.stat()
    with atomic_write(target) as handle:
        handle.write(b"new")
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert given == ([(old.st_uid, old.st_gid)] if may else [])
