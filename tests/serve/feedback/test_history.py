"""Who said what and when is kept beside the model, and can be erased without changing it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.serve.feedback.samples import forget, learn, make_row, open_store, train
from weigh.errors import FileError
from weigh.serve.feedback import Outcome

FIRST, SECOND = make_row(1), make_row(2)


def test_the_history_says_who_said_what_and_when(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    learn(store, "a", FIRST, who="anna")
    forget(store, "b", FIRST, who="bob")
    learn(store, "a", FIRST, who="carl")  # repeated
    entries = store.history()
    for entry in entries:
        assert timedelta(0) <= datetime.now(UTC) - datetime.fromisoformat(entry.pop("when")) < timedelta(60)
    assert entries == [
        {"who": "anna", "id": "a", "operation": "learn", "rows": [FIRST]},
        {"who": "bob", "id": "b", "operation": "forget", "rows": [FIRST]},
    ]
    assert [entry["id"] for entry in store.history("bob")] == ["b"]


def test_erasing_a_client_leaves_the_model_and_the_ids(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    learn(store, "a", FIRST, who="anna")
    learn(store, "b", SECOND, who="bob")
    before = store.model().to_bytes()
    assert (store.erase("anna"), store.erase("anna")) == (1, 0)
    assert store.model().to_bytes() == open_store(tmp_path).model().to_bytes() == before
    assert [entry["who"] for entry in store.history()] == ["bob"]
    assert learn(store, "a", FIRST, who="anna") == Outcome(0, repeated=True)


def test_no_file_has_the_name_or_the_texts_of_an_erased_client(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    learn(store, "a", {**FIRST, "text": "secret diagnosis"}, who="anna")
    assert any(b"secret diagnosis" in path.read_bytes() for path in tmp_path.iterdir())
    store.erase("anna")
    for path in tmp_path.iterdir():
        assert b"secret diagnosis" not in path.read_bytes()
        assert b"anna" not in path.read_bytes()


def test_an_entry_whose_change_was_never_committed_is_not_listed(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    learn(store, "a", FIRST, who="anna")
    path = tmp_path / "history.jsonl"
    # A process killed between the two files leaves an entry, and another one when the client sends again.
    entry = json.loads(path.read_text())
    for left in ({**entry, "id": "killed"}, entry):
        path.write_text(path.read_text() + json.dumps(left) + "\n")
    assert [each["id"] for each in store.history()] == ["a"]
    assert store.erase("anna") == 1


def test_an_incomplete_last_line_is_replaced(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    learn(store, "a", FIRST)
    path = tmp_path / "history.jsonl"
    path.write_bytes(path.read_bytes() + b'{"when": "2024')
    assert [each["id"] for each in store.history()] == ["a"]
    learn(store, "b", SECOND)
    assert [each["id"] for each in store.history()] == ["a", "b"]


def test_a_damaged_line_is_named_and_the_model_still_learns(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    learn(store, "a", FIRST)
    path = tmp_path / "history.jsonl"
    path.write_bytes(b"{\n" + path.read_bytes())
    with pytest.raises(FileError) as caught:
        store.history()
    assert str(caught.value) == (
        f"{path}, line 1 is not an entry of feedback. Remove that line, or restore the file from a copy; the "
        "model does not depend on it."
    )
    assert learn(store, "b", SECOND) == Outcome(1)
    assert store.model().to_bytes() == train([FIRST, SECOND]).to_bytes()


def test_without_the_history_file_everything_else_works(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    learn(store, "a", FIRST)
    (tmp_path / "history.jsonl").unlink()
    assert open_store(tmp_path).model().to_bytes() == train([FIRST]).to_bytes()
    assert (store.history(), store.erase("anna")) == ([], 0)
