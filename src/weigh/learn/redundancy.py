"""Columns that say the same within the classes, which naive Bayes counts twice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh import _core, errors
from weigh.advice import set_kind
from weigh.deduplicated_warnings import warn
from weigh.features.blocks import CategoryBlock, Floats, Ints, NumberBlock
from weigh.features.kinds import Category, Number
from weigh.features.schema import Schema
from weigh.learn.row_sample import RowSample
from weigh.model.counts.bayes_counts import encode_labels
from weigh.model.decision import log_softmax
from weigh.model.naive_bayes import BayesModel
from weigh.source.chunk import Chunk

MAX_COLUMNS = 240
MAX_LEVELS = 20  # rarer levels of a category are compared as one
MAX_TOTAL_LEVELS = 400
MAX_BINS = 8
MIN_BIN_ROWS = 5
MIN_SHARE = 0.5  # of the information of the column that carries less
MIN_ENTROPY = 0.02  # nats per row
MIN_RANK_VARIANCE = 0.02  # of ranks between -1/2 and 1/2; different numbers have 1/12
MIN_EFFECT = 0.01  # mean change of the probability of the predicted class
MAX_FALSE_ALARMS = 0.01  # per table, if all columns are independent within the classes
COMPLETE_SHARE = 1 - 1e-9  # of the information: one column determines the other


@dataclass(frozen=True)
class Dependence:
    """A column whose information within the classes is to a large share in another column.

    `features` are to be left out: the second column, or all parts of a date. `column` is that of the table,
    and None for a part of a date whose other parts stay.
    """

    first: str
    second: str
    share: float
    features: tuple[str, ...] = ()
    column: str | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the first column determines the second."""
        return self.share > COMPLETE_SHARE

    def __str__(self) -> str:
        return describe_dependence(repr(self.second), repr(self.first), self.share)


def describe_dependence(
    names: str, repeats: str, share: float, *, n_names: int = 1, occur_together: bool = False
) -> str:
    """Return what repeats what, such as "'b' repeats 'a'" or "'b' mostly occurs with 'a'"."""
    is_complete, ending = share > COMPLETE_SHARE, "s" if n_names == 1 else ""
    if occur_together:
        return f"{names} {'always' if is_complete else 'mostly'} occur{ending} with {repeats}"
    part = "" if is_complete else f"{math.floor(100 * share)} % of "
    return f"{part}{names} repeat{ending} {repeats}"


@dataclass(frozen=True)
class _DiscreteColumn:
    """A column as codes, -1 where it is missing; the bins and ranks of a number are those in its class."""

    name: str
    codes: Ints
    n_levels: int
    ranks: Floats | None = None


def warn_dependent_columns(model: BayesModel, sample: RowSample) -> None:
    """Warn about columns that repeat another one, or share so much that the probabilities change."""
    chunk = sample.to_chunk()
    pairs = find_dependent_columns(model.schema, chunk, sample.counts)
    features = [name for pair in pairs for name in pair.features]
    effect = _mean_change(model, chunk, sample.counts, features) if pairs else 0.0
    if not pairs or (effect < MIN_EFFECT and not pairs[0].is_complete):
        return
    skipped = next((pair.column for pair in pairs if pair.column is not None), None)
    listed = "; ".join(str(pair) for pair in pairs[:3])
    more = f" and {len(pairs) - 3} more" if len(pairs) > 3 else ""
    it = "it" if len(pairs) == 1 else "them"
    rows = f" (in a sample of {len(sample.hashes)} rows)" if sample.limit is not None else ""
    warn(
        errors.DependentColumns(
            "Some columns repeat each other, so naive Bayes counts the same evidence twice and is "
            f"overconfident: {listed}{more}{rows}. Without {it} the probabilities change by "
            f"{100 * effect:.2g} points on average.",
            hint="Calibrate the model."
            if skipped is None
            else ("Try ", set_kind(skipped, "skip"), ", or calibrate the model."),
        ),
        [name for pair in pairs for name in (pair.first, pair.second)],
    )


def _mean_change(
    model: BayesModel, chunk: Chunk, counts: npt.NDArray[np.int64], features: Sequence[str]
) -> float:
    """Return the mean change of the predicted class's probability if some columns were left out."""
    full, without = (
        np.exp(log_softmax(model.score_chunk(rows))) for rows in (chunk, leave_out_columns(chunk, features))
    )
    rows, predicted = np.arange(chunk.n_rows), full.argmax(axis=1)
    return float(np.average(np.abs(full - without)[rows, predicted], weights=counts))


def leave_out_columns(chunk: Chunk, features: Sequence[str]) -> Chunk:
    """Return the rows without some columns: what is missing is no evidence."""
    missing = np.full(chunk.n_rows, None, dtype=object)
    return replace(chunk, columns={**chunk.columns, **dict.fromkeys(features, missing)})


