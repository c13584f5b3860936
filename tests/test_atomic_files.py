"""Regular files are replaced atomically, no drafts stay; pipes and devices are written to directly."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import weigh
from tests.killing import find_drafts
from weigh import atomic_files
from weigh.atomic_files import atomic_write, nearest_folder, remove_own_drafts, remove_stale_drafts

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


WRITER = """
import sys, threading, time
from weigh.atomic_files import atomic_write
def write():
    with atomic_write(sys.argv[1]) as file:
        file.write(b"half")
        file.flush()
        print("draft", flush=True)
        sys.stdin.read()
thread = threading.Thread(target=write)
thread.start()
thread.join()
"""


@contextlib.contextmanager
def writer_of(target: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process whose thread has written half of its draft; it finishes when its input is closed."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, target], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"draft\n"
        yield process


def write(path: Path, content: bytes = b"new") -> None:
    with atomic_write(path) as file:
        file.write(content)


def test_the_draft_of_a_killed_process_is_removed_by_the_next_write(tmp_path: Path) -> None:
    with writer_of(tmp_path / "out") as process:
        process.kill()
    assert len(find_drafts(tmp_path)) == 1
    write(tmp_path / "another")
    assert os.listdir(tmp_path) == ["another"]


def test_the_draft_of_a_running_process_survives_other_writes(tmp_path: Path) -> None:
    with writer_of(tmp_path / "out") as process:
        (draft,) = find_drafts(tmp_path)
        for _ in range(3):
            write(tmp_path / "another")
        assert find_drafts(tmp_path) == [draft]
        process.communicate()
    assert process.returncode == 0
    assert (tmp_path / "out").read_bytes() == b"half"


def test_drafts_of_this_process_survive_other_writes(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "outer") as outer:
        outer.write(b"outer")
        thread = threading.Thread(target=write, args=(tmp_path / "inner",))
        thread.start()
        thread.join()
        write(tmp_path / "inner")
    assert (tmp_path / "outer").read_bytes() == b"outer"
    assert sorted(os.listdir(tmp_path)) == ["inner", "outer"]


CONCURRENT_WRITER = """
import sys, threading
from weigh.atomic_files import atomic_write
def write(number):
    for i in range(40):
        with atomic_write(f"{sys.argv[1]}/{number % 2}") as file:
            file.write(b"%d" % number * 1000)
threads = [threading.Thread(target=write, args=(n,)) for n in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def test_concurrent_writers_of_a_folder_do_not_disturb_each_other(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CONCURRENT_WRITER, tmp_path]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(3)]
    assert [process.communicate()[1] for process in processes] == [b""] * 3
    assert sorted(os.listdir(tmp_path)) == ["0", "1"]
    assert (tmp_path / "1").read_bytes() == b"1" * 1000


def test_only_regular_files_of_ours_with_the_exact_name_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = [".weigh-0123.tmp", ".weigh-0123456789abcdeF.tmp", "x.weigh-0123456789abcdef.tmp", ".weigh-.tmp"]
    for name in kept:
        (tmp_path / name).touch()
    precious = tmp_path / "precious"
    precious.touch()
    (tmp_path / ".weigh-0000000000000001.tmp").symlink_to(precious)
    (tmp_path / ".weigh-0000000000000002.tmp").mkdir()
    os.mkfifo(tmp_path / ".weigh-0000000000000003.tmp")
    stale = tmp_path / ".weigh-0000000000000004.tmp"
    stale.touch(0o400)
    before = set(os.listdir(tmp_path))
    with monkeypatch.context() as context:
        context.setattr(os, "geteuid", lambda: stale.stat().st_uid + 1)
        remove_stale_drafts(str(tmp_path))
    assert set(os.listdir(tmp_path)) == before
    remove_stale_drafts(str(tmp_path))
    assert set(os.listdir(tmp_path)) == before - {stale.name}


