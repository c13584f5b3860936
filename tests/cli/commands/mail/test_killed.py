"""Concurrent programs killed at any moment: acknowledged messages are counted exactly once."""

from __future__ import annotations

import random
import subprocess
import sys
import threading

import pytest

from weigh._core import MailLedger
from weigh.apps.mail.store import MailStore

CALLS = 100
WRITERS = 2
# About as long as a call takes: some die while Python starts, some while writing, some not at all.
MAX_DELAY = 0.3


def message(writer: int, call: int) -> bytes:
    return f"From: w{writer}@example.org\nSubject: call {call}\n\nsome words of call {call}\n".encode()


def label(call: int) -> str:
    return "spam" if call % 3 else "ham"


def learn_and_kill(writer: int, call: int, delay: float | None) -> bool:
    """Learn a message in a program that is killed after a delay; return whether it has acknowledged."""
    command = [sys.executable, "-m", "weigh.cli.main", "mail", "learn", f"--{label(call)}"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        timer = threading.Timer(delay or 0, process.kill if delay else lambda: None)
        timer.start()
        output, errors = process.communicate(message(writer, call))
        timer.cancel()
    assert process.returncode in (0, -9), errors
    return output.endswith(b" learned\n")


@pytest.mark.slow
def test_acknowledged_messages_are_counted_exactly_once(folder):
    acknowledged: dict[tuple[int, int], bool] = {}

    def write(writer: int) -> None:
        rng = random.Random(writer)
        for call in range(CALLS):
            delay = rng.uniform(0.01, MAX_DELAY) if rng.random() < 0.6 else None
            acknowledged[writer, call] = learn_and_kill(writer, call, delay)

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(acknowledged) == CALLS * WRITERS
    store = MailStore.open(folder / "store")
    image = store.filter().ledger.image(b"")
    # Messages that are already known must not be learned again.
    is_known = {key: store.learn([message(*key)], label(key[1])).known for key in acknowledged}
    assert all(is_known[key] for key, is_acknowledged in acknowledged.items() if is_acknowledged)
    assert 0 < sum(acknowledged.values()) < CALLS * WRITERS
    expected = MailLedger("naive-bayes")
    for key in acknowledged:
        if is_known[key]:
            hashed = store.settings.features.hashed_features([message(*key)])
            expected.learn(hashed, bytes([label(key[1]) == "spam"]))
    assert image == expected.image(b"")
