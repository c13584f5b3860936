"""Programs that learn at the same time and are killed at any moment: what was acknowledged is there, once."""

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
# About as long as a call takes: some die while Python starts, some while they write, some not at all.
LONGEST = 0.3


def message(writer: int, call: int) -> bytes:
    return f"From: w{writer}@example.org\nSubject: call {call}\n\nsome words of call {call}\n".encode()


def label(call: int) -> str:
    return "spam" if call % 3 else "ham"


def called(writer: int, call: int, patience: float | None) -> bool:
    """Learn a message in a program that is killed after a while; whether it has acknowledged."""
    learn = [sys.executable, "-m", "weigh.cli.main", "mail", "learn", f"--{label(call)}"]
    with subprocess.Popen(
        learn, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        timer = threading.Timer(patience or 0, process.kill if patience else lambda: None)
        timer.start()
        told, errors = process.communicate(message(writer, call))
        timer.cancel()
    assert process.returncode in (0, -9), errors
    return told.endswith(b" learned\n")


@pytest.mark.slow
def test_what_was_acknowledged_is_counted_once(folder):
    acknowledged: dict[tuple[int, int], bool] = {}

    def write(writer: int) -> None:
        chance = random.Random(writer)
        for call in range(CALLS):
            patience = chance.uniform(0.01, LONGEST) if chance.random() < 0.6 else None
            acknowledged[writer, call] = called(writer, call, patience)

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(acknowledged) == CALLS * WRITERS
    store = MailStore.open(folder / "store")
    found = store.filter().ledger.image(b"")
    # What is known already must not be learned again.
    there = {key: store.learn([message(*key)], label(key[1])).known for key in acknowledged}
    assert all(there[key] for key, is_told in acknowledged.items() if is_told)
    assert 0 < sum(acknowledged.values()) < CALLS * WRITERS
    expected = MailLedger("naive-bayes")
    for key in acknowledged:
        if there[key]:
            prints = store.settings.features.hashed_features([message(*key)])
            expected.learn(prints, bytes([label(key[1]) == "spam"]))
    assert found == expected.image(b"")
