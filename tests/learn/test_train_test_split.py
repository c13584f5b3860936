"""Splits into training and test rows: their sizes, strata, groups and times."""

from __future__ import annotations

import numpy as np
import pytest

from weigh import errors
from weigh.learn.train_test_split import encode_values, grouped_split, latest_split, stratified_split


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5, 0.77])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_class_has_its_share_of_test_rows_rounded(share: float, seed: int) -> None:
    codes = np.random.default_rng(seed).choice(4, 997, p=[0.6, 0.3, 0.08, 0.02]).astype(np.int32)
    is_test = stratified_split(codes, share, seed)
    assert is_test.sum() == round(997 * share)
    assert np.abs(np.bincount(codes[is_test], minlength=4) - share * np.bincount(codes)).max() < 1


def test_the_seed_determines_the_rows() -> None:
    codes = encode_values(["a", "b"] * 50)
    first, same, other = (stratified_split(codes, 0.3, seed) for seed in (5, 5, 6))
    assert (first == same).all()
    assert (first != other).any()


def test_the_only_row_of_a_class_is_for_training() -> None:
    codes = encode_values([*["a"] * 5, "b", "c", "d", "e"])
    for seed in range(20):
        assert not stratified_split(codes, 0.3, seed)[5:].any()


@pytest.mark.parametrize(("n", "share", "expected"), [(2, 0.01, 1), (2, 0.99, 1), (10, 0.999, 9)])
def test_both_sides_have_rows(n: int, share: float, expected: int) -> None:
    assert stratified_split(np.zeros(n, np.int32), share, 0).sum() == expected


def test_groups_stay_together_and_their_rows_are_about_the_share() -> None:
    codes = np.repeat(np.arange(100, dtype=np.int32), 7)
    for seed in range(5):
        is_test = grouped_split(codes, 0.2, seed)
        assert len(set(codes[is_test].tolist()) & set(codes[~is_test].tolist())) == 0
        assert abs(is_test.sum() - 140) < 7


def test_a_large_group_leaves_rows_on_both_sides() -> None:
    codes = encode_values([*["big"] * 50, "small"])
    for seed in range(5):
        assert 0 < grouped_split(codes, 0.2, seed).sum() < 51


def test_missing_values_share_a_code() -> None:
    assert encode_values([float("nan"), "a", None, float("nan"), "a"]).tolist() == [0, 1, 0, 0, 1]


def test_the_latest_rows_are_tested_and_equal_times_are_on_one_side() -> None:
    assert latest_split([3, 1, 2, 3, 0], 0.2).tolist() == [True, False, False, True, False]
    assert latest_split([1, 1, 1, 2], 0.9).tolist() == [False, False, False, True]


@pytest.mark.parametrize(
    ("split", "message"),
    [
        (lambda: stratified_split(np.zeros(1, np.int32), 0.2, 0), "A split needs at least two rows, got 1."),
        (
            lambda: grouped_split(np.zeros(3, np.int32), 0.2, 0),
            "All rows are in one group, which cannot be divided. Choose another column.",
        ),
        (
            lambda: latest_split([1, 1], 0.2),
            "All rows have the same time, so none is later. Choose another column.",
        ),
        (lambda: latest_split([1, None, 3], 0.2), "Row 1 (the first is 0) has no time. Leave out such rows."),
        (
            lambda: latest_split([1, 3, np.nan], 0.2),
            "Row 2 (the first is 0) has no time. Leave out such rows.",
        ),
        (
            lambda: latest_split([1, "a", 3], 0.2),
            "The times cannot be compared, because they have several types.",
        ),
    ],
)
def test_rows_that_cannot_be_divided(split, message: str) -> None:
    with pytest.raises(errors.DataError) as refusal:
        split()
    assert str(refusal.value) == message
