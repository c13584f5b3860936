"""Posteriors of numbers agree with exact arithmetic, however little the numbers vary for their size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import weigh
from weigh.features.blocks import Floats

OFFSETS = [0.0, 1e3, -1e9, 1e9, 1e15, 1e100]
SPREADS = [1e-6, 1.0, 1e6]
CLASSES = np.array(list("ab") * 15)


def column(offset: float, spread: float) -> Floats:
    """Return numbers near the offset; where floats are too coarse for the spread, its neighbours."""
    k = np.random.default_rng(7).normal(size=len(CLASSES)) + (CLASSES == "b")
    values = offset + spread * k
    coarse = offset * (1 + np.round(3 * k) * np.finfo(np.float64).eps)
    return values if len(np.unique(values)) > 10 else coarse


def exact_posterior(
    x: Floats, y: Any, rows: Sequence[float], spread: str = "own", predicts: bool = False
) -> Floats:
    """Return the posterior of Gaussian naive Bayes from exact moments and logarithms of 60 digits."""
    labels = sorted(set(y))
    values = [[Fraction(v) for v, label in zip(x, y, strict=True) if label == c] for c in labels]
    means = [sum(group) / len(group) for group in values]
    variances = [sum((v - m) ** 2 for v in g) / len(g) for g, m in zip(values, means, strict=True)]
    if spread == "shared":
        pooled = sum(v * len(g) for v, g in zip(variances, values, strict=True)) / len(x)
        variances = [pooled] * len(labels)
    posterior = []
    with localcontext(prec=60):
        for row in rows:
            scores = [
                _log(Fraction(len(g), len(x))) + _log_density(Fraction(row) - m, v, len(g), predicts)
                for g, m, v in zip(values, means, variances, strict=True)
            ]
            odds = [(score - max(scores)).exp() for score in scores]
            posterior.append([float(p / sum(odds)) for p in odds])
    return np.array(posterior)


def _log_density(distance: Fraction, variance: Fraction, n: int, predicts: bool) -> Decimal:
    """Return the log-density of a normal distribution, or of Student's t with the spread integrated out."""
    if not predicts:
        return -_log(variance) / 2 - _decimal(distance**2 / variance) / 2
    squared_scale = variance * Fraction(n, n - 1) * (1 + Fraction(1, n))
    constant = Decimal(math.lgamma(n / 2) - math.lgamma((n - 1) / 2) - math.log(n - 1) / 2)
    return (
        constant - _log(squared_scale) / 2 - Decimal(n) / 2 * _log(1 + distance**2 / squared_scale / (n - 1))
    )


def _log(x: Fraction) -> Decimal:
    return _decimal(x).ln()


def _decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def fit(x: Floats, y: Any = CLASSES, **settings: Any) -> Any:
    return weigh.NaiveBayes(weigh.Number(**settings)).fit(x[:, None], y).model_


def assert_close(ours: Floats, exact: Floats) -> None:
    np.testing.assert_allclose(ours, exact, rtol=0, atol=1e-12)


@pytest.mark.parametrize("spread", ["own", "shared"])
@pytest.mark.parametrize("scale", SPREADS)
@pytest.mark.parametrize("offset", OFFSETS)
def test_the_posterior_is_that_of_exact_fractions(offset: float, scale: float, spread: str) -> None:
    x = column(offset, scale)
    model = fit(x, spread=spread)
    assert_close(model.predict_proba(x[:, None]), exact_posterior(x, CLASSES, x, spread))


def test_numbers_that_vary_by_1e_15_of_their_size_give_the_exact_posterior() -> None:
    k = np.arange(40)
    x, y = 1e9 + k * 1e-6, np.where(k % 3 == 0, "a", "b")
    assert_close(fit(x, y).predict_proba(x[:, None]), exact_posterior(x, y, x))


@pytest.mark.parametrize("offset", OFFSETS)
def test_the_linear_form_gives_the_same_posterior(offset: float) -> None:
    x = column(offset, 1e-6)
    linear = fit(x, spread="shared").linear()
    assert_close(linear.predict_proba(x[:, None]), exact_posterior(x, CLASSES, x, "shared"))


@pytest.mark.parametrize("offset", OFFSETS)
def test_a_saved_linear_form_gives_the_same_scores(offset: float, tmp_path: Any) -> None:
    x = column(offset, 1e-6)
    linear = fit(x, spread="shared").linear()
    linear.save(tmp_path / "linear.weigh")
    restored: Any = weigh.load(tmp_path / "linear.weigh")
    np.testing.assert_array_equal(restored.scores(x[:, None]), linear.scores(x[:, None]))


@pytest.mark.parametrize("spread", ["own", "shared"])
def test_leave_one_out_scores_are_exact(spread: str) -> None:
    x = column(1e9, 1e-6)
    model = fit(x, spread=spread)
    scores = model.left_out_scores(x[:, None], CLASSES)
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    exact = [
        exact_posterior(np.delete(x, i), np.delete(CLASSES, i), [x[i]], spread)[0] for i in range(len(x))
    ]
    assert_close(odds / odds.sum(axis=1, keepdims=True), np.array(exact))
    forgotten = model.forget(x[:1, None], CLASSES[:1]).scores(x[:1, None])
    np.testing.assert_allclose(scores[:1], forgotten, rtol=1e-12)


def test_the_predictive_distribution_is_exact() -> None:
    x = column(1e9, 1e-6)
    exact = exact_posterior(x, CLASSES, x, predicts=True)
    assert_close(fit(x).predictive_proba(x[:, None]), exact)


def test_contributions_sum_to_the_score() -> None:
    x = column(1e9, 1e-6)
    model = fit(x)
    for evidence, scores in zip(model.explain(x[:5, None]), model.scores(x[:5, None]), strict=True):
        assert evidence.total == pytest.approx(abs(scores[1] - scores[0]), rel=1e-12)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([1e9, 1e9 + 1e-6], "ab"),
        ([1e9, 1e9, 1e9 + 1e-6, 1e9 + 3e-6], "aabb"),
        ([1e300, 2e300, 2.5e300, 4e300], "aabb"),
        ([1e-300, 2e-300, 2.5e-300, 4e-300], "aabb"),
    ],
)
@pytest.mark.filterwarnings("ignore::weigh.errors.FlatColumns")
def test_single_equal_and_extreme_numbers_are_scored(x: list[float], y: str) -> None:
    model = fit(np.array(x), list(y), floor=0.1)
    means = [np.mean([Fraction(v) for v, c in zip(x, y, strict=True) if c == label]) for label in "ab"]
    gaussian = model.distributions[0]
    assert [
        Fraction(m) + Fraction(r) for m, r in zip(gaussian.mean, gaussian.mean_residual, strict=True)
    ] == means
    assert "".join(model.predict(np.array(x)[:, None])) == y


@pytest.mark.parametrize("learner", [weigh.Perceptron("last"), weigh.LogisticRegression()])
def test_standardised_numbers_far_from_zero_are_scored_in_centred_form(learner: Any) -> None:
    x = column(1e9, 1e-6)
    model = learner.set_params(columns=weigh.Number(scale="unit")).fit(x[:, None], CLASSES).model_
    (term,) = model.terms
    standardised = [float((Fraction(v) - Fraction(term.centre)) / Fraction(term.unit)) for v in x]
    expected = model.base + np.outer(standardised, term.table[0])
    np.testing.assert_allclose(model.scores(x[:, None])[:, -expected.shape[1] :], expected, rtol=1e-12)
