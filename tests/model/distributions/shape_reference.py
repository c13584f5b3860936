"""A short reference implementation of the comparison of shapes, one loop per candidate."""

from __future__ import annotations

import numpy as np

from weigh.model.counts.value_grid import cell_centres
from weigh.model.distributions.shape_choice import (
    BIN_NUMBERS,
    MAX_GROUPS,
    MIN_LOG_DEVIATION,
    STRENGTHS,
    ZERO_STRENGTH,
)


def reference_losses(grid, kind):
    """Return the loss of every candidate, in the order of the native comparison."""
    totals = grid.table.sum(axis=0).astype(float)
    cells = grid.table[grid.table.any(axis=1)].T.astype(float)
    centres = cell_centres(grid.cells)
    centres = centres / np.abs(centres).max()
    groups = np.arange(len(centres))
    if len(centres) > MAX_GROUPS:
        groups = reference_bins(totals, MAX_GROUPS)
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    x = np.add.reduceat(centres * totals, starts) / np.add.reduceat(totals, starts)
    n = np.add.reduceat(cells, starts, axis=0)
    shares = np.log(n.sum(axis=0) / n.sum())
    spreads = ("own", "shared") if kind.spread is None else (kind.spread,)
    is_zero, lowest, losses = x == 0, grid.cells[0], []
    shapes = [(np.zeros(len(x), dtype=bool), False, False)]
    if lowest > 0 and x.min() > 0 and np.log(x).std() > MIN_LOG_DEVIATION:
        shapes.append((np.zeros(len(x), dtype=bool), True, False))
    if kind.shape == "zero-inflated" or (is_zero.any() and (~is_zero).sum() > 1):
        shapes += [(is_zero, is_log, True) for is_log in ((False, True) if lowest >= 0 else (False,))]
    for zero, is_log, is_inflated in shapes:
        for spread in spreads:
            logs, without = np.zeros_like(n), np.zeros_like(n)
            if n[~zero].any():
                values = np.log(x[~zero]) if is_log else x[~zero]
                logs[~zero], without[~zero] = normal_logs(values, n[~zero], spread, kind.floor)
            if is_inflated:
                counts = np.stack([n[~zero].sum(axis=0), n[zero].sum(axis=0)])
                both = share_logs(counts, ZERO_STRENGTH)
                logs, without = logs + both[0][zero.astype(int)], without + both[1][zero.astype(int)]
            losses.append(sum_losses(logs + shares, without + shares, n))
    widths = set()
    for n_bins in BIN_NUMBERS.tolist():
        starts = np.flatnonzero(np.diff(reference_bins(totals, n_bins), prepend=-1))
        if len(starts) > 1 and len(starts) not in widths:
            widths.add(len(starts))
            counts = np.add.reduceat(cells, starts, axis=0)
            for strength in STRENGTHS.tolist():
                logs, without = share_logs(counts, strength)
                losses.append(sum_losses(logs + shares, without + shares, counts))
    return losses


def sum_losses(scores, own, counts):
    """Return −Σ log P(class | number); `own` has the scores of a row's own class without that row."""
    largest = scores.max(axis=1, keepdims=True)
    powers = np.exp(scores - largest)
    others = np.maximum(powers.sum(axis=1, keepdims=True) - powers, 0.0)
    with np.errstate(divide="ignore"):
        losses = np.logaddexp(np.log(others) + largest, own) - own
    return float((counts * losses).sum())


def normal_logs(x, n, spread, floor):
    """Return normal log-densities [groups, classes] with and without one row of the group, row by row."""
    logs, without = np.zeros_like(n), np.zeros_like(n)
    total = n.sum()
    column = np.average(x, weights=n.sum(axis=1))
    column_variance = np.average((x - column) ** 2, weights=n.sum(axis=1))
    least = max(floor**2 * column_variance, 1e-200)
    known = n.sum(axis=0)
    means = [np.average(x, weights=n[:, c]) if known[c] else column for c in range(n.shape[1])]
    scatter = [float(n[:, c] @ (x - means[c]) ** 2) for c in range(n.shape[1])]
    for c in range(n.shape[1]):
        variance = scatter[c] / known[c] if known[c] else column_variance
        variance = sum(scatter) / total if spread == "shared" and known[c] else variance
        for g in range(len(x)):
            d = x[g] - means[c]
            logs[g, c] = log_density(d, max(variance, least))
            rest = known[c] - 1 if known[c] > 1 else 1.0
            left = (
                known[c] * (scatter[c] / known[c] - d**2 / rest) / rest if known[c] > 1 else column_variance
            )
            if spread == "shared":
                left = max(sum(scatter) - known[c] * d**2 / rest, 0.0) / (total - 1 if total > 1 else 1.0)
            distance = d + d / rest if known[c] > 1 else x[g] - column
            without[g, c] = log_density(distance, max(left, least))
    return logs, without


def log_density(distance, variance):
    """Return the normal log-density without its constant."""
    return -0.5 * (np.log(variance) + distance**2 / variance)


def share_logs(counts, strength):
    """Return log shares of bins in each class with and without a row; the prior is the column's shares."""
    pseudo = strength * (counts.sum(axis=1) / counts.sum())[:, None]
    known = counts.sum(axis=0)
    with np.errstate(divide="ignore"):
        logs = np.log((counts + pseudo) / (known + strength))
        rest = known + strength - np.minimum(known, 1)
        return logs, np.log((np.maximum(counts - 1, 0) + pseudo) / rest)


def reference_bins(totals, n_bins):
    """Return the bin of each cell, so that bins have about equal totals; heavy cells have their own."""
    heavy = np.zeros(len(totals), dtype=bool)
    while True:
        n_left = max(n_bins - int(heavy.sum()), 1)
        mass = totals[~heavy].sum() / n_left
        new = ~heavy & (totals >= mass)
        if n_left == 1 or not new.any():
            break
        heavy |= new
    light = np.where(heavy, 0.0, totals)
    quantile = np.floor((np.cumsum(light) - light / 2) / (mass or 1.0))
    begins = (quantile[1:] != quantile[:-1]) | heavy[1:] | heavy[:-1]
    return np.concatenate([[0], np.cumsum(begins)])