def find_dependent_columns(
    schema: Schema,
    chunk: Chunk,
    counts: npt.NDArray[np.int64] | None = None,
    *,
    max_flags: int | None = None,
) -> list[Dependence]:
    """Return the columns that share most of their information with another one, the largest share first.

    The share is the mutual information given the class, without its bias by chance, as a part of the smaller
    entropy; for two numbers it is 1 − exp(−2 × mutual information), the squared correlation of ranks. It is
    reported if independent columns would hardly reach it. `counts` says how often each row occurs. More than
    `max_flags` flags are left to `find_word_groups`.
    """
    if chunk.sparse is not None or chunk.n_rows < 2:
        return []
    weights = np.ones(chunk.n_rows) if counts is None else counts.astype(np.float64)
    classes, _ = encode_labels(chunk)
    columns = _discretise_columns(schema, chunk, classes, max_flags)
    if len(columns) < 2:
        return []
    pairs = _select_redundant(columns, *_measure_shares(columns, classes, weights))
    return _unite_dates(schema, pairs)


def _select_redundant(columns: Sequence[_DiscreteColumn], share: Floats, entropy: Floats) -> list[Dependence]:
    """Return one column of each dependent pair: that with clearly less information, else the later one."""
    pairs = np.argwhere(np.triu(share >= MIN_SHARE, 1)).tolist()
    redundant: dict[int, Dependence] = {}
    for i, j in sorted(pairs, key=lambda pair: -share[pair[0], pair[1]]):
        kept, left_out = (i, j) if entropy[j] <= 1.05 * entropy[i] else (j, i)
        if kept not in redundant and left_out not in redundant:
            names = columns[kept].name, columns[left_out].name
            redundant[left_out] = Dependence(*names, min(1.0, float(share[i, j])))
    return list(redundant.values())


def _unite_dates(schema: Schema, pairs: list[Dependence]) -> list[Dependence]:
    """Return the dependences with those of all parts of a date as one of the date."""
    dates = _columns_of_parts(schema)
    by_column: dict[str, list[Dependence]] = {}
    for pair in pairs:
        by_column.setdefault(dates.get(pair.second, pair.second), []).append(pair)
    united: list[Dependence] = []
    for column, own in by_column.items():
        parts = tuple(part for part, date in dates.items() if date == column)
        if not parts:
            united += [replace(pair, features=(column,), column=column) for pair in own]
        elif len(own) < len(parts):
            united += [replace(pair, features=(pair.second,)) for pair in own]
        else:
            repeats = {dates.get(pair.first, pair.first) for pair in own}
            first = repeats.pop() if len(repeats) == 1 and len(own) > 1 else own[0].first
            united.append(Dependence(first, column, min(pair.share for pair in own), parts, column))
    return sorted(united, key=lambda pair: -pair.share)


def _columns_of_parts(schema: Schema) -> dict[str, str]:
    """Return the column of each part of a date."""
    return {part: name for name, kind in schema.dates.items() for part, _ in kind.part_kinds(name)}


