"""Scorecards: the contributions of a logistic regression as whole points, which can be added by hand.

With p points for a factor o of the odds, a contribution of h nats has round(h · p / ln o) points. The total
of a row gives log-odds = (total − base points) · ln o / p + bias, so only the points of the columns round.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh import errors
from weigh.advice import Setting, set_kind
from weigh.features.blocks import Floats, Longs
from weigh.features.kinds import Flag
from weigh.features.schema import ColumnGroup
from weigh.features.text_kinds import BagOfWordsKind
from weigh.model.distributions.curve_weights import CurveWeights, PairAxis, PairWeights, format_cuts
from weigh.model.distributions.weights import LevelWeights, format_value
from weigh.model.distributions.word_weights import WordWeights
from weigh.result import Facts, Lines, Section, Table, TabularResult
from weigh.text import format_float, format_percent, use_minus_sign

if TYPE_CHECKING:
    from weigh.model.logistic import LogisticModel

MISSING, BASE, ANY = "missing", "base", "any"
LISTED_PROBABILITIES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
MAX_PRINTED_CELLS = 200
MAX_FACTOR = 1e9  # points per nat: the sum of more would not be a whole number in a float
UNKNOWN_VALUES_NOTE = "A level that is missing or unknown has 0 points, and so has a pair with such a value."


@dataclass(frozen=True)
class CellPoints(Facts):
    """The points of one cell, level or flag of a term; neighbouring cells with equal points are one range."""

    term: str
    cell: str
    points: int


@dataclass(frozen=True, repr=False)
class Scorecard(TabularResult):
    """The result of `scorecard`: whole points that add up to the odds of the class `label`.

    `points` more points multiply the odds by `odds`. `table` begins with the points of the base, with which
    every total starts. Rounding to whole points changes the log-odds of a row by at most `largest_error`. Its
    root mean square over the training rows is about `rms_error`, as if columns were independent and all
    levels of a category equally frequent.
    """

    label: Any
    points: float
    odds: float
    table: tuple[CellPoints, ...]
    largest_error: float
    rms_error: float
    _bias: float
    _rounded: LogisticModel = field(compare=False)
    _frames = ("table",)

    @property
    def base_points(self) -> int:
        """The points with which every total starts."""
        return self.table[0].points

    def score(self, rows: Any) -> Longs:
        """Return the total points of each row."""
        scores = self._rounded.scores(rows)
        return np.asarray(np.rint(scores[:, 1] - scores[:, 0]), dtype=np.int64)

    def probability(self, points: Any) -> Any:
        """Return the probability of the class `label` for a total, or for an array of totals."""
        totals = np.asarray(points, dtype=np.float64)
        log_odds = (totals - self.base_points) * math.log(self.odds) / self.points + self._bias
        shares = np.exp(-np.logaddexp(0.0, -log_odds))
        return float(shares) if shares.ndim == 0 else shares

    @property
    def headline(self) -> str:
        """The meaning of the points."""
        times = (
            "double the odds of {}" if self.odds == 2 else "multiply the odds of {} by " + f"{self.odds:g}"
        )
        return f"Scorecard: every {self.points:g} points {times.format(self.label)}."

    def sections(self) -> Iterator[Section]:
        """Yield the points, the probabilities of totals, and the errors of rounding."""
        yield Section("table", [self._points_lines()])
        if any(isinstance(term, LevelWeights | PairWeights) for term in self._rounded.terms):
            yield Section("unknown", [UNKNOWN_VALUES_NOTE])
        shares = [["total", "probability"]]
        for probability in LISTED_PROBABILITIES:
            shares.append([use_minus_sign(f"{self._total_for(probability):,}"), format_percent(probability)])
        yield Section("probabilities", [Table(shares, indent="  ")], "From this total on, at least:")
        yield Section(
            "rounding",
            [
                f"Rounding to whole points changes the log-odds of a row by at most "
                f"{format_float(self.largest_error)}, and by about {format_float(self.rms_error)} (root mean "
                f"square over the training rows)."
            ],
        )

    def _points_lines(self) -> Lines:
        """Return the points; text names a term only in its first line."""
        cells = [[row.term, row.cell, _format_points(row.points)] for row in self.table]
        starts = {next(group)[0] for _, group in groupby(enumerate(self.table), key=lambda at: at[1].term)}
        lines = [["" if at not in starts else term, *rest] for at, (term, *rest) in enumerate(cells)]
        header = ["term", "cell", "points"]
        widths = (30, 34)
        text = Table([header, *lines], left=2, indent="  ", widths=widths, most=MAX_PRINTED_CELLS).to_text()
        bars = [float(row.points) for row in self.table]
        html = Table([header, *cells], left=2, widths=widths, bars=bars, most=MAX_PRINTED_CELLS)
        return Lines(text, html)

    def _total_for(self, probability: float) -> int:
        """Return the smallest total with at least a probability."""
        log_odds = math.log(probability / (1 - probability))
        return self.base_points + math.ceil((log_odds - self._bias) * self.points / math.log(self.odds))

    def plot(self) -> Any:
        """Plot the points as bars, with one panel per term."""
        from weigh.pictures import bar_chart

        rows = [{"group": row.term, "name": row.cell or BASE, "value": row.points} for row in self.table]
        return bar_chart(rows, x="points", title=self.headline)


def _format_points(points: int) -> str:
    return use_minus_sign(f"{points:+,}") if points else "0"


def build_scorecard(model: LogisticModel, points: float, odds: float) -> Scorecard:
    """Return the scorecard of a logistic regression with two classes."""
    _check_positive("points", points, 0.0, "a number above 0")
    _check_positive("odds", odds, 1.0, "a number above 1")
    if len(model.classes) != 2:
        raise errors.Unsupported(
            f"A scorecard is for two classes: its points add up to the odds of one of them. This model has "
            f"{len(model.classes):,}."
        )
    factor = points / math.log(odds)
    if factor > MAX_FACTOR:
        must = f"at most {MAX_FACTOR * math.log(odds):.3g} for odds={odds!r}"
        raise errors.parameter_error("scorecard", "points", must, points)
    terms: list[Any] = []
    parts = []
    for group, term in zip(model.schema.column_groups, model.terms, strict=True):
        rounded, part = _round_term(model, group, term, factor)
        terms.append(rounded)
        parts.append(part)
    bias = float(model.base[1] - model.base[0])
    base = int(np.rint(factor * bias))
    errors_by_term = [error for part in parts for error in part.errors]
    rows = [CellPoints(BASE, "", base), *(row for part in parts for row in part.rows)]
    return Scorecard(
        model.classes[1],
        points,
        odds,
        tuple(rows),
        sum(error.largest for error in errors_by_term),
        _combine_errors(errors_by_term),
        bias,
        replace(model, base=np.array([0.0, base]), terms=terms, posterior_source=None),
    )


def _check_positive(name: str, value: Any, low: float, must: str) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not low < value < math.inf:
        raise errors.parameter_error("scorecard", name, must, value)


@dataclass(frozen=True)
class _RoundingError:
    """The rounding error of one column in nats: the largest, the mean and the variance over the rows."""

    largest: float
    mean: float
    variance: float

    @classmethod
    def of_cells(
        cls, heights: Floats, points: Floats, factor: float, counts: Floats | None
    ) -> _RoundingError:
        """Return the error of cells; those without a count are equally frequent."""
        difference = points / factor - heights
        weights = np.ones(len(difference)) if counts is None or not counts.any() else counts
        mean = float(np.average(difference, weights=weights))
        variance = float(np.average(np.square(difference - mean), weights=weights))
        return cls(float(np.abs(difference).max(initial=0.0)), mean, variance)


def _combine_errors(parts: Sequence[_RoundingError]) -> float:
    """Return the root mean square of the sum of independent errors."""
    return math.sqrt(sum(part.variance for part in parts) + sum(part.mean for part in parts) ** 2)


@dataclass(frozen=True)
class _TermPoints:
    """The points of a term's cells, and the rounding errors of its columns."""

    rows: Sequence[CellPoints]
    errors: Sequence[_RoundingError]


