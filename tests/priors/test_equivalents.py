"""Equivalent parameters in other packages: scikit-learn's estimators find the same weights.

The parameters of glmnet, LIBLINEAR and statsmodels are compared with numbers, without these packages.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn import linear_model

from weigh.errors import ParameterError, Unsupported
from weigh.priors import Laplace, Normal, Penalty, WeightPrior
from weigh.priors.location_scale import FeatureWeights

RNG = np.random.default_rng(5)
X = RNG.normal(size=(40, 3)) * [1, 3, 0.5] + 0.5
Y = X @ [1.0, -0.2, 2.0] + 3 + RNG.normal(size=40)
LABELS = (X @ [1.0, -0.4, 0.6] + RNG.logistic(size=40) > 0.3).astype(int)
N = len(X)
SIGMA = 1.5
PRIORS = [Normal(0.7), Laplace(0.4), Penalty(l2=2), Penalty(l1=3), Penalty(l1=3, l2=2)]


def minimise(rows: np.ndarray, gradient: object, bound: float, l1: np.ndarray, l2: np.ndarray) -> np.ndarray:
    """Return the minimum by proximal gradient descent; `bound` is that of the loss's second derivative."""
    w = np.zeros(rows.shape[1])
    step = 1 / (bound * np.linalg.norm(rows, 2) ** 2 + l2.max())
    for _ in range(200_000):
        v = w - step * (rows.T @ gradient(rows @ w) + l2 * w)
        w_new = np.sign(v) * np.maximum(np.abs(v) - step * l1, 0)
        if np.abs(w_new - w).max() < 1e-15:
            return w_new
        w = w_new
    raise AssertionError("not converged")


def expected_weights(
    task: str, l1: float, l2: float, rows: np.ndarray = X, y: np.ndarray | None = None
) -> np.ndarray:
    """Return the weights of the columns and the unpenalised intercept."""
    design = np.c_[rows, np.ones(len(rows))]
    is_penalised = np.array([1.0] * rows.shape[1] + [0.0])
    if task == "linear":
        targets = Y if y is None else y
        return minimise(design, lambda z: z - targets, 1, l1 * is_penalised, l2 * is_penalised)
    return minimise(
        design, lambda z: 1 / (1 + np.exp(-z)) - LABELS, 0.25, l1 * is_penalised, l2 * is_penalised
    )


def fitted_weights(estimator: object) -> np.ndarray:
    return np.r_[np.ravel(estimator.coef_), estimator.intercept_]


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_scikit_learn_linear_models_find_the_same_weights(prior: WeightPrior) -> None:
    equivalents = prior.equivalents("linear", n=N, sigma=SIGMA)
    [first, *_] = equivalents.others
    exact = {} if first.call == "Ridge" else {"tol": 1e-13, "max_iter": 100_000}
    theirs = getattr(linear_model, first.call)(**first.parameters, **exact).fit(X, Y)
    ours = expected_weights("linear", *prior.penalty(SIGMA))
    assert fitted_weights(theirs) == pytest.approx(ours, abs=1e-6)
    assert fitted_weights(theirs) != pytest.approx(
        expected_weights("linear", *(1.01 * a for a in prior.penalty(SIGMA))), abs=1e-6
    )


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_scikit_learn_logistic_regression_finds_the_same_weights(prior: WeightPrior) -> None:
    parameters = prior.equivalents("logistic", n=N)["LogisticRegression"].parameters
    theirs = linear_model.LogisticRegression(**parameters, tol=1e-11, max_iter=100_000).fit(X, LABELS)
    ours = expected_weights("logistic", *prior.penalty())
    assert fitted_weights(theirs) == pytest.approx(ours, abs=1e-6)
    assert fitted_weights(theirs) != pytest.approx(
        expected_weights("logistic", *(1.01 * a for a in prior.penalty())), abs=1e-6
    )


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
@pytest.mark.parametrize("task", ["linear", "logistic"])
def test_sgd_on_equal_rows_converges_to_the_same_weights(prior: WeightPrior, task: str) -> None:
    # With equal rows the stochastic gradient has no noise, so descent is exact.
    call, y = ("SGDRegressor", [2.0] * 20) if task == "linear" else ("SGDClassifier", [0, 1, 1, 1] * 5)
    rows = np.array([[1.0, -2.0]] * 20)
    if task == "logistic":
        # A row of class 0 is a row of class 1 with the opposite sign.
        rows[::4] *= -1
    parameters = prior.equivalents(task, n=20)[call].parameters
    settings = {
        "learning_rate": "constant",
        "eta0": 0.05,
        "max_iter": 20_000,
        "tol": None,
        "fit_intercept": False,
    }
    theirs = getattr(linear_model, call)(**parameters, **settings).fit(rows, y)
    l1, l2 = (np.full(2, amount) for amount in prior.penalty())
    if task == "linear":
        ours = minimise(rows, lambda z: z - np.array(y), 1, l1, l2)
    else:
        ours = minimise(rows, lambda z: 1 / (1 + np.exp(-z)) - np.array(y), 0.25, l1, l2)
    assert np.ravel(theirs.coef_) == pytest.approx(ours, abs=1e-6)


