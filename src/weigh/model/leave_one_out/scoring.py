"""Leave-one-out scores of count models: each training row is scored by the model without it.

Every function subtracts a row's own value from the counts of its class, so that no model is fitted again.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.features.blocks import CategoryBlock, Floats, Ints, Longs, Mask, NumberBlock
from weigh.features.kinds import Category, Number
from weigh.model.counts.bayes_counts import encode_labels
from weigh.model.counts.joint_counts import CellIndex
from weigh.model.distributions.categorical import Categorical
from weigh.model.distributions.gaussian import LOG_SQRT_TWO_PI, Gaussian, compute_moments
from weigh.model.distributions.joint_table import MISSING, JointTable
from weigh.model.distributions.prior_settings import ClassPrior
from weigh.model.leave_one_out.base import LeftOutRows, zero_rounding_residue
from weigh.model.leave_one_out.words import add_bernoulli, add_multinomial
from weigh.priors.beta import Beta
from weigh.priors.dirichlet import Dirichlet
from weigh.priors.smoothing import declared_values, estimate_probabilities, pseudo_counts
from weigh.source.chunk import Chunk

if TYPE_CHECKING:
    from weigh.model.naive_bayes import BayesModel

MAX_SQUARABLE = 1e150  # the square of a larger number may overflow


def leave_one_out_scores(model: BayesModel, chunk: Chunk) -> Floats:
    """Return the scores [rows, classes] of training rows, each under the model without that row."""
    rows = left_out_rows(model.counts, chunk)
    scores = log_class_priors(model.class_distribution, rows)
    if model.complement and len(model.classes) > 1:
        scores[:] = 0.0
    blocks = model.schema.encode(chunk)
    for part, distribution, block in zip(
        model.schema.column_groups, model.distributions, blocks, strict=True
    ):
        _ADD_BY_FAMILY[part.kind.family](distribution, block, rows, scores)
    scores[rows.leaves_class_empty, rows.classes[rows.leaves_class_empty]] = -np.inf
    return scores


def left_out_rows(counts: Any, chunk: Chunk) -> LeftOutRows:
    """Return the class index and the weight of each row of a labelled chunk."""
    codes, labels = encode_labels(chunk)
    index = {label: c for c, label in enumerate(counts.classes)}
    # Only rows without weight can have a class that is not in the counts; nothing is subtracted for them.
    classes = np.array([index.get(label, -1) for label in labels], dtype=np.int64)[codes]
    weights = np.ones(chunk.n_rows) if chunk.weights is None else chunk.weights
    is_known = classes >= 0
    classes, weights = np.where(is_known, classes, 0), np.where(is_known, weights, 0.0)
    is_declared = np.array([label in set(counts.declared) for label in counts.classes])
    leaves_empty = is_known & (counts.rows[classes] - weights == 0) & ~is_declared[classes]
    return LeftOutRows(classes, weights, leaves_empty, counts.rows.dtype == np.float64)


def log_class_priors(class_prior: ClassPrior, rows: LeftOutRows) -> Floats:
    """Return the log prior probabilities [rows, classes] of the classes without each row."""
    n_classes = len(class_prior.classes)
    if isinstance(class_prior.prior, str):
        logs = np.zeros((rows.n_rows, n_classes))
        logs[:] = np.log(1.0 / np.maximum(1, n_classes - rows.leaves_class_empty))[:, None]
        return logs
    if class_prior.is_fixed:
        return np.tile(class_prior.log_probabilities, (rows.n_rows, 1))
    pseudo = np.array([float(a) for a in pseudo_counts(class_prior.prior, list(class_prior.classes))])
    counts = np.tile(class_prior.rows.astype(np.float64), (rows.n_rows, 1))
    counts[rows.class_positions] -= rows.weights
    # A class that disappears loses its pseudo-count too; a negative total is clipped to probability 0.
    empty = rows.leaves_class_empty
    counts[empty, rows.classes[empty]] = -1.0 - pseudo[rows.classes[empty]]
    with np.errstate(divide="ignore"):
        return np.log(np.nan_to_num(estimate_probabilities(counts, pseudo), nan=0.0))


def add_gaussian(column: Gaussian, block: NumberBlock, rows: LeftOutRows, scores: Floats) -> None:
    """Add to each row's scores the log-density of its number without the row."""
    known = np.flatnonzero(~np.isnan(block.values))
    if not len(known):
        return
    rows = rows.select(known)
    triples = np.column_stack([rows.classes.astype(np.float64), rows.weights, block.values[known]])
    cases, case_of_row = np.unique(triples, axis=0, return_inverse=True)
    mean, mean_residual, deviation = _normal_parameters(column, cases)
    # A column that is constant, or known in no other row, contributes nothing.
    is_informative = np.asarray((deviation > 0).all(axis=1) & (column.counts.known.sum() - cases[:, 1] > 0))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        inverse_deviation = np.minimum(1.0 / deviation, np.finfo(np.float64).max)
        z = ((cases[:, 2:] - mean) - mean_residual) * inverse_deviation
        logs = -np.log(deviation) - LOG_SQRT_TWO_PI - _half_square(z)
    logs[~is_informative] = 0.0
    scores[known] += logs[case_of_row.reshape(-1)]