def _round_term(
    model: LogisticModel, group: ColumnGroup, term: Any, factor: float
) -> tuple[Any, _TermPoints]:
    """Return a term with whole points as weights, and its points by cell."""
    is_flag = isinstance(group.kind, Flag) and isinstance(term, WordWeights)
    if not (is_flag or isinstance(term, CurveWeights | PairWeights | LevelWeights)):
        raise _unsupported_column_error(group)
    table = term.trained_weights()
    heights = table[:, 1] - table[:, 0]
    points = np.rint(factor * heights)
    rounded = term.with_weights(np.column_stack([np.zeros(len(points)), points]))
    if is_flag:
        words = model.schema.flag_words
        rows = [row for at, name in enumerate(term.names) for row in _flag_rows(name, points[at], words)]
        found = [
            _RoundingError.of_cells(np.array([0.0, h]), np.array([0.0, p]), factor, None)
            for h, p in zip(heights, points, strict=True)
        ]
        return rounded, _TermPoints(rows, found)
    counts = None if isinstance(term, LevelWeights) else term.counts
    found = [_RoundingError.of_cells(heights, points, factor, counts)] if len(points) else []
    # A term without points is one line, so that it does not hide the others.
    cells = _cells(term, points.astype(np.int64).tolist()) if points.any() else [(ANY, 0)]
    return rounded, _TermPoints([CellPoints(term.name, *cell) for cell in cells], found)