def test_n_is_the_total_weight_of_weighted_rows() -> None:
    repeats = np.arange(N) % 3 + 1
    prior = Penalty(l1=3, l2=2)
    parameters = prior.equivalents("linear", n=float(repeats.sum()))["ElasticNet"].parameters
    theirs = linear_model.ElasticNet(**parameters, tol=1e-13, max_iter=100_000).fit(
        X, Y, sample_weight=repeats
    )
    ours = expected_weights("linear", *prior.penalty(), np.repeat(X, repeats, axis=0), np.repeat(Y, repeats))
    assert fitted_weights(theirs) == pytest.approx(ours, abs=1e-6)


def test_a_prior_mean_is_equivalent_to_shifted_targets() -> None:
    mean = np.array([1.0, 0.5, -1.0])
    prior = Normal(0.7, mean=FeatureWeights(("a", "b", "c"), mean))
    equivalents = prior.equivalents("linear", n=N)
    theirs = linear_model.Ridge(**equivalents["Ridge"].parameters).fit(X, Y - X @ mean)
    w, b = theirs.coef_ + mean, theirs.intercept_
    gradient = X.T @ (X @ w + b - Y) + (w - mean) / 0.49
    assert gradient == pytest.approx(0, abs=1e-9)
    assert str(equivalents).endswith("fit y − X·mean, and add the mean to the weights.")


def test_parameters_of_other_packages_computed_by_hand() -> None:
    ridge, lasso, both = Penalty(l2=5), Penalty(l1=7), Penalty(l1=6, l2=2)
    by_task = {"linear": "OLS.fit_regularized", "logistic": "GLM.fit_regularized"}
    for task, call in by_task.items():
        assert ridge.equivalents(task, 10)[call].parameters == {"alpha": 0.5, "L1_wt": 0}
        assert lasso.equivalents(task, 10)[call].parameters == {"alpha": 0.7, "L1_wt": 1}
        assert both.equivalents(task, 10)[call].parameters == {"alpha": 0.8, "L1_wt": 0.75}
    assert lasso.equivalents("logistic", 10)["Logit.fit_regularized"].parameters == {"alpha": 7}
    assert str(ridge.equivalents("linear", 10)["liblinear"]) == "-s 11 -p 0 -c 0.1"
    assert str(ridge.equivalents("logistic", 10)["liblinear"]) == "-s 0 -c 0.2"
    assert str(lasso.equivalents("logistic", 10)["liblinear"]) == "-s 6 -c 0.142857142857"


