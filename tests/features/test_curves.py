"""The kind Curve: parameters, cells at quantiles, cells of frequent values, missing values and dates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weigh
from weigh import errors
from weigh.features.blocks import CategoryBlock, NumberBlock
from weigh.features.curves import Curve, Pair, PairBlock, pair_title
from weigh.learn.preprocessing import MAX_CELLS, fit_cells

RNG = np.random.default_rng(0)


def test_the_cells_of_a_curve_have_about_equal_counts() -> None:
    values = RNG.lognormal(size=4000)
    cells = fit_cells(Curve(bins=20), values, 1, "x")
    counts = np.bincount(np.searchsorted(cells.cuts, values))
    assert len(counts) == 20
    assert counts.min() >= 190
    assert counts.max() <= 210


def test_frequent_values_have_cells_of_their_own() -> None:
    values = np.concatenate([np.zeros(500), np.full(300, 40.0), RNG.uniform(1, 99, 700)])
    cells = fit_cells(Curve(bins=15), values, 1, "x")
    for value in (0.0, 40.0):
        own = values[np.searchsorted(cells.cuts, values) == np.searchsorted(cells.cuts, value)]
        assert (own == value).all()


def test_few_distinct_values_have_one_cell_each() -> None:
    cells = fit_cells(Curve(), RNG.choice([1.0, 2.0, 5.0], 300), 1, "x")
    assert cells.cuts.tolist() == [1.5, 3.5]
    assert cells.positions.tolist() == [1.0, 2.0, 5.0]
    assert cells.limits.tolist() == [1.0, 5.0]


def test_positions_are_the_means_of_the_values_in_the_cells() -> None:
    values = RNG.normal(size=500)
    cells = fit_cells(Curve(bins=7), values, 1, "x")
    numbers = np.searchsorted(cells.cuts, values)
    expected = [values[numbers == k].mean() for k in range(7)]
    np.testing.assert_allclose(cells.positions, expected, rtol=1e-12)


def test_unique_shares_are_those_of_the_rows_whose_values_no_other_row_has() -> None:
    values = np.array([-3.0, 1.0, 1.0, 2.0, 2.5, 2.5, 2.5, np.nan])
    cells = fit_cells(Curve(bins=(0.0, 1.5, 4.0)), values, 1, "x")
    np.testing.assert_allclose(cells.unique_shares, [1.0, 0.0, 0.25, 0.0])


def test_given_cuts_are_kept_and_empty_cells_have_positions_between_their_cuts() -> None:
    cells = fit_cells(Curve(bins=(-5.0, 0.0, 1.0, 7.0)), np.array([-0.5, -0.25, 0.5, 2.0, np.nan]), 1, "x")
    assert cells.cuts.tolist() == [-5.0, 0.0, 1.0, 7.0]
    np.testing.assert_allclose(cells.positions, [-2.75, -0.375, 0.5, 2.0, 4.5])


def test_more_rows_have_more_cells_up_to_a_limit() -> None:
    sizes = [len(fit_cells(Curve(), RNG.normal(size=n), 1, "x").cuts) + 1 for n in (10, 100, 1000, 20_000)]
    assert sizes == sorted(sizes)
    assert sizes[0] == 10
    assert MAX_CELLS * 0.9 <= sizes[-1] <= MAX_CELLS


@pytest.mark.parametrize("values", [[], [np.nan, np.nan], [3.5, 3.5, np.nan]])
def test_columns_without_two_distinct_values_have_one_cell(values: list[float]) -> None:
    cells = fit_cells(Curve(), np.array(values, dtype=float), 1, "x")
    assert len(cells.cuts) == 0
    assert np.isfinite(cells.positions).all()


@pytest.mark.parametrize("values", [[1e300, -1e300, 2e299], [5e-324, 0.0, 1e-310]])
def test_cells_of_extreme_numbers_are_finite_and_in_order(values: list[float]) -> None:
    cells = fit_cells(Curve(), np.array(values), 1, "x")
    assert np.isfinite(cells.cuts).all()
    assert np.isfinite(cells.positions).all()
    assert (np.diff(cells.positions) > 0).all()


def test_neighbouring_floats_have_cells_of_their_own() -> None:
    values = 2.0**60 + 256.0 * np.arange(6)  # the middles of half of them round up
    for neighbours in (values, 5e-324 * np.arange(-3, 4)):
        cells = fit_cells(Curve(), np.repeat(neighbours, 3), 1, "x")
        np.testing.assert_array_equal(cells.cuts, neighbours[:-1])
        np.testing.assert_array_equal(cells.positions, neighbours)


def test_numbers_whose_sum_may_overflow_are_refused() -> None:
    with pytest.raises(errors.ColumnError) as raised:
        fit_cells(Curve(), np.array([1.0, -1.7e308]), 1, "income")
    assert str(raised.value) == (
        "Column 'income' has the magnitude 1.7e+308; sums of numbers above 1e+302 overflow. Divide the "
        "column by its largest value."
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bins": 1}, "bins"),
        ({"bins": 0}, "bins"),
        ({"bins": "many"}, "bins"),
        ({"bins": (2.0, 1.0)}, "bins"),
        ({"bins": (1.0, np.nan)}, "bins"),
        ({"smooth": -1.0}, "smooth"),
        ({"smooth": 0.0}, "smooth"),
        (
            {"smooth": 1e-12},
            "smooth must be 'auto' or a number of at least 1e-06, at most 1e\\+09, got 1e-12",
        ),
        ({"smooth": 1e300}, "smooth"),
        ({"smooth": np.inf}, "smooth"),
        ({"smooth": "much"}, "smooth"),
        ({"monotone": "sideways"}, "monotone"),
        ({"monotone": 1}, "monotone"),
    ],
)
def test_wrong_parameters_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(errors.WeighError, match=message):
        weigh.LogisticRegression(columns={"x": Curve(**settings)}).fit(
            {"x": [1.0, 2.0, 3.0, 4.0], "y": [0, 1, 0, 1]}, "y"
        )


def test_the_kind_prints_as_it_is_written() -> None:
    assert repr(Curve()) == "Curve()"
    assert repr(Curve(bins=(1.0, 2.0), monotone="up")) == "Curve(bins=(1.0, 2.0), monotone='up')"
    assert eval(repr(Curve(smooth=2.5)), {"Curve": Curve}) == Curve(smooth=2.5)


@pytest.mark.parametrize("learner", [weigh.NaiveBayes, weigh.JointBayes])
def test_learners_of_distributions_refuse_curves(learner: Any) -> None:
    with pytest.raises(errors.WeighError, match=r"(?i)curve"):
        learner(columns={"x": Curve()}).fit({"x": [1.0, 2.0, 3.0, 4.0], "y": [0, 1, 0, 1]}, "y")


def test_the_name_of_the_kind_can_be_given() -> None:
    model = weigh.LogisticRegression(columns={"x": "curve"}).fit({"x": [1.0, 2.0], "y": [0, 1]}, "y")
    assert model.schema_.kinds == [Curve()]


def test_a_pair_encodes_two_columns() -> None:
    columns = {"a": np.array([1.0, np.nan]), "b": np.array(["u", "v"])}
    block = Pair(numbers=(True, False)).encode(columns, ["a", "b"], ())
    assert isinstance(block.left, NumberBlock)
    assert isinstance(block.right, CategoryBlock)
    np.testing.assert_array_equal(block.left.values, [1.0, np.nan])
    assert block.n_rows == 2
    row = block.row(1)
    assert isinstance(row, PairBlock)
    assert (row.n_rows, row.right.levels[int(row.right.codes[0])]) == (1, "v")
    assert block.where(np.array([True, False])).n_rows == 1


def test_the_title_of_a_pair_has_both_names() -> None:
    assert pair_title(["a", "b"]) == "a × b"
