"""Numbers within classes: means, spreads and their floor."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import weigh
from weigh import errors


def normal(values, y, **settings):
    return weigh.NaiveBayes(weigh.Number(**settings)).fit(np.c_[values], y).model_.distributions[0]


def test_a_small_spread_around_a_large_mean_keeps_its_digits():
    values = [1e6 - 1e-3, 1e6 + 1e-3, 1e6 - 3e-3, 1e6 + 3e-3]
    found = normal(values, [0, 0, 1, 1], floor=0.0)
    assert found.deviation[0] == pytest.approx(1e-3, rel=1e-6)
    assert found.deviation[1] == pytest.approx(3e-3, rel=1e-6)


@pytest.mark.parametrize("scale", [1e-250, 1e250])
def test_spreads_exist_where_their_squares_do_not(scale):
    found = normal(scale * np.array([1.0, 3.0, 5.0, 7.0]), [0, 0, 1, 1])
    assert found.deviation.tolist() == pytest.approx([scale, scale])


def test_the_floor_is_a_share_of_the_whole_columns_spread():
    values = np.array([5.0, 5.0, 0.0, 10.0])
    found = normal(values, [0, 0, 1, 1], floor=0.1)
    assert found.deviation[0] == pytest.approx(0.1 * values.std())
    assert found.deviation[1] == 5.0


def test_a_shared_spread_is_pooled_within_the_classes():
    found = normal([0.0, 2.0, 10.0, 16.0], [0, 0, 1, 1], spread="shared")
    assert found.deviation.tolist() == pytest.approx([math.sqrt(5.0)] * 2)


def test_a_column_that_never_varies_says_nothing():
    model = weigh.NaiveBayes().fit({"x": [2.5, 2.5, 2.5], "y": ["a", "b", "b"]}, "y").model_
    assert np.allclose(model.predict_proba({"x": 99.0}), [[1 / 3, 2 / 3]])


def test_a_class_without_values_is_given_the_whole_columns():
    nb = weigh.NaiveBayes().fit({"x": [1.5, 3.5, None], "y": ["a", "a", "b"]}, "y")
    found = nb.model_.distributions[0]
    assert found.mean.tolist() == [2.5, 2.5]
    assert found.deviation.tolist() == [1.0, 1.0]


def test_no_value_is_so_far_off_that_every_class_is_impossible():
    nb = weigh.NaiveBayes().fit({"x": [1.0, 2.0, 11.0, 12.0], "y": [0, 0, 1, 1]}, "y")
    assert np.isfinite(nb.model_.scores({"x": [1e300, -1e300]})).all()


def test_the_posterior_is_students():
    values = np.array([4.0, 5.5, 7.0, 6.0])
    found = weigh.NaiveBayes().fit({"x": values, "y": ["a"] * 4}, "y").model_.posterior("x", "a")
    low, high = stats.t.interval(0.9, 3, values.mean(), stats.sem(values))
    assert found.interval(0.9) == pytest.approx((low, high))
    squares = 4 * values.var()
    expected = [math.sqrt(squares / stats.chi2.ppf(q, 3)) for q in (0.95, 0.05)]
    assert found.spread_interval(0.9) == pytest.approx(tuple(expected))


def test_one_value_has_no_interval():
    found = (
        weigh.NaiveBayes().fit({"x": [1.5, 2.5, 3.5], "y": ["a", "b", "b"]}, "y").model_.posterior("x", "a")
    )
    with pytest.raises(errors.Unsupported, match="With 1 value nothing can be said of the spread"):
        found.interval()


def test_the_predictive_density_is_students():
    values = np.array([4.0, 5.5, 7.0, 6.0, 1.0, 2.0, 0.5])
    y = ["a"] * 4 + ["b"] * 3
    model = weigh.NaiveBayes().fit({"x": values, "y": y}, "y").model_
    new = 3.0
    density = []
    for mine, share in ((values[:4], 4 / 7), (values[4:], 3 / 7)):
        n = len(mine)
        scale = mine.std(ddof=1) * math.sqrt(1 + 1 / n)
        density.append(share * stats.t.pdf(new, n - 1, mine.mean(), scale))
    expected = np.array(density) / sum(density)
    assert np.allclose(model.predictive_proba({"x": new}), [expected])


def test_a_given_spread_makes_the_mean_normal_and_the_spread_certain():
    kind = {"x": weigh.Number(spread=2.0)}
    found = weigh.NaiveBayes(kind).fit({"x": [1.0, 2.0, 3.0], "y": ["a"] * 3}, "y").model_.posterior("x", "a")
    assert found.interval() == pytest.approx(stats.norm.interval(0.95, 2.0, 2.0 / math.sqrt(3)))
    assert found.spread_interval() == (2.0, 2.0)


def test_a_shared_spread_is_learned_from_all_classes():
    values, y = np.array([0.0, 2.0, 10.0, 16.0, 13.0]), ["a", "a", "b", "b", "b"]
    nb = weigh.NaiveBayes(weigh.Number(spread="shared")).fit({"x": values, "y": y}, "y")
    squares = 2 * values[:2].var() + 3 * values[2:].var()
    spread = math.sqrt(squares / 3)
    found = nb.model_.posterior("x", "a")
    assert found.interval() == pytest.approx(stats.t.interval(0.95, 3, 1.0, spread / math.sqrt(2)))
    low, high = (math.sqrt(squares / stats.chi2.ppf(q, 3)) for q in (0.975, 0.025))
    assert found.spread_interval() == pytest.approx((low, high))
    assert nb.model_.n_parameters == 2 + 1 + 1
    density = [
        share * stats.t.pdf(5.0, 3, mean, spread * math.sqrt(1 + 1 / n))
        for share, mean, n in ((0.4, 1.0, 2), (0.6, 13.0, 3))
    ]
    assert np.allclose(nb.model_.predictive_proba({"x": 5.0}), np.array(density) / sum(density))


def test_other_priors_leave_alone_what_is_not_given():
    model = weigh.NaiveBayes(class_prior="uniform").fit({"x": ["a", "b", "b"], "y": [0, 1, 1]}, "y").model_
    assert model.with_prior(2.0).class_prior == "uniform"
    assert model.with_prior(class_prior=None).prior == 1.0
