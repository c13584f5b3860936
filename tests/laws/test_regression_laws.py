"""Laws 5, 7, 8, 9 and 10 for regressions: certificates, storage, threads, missing values, bad input."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import settings as as_law
from hypothesis import strategies as st
from scipy import sparse

import weigh
from weigh import errors
from weigh.learn import dataset
from weigh.model import parallel

law = as_law(max_examples=25, derandomize=True, deadline=None, database=None)
CLOSE = 1e-8
N = 60

LINEAR: dict[str, dict[str, Any]] = {
    "least squares": {},
    "ridge": {"prior": 0.5},
    "ridge without bias, in units": {"prior": 0.5, "bias": False, "scale": "unit"},
    "ridge around an offset": {"prior": weigh.Normal(0.5, mean=0.3), "offset": "size", "scale": "unit"},
    "evidence": {"prior": weigh.Normal("evidence")},
    "by column": {"prior": {"size": 0.5, "colour": weigh.Normal(0.2)}, "noise": weigh.Normal(1)},
    "lasso": {"prior": weigh.Penalty(l1=2), "tol": 1e-14},
    "elastic net": {"prior": weigh.Penalty(l1=2, l2=1), "tol": 1e-14},
    "absolute": {"prior": weigh.Penalty(l1=0.5), "noise": "laplace", "tol": 1e-12},
}
CROSS_VALIDATED: dict[str, dict[str, Any]] = {"cross-validation": {"prior": weigh.Normal("cv"), "folds": 3}}
LOGISTIC: dict[str, dict[str, Any]] = {
    "normal": {"tol": 1e-13},
    "balanced, in units": {"scale": "unit", "class_weight": "balanced", "tol": 1e-13},
    "laplace": {"prior": weigh.Laplace(0.5), "tol": 1e-13, "max_iter": 10_000},
}


def columns() -> dict[str, list[Any]]:
    """Return a column of every kind that all storages support, with missing categories, and two labels."""
    rng = np.random.default_rng(3)
    size, year = rng.normal(size=N) * 3, rng.integers(1900, 2000, N)
    noise = rng.normal(size=N)
    return {
        "colour": [None if i % 11 == 5 else ["red", "blue", "grün"][i * 7 // 4 % 3] for i in range(N)],
        "size": size.tolist(),
        "known": rng.integers(0, 2, N).tolist(),
        "shape": [["round", "square"][i // 2 % 2] for i in range(N)],
        "year": year.tolist(),
        "price": (size * 2 + (year - 1950) / 10 + noise).tolist(),
        "late": np.where(size + noise > 0, "yes", "no").tolist(),
    }


def without(label: str) -> dict[str, list[Any]]:
    return {name: values for name, values in columns().items() if name != label}


def rows(table: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [{name: values[i] for name, values in table.items()} for i in range(N)]


def json_lines(table: dict[str, list[Any]], path: Path) -> None:
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows(table))
    path.write_text("".join(lines), encoding="utf-8")


def chunked_arrow(table: dict[str, list[Any]]) -> pa.Table:
    whole = pa.table(table)
    return pa.concat_tables([whole.slice(0, 7), whole.slice(7, 0), whole.slice(7, 31), whole.slice(38)])


TABLES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "list of dicts": rows,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "Arrow": pa.table,
    "Arrow in pieces": chunked_arrow,
}
FILES: dict[str, Callable[[dict[str, list[Any]], Path], None]] = {
    "table.csv": lambda table, path: pd.DataFrame(table).to_csv(path, index=False),
    "table.parquet": lambda table, path: pq.write_table(pa.table(table), path, row_group_size=13),
    "table.jsonl": json_lines,
}


def linear(data: Any, label: str | None = "price", **settings: Any) -> Any:
    return weigh.LinearRegression(**settings).fit(data, label).model_


def logistic(data: Any, label: str | None = "late", **settings: Any) -> Any:
    return weigh.LogisticRegression(**settings).fit(data, label).model_


def check_same(one: Any, two: Any, tolerance: float = CLOSE) -> None:
    """Assert that two models have the same features, weights, fit facts and posterior up to a tolerance."""
    assert one.features == two.features
    np.testing.assert_allclose(one.coef, two.coef, atol=tolerance, rtol=tolerance)
    np.testing.assert_allclose(one.intercept, two.intercept, atol=tolerance * 100, rtol=tolerance)
    expected, other = one.fit.to_dict(), two.fit.to_dict()
    for name, value in expected.items():
        if isinstance(value, float | list):
            assert other[name] == pytest.approx(value, rel=1e-6, abs=1e-9), name
        elif name != "scale_by":
            assert other[name] == value, name
    assert two.certificate.objective == pytest.approx(one.certificate.objective, rel=1e-7)
    assert two.certificate.null == pytest.approx(one.certificate.null, rel=1e-9)
    if one.posterior_source is not None:
        np.testing.assert_allclose(
            one.posterior.covariance, two.posterior.covariance, rtol=1e-6, atol=tolerance
        )
        assert two.posterior.intercept == pytest.approx(
            one.posterior.intercept, rel=tolerance, abs=tolerance * 100
        )
        assert two.posterior.intercept_sd == pytest.approx(one.posterior.intercept_sd, rel=1e-6)
        assert two.posterior.dof == one.posterior.dof


@pytest.mark.parametrize("storage", TABLES)
@pytest.mark.parametrize("which", LINEAR | CROSS_VALIDATED)
def test_tables_give_the_same_linear_regression(which: str, storage: str) -> None:
    settings, table = (LINEAR | CROSS_VALIDATED)[which], without("late")
    check_same(linear(table, **settings), linear(TABLES[storage](table), **settings))


@pytest.mark.parametrize("storage", TABLES)
@pytest.mark.parametrize("which", LOGISTIC)
def test_tables_give_the_same_logistic_regression(which: str, storage: str) -> None:
    settings, table = LOGISTIC[which], without("price")
    check_same(logistic(table, **settings), logistic(TABLES[storage](table), **settings), 1e-6)


@pytest.fixture
def streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cache no rows, so that files are read in chunks."""
    monkeypatch.setattr(dataset, "MAX_CACHED_BYTES", 0)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("which", LINEAR)
