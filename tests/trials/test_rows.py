"""Labelled rows are indexed alike in every storage, and are encoded as numbers for scikit-learn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

import weigh
from weigh import errors
from weigh.trials.candidates import Candidate
from weigh.trials.learners import (
    DEFAULT_LEARNERS,
    LEARNER_FACTORIES,
    AsNumbers,
    format_settings,
    learners_by_name,
)
from weigh.trials.rows import LabelledRows

TABLE = {
    "sky": ["sun", "rain", "sun", "fog", None, "rain"],
    "warm": [21.5, 12.0, 25.0, 9.5, 14.0, None],
    "play": ["yes", "no", "yes", "no", "no", "yes"],
}
NUMBERS = np.arange(12.0).reshape(6, 2)
INDICES = np.array([4, 0, 2])


def stored(storage: str, folder: Path) -> Any:
    if storage == "file":
        pd.DataFrame(TABLE).to_csv(folder / "days.csv", index=False)
        return weigh.open(folder / "days.csv", label="play")
    rows = [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)]
    kinds = {"dict": TABLE, "pandas": pd.DataFrame(TABLE), "polars": pl.DataFrame(TABLE)}
    return {**kinds, "arrow": pa.table(TABLE), "dicts": rows}[storage]


@pytest.mark.parametrize("storage", ["dict", "pandas", "polars", "arrow", "dicts", "file"])
def test_rows_are_indexed_alike_in_every_storage(storage: str, tmp_path: Path) -> None:
    rows = LabelledRows.of(stored(storage, tmp_path), None if storage == "file" else "play")
    cut = rows.take(INDICES)
    assert len(rows) == 6
    assert cut.labels.tolist() == ["no", "yes", "yes"]
    model = weigh.NaiveBayes().fit(rows.data, rows.labels)
    whole = weigh.NaiveBayes().fit(TABLE, "play")
    np.testing.assert_array_equal(model.predict_proba(cut.data), whole.predict_proba(TABLE)[INDICES])


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix, sp.csc_matrix, sp.coo_array, pd.DataFrame])
def test_matrices_are_indexed_and_stay_numeric(make: Any) -> None:
    rows = LabelledRows.of(make(NUMBERS), [0, 1, 0, 1, 0, 1])
    cut = rows.take(INDICES).data
    assert rows.to_matrix() is not None
    np.testing.assert_array_equal(cut.toarray() if sp.issparse(cut) else np.asarray(cut), NUMBERS[INDICES])


def test_texts_are_indexed() -> None:
    rows = LabelledRows.of(("a b", "c", "d e"), ["x", "y", "x"])
    assert rows.take(np.array([2, 0])).data == ["d e", "a b"]
    assert rows.to_matrix() is None


def test_a_missing_label_raises_with_its_row() -> None:
    with pytest.raises(errors.LabelError, match=r"Row 1 \(the first is 0\) has no label"):
        LabelledRows.of({"x": [1.0, 2.0], "y": ["a", None]}, "y")


def test_the_encoder_has_one_column_per_number_and_level() -> None:
    rows = {"sky": TABLE["sky"], "warm": TABLE["warm"]}
    matrix = AsNumbers().fit(rows).transform(rows)
    assert matrix.shape == (6, 4)
    values = np.array([21.5, 12.0, 25.0, 9.5, 14.0])
    standardised = [column for column in matrix.T if len(set(column)) > 2]
    np.testing.assert_allclose(standardised[0][:5], (values - values.mean()) / values.std(), rtol=1e-12)
    assert standardised[0][5] == 0.0
    assert matrix[4, :].astype(bool).sum() == 1
    unseen = AsNumbers().fit(rows).transform({"sky": ["hail"], "warm": [values.mean()]})
    np.testing.assert_allclose(unseen, 0.0, atol=1e-12)


def test_words_are_encoded_as_a_sparse_matrix() -> None:
    texts = [f"word{i} word{i + 1}" for i in range(1000)]
    matrix = AsNumbers().fit(texts).transform(["word3 word3 unknown"])
    assert sp.issparse(matrix)
    assert matrix.shape == (1, 1001)
    assert matrix.sum() == 2.0


def test_learners_have_unique_names() -> None:
    assert list(learners_by_name(None, "compare")) == list(DEFAULT_LEARNERS)
    assert list(learners_by_name([weigh.NaiveBayes(), weigh.NaiveBayes(prior=2.0), "tree"], "compare")) == [
        "NaiveBayes",
        "NaiveBayes (2)",
        "tree",
    ]
    with pytest.raises(errors.ParameterError, match="there is no learner 'forest'"):
        learners_by_name("forest", "compare")
    with pytest.raises(errors.ParameterError, match="learners must be learners such as"):
        learners_by_name([42], "compare")
    for empty in ([], {}):
        with pytest.raises(errors.ParameterError, match="learners must be at least one learner"):
            learners_by_name(empty, "compare")


def prepared_learner(learner: Any, rows: LabelledRows) -> Any:
    return Candidate.of("it", learner, rows).learner


def test_only_learners_of_other_libraries_get_encoded_rows() -> None:
    words, numbers = LabelledRows.of(TABLE, "play"), LabelledRows.of(NUMBERS, [0, 1, 0, 1, 0, 1])
    assert isinstance(prepared_learner(KNeighborsClassifier(1), words), Pipeline)
    assert isinstance(prepared_learner(KNeighborsClassifier(1), numbers), KNeighborsClassifier)
    assert isinstance(prepared_learner(weigh.NaiveBayes(), words), weigh.NaiveBayes)
    tree = prepared_learner(DecisionTreeClassifier(), words).fit(words.data, words.labels)
    assert (tree.predict(words.data) == words.labels).all()


@pytest.mark.parametrize(
    "storage", ["array", "list", "dict", "dicts", "pandas", "polars", "arrow", "sparse", "file"]
)
def test_learners_of_other_libraries_get_the_same_matrix_from_every_storage(
    storage: str, tmp_path: Path
) -> None:
    table = {"a": NUMBERS[:, 0], "b": NUMBERS[:, 1] * 1000}
    matrix, labels = np.column_stack(list(table.values())), [0, 1, 0, 1, 0, 1]
    pd.DataFrame({**table, "y": labels}).to_csv(tmp_path / "it.csv", index=False)
    rows = [dict(zip(table, map(float, row), strict=True)) for row in matrix]
    args = {
        "array": (matrix, labels),
        "list": (matrix.tolist(), labels),
        "dict": (table, labels),
        "dicts": (rows, labels),
        "pandas": (pd.DataFrame(table), labels),
        "polars": (pl.DataFrame({**table, "y": labels}), "y"),
        "arrow": (pa.table({**table, "y": labels}), "y"),
        "sparse": (sp.coo_array(matrix), labels),
        "file": (weigh.open(tmp_path / "it.csv", label="y"),),
    }[storage]
    candidate = Candidate.of("it", KNeighborsClassifier(1), LabelledRows.of(*args))
    assert isinstance(candidate.learner, KNeighborsClassifier)
    data = candidate.rows.data
    np.testing.assert_array_equal(data.toarray() if sp.issparse(data) else data, matrix)


def test_missing_values_are_kept_for_learners_that_support_them() -> None:
    for data in ({"x": [1.0, None, 3.0, 4.0]}, np.array([[1.0], [np.nan], [3.0], [4.0]])):
        rows = LabelledRows.of(data, ["a", "b", "a", "b"])
        unchanged = Candidate.of("it", HistGradientBoostingClassifier(), rows)
        assert isinstance(unchanged.learner, HistGradientBoostingClassifier)
        np.testing.assert_array_equal(unchanged.rows.data, [[1.0], [np.nan], [3.0], [4.0]])
        encoded = Candidate.of("it", KNeighborsClassifier(1), rows)
        assert (
            format_settings(encoded.learner) == "AsNumbers(scale=None) + KNeighborsClassifier(n_neighbors=1)"
        )
        assert encoded.fit(np.array([0, 2, 3])).predict(rows).tolist() == ["a", "a", "a", "b"]


def test_only_non_default_settings_are_formatted() -> None:
    assert {name: format_settings(LEARNER_FACTORIES[name]()) for name in DEFAULT_LEARNERS} == {
        "naive-bayes": "",
        "logistic": "scale='unit'",
        "perceptron": "scale='unit'",
        "tree": "AsNumbers(scale=None) + DecisionTreeClassifier(random_state=0)",
        "neighbours": "AsNumbers() + KNeighborsClassifier()",
    }


def test_column_kinds_can_turn_codes_into_categories() -> None:
    codes = {"code": [1.0, 2.5, 3.0, 2.5]}
    assert AsNumbers(scale=None).fit(codes).transform(codes).shape == (4, 1)
    assert AsNumbers(columns={"code": "category"}).fit(codes).transform(codes).shape == (4, 3)


@pytest.mark.parametrize("name", [name for name in LEARNER_FACTORIES if name != "linear"])
def test_every_named_learner_fits_a_mixed_table(name: str) -> None:
    rows = LabelledRows.of(
        {"sky": ["sun", "rain", "fog"] * 4, "warm": [20.0, 9.0, 3.0] * 4, "play": ["yes", "no", "no"] * 4},
        "play",
    )
    learner = prepared_learner(LEARNER_FACTORIES[name](), rows).fit(rows.data, rows.labels)
    assert set(learner.predict(rows.data)) <= {"yes", "no"}
