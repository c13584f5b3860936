"""Distributions of a number that are not normal: log-normal, zero-inflated, histogram.

Each is composed of distributions that exist already, for a transformed number: the normal distribution of the
logarithm, the categories 'zero' and 'not zero', the bins of a histogram. A number that a component does not
cover is missing for it and adds nothing, such as a zero for the normal distribution of the other numbers.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from weigh import errors
from weigh.advice import Call, set_kind
from weigh.features.blocks import CategoryBlock, Floats, Ints, NumberBlock
from weigh.features.kinds import Category, Number
from weigh.features.schema import ColumnGroup
from weigh.immutable import Immutable, ImmutablePart
from weigh.model.counts.count_table import CountTable, RowClasses
from weigh.model.counts.sufficient_statistics import ExactSum, NumberCounts
from weigh.model.counts.value_grid import GridCounts, cell_bounds, cell_centres, round_to_centres
from weigh.model.distributions.categorical import Categorical
from weigh.model.distributions.gaussian import Gaussian, NormalPosterior
from weigh.model.distributions.shape_choice import ZERO_STRENGTH, ShapeChoice, choose_shape
from weigh.model.distributions.weights import Contribution, SingleValueTerm, format_value, missing_number
from weigh.model.evidence.exact_products import Factor
from weigh.model.evidence.strengths import NormalParameters, Outcomes, StatisticTable
from weigh.priors.dirichlet import Dirichlet, ProportionalDirichlet
from weigh.text import format_quantity

ZERO, NOT_ZERO = "zero", "not zero"


def make_number_distribution(
    part: ColumnGroup, counts: NumberCounts, choice: ShapeChoice | None = None
) -> Gaussian | ShapedNumber:
    """Return the distribution of a number, with the shape that its kind states or its counts show.

    A `choice` made before is kept.
    """
    normal = Gaussian(part, counts)
    kind, grid = part.kind, counts.grid
    if not isinstance(kind, Number) or grid is None or not len(grid.cells) or not len(normal.weights.mean):
        return normal
    _check_stated_shape(part, grid)
    if choice is None:
        mean, _, deviation = normal.sample_moments[-1].tolist()
        choice = choose_shape(grid, kind, deviation / abs(mean) if mean else math.inf)
    if choice.shape == "normal":
        return Gaussian(replace(part, kind=replace(kind, spread=choice.spread)), counts)
    return ShapedNumber(normal, choice)


def shape_choice(distribution: Any) -> ShapeChoice | None:
    """Return the shape of a number's distribution, None for other columns."""
    if isinstance(distribution, Gaussian):
        return ShapeChoice("normal", distribution.spread)
    if not isinstance(distribution, ShapedNumber):
        return None
    priors = [component.distribution for component in distribution.components]
    prior = next((each.prior for each in priors if isinstance(each, Categorical)), None)
    return replace(distribution.choice, prior=prior if isinstance(prior, Dirichlet) else None)


def _check_stated_shape(part: ColumnGroup, grid: GridCounts) -> None:
    """Raise ColumnError if a column is stated to be log-normal and has numbers that are not positive."""
    if isinstance(part.kind, Number) and part.kind.shape == "log-normal" and grid.cells[0] <= 0:
        name, n = part.names[0], float(grid.table[:, grid.cells <= 0].sum())
        raise errors.ColumnError(
            f"Column {name!r} cannot be log-normal: {format_quantity(n, 'value')} of it "
            f"{'is' if n == 1 else 'are'} zero or negative.",
            hint=("Use ", set_kind(name, Call("Number", shape="auto")), "."),
        )


@dataclass(frozen=True, eq=False)
class NormalComponent(ImmutablePart):
    """The normal distribution of a number or of its logarithm; zeros are left out if asked."""

    distribution: Gaussian
    is_log: bool
    skips_zero: bool

    def transform(self, block: NumberBlock) -> NumberBlock:
        """Return the numbers, or the logarithms of the middles of their cells: that is what was counted."""
        if self.is_log:
            return NumberBlock(np.log(round_to_centres(block.values)))
        return NumberBlock(np.where(block.values == 0, np.nan, block.values)) if self.skips_zero else block

    def factors(self, block: NumberBlock, row: int, c: int) -> Iterator[Factor]:
        """Yield the density of the number, or of its logarithm, in class c."""
        for factor in self.distribution.factors(self.transform(block), row, c):
            if not self.is_log:
                yield factor
                continue
            value = format_value(float(block.values[row]))
            yield replace(factor, value=value, formula=factor.formula.replace("N(", f"N(log {value} = ", 1))

    def sample(self, rng: np.random.Generator, classes: Ints) -> Floats:
        """Draw a number for each row of the given classes."""
        drawn = self.distribution.sample(rng, classes)[self.distribution.part.names[0]]
        return np.asarray(np.exp(drawn) if self.is_log else drawn)