def _normal_parameters(column: Gaussian, cases: Floats) -> tuple[Floats, Floats, Floats]:
    """Return means, their rounding errors and deviations [cases, classes] without each case.

    A case is a class, a weight and a value.
    """
    own_class = np.arange(len(cases)), cases[:, 0].astype(np.int64)
    class_moments, column_moments = _moments_without(column, cases)
    moments = np.repeat(column.sample_moments[:-1].T[:, None], len(cases), axis=1)
    moments[:, *own_class] = class_moments
    overall = column_moments[:, :, None]
    means, residuals = np.where(np.isnan(moments[:2]), overall[:2], moments[:2])
    deviations = moments[2]
    if not isinstance(column.kind.spread, str):
        return means, residuals, np.full_like(means, float(column.kind.spread))
    if column.kind.spread == "shared":
        known = np.tile(column.counts.known.astype(np.float64), (len(cases), 1))
        known[own_class] -= cases[:, 1]
        deviations = np.repeat(_pooled_deviations(deviations, known), deviations.shape[1], axis=1)
    floor = column.kind.floor * overall[2]
    return means, residuals, np.where(np.isnan(deviations), overall[2], np.maximum(deviations, floor))


def _moments_without(column: Gaussian, cases: Floats) -> Floats:
    """Return [2, 3, cases]: the moments of the case's class, and of the whole column, without it."""
    counts = column.counts
    (sum_x, e1), (sum_xx, e2) = counts.sum_x.to_integers(), counts.sum_xx.to_integers()
    class_sums = list(zip(counts.totals, sum_x, sum_xx, strict=True))
    column_sums = sum(counts.totals, Fraction(0)), sum(sum_x), sum(sum_xx)
    moments = np.empty((2, 3, len(cases)))
    for i, (c, weight, value) in enumerate(cases.tolist()):
        # w = w[0] · 2^-w_bits and x = x[0] · 2^-x_bits exactly; f1 and f2 are common exponents of the sums.
        w, x = weight.as_integer_ratio(), value.as_integer_ratio()
        w_bits, x_bits = w[1].bit_length() - 1, x[1].bit_length() - 1
        f1, f2 = min(e1, -x_bits - w_bits), min(e2, -2 * x_bits - w_bits)
        removed = Fraction(weight)
        wx = w[0] * x[0] << (-x_bits - w_bits - f1)
        wxx = w[0] * x[0] * x[0] << (-2 * x_bits - w_bits - f2)
        for part, (n, s1, s2) in zip(moments, (class_sums[int(c)], column_sums), strict=True):
            remaining = n - removed, (s1 << (e1 - f1)) - wx, (s2 << (e2 - f2)) - wxx
            part[:, i] = compute_moments(*remaining, f1, f2)
    return moments


