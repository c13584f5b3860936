"""Killed writers: acknowledged messages count once, and a call counts completely or not at all."""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.apps.mail import store_dying
from tests.apps.mail.sample_mails import counts, expected_image, files, ham, image, spam
from tests.apps.mail.store_writer import calls
from tests.journal.crashing_writer import Countdown
from weigh.apps.mail.store import MailStore
from weigh.errors import WeighError

ROOT = Path(__file__).parents[3]
LEARNERS = ("naive-bayes", "logistic", "perceptron")

# A writer killed while writing leaves an incomplete group at the end.
pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.CutJournal")


def start_process(module: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", f"tests.apps.mail.{module}", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def labels_after(finished: list[tuple[str, list[int]]]) -> dict[int, str]:
    """Return the labels after some calls, in the order in which messages got them."""
    labels: dict[int, str] = {}
    for action, numbers in finished:
        for number in numbers:
            if labels.get(number) != action:
                labels.pop(number, None)
                if action != "unlearn":
                    labels[number] = action
    return labels


def possible_images(store: MailStore, writers: list[tuple[int, int, int]]) -> set[bytes]:
    """Return the images with each writer's acknowledged calls, and with or without one more call."""
    images = set()
    for more in range(1 << len(writers)):
        labels: dict[int, str] = {}
        for i, (seed, first, acknowledged) in enumerate(writers):
            labels |= labels_after(calls(seed, first)[: acknowledged + (more >> i & 1)])
        images.add(expected_image(store, ((ham(number), label) for number, label in labels.items())))
    return images


@pytest.mark.slow
@pytest.mark.parametrize(
    # If the order matters, only one writer: the messages of two could interleave in any order.
    ("learner", "firsts"),
    [("naive-bayes", (0, 1000)), ("logistic", (0,)), ("perceptron", (0,))],
)
def test_writers_killed_in_two_hundred_calls_leave_exactly_what_was_acknowledged(
    tmp_path: Path, learner: str, firsts: tuple[int, ...]
) -> None:
    rng = random.Random(7)
    for turn in range(12 // (1 + len(firsts))):
        folder = tmp_path / f"{turn}"
        starts = [(rng.randrange(1000), first) for first in firsts]
        writers = [start_process("store_writer", folder, *start, learner) for start in starts]
        lines = [writer.stdout.readline() for writer in writers if writer.stdout]
        for writer in writers:
            time.sleep(rng.random() * 0.25)
            writer.kill()
        n_acknowledged = [
            len((line + writer.communicate()[0]).split()) for line, writer in zip(lines, writers, strict=True)
        ]
        store = MailStore.open(folder)
        found = image(store)
        assert found in possible_images(
            store, [(*start, done) for start, done in zip(starts, n_acknowledged, strict=True)]
        )
        hams, spams = counts(store)
        store.fold()
        assert image(MailStore.open(folder)) == found
        assert not [name for name in files(store) if name.endswith((".tmp", ".new"))]
        store.learn([spam(number) for number in range(5)], "spam")
        assert counts(store) == (hams, spams + 5)


def test_two_surviving_writers_leave_all_of_their_messages(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    writers = [start_process("store_writer", folder, seed, first) for seed, first in ((1, 0), (2, 1000))]
    assert [len(writer.communicate()[0].split()) for writer in writers] == [200, 200]
    store = MailStore.open(folder)
    labels = labels_after(calls(1, 0)) | labels_after(calls(2, 1000))
    assert image(store) == expected_image(store, ((ham(number), label) for number, label in labels.items()))


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["naive-bayes", "logistic"])
def test_readers_are_not_affected_by_writers(tmp_path: Path, learner: str) -> None:
    folder = tmp_path / "store"
    writer = start_process("store_writer", folder, 3, 0, learner)
    assert writer.stdout
    writer.stdout.readline()
    reader, n_reads = MailStore.open(folder), 0
    while writer.poll() is None:
        fresh = MailStore.open(folder)
        reader.judge([ham(1)])
        fresh.judge([ham(1)])
        assert fresh.status().unfolded >= 0
        if learner == "logistic" and n_reads % 9 == 0:
            fresh.strongest(3)
        n_reads += 1
    assert len(writer.communicate()[0].split()) == 199
    assert n_reads > 5
    assert image(reader) == image(MailStore.open(folder))
    labels = labels_after(calls(3, 0))
    assert image(reader) == expected_image(reader, ((ham(number), label) for number, label in labels.items()))


@pytest.fixture(params=LEARNERS)
def prepared(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    store = MailStore.open(tmp_path / "prepared", create=True, learner=request.param, words=True)
    store_dying.begin(store)
    return tmp_path / "prepared"


def system_calls(prepared: Path, patch: pytest.MonkeyPatch) -> list[str]:
    """Return the system calls that changing and folding makes."""
    folder = shutil.copytree(prepared, prepared.parent / "counted")
    countdown = Countdown(0, lambda: None)
    with patch.context() as counting:
        for name in store_dying.CALLS:
            counting.setattr(os, name, countdown.wrap(name))
        store_dying.change_and_fold(str(folder))
    return countdown.names


def state_of(folder: Path) -> int:
    """Return how many calls are in the store; assert that each is complete and that the store still works."""
    store = MailStore.open(folder)
    before, between, after = (expected_image(store, labels) for labels in store_dying.STATES)
    state = (before, between, after).index(image(store))
    store_dying.change_and_fold(str(folder))
    assert image(store) == image(MailStore.open(folder)) == after
    words = {each.name for each in store.strongest(1000).spam} | {
        each.name for each in store.strongest(1000).ham
    }
    assert "pills" in words
    assert "noon" in words
    assert not [name for name in files(store) if name.endswith((".tmp", ".new"))]
    assert len([name for name in files(store) if name.startswith(("archive", "words"))]) <= 2
    return state


def test_changes_killed_at_any_system_call_are_complete_or_absent(
    prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls_made = system_calls(prepared, monkeypatch)
    assert {"pwrite", "fsync", "replace"} <= set(calls_made)
    folders = [shutil.copytree(prepared, prepared.parent / str(step)) for step in range(len(calls_made))]
    process = start_process("store_dying", *folders)
    assert process.communicate()[0].split() == ["9"] * len(calls_made)
    states = [state_of(folder) for folder in folders]
    assert states == sorted(states)
    assert set(states) == {0, 1, 2}


def test_changes_that_fail_at_any_system_call_are_complete_or_absent(
    prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raise_disk_full() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    n_errors = 0
    for step in range(1, len(system_calls(prepared, monkeypatch)) + 1):
        folder = shutil.copytree(prepared, prepared.parent / f"{step}")
        with monkeypatch.context() as patch:
            countdown = Countdown(step, raise_disk_full)
            for name in set(store_dying.CALLS) - {"close"}:
                patch.setattr(os, name, countdown.wrap(name))
            has_failed = False
            try:
                store_dying.change_and_fold(str(folder))
            except WeighError:
                has_failed = True
        n_errors += has_failed
        state = state_of(folder)
        assert has_failed or state == 2
    assert n_errors > 10
