"""`surface`: tops by closed forms and by fitted regressions, and grids that agree with them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import weigh
from weigh import errors

TOSSES = "HHTH TTTH TTTT HTTT".replace(" ", "")
RNG = np.random.default_rng(1)
ROWS = dict(zip("abc", RNG.normal(size=(3, 40)), strict=True))
TARGET = 1.5 * ROWS["a"] - ROWS["b"] + 0.2 * ROWS["c"] + RNG.normal(size=40)
TABLE = {**ROWS, "y": TARGET}
CLASSES = {**ROWS, "y": np.where(TARGET > 0.3, "yes", "no")}


def highest(surface: Any, part: str) -> tuple[float, ...]:
    """The place of a grid where a part is greatest."""
    logs = surface.logs[part]
    if surface.y is None:
        return (float(surface.x[np.argmax(logs)]),)
    j, i = np.unravel_index(np.argmax(logs), logs.shape)
    return float(surface.x[i]), float(surface.y[j])


def near(surface: Any, part: str) -> bool:
    """Whether the top of a part is at most one cell from the highest place of the grid."""
    axes = [axis for axis in (surface.x, surface.y) if axis is not None]
    pairs = zip(surface.tops[part], highest(surface, part), axes, strict=True)
    return all(abs(float(top) - at) <= axis[1] - axis[0] for top, at, axis in pairs)


def test_the_coin_of_five_heads_in_sixteen() -> None:
    result = weigh.surface(weigh.Beta(2, 2), successes=TOSSES.count("H"), trials=len(TOSSES))
    half, third = (Fraction(1, 2),), (Fraction(1, 3),)
    assert dict(result.tops) == {"likelihood": (Fraction(5, 16),), "prior": half, "posterior": third}
    assert all(near(result, part) for part in result.logs)


@given(st.integers(0, 20), st.integers(0, 20), st.integers(2, 6), st.integers(2, 6))
def test_the_posterior_of_a_coin_is_likelihood_times_prior(k: int, more: int, a: int, b: int) -> None:
    result = weigh.surface(weigh.Beta(a, b), successes=k, trials=k + more, cells=10)
    rest = result.logs["posterior"] - result.logs["likelihood"] - result.logs["prior"]
    assert np.ptp(rest) == pytest.approx(0.0, abs=1e-9)
    assert result.tops["posterior"] == (Fraction(a + k - 1, a + b + k + more - 2),)


def test_a_flat_prior_has_no_mode() -> None:
    result = weigh.surface(weigh.Beta(1, 1), successes=1, trials=4)
    assert dict(result.tops) == {"likelihood": (Fraction(1, 4),), "posterior": (Fraction(1, 4),)}


def test_the_normal_curve_is_likeliest_at_mean_and_root_mean_square() -> None:
    values = RNG.normal(10, 2, 25)
    result = weigh.surface(weigh.Normal, values, cells=61)
    assert result.tops["likelihood"] == pytest.approx((values.mean(), values.std()))
    assert near(result, "likelihood")
    j, i = 20, 40
    x, y = float(result.x[i]), float(result.y[j])
    by_hand = sum(-0.5 * ((v - x) / y) ** 2 - math.log(y * math.sqrt(2 * math.pi)) for v in values.tolist())
    assert result.logs["likelihood"][j, i] == pytest.approx(by_hand, rel=1e-12)


def test_the_laplace_curve_is_likeliest_at_median_and_mean_deviation() -> None:
    values = RNG.laplace(3, 2, 25)
    result = weigh.surface(weigh.Laplace, values, cells=61)
    middle = float(np.median(values))
    assert result.tops["likelihood"] == (middle, float(np.abs(values - middle).mean()))
    assert near(result, "likelihood")
    prior = weigh.Laplace(float(result.y[9]), mean=float(result.x[30]))
    assert result.logs["likelihood"][9, 30] == pytest.approx(float(np.sum(prior.log_density(values))))


@pytest.mark.parametrize("prior", [weigh.Normal(0.4), weigh.Laplace(0.3), weigh.Penalty(l1=2, l2=3)])
def test_the_posterior_of_a_linear_regression_is_greatest_at_its_fit(prior: Any) -> None:
    learner = weigh.LinearRegression(prior, noise=weigh.Normal(1.0)).fit(TABLE, "y")
    result = weigh.surface(learner, TABLE)
    assert result.names == ("a", "b")
    assert result.tops["posterior"] == pytest.approx(tuple(learner.coef_[:2]), rel=1e-12)
    assert near(result, "posterior")
    assert near(result, "likelihood")


def test_least_squares_maximises_the_likelihood() -> None:
    two = {"a": ROWS["a"], "y": TARGET}
    learner = weigh.LinearRegression().fit(two, "y")
    result = weigh.surface(learner, two)
    slope, height = np.polyfit(ROWS["a"], TARGET, 1)
    assert result.names == ("a", "bias")
    assert list(result.logs) == ["likelihood"]
    assert result.tops["likelihood"] == pytest.approx((slope, height), rel=1e-10)


def test_the_log_likelihood_of_a_line_is_that_of_its_residuals() -> None:
    two = {"a": ROWS["a"], "y": TARGET}
    result = weigh.surface(weigh.LinearRegression(noise=weigh.Normal(2.0)).fit(two, "y"), two, cells=11)
    away = TARGET - float(result.x[3]) * ROWS["a"] - float(result.y[7])
    assert result.logs["likelihood"][7, 3] == pytest.approx(
        float(np.sum(weigh.Normal(2.0).log_density(away)))
    )


@pytest.mark.parametrize(
    "settings", [{}, {"scale": "unit"}, {"scale": None}, {"prior": weigh.Laplace(0.5)}, {"bias": False}]
)
def test_the_posterior_of_a_logistic_regression_is_greatest_at_its_fit(settings: Any) -> None:
    learner = weigh.LogisticRegression(**settings, tol=1e-10).fit(CLASSES, "y")
    result = weigh.surface(learner, CLASSES, cells=41)
    assert result.tops["posterior"] == pytest.approx(tuple(learner.coef_[0, :2]), abs=1e-12)
    assert near(result, "posterior")
    assert near(result, "likelihood")


def test_the_logistic_posterior_is_the_objective_of_the_fit() -> None:
    learner = weigh.LogisticRegression(prior=2.0).fit(CLASSES, "y")
    result = weigh.surface(learner, CLASSES, across="b", up="bias", cells=11)
    j, i = 2, 8
    w = learner.coef_[0].copy()
    w[1] = result.x[i]
    odds = np.column_stack(list(ROWS.values())) @ w + result.y[j]
    signs = np.where(CLASSES["y"] == "yes", 1, -1)
    by_hand = -np.log1p(np.exp(-signs * odds)).sum()
    assert result.logs["likelihood"][j, i] == pytest.approx(float(by_hand))
    # The prior Normal(2) applies to the weight of the standardised number.
    weight = float(result.x[i]) * float(ROWS["b"].std())
    assert result.logs["prior"][j, i] == pytest.approx(-0.5 * weight**2 / 4)


def test_separable_rows_have_no_maximum_likelihood_estimate() -> None:
    apart = {"a": [0.0, 1.0, 2.0, 3.0], "y": ["no", "no", "yes", "yes"]}
    result = weigh.surface(weigh.LogisticRegression().fit(apart, "y"), apart)
    assert list(result.tops) == ["posterior"]


def test_a_plot_shows_the_requested_function() -> None:
    learner = weigh.LinearRegression(weigh.Normal(1)).fit(TABLE, "y")
    result = weigh.surface(learner, TABLE, cells=12)
    for which, part in ((None, "posterior"), ("likelihood", "likelihood"), ("prior", "prior")):
        assert f"Linear regression of y: {part}" in str(result.plot(which).to_dict()["title"])
    with pytest.raises(errors.ParameterError) as raised:
        result.plot("evidence")
    assert str(raised.value) == (
        "plot: which must be one of 'likelihood', 'prior', 'posterior', got 'evidence'."
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: weigh.surface(3),
            "surface: belief must be a Beta, the class Normal or Laplace, "
            "or a fitted regression or naive Bayes model, got 3.",
        ),
        (
            lambda: weigh.surface(weigh.Beta(1, 1), successes=5, trials=4),
            "surface: successes must be at most the 4 trials, got 5.",
        ),
        (
            lambda: weigh.surface(weigh.Normal, [1.0, 1.0]),
            "surface needs numbers that differ, got 2 times 1. Their likelihood has no maximum.",
        ),
        (
            lambda: weigh.surface(weigh.Normal, [1.0]),
            "surface: data must be two or more numbers of at most 1e+100, got [1.0].",
        ),
        (
            lambda: weigh.surface(weigh.LinearRegression().fit(TABLE, "y"), TABLE, across="d"),
            "The regression has no column 'd'; it has 'a', 'b', 'c', 'bias'.",
        ),
        (
            lambda: weigh.surface(weigh.LogisticRegression().fit(CLASSES, "y"), ROWS),
            "surface needs rows labelled 'no', 'yes', got None. Give y.",
        ),
        (
            lambda: weigh.surface(weigh.LinearRegression().fit(TABLE, "y"), ROWS),
            "surface needs a number of at most 1e+100 for every row of a linear regression. Give y.",
        ),
    ],
)
def test_invalid_arguments_are_rejected(call: Any, message: str) -> None:
    with pytest.raises(errors.WeighError) as raised:
        call()
    assert str(raised.value) == message


@pytest.mark.parametrize("curve", [weigh.Normal, weigh.Laplace])
def test_numbers_that_differ_in_the_last_digit_only_have_no_surface(curve: Any) -> None:
    with pytest.raises(
        errors.Unsupported, match="The rows determine the parameter 1 to floating-point precision"
    ):
        weigh.surface(curve, [1.0, np.nextafter(1.0, 2.0)])
    with pytest.raises(errors.ParameterError, match="two or more numbers of at most"):
        weigh.surface(curve, [-1e200, 1e200])


def test_a_table_is_neither_a_belief_nor_a_weight_name() -> None:
    table = np.arange(40.0).reshape(20, 2) % 7
    with pytest.raises(errors.ParameterError, match="belief must be a Beta") as raised:
        weigh.surface(np.tile(table, (50, 1)), table)
    assert len(str(raised.value)) < 400
    fitted = weigh.LinearRegression().fit(table, table[:, 0] ** 2)
    with pytest.raises(errors.ColumnError, match="The regression has no column"):
        weigh.surface(fitted, table, table[:, 0] ** 2, across=table)


def test_rows_far_from_the_boundary_have_a_finite_surface() -> None:
    table = np.random.default_rng(0).normal(size=(40, 2))
    labels = np.where(table[:, 0] + table[:, 1] > 0.3, "a", "b")
    fitted = weigh.LogisticRegression().fit(table, labels)
    assert np.isfinite(weigh.surface(fitted, table * 1e10, labels).logs["likelihood"]).all()
