"""Splits of rows into training and test rows, as a mask of the test rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Ints, Mask
from weigh.features.columns import is_missing


def encode_values(values: Sequence[Any]) -> Ints:
    """Return a code per row [n]; equal values have equal codes, and missing ones share a code."""
    codes: dict[Any, int] = {}
    known = (None if is_missing(value) else value for value in values)
    return np.array([codes.setdefault(value, len(codes)) for value in known], dtype=np.int32)


def stratified_split(codes: Ints, share: float, seed: int) -> Mask:
    """Return a random mask with the given share of the rows, and about that share of every class.

    The number of test rows of a class is rounded, with the largest remainders rounded up. A class of one row
    is a test row only if there are too few others. Without classes, give all rows the same code.
    """
    rng = np.random.default_rng(seed)
    n_test = _count_test_rows(len(codes), share)
    sizes = np.bincount(codes)
    quotas = sizes * (n_test / len(codes))
    counts = np.minimum(np.floor(quotas).astype(np.int64), np.maximum(sizes - 1, 0))
    while (n_lacking := n_test - int(counts.sum())) > 0:
        can_spare = sizes - counts > 1
        if not can_spare.any():
            can_spare = sizes > counts
        # The largest remainders first, at random among equal ones.
        order = np.lexsort((rng.random(len(sizes)), counts - quotas, ~can_spare))
        counts[order[: min(n_lacking, int(can_spare.sum()))]] += 1
    shuffled = rng.permutation(len(codes))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    first = np.cumsum(sizes) - sizes
    rank = np.arange(len(codes)) - first[codes[by_class]]
    is_test = np.zeros(len(codes), dtype=np.bool_)
    is_test[by_class] = rank < counts[codes[by_class]]
    return is_test


def grouped_split(codes: Ints, share: float, seed: int) -> Mask:
    """Return a random mask of whole groups with about the given share of the rows."""
    n_groups = int(codes.max(initial=-1)) + 1
    if n_groups < 2:
        raise errors.DataError("All rows are in one group, which cannot be divided. Choose another column.")
    sizes = np.bincount(codes)
    n_test, total = _count_test_rows(len(codes), share), 0
    test_groups = np.zeros(n_groups, dtype=np.bool_)
    for group in np.random.default_rng(seed).permutation(n_groups).tolist():
        # A group is taken if that brings the number of rows closer to the requested one.
        if abs(total + sizes[group] - n_test) < abs(total - n_test) and test_groups.sum() < n_groups - 1:
            test_groups[group] = True
            total += int(sizes[group])
    if not test_groups.any():
        test_groups[int(np.argmin(sizes))] = True
    return np.asarray(test_groups[codes])


def latest_split(times: Sequence[Any], share: float) -> Mask:
    """Return a mask of the latest rows; rows of the same time are on the same side."""
    unknown = next((row for row, time in enumerate(times) if is_missing(time)), None)
    if unknown is not None:
        raise errors.DataError(f"Row {unknown:,} (the first is 0) has no time. Leave out such rows.")
    try:
        order = sorted(times)
    except TypeError:
        raise errors.DataError("The times cannot be compared, because they have several types.") from None
    first_test = order[len(order) - _count_test_rows(len(order), share)]
    if first_test == order[0]:
        # The earliest time would be a test time and leave no training rows.
        first_test = next((time for time in order if time > first_test), None)
    if first_test is None:
        raise errors.DataError("All rows have the same time, so none is later. Choose another column.")
    return np.array([time >= first_test for time in times], dtype=np.bool_)


def _count_test_rows(n: int, share: float) -> int:
    """Return the number of test rows, which leaves at least one row on each side."""
    if n < 2:
        raise errors.DataError(f"A split needs at least two rows, got {n:,}.")
    return min(max(round(n * share), 1), n - 1)
