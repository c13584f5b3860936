"""Find all changes of a single value of a row that flip its verdict."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np

from weigh.explain.additive_row import AdditiveRow
from weigh.features.blocks import CategoryBlock, DenseBlock, Floats, NumberBlock
from weigh.features.curves import PairBlock
from weigh.features.kinds import Count
from weigh.model.counts.value_grid import cell_bounds
from weigh.model.distributions.curve_weights import CurveWeights, PairWeights, format_number
from weigh.model.distributions.gaussian import Gaussian, GaussianWeights
from weigh.model.distributions.number_shapes import ShapedWeights
from weigh.model.distributions.weights import LevelWeights, LinearNumberTerm, ScaledWeights, format_value
from weigh.model.distributions.word_weights import FlagWeights, ValueWeights
from weigh.model.evidence.strengths import MAX_PLAUSIBLE_DEVIATIONS
from weigh.model.naive_bayes import BayesModel
from weigh.result import Facts

MAX_NUMBER_COLUMNS = 200  # numeric columns of a block that are tried
# Relative distances past a crossing at which the verdict is checked: ties reach further for large distances.
CROSSING_MARGINS = (1e-9, 1e-6, 1e-3)


@dataclass(frozen=True)
class ValueChange(Facts):
    """A change of a feature from `now` to `to` that changes the verdict to `becomes`.

    `to` is another level of a category or flag, or "above" or "below" the `threshold` of a number. A cell of
    a curve includes its upper threshold, so that smaller numbers are "at most" it.
    """

    feature: str
    now: str
    to: str
    becomes: Any
    threshold: float | None = None


@dataclass(frozen=True, eq=False)
class LevelAlternatives:
    """Other values of a category or flag, with their contributions to the scores, [values, classes].

    `block` has the values themselves if the column may be one of a pair. `key` is None if the value is absent
    and adds nothing, so that there is no feature to remove.
    """

    key: int | None
    feature: str
    now: str
    values: Sequence[str]
    contributions: Floats
    block: CategoryBlock | None = None


@dataclass(frozen=True, eq=False)
class NumberVariation:
    """A number that may change by u, which adds `quadratic` u² + `linear` u to the scores.

    Values below `low` or above `high` are impossible or implausible.
    """

    feature: str
    now: float
    quadratic: Floats
    linear: Floats
    low: float = -np.inf
    high: float = np.inf

    def has_values_beyond(self, threshold: float, side: int) -> bool:
        """Whether there are plausible values on the given side of a threshold."""
        return threshold < self.high if side > 0 else threshold > self.low


@dataclass(frozen=True, eq=False)
class CurveVariation:
    """A number with a curve, which may have any other value."""

    term: CurveWeights
    now: float


def find_value_changes(row: AdditiveRow, verdict: int, goal: int | None) -> list[ValueChange]:
    """Return all single changes that flip the verdict: other levels and nearest thresholds."""
    index_by_key = {(part, feature.key): at for at, (part, feature) in enumerate(row.removable_features)}
    scores = row.scores()
    changes: list[ValueChange] = []
    terms: Any = zip(row.model.schema.column_groups, row.model.terms, row.blocks, strict=True)
    for at, (part, term, block) in enumerate(terms):
        for option in value_alternatives(term, block, part.kind.name):
            if isinstance(option, NumberVariation):
                low, high = possible_range(row.model, at, option.feature)
                option = replace(option, low=max(option.low, low), high=min(option.high, high))
                changes += _threshold_changes(row, option, scores, verdict)
            elif isinstance(option, CurveVariation):
                changes += _cell_changes(row, option, row.scores([index_by_key[at, 0]]), verdict, goal)
            elif option.key is None:
                changes += _level_changes(row, option, scores, verdict)
            elif (at, option.key) in index_by_key:
                scores_without = row.scores([index_by_key[at, option.key]])
                changes += _level_changes(row, option, scores_without, verdict)
    return [change for change in changes if goal is None or change.becomes == row.model.classes[goal]]


def possible_range(model: Any, part: int, column: str) -> tuple[float, float]:
    """Return the range of the possible numbers of a column: that of the training rows where it is known.

    Training numbers are counted in narrow cells of a grid, so that the ends are exact to a cell. Numbers with
    a normal distribution are within three standard deviations of the mean of a class, as they were in
    training. Counts are never negative. A column of which none of this is known has no bounds.
    """
    ranges = [_training_range(model, part, column)]
    if isinstance(model.schema.column_groups[part].kind, Count):
        ranges.append((0.0, np.inf))
    distribution = model.distributions[part] if isinstance(model, BayesModel) else None
    if isinstance(distribution, Gaussian):
        # Deviations of the rows, because those of the model may be stated, shared or limited.
        mean, _, deviation = distribution.sample_moments[:-1].T
        reach = MAX_PLAUSIBLE_DEVIATIONS * deviation
        ranges.append((float(np.nanmin(mean - reach)), float(np.nanmax(mean + reach))))
    lows, highs = zip(*ranges, strict=True)
    return max(lows), min(highs)


def _training_range(model: Any, part: int, column: str) -> tuple[float, float]:
    """Return the range of the cells in which the model counts the training numbers of a column."""
    if isinstance(model, BayesModel):
        grid = getattr(model.counts.parts[part], "grid", None)
        bounds = None if grid is None else cell_bounds(grid.cells)
    else:
        inputs = None if model.training_rows is None else model.training_rows.inputs
        cells = None if inputs is None else inputs.number_cells(model.schema, part, column)
        bounds = None if cells is None else cells.bounds
    if bounds is None or not len(bounds[0]):
        return -np.inf, np.inf
    return float(bounds[0][0]), float(bounds[1][-1])


def _level_changes(
    row: AdditiveRow, option: LevelAlternatives, scores_without: Floats, verdict: int
) -> Iterator[ValueChange]:
    scores = scores_without + option.contributions
    if option.block is not None:
        _add_pairs(row, option.feature, option.block, scores)
    for value, best, value_scores in zip(option.values, row.model.best(scores).tolist(), scores, strict=True):
        if best != verdict and not np.isneginf(value_scores).all():
            yield ValueChange(option.feature, option.now, value, row.model.classes[best])


def _cell_changes(
    row: AdditiveRow, option: CurveVariation, scores_without: Floats, verdict: int, goal: int | None
) -> Iterator[ValueChange]:
    """Yield the nearest cells above and below the number in which the goal, or any other class, wins."""
    term, now = option.term, option.now
    cuts = _all_cuts(row, term)
    if not len(cuts):
        return
    # Within a cell of all curves and surfaces the scores are constant.
    numbers = NumberBlock(np.append(cuts, np.nextafter(cuts[-1], np.inf)))
    scores = np.repeat(scores_without - term.table[-1], len(numbers.values), axis=0)
    term.add(numbers, scores)
    _add_pairs(row, term.name, numbers, scores)
    verdicts = row.model.best(scores).tolist()
    flips = [best == goal if goal is not None else best != verdict for best in verdicts]
    here = int(np.searchsorted(cuts, now, side="left"))
    above, below = range(here + 1, len(verdicts)), range(here - 1, -1, -1)
    for cells, word, shift in ((above, "above", 1), (below, "at most", 0)):
        cell = next((cell for cell in cells if flips[cell]), None)
        if cell is not None:
            threshold, becomes = float(cuts[cell - shift]), row.model.classes[verdicts[cell]]
            to = f"{word} {format_number(threshold, term.name)}"
            yield ValueChange(term.name, format_number(now, term.name), to, becomes, threshold)


def _all_cuts(row: AdditiveRow, term: CurveWeights) -> Floats:
    """Return the cuts of a curve and of the surfaces of its column."""
    axes = [
        axis for pair in row.model.terms if isinstance(pair, PairWeights) for axis in (pair.left, pair.right)
    ]
    own = [axis.cuts for axis in axes if axis.name == term.name and axis.cuts is not None]
    return np.unique(np.concatenate([term.cuts, *own]))


def _add_pairs(row: AdditiveRow, column: str, values: NumberBlock | CategoryBlock, scores: Floats) -> None:
    """Add what the surfaces of a column add to the scores [values, classes] of other values of it."""
    n = values.n_rows
    for term, block in zip(row.model.terms, row.blocks, strict=True):
        if isinstance(term, PairWeights) and column in (term.left.name, term.right.name):
            is_left = term.left.name == column
            other = _repeat(block.right if is_left else block.left, n)
            term.add(PairBlock(values, other) if is_left else PairBlock(other, values), scores)


def _repeat(block: NumberBlock | CategoryBlock, n: int) -> NumberBlock | CategoryBlock:
    if isinstance(block, NumberBlock):
        return NumberBlock(np.repeat(block.values, n))
    return CategoryBlock(np.repeat(block.codes, n), block.levels)


def _threshold_changes(
    row: AdditiveRow, number: NumberVariation, scores: Floats, verdict: int
) -> Iterator[ValueChange]:
    """Yield the nearest thresholds above and below the number beyond which another class wins."""
    a, b = (slopes[verdict] - slopes for slopes in (number.quadratic, number.linear))
    crossings = _score_crossings(a, b, scores[0, verdict] - scores[0])
    for side, word in ((1, "above"), (-1, "below")):
        on_side = sorted((u for u in crossings if u * side > 0), key=abs)
        for u, margin in itertools.product(on_side, CROSSING_MARGINS):
            beyond = u * (1 + margin)
            moved = scores + number.quadratic * beyond**2 + number.linear * beyond
            best = int(row.model.best(moved)[0])
            if best != verdict:
                threshold = number.now + (u if margin == CROSSING_MARGINS[0] else beyond)
                if number.has_values_beyond(threshold, side):
                    yield ValueChange(
                        number.feature,
                        format_value(number.now),
                        f"{word} {threshold:.6g}",
                        row.model.classes[best],
                        threshold,
                    )
                break


def _score_crossings(a: Floats, b: Floats, lead: Floats) -> list[float]:
    """Return the non-zero real roots of a u² + b u + lead for all classes, without cancellation."""
    roots: list[float] = []
    for square, slope, ahead in zip(a.tolist(), b.tolist(), lead.tolist(), strict=True):
        if not np.isfinite(ahead) or (square == 0 and slope == 0):
            continue
        if square == 0:
            roots.append(-ahead / slope)
            continue
        discriminant = slope * slope - 4 * square * ahead
        if discriminant < 0:
            continue
        q = -0.5 * (slope + np.copysign(np.sqrt(discriminant), slope))
        roots += [float(u) for u in ((q / square), (ahead / q if q else 0.0))]
    return [u for u in roots if np.isfinite(u) and u != 0]


Alternatives = LevelAlternatives | NumberVariation | CurveVariation


@singledispatch
def value_alternatives(term: Any, block: Any, kind: str) -> list[Alternatives]:
    """Return the alternatives to the value in the only row of a block; none for texts."""
    return []


@value_alternatives.register
def _(term: LevelWeights, block: CategoryBlock, kind: str) -> list[Alternatives]:
    current = list(term.contributions(block, 0))
    if not current:
        return []
    levels, table = list(term.levels), term.table[:-1]
    if term.reference_level is not None:
        levels, table = [*levels, term.reference_level], np.vstack([table, np.zeros((1, table.shape[1]))])
    now = block.levels[int(block.codes[0])]
    other = [at for at, level in enumerate(levels) if level != now]
    names = [format_value(levels[at]) for at in other]
    values = CategoryBlock(np.arange(len(other), dtype=np.int32), [levels[at] for at in other])
    return [LevelAlternatives(0, term.name, current[0].value, names, table[other], values)]


@value_alternatives.register
def _(term: CurveWeights, block: NumberBlock, kind: str) -> list[Alternatives]:
    now = float(block.values[0])
    return [] if np.isnan(now) else [CurveVariation(term, now)]


@value_alternatives.register
def _(term: GaussianWeights, block: NumberBlock, kind: str) -> list[Alternatives]:
    now = float(block.values[0])
    if np.isnan(now) or not len(term.mean):
        return []
    precision = 1.0 / term.deviation**2
    return [NumberVariation(term.name, now, -0.5 * precision, -precision * term.distances(now))]


@value_alternatives.register
def _(term: ShapedWeights, block: NumberBlock, kind: str) -> list[Alternatives]:
    current = list(term.contributions(block, 0))
    if not current:
        return []
    other = term.typical[term.typical != block.values[0]]
    names = [format_value(float(value)) for value in other]
    return [LevelAlternatives(0, term.name, current[0].value, names, term.log_densities(other))]


@value_alternatives.register
def _(term: LinearNumberTerm, block: NumberBlock, kind: str) -> list[Alternatives]:
    now = float(block.values[0])
    return (
        []
        if np.isnan(now)
        else [NumberVariation(term.name, now, np.zeros(len(term.slope)), np.asarray(term.slope))]
    )


@value_alternatives.register
def _(term: ScaledWeights, block: NumberBlock, kind: str) -> list[Alternatives]:
    now = float(block.values[0])
    reach = MAX_PLAUSIBLE_DEVIATIONS * term.unit
    low, high = term.centre - reach, term.centre + reach
    zeros = np.zeros(len(term.slope))
    return [] if np.isnan(now) else [NumberVariation(term.name, now, zeros, term.slope, low, high)]


@value_alternatives.register
def _(term: ValueWeights, block: Any, kind: str) -> list[Alternatives]:
    zeros = np.zeros(term.table.shape[1])
    occurrences = term.occurrences(block, 0)[:MAX_NUMBER_COLUMNS]
    absent = _known_zeros(term, block, kind)
    if kind == "flag":
        on = [LevelAlternatives(at, name, "1", ["0"], zeros[None]) for at, _, name in occurrences]
        rows = [(at, term.display_name(at), term.table[[at]]) for at in absent]
        return [*on, *(LevelAlternatives(None, name, "0", ["1"], weights) for at, name, weights in rows)]
    numbers = sorted([*occurrences, *((at, 0.0, term.display_name(at)) for at in absent)])
    return [NumberVariation(name, now, zeros, term.table[at]) for at, now, name in numbers]


def _known_zeros(term: ValueWeights, block: Any, kind: str) -> list[int]:
    """Return the columns that are zero in the only row of a block, unless they may be missing."""
    if len(term.names) > MAX_NUMBER_COLUMNS or not (kind == "flag" or isinstance(block, DenseBlock)):
        return []
    if isinstance(block, DenseBlock):
        others = [] if block.count_missing() else [block]
    else:
        others = [block] if block.missing is None else [block, block.missing]
    known = {at for each in others for at in term.entries(each).indices.tolist()}
    return [at for at in range(len(term.names)) if others and at not in known]


@value_alternatives.register
def _(term: FlagWeights, block: Any, kind: str) -> list[Alternatives]:
    present, absent = term.flag_states(block, 0)
    if not term.fixed:
        return []
    on = [LevelAlternatives(at, term.names[at], "1", ["0"], term.absent[[at]]) for at in present]
    return [*on, *(LevelAlternatives(at, term.names[at], "0", ["1"], term.present[[at]]) for at in absent)]