@dataclass(frozen=True, eq=False)
class ZeroComponent(ImmutablePart):
    """The probability that the number is zero."""

    distribution: Categorical

    def transform(self, block: NumberBlock) -> CategoryBlock:
        """Return the codes of 'zero' and 'not zero'."""
        codes = np.where(np.isnan(block.values), -1, block.values != 0).astype(np.int32)
        return CategoryBlock(codes, [ZERO, NOT_ZERO])

    def factors(self, block: NumberBlock, row: int, c: int) -> Iterator[Factor]:
        """Yield the probability of zero, or of another number, in class c."""
        yield from self.distribution.factors(self.transform(block), row, c)


@dataclass(frozen=True, eq=False)
class BinComponent(ImmutablePart):
    """The probabilities of the bins of a histogram; `limits` are the smallest and the largest number."""

    distribution: Categorical
    cuts: Floats
    names: tuple[str, ...]
    limits: tuple[float, float]

    def transform(self, block: NumberBlock) -> CategoryBlock:
        """Return the codes of the bins; a bin begins at its cut."""
        codes = np.searchsorted(self.cuts, block.values, side="right").astype(np.int32)
        codes[np.isnan(block.values)] = -1
        return CategoryBlock(codes, list(self.names))

    def factors(self, block: NumberBlock, row: int, c: int) -> Iterator[Factor]:
        """Yield the probability of the number's bin in class c."""
        yield from self.distribution.factors(self.transform(block), row, c)

    def probabilities(self, c: int) -> Floats:
        """Return the probabilities of the bins in class c, from the left."""
        index = {level: k for k, level in enumerate(self.distribution.levels)}
        return np.asarray(self.distribution.probabilities[c, [index[name] for name in self.names]])

    def sample(self, rng: np.random.Generator, classes: Ints) -> Floats:
        """Draw a bin for each row of the given classes, and a number from within the bin."""
        edges = np.array([self.limits[0], *self.cuts, self.limits[1]])
        bins = np.empty(len(classes), dtype=np.int64)
        for c in np.unique(classes):
            rows = classes == c
            bins[rows] = rng.choice(len(self.names), int(rows.sum()), p=self.probabilities(int(c)))
        share = rng.random(len(classes))
        return np.asarray((1 - share) * edges[bins] + share * edges[bins + 1])


@dataclass(frozen=True, eq=False)
class ShapedWeights(SingleValueTerm):
    """The log-density of a number in each class: the sum of the terms of its components.

    It lacks a constant that is the same for all classes. `typical` are numbers that are probable in a class.
    """

    name: str
    shape: str
    components: tuple[Any, ...]
    terms: tuple[Any, ...]
    n_classes: int
    typical: Floats

    def add(self, block: NumberBlock, scores: Floats) -> None:
        """Add the log-density of each row to its scores."""
        for component, term in zip(self.components, self.terms, strict=True):
            term.add(component.transform(block), scores)

    def log_densities(self, values: Floats) -> Floats:
        """Return the log-densities [values, classes]."""
        scores = np.zeros((len(values), self.n_classes))
        self.add(NumberBlock(values), scores)
        return scores

    def contributions(self, block: NumberBlock, row: int) -> Iterator[Contribution]:
        """Yield the contribution of the row's number."""
        value = float(block.values[row])
        if not math.isnan(value):
            logs = self.log_densities(np.array([value]))[0]
            yield Contribution(self.name, f"{format_value(value)} ({self.shape})", logs)

    def without(self, block: NumberBlock, keys: Collection[int]) -> NumberBlock:
        """Return the single row of a block, with its value missing if any key is given."""
        return missing_number(block, keys)


