"""Cuts of numbers into bins."""

from __future__ import annotations

import numpy as np
import pytest

from weigh import errors
from weigh.features.columns import bin_names, to_bins
from weigh.features.cuts import find_cuts


def test_even_values_are_cut_into_equal_counts():
    values = np.arange(100.0)
    codes = to_bins(values, find_cuts(values, 4, "x")).codes
    assert np.bincount(codes).tolist() == [25, 25, 25, 25]


def test_a_value_that_fills_a_bin_gets_one_of_its_own():
    values = np.concatenate([np.zeros(900), np.arange(1.0, 101.0)])
    cuts = find_cuts(values, 5, "x")
    assert cuts[0] == 0.5
    codes = to_bins(values, cuts).codes
    assert (codes[:900] == 0).all()
    assert (codes[900:] > 0).all()


def test_cuts_of_huge_numbers_exist():
    assert find_cuts(np.array([-1e308, 1e308]), 2, "x") == (0.0,)
    assert find_cuts(np.array([1.6e308, 1.7e308]), 2, "x")[0] == pytest.approx(1.65e308)


def test_one_distinct_value_cannot_be_cut():
    with pytest.raises(errors.ColumnError, match="1 distinct value in the first rows, too few for 5 bins"):
        find_cuts(np.array([3.0, 3.0, np.nan]), 5, "x")


def test_a_cut_belongs_to_the_bin_on_its_left_and_missing_to_none():
    block = to_bins(np.array([1.0, 2.0, 2.5, np.nan]), (2.0,))
    assert block.codes.tolist() == [0, 0, 1, -1]
    assert block.levels == ["x ≤ 2", "x > 2"]


def test_bins_are_named_by_their_borders():
    assert bin_names((1.5, 2.0)) == ["x ≤ 1.5", "1.5 < x ≤ 2", "x > 2"]
