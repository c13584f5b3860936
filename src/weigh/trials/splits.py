"""Places of rows to train on and to judge on: folds, and subsets that grow; all from a seed."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh import errors
from weigh.trials.rows import RowIndices

Groups = npt.NDArray[np.int64]

MANY_CLASSES = 20  # whole numbers that are classes: so many are no surprise, nor one for so many rows


@dataclass(frozen=True, eq=False)
class Split:
    """The places of rows to train on and of those held out, of one fold of one repeat."""

    repeat: int
    fold: int
    train: RowIndices
    test: RowIndices

    def __str__(self) -> str:
        return f"fold {self.fold + 1} of repeat {self.repeat + 1}"


def stratification_groups(labels: npt.NDArray[Any], is_regression: bool) -> Groups:
    """Return a number per row, the same for the same class; numbers to predict are all one group."""
    if is_regression:
        return np.zeros(len(labels), np.int64)
    if labels.dtype.kind == "f" and (labels != np.round(labels)).any():
        odd = labels[labels != np.round(labels)][0]
        raise errors.LabelError(
            f"The labels are numbers such as {odd:g}, and the learners are classifiers. Name regressions, "
            f"such as 'linear', or give classes as text."
        )
    known: dict[Any, int] = {}
    groups = np.array([known.setdefault(label, len(known)) for label in labels.tolist()], np.int64)
    if labels.dtype.kind in "iuf" and len(known) > max(MANY_CLASSES, len(labels) / MANY_CLASSES):
        warnings.warn(
            f"The labels are {len(known):,} different whole numbers in {len(labels):,} rows, and the "
            f"learners take each for a class of its own. If they measure something, name regressions, such "
            f"as 'linear'.",
            errors.OddClasses,
            stacklevel=4,
        )
    return groups


def repeated_folds(groups: Groups, folds: int, repeats: int, seed: int, owner: str) -> list[Split]:
    """Cut the rows into folds, `repeats` times anew; each fold is held out once per repeat.

    Folds differ by one row at most, and so do their rows of any one group.
    """
    if folds > len(groups):
        raise errors.DataError(
            f"{owner}: {folds} folds need {folds} rows at least, got {len(groups):,}. Give more rows, or "
            f"folds={max(2, len(groups) // 2)}."
        )
    sizes = np.bincount(groups)
    if len(sizes) > 1 and np.sum(sizes > 1) < 2:
        raise errors.DataError(
            f"{owner}: fewer than two classes have two rows or more, so that a fold may leave one class to "
            f"learn. Give more rows of the others."
        )
    found = []
    for repeat in range(repeats):
        fold_of = _assign_folds(groups, folds, np.random.default_rng([seed, repeat]))
        for fold in range(folds):
            held = fold_of == fold
            found.append(Split(repeat, fold, np.flatnonzero(~held), np.flatnonzero(held)))
    return found


def _assign_folds(groups: Groups, folds: int, rng: np.random.Generator) -> Groups:
    """Return the fold of every row: rows, mixed within their groups, are dealt out like cards."""
    mixed = rng.permutation(len(groups))
    dealt = mixed[np.argsort(groups[mixed], kind="stable")]
    fold_of = np.empty(len(groups), np.int64)
    fold_of[dealt] = np.arange(len(groups)) % folds
    return fold_of


def stratified_order(places: RowIndices, groups: Groups, rng: np.random.Generator) -> RowIndices:
    """Return the places in an order of which every beginning has the groups in their shares.

    The first places are one of each group, so that as many rows as there are groups have all of them. Of
    m rows out of n a group with k rows in all has about m k / n: row j of it is due at (j + ½) / k.
    """
    mixed = rng.permutation(places)
    own = groups[mixed]
    due = np.empty(len(mixed))
    for group in np.unique(own):
        at = np.flatnonzero(own == group)
        due[at] = (np.arange(len(at)) + 0.5) / len(at)
        due[at[0]] = 0.0
    return np.asarray(mixed[np.argsort(due, kind="stable")], np.int64)