def test_files_give_the_same_linear_regression(which: str, name: str, tmp_path: Path) -> None:
    settings, table = LINEAR[which], without("late")
    FILES[name](table, tmp_path / name)
    check_same(
        linear(table, **settings), linear(weigh.open(tmp_path / name, label="price"), None, **settings)
    )


# The rounding errors of moments are part of the gap, and larger than the tolerance that equal weights need.
@pytest.mark.filterwarnings("ignore::weigh.errors.NotOptimal")
@pytest.mark.usefixtures("streamed")
@pytest.mark.parametrize("which", LINEAR)
def test_a_file_read_in_chunks_gives_the_same_linear_regression(which: str, tmp_path: Path) -> None:
    settings, table = LINEAR[which], without("late")
    path = tmp_path / "table.csv"
    pd.DataFrame(table).to_csv(path, index=False)
    again = linear(weigh.open(path, label="price"), None, **settings)
    check_same(linear(table, **settings), again, 1e-7 if "evidence" in which else CLOSE)
    assert again.fit.rows == N


@pytest.mark.usefixtures("streamed")
def test_a_file_of_targets_far_from_zero_is_fitted_without_a_prior(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": 1000 + X @ [2, -1] + rng.normal(size=500)})
    table.to_csv(tmp_path / "table.csv", index=False)
    streamed, in_memory = (linear(rows, "y") for rows in (weigh.open(tmp_path / "table.csv"), table))
    np.testing.assert_allclose(streamed.coef, in_memory.coef, rtol=1e-9)
    np.testing.assert_allclose(streamed.intercept, in_memory.intercept, rtol=1e-12)
    assert streamed.posterior.intercept == pytest.approx(in_memory.posterior.intercept, rel=1e-12)
    assert streamed.certificate.objective == pytest.approx(in_memory.certificate.objective, rel=1e-9)


@pytest.mark.usefixtures("streamed")
def test_weights_apply_to_a_file_read_in_chunks(tmp_path: Path) -> None:
    X, y, _ = matrices()
    X, sample_weight = np.abs(X), np.arange(N) % 3
    lines = (
        f"{float(label)!r} {weight} | " + " ".join(f"x{j}:{value!r}" for j, value in enumerate(row) if value)
        for label, weight, row in zip(y, sample_weight, X.tolist(), strict=True)
    )
    path = tmp_path / "rows.vw"
    path.write_text("\n".join(lines) + "\n")
    model = linear(weigh.open(path), None, prior=weigh.Penalty(l2=2))
    in_memory = weigh.LinearRegression(weigh.Penalty(l2=2)).fit(X, y, sample_weight)
    weights = dict(zip(model.features, model.coef, strict=True))
    np.testing.assert_allclose([weights[f"features: x{j}"] for j in range(6)], in_memory.coef_, rtol=1e-9)
    assert (model.fit.n, model.fit.rows) == (in_memory.model_.fit.n, in_memory.model_.fit.rows)
    assert model.fit.spread == pytest.approx(in_memory.model_.fit.spread)
    assert model.posterior.sigma == pytest.approx(in_memory.posterior_.sigma)


@pytest.mark.usefixtures("streamed")
def test_cross_validation_refuses_a_file_read_in_chunks(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame(without("late")).to_csv(path, index=False)
    with pytest.raises(errors.DataError) as error:
        linear(weigh.open(path, label="price"), None, prior=weigh.Normal("cv"))
    assert str(error.value) == (
        "Cross-validation needs the rows in memory, and the file is too large for that. Use "
        "scale='evidence', or give a number."
    )


@pytest.mark.usefixtures("streamed")
def test_a_file_read_in_chunks_gives_the_same_logistic_regression(tmp_path: Path) -> None:
    table = without("price")
    path = tmp_path / "table.csv"
    pd.DataFrame(table).to_csv(path, index=False)
    check_same(logistic(table, tol=1e-13), logistic(weigh.open(path, label="late"), None, tol=1e-13), 1e-6)


def matrices() -> tuple[Any, Any, dict[str, Any]]:
    rng = np.random.default_rng(5)
    X = np.round(rng.normal(size=(N, 6)) * 8) * (rng.random((N, 6)) < 0.5)
    y = X @ rng.normal(size=6) + rng.normal(size=N)
    wide = np.zeros((N, 12))
    wide[:, ::2] = X
    return (
        X,
        y,
        {
            "Fortran order": np.asfortranarray(X),
            "every other column": wide[:, ::2],
            "backwards twice": X[::-1][::-1],
            "whole numbers": X.astype(int),
            "single precision": X.astype(np.float32),
            "compressed rows": sparse.csr_array(X),
            "compressed columns": sparse.csc_matrix(X),
            "coordinates": sparse.coo_array(X),
            "lists": X.tolist(),
        },
    )


@pytest.mark.parametrize("storage", matrices()[2])
@pytest.mark.parametrize(
    "which", [name for name in LINEAR | CROSS_VALIDATED if "offset" not in name and "column" not in name]
)
def test_matrices_give_the_same_linear_regression(which: str, storage: str) -> None:
    X, y, others = matrices()
    settings = (LINEAR | CROSS_VALIDATED)[which]
    check_same(
        linear(X, y, **settings), linear(others[storage], y, **settings), 1e-6 if "evid" in which else CLOSE
    )


@pytest.mark.parametrize("storage", matrices()[2])
@pytest.mark.parametrize("classes", [2, 3])
def test_matrices_give_the_same_logistic_regression(classes: int, storage: str) -> None:
    X, y, others = matrices()
    labels = np.digitize(y, np.quantile(y, [0.4, 0.7][: classes - 1]))
    prior = weigh.Normal(1) if classes == 3 else weigh.Penalty(l1=1, l2=0.5)
    settings = {"prior": prior, "tol": 1e-13, "max_iter": 10_000}
    check_same(logistic(X, labels, **settings), logistic(others[storage], labels, **settings), 1e-5)


def random_rows(seed: int, n: int, d: int, spread: float) -> tuple[Any, Any]:
    """Return rows of columns on different scales, some of them duplicate or constant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * spread ** rng.uniform(-1, 1, d)
    if d > 2 and seed % 3 == 0:
        X[:, 1] = X[:, 0] * 2
    if d > 1 and seed % 4 == 0:
        X[:, -1] = 7.0
    return X, X @ rng.normal(size=d) + rng.normal(size=n)


def check_certificate_or_warning(learner: Any, X: Any, y: Any) -> None:
    """Assert law 5: the duality gap is within the tolerance, or a warning says that it is not."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = learner.fit(X, y)
    proof = fitted.certificate_
    assert proof.gap >= 0
    assert proof.converged == (
        proof.gap <= proof.tol * proof.null or (proof.null == 0 and proof.gap <= proof.tol)
    )
    warned = [warning for warning in caught if issubclass(warning.category, errors.NotOptimal)]
    assert len(warned) == (not proof.converged)


PRIORS = [None, 0.3, weigh.Penalty(l1=1.0), weigh.Penalty(l1=0.3, l2=0.5), {"x0": weigh.Penalty(l1=0.5)}]


@law
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(3, 30),
    d=st.integers(1, 8),
    spread=st.sampled_from([1.0, 1e3]),
    prior=st.sampled_from(PRIORS),
    noise=st.sampled_from([weigh.Normal(1), weigh.Laplace(1)]),
    max_iter=st.sampled_from([1, 5, 10_000]),
)
def test_a_linear_regression_converges_or_warns(
    seed: int, n: int, d: int, spread: float, prior: Any, noise: Any, max_iter: int
) -> None:
    X, y = random_rows(seed, n, d, spread)
    check_certificate_or_warning(weigh.LinearRegression(prior, noise, max_iter=max_iter), X, y)


@law
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(6, 30),
    d=st.integers(1, 6),
    prior=st.sampled_from(PRIORS[1:]),
    classes=st.integers(2, 3),
    max_iter=st.sampled_from([1, 5, 1000]),
)
def test_a_logistic_regression_converges_or_warns(
    seed: int, n: int, d: int, prior: Any, classes: int, max_iter: int
) -> None:
    X, y = random_rows(seed, n, d, 3.0)
    labels = np.argsort(np.argsort(y)) * classes // n
    check_certificate_or_warning(weigh.LogisticRegression(prior, max_iter=max_iter), X, labels)