def test_a_draft_taken_for_a_stale_one_before_it_is_locked_is_created_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = atomic_files._lock
    others = iter([lambda: None, lambda: remove_stale_drafts(str(tmp_path))])

    def lock_late(descriptor: int) -> bool | None:
        next(others, lambda: None)()
        return lock(descriptor)

    monkeypatch.setattr(atomic_files, "_lock", lock_late)
    write(tmp_path / "out")
    write(tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["out"]


def test_nothing_is_removed_where_files_cannot_be_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", fail)
    draft = tmp_path / ".weigh-0123456789abcdef.tmp"
    draft.touch()
    write(tmp_path / "out")
    assert sorted(os.listdir(tmp_path)) == [draft.name, "out"]


def test_a_large_folder_is_searched_once_and_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic_files, "MAX_SEARCHED_ENTRIES", 5)
    searched: list[str] = []
    monkeypatch.setattr(atomic_files, "is_draft", searched.append)
    for number in range(9):
        (tmp_path / f"{number}").touch()
    for _ in range(3):
        write(tmp_path / "1")
    assert len(searched) == 5


def test_a_forked_process_does_not_remove_the_drafts_of_its_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with atomic_write(tmp_path / "out") as file:
        file.write(b"new")
        with monkeypatch.context() as child:
            child.setattr(os, "getpid", lambda: 0)
            remove_own_drafts()
        assert len(find_drafts(tmp_path)) == 1
    assert (tmp_path / "out").read_bytes() == b"new"


def test_the_drafts_of_a_process_that_is_about_to_end_are_removed(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), atomic_write(tmp_path / "out"):
        remove_own_drafts()
    assert os.listdir(tmp_path) == []


def test_a_link_to_nothing_and_a_cyclic_link_are_refused(tmp_path: Path) -> None:
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "cycle").symlink_to("cycle")
    model = weigh.NaiveBayes().fit(TABLE, "y").model_
    reasons = {
        "dangling": f"it is a link to {tmp_path}/nowhere, which does not exist",
        "cycle": "Too many levels of symbolic links",
    }
    for name, reason in reasons.items():
        with pytest.raises(weigh.errors.ModelFileError) as raised:
            model.save(tmp_path / name)
        assert str(raised.value) == (
            f"{tmp_path / name} cannot be written: {reason}. "
            "Check that its folder may be written to, and that the disk has room."
        )
    assert sorted(os.listdir(tmp_path)) == ["cycle", "dangling"]


def test_a_pipe_is_reached_through_the_link_of_its_descriptor() -> None:
    reading, writing = os.pipe()
    write(Path(f"/proc/self/fd/{writing}"), b"through")
    assert os.read(reading, 100) == b"through"
    os.close(reading)
    os.close(writing)


def test_folders_are_created_only_on_request_and_stay_after_success(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "file"
    with pytest.raises(FileNotFoundError), atomic_write(path):
        pass
    assert os.listdir(tmp_path) == []
    with atomic_write(path, creates_folders=True) as file:
        file.write(b"content")
    assert path.read_bytes() == b"content"


def test_a_failed_write_removes_only_the_folders_that_it_created(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with (
        pytest.raises(ZeroDivisionError),
        atomic_write(tmp_path / "a" / "b" / "c" / "file", creates_folders=True) as file,
    ):
        file.write(bytes(1 // 0))
    assert os.listdir(tmp_path) == ["a"]
    assert os.listdir(tmp_path / "a") == []


def test_a_model_is_saved_in_a_new_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "m.weigh"
    weigh.NaiveBayes().fit(TABLE, "y").model_.save(path)
    assert weigh.load(path).classes == ["a", "b"]


@pytest.mark.parametrize(
    ("path", "folder"), [("m", "."), ("new/m", "."), ("file/m", "file"), ("old/new/m", "old")]
)
def test_the_nearest_folder_is_where_new_folders_are_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, folder: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old").mkdir()
    (tmp_path / "file").touch()
    assert nearest_folder(path) == folder
