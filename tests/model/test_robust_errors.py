"""Robust and clustered standard errors equal those of statsmodels and of their formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import weigh
from weigh.errors import DataError, ParameterError, Unsupported

# Figures of statsmodels 0.14, with `fit` of OLS(y, A), WLS(y, A, weights=s) and Logit(z, A), where A is
# add_constant(X) or X alone; cov_type "HC3", or "cluster" with cov_kwds groups; bse, and pvalues with use_t.
OLS_HC3 = [6.09167277696, 0.458633468984, 0.0528584991202, 2.01158098686]
OLS_CLUSTERED = [5.77954366385, 0.446400720857, 0.0442760815822, 1.90741904738]
OLS_CLUSTERED_P = [0.246967150856, 0.0408050519494, 8.52180300013e-07, 0.72992118041]
OLS_WITHOUT_BIAS = [0.476191428003, 0.0551497246649, 0.205763100652]
WLS_HC3 = [5.87289438184, 0.467971421255, 0.0516687746685, 1.96590876352]
WLS_CLUSTERED = [5.18469229707, 0.442589112344, 0.0409816163626, 1.67820735673]
LOGIT_CLUSTERED = [9.32908440954, 0.614284005382, 0.0872692357081, 2.98397153405]


def make_rows() -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 3)) * [1, 5, 0.2] + [0, 10, 3]
    groups = np.repeat(np.arange(12), 5)
    noise = rng.normal(size=12)[groups] + rng.normal(size=60) * (1 + np.abs(X[:, 0]))
    return X, X @ [1, -0.5, 2] + noise, groups, rng.uniform(0.5, 2, 60)


def errors_of(summary: Any) -> list[float]:
    return [line.error for line in summary.lines]


def test_least_squares_has_the_errors_of_statsmodels():
    X, y, groups, _ = make_rows()
    learner = weigh.LinearRegression().fit(X, y)
    hc3 = learner.summary(data=X, y=y, errors="hc3")
    assert errors_of(hc3) == pytest.approx(OLS_HC3, rel=1e-9)
    assert dict(hc3.facts)["standard errors"] == "HC3, for variances that differ between rows"
    assert dict(hc3.facts)["degrees of freedom"] == "56"
    clustered = learner.summary(data=X, y=y, errors="clustered", groups=groups)
    assert errors_of(clustered) == pytest.approx(OLS_CLUSTERED, rel=1e-9)
    assert [line.tails for line in clustered.lines] == pytest.approx(OLS_CLUSTERED_P, rel=1e-6)
    assert (
        dict(clustered.facts)["standard errors"] == "clustered, for rows that are correlated within 12 groups"
    )
    assert dict(clustered.facts)["degrees of freedom"] == "11"
    line = clustered.lines[1]
    assert line.high - line.weight == pytest.approx(stats.t.ppf(0.975, 11) * line.error, rel=1e-9)


def test_weights_and_no_bias_have_the_errors_of_statsmodels():
    X, y, groups, s = make_rows()
    weighted = weigh.LinearRegression().fit(X, y, sample_weight=s)
    rows = {"data": X, "y": y, "weights": s}
    assert errors_of(weighted.summary(**rows, errors="hc3")) == pytest.approx(WLS_HC3, rel=1e-9)
    clustered = weighted.summary(**rows, errors="clustered", groups=groups)
    assert errors_of(clustered) == pytest.approx(WLS_CLUSTERED, rel=1e-9)
    plain = weigh.LinearRegression(bias=False).fit(X, y)
    assert errors_of(plain.summary(data=X, y=y, errors="hc3")) == pytest.approx(OLS_WITHOUT_BIAS, rel=1e-9)


def test_logistic_regression_has_the_errors_of_statsmodels():
    X, y, groups, _ = make_rows()
    z = (y > np.median(y)).astype(int)
    model = weigh.LogisticRegression(None, tol=1e-13).fit(X, z).model_
    clustered = model.summary(data=X, y=z, errors="clustered", groups=[f"firm {g}" for g in groups])
    assert errors_of(clustered) == pytest.approx(LOGIT_CLUSTERED, rel=1e-6)
    assert "degrees of freedom" not in dict(clustered.facts)


@pytest.mark.parametrize("is_table", [True, False])
@pytest.mark.parametrize("prior", [None, weigh.Normal(0.7)])
@pytest.mark.parametrize("is_logistic", [True, False])
def test_hc3_equals_its_formula_for_every_prior_and_scale(is_table, prior, is_logistic):
    X, y, _, s = make_rows()
    y = (y > np.median(y)).astype(int) if is_logistic else y
    learner: Any = weigh.LogisticRegression if is_logistic else weigh.LinearRegression
    data: Any = {f"x{j}": X[:, j] for j in range(3)} if is_table else X
    fitted = learner(prior, scale="unit" if is_table else None, tol=1e-13).fit(data, y, sample_weight=s)
    found = errors_of(fitted.summary(data=data, y=y, weights=s, errors="hc3"))
    A = np.column_stack([np.ones(60), X])
    scores = A @ np.append(fitted.model_.intercept, fitted.model_.coef)
    p = 1 / (1 + np.exp(-scores))
    mean, variance = (p, p * (1 - p)) if is_logistic else (scores, np.ones(60))
    l2 = np.zeros(4)
    if prior is not None:
        units = np.average(np.square(X - np.average(X, axis=0, weights=s)), axis=0, weights=s)
        l1_l2 = fitted.model_.fit.units or (0, fitted.model_.fit.l2)
        l2[1:] = l1_l2[1] * (units if is_table else 1)
    B = np.linalg.inv(A.T @ (A * (s * variance)[:, None]) + np.diag(l2))
    h = s * variance * np.einsum("ij,jk,ik->i", A, B, A)
    G = A * (s * (y - mean) / (1 - h))[:, None]
    assert found == pytest.approx(np.sqrt(np.diagonal(B @ G.T @ G @ B)).tolist(), rel=1e-6)


def test_one_row_per_group_is_hc1():
    X, y, _, _ = make_rows()
    model = weigh.LinearRegression().fit(X, y).model_
    found = errors_of(model.summary(data=X, y=y, errors="clustered", groups=np.arange(60)))
    A = np.column_stack([np.ones(60), X])
    B = np.linalg.inv(A.T @ A)
    G = A * (y - A @ np.append(model.intercept, model.coef))[:, None]
    covariance = 60 / 56 * B @ G.T @ G @ B
    assert found == pytest.approx(np.sqrt(np.diagonal(covariance)).tolist(), rel=1e-9)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            {"errors": "hc2"},
            "summary: errors must be None, 'hc3' or 'clustered', got 'hc2'.",
        ),
        (
            {"errors": "hc3", "data": None},
            "summary: errors='hc3' needs the rows of the training, which a model does not keep. Give data, "
            "and y if the labels are not a column of it.",
        ),
        (
            {"errors": "clustered"},
            "summary: groups and errors='clustered' need each other. Give both, with one group per row, or "
            "neither.",
        ),
        (
            {"errors": "hc3", "groups": [1, 2]},
            "summary: groups and errors='clustered' need each other. Give both, with one group per row, or "
            "neither.",
        ),
    ],
)
def test_arguments_that_do_not_fit_together_are_refused(arguments, expected):
    X, y, _, _ = make_rows()
    model = weigh.LinearRegression().fit(X, y).model_
    with pytest.raises(ParameterError) as caught:
        model.summary(**{"data": X, "y": y, **arguments})
    assert str(caught.value) == expected


def test_other_rows_and_groups_are_refused():
    X, y, groups, _ = make_rows()
    model = weigh.LinearRegression().fit(X, y).model_
    for rows, number in ((X[:50], "50"), (np.vstack([X, X]), "more")):
        with pytest.raises(DataError) as caught:
            model.summary(data=rows, y=np.resize(y, len(rows)), errors="hc3")
        assert str(caught.value) == (
            f"The model was fitted to 60 rows, but data has {number}. Give the rows it was trained on."
        )
    for wrong, message in (
        (groups[:5], "groups must have one value for each of the 60 rows, got the shape (5,)."),
        (groups * 0, "All rows are in the same group; clustered errors need two groups at least."),
    ):
        with pytest.raises(DataError) as caught:
            model.summary(data=X, y=y, errors="clustered", groups=wrong)
        assert str(caught.value) == message


def test_a_row_that_alone_determines_a_weight_is_named():
    X, y, _, _ = make_rows()
    X[:, 0] = np.arange(60) == 7
    model = weigh.LinearRegression().fit(X, y).model_
    with pytest.raises(DataError) as caught:
        model.summary(data=X, y=y, errors="hc3")
    assert str(caught.value) == (
        "Row 7 (the first is 0) alone determines a weight, so HC3 cannot tell its error. Leave the row out, "
        "or give a prior."
    )


def test_a_model_without_a_posterior_has_no_robust_errors():
    X, y, _, _ = make_rows()
    model = weigh.LinearRegression(weigh.Laplace(1)).fit(X, y).model_
    with pytest.raises(Unsupported, match="This regression has no posterior"):
        model.summary(data=X, y=y, errors="hc3")


def test_groups_may_be_of_mixed_types_but_not_missing():
    X, y, groups, _ = make_rows()
    learner = weigh.LinearRegression().fit(X, y)
    plain = learner.summary(data=X, y=y, errors="clustered", groups=groups)
    mixed = [f"firm {g}" if g % 2 else int(g) for g in groups]
    found = learner.summary(data=X, y=y, errors="clustered", groups=mixed)
    assert errors_of(found) == pytest.approx(errors_of(plain), rel=1e-12)
    for missing in (None, float("nan")):
        with pytest.raises(DataError, match=r"group of row 1 .* is missing"):
            learner.summary(data=X, y=y, errors="clustered", groups=[mixed[0], missing, *mixed[2:]])


@pytest.mark.parametrize("n_columns", [3, 4])
def test_clustered_errors_need_more_rows_than_weights(n_columns):
    X, y, _, _ = make_rows()
    X, y = np.column_stack([X, X[:, 0] * X[:, 1]])[:4, :n_columns], y[:4]
    learner = weigh.LinearRegression(prior=1.0, columns="number").fit(X, y)
    with pytest.raises(DataError, match="more rows than weights"):
        learner.summary(data=X, y=y, errors="clustered", groups=[1, 1, 2, 2])


def test_rows_without_a_method_are_refused():
    X, y, _, _ = make_rows()
    learner = weigh.LinearRegression().fit(X, y)
    for rows in ({"data": X}, {"y": y}):
        with pytest.raises(ParameterError, match="errors is None"):
            learner.summary(**rows)
