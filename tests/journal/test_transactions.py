"""What is appended in a turn is there afterwards, once, and what is not committed is not."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.journal.ledger import Ledger, key, plain, record
from weigh.errors import JournalError, ParameterError
from weigh.journal import JOURNAL_START, Journal, JournalRecord
from weigh.journal.generation import MarkIndex


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path, patience=0.05)


def test_records_come_back_as_they_were_given(ledger: Ledger) -> None:
    given = [record("a", 1, b""), record("b", 255, bytes(range(256)) * 300)]
    assert ledger.learn(*given) == [True, True]
    assert list(ledger.journal.records()) == given


def test_a_journal_that_nobody_has_written_is_empty_and_not_made(ledger: Ledger) -> None:
    assert list(ledger.journal.records()) == []
    assert ledger.journal.position == JOURNAL_START
    assert not os.path.exists(ledger.path)


def test_the_same_mark_again_is_done_already(ledger: Ledger) -> None:
    assert ledger.learn(record("a"), record("a"), record("b")) == [True, False, True]
    assert ledger.learn(record("b", 1, b"other"), record("c", 0)) == [False, False]
    assert Ledger(os.path.dirname(ledger.path)).learn(record("a"), record("d")) == [False, True]
    assert ledger.entries() == plain(record("a"), record("b"), record("d"))


def test_a_mark_can_be_taken_away_and_given_again(ledger: Ledger) -> None:
    steps = [record("a", 1), record("a", 0), record("a", 1), record("a", 2)]
    assert ledger.learn(*steps[:3]) == [True] * 3
    with ledger.journal.transaction() as turn:
        assert turn.mark(key("a")) == 1
        turn.append(steps[3:])
        assert turn.mark(key("a")) == 2
        assert turn.mark(key("b")) == 0
    assert ledger.entries() == plain(*steps)


def test_a_journal_that_was_put_back_in_place_is_read_again(ledger: Ledger) -> None:
    ledger.learn(record("a"))
    before = Path(ledger.path).read_bytes()
    ledger.learn(record("b"))
    Path(ledger.path).write_bytes(before)
    assert ledger.learn(record("b")) == [True]
    assert ledger.entries() == plain(record("a"), record("b"))


def test_an_exception_in_a_turn_appends_nothing(ledger: Ledger) -> None:
    with pytest.raises(ZeroDivisionError), ledger.journal.transaction() as turn:
        turn.append([record("a")] * (1 // len(turn.append([record("b")])[1:])))
    assert ledger.entries() == []
    assert ledger.learn(record("a")) == [True]


def test_who_is_interrupted_after_writing_does_not_write_again(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(marks: MarkIndex, changes: dict[bytes, int]) -> None:
        raise KeyboardInterrupt

    ledger.learn(record("a"))
    with monkeypatch.context() as patch:
        patch.setattr(MarkIndex, "update", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ledger.learn(record("b"))
    assert ledger.learn(record("b"), record("c")) == [False, True]
    assert ledger.entries() == plain(record("a"), record("b"), record("c"))


def test_a_turn_is_one_group(ledger: Ledger) -> None:
    with ledger.journal.transaction() as turn:
        turn.append([record("a")])
        turn.append([record("b"), record("c")])
    assert [len(records) for records, _ in ledger.journal.groups()] == [3]


def test_reading_goes_on_from_a_position(ledger: Ledger) -> None:
    ledger.learn(record("a"))
    position = ledger.journal.position
    ledger.learn(record("b"))
    assert list(ledger.journal.records(since=position)) == [record("b")]
    assert list(ledger.journal.records(since=ledger.journal.position)) == []
    assert [after for _, after in ledger.journal.groups()] == [position, ledger.journal.position]


@pytest.mark.parametrize(
    "bad", [JournalRecord(b"short", 1), JournalRecord(key(1), 256), JournalRecord(key(1), -1)]
)
def test_a_record_that_cannot_be_stored_is_refused_and_the_others_with_it(
    ledger: Ledger, bad: JournalRecord
) -> None:
    with ledger.journal.transaction() as turn, pytest.raises(ParameterError):
        turn.append([record("a"), bad])
    assert ledger.entries() == []


def test_a_turn_ends(ledger: Ledger) -> None:
    with ledger.journal.transaction() as turn:
        pass
    with pytest.raises(JournalError, match="this turn is over"):
        turn.append([record("a")])
    with pytest.raises(JournalError, match="this turn is over"):
        turn.compact(ledger.write)


def test_who_waits_too_long_is_told_for_which_file(ledger: Ledger, tmp_path: Path) -> None:
    other = Ledger(tmp_path, patience=0.05)
    with ledger.journal.transaction() as turn:
        with pytest.raises(JournalError, match=r"journal\.lock is taken.*within 0\.05 s"):
            other.learn(record("b"))
        turn.append([record("a")])
    assert other.learn(record("a"), record("b")) == [False, True]


def test_threads_take_turns(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    new: list[bool] = []

    def learn(worker: int) -> None:
        for number in range(10):
            new.extend(ledger.learn(record(number), record((worker, number))))

    threads = [threading.Thread(target=learn, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    entries = ledger.entries()
    assert len(entries) == len(set(entries)) == 10 + 4 * 10 == sum(new)


def test_a_busy_writer_keeps_nobody_waiting(tmp_path: Path) -> None:
    busy, other = Ledger(tmp_path), Ledger(tmp_path)
    stop = threading.Event()
    turns = 0

    def learn() -> None:
        nonlocal turns
        while not stop.is_set():
            with busy.journal.transaction():
                time.sleep(0.01)
                turns += 1

    thread = threading.Thread(target=learn)
    thread.start()
    try:
        for number in range(10):
            other.learn(record(number))
    finally:
        stop.set()
        thread.join()
    # About one of theirs for each of ours; without a queue there were more than a hundred.
    assert turns < 40


def test_nobody_else_may_read_a_journal(ledger: Ledger) -> None:
    before = os.umask(0)
    try:
        ledger.learn(record("a"))
        ledger.fold()
    finally:
        os.umask(before)
    for path in (ledger.path, f"{ledger.path}.lock", f"{ledger.path}.queue"):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_permissions_that_were_changed_stay_so(ledger: Ledger) -> None:
    ledger.learn(record("a"))
    os.chmod(ledger.path, 0o640)
    ledger.fold()
    assert stat.S_IMODE(os.stat(ledger.path).st_mode) == 0o640


def test_payloads_are_not_printed() -> None:
    assert repr(record("a", 1, b"secret")).endswith("mark=1, payload of 6 bytes)")


def test_a_system_without_locks_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(JournalError, match="needs the file locks of Unix"):
        Journal(tmp_path / "journal")


def test_importing_a_journal_imports_no_library() -> None:
    program = "import sys, weigh.journal; print('numpy' in sys.modules, 'pyarrow' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout
        == "False False\n"
    )