def _unsupported_column_error(group: ColumnGroup) -> errors.Unsupported:
    columns, have, them = ("column", "has", "it") if len(group.names) == 1 else ("columns", "have", "them")
    unit, hint = "unit", ("Train with ", Setting("curves", "auto"), f", or leave {them} out.")
    if isinstance(group.kind, BagOfWordsKind):
        unit, hint = "word", ("Train with ", set_kind(group.names[0], "category"), f", or leave {them} out.")
    return errors.Unsupported(
        f"A scorecard has points for ranges, levels and flags, but {group.kind.name} {columns} "
        f"{errors.quote_names(group.names)} {have} a weight per {unit}.",
        hint=hint,
    )


def _flag_rows(name: str, points: float, words: Any) -> Iterator[CellPoints]:
    absent, present = words.get(name, ("0", "1"))
    yield CellPoints(name, present, int(points))
    yield CellPoints(name, absent, 0)


def _cells(term: Any, points: list[int]) -> Iterator[tuple[str, int]]:
    """Yield the cells of a term with their points; neighbouring cells with equal points are one range."""
    if isinstance(term, CurveWeights):
        yield from _merge_cells(format_cuts(term.cuts, term.name), points[:-1])
        yield MISSING, points[-1]
    elif isinstance(term, PairWeights):
        n = term.right.n_cells
        for at, left in enumerate(term.left.cell_names()):
            for right, value in _axis_cells(term.right, points[at * n : (at + 1) * n]):
                yield f"{left}, {right}", value
    else:
        yield from zip(map(format_value, term.levels), points, strict=True)
        if term.reference_level is not None:
            yield format_value(term.reference_level), 0


def _axis_cells(axis: PairAxis, points: list[int]) -> Iterator[tuple[str, int]]:
    if axis.cuts is not None:
        yield from _merge_cells(format_cuts(axis.cuts, axis.name), points)
    else:
        yield from zip(axis.cell_names(), points, strict=True)


def _merge_cells(edges: Sequence[str], points: list[int]) -> Iterator[tuple[str, int]]:
    """Yield the ranges between the edges, as one if neighbours have equal points."""
    for value, group in groupby(range(len(points)), key=lambda cell: points[cell]):
        cells = list(group)
        low = None if cells[0] == 0 else edges[cells[0] - 1]
        high = None if cells[-1] == len(points) - 1 else edges[cells[-1]]
        yield _name_range(low, high), value


def _name_range(low: str | None, high: str | None) -> str:
    if low is None:
        return ANY if high is None else f"≤ {high}"
    return f"> {low}" if high is None else f"{low} to {high}"
