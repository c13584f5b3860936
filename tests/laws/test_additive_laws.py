"""The laws for curves and pairs: storage, order of rows, weights, threads, files, what predicting imports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import settings as as_law
from hypothesis import strategies as st

import weigh
from tests.contract.test_imports import LEARNERS as LEARNING_LIBRARIES
from tests.contract.test_imports import modules_after
from weigh.learn import dataset
from weigh.model import parallel
from weigh.model.distributions.curve_weights import CurveWeights, PairWeights

# The laws compare fits as exact as rounding allows; the certificate adds a bound of the rounding.
pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.NotOptimal")

N = 240
CUTS = {"size": (-1.0, -0.2, 0.3, 1.1), "age": (20.0, 35.0, 50.0)}
LEARNERS: dict[str, Any] = {"late": weigh.LogisticRegression, "price": weigh.LinearRegression}
labels = pytest.mark.parametrize("label", LEARNERS)
PAIRS = [("size", "age"), ("age", "colour")]


def make_table(label: str) -> dict[str, list[Any]]:
    """Return two numbers (one with missing values), a category with missing values and the label."""
    rng = np.random.default_rng(7)
    size, age = rng.normal(size=N).round(3), rng.integers(18, 70, N) + 0.5
    colour = [None if i % 13 == 5 else ["red", "blue", "grün"][i * 7 // 4 % 3] for i in range(N)]
    price = np.sin(2 * size) + np.where(age > 40, size, 0) + 0.5 * rng.normal(size=N)
    target: Any = price if label == "price" else np.where(price > 0, "yes", "no")
    return {
        "size": [None if i % 17 == 3 else float(x) for i, x in enumerate(size)],
        "age": age.tolist(),
        "colour": colour,
        label: target.tolist(),
    }


def fit(data: Any, label: str | None, which: str, weights: Any = None, **settings: Any) -> Any:
    settings = {"curves": "auto", "pairs": PAIRS, "tol": 1e-12, **settings}
    return LEARNERS[which](**settings).fit(data, label, sample_weight=weights).model_


def check_same(one: Any, two: Any, tolerance: float = 1e-6) -> None:
    """Assert that two models have the same features, heights, strengths and objective up to a tolerance."""
    assert one.features == two.features
    for a, b in zip(one.terms, two.terms, strict=True):
        np.testing.assert_allclose(a.trained_weights(), b.trained_weights(), atol=tolerance)
        if isinstance(a, CurveWeights | PairWeights):
            np.testing.assert_allclose(a.counts, b.counts, rtol=1e-12)
            np.testing.assert_allclose(a.strengths, b.strengths, rtol=100 * tolerance)
            np.testing.assert_allclose(a.errors, b.errors, atol=tolerance, rtol=100 * tolerance)
    np.testing.assert_allclose(one.base, two.base, atol=tolerance)
    assert two.certificate.objective == pytest.approx(one.certificate.objective, rel=1e-6)


def rows(table: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [{name: values[i] for name, values in table.items()} for i in range(len(table["age"]))]


STORAGES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "list of dicts": rows,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "Arrow": pa.table,
    "Arrow in pieces": lambda t: pa.concat_tables([pa.table(t).slice(0, 100), pa.table(t).slice(100)]),
}


@labels
@pytest.mark.parametrize("storage", STORAGES)
def test_tables_give_the_same_model(label: str, storage: str) -> None:
    table = make_table(label)
    check_same(fit(table, label, label), fit(STORAGES[storage](table), label, label))


@labels
@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_csv_file_gives_the_same_model(
    label: str, is_streamed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_streamed:
        monkeypatch.setattr(dataset, "MAX_CACHED_BYTES", 0)
    table = make_table(label)
    path = tmp_path / "table.csv"
    pd.DataFrame(table).to_csv(path, index=False)
    check_same(fit(table, label, label), fit(weigh.open(path, label=label), None, label))


@labels
def test_a_bare_array_gives_the_same_curves_as_a_table(label: str) -> None:
    table = make_table(label)
    array = np.array([[np.nan if x is None else x for x in table["size"]], table["age"]]).T
    target = np.array(table[label])
    one = fit(array, target, label, pairs=None)
    named = {"x0": array[:, 0], "x1": array[:, 1], label: target}
    two = fit(named, label, label, pairs=None)
    for a, b in zip(one.terms, two.terms, strict=True):
        np.testing.assert_allclose(a.table, b.table, atol=1e-6)
    np.testing.assert_array_equal(np.asarray(one.predict(array)), np.asarray(two.predict(named)))


@labels
@pytest.mark.parametrize("seed", [0, 1])
def test_the_order_of_the_rows_does_not_matter(label: str, seed: int) -> None:
    table = make_table(label)
    order = np.random.default_rng(seed).permutation(N)
    shuffled = {name: [values[i] for i in order] for name, values in table.items()}
    check_same(fit(table, label, label), fit(shuffled, label, label), 1e-5)


@labels
def test_the_order_of_the_columns_does_not_matter(label: str) -> None:
    table = make_table(label)
    one, two = (fit(t, label, label, tol=1e-13) for t in (table, dict(reversed(table.items()))))
    heights = [
        {t.name: t.trained_weights() for t in model.terms if hasattr(t, "name")} for model in (one, two)
    ]
    assert heights[0].keys() == heights[1].keys()
    for name in heights[0]:
        np.testing.assert_allclose(heights[0][name], heights[1][name], atol=1e-5)


@labels
def test_whole_weights_are_repeated_rows_for_given_cells_and_strengths(label: str) -> None:
    # The mean positions of the cells must be the same too, hence one value per cell.
    rng = np.random.default_rng(3)
    middle = {
        name: np.array([c[0] - 1, *((np.array(c[1:]) + c[:-1]) / 2), c[-1] + 1]) for name, c in CUTS.items()
    }
    table: dict[str, Any] = {name: rng.choice(values, N) for name, values in middle.items()}
    score = table["size"] + (table["age"] > 40) + rng.normal(size=N)
    table[label] = score if label == "price" else np.where(score > 0.5, "yes", "no")
    weights = rng.integers(0, 4, N)
    repeated = {name: np.repeat(values, weights) for name, values in table.items()}
    columns = {name: weigh.Curve(bins=cuts, smooth=2.0) for name, cuts in CUTS.items()}
    settings = {"columns": columns, "pairs": None}
    one = fit(table, label, label, weights, **settings)
    two = fit(repeated, label, label, **settings)
    if label == "late":
        check_same(one, two)
    else:  # the noise and the strengths that are chosen depend on the number of rows
        for a, b in zip(one.terms, two.terms, strict=True):
            np.testing.assert_array_equal(a.counts, b.counts)
            np.testing.assert_allclose(a.table, b.table, atol=0.05)


@labels
def test_repetition_gives_the_same_bytes_and_threads_the_same_model(
    label: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make_table(label)
    first = fit(table, label, label)
    assert fit(table, label, label).to_bytes() == first.to_bytes()
    monkeypatch.setattr(parallel, "available_cores", lambda: 3)
    monkeypatch.setattr("weigh.learn.additive.preconditioner.available_cores", lambda: 3)
    check_same(first, fit(table, label, label))


@labels
def test_a_saved_model_predicts_the_same_and_has_the_same_bytes(label: str, tmp_path: Path) -> None:
    table = make_table(label)
    model = fit(table, label, label)
    model.save(tmp_path / "model.weigh")
    loaded = weigh.load(tmp_path / "model.weigh")
    assert loaded.to_bytes() == model.to_bytes()
    if label == "price":
        for one, two in zip(
            model.predict(table, return_std=True), loaded.predict(table, return_std=True), strict=True
        ):
            np.testing.assert_array_equal(one, two)
    else:
        np.testing.assert_array_equal(model.predict_proba(table), loaded.predict_proba(table))
    assert str(loaded.explain(table)[0]) == str(model.explain(table)[0])


@labels
def test_predicting_with_a_saved_model_imports_no_learner(label: str, tmp_path: Path) -> None:
    path = tmp_path / "model.weigh"
    fit(make_table(label), label, label).save(path)
    row = {"size": 0.3, "age": 44.0, "colour": "red"}
    call = "model.predict(row, return_std=True)" if label == "price" else "model.predict_proba(row)"
    program = (
        f"import sys, weigh; model = weigh.load(sys.argv[1]); row = {row}; model.predict(row); {call};"
        "model.explain(row)"
    )
    loaded = modules_after(program, str(path))
    assert not LEARNING_LIBRARIES & {name.partition(".")[0] for name in loaded}
    assert not [
        name for name in loaded if name.startswith(("weigh.learn", "weigh.estimators", "weigh.engines"))
    ]


@labels
def test_contributions_sum_to_the_score(label: str) -> None:
    table = make_table(label)
    model = fit(table, label, label)
    features = {name: values for name, values in table.items() if name != label}
    scores = model.predict(features) if label == "price" else np.abs(np.diff(model.scores(features))[:, 0])
    sums = [sum(row.nats for row in evidence.table) for evidence in model.explain(features)]
    np.testing.assert_allclose(sums, scores, atol=1e-12)
    names = {row.feature for evidence in model.explain(features) for row in evidence.table}
    assert names == {"bias", "size", "age", "colour", "size × age", "age × colour"}


@labels
def test_a_missing_value_of_a_curve_has_its_own_height_and_other_missing_values_none(label: str) -> None:
    model = fit(make_table(label), label, label)
    size, age, colour = model.terms[:3]
    row = {"size": [None], "age": [44.0], "colour": [None]}
    expected = model.base + size.table[-1] + age.table[np.searchsorted(age.cuts, 44.0)]
    found = model.predict(row) if label == "price" else model.scores(row)[0]
    np.testing.assert_allclose(np.diff(found), np.diff(expected), atol=1e-12)
    if label == "price":
        np.testing.assert_allclose(found, expected, atol=1e-12)
    assert size.table[-1].any()
    assert not colour.table[-1].any()


@as_law(max_examples=25, derandomize=True, deadline=None, database=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 60),
    d=st.integers(1, 3),
    label=st.sampled_from(["late", "price"]),
    monotone=st.sampled_from([None, "up", "down"]),
    has_pair=st.booleans(),
)
def test_random_tables_give_certified_monotone_models(
    seed: int, n: int, d: int, label: str, monotone: str | None, has_pair: bool
) -> None:
    rng = np.random.default_rng(seed)
    table: dict[str, Any] = {f"x{j}": rng.normal(size=n).round(int(rng.integers(0, 4))) for j in range(d)}
    table["x0"] = np.where(rng.random(n) < 0.2, np.nan, table["x0"])
    score = np.nan_to_num(table["x0"]) * rng.normal() + rng.normal(size=n)
    table[label] = score if label == "price" else np.where(np.argsort(np.argsort(score)) < n / 2, "a", "b")
    columns: dict[str, Any] = {f"x{j}": weigh.Curve() for j in range(d)}
    columns["x0"] = weigh.Curve(monotone=monotone)
    pairs = [("x0", "x1")] if has_pair and d > 1 and len(set(table["x1"])) > 1 else None
    has_two = len(set(table["x0"][~np.isnan(table["x0"])])) > 1
    model = fit(table, label, label, columns=columns, pairs=pairs if has_two else None, tol=1e-8)
    assert model.certificate.converged
    increments = np.diff(model.terms[0].table[:-1, -1])
    assert monotone is None or ((increments if monotone == "up" else -increments) >= -1e-12).all()
    for term in model.terms:
        assert np.abs(term.counts @ term.table).max() <= 1e-9 * max(term.counts.sum(), 1)
