"""Values of JSON are counted as `learn` counts them, at once, when the journal is replayed, and compacted."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

import weigh
from tests.serve.feedback.samples import DIGEST, Row, forget, learn
from weigh.model.count_model import CountModel
from weigh.serve.feedback import Change, FeedbackStore, Outcome

COLUMNS = {
    "level": "category",
    "size": "number",
    "flag": "flag",
    "tags": "tokens",
    "day": "date",
    "body": "text",
    "in.ner": "category",
    "many": "count",
}
ROW: Row = {
    "level": "a",
    "size": 1.5,
    "flag": True,
    "tags": ["x", "y"],
    "day": "2024-01-05",
    "body": "some words",
    "in": {"ner": 1},
    "many": 2,
    "y": "p",
}
OTHER = {**ROW, "level": "b", "size": 2.5, "flag": False, "day": "2024-02-07", "y": "q"}
MODEL: CountModel = weigh.NaiveBayes(columns=COLUMNS).fit([ROW, OTHER] * 10, "y").model_

VALUES: list[dict[str, Any]] = [
    *[{"level": value} for value in (1, 1.0, 2.5, True, "1", "", None, 2**60 + 1, 1e300, "é\ud800", "NULL")],
    *[{"size": value} for value in ("1.5", "-2", 3, 0.1 + 0.2, 1e-310, None, True, float("nan"))],
    *[{"flag": value} for value in (True, False, 0, 1, None)],
    *[{"tags": value} for value in (["x"], [], None, ["new", "new"])],
    *[{"day": value} for value in ("2024-01-05", "2024-01-05T10:00:00", None)],
    *[{"body": value} for value in ("", None, "naïve 東京 words words")],
    *[{"in": value} for value in ({"ner": 2}, {"ner": None})],
    *[{"many": value} for value in (0, 7, None)],
    {"y": "new class"},
]
NAMES = [repr(value) for value in VALUES]


def open_store(folder: Path) -> FeedbackStore:
    return FeedbackStore.open(folder, MODEL, DIGEST)


@pytest.mark.parametrize("changed", VALUES, ids=NAMES)
def test_a_row_counts_as_if_it_was_given_to_learn(tmp_path: Path, changed: dict[str, Any]) -> None:
    row = {**ROW, **changed}
    store = open_store(tmp_path)
    assert learn(store, "a", row) == Outcome(1)
    expected = MODEL.learn([row]).to_bytes()
    assert store.model().to_bytes() == open_store(tmp_path).model().to_bytes() == expected
    store.compact()
    assert open_store(tmp_path).model().to_bytes() == expected
    assert learn(store, "a", row) == Outcome(0, repeated=True)
    assert forget(store, "b", row) == Outcome(1)
    assert open_store(tmp_path).model().to_bytes() == MODEL.to_bytes()


def test_rows_of_one_change_are_read_together(tmp_path: Path) -> None:
    # As floats, the whole number would be another one.
    rows = [{**ROW, "level": 2**60 + 1}, {**ROW, "level": 0.5}]
    store = open_store(tmp_path)
    learn(store, "together", *rows)
    store.apply([Change(f"{i}", "learn", [row]) for i, row in enumerate(rows)])
    expected = MODEL.learn(rows).learn(rows[:1]).learn(rows[1:])
    assert store.model().to_bytes() == open_store(tmp_path).model().to_bytes() == expected.to_bytes()
    assert expected.to_bytes() != MODEL.learn(rows * 2).to_bytes()


def test_columns_that_the_model_does_not_read_are_not_kept(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    assert learn(store, "a", {**ROW, "name": "Anna"}) == Outcome(1)
    assert store.model().to_bytes() == MODEL.learn([ROW]).to_bytes()
    assert not [path for path in tmp_path.iterdir() if b"Anna" in path.read_bytes()]


def test_odd_cells_are_reported_once_and_not_again_at_the_start(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with pytest.warns(weigh.errors.OddCells, match="'size'"):
        outcome = learn(store, "a", {**ROW, "size": "large"})
    assert outcome == Outcome(1)
    assert store.model().to_bytes() == open_store(tmp_path).model().to_bytes()
    assert store.model().to_bytes() == MODEL.learn([{**ROW, "size": None}]).to_bytes()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"y": 1}, "The label 1 is a number, but the classes are 'p', 'q'. Give text."),
        ({"y": True}, "The label True is true or false, but the classes are 'p', 'q'. Give text."),
        ({"level": [1]}, "Column 'level' holds values that cannot be compared"),
        ({"tags": "x y"}, "Column 'tags' contains lists of tokens, but one value is 'x y'."),
        ({"body": 3}, "Column 'body' contains text, but one value is"),
        ({"day": date(2024, 1, 5)}, "The rows cannot be kept as JSON: Object of type date is not JSON"),
    ],
)
def test_rows_that_cannot_be_read_are_refused(tmp_path: Path, changed: dict[str, Any], sentence: str) -> None:
    store = open_store(tmp_path)
    outcome = learn(store, "a", {**ROW, **changed})
    assert str(outcome.error).startswith(sentence)
    assert store.model().to_bytes() == MODEL.to_bytes()


@pytest.mark.parametrize(
    ("classes", "label", "expected"),
    [
        ([0, 1], 1.0, 1),
        ([0, 1], 2.0, 2),
        ([0.0, 1.0], 1, 1.0),
        ([0.0, 1.0], 2, 2.0),
        ([False, True], True, True),
        (["0", "1"], "2", "2"),
    ],
)
def test_numbers_as_labels_become_the_type_of_the_classes(
    tmp_path: Path, classes: list[Any], label: Any, expected: Any
) -> None:
    rows = [{"x": "a", "y": each} for each in classes] * 5
    model = weigh.NaiveBayes(columns="category").fit(rows, "y").model_
    store = FeedbackStore.open(tmp_path, model, DIGEST)
    assert learn(store, "a", {"x": "b", "y": label}) == Outcome(1)
    assert store.model().to_bytes() == model.learn([{"x": "b", "y": expected}]).to_bytes()
    assert {type(each) for each in store.model().classes} == {type(classes[0])}
