"""Splits of row indices, from a seed: stratified repeated folds, whole groups, nested training subsets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh import errors
from weigh.advice import Setting
from weigh.deduplicated_warnings import warn
from weigh.features.columns import is_missing
from weigh.judge.metrics.predictor import to_python_list
from weigh.trials.rows import RowIndices

Codes = npt.NDArray[np.int64]

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


def find_strata(labels: npt.NDArray[Any], is_regression: bool) -> Codes:
    """Return the class code of every row [n]; all rows of a regression are one stratum."""
    if is_regression:
        return np.zeros(len(labels), np.int64)
    if labels.dtype.kind == "f" and (labels != np.round(labels)).any():
        fraction = labels[labels != np.round(labels)][0]
        raise errors.LabelError(
            f"The labels are numbers such as {fraction:g}, but the learners are classifiers. Use a "
            f"regression, such as 'linear', or convert the labels to text."
        )
    codes: dict[Any, int] = {}
    strata = np.array([codes.setdefault(label, len(codes)) for label in labels.tolist()], np.int64)
    if labels.dtype.kind in "iuf" and len(codes) > max(MANY_CLASSES, len(labels) / MANY_CLASSES):
        warn(
            errors.OddClasses(
                f"The labels are {len(codes):,} different whole numbers in {len(labels):,} rows, and the "
                "learners treat each as a class.",
                hint="If they are measurements, use a regression, such as 'linear'.",
            )
        )
    return strata


def encode_groups(groups: Any, n_rows: int, owner: str) -> Codes:
    """Return the code of every row's group [n], in order of first appearance."""
    values = to_python_list(groups)
    if len(values) != n_rows:
        raise errors.parameter_error(
            owner, "groups", f"one group per row ({n_rows:,})", f"{len(values):,} groups"
        )
    if any(map(is_missing, values)):
        raise errors.parameter_error(owner, "groups", "one group per row", "missing groups")
    codes: dict[Any, int] = {}
    return np.array([codes.setdefault(value, len(codes)) for value in values], np.int64)


def repeated_folds(
    strata: Codes, folds: int, repeats: int, seed: int, owner: str, groups: Codes | None = None
) -> list[Split]:
    """Return the splits of a repeated stratified k-fold cross-validation.

    The sizes of the folds differ by at most one row, and so do their numbers of rows of any one stratum.
    Rows of a group are in one fold; the folds are then as equal as the groups allow.
    """
    n_units, units = (len(strata), "rows") if groups is None else (int(groups.max(initial=-1)) + 1, "groups")
    if folds > n_units:
        raise errors.DataError(
            f"{owner}: {folds} folds need at least {folds} {units}, got {n_units:,}.",
            hint=(f"Use more {units}, or ", Setting("folds", max(2, n_units // 2)), "."),
        )
    sizes = np.bincount(strata)
    if len(sizes) > 1 and np.sum(sizes > 1) < 2:
        raise errors.DataError(
            f"{owner}: only one class has two or more rows, so some training sets would contain a single "
            f"class. Add rows of the other classes."
        )
    splits = []
    for repeat in range(repeats):
        rng = np.random.default_rng([seed, repeat])
        fold_of_row = (
            _assign_folds(strata, folds, rng)
            if groups is None
            else _assign_group_folds(strata, groups, folds, rng)[groups]
        )
        for fold in range(folds):
            is_test = fold_of_row == fold
            splits.append(Split(repeat, fold, np.flatnonzero(~is_test), np.flatnonzero(is_test)))
    return splits


def _assign_folds(strata: Codes, folds: int, rng: np.random.Generator) -> Codes:
    """Return the fold of every row [n]: rows are shuffled within their strata and assigned in turn."""
    shuffled = rng.permutation(len(strata))
    by_stratum = shuffled[np.argsort(strata[shuffled], kind="stable")]
    fold_of_row = np.empty(len(strata), np.int64)
    fold_of_row[by_stratum] = np.arange(len(strata)) % folds
    return fold_of_row


def _assign_group_folds(strata: Codes, groups: Codes, folds: int, rng: np.random.Generator) -> Codes:
    """Return the fold of every group: the largest first, each where its classes are rarest so far."""
    counts = np.zeros((int(groups.max()) + 1, int(strata.max()) + 1))
    np.add.at(counts, (groups, strata), 1.0)
    shares = counts / counts.sum(axis=0)
    shuffled = rng.permutation(len(counts))
    filled, fold_of_group = np.zeros((folds, counts.shape[1])), np.empty(len(counts), np.int64)
    for group in shuffled[np.argsort(-counts[shuffled].sum(axis=1), kind="stable")]:
        # The sum of squares grows least in the fold that has least of the group's classes.
        fold = int(np.argmin(filled @ shares[group] + 1e-9 * filled.sum(axis=1)))
        filled[fold] += shares[group]
        fold_of_group[group] = fold
    return fold_of_group


def stratified_order(indices: RowIndices, strata: Codes, rng: np.random.Generator) -> RowIndices:
    """Return row indices in an order whose prefixes are all stratified.

    The first rows are one of each stratum, so a prefix as long as the number of strata contains all of them.
    After that, row j of a stratum of k rows has the sort key (j + ½) / k, so that a prefix of m of n rows
    contains about m k / n of them.
    """
    shuffled = rng.permutation(indices)
    shuffled_strata = strata[shuffled]
    keys = np.empty(len(shuffled))
    for stratum in np.unique(shuffled_strata):
        members = np.flatnonzero(shuffled_strata == stratum)
        keys[members] = (np.arange(len(members)) + 0.5) / len(members)
        keys[members[0]] = 0.0
    return np.asarray(shuffled[np.argsort(keys, kind="stable")], np.int64)
