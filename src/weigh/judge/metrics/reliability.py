"""Calibration: bins of a reliability diagram, and the expected calibration error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weigh.judge.metrics.confidence_intervals import (
    BOOTSTRAP_SAMPLES,
    BOOTSTRAP_SEED,
    Measure,
    clopper_pearson,
)
from weigh.judge.metrics.losses import Floats
from weigh.result import Facts, Table

MAX_BINS = 10
MIN_ROWS_PER_BIN = 10


@dataclass(frozen=True)
class ReliabilityBin(Facts):
    """A bin of rows: mean predicted probability, and observed share with its exact interval.

    `series` is "verdict" for the probability of the predicted class, or "P(class)" for the second of two
    classes. `rows` is the number of rows; sample weights weight the mean and the share.
    """

    series: str
    predicted: float
    observed: float
    low: float
    high: float
    rows: int


class ReliabilityTable(tuple[ReliabilityBin, ...]):
    """The reliability bins of an evaluation, a tuple that prints as a table."""

    def __repr__(self) -> str:
        return self._table().to_text() if self else "()"

    def _repr_html_(self) -> str:
        return self._table().to_html("Reliability")

    def _table(self) -> Table:
        rows = [["probability of", "predicted", "observed", "low", "high", "rows"]]
        for row in self:
            shares = (row.predicted, row.observed, row.low, row.high)
            rows.append([row.series, *(f"{share:.4f}" for share in shares), f"{row.rows:,}"])
        return Table(rows, widths=(28,))


@dataclass(frozen=True, eq=False)
class ProbabilityBins:
    """Rows in quantile bins of their probability; equal probabilities share a bin.

    There are ten bins, or fewer so that each has at least ten rows; empty bins are dropped. The bin edges are
    the quantiles of scikit-learn's calibration_curve. `rows` counts the rows, `effective_rows` weights them.
    """

    rows: npt.NDArray[np.int64]
    weight: Floats
    effective_rows: Floats
    predicted: Floats
    observed: Floats

    def bins(self, series: str, level: float) -> tuple[ReliabilityBin, ...]:
        """Return the bins with exact intervals."""
        low, high = clopper_pearson(self.observed * self.effective_rows, self.effective_rows, level)
        columns = (self.predicted, self.observed, low, high, self.rows)
        lists = (column.tolist() for column in columns)
        return tuple(ReliabilityBin(series, *numbers) for numbers in zip(*lists, strict=True))

    def calibration_error(self, level: float) -> Measure:
        """Return the mean over rows of |observed share - mean probability| of their bin.

        Sampling error e in the bins' shares changes it by at most the mean of |e|. The half-width is the
        quantile of that mean at `level`, simulated with normal errors, so the interval is conservative.
        """
        share = self.weight / self.weight.sum()
        value = float((share * np.abs(self.observed - self.predicted)).sum())
        # One success and one failure more: a share of 0 or 1 must not have a standard error of zero.
        smoothed = (self.observed * self.effective_rows + 1.0) / (self.effective_rows + 2.0)
        standard_error = np.sqrt(smoothed * (1.0 - smoothed) / self.effective_rows)
        normal = np.random.default_rng(BOOTSTRAP_SEED).normal(size=(BOOTSTRAP_SAMPLES, len(standard_error)))
        half_width = float(np.quantile(np.abs(normal) @ (share * standard_error), level))
        return Measure("calibration_error", value, max(value - half_width, 0.0), min(value + half_width, 1.0))


def bin_probabilities(
    probability: Floats, is_correct: npt.NDArray[np.bool_], weights: Floats
) -> ProbabilityBins:
    """Group rows of positive weight into quantile bins of their probability."""
    n_bins = min(max(len(probability) // MIN_ROWS_PER_BIN, 1), MAX_BINS)
    edges = np.percentile(probability, np.linspace(0.0, 1.0, n_bins + 1) * 100)
    index = np.searchsorted(edges[1:-1], probability)
    rows = np.bincount(index, minlength=n_bins)
    filled = rows > 0
    weight, squares, predicted, observed = (
        np.asarray(np.bincount(index, values, n_bins)[filled], np.float64)
        for values in (weights, np.square(weights), weights * probability, weights * is_correct)
    )
    # Rounding of weighted sums must not give a mean above one.
    predicted, observed = np.minimum(predicted / weight, 1.0), np.minimum(observed / weight, 1.0)
    return ProbabilityBins(rows[filled], weight, weight * (weight / squares), predicted, observed)