def _discretise_columns(
    schema: Schema, chunk: Chunk, classes: Ints, max_flags: int | None
) -> list[_DiscreteColumn]:
    groups = [g for g in schema.column_groups if isinstance(g.kind, Category | Number)][:MAX_COLUMNS]
    blocks: list[tuple[str, Any]] = [
        (g.names[0], g.kind.encode(chunk.columns, g.names, schema.missing)) for g in groups
    ]
    flags = _flag_codes(schema, chunk, MAX_COLUMNS - len(blocks), max_flags)
    n_numbers = sum(isinstance(block, NumberBlock) for _, block in blocks)
    n_bins = max(2, min(MAX_BINS, MAX_TOTAL_LEVELS // max(1, 2 * n_numbers)))
    columns = [*flags]
    for name, block in blocks:
        if isinstance(block, NumberBlock):
            columns.append(_bin_number(name, block.values, classes, n_bins))
        elif isinstance(block, CategoryBlock):
            columns.append(_pool_levels(name, block))
    columns = [column for column in columns if column.n_levels > 1]
    order = {name: place for place, name in enumerate(schema.names)}
    dates = _columns_of_parts(schema)
    columns.sort(key=lambda column: order.get(dates.get(column.name, column.name), len(order)))
    ends = np.cumsum([column.n_levels for column in columns])
    return columns[: int(np.searchsorted(ends, MAX_TOTAL_LEVELS, side="right"))]


def _flag_codes(schema: Schema, chunk: Chunk, n_columns: int, max_flags: int | None) -> list[_DiscreteColumn]:
    columns: list[_DiscreteColumn] = []
    for group in schema.column_groups:
        is_wide = max_flags is not None and len(group.names) > max_flags
        if group.kind.family == "bernoulli" and group.kind.shares_block and not is_wide:
            for name in group.names[: max(0, n_columns - len(columns))]:
                block: Any = group.kind.encode(chunk.columns, [name], schema.missing)
                codes: Ints = np.diff(block.rows.indptr).astype(np.int32)
                n_levels = int(codes.max(initial=0)) + 1
                if block.missing is not None:
                    codes[np.diff(block.missing.rows.indptr) > 0] = -1
                columns.append(_DiscreteColumn(name, codes, n_levels))
    return columns


def _pool_levels(name: str, block: CategoryBlock) -> _DiscreteColumn:
    """Return the codes of the frequent levels; all others have one code."""
    counts = np.bincount(block.codes[block.codes >= 0], minlength=len(block.levels))
    if len(counts) <= MAX_LEVELS:
        return _DiscreteColumn(name, block.codes, len(counts))
    # Levels are ordered by count and name, not by their order in the data.
    order = sorted(range(len(counts)), key=lambda code: (-counts[code], str(block.levels[code])))
    codes = np.full(len(counts) + 1, MAX_LEVELS - 1, dtype=np.int32)
    codes[order[: MAX_LEVELS - 1]] = np.arange(MAX_LEVELS - 1)
    codes[-1] = -1
    return _DiscreteColumn(name, codes[block.codes], MAX_LEVELS)


def _bin_number(name: str, values: Floats, classes: Ints, n_bins: int) -> _DiscreteColumn:
    """Return bins with about as many rows each in every class, with equal numbers in one bin."""
    n_classes = int(classes.max(initial=-1)) + 1
    codes, ranks = _core.rank_within_classes(values, classes, n_classes, n_bins, MIN_BIN_ROWS)
    return _DiscreteColumn(name, codes, n_bins, ranks)


def _measure_shares(
    columns: Sequence[_DiscreteColumn], classes: Ints, weights: Floats
) -> tuple[Floats, Floats]:
    """Return the share of information of each pair, zero if chance may explain it, and the entropies."""
    is_number = np.array([column.ranks is not None for column in columns])
    if is_number.any():
        # Equal rows with measurements are copies of one observation rather than several.
        weights = np.ones(len(classes))
    codes = np.array([column.codes for column in columns], dtype=np.int32)
    levels = np.array([column.n_levels for column in columns], dtype=np.int32)
    rows = codes, levels, classes, int(classes.max()) + 1, weights
    information, entropy, freedom, n = _core.measure_association(*rows)
    least = np.minimum(entropy, entropy.T)
    unbiased = np.maximum(information - freedom / 2, 0.0)
    # Where one column determines the other, the bias is not that of independent columns.
    unbiased = np.where(information >= least * COMPLETE_SHARE, least, unbiased)
    share = unbiased / np.maximum(least, 1e-300)
    both = is_number[:, None] & is_number
    share[both] = (1 - np.exp(-2 * unbiased / np.maximum(n, 1.0)))[both]
    p_value = 2 * MAX_FALSE_ALARMS / (len(columns) * (len(columns) - 1))
    limit = NormalDist().inv_cdf(1 - p_value)
    share[normal_score(2 * information, freedom) <= limit] = 0.0
    # Chance gives each arrangement the same probability, so no association is less probable than that.
    arrangements = _core.log_arrangements(*rows)
    share[np.minimum.outer(arrangements, arrangements) <= -math.log(p_value)] = 0.0
    # A column that hardly varies within the classes carries little evidence to count twice.
    share[least < MIN_ENTROPY * n] = 0.0
    if is_number.any() and _log_orders(classes) > -math.log(p_value):
        share = np.maximum(share, _squared_rank_correlations(columns, classes, weights, limit))
    return share, np.diag(entropy)


def _log_orders(classes: Ints) -> float:
    """Return the logarithm of the number of orders of different numbers within the classes."""
    return sum(math.lgamma(n + 1) for n in np.bincount(classes).tolist())


def normal_score(statistic: Floats, freedom: Floats) -> Floats:
    """Return a chi-squared statistic as a standard normal one, approximately (Wilson and Hilferty)."""
    k = np.maximum(freedom, 1.0)
    score = (np.cbrt(np.maximum(statistic, 0.0) / k) - (1 - 2 / (9 * k))) / np.sqrt(2 / (9 * k))
    return np.where(freedom > 0, score, -np.inf)


def _squared_rank_correlations(
    columns: Sequence[_DiscreteColumn], classes: Ints, weights: Floats, limit: float
) -> Floats:
    """Return the squared rank correlations within classes, zero if chance may explain them."""
    none = np.full(len(weights), np.nan)
    ranks = np.column_stack([none if c.ranks is None else c.ranks for c in columns])
    known = ~np.isnan(ranks)
    ranks = np.where(known, ranks, 0.0)
    products = ranks.T @ (ranks * weights[:, None])
    squares = (ranks**2).T @ (known * weights[:, None])
    n = known.T.astype(np.float64) @ (known * weights[:, None])
    varies = squares > MIN_RANK_VARIANCE * n
    scale = np.where(varies & varies.T, squares * squares.T, np.inf)
    r2 = (products**2 / np.where(scale > 0, scale, np.inf)).clip(0.0, 1.0)
    # Fisher's transformation is nearly normal; every class takes a degree of freedom for its mean.
    freedom = np.maximum(n - len(np.unique(classes)) - 2, 0.0)
    score = np.arctanh(np.minimum(np.sqrt(r2), 1 - 1e-12)) * np.sqrt(freedom)
    return np.where(score > limit, r2, 0.0)
