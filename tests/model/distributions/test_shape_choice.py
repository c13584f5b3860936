"""The shape of a number is the simplest one that nearly predicts the class best without the row itself."""

import math

import numpy as np
import pytest

from weigh.features.blocks import NumberBlock
from weigh.features.kinds import Number
from weigh.model.counts.count_table import RowClasses
from weigh.model.counts.value_grid import GridCounts
from weigh.model.distributions.shape_choice import (
    choose_shape,
    equal_mass_bins,
    normal_logs,
    share_logs,
)

RNG = np.random.default_rng(5)
CLASSES = RNG.integers(0, 2, 600).astype(np.int32)


def choose(values, classes=CLASSES, weights=None, **settings):
    grid = GridCounts.from_block(NumberBlock(values), RowClasses(classes, 2, weights))
    kind = Number(**{"shape": "auto"} | settings)
    scaled = values / np.abs(values).max()
    return choose_shape(grid, kind, float(np.std(scaled) / abs(np.mean(scaled))))


def noise(scale=1.0):
    return np.random.default_rng(1).normal(size=len(CLASSES)) * scale


def test_normal_numbers_are_normal():
    assert choose(10 + CLASSES + noise(1.0 + CLASSES)).shape == "normal"
    assert choose(10 + CLASSES + noise(1.0 + CLASSES)).spread == "own"


def test_skewed_numbers_are_log_normal():
    assert choose(np.exp(CLASSES + noise(1.0 + CLASSES))).shape == "log-normal"


def test_numbers_that_are_often_zero_are_zero_inflated():
    is_zero = np.random.default_rng(2).random(len(CLASSES)) < 0.8 - 0.6 * CLASSES
    choice = choose(np.where(is_zero, 0.0, np.exp(5 + CLASSES + noise())))
    assert (choice.shape, choice.is_log) == ("zero-inflated", True)


def test_numbers_with_two_modes_in_a_class_have_a_histogram():
    sides = np.random.default_rng(3).choice([-3.0, 3.0], len(CLASSES))
    assert choose(np.where(CLASSES == 0, sides / 3, sides) + noise(0.2)).shape == "histogram"


def test_numbers_that_say_nothing_about_the_class_stay_normal():
    assert choose(10 + noise()).shape == "normal"


def test_few_rows_are_normal():
    values = np.exp(3 * CLASSES + noise())
    assert choose(values[:29], CLASSES[:29]).shape == "normal"
    assert choose(values[:60], CLASSES[:60]).shape != "normal"


def test_numbers_that_the_grid_does_not_resolve_are_normal():
    assert choose(1e9 + np.exp(3 * CLASSES + noise())).shape == "normal"


def test_a_stated_shape_is_kept():
    values = 10 + CLASSES + noise()
    for shape in ("log-normal", "zero-inflated", "histogram"):
        assert choose(values, shape=shape).shape == shape
    assert choose(np.exp(values), shape="log-normal", spread="shared").spread == "shared"


def test_weights_too_small_to_count_as_rows_choose_nothing():
    assert choose(np.exp(3 * CLASSES + noise()), weights=np.full(len(CLASSES), 1e-3)).shape == "normal"


def test_huge_numbers_are_compared_without_overflow():
    assert choose(np.exp(CLASSES + noise(1.0 + CLASSES)) * 1e300).shape == "log-normal"


@pytest.mark.parametrize("spread", ["own", "shared"])
def test_densities_without_a_row_are_those_of_the_other_rows(spread):
    x = np.array([1.0, 2.0, 4.0, 7.0, 7.5])
    n = np.array([[2.0, 0.0], [1.0, 1.0], [3.0, 0.0], [0.0, 2.0], [1.0, 2.0]])
    _, without = normal_logs(x, n, spread, 0.0)
    for g, c in zip(*np.nonzero(n), strict=True):
        fewer = n.copy()
        fewer[g, c] -= 1
        means = x @ fewer / fewer.sum(axis=0)
        squares = (fewer * (x[:, None] - means) ** 2).sum(axis=0)
        variance = squares[c] / fewer[:, c].sum() if spread == "own" else squares.sum() / fewer.sum()
        expected = -0.5 * (math.log(variance) + (x[g] - means[c]) ** 2 / variance)
        assert without[g, c] == pytest.approx(expected, rel=1e-12)


def test_shares_are_smoothed_by_those_of_the_column():
    logs, without = share_logs(np.array([[3.0, 1.0], [1.0, 5.0]]), np.array([2]))
    assert np.exp(logs[0]) == pytest.approx(np.array([[3.8 / 6, 1.8 / 8], [2.2 / 6, 6.2 / 8]]))
    assert np.exp(without[0]) == pytest.approx(np.array([[2.8 / 5, 0.8 / 7], [1.2 / 5, 5.2 / 7]]))


def test_a_frequent_value_has_a_bin_of_its_own():
    bins = equal_mass_bins(np.array([1.0, 1.0, 50.0, 1.0, 1.0, 1.0, 1.0]), 4)
    assert (bins == bins[2]).sum() == 1
    assert len(set(bins.tolist())) == 4


def test_a_class_of_a_single_row_has_the_density_of_the_column_without_it():
    weights = np.array([1.0, 1.0, 29.0])
    values, classes = np.array([0.0, 1.0, 2.0]), np.array([0, 0, 1], dtype=np.int32)
    assert choose(values, classes, weights).shape == "normal"
    _, without = normal_logs(np.array([0.0, 3.0]), np.array([[1.0, 0.0], [0.0, 9.0]]), "own", 0.01)
    assert np.isfinite(without).all()
