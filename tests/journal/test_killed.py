"""Whoever is killed, whenever: what was acknowledged is there, once, and a batch is whole or not there."""

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

from tests.journal.dying import CALLS, Countdown, learn_and_fold
from tests.journal.ledger import Ledger, key, plain, record
from weigh.errors import JournalError

ROOT = Path(__file__).parents[2]
OLD = [record("old", 1, b"older"), record("gone"), record("gone", 0)]
NEW = [record("new"), record("newer", 2, b"payload")]

# Whoever is killed while writing leaves an end that is not whole.
pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.CutJournal")


def started(module: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", f"tests.journal.{module}", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def found_batches(ledger: Ledger, names: list[str]) -> dict[str, set[int]]:
    """The batches of each writer that are there; asserts that they are whole and everything is there once."""
    keys = Counter(each for each, _, _ in ledger.entries())
    assert set(keys.values()) <= {1}
    found: dict[str, set[int]] = {}
    for name in names:
        parts = [keys[key((name, batch, part)).hex()] for batch in range(2000) for part in range(3)]
        batches = [sum(parts[at : at + 3]) for at in range(0, len(parts), 3)]
        assert set(batches) <= {0, 3}
        found[name] = {batch for batch, there in enumerate(batches) if there}
    return found


def test_two_writers_killed_at_random_moments_lose_nothing_acknowledged(tmp_path: Path) -> None:
    chance = random.Random(4)
    for turn in range(10):
        ledger = Ledger(tmp_path)
        names = [f"{turn}-left", f"{turn}-right"]
        writers = [started("writer", tmp_path, name, chance.randrange(1000)) for name in names]
        first = [writer.stdout.readline() for writer in writers if writer.stdout]
        for writer in writers:
            time.sleep(chance.random() * 0.06)
            writer.kill()
        told = [start + writer.communicate()[0] for start, writer in zip(first, writers, strict=True)]
        there = found_batches(ledger, names)
        for name, lines in zip(names, told, strict=True):
            acknowledged = set(map(int, lines.split()))
            assert acknowledged == set(range(len(acknowledged)))
            assert there[name] - acknowledged <= {len(acknowledged)}
            assert acknowledged <= there[name]
        ledger.learn(record(("after", turn)))
        assert found_batches(ledger, names) == there


def test_readers_see_whole_batches_only_and_never_fewer_than_before(tmp_path: Path) -> None:
    writer = started("writer", tmp_path, "busy", 5)
    assert writer.stdout
    writer.stdout.readline()
    try:
        ledger, held, looks = Ledger(tmp_path), Ledger(tmp_path).state(), 0
        until = time.monotonic() + 0.7
        while time.monotonic() < until:
            before, held = held, ledger.state(held)
            assert held[0][: len(before[0])] == before[0]
            assert held[0] == ledger.state()[0][: len(held[0])]
            looks += len(held[0]) > len(before[0])
        found_batches(ledger, ["busy"])
    finally:
        writer.kill()
        writer.communicate()
    assert looks > 5


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    folder = tmp_path / "begun"
    folder.mkdir()
    ledger = Ledger(folder)
    ledger.learn(*OLD)
    ledger.fold()
    ledger.learn(record("unfolded"))
    return folder


def steps(begun: Path, keep: bool, patch: pytest.MonkeyPatch) -> list[str]:
    """The calls of the system that learning and folding makes."""
    folder = shutil.copytree(begun, begun.parent / "counted")
    countdown = Countdown(0, lambda: None)
    with patch.context() as counting:
        for name in CALLS:
            counting.setattr(os, name, countdown.wrapped(name))
        learn_and_fold(str(folder), keep)
    return countdown.names


def assert_same_state_and_finish(folder: Path) -> bool:
    """Whether the new records are there; asserts that all else is, and that each can be had exactly once."""
    old = plain(*OLD, record("unfolded"))
    entries = Ledger(folder).entries()
    assert entries in (old, old + plain(*NEW))
    there = entries != old
    assert Ledger(folder).learn(*NEW, record("gone", 0)) == [not there, not there, False]
    assert Ledger(folder).entries() == old + plain(*NEW)
    Ledger(folder).fold()
    assert Ledger(folder).entries() == old + plain(*NEW)
    assert Ledger(folder).learn(*OLD[:1], *NEW) == [False] * 3
    return there


@pytest.mark.parametrize("keep", [False, True])
def test_folding_killed_at_any_call_of_the_system_leaves_the_same_state(
    begun: Path, monkeypatch: pytest.MonkeyPatch, keep: bool
) -> None:
    calls = steps(begun, keep, monkeypatch)
    assert {"pwrite", "fsync", "replace"} <= set(calls)
    folders = [shutil.copytree(begun, begun.parent / str(step)) for step in range(len(calls))]
    dying = started("dying", "keep" if keep else "drop", *folders)
    assert dying.communicate()[0].split() == ["9"] * len(calls)
    there = [assert_same_state_and_finish(folder) for folder in folders]
    written = calls.index("pwrite") + 1
    assert there == [False] * written + [True] * (len(calls) - written)


@pytest.mark.parametrize("keep", [False, True])
def test_folding_refused_at_any_call_of_the_system_leaves_the_same_state(
    begun: Path, monkeypatch: pytest.MonkeyPatch, keep: bool
) -> None:
    def full() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    calls = steps(begun, keep, monkeypatch)
    told = 0
    for step in range(1, len(calls) + 1):
        folder = shutil.copytree(begun, begun.parent / f"{step}")
        with monkeypatch.context() as patch:
            countdown = Countdown(step, full)
            # Closing never fails for want of space.
            for name in set(CALLS) - {"close"}:
                patch.setattr(os, name, countdown.wrapped(name))
            try:
                learn_and_fold(str(folder), keep)
            except (JournalError, OSError):
                told += 1
                assert not [name for name in os.listdir(folder) if name.endswith((".new", ".tmp"))]
        assert_same_state_and_finish(folder)
    assert told > 10
