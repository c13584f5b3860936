"""Law 10: bad input raises a clear error and leaves models and files unchanged."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

import weigh
from weigh import errors

TABLE = {
    "colour": ["red", "blue", "red", "green"],
    "size": [1.5, 2.5, 0.5, 1.0],
    "links": [0, 3, 1, 0],
    "class": ["a", "b", "a", "b"],
}
KINDS = {"colour": "category", "size": "number", "links": "count"}
BAD_ROWS: dict[str, Any] = {
    "infinity": TABLE | {"size": [1.0, np.inf, 2.0, 3.0]},
    "a word among numbers": TABLE | {"size": [1.0, "big", 2.0, 3.0]},
    "a negative count": TABLE | {"links": [0, -1, 2, 3]},
    "a list as a category": TABLE | {"colour": [["red"], ["blue"], ["red"], ["red"]]},
    "a missing label": TABLE | {"class": ["a", None, "b", "a"]},
    "a list as a label": TABLE | {"class": [["a", "b"], ["a"], ["b"], ["a"]]},
    "a missing column": {name: TABLE[name] for name in ("colour", "size", "class")},
    "columns of unequal length": TABLE | {"size": [1.0]},
    "no rows": {name: [] for name in TABLE},
    "no label column": {name: TABLE[name] for name in KINDS},
    "a single string": "colour,size",
    "complex numbers": TABLE | {"size": [1j, 2j, 3j, 4j]},
    "nothing": None,
}


@pytest.fixture
def learner() -> weigh.NaiveBayes:
    return weigh.NaiveBayes(columns=KINDS).fit(TABLE, "class")


@pytest.mark.parametrize("method", ["partial_fit", "forget", "fit"])
@pytest.mark.parametrize("case", BAD_ROWS)
def test_bad_rows_are_refused_and_leave_the_learner_unchanged(case: str, method: str, learner: Any) -> None:
    if (case, method) == ("a word among numbers", "forget"):
        pytest.skip("forgetting treats a word among numbers as missing, as learning did")
    model, before = learner.model_, learner.model_.to_bytes()
    if case == "a missing column":
        # A new fit accepts other columns unless the schema is fixed.
        learner.set_params(columns=learner.schema_)
    with pytest.raises(errors.WeighError) as error:
        getattr(learner, method)(BAD_ROWS[case], "class")
    assert str(error.value).strip().endswith((".", "}", ")"))
    assert learner.model_ is model
    assert learner.model_.to_bytes() == before
    assert learner.classes_.tolist() == ["a", "b"]


BAD_ROWS_TO_PREDICT = {
    name: {column: values for column, values in rows.items() if column != "class"}
    for name, rows in BAD_ROWS.items()
    if isinstance(rows, dict) and "label" not in name and name != "a word among numbers"
}


@pytest.mark.parametrize("case", BAD_ROWS_TO_PREDICT)
def test_bad_rows_to_predict_are_refused(case: str, learner: Any) -> None:
    for call in (learner.predict, learner.predict_proba, learner.explain):
        with pytest.raises(errors.DataError):
            call(BAD_ROWS_TO_PREDICT[case])


def test_a_word_among_numbers_is_missing_when_predicting_and_forgetting(learner: Any) -> None:
    with_word = BAD_ROWS["a word among numbers"]
    as_missing = TABLE | {"size": [1.0, None, 2.0, 3.0]}
    message = (
        "Column 'size': 1 of 4 cells is not a number and is treated as missing: 'big' (row 1). If that means "
        "missing, train with missing=['big']."
    )
    rows = {name: with_word[name] for name in KINDS}
    with pytest.warns(errors.OddCells, match=re.escape(message)):
        probabilities = learner.predict_proba(rows)
    assert np.array_equal(probabilities, learner.predict_proba({name: as_missing[name] for name in KINDS}))
    expected = weigh.NaiveBayes(columns=KINDS).fit(TABLE, "class").partial_fit(as_missing, "class")
    with pytest.warns(errors.OddCells, match=re.escape(message)):
        expected.forget(with_word, "class")
    assert expected.model_.to_bytes() == learner.model_.to_bytes()


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((3, 2)), r"X has 2 features, but \w+ is expecting 3 features"),
        (np.zeros(3), "Reshape your data"),
        (np.zeros((2, 3, 4)), "Found array with dim 3"),
        (np.zeros((0, 3)), r"0 sample\(s\)"),
        (sparse.csr_matrix((3, 2)), "X has 2 features"),
        ([[1.0, 2.0, 3.0], [1.0]], "differ in length"),
    ],
)
def test_matrices_of_the_wrong_shape_are_refused(X: Any, message: str) -> None:
    learner = weigh.NaiveBayes().fit(np.eye(3), ["a", "b", "c"])
    before = learner.model_.to_bytes()
    for call in (learner.predict, lambda X: learner.partial_fit(X, ["a"] * 3)):
        with pytest.raises(errors.DataError, match=message):
            call(X)
    assert learner.model_.to_bytes() == before


BAD_PARAMETERS: dict[str, dict[str, Any]] = {
    "a negative prior": {"prior": -1.0},
    "a prior for no column": {"prior": {"color": 1.0}},
    "a word as prior": {"prior": "laplace"},
    "class priors that do not sum to one": {"class_prior": {"a": 0.5, "b": 0.6}},
    "class priors for other classes": {"class_prior": {"a": 0.5, "c": 0.5}},
    "an unknown kind": {"columns": {"colour": "categories"}},
    "a kind for no column": {"columns": {"color": "category"}},
    "complement of numbers": {"complement": True},
    "no threads": {"threads": 0},
}


@pytest.mark.parametrize("case", BAD_PARAMETERS)
def test_bad_parameters_are_refused_and_leave_the_learner_unchanged(case: str, learner: Any) -> None:
    model = learner.model_
    learner.set_params(**BAD_PARAMETERS[case])
    with pytest.raises(errors.WeighError):
        learner.fit(TABLE, "class")
    assert learner.model_ is model


def test_a_failed_first_fit_leaves_the_learner_unfitted() -> None:
    learner = weigh.NaiveBayes(columns=KINDS)
    with pytest.raises(errors.DataError):
        learner.fit(BAD_ROWS["infinity"], "class")
    assert not [name for name in vars(learner) if name.endswith("_")]


def test_models_with_different_column_kinds_do_not_merge(learner: Any) -> None:
    other = weigh.NaiveBayes(columns=KINDS | {"links": "number"}).fit(TABLE, "class")
    before = learner.model_.to_bytes(), other.model_.to_bytes()
    with pytest.raises(errors.MergeError, match="links"):
        learner.merge(other)
    assert (learner.model_.to_bytes(), other.model_.to_bytes()) == before


def test_labels_outside_the_declared_classes_change_nothing() -> None:
    learner = weigh.NaiveBayes().partial_fit([[0.0], [1.0]], ["a", "b"], classes=["a", "b"])
    before = learner.model_.to_bytes()
    with pytest.raises(errors.LabelError, match="'c'"):
        learner.partial_fit([[2.0]], ["c"], classes=["a", "b"])
    assert learner.model_.to_bytes() == before


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut short": lambda data: data[: len(data) // 2],
    "emptied": lambda data: b"",
    "one bit of the data": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    "one byte of the description": lambda data: data.replace(b"naive-bayes", b"naive-bayez"),
    "other bytes": lambda data: b"PK\x03\x04" + data[4:],
    "bytes after the end": lambda data: data + b"more",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_model_files_are_refused_and_left_unchanged(
    damage: str, learner: Any, tmp_path: Path
) -> None:
    path = tmp_path / "model.weigh"
    learner.model_.save(path)
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    before = path.read_bytes()
    with pytest.raises(errors.ModelFileError):
        weigh.load(path)
    assert path.read_bytes() == before


def test_a_failed_save_keeps_the_old_file(
    learner: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.weigh"
    learner.model_.save(path)
    before = path.read_bytes()
    more = weigh.NaiveBayes(columns=KINDS).fit(TABLE, "class").partial_fit(TABLE, "class").model_
    monkeypatch.setattr("os.replace", _raise_disk_full)
    with pytest.raises((errors.FileError, OSError)):
        more.save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.weigh"]


def _raise_disk_full(*_: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty"),
        ("colour,size,links,class\n", "no rows|header"),
        ("colour,size,links,class\nred,1.0,2,a\nred,1.0\n", "line 3"),
        ("colour,size,links,class\nred,1.0,2,a\nred,huge,2,b\n", "huge|'size'"),
    ],
)
def test_bad_files_are_refused_and_leave_the_learner_unchanged(
    content: str, message: str, learner: Any, tmp_path: Path
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(content)
    before = learner.model_.to_bytes()
    with pytest.raises(errors.WeighError, match=message):
        learner.partial_fit(weigh.open(path, label="class"))
    assert learner.model_.to_bytes() == before
    assert path.read_text() == content


@pytest.mark.parametrize(
    "labels",
    [
        [["a", "b"], ["a"], [], ["b"]],
        [("a", "b"), ("a",), ("b",), ()],
        [{"a"}, {"a", "b"}, set(), {"b"}],
        np.eye(4, 2, dtype=int),
        pd.DataFrame({"one": [0, 1, 0, 1], "two": [1, 0, 1, 0]}),
        pd.Series([["a", "b"], ["a"], ["b"], ["a"]]),
        sparse.csr_matrix(np.eye(4, 2)),
        pa.array([["a", "b"], ["a"], ["b"], ["a"]]),
    ],
)
def test_several_labels_per_row_are_refused_with_advice(labels: Any) -> None:
    with pytest.raises(errors.LabelError, match="one model per label"):
        weigh.NaiveBayes(columns=KINDS).fit({name: TABLE[name] for name in KINDS}, labels)


def test_a_column_of_lists_is_refused_as_label() -> None:
    with pytest.raises(errors.LabelError, match="one model per label"):
        weigh.NaiveBayes(columns=KINDS).fit(TABLE | {"class": [["a"], ["a", "b"], ["b"], []]}, "class")
