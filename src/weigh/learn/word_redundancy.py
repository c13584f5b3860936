"""Words, flags and counts of wide sparse rows that occur together within the classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh.features.blocks import Floats, Longs
from weigh.learn.redundancy import (
    COMPLETE_SHARE,
    MAX_FALSE_ALARMS,
    MIN_ENTROPY,
    MIN_SHARE,
    Dependence,
    normal_score,
)
from weigh.source.sparse_rows import SparseRows

MAX_WORDS = 2_000  # those that vary most between the rows of the sample
MIN_SQUARED_CORRELATION = 0.25  # pairs below it do not share half of their information
MAX_PAIRS = 20_000
PAIRS_AT_ONCE = 500


@dataclass(frozen=True)
class WordGroup:
    """Words that occur together: all but the first repeat it, and `share` is the least of their shares."""

    first: str
    repeats: tuple[str, ...]
    share: float
    n_occurrences: float  # of the repeats, in rows of the sample


def find_word_groups(
    rows: SparseRows,
    names: Sequence[str],
    classes: npt.NDArray[Any],
    weights: Floats,
    *,
    by_name: bool,
    finds_opposites: bool = False,
) -> list[WordGroup]:
    """Return groups of columns that occur in the same rows, those with the most occurrences first.

    Only presence counts, not values. The share of a pair is its mutual information given the class, as a part
    of the smaller entropy. `classes` are codes from 0, `weights` says how often each row occurs. Of two
    columns with the same information the later one repeats the other: later `by_name` for words, which are
    numbered in the order of the rows, otherwise in the order of the columns. Columns that exclude each other
    are a pair only if it `finds_opposites`: for flags, whose absence is evidence too.
    """
    columns = _select_columns(rows, names, weights, by_name)
    if len(columns) < 2:
        return []
    occurs = _presence_matrix(rows, columns)
    pairs = _correlated_pairs(occurs, classes, weights, finds_opposites)
    shares, entropies = _pair_shares(occurs, classes, weights, pairs)
    kept = np.flatnonzero(shares >= MIN_SHARE)
    title = [names[j] for j in columns.tolist()]
    frequency = occurs.T @ weights
    dependences = _select_repeats(title, pairs[kept], shares[kept], entropies[kept])
    return _group_repeats(dependences, dict(zip(title, frequency.tolist(), strict=True)))


def _select_columns(rows: SparseRows, names: Sequence[str], weights: Floats, by_name: bool) -> Longs:
    """Return the columns that vary most, in the order of their names or of the columns."""
    present = np.ones(len(rows.indices), bool) if rows.values is None else rows.values != 0
    frequency = rows.sum_by_column(present * weights[rows.entry_rows()])
    n = np.float64(weights.sum())
    varies = np.minimum(frequency, n - frequency)
    entropy = _n_log_n(n) - _n_log_n(frequency) - _n_log_n(n - frequency)
    found = np.flatnonzero(entropy >= MIN_ENTROPY * n)
    if len(found) > MAX_WORDS:
        least = np.partition(varies[found], -MAX_WORDS)[-MAX_WORDS]
        found = found[varies[found] >= least]
    rank = names.__getitem__ if by_name else int
    order = sorted(found.tolist(), key=lambda j: (-varies[j], rank(j)))[:MAX_WORDS]
    return np.array(sorted(order, key=rank), dtype=np.int64)


def _presence_matrix(rows: SparseRows, columns: Longs) -> npt.NDArray[np.float32]:
    """Return whether each of the columns occurs in each row, [rows, columns]."""
    numbers = np.full(rows.width, -1, dtype=np.int32)
    numbers[columns] = np.arange(len(columns))
    narrow = rows.renumber(numbers, len(columns))
    occurs = np.zeros((rows.n_rows, len(columns)), dtype=np.float32)
    occurs[narrow.entry_rows(), narrow.indices] = narrow.entry_values() != 0
    return occurs


def _correlated_pairs(
    occurs: npt.NDArray[np.float32], classes: Any, weights: Floats, finds_opposites: bool
) -> Longs:
    """Return the pairs [pairs, 2] of columns that are correlated within the classes, the strongest first."""
    weighted = occurs * weights[:, None].astype(np.float32)
    n = np.bincount(classes, weights)
    sums = np.array([weighted[classes == c].sum(axis=0, dtype=np.float64) for c in range(len(n))])
    means = (sums / np.maximum(n, 1.0)[:, None]).astype(np.float32)
    # The sum over the classes of n times the covariance within the class.
    covariance = weighted.T @ occurs - sums.astype(np.float32).T @ means
    variance = np.maximum(np.diag(covariance), 0.0)
    scale = np.where(variance > 1e-3, variance, np.inf)
    # The comparison needs no division of all pairs.
    is_correlated = covariance**2 >= MIN_SQUARED_CORRELATION * scale[:, None] * scale
    if not finds_opposites:
        is_correlated &= covariance > 0
    pairs = np.argwhere(np.triu(is_correlated, 1))
    i, j = pairs.T
    order = np.argsort(-(covariance[i, j] ** 2) / (variance[i] * variance[j]), kind="stable")
    return pairs[order[:MAX_PAIRS]]


def _pair_shares(
    occurs: npt.NDArray[np.float32], classes: Any, weights: Floats, pairs: Longs
) -> tuple[Floats, Floats]:
    """Return the share of each pair, zero if chance may explain it, and the entropies [pairs, 2]."""
    information, freedom = np.zeros(len(pairs)), np.zeros(len(pairs))
    entropies, arrangements = np.zeros((len(pairs), 2)), np.zeros((len(pairs), 2))
    for c in np.unique(classes):
        rows, w = occurs[classes == c], weights[classes == c]
        n = float(w.sum())
        margins = (rows.T @ w)[pairs]
        both = _sum_products(rows, w, pairs)
        cells = [both, margins[:, 0] - both, margins[:, 1] - both, n - margins.sum(axis=1) + both]
        own = _n_log_n(np.float64(n)) - _n_log_n(margins) - _n_log_n(n - margins)
        joint = _n_log_n(np.float64(n)) - sum(_n_log_n(cell) for cell in cells)
        entropies += own
        information += own.sum(axis=1) - joint
        freedom += ((margins > 0) & (margins < n)).all(axis=1)
        arrangements += _log_choose(n, margins)
    least = entropies.min(axis=1)
    unbiased = np.maximum(information - freedom / 2, 0.0)
    # Where one column determines the other, the bias is not that of independent columns.
    unbiased = np.where(information >= least * COMPLETE_SHARE, least, unbiased)
    p_value = 2 * MAX_FALSE_ALARMS / max(1, occurs.shape[1] * (occurs.shape[1] - 1))
    is_chance = normal_score(2 * information, freedom) <= NormalDist().inv_cdf(1 - p_value)
    is_chance |= arrangements.min(axis=1) <= -math.log(p_value)
    is_chance |= least < MIN_ENTROPY * weights.sum()
    return np.where(is_chance, 0.0, unbiased / np.maximum(least, 1e-300)), entropies


def _sum_products(rows: npt.NDArray[np.float32], weights: Floats, pairs: Longs) -> Floats:
    """Return how often both columns of each pair occur."""
    weighted, columns = np.ascontiguousarray((rows * weights[:, None]).T), np.ascontiguousarray(rows.T)
    sums = [
        np.einsum("pn,pn->p", weighted[part[:, 0]], columns[part[:, 1]])
        for part in np.array_split(pairs, len(pairs) // PAIRS_AT_ONCE + 1)
    ]
    return np.concatenate(sums)


def _n_log_n(counts: Any) -> Any:
    return counts * np.log(np.maximum(counts, 1.0))


_log_gamma = np.frompyfunc(math.lgamma, 1, 1)


def _log_choose(n: float, k: Floats) -> Floats:
    return np.asarray(math.lgamma(n + 1) - _log_gamma(k + 1) - _log_gamma(n - k + 1), dtype=np.float64)


def _select_repeats(
    names: Sequence[str], pairs: Longs, shares: Floats, entropies: Floats
) -> list[Dependence]:
    """Return one column of each pair: that with clearly less information, else the later one."""
    repeats: dict[int, Dependence] = {}
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -shares))
    for at in order.tolist():
        i, j = pairs[at].tolist()
        kept, left_out = (i, j) if entropies[at, 1] <= 1.05 * entropies[at, 0] else (j, i)
        if kept not in repeats and left_out not in repeats:
            repeats[left_out] = Dependence(names[kept], names[left_out], min(1.0, float(shares[at])))
    return list(repeats.values())


def _group_repeats(dependences: Sequence[Dependence], frequency: dict[str, float]) -> list[WordGroup]:
    by_first: dict[str, list[Dependence]] = {}
    for each in dependences:
        by_first.setdefault(each.first, []).append(each)
    groups = [
        WordGroup(
            first,
            tuple(each.second for each in repeats),
            min(each.share for each in repeats),
            sum(frequency[each.second] for each in repeats),
        )
        for first, repeats in by_first.items()
    ]
    return sorted(groups, key=lambda group: (-group.n_occurrences, group.first))