@law
@given(
    seed=st.integers(0, 10**6),
    l1=st.floats(0, 3),
    l2=st.floats(0.1, 3),
    noise=st.sampled_from(["normal", "laplace"]),
)
def test_no_objective_is_below_the_certified_lower_bound(seed: int, l1: float, l2: float, noise: str) -> None:
    X, y = random_rows(seed, 20, 4, 2.0)
    proof = weigh.LinearRegression(weigh.Penalty(l1=l1, l2=l2), noise, tol=1e-3).fit(X, y).certificate_
    best = weigh.LinearRegression(weigh.Penalty(l1=l1, l2=l2), noise, tol=1e-12).fit(X, y)
    rng = np.random.default_rng(seed)
    for w in best.coef_ + rng.normal(size=(20, 4)) * 10.0 ** -rng.uniform(1, 8, (20, 1)):
        residuals = y - X @ w - best.intercept_
        loss = np.abs(residuals).sum() if noise == "laplace" else 0.5 * np.square(residuals).sum()
        value = float(loss) + l1 * float(np.abs(w).sum()) + 0.5 * l2 * float(np.square(w).sum())
        assert value >= proof.objective - proof.gap - 1e-9 * proof.null


@pytest.mark.parametrize("cores", [1, 3])
@pytest.mark.parametrize("which", LINEAR | CROSS_VALIDATED)
def test_threads_and_repetition_do_not_change_linear_regression(
    which: str, cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, table = (LINEAR | CROSS_VALIDATED)[which], without("late")
    first = linear(table, **settings)
    assert linear(table, **settings).to_bytes() == first.to_bytes()
    monkeypatch.setattr(parallel, "available_cores", lambda: cores)
    monkeypatch.setattr("weigh.learn.linear.path.available_cores", lambda: cores)
    check_same(first, linear(table, **settings))


@pytest.mark.parametrize("cores", [1, 3])
@pytest.mark.parametrize("which", LOGISTIC)
def test_threads_do_not_change_logistic_regression(
    which: str, cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, table = LOGISTIC[which], without("price")
    first = logistic(table, **settings)
    assert logistic(table, **settings).to_bytes() == first.to_bytes()
    monkeypatch.setattr(parallel, "available_cores", lambda: cores)
    check_same(first, logistic(table, **settings), 1e-6)


@pytest.mark.filterwarnings("ignore::weigh.errors.MissingNumbers")
@law
@given(size=st.floats(-100, 100), colour=st.sampled_from(["red", "blue", "grün"]))
def test_missing_and_unseen_values_contribute_nothing(size: float, colour: str) -> None:
    row = {"colour": colour, "size": size, "known": 1, "shape": "round", "year": 1950}
    for model in (PRICE, LATE):
        weights = dict(zip(model.features, model.coef, strict=True))
        whole = total(model, row)
        for gap in (None, "violet"):
            without = whole - weights[f"colour={colour}"]
            assert total(model, row | {"colour": gap}) == pytest.approx(without, abs=1e-8)
        assert total(model, row | {"size": None}) == pytest.approx(whole - weights["size"] * size, abs=1e-8)
        evidence = model.explain(row | {"colour": None, "size": None})[0]
        assert not any(each.nats for each in evidence.table if each.feature in ("colour", "size"))


def total(model: Any, row: dict[str, Any]) -> float:
    """Return the prediction or the log-odds."""
    return float(model.predict(row)[0] if model is PRICE else model.scores(row)[0, 1])


PRICE, LATE = linear(without("late"), prior=1.0), logistic(without("price"))


def test_missing_categories_train_like_rows_without_levels() -> None:
    table = without("late")
    flags = [[float(value == level) for value in table["colour"]] for level in ("blue", "grün", "red")]
    by_hand = {f"colour={level}": flag for level, flag in zip(("blue", "grün", "red"), flags, strict=True)}
    names = ("size", "known", "year", "price")
    two = linear(by_hand | {name: table[name] for name in names}, prior=0.5)
    one = linear({"colour": table["colour"]} | {name: table[name] for name in names}, prior=0.5)
    weights = dict(zip(two.features, two.coef, strict=True))
    np.testing.assert_allclose(one.coef, [weights[name] for name in one.features], atol=1e-8)


BAD: dict[str, tuple[Any, Any]] = {
    "no rows": (np.zeros((0, 3)), []),
    "labels that are too few": (np.ones((3, 2)), [1, 2]),
    "infinity": ([[1.0, np.inf], [2.0, 1.0], [1.0, 3.0]], [1, 2, 2]),
    "numbers beyond squares": ([[1.0, 1e200], [2.0, 1.0], [1.0, 3.0]], [1, 2, 2]),
    "a label that is missing": ([[1.0], [2.0], [3.0]], [1.0, np.nan, 2.0]),
    "no labels": ([[1.0], [2.0]], None),
    "a column of another width": ([[1.0, 2.0], [3.0]], [1, 2]),
    "an unknown label column": ({"a": [1.0, 2.0]}, "b"),
    "several labels a row": ([[1.0], [2.0]], [[1, 2], [2, 1]]),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize(
    "learner",
    [weigh.LinearRegression(), weigh.LogisticRegression(), weigh.LogisticRegression(method="online")],
    ids=["linear", "logistic", "online"],
)
def test_bad_input_leaves_a_learner_unchanged(learner: Any, case: str) -> None:
    X, y, _ = matrices()
    fitted = learner.fit(X, (y > 0).astype(int))
    before, names = fitted.model_.to_bytes(), dict(vars(fitted))
    data, label = BAD[case]
    with pytest.raises(errors.WeighError) as error:
        fitted.fit(data, label)
    assert str(error.value)
    assert fitted.model_.to_bytes() == before
    assert vars(fitted).keys() == names.keys()
    np.testing.assert_array_equal(fitted.predict(X[:2]), learner.predict(X[:2]))


@pytest.mark.parametrize(
    "learner", [weigh.LinearRegression(), weigh.LogisticRegression()], ids=["linear", "logistic"]
)
def test_rows_that_do_not_fit_the_model_are_refused(learner: Any) -> None:
    X, y, _ = matrices()
    fitted = learner.fit(X, (y > 0).astype(int))
    for wrong in (X[:, :5], np.column_stack([X, X]), {"colour": ["red"]}, [[np.inf] * 6]):
        with pytest.raises(errors.DataError):
            fitted.predict(wrong)
