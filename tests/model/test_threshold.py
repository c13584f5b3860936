"""The threshold model: optimal cuts, ties, missing values, files and errors."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

import weigh
from weigh import errors
from weigh.engines import run
from weigh.learn import ThresholdTask

NUMBERS = st.one_of(st.none(), st.sampled_from([-2.0, 0.0, 1.0, 1.5, 7.0]))
ROWS = st.lists(st.tuples(NUMBERS, NUMBERS, st.sampled_from("abc")), min_size=1, max_size=12)


@parametrize_with_checks([weigh.Threshold()])
def test_the_estimator_passes_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def brute_force(columns: list[list[float]], y: list[Any], weights: list[int]) -> tuple[Any, ...]:
    """Return (mistakes, column, −width, low, high) of the best of all cuts."""
    cuts = []
    for j, column in enumerate(columns):
        values = sorted({x for x, w in zip(column, weights, strict=True) if x is not None and w})
        for low, high in zip(values, [*values[1:], np.inf], strict=True):
            sides: dict[Any, Counter[Any]] = {True: Counter(), False: Counter(), None: Counter()}
            for x, label, w in zip(column, y, weights, strict=True):
                sides[None if x is None else x > low][label] += w
            mistakes = sum(side.total() - max(side.values(), default=0) for side in sides.values())
            # A cut above all values does not split the rows; only constant columns use it.
            if high < np.inf or len(values) == 1:
                cuts.append((mistakes, j, -(high - low), low, high))
    return min(cuts)


@settings(max_examples=150, derandomize=True, deadline=None, database=None)
@given(ROWS, st.data())
def test_no_other_cut_is_better(rows: list[tuple[Any, ...]], data: Any) -> None:
    columns = [[row[0] for row in rows], [row[1] for row in rows]]
    y = [row[2] for row in rows]
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    for column in columns:
        if not any(w and x is not None for x, w in zip(column, weights, strict=True)):
            return
    learner = weigh.Threshold(columns={"u": "number", "v": "number"})
    learner.fit({"u": columns[0], "v": columns[1]}, y, sample_weight=weights)
    mistakes, j, _, low, high = brute_force(columns, y, weights)
    assert learner.model_.mistakes == mistakes
    assert learner.column_ == "uv"[j]
    assert learner.interval_ == (low, high)
    assert low <= learner.threshold_ < high
    predicted = learner.predict({"u": columns[0], "v": columns[1]})
    assert sum(w for a, b, w in zip(predicted, y, weights, strict=True) if a != b) == mistakes


def test_ties_go_to_the_first_column_then_the_widest_then_the_lowest_interval() -> None:
    y = ["a", "b", "a", "b"]
    table = {"p": [1, 2, 4, 6], "q": [1, 2, 4, 6]}
    stump = weigh.Threshold().fit(table, y)
    assert (stump.column_, stump.interval_) == ("p", (4, 6))
    assert weigh.Threshold().fit({"p": [0, 1, 5, 6]}, ["a", "b", "a", "b"]).interval_ == (0, 1)


def test_either_orientation_and_many_classes() -> None:
    stump = weigh.Threshold().fit({"x": [1, 2, 3, 4, 5, 6]}, ["c", "c", "a", "b", "b", "b"])
    assert stump.interval_ in [(2, 3), (3, 4)]
    assert stump.predict({"x": [0, 9]}).tolist() == ["c", "b"]


def test_missing_values_predict_the_majority_of_missing_rows_or_of_all_rows() -> None:
    with_gaps = weigh.Threshold().fit({"x": [1.0, 2.0, None, None]}, ["a", "b", "c", "c"])
    assert with_gaps.predict({"x": [None]}).tolist() == ["c"]
    without = weigh.Threshold().fit({"x": [1.0, 2.0, 3.0]}, ["a", "b", "b"])
    assert without.predict_proba({"x": [np.nan]})[0] == pytest.approx([2 / 5, 3 / 5])
    assert "missing" in str(without.explain({"x": None})[0])


def test_flags_codes_and_numbers_are_candidates_and_strings_are_not() -> None:
    table = {"name": ["a", "b", "c", "d"], "on": [True, False, True, False], "code": [1, 2, 3, 4]}
    assert weigh.Threshold().fit(table, [1, 0, 1, 0]).column_ == "on"
    assert weigh.Threshold().fit(table, [0, 0, 1, 1]).column_ == "code"
    assert weigh.Threshold(columns={"on": "category"}).fit(table, [1, 0, 1, 0]).column_ == "code"


def test_derived_columns_are_candidates(tmp_path: Any) -> None:
    table = {"a": [1.0, 2.0, 3.0, 4.0], "b": [1.0, 3.0, 2.0, 9.0]}
    columns = {
        "more": weigh.Derived(lambda rows: rows["a"] - rows["b"], "number"),
        "kept": weigh.Lag("a", 1, "category"),
    }
    stump = weigh.Threshold(columns=columns).fit(table, [0, 0, 1, 0])
    assert (stump.column_, stump.threshold_) == ("more", 0.5)
    stump.model_.save(tmp_path / "cut.weigh")
    loaded = weigh.load(tmp_path / "cut.weigh", derived={"more": lambda rows: rows["a"] - rows["b"]})
    assert loaded.predict(table).tolist() == [0, 0, 1, 0]


def test_storage_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, size=(60, 4)) * (rng.random((60, 4)) < 0.6)
    y = X[:, 2] + rng.integers(0, 2, 60) > 3
    forms: list[Any] = [X, X.astype(float), sparse.csr_matrix(X), sparse.coo_array(X)]
    assert len({weigh.Threshold().fit(form, y).model_.to_bytes() for form in forms}) == 1
    frame = pd.DataFrame(X, columns=list("abcd"))
    frames: list[Any] = [frame, pl.from_pandas(frame), frame.to_dict("list")]
    assert len({weigh.Threshold().fit(form, y).model_.to_bytes() for form in frames}) == 1


def test_the_order_of_rows_threads_and_chunks_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150_000, 3)), rng.integers(0, 3, 150_000)
    weights = rng.random(150_000)
    source = weigh.rows(X, y, weights)
    task = ThresholdTask.for_source(source)
    one = run(task, source, threads=1)
    assert run(task, source, threads=4).to_bytes() == one.to_bytes()
    counts = [task.count(chunk)[0] for chunk in task.schema.chunks(source)]
    assert task.finish(counts[::-1]).to_bytes() == one.to_bytes()
    order = rng.permutation(len(y))
    shuffled = weigh.Threshold().fit(X[order], y[order], weights[order]).model_
    assert (shuffled.column, shuffled.interval) == (one.column, one.interval)


def test_integer_weights_equal_repeated_rows() -> None:
    X, y, weights = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1], [3, 0, 1, 2]
    weighted = weigh.Threshold().fit(X, y, sample_weight=weights)
    repeated = weigh.Threshold().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    models = (replace(each.model_, training_rows=None) for each in (weighted, repeated))
    assert len({model.to_bytes() for model in models}) == 1


def test_only_the_column_that_is_cut_is_needed_to_predict() -> None:
    stump = weigh.Threshold().fit({"a": [1, 2, 3], "b": [5.5, 5.5, 1.5], "t": ["u", "v", "w"]}, [0, 0, 1])
    assert stump.column_ == "a"
    assert stump.model_.predict({"a": [1, 9]}).tolist() == [0, 1]


@pytest.mark.parametrize(
    "values",
    [
        [1.0, 1.0 + 2**-52],
        [1.0 + 2**-52, 1.0 + 2**-51],
        [-1.7e308, 1.7e308],
        [5e-324, 1e-323],
        [-5e-324, 0.0],
    ],
)
def test_the_cut_lies_in_its_interval_for_extreme_floats(values: list[float]) -> None:
    stump = weigh.Threshold().fit({"x": values}, ["a", "b"])
    assert stump.interval_ == tuple(values)
    assert values[0] <= stump.threshold_ < values[1]
    assert stump.predict({"x": values}).tolist() == ["a", "b"]


def test_a_constant_column_is_cut_at_its_value() -> None:
    stump = weigh.Threshold().fit({"x": [2.0, 2.0, 2.0]}, ["a", "b", "b"])
    assert (stump.threshold_, stump.interval_) == (2.0, (2.0, np.inf))
    assert stump.predict({"x": [-5.0, 2.0, 7.0]}).tolist() == ["b", "b", "b"]
    empty = weigh.Threshold(columns="number").fit({"x": [None, None]}, ["a", "a"])
    assert empty.predict({"x": [1.0, None]}).tolist() == ["a", "a"]


def test_contributions_sum_to_the_score() -> None:
    model = weigh.Threshold().fit({"x": [1.0, 2.0, None, 4.0]}, ["a", "b", "b", "c"]).model_
    rows = {"x": [0.0, 3.0, None]}
    for evidence, score in zip(model.explain(rows), model.scores(rows), strict=True):
        by_class = dict(zip(model.classes, score, strict=True))
        assert evidence.total == pytest.approx(by_class[evidence.verdict] - by_class[evidence.runner_up])
        assert len(evidence.table) == 2
        assert sum(evidence.probabilities.values()) == pytest.approx(1)
    assert np.exp(model.scores(rows)).sum(axis=1) == pytest.approx([1, 1, 1])


def test_a_model_is_saved_and_loaded(tmp_path: Any) -> None:
    for table in (
        {"x": [1.0, 2.0, None], "s": ["u", "v", "w"]},
        {"x": [1.0, 1.0, 1.0], "s": ["u", "v", "w"]},
    ):
        model = weigh.Threshold().fit(table, [True, False, True]).model_
        model.save(tmp_path / "cut.weigh")
        loaded = weigh.load(tmp_path / "cut.weigh")
        assert isinstance(loaded, weigh.ThresholdModel)
        assert loaded.to_bytes() == model.to_bytes()
        assert (loaded.column, loaded.cut, loaded.interval) == (model.column, model.cut, model.interval)


def test_a_file_with_a_cut_outside_its_interval_is_rejected(tmp_path: Any) -> None:
    model = weigh.Threshold().fit({"x": [1.0, 2.0]}, ["a", "b"]).model_
    object.__setattr__(model, "cut", 3.0)
    model.save(tmp_path / "bad.weigh")
    with pytest.raises(errors.ModelFileError, match="its cut lies outside its interval"):
        weigh.load(tmp_path / "bad.weigh")


def test_a_stored_model_predicts_without_scikit_learn_or_scipy(tmp_path: Any) -> None:
    weigh.Threshold().fit({"x": [1.0, 2.0]}, ["a", "b"]).model_.save(tmp_path / "cut.weigh")
    code = (
        f"import sys, weigh; m = weigh.load({str(tmp_path / 'cut.weigh')!r}); m.predict({{'x': 1.0}});"
        "print([n for n in ('sklearn', 'scipy', 'pyarrow', 'pandas') if n in sys.modules])"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "[]"


def test_a_table_without_numbers_is_rejected() -> None:
    with pytest.raises(errors.DataError, match=r"no numeric column to split.*'s'.*NaiveBayes"):
        weigh.Threshold().fit({"s": ["a", "b"]}, [0, 1])


def test_a_string_in_a_numeric_column_is_missing_in_predict() -> None:
    stump = weigh.Threshold().fit({"x": [1.0, 2.0]}, ["a", "b"])
    with pytest.warns(
        errors.OddCells, match="1 of 1 cells is not a number and is treated as missing: 'many'"
    ):
        stump.predict({"x": ["many"]})


def test_a_hundred_thousand_rows_of_thirty_columns_are_fitted_quickly() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 30))
    y = X[:, 7] + rng.normal(size=100_000) > 0.3
    start = time.perf_counter()
    stump = weigh.Threshold().fit(X, y)
    # A generous bound for busy machines; 0.3 s on two quiet cores.
    assert time.perf_counter() - start < 3
    assert stump.column_ == "x7"
    assert stump.threshold_ == pytest.approx(0.3, abs=0.1)