@dataclass(frozen=True, eq=False)
class ShapedNumber(Immutable):
    """The distribution of a number within each class that is log-normal, zero-inflated or a histogram.

    `normal` has the same numbers and a normal shape: its means and spreads summarise the column.
    """

    normal: Gaussian
    choice: ShapeChoice

    @property
    def part(self) -> ColumnGroup:
        """The column."""
        return self.normal.part

    @property
    def counts(self) -> NumberCounts:
        """The sums, and the counts on the grid."""
        return self.normal.counts

    @property
    def shape(self) -> str:
        """The name of the shape."""
        return self.choice.shape

    @cached_property
    def components(self) -> tuple[Any, ...]:
        """The distributions of the transformed numbers."""
        if self.shape == "histogram":
            return (_make_bins(self.part, self._grid, self.choice),)
        if self.shape == "log-normal":
            return (self._normal_component(False),)
        return _make_zero(self.part, self._grid, self.choice), self._normal_component(True)

    @property
    def _grid(self) -> GridCounts:
        assert self.counts.grid is not None  # or the shape would be normal
        return self.counts.grid

    def _normal_component(self, skips_zero: bool) -> NormalComponent:
        is_log, spread = self.choice.is_log, self.choice.spread
        kind = replace(self.normal.kind, spread=spread, shape=None)
        counts = _log_counts(self._grid) if is_log else _nonzero_counts(self.counts)
        return NormalComponent(Gaussian(replace(self.part, kind=kind), counts), is_log, skips_zero)

    @cached_property
    def weights(self) -> ShapedWeights:
        """The log-densities, as a term of the score."""
        return self._term([component.distribution.weights for component in self.components])

    def predictive(self) -> ShapedWeights:
        """Return the posterior predictive term, with the parameters integrated out."""
        # The shares of categories are posterior means already.
        distributions = [component.distribution for component in self.components]
        return self._term([d.predictive() if isinstance(d, Gaussian) else d.weights for d in distributions])

    def _term(self, terms: Iterable[Any]) -> ShapedWeights:
        name, n_classes = self.part.names[0], len(self.counts.known)
        return ShapedWeights(name, self.shape, self.components, tuple(terms), n_classes, self._typical())

    def _typical(self) -> Floats:
        """Return numbers that are probable in some class: medians, and zero if the shape has it."""
        density = self.components[-1]
        if isinstance(density, BinComponent):
            bounds = np.array([density.limits[0], *density.cuts, density.limits[1]])
            return np.asarray(bounds[:-1] / 2 + bounds[1:] / 2)
        means = density.distribution.mean
        values = np.exp(means) if density.is_log else means
        return np.unique(np.append(values, 0.0) if self.shape == "zero-inflated" else values)

    @property
    def is_constant(self) -> bool:
        """Whether the column is left out because its value is the same in all rows: it is not."""
        return False

    def linear(self) -> Any:
        """Raise Unsupported: the score is not a linear function of the number."""
        name = self.part.names[0]
        raise errors.Unsupported(
            f"Column {name!r} has a {self.shape} distribution, so the score is not linear in it.",
            hint=("Train with ", set_kind(name, Call("Number", spread="shared")), "."),
        )

    def factors(self, block: NumberBlock, row: int, c: int) -> Iterator[Factor]:
        """Yield the factors of the row's number in class c, with their formulas."""
        for component in self.components:
            yield from component.factors(block, row, c)

    def posterior(self, c: int, column: str = "") -> NormalPosterior | Dirichlet:
        """Return the posterior in class c: of the bins, or of the normal distribution (of the logarithm)."""
        posterior: NormalPosterior | Dirichlet = self.components[-1].distribution.posterior(c, column)
        return posterior

    def sample(self, rng: np.random.Generator, classes: Ints) -> dict[str, Any]:
        """Draw a number for each row of the given classes."""
        name = self.part.names[0]
        drawn = self.components[-1].sample(rng, classes)
        if self.shape == "zero-inflated":
            levels = self.components[0].distribution.sample(rng, classes)[name]
            drawn = np.where(levels == ZERO, 0.0, drawn)
        return {name: drawn}

    def outcomes(self) -> list[Outcomes]:
        """Return the bins of a histogram with their probabilities."""
        outcomes: list[Outcomes] = []
        if self.shape == "histogram":
            outcomes = self.components[0].distribution.outcomes()
        return outcomes

    def normal_parameters(self) -> list[NormalParameters]:
        """Return the mean and the standard deviation of each class, except of a histogram."""
        return [] if self.shape == "histogram" else self.normal.normal_parameters()

    def sufficient_statistics(self) -> Iterator[StatisticTable]:
        """Yield the exact sums, and the counts on the grid."""
        return self.normal.sufficient_statistics()

    def constant_names(self) -> Iterator[str]:
        """Yield nothing: the column is not constant."""
        yield from ()

    def training_names(self) -> Iterable[Any]:
        """Return no names: a number has no levels."""
        return ()

    def describe(self) -> str:
        """Return a short description of the content."""
        if self.shape == "histogram":
            return f"histogram, {format_quantity(len(self.components[0].names), 'bin')}"
        return f"{self.shape}, {self.normal.describe()}"

    @property
    def n_parameters(self) -> int:
        """Number of free parameters per class."""
        return sum(component.distribution.n_parameters for component in self.components)

    @property
    def n_shared_parameters(self) -> int:
        """Number of free parameters shared by all classes."""
        return sum(component.distribution.n_shared_parameters for component in self.components)


