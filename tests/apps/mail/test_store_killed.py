"""Whoever is killed, whenever: what was acknowledged counts once, and a call counts whole or not at all."""

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
from tests.apps.mail.sample_mails import counts, files, ham, image, learned, spam
from tests.apps.mail.store_writer import calls
from tests.journal.crashing_writer import Countdown
from weigh.apps.mail.store import MailStore
from weigh.errors import WeighError

ROOT = Path(__file__).parents[3]
LEARNERS = ("naive-bayes", "logistic", "perceptron")

# Whoever is killed while writing leaves an end that is not whole.
pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.CutJournal")


def started(module: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", f"tests.apps.mail.{module}", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def labels_after(done: list[tuple[str, list[int]]]) -> dict[int, str]:
    """The labels that calls leave, in the order in which messages got them."""
    labels: dict[int, str] = {}
    for action, numbers in done:
        for number in numbers:
            if labels.get(number) != action:
                labels.pop(number, None)
                if action != "unlearn":
                    labels[number] = action
    return labels


def possible(store: MailStore, writers: list[tuple[int, int, int]]) -> set[bytes]:
    """What the store may know if each writer's acknowledged calls, and perhaps one more, are in it."""
    known = set()
    for more in range(1 << len(writers)):
        labels: dict[int, str] = {}
        for at, (seed, first, acknowledged) in enumerate(writers):
            labels |= labels_after(calls(seed, first)[: acknowledged + (more >> at & 1)])
        known.add(learned(store, ((ham(number), label) for number, label in labels.items())))
    return known


@pytest.mark.slow
@pytest.mark.parametrize(
    # Where the order matters, two writers' messages could have come in any.
    ("learner", "firsts"),
    [("naive-bayes", (0, 1000)), ("logistic", (0,)), ("perceptron", (0,))],
)
def test_writers_killed_in_two_hundred_calls_leave_exactly_what_was_acknowledged(
    tmp_path: Path, learner: str, firsts: tuple[int, ...]
) -> None:
    chance = random.Random(7)
    for turn in range(12 // (1 + len(firsts))):
        folder = tmp_path / f"{turn}"
        starts = [(chance.randrange(1000), first) for first in firsts]
        writers = [started("store_writer", folder, *start, learner) for start in starts]
        lines = [writer.stdout.readline() for writer in writers if writer.stdout]
        for writer in writers:
            time.sleep(chance.random() * 0.25)
            writer.kill()
        told = [
            len((line + writer.communicate()[0]).split()) for line, writer in zip(lines, writers, strict=True)
        ]
        store = MailStore.open(folder)
        found = image(store)
        assert found in possible(store, [(*start, done) for start, done in zip(starts, told, strict=True)])
        hams, spams = counts(store)
        store.fold()
        assert image(MailStore.open(folder)) == found
        assert not [name for name in files(store) if name.endswith((".tmp", ".new"))]
        store.learn([spam(number) for number in range(5)], "spam")
        assert counts(store) == (hams, spams + 5)


def test_two_writers_that_live_leave_all_of_their_messages(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    writers = [started("store_writer", folder, seed, first) for seed, first in ((1, 0), (2, 1000))]
    assert [len(writer.communicate()[0].split()) for writer in writers] == [200, 200]
    store = MailStore.open(folder)
    labels = labels_after(calls(1, 0)) | labels_after(calls(2, 1000))
    assert image(store) == learned(store, ((ham(number), label) for number, label in labels.items()))


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["naive-bayes", "logistic"])
def test_readers_are_never_disturbed_by_writers(tmp_path: Path, learner: str) -> None:
    folder = tmp_path / "store"
    writer = started("store_writer", folder, 3, 0, learner)
    assert writer.stdout
    writer.stdout.readline()
    holder, looks = MailStore.open(folder), 0
    while writer.poll() is None:
        fresh = MailStore.open(folder)
        holder.judge([ham(1)])
        fresh.judge([ham(1)])
        assert fresh.status().unfolded >= 0
        if learner == "logistic" and looks % 9 == 0:
            fresh.strongest(3)
        looks += 1
    assert len(writer.communicate()[0].split()) == 199
    assert looks > 5
    assert image(holder) == image(MailStore.open(folder))
    labels = labels_after(calls(3, 0))
    assert image(holder) == learned(holder, ((ham(number), label) for number, label in labels.items()))


@pytest.fixture(params=LEARNERS)
def begun(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    store = MailStore.open(tmp_path / "begun", create=True, learner=request.param, words=True)
    store_dying.begin(store)
    return tmp_path / "begun"


def steps(begun: Path, patch: pytest.MonkeyPatch) -> list[str]:
    """The calls of the system that changing and folding makes."""
    folder = shutil.copytree(begun, begun.parent / "counted")
    countdown = Countdown(0, lambda: None)
    with patch.context() as counting:
        for name in store_dying.CALLS:
            counting.setattr(os, name, countdown.wrap(name))
        store_dying.change_and_fold(str(folder))
    return countdown.names


def state_of(folder: Path) -> int:
    """How far the change has come; asserts that each call counts whole, and that the store works on."""
    store = MailStore.open(folder)
    before, between, after = (learned(store, labels) for labels in store_dying.STATES)
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


def test_changing_killed_at_any_call_of_the_system_leaves_all_or_nothing_of_it(
    begun: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = steps(begun, monkeypatch)
    assert {"pwrite", "fsync", "replace"} <= set(called)
    folders = [shutil.copytree(begun, begun.parent / str(step)) for step in range(len(called))]
    dying = started("store_dying", *folders)
    assert dying.communicate()[0].split() == ["9"] * len(called)
    states = [state_of(folder) for folder in folders]
    assert states == sorted(states)
    assert set(states) == {0, 1, 2}


def test_changing_refused_at_any_call_of_the_system_leaves_all_or_nothing_of_it(
    begun: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    told = 0
    for step in range(1, len(steps(begun, monkeypatch)) + 1):
        folder = shutil.copytree(begun, begun.parent / f"{step}")
        with monkeypatch.context() as patch:
            countdown = Countdown(step, full)
            for name in set(store_dying.CALLS) - {"close"}:
                patch.setattr(os, name, countdown.wrap(name))
            is_refused = False
            try:
                store_dying.change_and_fold(str(folder))
            except WeighError:
                is_refused = True
        told += is_refused
        state = state_of(folder)
        assert is_refused or state == 2
    assert told > 10
