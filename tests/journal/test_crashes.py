"""After a crash at any moment, acknowledged batches are stored once, and others entirely or not at all."""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.journal.crashing_writer import CALLS, Countdown, append_and_compact
from tests.journal.ledger import Ledger, key, plain, record
from weigh.errors import JournalError

ROOT = Path(__file__).parents[2]
OLD = [record("old", 1, b"older"), record("gone"), record("gone", 0)]
NEW = [record("new"), record("newer", 2, b"payload")]

# A writer that is killed while writing leaves an incomplete group.
pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.CutJournal")


def start_process(module: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", f"tests.journal.{module}", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def stored_batches(ledger: Ledger, names: list[str]) -> dict[str, set[int]]:
    """Return the stored batches of each writer; asserts that they are complete and stored once."""
    keys = Counter(key for key, _, _ in ledger.entries())
    assert set(keys.values()) <= {1}
    result: dict[str, set[int]] = {}
    for name in names:
        parts = [keys[key((name, batch, part)).hex()] for batch in range(2000) for part in range(3)]
        batches = [sum(parts[i : i + 3]) for i in range(0, len(parts), 3)]
        assert set(batches) <= {0, 3}
        result[name] = {batch for batch, n_stored in enumerate(batches) if n_stored}
    return result


def test_two_writers_killed_at_random_moments_lose_no_acknowledged_batch(tmp_path: Path) -> None:
    rng = random.Random(4)
    for attempt in range(10):
        ledger = Ledger(tmp_path)
        names = [f"{attempt}-left", f"{attempt}-right"]
        writers = [start_process("busy_writer", tmp_path, name, rng.randrange(1000)) for name in names]
        first = [writer.stdout.readline() for writer in writers if writer.stdout]
        for writer in writers:
            time.sleep(rng.random() * 0.06)
            writer.kill()
        outputs = [start + writer.communicate()[0] for start, writer in zip(first, writers, strict=True)]
        stored = stored_batches(ledger, names)
        for name, lines in zip(names, outputs, strict=True):
            acknowledged = set(map(int, lines.split()))
            assert acknowledged == set(range(len(acknowledged)))
            assert stored[name] - acknowledged <= {len(acknowledged)}
            assert acknowledged <= stored[name]
        ledger.append(record(("after", attempt)))
        assert stored_batches(ledger, names) == stored


def test_readers_see_only_complete_batches_and_never_fewer_than_before(tmp_path: Path) -> None:
    writer = start_process("busy_writer", tmp_path, "busy", 5)
    assert writer.stdout
    writer.stdout.readline()
    try:
        ledger, current, n_updates = Ledger(tmp_path), Ledger(tmp_path).state(), 0
        until = time.monotonic() + 0.7
        while time.monotonic() < until:
            before, current = current, ledger.state(current)
            assert current[0][: len(before[0])] == before[0]
            assert current[0] == ledger.state()[0][: len(current[0])]
            n_updates += len(current[0]) > len(before[0])
        stored_batches(ledger, ["busy"])
    finally:
        writer.kill()
        writer.communicate()
    assert n_updates > 5


@pytest.fixture
def initial_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "initial_folder"
    folder.mkdir()
    ledger = Ledger(folder)
    ledger.append(*OLD)
    ledger.compact()
    ledger.append(record("unfolded"))
    return folder


def steps(initial_folder: Path, keep: bool, patch: pytest.MonkeyPatch) -> list[str]:
    """Return the system calls that appending and compacting make."""
    folder = shutil.copytree(initial_folder, initial_folder.parent / "counted")
    countdown = Countdown(0, lambda: None)
    with patch.context() as counting:
        for name in CALLS:
            counting.setattr(os, name, countdown.wrap(name))
        append_and_compact(str(folder), keep)
    return countdown.names


def assert_same_state_and_finish(folder: Path) -> bool:
    """Return whether the new records are stored; asserts that the old ones are, and nothing twice."""
    old = plain(*OLD, record("unfolded"))
    entries = Ledger(folder).entries()
    assert entries in (old, old + plain(*NEW))
    stored = entries != old
    assert Ledger(folder).append(*NEW, record("gone", 0)) == [not stored, not stored, False]
    assert Ledger(folder).entries() == old + plain(*NEW)
    Ledger(folder).compact()
    assert Ledger(folder).entries() == old + plain(*NEW)
    assert Ledger(folder).append(*OLD[:1], *NEW) == [False] * 3
    return stored


@pytest.mark.parametrize("keep", [False, True])
def test_compaction_killed_at_any_system_call_leaves_the_same_state(
    initial_folder: Path, monkeypatch: pytest.MonkeyPatch, keep: bool
) -> None:
    calls = steps(initial_folder, keep, monkeypatch)
    assert {"pwrite", "fsync", "replace"} <= set(calls)
    folders = [
        shutil.copytree(initial_folder, initial_folder.parent / str(step)) for step in range(len(calls))
    ]
    writer = start_process("crashing_writer", "keep" if keep else "drop", *folders)
    assert writer.communicate()[0].split() == ["9"] * len(calls)
    stored = [assert_same_state_and_finish(folder) for folder in folders]
    first_write = calls.index("pwrite") + 1
    assert stored == [False] * first_write + [True] * (len(calls) - first_write)


@pytest.mark.parametrize("keep", [False, True])
def test_compaction_failing_at_any_system_call_leaves_the_same_state(
    initial_folder: Path, monkeypatch: pytest.MonkeyPatch, keep: bool
) -> None:
    def raise_disk_full() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    calls = steps(initial_folder, keep, monkeypatch)
    n_failures = 0
    for step in range(1, len(calls) + 1):
        folder = shutil.copytree(initial_folder, initial_folder.parent / f"{step}")
        with monkeypatch.context() as patch:
            countdown = Countdown(step, raise_disk_full)
            # Closing never fails for lack of space.
            for name in set(CALLS) - {"close"}:
                patch.setattr(os, name, countdown.wrap(name))
            try:
                append_and_compact(str(folder), keep)
            except (JournalError, OSError):
                n_failures += 1
                assert not [name for name in os.listdir(folder) if name.endswith((".new", ".tmp"))]
        assert_same_state_and_finish(folder)
    assert n_failures > 10
