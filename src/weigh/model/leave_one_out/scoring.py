"""Numbers without one row: means and spreads from the exact sums, the row's own value taken out."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh import priors
from weigh.features import Category, CategoryBlock, Number, NumberBlock
from weigh.features.blocks import Floats, Ints, Longs, Mask
from weigh.model.counts.bayes_counts import encode_labels
from weigh.model.counts.joint_counts import CellIndex
from weigh.model.distributions.categorical import Categorical
from weigh.model.distributions.gaussian import LOG_SQRT_TWO_PI, Gaussian, mean_and_deviation
from weigh.model.distributions.joint_table import MISSING, JointTable
from weigh.model.distributions.prior_settings import ClassPrior
from weigh.model.leave_one_out.base import LeftOutRows, zero_rounding_residue
from weigh.model.leave_one_out.words import add_bernoulli, add_multinomial
from weigh.source import Chunk

if TYPE_CHECKING:
    from weigh.model.naive_bayes import BayesModel

MAX_SQUARABLE = 1e150  # beyond this the square of a distance may not exist


def add_gaussian(column: Gaussian, block: NumberBlock, rows: LeftOutRows, scores: Floats) -> None:
    """Add to each row's scores the log density of its number where the row was never counted."""
    known = np.flatnonzero(~np.isnan(block.values))
    if not len(known):
        return
    rows = rows.select(known)
    triples = np.column_stack([rows.classes.astype(np.float64), rows.weights, block.values[known]])
    each, where = np.unique(triples, axis=0, return_inverse=True)
    mean, deviation = _normal_parameters(column, each)
    # What never varies, or is known of no other row, says nothing.
    says = np.asarray((deviation > 0).all(axis=1) & (column.counts.known.sum() - each[:, 1] > 0))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        steepness = np.minimum(1.0 / deviation, np.finfo(np.float64).max)
        logs = -np.log(deviation) - LOG_SQRT_TWO_PI - _half_square((each[:, 2:] - mean) * steepness)
    logs[~says] = 0.0
    scores[known] += logs[where.reshape(-1)]


def _normal_parameters(column: Gaussian, each: Floats) -> tuple[Floats, Floats]:
    """Return the means and deviations [cases, classes] for each (class, weight, value) taken out."""
    means, deviations, *_ = column.sample_moments
    case = np.arange(len(each)), each[:, 0].astype(np.int64)
    mean, own, whole, spread = _moments_without(column, each)
    means, deviations = (np.tile(base, (len(each), 1)) for base in (means, deviations))
    means[case], deviations[case] = mean, own
    means = np.where(np.isnan(means), whole[:, None], means)
    if not isinstance(column.kind.spread, str):
        return means, np.full_like(means, float(column.kind.spread))
    if column.kind.spread == "shared":
        known = np.tile(column.counts.known.astype(np.float64), (len(each), 1))
        known[case] -= each[:, 1]
        deviations = np.repeat(_pooled_deviations(deviations, known), deviations.shape[1], axis=1)
    floor = column.kind.floor * spread[:, None]
    return means, np.where(np.isnan(deviations), spread[:, None], np.maximum(deviations, floor))


def _moments_without(column: Gaussian, each: Floats) -> Floats:
    """Return mean and deviation of the own class, then of the whole column, [4, cases]."""
    counts = column.counts
    (first, e1), (second, e2) = counts.sum_x.to_integers(), counts.sum_xx.to_integers()
    sums = list(zip(counts.totals, first, second, strict=True))
    everything = sum(counts.totals, Fraction(0)), sum(first), sum(second)
    found = np.empty((4, len(each)))
    for at, (label, weight, value) in enumerate(each.tolist()):
        w, x = weight.as_integer_ratio(), value.as_integer_ratio()
        light, small = w[1].bit_length() - 1, x[1].bit_length() - 1
        f1, f2 = min(e1, -small - light), min(e2, -2 * small - light)
        one = w[0] * x[0] << (-small - light - f1)
        two = w[0] * x[0] * x[0] << (-2 * small - light - f2)
        for start, (n, a, b) in ((0, sums[int(label)]), (2, everything)):
            left = n - Fraction(*w), (a << (e1 - f1)) - one, (b << (e2 - f2)) - two
            found[start : start + 2, at] = mean_and_deviation(*left, f1, f2)
    return found