def test_the_spread_of_the_targets_matters_only_for_glmnet() -> None:
    def glmnet(prior: Penalty, task: str, spread: float) -> tuple[float, float]:
        parameters = prior.equivalents(task, 10, spread=spread)["glmnet"].parameters
        return parameters["alpha"], parameters["lambda"]

    assert glmnet(Penalty(l2=5), "linear", 1) == (0, 0.5)
    assert glmnet(Penalty(l2=5), "linear", 3) == (0, 1.5)
    assert glmnet(Penalty(l1=5), "linear", 3) == (1, 0.5)
    assert glmnet(Penalty(l1=6, l2=2), "linear", 3) == (0.5, 1.2)
    assert glmnet(Penalty(l1=6, l2=2), "logistic", 3) == (0.75, 0.8)
    wide, narrow = (Normal(2).equivalents("linear", 10, spread=spread) for spread in (3, 1))
    assert [other for other in wide.others if other not in narrow.others] == [wide["glmnet"]]


def test_str_lists_all_packages() -> None:
    assert str(Laplace(2).equivalents("logistic", n=100)) == (
        "Laplace(2) in logistic regression, n = 100: minimise Σ log loss + 0.5 ‖w‖₁\n"
        "  scikit-learn  LogisticRegression(C=2, l1_ratio=1, solver='saga')\n"
        "                  before scikit-learn 1.8 also penalty='elasticnet'\n"
        "                SGDClassifier(loss='log_loss', penalty='l1', alpha=0.005)\n"
        "                  the optimum is only approached; n counts rows even where they are weighted\n"
        "  LIBLINEAR     -s 6 -c 2\n"
        "                  -B 1 adds an intercept and penalises it, unless -R is given too\n"
        "  glmnet        glmnet(family='binomial', alpha=1, lambda=0.005, standardize=FALSE)\n"
        "                  without standardize=FALSE the columns are scaled first\n"
        "  statsmodels   Logit.fit_regularized(alpha=0.5)\n"
        "                  a constant column is penalised like any other: give alpha by column, 0 for it\n"
        "                GLM.fit_regularized(alpha=0.005, L1_wt=1)\n"
        "                  a constant column is penalised like any other: give alpha by column, 0 for it"
    )


def test_to_dict_returns_plain_values() -> None:
    facts = Penalty(l1=6, l2=2).equivalents("linear", 10).to_dict()
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert (facts["l1"], facts["l2"]) == (6, 2)
    assert facts["others"][0]["parameters"] == {"alpha": 0.8, "l1_ratio": 0.75}


def test_invalid_arguments_are_rejected() -> None:
    with pytest.raises(
        ParameterError, match=r"^equivalents: task must be 'linear' or 'logistic', got 'ridge'\.$"
    ):
        Normal(1).equivalents("ridge", 10)
    for name in ("n", "spread"):
        with pytest.raises(
            ParameterError, match=rf"^equivalents: {name} must be a positive, finite number, got 0\.$"
        ):
            Normal(1).equivalents("linear", **{"n": 10, name: 0})
    with pytest.raises(
        ParameterError, match="sigma must be left out: logistic regression has no such noise, got 2"
    ):
        Normal(1).equivalents("logistic", 10, sigma=2)
    with pytest.raises(ParameterError, match=r"name must be one of 'Ridge', .*, got 'Lasso'\.$"):
        Normal(1).equivalents("linear", 10)["Lasso"]
    with pytest.raises(Unsupported, match=r"^Penalty\(\) penalises nothing"):
        Penalty().equivalents("linear", 10)
    with pytest.raises(Unsupported, match=r"^Normal\('cv'\) has no scale yet"):
        Normal("cv").equivalents("linear", 10)


@pytest.mark.parametrize("task", ["linear", "logistic"])
def test_a_penalty_below_the_range_of_inverses_has_an_infinite_c(task: str) -> None:
    penalty = Penalty(l2=5e-324)
    assert "C=inf" in str(penalty.equivalents("logistic", 12))
    assert str(penalty.equivalents(task, 12))
