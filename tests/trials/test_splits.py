"""Folds and nested subsets are stratified and balanced."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh import errors
from weigh.trials.splits import encode_groups, find_strata, repeated_folds, stratified_order

labels = st.lists(st.sampled_from("aabbbc"), min_size=2, max_size=80).map(lambda drawn: [*"aabb", *drawn])


@given(labels, st.integers(2, 6), st.integers(0, 5))
def test_folds_are_a_balanced_partition_of_the_rows(class_labels: list[str], folds: int, seed: int) -> None:
    groups = find_strata(np.array(class_labels), False)
    splits = repeated_folds(groups, folds, 2, seed, "here")
    assert len(splits) == 2 * folds
    for repeat in (0, 1):
        of_repeat = [split for split in splits if split.repeat == repeat]
        tested = np.concatenate([split.test for split in of_repeat])
        assert sorted(tested) == list(range(len(groups)))
        counts = np.array([np.bincount(groups[split.test], minlength=3) for split in of_repeat])
        assert np.ptp(counts, axis=0).max() <= 1
        assert np.ptp(counts.sum(axis=1)) <= 1
    for split in splits:
        assert sorted([*split.train, *split.test]) == list(range(len(groups)))


@given(labels, st.integers(0, 5))
def test_every_prefix_is_stratified(class_labels: list[str], seed: int) -> None:
    groups = find_strata(np.array(class_labels), False)
    order = stratified_order(np.arange(len(groups)), groups, np.random.default_rng(seed))
    assert sorted(order) == list(range(len(groups)))
    total = np.bincount(groups)
    for m in range(len(total), len(groups) + 1):
        counts = np.bincount(groups[order[:m]], minlength=len(total))
        assert counts.min() >= 1
        # Rounded shares may miss their sum by half a row per class; the first row of each comes early.
        assert np.all(np.abs(counts - m * total / len(groups)) <= 0.5 * len(total) + 1)


def test_nested_subsets_depend_only_on_the_seed() -> None:
    groups = np.arange(50) % 2
    orders = [stratified_order(np.arange(50), groups, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert (orders[0] == orders[1]).all()
    assert (orders[0] != orders[2]).any()


def test_repeats_have_different_folds() -> None:
    first, second = repeated_folds(np.zeros(40, np.int64), 2, 2, 0, "here")[::2]
    assert (first.test != second.test).any()


def test_rows_of_a_regression_are_one_group() -> None:
    assert find_strata(np.array([1.0, 2.0, 3.0]), True).tolist() == [0, 0, 0]
    assert find_strata(np.array(["b", "a", "b"]), False).tolist() == [0, 1, 0]


def test_classes_of_single_rows_raise() -> None:
    with pytest.raises(errors.DataError, match="here: only one class has two or more rows"):
        repeated_folds(np.array([0, 0, 0, 1]), 2, 1, 0, "here")


def test_more_folds_than_rows_raise() -> None:
    with pytest.raises(errors.DataError, match="here: 5 folds need at least 5 rows, got 4"):
        repeated_folds(np.zeros(4, np.int64), 5, 1, 0, "here")


def test_groups_are_never_divided_and_folds_are_stratified() -> None:
    rng = np.random.default_rng(2)
    groups = rng.integers(0, 80, 1_000)
    strata = find_strata((rng.random(1_000) < 0.2).astype(str), False)
    codes = encode_groups(groups, 1_000, "compare")
    splits = repeated_folds(strata, 5, 2, 0, "compare", codes)
    assert len(splits) == 10
    for split in splits:
        assert not set(groups[split.train]) & set(groups[split.test])
        assert 150 < len(split.test) < 250
        assert abs(strata[split.test].mean() - strata.mean()) < 0.06


def test_fewer_groups_than_folds_are_an_error() -> None:
    codes = encode_groups(["a", "b", "a", "b"], 4, "compare")
    with pytest.raises(errors.DataError) as caught:
        repeated_folds(np.array([0, 1, 0, 1]), 3, 1, 0, "compare", codes)
    assert str(caught.value) == (
        "compare: 3 folds need at least 3 groups, got 2. Use more groups, or folds=2."
    )
