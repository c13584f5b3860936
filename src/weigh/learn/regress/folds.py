"""Folds: parts of the rows that are held out in turn."""

from __future__ import annotations

import itertools

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats, Mask

Folds = int | str  # how many parts, or "loo": every row is one


def consecutive(n: int, folds: int) -> list[tuple[int, int]]:
    """Return the first and last places of folds of consecutive rows, nearly equal in size.

    Neighbours in time stay together, and no row is copied.
    """
    if n < folds:
        raise errors.DataError(
            f"There are {n:,} rows for {folds:,} folds; cross-validation needs one row in each. Give fewer "
            f"folds, or more rows."
        )
    cuts = np.linspace(0, n, folds + 1).astype(int).tolist()
    return list(itertools.pairwise(cuts))


def dealt(classes: Floats, folds: int) -> list[Mask]:
    """Return which rows each fold holds out; the rows of every class are dealt out in turn."""
    fold = np.empty(len(classes), dtype=np.int64)
    for label in np.unique(classes):
        own = np.flatnonzero(classes == label)
        if len(own) < 2:
            raise errors.DataError(
                "A class has one row only, and none is left to learn it from while that row is held out. "
                "Give more rows of it, leave it out, or give the prior's scale as a number."
            )
        fold[own] = np.arange(len(own)) % folds
    found = [np.asarray(fold == number) for number in range(folds)]
    if not all(held.any() and not held.all() for held in found):
        raise errors.DataError(
            f"The rows of every class are dealt to {folds:,} folds in turn, and {len(classes):,} rows leave "
            f"some fold without any. Give fewer folds, or more rows."
        )
    return found
