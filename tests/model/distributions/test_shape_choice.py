"""The shape of a number is the simplest one that nearly predicts the class best without the row itself."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.model.distributions.shape_reference import (
    normal_logs,
    reference_bins,
    reference_losses,
    share_logs,
)
from weigh import _core
from weigh.features.blocks import NumberBlock
from weigh.features.kinds import Number
from weigh.model.counts.count_table import RowClasses
from weigh.model.counts.value_grid import GridCounts
from weigh.model.distributions.shape_choice import choose_shape, compare_shapes

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
    logs, without = share_logs(np.array([[3.0, 1.0], [1.0, 5.0]]), 2)
    assert np.exp(logs) == pytest.approx(np.array([[3.8 / 6, 1.8 / 8], [2.2 / 6, 6.2 / 8]]))
    assert np.exp(without) == pytest.approx(np.array([[2.8 / 5, 0.8 / 7], [1.2 / 5, 5.2 / 7]]))


def test_a_frequent_value_has_a_bin_of_its_own():
    bins = _core.equal_mass_bins(np.array([1.0, 1.0, 50.0, 1.0, 1.0, 1.0, 1.0]), 4)
    assert (bins == bins[2]).sum() == 1
    assert len(set(bins.tolist())) == 4


def test_a_class_of_a_single_row_has_the_density_of_the_column_without_it():
    weights = np.array([1.0, 1.0, 29.0])
    values, classes = np.array([0.0, 1.0, 2.0]), np.array([0, 0, 1], dtype=np.int32)
    assert choose(values, classes, weights).shape == "normal"
    _, without = normal_logs(np.array([0.0, 3.0]), np.array([[1.0, 0.0], [0.0, 9.0]]), "own", 0.01)
    assert np.isfinite(without).all()


FORMS = [
    lambda z, y: z + y,
    lambda z, y: np.exp(z + y),
    lambda z, y: np.where(z < 0, 0.0, np.exp(z)) * 1e-200,
    lambda z, y: np.where(z < 0, 0.0, z - 1),
    lambda z, y: np.round(5 * z) * (1 + y),
]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(FORMS), st.sampled_from([None, "own", "shared"]), st.booleans())
def test_losses_equal_the_reference(seed, form, spread, is_weighted):
    rng = np.random.default_rng(seed)
    n_rows, n_classes = int(rng.choice([3, 30, 300, 2000])), int(rng.integers(1, 5))
    classes = rng.integers(0, n_classes, n_rows).astype(np.int32)
    weights = 3 * rng.random(n_rows) if is_weighted else None
    values = form(rng.normal(size=n_rows), classes)
    # One more class, without rows.
    grid = GridCounts.from_block(NumberBlock(values), RowClasses(classes, n_classes + 1, weights))
    kind = Number(shape=str(rng.choice(["auto", "zero-inflated"])), spread=spread)
    losses = [candidate[-1] for candidate in compare_shapes(grid, kind)]
    assert losses == pytest.approx(reference_losses(grid, kind), rel=1e-9, abs=1e-9)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=40), st.integers(1, 20))
def test_bins_equal_the_reference(totals, n_bins):
    totals = np.array(totals, dtype=float)
    assert _core.equal_mass_bins(totals, n_bins).tolist() == reference_bins(totals, n_bins).tolist()


def test_tables_of_other_lengths_are_refused():
    with pytest.raises(ValueError, match="centres and counts differ in length"):
        compare_shapes(GridCounts(np.array([1, 2], dtype=np.int32), np.ones((2, 3))), Number())
    with pytest.raises(ValueError, match="there are no rows"):
        compare_shapes(GridCounts(np.array([1, 2], dtype=np.int32), np.zeros((2, 2))), Number())
