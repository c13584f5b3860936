"""Snapshot and journal together are the state, whoever folds in between."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.journal.ledger import Entries, Ledger, key, plain, record
from weigh.errors import JournalError, LostPlace
from weigh.journal import JOURNAL_START, Position
from weigh.journal.storage import HEADER_BYTES


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    ledger = Ledger(tmp_path)
    ledger.learn(record("a", 1, b"first" * 99), record("b"))
    ledger.learn(record("b", 0), record("c", 3))
    return ledger


HISTORY = plain(record("a", 1, b"first" * 99), record("b"), record("b", 0), record("c", 3))


def test_folding_drops_records_and_keeps_marks(ledger: Ledger) -> None:
    before = ledger.journal.position
    with ledger.journal.transaction() as turn:
        assert turn.bytes_since_snapshot == before.offset
        turn.compact(ledger.write)
        assert turn.bytes_since_snapshot == 0
        assert [turn.mark(key(name)) for name in "abcd"] == [1, 0, 3, 0]
    assert ledger.entries() == HISTORY
    assert ledger.journal.position == before
    # Two keys have a mark: 16 bytes and one each.
    assert os.path.getsize(ledger.path) == HEADER_BYTES + 2 * 17
    assert ledger.learn(record("a"), record("b")) == [False, True]
    assert ledger.entries() == [*HISTORY, *plain(record("b"))]


def test_records_can_be_kept(ledger: Ledger) -> None:
    ledger.fold(keep=True)
    ledger.learn(record("d"))
    ledger.fold(keep=True)
    assert plain(*ledger.journal.records()) == [*HISTORY, *plain(record("d"))]
    ledger.fold()
    with pytest.raises(LostPlace, match="Load the snapshot again"):
        list(ledger.journal.records())


def test_folding_twice_is_folding_once(ledger: Ledger) -> None:
    ledger.fold()
    content = Path(ledger.path).read_bytes()
    ledger.fold()
    again = Path(ledger.path).read_bytes()
    assert again[HEADER_BYTES:] == content[HEADER_BYTES:]
    assert ledger.entries() == HISTORY


def test_folding_takes_what_the_turn_has_appended(ledger: Ledger) -> None:
    with ledger.journal.transaction() as turn:
        turn.append([record("d")])
        turn.compact(ledger.write)
        turn.append([record("e")])
    assert ledger.entries() == HISTORY + plain(record("d"), record("e"))
    assert [len(records) for records, _ in ledger.journal.groups(ledger.load()[1])] == [1]


def test_a_snapshot_that_fails_leaves_all_as_it_was(ledger: Ledger) -> None:
    def fail(position: Position) -> None:
        raise ZeroDivisionError

    content = Path(ledger.path).read_bytes()
    with ledger.journal.transaction() as turn:
        with pytest.raises(ZeroDivisionError):
            turn.compact(fail)
        turn.append([record("d")])
    assert Path(ledger.path).read_bytes()[: len(content)] == content
    assert ledger.entries() == HISTORY + plain(record("d"))


def test_a_turn_goes_on_after_a_fold_that_was_refused(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ledger.journal.transaction() as turn:
        monkeypatch.setattr(os, "fchmod", refused)
        with pytest.raises(JournalError, match="Operation not permitted"):
            turn.compact(ledger.write)
        turn.append([record("d")])
    assert Ledger(os.path.dirname(ledger.path)).entries() == HISTORY + plain(record("d"))


def test_a_turn_whose_file_has_lost_its_name_goes_on_in_the_one_that_has_it(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ledger.journal.transaction() as turn:
        monkeypatch.setattr("weigh.journal.generation.fsync_folder", interrupted)
        with pytest.raises(KeyboardInterrupt):
            turn.compact(ledger.write)
        turn.append([record("d")])
    assert Ledger(os.path.dirname(ledger.path)).entries() == HISTORY + plain(record("d"))


def test_who_loads_a_snapshot_while_another_folds_loads_again(ledger: Ledger) -> None:
    other = Ledger(os.path.dirname(ledger.path))

    def load() -> tuple[Entries, Position]:
        found = ledger.load()
        if ledger.loads < 3:
            other.learn(record(("during", ledger.loads)))
            other.fold()
        return found

    entries, position = ledger.journal.state(load, lambda state, records: state + plain(*records))
    assert entries == HISTORY + plain(record(("during", 1)), record(("during", 2)))
    assert position == ledger.journal.position
    assert ledger.loads == 3


def test_who_holds_a_state_reads_only_what_is_new(ledger: Ledger) -> None:
    held = ledger.state()
    ledger.learn(record("d"))
    loads = ledger.loads
    held = ledger.state(held)
    assert held[0] == HISTORY + plain(record("d"))
    assert ledger.loads == loads


def test_who_holds_an_older_state_than_the_journal_loads_the_snapshot(ledger: Ledger) -> None:
    held = ledger.state()
    ledger.learn(record("d"))
    ledger.fold()
    ledger.learn(record("e"))
    assert ledger.state(held)[0] == HISTORY + plain(record("d"), record("e"))


def test_who_has_read_up_to_the_fold_goes_on_without_loading(ledger: Ledger) -> None:
    held = ledger.state()
    ledger.fold()
    ledger.learn(record("d"))
    loads = ledger.loads
    assert ledger.state(held)[0] == HISTORY + plain(record("d"))
    assert ledger.loads == loads


def test_a_reader_in_the_middle_of_a_generation_can_finish_it(ledger: Ledger) -> None:
    reading = ledger.journal.records()
    first = next(reading)
    ledger.fold()
    ledger.learn(record("d"))
    assert plain(first, *reading) == HISTORY


def test_a_snapshot_that_was_lost_is_told(ledger: Ledger) -> None:
    ledger.fold()
    os.unlink(ledger.snapshot)
    with pytest.raises(LostPlace):
        ledger.entries()


def test_a_journal_that_was_lost_is_told(ledger: Ledger) -> None:
    ledger.fold()
    os.unlink(ledger.path)
    with pytest.raises(LostPlace, match="there is no journal, but a snapshot of one"):
        ledger.entries()
    ledger.learn(record("d"))
    with pytest.raises(LostPlace):
        ledger.entries()


def test_a_journal_with_another_history_is_told(ledger: Ledger, tmp_path: Path) -> None:
    held = ledger.state()
    (tmp_path / "other").mkdir()
    other = Ledger(tmp_path / "other")
    other.learn(record("x", 1, b"first" * 99), record("b"))
    other.learn(record("b", 0), record("c", 3))
    assert other.journal.position.offset == held[1].offset
    with pytest.raises(LostPlace):
        list(other.journal.records(since=held[1]))
    with pytest.raises(LostPlace):
        list(other.journal.records(since=Position(held[1].offset - 1, held[1].checksum)))
    assert list(other.journal.records(since=other.journal.position)) == []
    assert other.journal.position != JOURNAL_START


def refused(descriptor: int, mode: int) -> None:
    raise PermissionError(1, "Operation not permitted")


def interrupted(folder: str) -> None:
    raise KeyboardInterrupt
