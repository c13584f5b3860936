"""Records of a transaction are stored exactly once when it commits, and not at all otherwise."""

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
from weigh.errors import DamagedJournal, JournalError, ParameterError
from weigh.journal.generation import MarkIndex
from weigh.journal.journal import Journal
from weigh.journal.storage import JOURNAL_START, JournalRecord


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path, timeout=0.05)


def test_records_are_read_back_unchanged(ledger: Ledger) -> None:
    records = [record("a", 1, b""), record("b", 255, bytes(range(256)) * 300)]
    assert ledger.append(*records) == [True, True]
    assert list(ledger.journal.records()) == records


def test_reading_an_absent_journal_does_not_create_it(ledger: Ledger) -> None:
    assert list(ledger.journal.records()) == []
    assert ledger.journal.position == JOURNAL_START
    assert not os.path.exists(ledger.path)


def test_repeating_a_mark_has_no_effect(ledger: Ledger) -> None:
    assert ledger.append(record("a"), record("a"), record("b")) == [True, False, True]
    assert ledger.append(record("b", 1, b"other"), record("c", 0)) == [False, False]
    assert Ledger(os.path.dirname(ledger.path)).append(record("a"), record("d")) == [False, True]
    assert ledger.entries() == plain(record("a"), record("b"), record("d"))


def test_a_mark_can_be_removed_and_set_again(ledger: Ledger) -> None:
    steps = [record("a", 1), record("a", 0), record("a", 1), record("a", 2)]
    assert ledger.append(*steps[:3]) == [True] * 3
    with ledger.journal.transaction() as transaction:
        assert transaction.mark(key("a")) == 1
        transaction.append(steps[3:])
        assert transaction.mark(key("a")) == 2
        assert transaction.mark(key("b")) == 0
    assert ledger.entries() == plain(*steps)


def test_a_journal_restored_with_its_lock_file_is_read_again(ledger: Ledger) -> None:
    ledger.append(record("a"))
    files = [Path(ledger.path), Path(f"{ledger.path}.lock")]
    before = [file.read_bytes() for file in files]
    ledger.append(record("b"))
    files[0].write_bytes(before[0])
    with pytest.raises(
        DamagedJournal, match="the last records, which were on disk, are overwritten or missing"
    ):
        ledger.append(record("b"))
    files[1].write_bytes(before[1])
    assert ledger.append(record("b")) == [True]
    assert ledger.entries() == plain(record("a"), record("b"))


def test_an_exception_in_a_transaction_appends_nothing(ledger: Ledger) -> None:
    with pytest.raises(ZeroDivisionError), ledger.journal.transaction() as transaction:
        transaction.append([record("a")] * (1 // len(transaction.append([record("b")])[1:])))
    assert ledger.entries() == []
    assert ledger.append(record("a")) == [True]


def test_a_writer_interrupted_after_writing_does_not_write_again(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(marks: MarkIndex, changes: dict[bytes, int]) -> None:
        raise KeyboardInterrupt

    ledger.append(record("a"))
    with monkeypatch.context() as patch:
        patch.setattr(MarkIndex, "update", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ledger.append(record("b"))
    assert ledger.append(record("b"), record("c")) == [False, True]
    assert ledger.entries() == plain(record("a"), record("b"), record("c"))


def test_a_transaction_is_one_group(ledger: Ledger) -> None:
    with ledger.journal.transaction() as transaction:
        transaction.append([record("a")])
        transaction.append([record("b"), record("c")])
    assert [len(records) for records, _ in ledger.journal.groups()] == [3]


def test_reading_continues_from_a_position(ledger: Ledger) -> None:
    ledger.append(record("a"))
    position = ledger.journal.position
    ledger.append(record("b"))
    assert list(ledger.journal.records(since=position)) == [record("b")]
    assert list(ledger.journal.records(since=ledger.journal.position)) == []
    assert [after for _, after in ledger.journal.groups()] == [position, ledger.journal.position]


@pytest.mark.parametrize(
    "bad", [JournalRecord(b"short", 1), JournalRecord(key(1), 256), JournalRecord(key(1), -1)]
)
def test_an_invalid_record_rejects_the_whole_batch(ledger: Ledger, bad: JournalRecord) -> None:
    with ledger.journal.transaction() as transaction, pytest.raises(ParameterError):
        transaction.append([record("a"), bad])
    assert ledger.entries() == []


def test_a_closed_transaction_cannot_be_used(ledger: Ledger) -> None:
    with ledger.journal.transaction() as transaction:
        pass
    with pytest.raises(JournalError, match="this transaction is over"):
        transaction.append([record("a")])
    with pytest.raises(JournalError, match="this transaction is over"):
        transaction.compact(ledger.write)


def test_a_lock_timeout_names_the_file(ledger: Ledger, tmp_path: Path) -> None:
    other = Ledger(tmp_path, timeout=0.05)
    with ledger.journal.transaction() as transaction:
        with pytest.raises(JournalError, match=r"journal\.lock is taken.*within 0\.05 s"):
            other.append(record("b"))
        transaction.append([record("a")])
    assert other.append(record("a"), record("b")) == [False, True]


def test_threads_write_one_at_a_time(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    new: list[bool] = []

    def append(worker: int) -> None:
        for number in range(10):
            new.extend(ledger.append(record(number), record((worker, number))))

    threads = [threading.Thread(target=append, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    entries = ledger.entries()
    assert len(entries) == len(set(entries)) == 10 + 4 * 10 == sum(new)


def test_a_busy_writer_does_not_starve_others(tmp_path: Path) -> None:
    busy, other = Ledger(tmp_path), Ledger(tmp_path)
    stop = threading.Event()
    n_transactions = 0

    def write_repeatedly() -> None:
        nonlocal n_transactions
        while not stop.is_set():
            with busy.journal.transaction():
                time.sleep(0.01)
                n_transactions += 1

    thread = threading.Thread(target=write_repeatedly)
    thread.start()
    try:
        for number in range(10):
            other.append(record(number))
    finally:
        stop.set()
        thread.join()
    # About one transaction per append; without the queue lock there were more than a hundred.
    assert n_transactions < 40


def test_a_journal_is_private_to_its_owner(ledger: Ledger) -> None:
    before = os.umask(0)
    try:
        ledger.append(record("a"))
        ledger.compact()
    finally:
        os.umask(before)
    for path in (ledger.path, f"{ledger.path}.lock", f"{ledger.path}.queue"):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_changed_permissions_are_kept(ledger: Ledger) -> None:
    ledger.append(record("a"))
    os.chmod(ledger.path, 0o640)
    ledger.compact()
    assert stat.S_IMODE(os.stat(ledger.path).st_mode) == 0o640


def test_payloads_are_not_printed() -> None:
    assert repr(record("a", 1, b"secret")).endswith("mark=1, payload of 6 bytes)")


def test_a_system_without_file_locks_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(JournalError, match="needs the file locks of Unix"):
        Journal(tmp_path / "journal")


def test_importing_weigh_journal_imports_no_heavy_library() -> None:
    program = "import sys, weigh.journal; print('numpy' in sys.modules, 'pyarrow' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout
        == "False False\n"
    )
