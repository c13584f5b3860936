"""Damaged and missing files raise errors with advice, and nothing is changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.serve.feedback.samples import learn, make_row, open_store, train
from weigh.errors import FileError, JournalError, ModelFileError, UnfoldedJournal
from weigh.serve.feedback import FeedbackStore, Outcome
from weigh.serve.feedback import store as store_module

ADVICE = "Restore the whole folder from a copy, or move it away to begin without its feedback."


def prepare(folder: Path) -> FeedbackStore:
    """Return a store with one change in its snapshot and one in its journal."""
    store = open_store(folder)
    learn(store, "a", make_row(1))
    store.compact()
    learn(store, "b", make_row(2))
    return store


def flip_byte(path: Path, offset: int) -> None:
    data = bytearray(path.read_bytes())
    data[offset] ^= 1
    path.write_bytes(data)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "a byte of the state": lambda folder: flip_byte(folder / "model.weigh", -100),
    "the state is cut": lambda folder: (folder / "model.weigh").write_bytes(b"x"),
    "the state is missing": lambda folder: (folder / "model.weigh").unlink(),
    "a byte of the journal": lambda folder: flip_byte(folder / "journal", -150),
    "the journal's table": lambda folder: flip_byte(folder / "journal", 100),
    "the journal is empty": lambda folder: (folder / "journal").write_bytes(b""),
    "the journal is missing": lambda folder: (folder / "journal").unlink(),
    "the journal and its lock are missing": lambda folder: [
        (folder / name).unlink() for name in ("journal", "journal.lock")
    ],
}


@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_folder_is_not_opened(tmp_path: Path, what: str) -> None:
    prepare(tmp_path)
    DAMAGES[what](tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(FileError) as caught:
        open_store(tmp_path)
    assert str(tmp_path) in str(caught.value)
    assert ADVICE in str(caught.value)
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert {name: data for name, data in after.items() if name in before} == before


def test_a_journal_that_disappears_is_reported_by_a_running_server(tmp_path: Path) -> None:
    store = prepare(tmp_path)
    (tmp_path / "journal").unlink()
    with pytest.raises(ModelFileError) as caught:
        store.model()
    assert str(caught.value) == f"{tmp_path / 'journal'} is missing. {ADVICE}"
    with pytest.raises(JournalError):
        learn(store, "c", make_row(3))


def test_a_state_of_another_history_is_refused(tmp_path: Path) -> None:
    prepare(tmp_path / "one")
    other = open_store(tmp_path / "two")
    learn(other, "a", make_row(7), make_row(8))
    other.compact()
    (tmp_path / "one" / "model.weigh").write_bytes((tmp_path / "two" / "model.weigh").read_bytes())
    with pytest.raises(JournalError) as caught:
        open_store(tmp_path / "one")
    assert ADVICE in str(caught.value)


def test_a_journal_that_cannot_be_compacted_goes_on_learning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(tmp_path)
    monkeypatch.setattr(store_module, "MAX_JOURNAL_TAIL", 0)

    def fail(*arguments: object) -> None:
        raise ModelFileError("No space left.")

    monkeypatch.setattr(store_module, "write_state", fail)
    with pytest.warns(UnfoldedJournal) as caught:
        assert learn(store, "a", make_row(1)) == Outcome(1)
    assert str(caught[0].message) == (
        f"{tmp_path}: all feedback is kept, but its journal cannot be compacted and goes on growing: No "
        "space left."
    )
    assert open_store(tmp_path).model().to_bytes() == train([make_row(1)]).to_bytes()


def test_a_folder_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError) as caught:
        open_store(tmp_path / "file" / "mails")
    assert str(caught.value) == (
        f"{tmp_path}/file/mails: the folder for feedback cannot be created: Not a directory."
    )