def _pooled_deviations(deviations: Floats, known: Floats) -> Floats:
    """Return the root of the mean squared deviation from each class's own mean, case by case."""
    largest = np.nanmax(np.where(np.isnan(deviations), 0.0, deviations), axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(largest > 0, deviations / largest, 0.0)
        squares = np.nansum(known * ratio**2, axis=1, keepdims=True)
        pooled = largest * np.sqrt(squares / known.sum(axis=1, keepdims=True))
    return np.where(known.any(axis=1, keepdims=True), pooled, np.nan)


def _half_square(z: Floats) -> Floats:
    """Return ½ z², and beyond any square something that still grows, as the native code does."""
    distance = np.minimum(np.abs(z), np.finfo(np.float64).max)
    far = (
        0.5
        * MAX_SQUARABLE
        * MAX_SQUARABLE
        * (1.0 + np.log(np.maximum(distance, MAX_SQUARABLE) / MAX_SQUARABLE))
    )
    return np.where(distance <= MAX_SQUARABLE, 0.5 * distance * distance, far)


def add_categorical(column: Categorical, block: CategoryBlock, rows: LeftOutRows, scores: Floats) -> None:
    """Add to each row's scores what its level says where the row was never counted."""
    codes = column.weights.codes(block)
    known = np.flatnonzero(codes >= 0)
    at, rows = codes[known], rows.select(known)
    counts = _append_total(column.table)
    pseudo = np.array(
        [float(a) for a in column.exact_pseudo_counts]
    )  # the last is that of a level never seen
    # Rows without weight may have a level that no other has.
    own = np.hstack([counts, np.zeros((len(counts), 1))]).T[at]
    before = np.maximum(own + pseudo[at, None], 0.0)
    for place in (rows.classes, -1):
        own[rows.class_positions[0], place] -= rows.weights
    gone = ~own[:, :-1].any(axis=1) & ~_persistent_levels(column)[at]
    totals = np.maximum(counts + pseudo[:-1], 0.0).sum(axis=1)
    after = np.maximum(own + pseudo[at, None], 0.0)
    left = zero_rounding_residue(
        totals + (after - before), totals, rows.has_fractional_weights or bool((pseudo < 0).any())
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(after / left)
    lacking = left[:, :-1] == 0
    found = np.where(lacking, logs[:, -1:], logs[:, :-1])
    if gone.any():
        found[gone] = _log_unseen_share(column, rows.select(np.flatnonzero(gone)), at[gone])
    scores[known] += np.nan_to_num(found, nan=0.0, neginf=-np.inf)


def _append_total(table: Any) -> Floats:
    """Return counts by class, and last those of all classes, which a class without any is given."""
    counts = table.astype(np.float64)
    return np.vstack([counts, counts.sum(axis=0)])


def _persistent_levels(column: Categorical) -> Mask:
    """Which levels stay without a row: declared ones, bins, and those that a list of a prior is about."""
    kind, prior = column.part.kind, column.prior
    is_counted = isinstance(prior, priors.Dirichlet) and not prior.is_named
    if isinstance(kind, Number) or isinstance(prior, priors.Beta) or is_counted:
        return np.ones(len(column.levels) + 1, dtype=bool)
    stay = {*((kind.levels or ()) if isinstance(kind, Category) else ()), *priors.declared_values(prior)}
    return np.array([*(level in stay for level in column.levels), False])


def _log_unseen_share(column: Categorical, rows: LeftOutRows, at: Any) -> Floats:
    """Return the share of a level never seen, where a row's own level has gone with it."""
    n = len(column.table)
    if not column.exact_pseudo_counts[-1] > 0:
        return np.zeros((rows.n_rows, n))
    totals = np.tile(column.table.sum(axis=1).astype(np.float64), (rows.n_rows, 1))
    totals[rows.class_positions] -= rows.weights
    # The level's own pseudo-count goes with it; that of a level never seen stays.
    pseudo = [sum(column.exact_pseudo_counts) - a for a in column.exact_pseudo_counts[:-1]] + [
        sum(column.exact_pseudo_counts)
    ]
    totals += np.array([float(total) for total in pseudo])[at, None]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(float(column.exact_pseudo_counts[-1]) / totals))


def add_joint_table(
    table: JointTable, columns: Sequence[CategoryBlock], rows: LeftOutRows, scores: Floats
) -> None:
    """Add to each row's scores what all columns together say where the row was never counted.

    A level that goes with the row is one that was never seen. Under a prior it is one more level of its
    column, so that there are as many cells as before, and none of them holds a row; without a prior it
    says nothing, like a missing value.
    """
    stay, leave = (np.flatnonzero(each) for each in (rows.weights == 0, rows.weights != 0))
    if len(stay):
        # What was never counted may have values that the table does not know.
        scores[stay] += table.log_probabilities(_select_rows(columns, stay))
    if len(leave):
        scores[leave] += _log_probabilities_without(
            table, table.codes(_select_rows(columns, leave)), rows.select(leave)
        )


def _select_rows(columns: Sequence[CategoryBlock], rows: Longs) -> list[CategoryBlock]:
    return [CategoryBlock(column.codes[rows], column.levels) for column in columns]


def _log_probabilities_without(table: JointTable, codes: Ints, rows: LeftOutRows) -> Floats:
    index = CellIndex.from_codes(table.cells, table.sizes)
    own = table.counts.table[rows.classes, index.row_positions()[index.find(codes)]].astype(np.float64)
    change = table.discount_counts(own - rows.weights) - table.discount_counts(own)
    asked = codes.copy()
    if not table.nonnegative_pseudo_count:
        asked[_vanishing_levels(table, codes, rows)] = MISSING
    logs = np.empty((rows.n_rows, len(table.counts.table)))
    patterns = CellIndex.from_codes((asked == MISSING).astype(np.int32), [2] * asked.shape[1])
    for number, example in enumerate(patterns.row_positions().tolist()):
        chosen = np.flatnonzero(patterns.ids == number)
        known = asked[example] != MISSING
        logs[chosen] = _log_ratios_without(table, asked[chosen], known, rows.select(chosen), change[chosen])
    return logs


def _vanishing_levels(table: JointTable, codes: Ints, rows: LeftOutRows) -> Mask:
    """Return which values [rows, columns] are of levels that no other row has, and that none declares."""
    gone = np.zeros(codes.shape, dtype=bool)
    each = table.counts.table.sum(axis=0).astype(np.float64)
    for j, size in enumerate(table.sizes):
        seen = table.cells[:, j] >= 0
        totals = np.bincount(table.cells[seen, j], each[seen], size)
        known = np.flatnonzero(codes[:, j] >= 0)
        before = totals[codes[known, j]]
        left = zero_rounding_residue(before - rows.weights[known], before, rows.has_fractional_weights)
        gone[known, j] = (left == 0) & ~table.declared_mask(j)[codes[known, j]]
    return gone


def _log_ratios_without(
    table: JointTable, codes: Ints, known: Mask, rows: LeftOutRows, change: Floats
) -> Floats:
    """Return the logs of rows that are asked about the same columns."""
    matching, before = table.matching_weights(codes, known)
    totals = np.tile(before, (rows.n_rows, 1))
    for counts in (matching, totals):
        counts[rows.class_positions] += change
    totals = zero_rounding_residue(totals, before, rows.has_fractional_weights)
    if not table.nonnegative_pseudo_count:
        lacking = totals == 0
        matching, totals = (
            np.where(lacking, each.sum(axis=1, keepdims=True), each) for each in (matching, totals)
        )
    return table.log_ratios(matching, totals, known)


_ADD_BY_FAMILY: dict[str, Any] = {
    "categorical": add_categorical,
    "multinomial": add_multinomial,
    "bernoulli": add_bernoulli,
    "normal": add_gaussian,
}


def leave_one_out_scores(model: BayesModel, chunk: Chunk) -> Floats:
    """Return the scores [rows, classes] of learned rows, each by the model without it."""
    rows = left_out_rows(model.counts, chunk)
    found = log_class_priors(model.class_distribution, rows)
    if model.complement and len(model.classes) > 1:
        found[:] = 0.0
    blocks = model.schema.encode(chunk)
    for part, each, block in zip(model.schema.column_groups, model.distributions, blocks, strict=True):
        _ADD_BY_FAMILY[part.kind.family](each, block, rows, found)
    found[rows.leaves_class_empty, rows.classes[rows.leaves_class_empty]] = -np.inf
    return found


def left_out_rows(counts: Any, chunk: Chunk) -> LeftOutRows:
    """Return what the rows of a labelled chunk take away from counts."""
    codes, labels = encode_labels(chunk)
    place = {label: at for at, label in enumerate(counts.classes)}
    # A class that the counts lack can only be that of rows without weight: they take nothing away.
    places = np.array([place.get(label, -1) for label in labels], dtype=np.int64)[codes]
    weights = np.ones(chunk.n_rows) if chunk.weights is None else chunk.weights
    is_known = places >= 0
    classes, weights = np.where(is_known, places, 0), np.where(is_known, weights, 0.0)
    stays = np.array([label in set(counts.declared) for label in counts.classes])
    gone = is_known & (counts.rows[classes] - weights == 0) & ~stays[classes]
    return LeftOutRows(classes, weights, gone, counts.rows.dtype == np.float64)


def log_class_priors(belief: ClassPrior, rows: LeftOutRows) -> Floats:
    """Return the logarithms [rows, classes] of the classes' prior probabilities without each row."""
    if isinstance(belief.prior, str):
        found = np.zeros((rows.n_rows, len(belief.classes)))
        found[:] = np.log(1.0 / np.maximum(1, len(belief.classes) - rows.leaves_class_empty))[:, None]
        return found
    if belief.is_fixed:
        return np.tile(belief.log_probabilities, (rows.n_rows, 1))
    pseudo = np.array([float(a) for a in priors.pseudo_counts(belief.prior, list(belief.classes))])
    counts = np.tile(belief.rows.astype(np.float64), (rows.n_rows, 1))
    counts[rows.class_positions] -= rows.weights
    # A class that is gone has no pseudo-count either: below zero it has no share at all.
    counts[rows.leaves_class_empty, rows.classes[rows.leaves_class_empty]] = (
        -1.0 - pseudo[rows.classes[rows.leaves_class_empty]]
    )
    with np.errstate(divide="ignore"):
        return np.log(np.nan_to_num(priors.estimate_probabilities(counts, pseudo), nan=0.0))