def _pooled_deviations(deviations: Floats, known: Floats) -> Floats:
    """Return, for each case, the root mean squared deviation of all values from the mean of their class."""
    largest = np.nanmax(np.where(np.isnan(deviations), 0.0, deviations), axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(largest > 0, deviations / largest, 0.0)
        squares = np.nansum(known * ratio**2, axis=1, keepdims=True)
        pooled = largest * np.sqrt(squares / known.sum(axis=1, keepdims=True))
    return np.where(known.any(axis=1, keepdims=True), pooled, np.nan)


def _half_square(z: Floats) -> Floats:
    """Return ½ z²; beyond `MAX_SQUARABLE` a finite function that still increases, as in the native code."""
    distance = np.minimum(np.abs(z), np.finfo(np.float64).max)
    log_excess = np.log(np.maximum(distance, MAX_SQUARABLE) / MAX_SQUARABLE)
    extended = 0.5 * MAX_SQUARABLE * MAX_SQUARABLE * (1.0 + log_excess)
    return np.where(distance <= MAX_SQUARABLE, 0.5 * distance * distance, extended)


def add_categorical(column: Categorical, block: CategoryBlock, rows: LeftOutRows, scores: Floats) -> None:
    """Add to each row's scores the log-probability of its level without the row."""
    codes = column.weights.codes(block)
    known = np.flatnonzero(codes >= 0)
    codes, rows = codes[known], rows.select(known)
    counts = _append_total(column.table)
    pseudo = np.array([float(a) for a in column.exact_pseudo_counts])  # the last is that of an unseen level
    # Only rows without weight can have an unseen level; its counts are 0.
    level_counts = np.hstack([counts, np.zeros((len(counts), 1))]).T[codes]
    before = np.maximum(level_counts + pseudo[codes, None], 0.0)
    for c in (rows.classes, -1):
        level_counts[rows.class_positions[0], c] -= rows.weights
    vanishes = ~level_counts[:, :-1].any(axis=1) & ~_persistent_levels(column)[codes]
    totals = np.maximum(counts + pseudo[:-1], 0.0).sum(axis=1)
    after = np.maximum(level_counts + pseudo[codes, None], 0.0)
    is_fractional = rows.has_fractional_weights or bool((pseudo < 0).any())
    remaining = zero_rounding_residue(totals + (after - before), totals, is_fractional)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(after / remaining)
    is_empty_class = remaining[:, :-1] == 0
    logs = np.where(is_empty_class, logs[:, -1:], logs[:, :-1])
    if vanishes.any():
        logs[vanishes] = _log_unseen_share(column, rows.select(np.flatnonzero(vanishes)), codes[vanishes])
    logs[_is_constant_without(column, vanishes, codes)] = 0.0
    scores[known] += np.nan_to_num(logs, nan=0.0, neginf=-np.inf)


def _append_total(table: Any) -> Floats:
    """Return the counts per class and, as the last row, of all classes, for classes without values."""
    counts = table.astype(np.float64)
    return np.vstack([counts, counts.sum(axis=0)])


def _persistent_levels(column: Categorical) -> Mask:
    """Return the mask of levels that exist without rows: declared levels, bins, and values of a prior."""
    kind, prior = column.part.kind, column.prior
    is_sequence = isinstance(prior, Dirichlet) and not prior.is_named
    if isinstance(kind, Number) or isinstance(prior, Beta) or is_sequence:
        return np.ones(len(column.levels) + 1, dtype=bool)
    declared = {*((kind.levels or ()) if isinstance(kind, Category) else ()), *declared_values(prior)}
    return np.array([*(level in declared for level in column.levels), False])


def _is_constant_without(column: Categorical, vanishes: Mask, codes: Ints) -> Mask:
    """Return the rows without which the column is constant: one level remains."""
    if not (column.part.named and isinstance(column.part.kind, Category)):
        return np.zeros(len(codes), dtype=bool)
    n_vanishing = vanishes & (codes < len(column.levels))
    return np.asarray(len(column.levels) - n_vanishing == 1)


def _log_unseen_share(column: Categorical, rows: LeftOutRows, codes: Any) -> Floats:
    """Return the log-probability of an unseen level, for rows whose level disappears with them."""
    n_classes = len(column.table)
    *pseudo, unseen = column.exact_pseudo_counts
    if not unseen > 0:
        return np.zeros((rows.n_rows, n_classes))
    totals = np.tile(column.table.sum(axis=1).astype(np.float64), (rows.n_rows, 1))
    totals[rows.class_positions] -= rows.weights
    # The pseudo-count of the level disappears with it; that of an unseen level remains.
    pseudo_total = sum(column.exact_pseudo_counts)
    remaining = [pseudo_total - a for a in pseudo] + [pseudo_total]
    totals += np.array([float(a) for a in remaining])[codes, None]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(float(unseen) / totals))


