"""Snapshot and journal together give the state, even if another process compacts in between."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.journal.ledger import Entries, Ledger, key, plain, record
from weigh.errors import DamagedJournal, JournalError, LostPlace
from weigh.journal.journal import Journal
from weigh.journal.storage import HEADER_BYTES, JOURNAL_START, Position


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    ledger = Ledger(tmp_path)
    ledger.append(record("a", 1, b"first" * 99), record("b"))
    ledger.append(record("b", 0), record("c", 3))
    return ledger


HISTORY = plain(record("a", 1, b"first" * 99), record("b"), record("b", 0), record("c", 3))


def test_compaction_drops_records_and_keeps_marks(ledger: Ledger) -> None:
    before = ledger.journal.position
    with ledger.journal.transaction() as transaction:
        assert transaction.bytes_since_snapshot == before.offset
        transaction.compact(ledger.write)
        assert transaction.bytes_since_snapshot == 0
        assert [transaction.mark(key(name)) for name in "abcd"] == [1, 0, 3, 0]
    assert ledger.entries() == HISTORY
    assert ledger.journal.position == before
    # Two keys have a mark, stored in 16 bytes and one byte.
    assert os.path.getsize(ledger.path) == HEADER_BYTES + 2 * 17
    assert ledger.append(record("a"), record("b")) == [False, True]
    assert ledger.entries() == [*HISTORY, *plain(record("b"))]


def test_records_can_be_kept(ledger: Ledger) -> None:
    ledger.compact(keep=True)
    ledger.append(record("d"))
    ledger.compact(keep=True)
    assert plain(*ledger.journal.records()) == [*HISTORY, *plain(record("d"))]
    ledger.compact()
    with pytest.raises(LostPlace, match="Load the snapshot again"):
        list(ledger.journal.records())


def test_compaction_is_idempotent(ledger: Ledger) -> None:
    ledger.compact()
    content = Path(ledger.path).read_bytes()
    ledger.compact()
    again = Path(ledger.path).read_bytes()
    assert again[HEADER_BYTES:] == content[HEADER_BYTES:]
    assert ledger.entries() == HISTORY


def test_compaction_includes_pending_records(ledger: Ledger) -> None:
    with ledger.journal.transaction() as transaction:
        transaction.append([record("d")])
        transaction.compact(ledger.write)
        transaction.append([record("e")])
    assert ledger.entries() == HISTORY + plain(record("d"), record("e"))
    assert [len(records) for records, _ in ledger.journal.groups(ledger.load()[1])] == [1]


def test_a_failed_snapshot_changes_nothing(ledger: Ledger) -> None:
    def fail(position: Position) -> None:
        raise ZeroDivisionError

    content = Path(ledger.path).read_bytes()
    with ledger.journal.transaction() as transaction:
        with pytest.raises(ZeroDivisionError):
            transaction.compact(fail)
        transaction.append([record("d")])
    assert Path(ledger.path).read_bytes()[: len(content)] == content
    assert ledger.entries() == HISTORY + plain(record("d"))


def test_a_transaction_continues_after_a_failed_compaction(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ledger.journal.transaction() as transaction:
        monkeypatch.setattr(os, "fchmod", raise_permission_error)
        with pytest.raises(JournalError, match="Operation not permitted"):
            transaction.compact(ledger.write)
        transaction.append([record("d")])
    assert Ledger(os.path.dirname(ledger.path)).entries() == HISTORY + plain(record("d"))


def test_a_transaction_continues_in_the_new_file_after_an_interruption(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ledger.journal.transaction() as transaction:
        monkeypatch.setattr("weigh.journal.generation.fsync_folder", raise_keyboard_interrupt)
        with pytest.raises(KeyboardInterrupt):
            transaction.compact(ledger.write)
        transaction.append([record("d")])
    assert Ledger(os.path.dirname(ledger.path)).entries() == HISTORY + plain(record("d"))


def test_a_reader_reloads_when_another_process_compacts(ledger: Ledger) -> None:
    other = Ledger(os.path.dirname(ledger.path))

    def load() -> tuple[Entries, Position]:
        snapshot = ledger.load()
        if ledger.loads < 3:
            other.append(record(("during", ledger.loads)))
            other.compact()
        return snapshot

    entries, position = ledger.journal.state(load, lambda state, records: state + plain(*records))
    assert entries == HISTORY + plain(record(("during", 1)), record(("during", 2)))
    assert position == ledger.journal.position
    assert ledger.loads == 3


def test_a_reader_with_a_current_state_reads_only_new_records(ledger: Ledger) -> None:
    current = ledger.state()
    ledger.append(record("d"))
    loads = ledger.loads
    current = ledger.state(current)
    assert current[0] == HISTORY + plain(record("d"))
    assert ledger.loads == loads


def test_a_reader_with_an_outdated_state_loads_the_snapshot(ledger: Ledger) -> None:
    current = ledger.state()
    ledger.append(record("d"))
    ledger.compact()
    ledger.append(record("e"))
    assert ledger.state(current)[0] == HISTORY + plain(record("d"), record("e"))


def test_a_reader_at_the_compaction_point_continues_without_loading(ledger: Ledger) -> None:
    current = ledger.state()
    ledger.compact()
    ledger.append(record("d"))
    loads = ledger.loads
    assert ledger.state(current)[0] == HISTORY + plain(record("d"))
    assert ledger.loads == loads


def test_a_reader_in_the_middle_of_a_generation_can_finish_it(ledger: Ledger) -> None:
    reading = ledger.journal.records()
    first = next(reading)
    ledger.compact()
    ledger.append(record("d"))
    assert plain(first, *reading) == HISTORY


def test_a_missing_snapshot_is_reported(ledger: Ledger) -> None:
    ledger.compact()
    os.unlink(ledger.snapshot)
    with pytest.raises(LostPlace):
        ledger.entries()


def test_a_missing_journal_is_reported(ledger: Ledger) -> None:
    ledger.compact()
    os.unlink(ledger.path)
    with pytest.raises(LostPlace, match="there is a snapshot, but no journal"):
        ledger.entries()
    with pytest.raises(DamagedJournal, match="journal is missing"):
        ledger.append(record("d"))
    assert not os.path.exists(ledger.path)


def test_a_removed_journal_begins_anew_as_the_error_says(tmp_path: Path) -> None:
    path = os.path.realpath(tmp_path / "journal")
    with Journal(path).transaction() as transaction:
        transaction.append([record("a")])
    os.unlink(path)
    with pytest.raises(DamagedJournal) as caught, Journal(path).transaction():
        pass
    assert str(caught.value) == (
        f"{path} is missing. Restore it and its lock file from a copy, or remove {path}.lock to begin an "
        "empty journal."
    )
    os.unlink(f"{path}.lock")
    with Journal(path).transaction() as transaction:
        transaction.append([record("b")])
    assert list(Journal(path).records()) == [record("b")]


def test_a_journal_with_another_history_is_reported(ledger: Ledger, tmp_path: Path) -> None:
    current = ledger.state()
    (tmp_path / "other").mkdir()
    other = Ledger(tmp_path / "other")
    other.append(record("x", 1, b"first" * 99), record("b"))
    other.append(record("b", 0), record("c", 3))
    assert other.journal.position.offset == current[1].offset
    with pytest.raises(LostPlace):
        list(other.journal.records(since=current[1]))
    with pytest.raises(LostPlace):
        list(other.journal.records(since=Position(current[1].offset - 1, current[1].checksum)))
    assert list(other.journal.records(since=other.journal.position)) == []
    assert other.journal.position != JOURNAL_START


def raise_permission_error(descriptor: int, mode: int) -> None:
    raise PermissionError(1, "Operation not permitted")


def raise_keyboard_interrupt(folder: str) -> None:
    raise KeyboardInterrupt
