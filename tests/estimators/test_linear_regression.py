"""LinearRegression: the meaning of every parameter, results, errors and warnings."""

from __future__ import annotations

import copy
import math
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

import weigh
from weigh import errors

# The columns of the rows have different scales on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.UnlikeScales")

N, D = 60, 4
NAMES = ["a", "b", "c", "d"]
NUMBERS = ["weight", "error", "ratio", "tails", "low", "high"]


def make_rows(n: int = N, d: int = D, seed: int = 0) -> tuple[Any, Any]:
    """Return rows with columns of different scales, and targets that depend on them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.geomspace(0.1, 10, d) + np.arange(d)
    return X, X @ np.arange(1.0, d + 1) + 3 + rng.normal(size=n)


X, Y = make_rows()
TABLE = {**{name: X[:, j] for j, name in enumerate(NAMES)}, "y": Y}


def fitted(prior: Any = None, **params: Any) -> Any:
    """Fit a model in the units of the table, unless a scale is given."""
    return weigh.LinearRegression(prior, **({"scale": None} | params)).fit(TABLE, "y")


def ridge(l2: Any, *, bias: bool = True, y: Any = Y, rows: Any = X, weights: Any = None) -> tuple[Any, float]:
    """Minimise ½ Σ s (y − w·x − b)² + ½ Σ l2 w² by the normal equations; return weights and bias."""
    s = np.ones(len(y)) if weights is None else weights
    m, mean = (s @ rows / s.sum(), s @ y / s.sum()) if bias else (np.zeros(rows.shape[1]), 0.0)
    A = (rows - m) * np.sqrt(s)[:, None]
    w = np.linalg.solve(A.T @ A + np.diag(np.broadcast_to(l2, len(m))), A.T @ ((y - mean) * np.sqrt(s)))
    return w, float(mean - m @ w)


def check(model: Any, expected: tuple[Any, float], rtol: float = 1e-9) -> None:
    np.testing.assert_allclose(model.coef_, expected[0], rtol=rtol, atol=1e-12)
    assert model.intercept_ == pytest.approx(expected[1], rel=rtol, abs=1e-9)


def test_without_a_prior_it_is_least_squares() -> None:
    check(fitted(), ridge(0.0))
    check(fitted(bias=False), ridge(0.0, bias=False))
    assert fitted(bias=False).intercept_ == 0


@pytest.mark.parametrize("bias", [True, False])
def test_a_normal_prior_is_ridge_of_the_noise_over_the_prior(bias: bool) -> None:
    for prior in (0.3, weigh.Normal(0.3)):
        check(fitted(prior, noise=weigh.Normal(2), bias=bias), ridge(4 / 0.09, bias=bias))


def test_unknown_noise_is_estimated_from_least_squares_residuals() -> None:
    w, b = ridge(0.0)
    sigma = math.sqrt(float(np.square(Y - X @ w - b).sum()) / (N - D - 1))
    model = fitted(0.3)
    assert model.model_.fit.sigma == pytest.approx(sigma, rel=1e-9)
    assert model.model_.fit.sigma_by == "estimated"
    check(model, ridge(sigma**2 / 0.09))
    assert dict(model.summary().facts)["noise, standard deviation"] == (
        f"{sigma:.6g} (estimated from residuals)"
    )


def test_a_penalty_needs_no_noise() -> None:
    model = fitted(weigh.Penalty(l2=5))
    check(model, ridge(5.0))
    assert model.model_.fit.sigma is None
    check(fitted(weigh.Penalty(l2=5), noise=weigh.Normal(3)), ridge(5.0))


def test_noise_of_few_rows_is_estimated_by_marginal_likelihood() -> None:
    wide, y = make_rows(6, 10)
    model = weigh.LinearRegression(2.0).fit(wide, y)
    assert model.model_.fit.sigma_by == "evidence"
    assert (
        dict(model.summary().facts)["noise, standard deviation"]
        == f"{model.model_.fit.sigma:.6g} (chosen by marginal likelihood)"
    )
    with pytest.raises(errors.DataError) as excinfo:
        weigh.LinearRegression(weigh.Laplace(1)).fit(wide, y)
    assert str(excinfo.value) == (
        "The noise, which the prior's strength depends on, cannot be estimated from 6 rows of 10 features. "
        "State it, for example noise=Normal(1.0), or give the penalty itself: Penalty(l1=..., l2=...)."
    )


@pytest.mark.parametrize("prior", [0.3, weigh.Laplace(0.3)])
def test_an_exact_fit_makes_the_prior_negligible(prior: Any) -> None:
    check(weigh.LinearRegression(prior).fit(X, np.ones(N)), (np.zeros(D), 1.0))
    check(weigh.LinearRegression(prior).fit(X, X[:, 0] + 2), (np.eye(D)[0], 2.0))


def test_columns_not_named_in_a_mapping_have_no_prior() -> None:
    prior = {"b": 0.5, "c": weigh.Normal(0.1), "d": None}
    check(fitted(prior, noise=weigh.Normal(1)), ridge([0.0, 4.0, 100.0, 0.0]))
    check(
        fitted({"a": weigh.Penalty(l2=7), "b": 0.5}, noise=weigh.Normal(3)), ridge([7.0, 9 / 0.25, 0.0, 0.0])
    )


def test_columns_of_a_bare_matrix_have_priors_by_number() -> None:
    model = weigh.LinearRegression({"x1": 0.5}, noise=weigh.Normal(1)).fit(X, Y)
    check(model, ridge([0.0, 4.0, 0.0, 0.0]))


def test_all_levels_of_a_category_have_its_prior() -> None:
    levels = np.array(["low", "high", "mid"])[np.arange(N) % 3]
    table = {"a": X[:, 0], "grade": levels, "y": Y}
    model = weigh.LinearRegression({"grade": 0.5}, noise=weigh.Normal(1)).fit(table, "y")
    assert model.model_.features == ["a", "grade=high", "grade=low", "grade=mid"]
    rows = np.column_stack([X[:, 0], *(levels == level for level in ("high", "low", "mid"))])
    check(model, ridge([0.0, 4.0, 4.0, 4.0], rows=rows))


def test_a_prior_mean_shifts_the_weights() -> None:
    w, b = ridge(400.0, y=Y - X @ np.full(D, 2.0))
    model = fitted(weigh.Normal(0.05, mean=2), noise=weigh.Normal(1))
    check(model, (w + 2, b))
    np.testing.assert_allclose(
        fitted(weigh.Normal(1e-7, mean=2), noise=weigh.Normal(1)).coef_, 2.0, atol=1e-7
    )
    np.testing.assert_allclose(model.posterior_.mean, model.coef_, rtol=1e-12)
    assert model.posterior_.intercept == pytest.approx(model.intercept_)


def test_a_narrow_prior_centred_at_an_older_model_reproduces_it() -> None:
    older = fitted(0.3)
    few = {name: values[:5] for name, values in TABLE.items()}
    for mean in (older, older.model_):
        prior = weigh.Normal(1e-8, mean=mean)
        model = weigh.LinearRegression(prior, noise=weigh.Normal(1)).fit(few, "y")
        np.testing.assert_allclose(model.coef_, older.coef_, rtol=1e-9)


def test_an_older_model_is_matched_by_name_and_new_columns_are_centred_at_zero() -> None:
    older = weigh.LinearRegression().fit({name: TABLE[name] for name in ("c", "a", "y")}, "y")
    model = fitted(weigh.Normal(1e-8, mean=older), noise=weigh.Normal(1))
    by_name = dict(zip(older.model_.features, older.coef_, strict=True))
    np.testing.assert_allclose(model.coef_, [by_name["a"], 0, by_name["c"], 0], atol=1e-7)


def test_a_classifier_cannot_be_the_prior_mean_of_a_regression() -> None:
    older = weigh.LogisticRegression().fit(X, np.arange(N) % 3)
    with pytest.raises(errors.ParameterError) as excinfo:
        weigh.LinearRegression(weigh.Normal(1, mean=older)).fit(X, Y)
    assert str(excinfo.value) == (
        "The prior's mean is a model with weights for 3 classes, but the model to learn has one weight per "
        "feature. Give a model of the same classes, or a number."
    )


@pytest.mark.parametrize("prior", [None, weigh.Penalty(l2=3)])
def test_an_offset_is_subtracted_from_the_targets_and_has_weight_one(prior: Any) -> None:
    model = fitted(prior, offset="b")
    others = [0, 2, 3]
    w, b = ridge(0.0 if prior is None else 3.0, y=Y - X[:, 1], rows=X[:, others])
    check(model, (np.insert(w, 1, 1.0), b))
    np.testing.assert_allclose(model.predict(TABLE), X[:, others] @ w + b + X[:, 1], rtol=1e-9)
    assert model.posterior_.sd[1] == 0
    assert model.posterior_.mean[1] == 1
    line = model.summary().lines[2]
    assert (line.feature, line.weight, line.error, line.tails) == ("b", 1.0, 0.0, None)


@pytest.mark.parametrize(
    ("offset", "message"),
    [
        (
            "e",
            "LinearRegression: offset names an unknown column: the table has no column 'e'; it has 'a', "
            "'b', 'c', 'd'.",
        ),
        (3, "LinearRegression: offset must be the name of a column, or None, got 3."),
    ],
)
def test_an_offset_that_is_not_a_column_is_an_error(offset: Any, message: str) -> None:
    with pytest.raises(errors.WeighError) as excinfo:
        fitted(offset=offset)
    assert str(excinfo.value) == message


def test_an_offset_must_be_one_number() -> None:
    table = {"grade": ["low", "high", "mid"] * 4, "y": range(12), "a": np.arange(12.0)}
    with pytest.raises(errors.ParameterError) as excinfo:
        weigh.LinearRegression(offset="grade").fit(table, "y")
    assert str(excinfo.value) == (
        "LinearRegression: offset must be a column of numbers beside other columns, got 'grade', "
        "which has 3 of 4 features."
    )


def test_unit_scale_uses_standard_deviations_and_leaves_the_bias_unpenalised() -> None:
    sd, mean = X.std(axis=0), X.mean(axis=0)
    w, b = ridge(4.0, rows=(X - mean) / sd)
    model = fitted(weigh.Normal(0.5), noise=weigh.Normal(1), scale="unit")
    check(model, (w / sd, b - float(mean @ (w / sd))))


def test_unit_scale_applies_to_numbers_only_and_uses_weights() -> None:
    flags = np.arange(N) % 3 == 0
    weights = np.random.default_rng(1).uniform(0.5, 2, N)
    table = {"a": X[:, 3], "known": flags, "y": Y}
    model = weigh.LinearRegression(weigh.Penalty(l2=2), scale="unit").fit(table, "y", weights)
    mean = np.average(X[:, 3], weights=weights)
    variance = np.average(np.square(X[:, 3] - mean), weights=weights)
    rows = np.column_stack([X[:, 3], flags])
    check(model, ridge([2 * variance, 2.0], rows=rows, weights=weights), rtol=1e-8)


def test_a_weight_is_equivalent_to_repeated_rows() -> None:
    times = np.random.default_rng(2).integers(0, 4, N)
    again = np.repeat(np.arange(N), times)
    for prior in (None, weigh.Penalty(l2=2), weigh.Normal(0.5)):
        noise = weigh.Normal(1)
        one = weigh.LinearRegression(prior, noise).fit(X, Y, times.astype(float))
        two = weigh.LinearRegression(prior, noise).fit(X[again], Y[again])
        check(one, (two.coef_, two.intercept_))
        np.testing.assert_allclose(one.posterior_.covariance, two.posterior_.covariance, rtol=1e-9)


def test_rows_of_zero_weight_have_no_effect() -> None:
    X_missing, weights = X.copy(), np.ones(N)
    X_missing[7, 2], weights[7] = np.nan, 0.0
    kept = weights > 0
    model = weigh.LinearRegression().fit(X_missing, Y, weights)
    check(model, ridge(0.0, y=Y[kept], rows=X[kept]))
    assert model.model_.fit.rows == N - 1


def squared_errors(l2s: Any, folds: list[Any]) -> Any:
    """Return the mean held-out squared error of each penalty."""
    totals = np.zeros(len(l2s))
    for test in folds:
        train = np.setdiff1d(np.arange(N), test)
        for k, l2 in enumerate(l2s):
            w, b = ridge(l2, rows=X[train], y=Y[train])
            totals[k] += float(np.square(Y[test] - X[test] @ w - b).sum())
    return totals / N


@pytest.mark.parametrize("folds", [2, 5, "loo"])
def test_cross_validation_is_a_loop_over_folds(folds: Any) -> None:
    size = float(np.square(X - X.mean(axis=0)).sum(axis=0).mean())
    penalties = size * np.geomspace(1e3, 1e-6, 100)
    splits = np.array_split(np.arange(N), N if folds == "loo" else folds)
    best = penalties[np.argmin(squared_errors(penalties, list(splits)))]
    model = fitted(weigh.Normal("cv"), folds=folds)
    assert model.model_.fit.l2 == pytest.approx(best, rel=1e-9)
    assert model.model_.fit.scale_by == "cross-validation"
    check(model, ridge(best))


def test_marginal_likelihood_chooses_prior_and_noise_together() -> None:
    model = fitted(weigh.Normal("evidence"))
    fit = model.model_.fit
    gamma = fit.scale

    def log_density(g: float, s: float) -> float:
        # The bias is integrated out, which leaves the deviations of the targets from their mean.
        Q = np.linalg.qr(np.column_stack([np.ones(N), np.eye(N)[:, 1:]]))[0][:, 1:]
        spread = Q.T @ (s**2 * np.eye(N) + g**2 * X @ X.T) @ Q
        return float(stats.multivariate_normal(np.zeros(N - 1), spread).logpdf(Q.T @ Y)) - 0.5 * math.log(N)

    assert fit.evidence == pytest.approx(log_density(gamma, fit.sigma), abs=1e-6)
    for g, s in ((1.02, 1), (0.98, 1), (1, 1.02), (1, 0.98)):
        assert log_density(gamma * g, fit.sigma * s) < fit.evidence
    assert fit.l2 == pytest.approx((fit.sigma / gamma) ** 2, rel=1e-5)
    assert fit.sigma_by == "evidence"


def test_laplace_noise_is_absolute_loss() -> None:
    model = fitted(noise="laplace")
    loss = float(np.abs(Y - model.predict(TABLE)).sum())
    assert model.certificate_.objective == pytest.approx(loss, rel=1e-12)
    rng = np.random.default_rng(0)
    for _ in range(50):
        near = model.coef_ + rng.normal(size=D) * 1e-3
        assert np.abs(Y - X @ near - model.intercept_).sum() >= loss
    assert int((np.abs(Y - model.predict(TABLE)) < 1e-9).sum()) == D + 1


def test_with_laplace_noise_the_penalty_follows_from_the_densities() -> None:
    # −log p = Σ |r| / b + Σ w² / 2γ², so beside Σ |r| the penalty is l2 = b / γ².
    for noise, b in ((weigh.Laplace(0.8), 0.8), ("laplace", None)):
        model = fitted(0.5, noise=noise)
        if b is None:
            plain = fitted(noise="laplace")
            b = plain.certificate_.objective / N
            assert dict(model.summary().facts)["noise, mean size"] == (f"{b:.6g} (estimated from residuals)")
        assert model.model_.fit.l2 == pytest.approx(b / 0.25, rel=1e-7)


def test_standard_errors_and_t_ratios_match_the_textbook() -> None:
    A = np.column_stack([np.ones(N), X])
    beta = np.linalg.lstsq(A, Y, rcond=None)[0]
    residual, dof = Y - A @ beta, N - D - 1
    standard_errors = np.sqrt(np.diag(np.linalg.inv(A.T @ A)) * (residual @ residual) / dof)
    summary = fitted().summary(0.9)
    half_widths = stats.t(dof).ppf(0.95) * standard_errors
    assert [line.feature for line in summary.lines] == ["bias", *NAMES]
    columns = {name: np.array([getattr(line, name) for line in summary.lines]) for name in NUMBERS}
    np.testing.assert_allclose(columns["weight"], beta, rtol=1e-9)
    np.testing.assert_allclose(columns["error"], standard_errors, rtol=1e-9)
    np.testing.assert_allclose(columns["ratio"], beta / standard_errors, rtol=1e-9)
    np.testing.assert_allclose(
        columns["tails"], 2 * stats.t(dof).sf(np.abs(beta / standard_errors)), rtol=1e-7, atol=1e-300
    )
    np.testing.assert_allclose(columns["low"], beta - half_widths, rtol=1e-9)
    np.testing.assert_allclose(columns["high"], beta + half_widths, rtol=1e-9)
    facts = dict(summary.facts)
    assert facts["degrees of freedom"] == str(dof)
    total = float(np.square(Y - Y.mean()).sum())
    assert facts["R²"] == f"{1 - float(residual @ residual) / total:.6f}"
    assert fitted().score(TABLE, "y") == pytest.approx(1 - float(residual @ residual) / total)


@pytest.mark.parametrize("shape", [(30, 4), (5, 9)])
def test_the_posterior_covariance_matches_its_definition(shape: tuple[int, int]) -> None:
    rows, y = make_rows(*shape)
    alpha, lam = 4.0, 0.25  # precisions of the noise, and of the weights
    prior, noise = weigh.Normal(lam**-0.5), weigh.Normal(alpha**-0.5)
    model = weigh.LinearRegression(prior, noise, bias=False).fit(rows, y)
    covariance = np.linalg.inv(lam * np.eye(shape[1]) + alpha * rows.T @ rows)
    np.testing.assert_allclose(model.posterior_.covariance, covariance, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(model.coef_, alpha * covariance @ rows.T @ y, rtol=1e-7, atol=1e-10)
    F = model.posterior_.factor
    np.testing.assert_allclose(F @ F.T, covariance, rtol=1e-7, atol=1e-12)
    new = make_rows(7, shape[1], seed=5)[0]
    sd = np.sqrt(1 / alpha + np.einsum("ij,jk,ik->i", new, covariance, new))
    mean, found_sd = model.predict(new, return_std=True)
    np.testing.assert_allclose(found_sd, sd, rtol=1e-9)
    np.testing.assert_array_equal(mean, model.predict(new))


@pytest.mark.parametrize("prior", [None, 0.5])
def test_predictive_standard_deviations_are_smallest_at_the_mean(prior: Any) -> None:
    model = weigh.LinearRegression(prior).fit(X, Y)
    mean = X.mean(axis=0)
    at_mean = float(model.predict([mean], return_std=True)[1][0])
    assert at_mean == pytest.approx(model.posterior_.sigma * math.sqrt(1 + 1 / N), rel=1e-9)
    away = mean + np.random.default_rng(3).normal(size=(50, D))
    assert (model.predict(away, return_std=True)[1] > at_mean).all()


def test_a_missing_posterior_is_an_error_with_the_reason() -> None:
    for model in (fitted(noise="laplace"), weigh.LinearRegression().fit(X[:4], Y[:4])):
        with pytest.raises(errors.Unsupported) as excinfo:
            model.predict(X[:1], return_std=True)
        assert str(excinfo.value) == (
            "This regression has no posterior: only squared loss with a Normal prior, or with none and more "
            "rows than weights, has one in closed form, and it is kept for up to 5,000 features (saved for "
            "up to 1,000)."
        )


def mixed_table() -> dict[str, Any]:
    rng = np.random.default_rng(4)
    return {
        "size": rng.normal(size=N) * 10,
        "grade": np.array(["low", "mid", "high"])[np.arange(N) % 3],
        "known": np.arange(N) % 2 == 0,
        "body": [["free money", "see you at noon", "lunch"][i % 3] + f" word{i % 5}" for i in range(N)],
        "y": rng.normal(size=N) * 3,
    }


def test_explanations_sum_to_the_prediction() -> None:
    table = mixed_table()
    model = weigh.LinearRegression(1.0, columns={"body": "text"}).fit(table, "y")
    predicted = model.predict(table)
    for evidence, number in zip(model.explain(table), predicted, strict=True):
        assert evidence.total == pytest.approx(number, rel=1e-12, abs=1e-12)
        assert math.fsum(row.nats for row in evidence.table) == pytest.approx(number, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"prior": 0.5},
        {"prior": 0.5, "offset": "size"},
        {"noise": "laplace"},
        {"bias": False},
        {"scale": "unit"},
    ],
)
def test_a_saved_model_gives_the_same_results(params: dict[str, Any], tmp_path: Path) -> None:
    table = mixed_table()
    model = weigh.LinearRegression(columns={"body": "text"}, **params).fit(table, "y").model_
    model.save(tmp_path / "m.weigh")
    again = weigh.load(tmp_path / "m.weigh")
    np.testing.assert_array_equal(again.predict(table), model.predict(table))
    assert str(again.summary()) == str(model.summary())
    assert [str(e) for e in again.explain(table)] == [str(e) for e in model.explain(table)]
    assert again.to_bytes() == model.to_bytes()
    assert (again.fit, again.certificate) == (model.fit, model.certificate)
    if model.posterior_source is not None:
        np.testing.assert_array_equal(again.predict(table, True)[1], model.predict(table, True)[1])


def test_saving_is_atomic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.weigh"
    fitted().model_.save(path)
    before = path.read_bytes()

    def fail(*_: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(errors.ModelFileError, match="the disk is full"):
        fitted(0.5).model_.save(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["m.weigh"]


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_and_pickles_give_the_same_results(again: Any) -> None:
    model = fitted(0.5)
    other = again(model)
    np.testing.assert_array_equal(other.predict(TABLE), model.predict(TABLE))
    assert str(other.summary()) == str(model.summary())
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "model_")


def test_a_fitted_learner_has_the_attributes_of_scikit_learn() -> None:
    model = fitted()
    assert model.n_features_in_ == D
    assert model.feature_names_in_.tolist() == NAMES
    assert (model.n_iter_, model.certificate_.converged) == (1, True)
    assert list(model.schema_.names) == NAMES


def test_missing_numbers_are_treated_as_zero_with_a_warning() -> None:
    X_missing = X.copy()
    X_missing[[3, 8], [1, 2]] = np.nan
    with pytest.warns(errors.MissingNumbers) as caught:
        model = weigh.LinearRegression().fit(X_missing, Y)
    assert str(caught[0].message) == (
        "2 numbers are missing and count as zero. Fill them in first (for example with the column's mean), "
        "or leave such rows out."
    )
    check(model, ridge(0.0, rows=np.nan_to_num(X_missing)))
    X_missing[3] = X[3]
    with pytest.warns(errors.MissingNumbers) as caught:
        weigh.LinearRegression().fit(X_missing, Y)
    assert str(caught[0].message) == (
        "1 number is missing and counts as zero. Fill it in first (for example with the column's mean), or "
        "leave such rows out."
    )


def test_missing_markers_may_be_words() -> None:
    table = {"a": [1.0, "?", 3.0, 4.0, 6.0], "y": [1.0, 2.0, 3.0, 4.0, 5.0]}
    with pytest.warns(errors.MissingNumbers):
        model = weigh.LinearRegression(missing=["?"], scale=None).fit(table, "y")
    rows = np.array([[1.0], [0.0], [3.0], [4.0], [6.0]])
    check(model, ridge(0.0, rows=rows, y=np.arange(1.0, 6)))


def test_a_fit_that_is_not_optimal_warns() -> None:
    learner = weigh.LinearRegression(weigh.Penalty(l2=1), noise="laplace", max_iter=1, scale=None)
    with pytest.warns(errors.NotOptimal) as caught:
        model = learner.fit(X, Y)
    certificate = model.certificate_
    assert not certificate.converged
    assert str(caught[0].message) == (
        f"LinearRegression stopped with its objective up to {certificate.gap:.3g} above the minimum, "
        f"{certificate.relative_gap:.1g} of the objective without features; tol=1e-08 was not reached "
        f"({certificate.method}, 1 iteration). Try max_iter=10 or a larger tol, give a stronger prior, or "
        f"set scale='unit' if the columns have very different scales."
    )
    assert dict(model.summary().facts)["certificate"].startswith("NOT optimal: ")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"noise": "cauchy"}, "noise must be 'normal', 'laplace', Normal(σ) or Laplace(b), got 'cauchy'."),
        (
            {"noise": weigh.Normal("cv")},
            "noise must be 'normal', 'laplace', Normal(σ) or Laplace(b), got Normal('cv').",
        ),
        (
            {"noise": weigh.Normal(1, mean=2)},
            "noise must be 'normal', 'laplace', Normal(σ) or Laplace(b), got Normal(1, mean=2).",
        ),
        ({"scale": "sd"}, "scale must be 'auto', 'unit' or None, got 'sd'."),
        ({"folds": 1}, "folds must be at least 2, got 1."),
        ({"tol": 0}, "tol must be a number between 0 and 1, got 0."),
        ({"max_iter": 0}, "max_iter must be at least 1, got 0."),
        ({"bias": "yes"}, "bias must be True or False, got 'yes'."),
        (
            {"prior": {"a": weigh.Normal("cv")}},
            "scale='cv' and scale='evidence' choose one scale for all columns. Give one prior for all "
            "columns, or a number for every column.",
        ),
        (
            {"prior": weigh.Normal("cv"), "noise": "laplace"},
            "the scale of a prior can be chosen for squared loss only. Give a number, or noise='normal'.",
        ),
        (
            {"prior": weigh.Normal("evidence"), "noise": weigh.Normal(1)},
            "scale='evidence' estimates the scale of the prior and the noise together. Leave noise='normal'.",
        ),
        (
            {"prior": weigh.Laplace("cv"), "folds": "loo"},
            "folds='loo' is available for Normal priors only. Give a number of folds.",
        ),
    ],
)
def test_invalid_parameters_are_errors(params: dict[str, Any], message: str) -> None:
    with pytest.raises(errors.ParameterError) as excinfo:
        fitted(**params)
    assert str(excinfo.value) == f"LinearRegression: {message}"


def test_a_prior_for_an_unknown_column_is_an_error() -> None:
    with pytest.raises(errors.ColumnError) as excinfo:
        fitted({"a": 1.0, "bb": 1.0})
    assert str(excinfo.value) == (
        "LinearRegression: prior names an unknown column: the table has no column 'bb'; it has 'a', 'b', "
        "'c', 'd'. Did you mean 'b'?"
    )


@pytest.mark.parametrize("level", [0, 1, 2, "most"])
@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_an_invalid_confidence_level_is_an_error(level: Any, noise: str) -> None:
    with pytest.raises(errors.ParameterError) as excinfo:
        fitted(noise=noise).summary(level)
    assert str(excinfo.value) == f"interval: level must be between 0 and 1, both excluded, got {level!r}."


@pytest.mark.parametrize("prior", [None, 0.5, weigh.Penalty(l1=1), weigh.Normal("cv"), weigh.Laplace("cv")])
def test_training_data_are_neither_modified_nor_kept(prior: Any) -> None:
    rows, y = X.copy(), Y.copy()
    rows.flags.writeable = y.flags.writeable = False
    model = weigh.LinearRegression(prior).fit(rows, y)
    again = rows.copy()
    other = weigh.LinearRegression(prior).fit(again, y)
    again[:] = 9.0
    assert str(other.summary()) == str(model.summary())
    np.testing.assert_array_equal(other.predict(rows), model.predict(rows))


def test_several_targets_are_an_error_with_advice() -> None:
    with pytest.raises(errors.LabelError) as excinfo:
        weigh.LinearRegression().fit(X, np.column_stack([Y, Y]))
    assert str(excinfo.value) == (
        "y has 2 columns, but a regression predicts one number per row. Train one model per column: "
        "[weigh.LinearRegression().fit(X, y[:, j]) for j in range(2)]."
    )


def test_repeated_columns_share_the_weight_and_constant_ones_get_zero() -> None:
    rows = np.column_stack([X[:, 0], np.full(N, 7.0), X[:, 0]])
    model = weigh.LinearRegression().fit(rows, Y)
    w, b = ridge(0.0, rows=X[:, :1])
    check(model, (np.array([w[0] / 2, 0.0, w[0] / 2]), b), rtol=1e-8)
    assert "rank 1 of 3 features, solution of minimum norm" in model.certificate_.method


def test_the_summary_names_the_penalty_in_other_packages() -> None:
    summary = fitted(weigh.Penalty(l2=3)).summary()
    assert str(summary.equivalents["Ridge"]) == "Ridge(alpha=3)"
    assert "The same penalty in other packages" in str(summary)
    assert summary.to_dict()["equivalents"] is not None
    assert fitted().summary().equivalents is None
    assert fitted({"a": 1.0}).summary().equivalents is None


def check_optimality(
    model: Any, l1: Any, l2: Any = 0.0, rows: Any = X, y: Any = Y, atol: float = 1e-3
) -> None:
    """Check the subgradient condition: gradient = −l1 sign(w), or |gradient| ≤ l1 where w = 0."""
    w, l1 = model.coef_, np.broadcast_to(l1, rows.shape[1])
    gradient = rows.T @ (model.predict(rows) - y) + np.broadcast_to(l2, rows.shape[1]) * w
    np.testing.assert_allclose(gradient[w != 0], -(l1 * np.sign(w))[w != 0], atol=atol)
    assert (np.abs(gradient[w == 0]) <= l1[w == 0] + atol).all()


def test_a_laplace_prior_is_lasso_of_the_squared_noise_over_the_prior() -> None:
    params = {"noise": weigh.Normal(3), "tol": 1e-13}
    for prior, l1, l2 in (
        (weigh.Laplace(0.5), 18.0, 0.0),
        (weigh.Penalty(l1=60), 60.0, 0.0),
        (weigh.Penalty(l1=60, l2=10), 60.0, 10.0),
    ):
        model = weigh.LinearRegression(prior, **params).fit(X, Y)
        check_optimality(model, l1, l2)
        assert (model.model_.fit.l1, model.model_.fit.l2) == (pytest.approx(l1), l2)
    assert (weigh.LinearRegression(weigh.Penalty(l1=60), **params).fit(X, Y).coef_ == 0).any()


def test_columns_may_differ_in_the_kind_of_their_prior() -> None:
    prior = {"a": weigh.Laplace(0.5), "c": weigh.Penalty(l1=50, l2=2), "d": weigh.Normal(0.5)}
    model = weigh.LinearRegression(prior, weigh.Normal(2), tol=1e-13).fit(TABLE, "y")
    w, rows = model.coef_, X
    gradient = rows.T @ (model.predict(TABLE) - Y) + np.array([0, 0, 2, 16]) * w
    l1 = np.array([8.0, 0.0, 50.0, 0.0])
    np.testing.assert_allclose(gradient[w != 0], -(l1 * np.sign(w))[w != 0], atol=1e-3)
    assert (np.abs(gradient[w == 0]) <= l1[w == 0]).all()


def test_a_laplace_prior_with_a_mean_leaves_weights_exactly_there() -> None:
    model = weigh.LinearRegression(weigh.Laplace(0.02, mean=2), weigh.Normal(1), tol=1e-13).fit(X, Y)
    near = model.coef_ == 2
    assert near.any()
    assert not near.all()


def test_lasso_with_unit_scale_is_lasso_of_standardised_columns() -> None:
    sd, mean = X.std(axis=0), X.mean(axis=0)
    one = weigh.LinearRegression(weigh.Penalty(l1=30), scale="unit", tol=1e-14).fit(X, Y)
    two = weigh.LinearRegression(weigh.Penalty(l1=30), tol=1e-14).fit((X - mean) / sd, Y)
    np.testing.assert_allclose(one.coef_, two.coef_ / sd, atol=1e-5)


def test_lasso_has_a_summary_but_no_posterior() -> None:
    model = fitted(weigh.Penalty(l1=30))
    assert all(line.error is None for line in model.summary().lines)
    assert str(model.summary().equivalents["Lasso"]) == "Lasso(alpha=0.5)"
    with pytest.raises(errors.Unsupported):
        model.posterior_  # noqa: B018


def test_the_scale_of_a_laplace_prior_is_chosen_by_cross_validation() -> None:
    model = weigh.LinearRegression(weigh.Laplace("cv"), folds=3).fit(X, Y)
    largest = float(np.abs((X - X.mean(axis=0)).T @ (Y - Y.mean())).max())
    penalties = largest * np.geomspace(1, 1e-3, 100)
    losses = np.zeros(100)
    for test in np.array_split(np.arange(N), 3):
        train = np.setdiff1d(np.arange(N), test)
        for k, l1 in enumerate(penalties):
            fit = weigh.LinearRegression(weigh.Penalty(l1=l1)).fit(X[train], Y[train])
            losses[k] += float(np.square(Y[test] - fit.predict(X[test])).sum())
    assert model.model_.fit.l1 == pytest.approx(penalties[np.argmin(losses)], rel=1e-9)
    check_optimality(model, model.model_.fit.l1, atol=0.1)


def test_as_many_features_as_rows_need_a_prior():
    rng = np.random.default_rng(0)
    table = {"mileage": [f"about {k} km" for k in range(150)] * 2, "x": rng.normal(size=300).tolist()}
    table["age"] = [f"{k % 149} years" for k in range(300)]
    y = rng.normal(size=300)
    columns = {"mileage": "category", "age": "category"}
    with pytest.warns(errors.ExactFit) as caught:
        weigh.LinearRegression(columns=columns).fit(table, y)
    assert [str(each.message) for each in caught] == [
        "300 rows have 300 features, 150 of them from column 'mileage', so the weights fit these rows "
        "exactly and say little about others. Use prior=Normal('cv'), or columns={'mileage': 'skip'}."
    ]
    weigh.LinearRegression(columns=columns, prior=weigh.Normal("cv")).fit(table, y)


def test_missing_numbers_of_named_tables_count_as_the_mean_unless_units_are_stated():
    rng = np.random.default_rng(0)
    a, b = rng.normal(50, 5, 60), rng.normal(size=60)
    y = 3 * a + b + rng.normal(size=60)
    a[:7], b[9] = np.nan, np.nan
    table = {"a": a, "b": b}
    filled = {name: np.where(np.isnan(x), np.nanmean(x), x) for name, x in table.items()}
    expected = weigh.LinearRegression().fit(filled, y)
    unit = weigh.Number(scale="unit")
    with pytest.warns(errors.MissingNumbers) as caught:
        found = weigh.LinearRegression().fit(table, y)
    assert [str(each.message) for each in caught] == [
        "8 numbers are missing and count as the mean of the column, in 'a' (7), 'b' (1)."
    ]
    for learner in (found, weigh.LinearRegression(columns={"a": unit, "b": unit}).fit(table, y)):
        np.testing.assert_allclose(learner.coef_, expected.coef_, rtol=1e-9)
        np.testing.assert_allclose(learner.predict(table), expected.predict(filled), rtol=1e-9)
    for learner in (weigh.LinearRegression(scale=None), weigh.LinearRegression(weigh.Normal(100))):
        with pytest.warns(errors.MissingNumbers) as caught:
            learner.fit(table, y)
        assert str(caught[0].message) == (
            "8 numbers are missing and count as zero, in 'a' (7), 'b' (1). To count them as the column's "
            "mean instead, use columns={'a': weigh.Number(scale='unit'), 'b': weigh.Number(scale='unit')}."
        )


def test_advice_on_missing_numbers_keeps_lags_and_derived_columns():
    rng = np.random.default_rng(0)
    table, y = {"size": rng.normal(50, 5, 60)}, rng.normal(size=60)

    def halve(rows):
        return np.where(rows["size"] > 55, np.nan, rows["size"] / 2)

    columns = {
        "before": weigh.Lag("size", 3),
        "past": weigh.Lag("size", (1, 2)),
        "half": weigh.Derived(halve),
    }
    n_half = int((table["size"] > 55).sum())
    with pytest.warns(errors.MissingNumbers) as caught:
        weigh.LinearRegression(columns=columns, scale=None).fit(table, y)
    assert str(caught[0].message) == (
        f"{6 + n_half} numbers are missing and count as zero, in 'before' (3), 'past 1' (1), 'past 2' (2), "
        f"'half' ({n_half}). To count them as the column's mean instead, use columns={{"
        "'before': weigh.Lag('size', 3, weigh.Number(scale='unit')), "
        "'past 1': weigh.Lag('size', 1, weigh.Number(scale='unit')), "
        "'past 2': weigh.Lag('size', 2, weigh.Number(scale='unit')), "
        "'half': weigh.Derived(..., weigh.Number(scale='unit'))}."
    )
    advice = str(caught[0].message).rpartition("columns=")[2].rstrip(".")
    advised = eval(advice.replace("...", "halve"), {"weigh": weigh, "halve": halve})
    shifted = {f"past {by}": np.append(np.full(by, np.nan), table["size"][:-by]) for by in (1, 2, 3)}
    made = {"before": shifted.pop("past 3"), **shifted, "half": halve(table)}
    filled = table | {name: np.where(np.isnan(x), np.nanmean(x), x) for name, x in made.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error", errors.MissingNumbers)
        found = weigh.LinearRegression(columns=advised, scale=None).fit(table, y)
    expected = weigh.LinearRegression(scale=None).fit(filled, y)
    np.testing.assert_allclose(found.predict(table), expected.predict(filled), rtol=1e-8)


def test_standard_errors_of_standardised_numbers_are_in_the_units_of_the_user():
    rng = np.random.default_rng(0)
    a, b = rng.normal(50, 5, 60), rng.normal(size=60)
    y = 3 * a + b + rng.normal(size=60)
    unit = weigh.Number(scale="unit")
    scaled = weigh.LinearRegression(columns={"a": unit, "b": unit}).fit({"a": a, "b": b}, y)
    plain = weigh.LinearRegression().fit({"a": a, "b": b}, y)
    for mine, expected in zip(scaled.summary().lines, plain.summary().lines, strict=True):
        assert mine.error == pytest.approx(expected.error, rel=1e-9)
        assert (mine.low, mine.high) == pytest.approx((expected.low, expected.high), rel=1e-9)
    new = {"a": [10.0, 60.0], "b": [3.0, 0.0]}
    pairs = zip(scaled.predict(new, return_std=True), plain.predict(new, return_std=True), strict=True)
    for found, wanted in pairs:
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_numbers_that_are_missing_only_in_the_rows_to_predict_count_as_zero_with_a_warning():
    rng = np.random.default_rng(0)
    a, b = rng.normal(50, 5, 60), rng.normal(size=60)
    learner = weigh.LinearRegression().fit({"a": a, "b": b}, 3 * a + b)
    with pytest.warns(errors.MissingNumbers) as caught:
        predicted = learner.predict({"a": [np.nan, 50.0], "b": [0.0, 0.0]})
    assert predicted == pytest.approx([0.0, 150.0], abs=1e-6)
    assert [str(each.message) for each in caught] == [
        "1 number is missing in the rows to predict and counts as zero, because these columns had no missing "
        "number in training. Fill such cells in first, for example with the column's mean."
    ]


def test_targets_with_an_unknown_unit_are_read_as_numbers():
    rng = np.random.default_rng(0)
    x = rng.integers(1, 40, 80)
    learner = weigh.LinearRegression().fit({"x": x.astype(float)}, [f"{2 * value + 1} dt/ha" for value in x])
    assert learner.coef_ == pytest.approx([2.0])