def _log_counts(grid: GridCounts) -> NumberCounts:
    """Return the sums of the logarithms of the middles of the cells of positive numbers."""
    is_positive = grid.cells > 0
    table = grid.table[:, is_positive].astype(np.float64)
    logs = np.tile(np.log(cell_centres(grid.cells[is_positive])), len(table))
    classes = np.repeat(np.arange(len(table), dtype=np.int32), table.shape[1])
    return NumberCounts.from_block(
        NumberBlock(logs), RowClasses(classes, len(table), table.ravel())
    ).canonical()


def _nonzero_counts(counts: NumberCounts) -> NumberCounts:
    """Return the sums of the numbers that are not zero: zeros add nothing to sums."""
    assert counts.grid is not None
    zeros = counts.grid.table[:, counts.grid.cells == 0].sum(axis=1)
    weight = None
    if counts.weight is not None:
        weight = counts.weight.plus(_exact_sum(zeros), -1)
    return NumberCounts(counts.known - zeros, counts.sum_x, counts.sum_xx, weight)


def _exact_sum(numbers: Any) -> ExactSum:
    ratios = [Fraction(float(number)) for number in numbers]
    denominator = max((ratio.denominator for ratio in ratios), default=1)
    integers = [int(ratio * denominator) for ratio in ratios]
    return ExactSum.from_integers(integers, 1 - denominator.bit_length())


def _make_zero(part: ColumnGroup, grid: GridCounts, choice: ShapeChoice) -> ZeroComponent:
    is_zero = grid.cells == 0
    table = np.column_stack([grid.table[:, is_zero].sum(axis=1), grid.table[:, ~is_zero].sum(axis=1)])
    names = ZERO, NOT_ZERO
    # A stated shape may have no zeros, or nothing else; one more of each keeps both possible.
    prior = choice.prior or ProportionalDirichlet(names, 1 + table.sum(axis=0), ZERO_STRENGTH)
    return ZeroComponent(_make_categories(part, names, table, prior))


def _make_bins(part: ColumnGroup, grid: GridCounts, choice: ShapeChoice) -> BinComponent:
    labels = [_format_cut(cut) for cut in choice.cuts]
    inner = [f"{a} ≤ x < {b}" for a, b in pairwise(labels)]
    names = (f"x < {labels[0]}", *inner, f"x ≥ {labels[-1]}") if labels else ("any x",)
    low, high = cell_bounds(grid.cells)
    table = np.zeros((len(grid.table), len(names)), dtype=grid.table.dtype)
    cell_bins = np.searchsorted(choice.cuts, low, side="right")
    np.add.at(table.T, cell_bins, grid.table.T)
    prior = choice.prior or ProportionalDirichlet(names, table.sum(axis=0), choice.strength)
    categories = _make_categories(part, names, table, prior)
    return BinComponent(categories, np.array(choice.cuts), names, (float(low[0]), float(high[-1])))


def _make_categories(part: ColumnGroup, names: tuple[str, ...], table: Any, prior: Dirichlet) -> Categorical:
    group = replace(part, kind=Category(levels=names))
    return Categorical(group, CountTable(list(names), table), prior)


def _format_cut(cut: float) -> str:
    """Format a cut between bins with all of its digits."""
    return str(int(cut)) if cut.is_integer() and abs(cut) < 1e15 else repr(cut)
