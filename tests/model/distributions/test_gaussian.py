"""The normal distribution within classes: means, spreads, their floor and the posterior."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import weigh
from weigh import errors


def fit_gaussian(values, y, **settings):
    return weigh.NaiveBayes(weigh.Number(**settings)).fit(np.c_[values], y).model_.distributions[0]


def test_a_small_spread_around_a_large_mean_keeps_its_digits():
    values = [1e6 - 1e-3, 1e6 + 1e-3, 1e6 - 3e-3, 1e6 + 3e-3]
    gaussian = fit_gaussian(values, [0, 0, 1, 1], floor=0.0)
    assert gaussian.deviation[0] == pytest.approx(1e-3, rel=1e-6)
    assert gaussian.deviation[1] == pytest.approx(3e-3, rel=1e-6)


@pytest.mark.parametrize("scale", [1e-250, 1e250])
def test_a_spread_is_finite_although_its_square_is_not(scale):
    gaussian = fit_gaussian(scale * np.array([1.0, 3.0, 5.0, 7.0]), [0, 0, 1, 1])
    assert gaussian.deviation.tolist() == pytest.approx([scale, scale])


def test_the_floor_is_relative_to_the_spread_of_the_whole_column():
    values = np.array([5.0, 5.0, 0.0, 10.0])
    gaussian = fit_gaussian(values, [0, 0, 1, 1], floor=0.1)
    assert gaussian.deviation[0] == pytest.approx(0.1 * values.std())
    assert gaussian.deviation[1] == 5.0


def test_a_shared_spread_is_pooled_within_the_classes():
    gaussian = fit_gaussian([0.0, 2.0, 10.0, 16.0], [0, 0, 1, 1], spread="shared")
    assert gaussian.deviation.tolist() == pytest.approx([math.sqrt(5.0)] * 2)


def test_a_constant_column_contributes_nothing():
    model = weigh.NaiveBayes().fit({"x": [2.5, 2.5, 2.5], "y": ["a", "b", "b"]}, "y").model_
    assert np.allclose(model.predict_proba({"x": 99.0}), [[1 / 3, 2 / 3]])


def test_a_class_without_values_gets_the_moments_of_the_column():
    nb = weigh.NaiveBayes().fit({"x": [1.5, 3.5, None], "y": ["a", "a", "b"]}, "y")
    gaussian = nb.model_.distributions[0]
    assert gaussian.mean.tolist() == [2.5, 2.5]
    assert gaussian.deviation.tolist() == [1.0, 1.0]


def test_extreme_values_leave_the_scores_finite():
    nb = weigh.NaiveBayes().fit({"x": [1.0, 2.0, 11.0, 12.0], "y": [0, 0, 1, 1]}, "y")
    assert np.isfinite(nb.model_.scores({"x": [1e300, -1e300]})).all()


def test_the_posterior_of_the_mean_is_student_t():
    values = np.array([4.0, 5.5, 7.0, 6.0])
    posterior = weigh.NaiveBayes().fit({"x": values, "y": ["a"] * 4}, "y").model_.posterior("x", "a")
    low, high = stats.t.interval(0.9, 3, values.mean(), stats.sem(values))
    assert posterior.interval(0.9) == pytest.approx((low, high))
    squares = 4 * values.var()
    expected = [math.sqrt(squares / stats.chi2.ppf(q, 3)) for q in (0.95, 0.05)]
    assert posterior.spread_interval(0.9) == pytest.approx(tuple(expected))


def test_a_single_value_has_no_interval():
    posterior = (
        weigh.NaiveBayes().fit({"x": [1.5, 2.5, 3.5], "y": ["a", "b", "b"]}, "y").model_.posterior("x", "a")
    )
    with pytest.raises(errors.Unsupported, match="The spread cannot be estimated from 1 value"):
        posterior.interval()


def test_the_predictive_density_is_student_t():
    values = np.array([4.0, 5.5, 7.0, 6.0, 1.0, 2.0, 0.5])
    y = ["a"] * 4 + ["b"] * 3
    model = weigh.NaiveBayes().fit({"x": values, "y": y}, "y").model_
    new = 3.0
    density = []
    for class_values, share in ((values[:4], 4 / 7), (values[4:], 3 / 7)):
        n = len(class_values)
        scale = class_values.std(ddof=1) * math.sqrt(1 + 1 / n)
        density.append(share * stats.t.pdf(new, n - 1, class_values.mean(), scale))
    expected = np.array(density) / sum(density)
    assert np.allclose(model.predictive_proba({"x": new}), [expected])


def test_a_given_spread_has_a_normal_mean_and_no_interval_width():
    kind = {"x": weigh.Number(spread=2.0)}
    posterior = (
        weigh.NaiveBayes(kind).fit({"x": [1.0, 2.0, 3.0], "y": ["a"] * 3}, "y").model_.posterior("x", "a")
    )
    assert posterior.interval() == pytest.approx(stats.norm.interval(0.95, 2.0, 2.0 / math.sqrt(3)))
    assert posterior.spread_interval() == (2.0, 2.0)


def test_a_shared_spread_is_estimated_from_all_classes():
    values, y = np.array([0.0, 2.0, 10.0, 16.0, 13.0]), ["a", "a", "b", "b", "b"]
    nb = weigh.NaiveBayes(weigh.Number(spread="shared")).fit({"x": values, "y": y}, "y")
    squares = 2 * values[:2].var() + 3 * values[2:].var()
    spread = math.sqrt(squares / 3)
    posterior = nb.model_.posterior("x", "a")
    assert posterior.interval() == pytest.approx(stats.t.interval(0.95, 3, 1.0, spread / math.sqrt(2)))
    low, high = (math.sqrt(squares / stats.chi2.ppf(q, 3)) for q in (0.975, 0.025))
    assert posterior.spread_interval() == pytest.approx((low, high))
    assert nb.model_.n_parameters == 2 + 1 + 1
    density = [
        share * stats.t.pdf(5.0, 3, mean, spread * math.sqrt(1 + 1 / n))
        for share, mean, n in ((0.4, 1.0, 2), (0.6, 13.0, 3))
    ]
    assert np.allclose(nb.model_.predictive_proba({"x": 5.0}), np.array(density) / sum(density))


def test_with_prior_keeps_the_settings_that_are_not_given():
    model = weigh.NaiveBayes(class_prior="uniform").fit({"x": ["a", "b", "b"], "y": [0, 1, 1]}, "y").model_
    assert model.with_prior(2.0).class_prior == "uniform"
    assert model.with_prior(class_prior=None).prior == 1.0
