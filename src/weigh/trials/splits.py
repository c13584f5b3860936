"""Stratified splits of row indices, from a seed: repeated folds and nested training subsets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh import errors
from weigh.advice import Setting
from weigh.deduplicated_warnings import warn
from weigh.trials.rows import RowIndices

Groups = npt.NDArray[np.int64]

MANY_CLASSES = 20  # warn if there are more integer classes than this, and more than one per this many rows


@dataclass(frozen=True, eq=False)
class Split:
    """The training and test row indices of one fold of one repeat."""

    repeat: int
    fold: int
    train: RowIndices
    test: RowIndices

    def __str__(self) -> str:
        return f"fold {self.fold + 1} of repeat {self.repeat + 1}"


def stratification_groups(labels: npt.NDArray[Any], is_regression: bool) -> Groups:
    """Return the class code of every row [n]; all rows of a regression are one group."""
    if is_regression:
        return np.zeros(len(labels), np.int64)
    if labels.dtype.kind == "f" and (labels != np.round(labels)).any():
        fraction = labels[labels != np.round(labels)][0]
        raise errors.LabelError(
            f"The labels are numbers such as {fraction:g}, but the learners are classifiers. Use a "
            f"regression, such as 'linear', or convert the labels to text."
        )
    codes: dict[Any, int] = {}
    groups = np.array([codes.setdefault(label, len(codes)) for label in labels.tolist()], np.int64)
    if labels.dtype.kind in "iuf" and len(codes) > max(MANY_CLASSES, len(labels) / MANY_CLASSES):
        warn(
            errors.OddClasses(
                f"The labels are {len(codes):,} different whole numbers in {len(labels):,} rows, and the "
                "learners treat each as a class.",
                hint="If they are measurements, use a regression, such as 'linear'.",
            )
        )
    return groups


def repeated_folds(groups: Groups, folds: int, repeats: int, seed: int, owner: str) -> list[Split]:
    """Return the splits of a repeated stratified k-fold cross-validation.

    The sizes of the folds differ by at most one row, and so do their numbers of rows of any one group.
    """
    if folds > len(groups):
        raise errors.DataError(
            f"{owner}: {folds} folds need at least {folds} rows, got {len(groups):,}.",
            hint=("Use more rows, or ", Setting("folds", max(2, len(groups) // 2)), "."),
        )
    sizes = np.bincount(groups)
    if len(sizes) > 1 and np.sum(sizes > 1) < 2:
        raise errors.DataError(
            f"{owner}: only one class has two or more rows, so some training sets would contain a single "
            f"class. Add rows of the other classes."
        )
    splits = []
    for repeat in range(repeats):
        fold_of_row = _assign_folds(groups, folds, np.random.default_rng([seed, repeat]))
        for fold in range(folds):
            is_test = fold_of_row == fold
            splits.append(Split(repeat, fold, np.flatnonzero(~is_test), np.flatnonzero(is_test)))
    return splits


def _assign_folds(groups: Groups, folds: int, rng: np.random.Generator) -> Groups:
    """Return the fold of every row [n]: rows are shuffled within their groups and assigned in turn."""
    shuffled = rng.permutation(len(groups))
    by_group = shuffled[np.argsort(groups[shuffled], kind="stable")]
    fold_of_row = np.empty(len(groups), np.int64)
    fold_of_row[by_group] = np.arange(len(groups)) % folds
    return fold_of_row


def stratified_order(indices: RowIndices, groups: Groups, rng: np.random.Generator) -> RowIndices:
    """Return row indices in an order whose prefixes are all stratified.

    The first rows are one of each group, so a prefix as long as the number of groups contains all of them.
    After that, row j of a group of k rows has the sort key (j + ½) / k, so that a prefix of m of n rows
    contains about m k / n of them.
    """
    shuffled = rng.permutation(indices)
    shuffled_groups = groups[shuffled]
    keys = np.empty(len(shuffled))
    for group in np.unique(shuffled_groups):
        members = np.flatnonzero(shuffled_groups == group)
        keys[members] = (np.arange(len(members)) + 0.5) / len(members)
        keys[members[0]] = 0.0
    return np.asarray(shuffled[np.argsort(keys, kind="stable")], np.int64)