def add_joint_table(
    table: JointTable, columns: Sequence[CategoryBlock], rows: LeftOutRows, scores: Floats
) -> None:
    """Add to each row's scores the log-probability of its cell without the row.

    A level that disappears with its row becomes an unseen level. With a prior, an unseen level is one
    additional level of its column, so the number of cells is unchanged and the row's cell is empty. Without a
    prior it contributes nothing, like a missing value.
    """
    unweighted, weighted = np.flatnonzero(rows.weights == 0), np.flatnonzero(rows.weights != 0)
    if len(unweighted):
        # Rows without weight were never counted and may have unseen levels.
        scores[unweighted] += table.log_probabilities(_select_rows(columns, unweighted))
    if len(weighted):
        codes = table.codes(_select_rows(columns, weighted))
        scores[weighted] += _log_probabilities_without(table, codes, rows.select(weighted))


def _select_rows(columns: Sequence[CategoryBlock], rows: Longs) -> list[CategoryBlock]:
    return [CategoryBlock(column.codes[rows], column.levels) for column in columns]


def _log_probabilities_without(table: JointTable, codes: Ints, rows: LeftOutRows) -> Floats:
    index = CellIndex.from_codes(table.cells, table.sizes)
    counts = table.counts.table[rows.classes, index.row_positions()[index.find(codes)]].astype(np.float64)
    change = table.discount_counts(counts - rows.weights) - table.discount_counts(counts)
    known_codes = codes.copy()
    if not table.nonnegative_pseudo_count:
        known_codes[_vanishing_levels(table, codes, rows)] = MISSING
    logs = np.empty((rows.n_rows, len(table.counts.table)))
    patterns = CellIndex.from_codes((known_codes == MISSING).astype(np.int32), [2] * known_codes.shape[1])
    for pattern, example in enumerate(patterns.row_positions().tolist()):
        selected = np.flatnonzero(patterns.ids == pattern)
        known = known_codes[example] != MISSING
        logs[selected] = _log_ratios_without(
            table, known_codes[selected], known, rows.select(selected), change[selected]
        )
    return logs


def _vanishing_levels(table: JointTable, codes: Ints, rows: LeftOutRows) -> Mask:
    """Return the mask [rows, columns] of undeclared levels that no other row has."""
    vanishes = np.zeros(codes.shape, dtype=bool)
    cell_totals = table.counts.table.sum(axis=0).astype(np.float64)
    for j, size in enumerate(table.sizes):
        has_value = table.cells[:, j] >= 0
        totals = np.bincount(table.cells[has_value, j], cell_totals[has_value], size)
        known = np.flatnonzero(codes[:, j] >= 0)
        before = totals[codes[known, j]]
        after = zero_rounding_residue(before - rows.weights[known], before, rows.has_fractional_weights)
        vanishes[known, j] = (after == 0) & ~table.declared_mask(j)[codes[known, j]]
    return vanishes


def _log_ratios_without(
    table: JointTable, codes: Ints, known: Mask, rows: LeftOutRows, change: Floats
) -> Floats:
    """Return the log-probabilities of rows with values in the same columns `known`."""
    matching, before = table.matching_weights(codes, known)
    totals = np.tile(before, (rows.n_rows, 1))
    for counts in (matching, totals):
        counts[rows.class_positions] += change
    totals = zero_rounding_residue(totals, before, rows.has_fractional_weights)
    if not table.nonnegative_pseudo_count:
        is_empty_class = totals == 0
        matching, totals = (
            np.where(is_empty_class, counts.sum(axis=1, keepdims=True), counts)
            for counts in (matching, totals)
        )
    return table.log_ratios(matching, totals, known)


_ADD_BY_FAMILY: dict[str, Any] = {
    "categorical": add_categorical,
    "multinomial": add_multinomial,
    "bernoulli": add_bernoulli,
    "normal": add_gaussian,
}
