"""Folds are even, subsets grow within one another, and both keep the classes' shares."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh import errors
from weigh.trials.splits import repeated_folds, stratification_groups, stratified_order

labels = st.lists(st.sampled_from("aabbbc"), min_size=2, max_size=80).map(lambda found: [*"aabb", *found])


@given(labels, st.integers(2, 6), st.integers(0, 5))
def test_folds_hold_every_row_out_once_and_are_even(given_labels: list[str], folds: int, seed: int) -> None:
    groups = stratification_groups(np.array(given_labels), False)
    splits = repeated_folds(groups, folds, 2, seed, "here")
    assert len(splits) == 2 * folds
    for repeat in (0, 1):
        own = [split for split in splits if split.repeat == repeat]
        held = np.concatenate([split.test for split in own])
        assert sorted(held) == list(range(len(groups)))
        counts = np.array([np.bincount(groups[split.test], minlength=3) for split in own])
        assert np.ptp(counts, axis=0).max() <= 1
        assert np.ptp(counts.sum(axis=1)) <= 1
    for split in splits:
        assert sorted([*split.train, *split.test]) == list(range(len(groups)))


@given(labels, st.integers(0, 5))
def test_every_beginning_has_the_classes_in_their_shares(given_labels: list[str], seed: int) -> None:
    groups = stratification_groups(np.array(given_labels), False)
    order = stratified_order(np.arange(len(groups)), groups, np.random.default_rng(seed))
    assert sorted(order) == list(range(len(groups)))
    total = np.bincount(groups)
    for m in range(len(total), len(groups) + 1):
        counts = np.bincount(groups[order[:m]], minlength=len(total))
        assert counts.min() >= 1
        # Rounded shares may miss their sum by half a row per class; the first row of each comes early.
        assert np.all(np.abs(counts - m * total / len(groups)) <= 0.5 * len(total) + 1)


def test_growing_subsets_depend_on_the_seed_alone() -> None:
    groups = np.arange(50) % 2
    orders = [stratified_order(np.arange(50), groups, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert (orders[0] == orders[1]).all()
    assert (orders[0] != orders[2]).any()


def test_repeats_cut_anew() -> None:
    first, second = repeated_folds(np.zeros(40, np.int64), 2, 2, 0, "here")[::2]
    assert (first.test != second.test).any()


def test_numbers_to_predict_are_one_group() -> None:
    assert stratification_groups(np.array([1.0, 2.0, 3.0]), True).tolist() == [0, 0, 0]
    assert stratification_groups(np.array(["b", "a", "b"]), False).tolist() == [0, 1, 0]


def test_classes_of_single_rows_are_refused() -> None:
    with pytest.raises(errors.DataError, match="here: fewer than two classes have two rows"):
        repeated_folds(np.array([0, 0, 0, 1]), 2, 1, 0, "here")


def test_more_folds_than_rows_are_refused() -> None:
    with pytest.raises(errors.DataError, match="here: 5 folds need 5 rows at least, got 4"):
        repeated_folds(np.zeros(4, np.int64), 5, 1, 0, "here")
