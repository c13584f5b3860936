"""Whether probabilities keep their word: of the rows given 80 %, are 80 % so?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh.judge.metrics.confidence_intervals import (
    BOOTSTRAP_SAMPLES,
    BOOTSTRAP_SEED,
    Measure,
    clopper_pearson,
)
from weigh.judge.metrics.losses import Floats
from weigh.text import html_table, text_table, to_json_value, truncate

MAX_BINS = 10
MIN_ROWS_PER_BIN = 10  # at least, so few rows have fewer bins


@dataclass(frozen=True)
class ReliabilityBin:
    """Rows of similar probability: its mean, and the share that came true with its exact interval.

    `series` is "verdict", for the probability of the class that was predicted, or "P(class)" of the second
    of two. `rows` is their number; with sample weights mean and share are weighted.
    """

    series: str
    predicted: float
    observed: float
    low: float
    high: float
    rows: int

    def to_dict(self) -> dict[str, Any]:
        """The bin for JSON, and as a row of a picture."""
        return {name: to_json_value(value) for name, value in vars(self).items()}


class ReliabilityTable(tuple[ReliabilityBin, ...]):
    """The bins of an evaluation, a tuple; prints and shows them as a table."""

    def __repr__(self) -> str:
        return text_table(self._rows()) if self else "()"

    def _repr_html_(self) -> str:
        return html_table("Do probabilities keep their word?", self._rows())

    def _rows(self) -> list[list[str]]:
        rows = [["probability of", "predicted", "observed", "low", "high", "rows"]]
        for each in self:
            shares = (each.predicted, each.observed, each.low, each.high)
            rows.append([truncate(each.series, 28), *(f"{share:.4f}" for share in shares), f"{each.rows:,}"])
        return rows


@dataclass(frozen=True, eq=False)
class ProbabilityBins:
    """Rows in bins of equal count by their probability, equal probabilities staying together.

    There are ten bins, fewer where a bin would have fewer than ten rows; empty ones are left out. The
    limits are the quantiles that scikit-learn's calibration_curve takes. `rows` counts, `effective` weighs
    them.
    """

    rows: npt.NDArray[np.int64]
    weight: Floats
    effective: Floats
    predicted: Floats
    observed: Floats

    def bins(self, series: str, level: float) -> tuple[ReliabilityBin, ...]:
        """The bins with exact intervals."""
        low, high = clopper_pearson(self.observed * self.effective, self.effective, level)
        columns = (self.predicted, self.observed, low, high, self.rows)
        listed = (column.tolist() for column in columns)
        return tuple(ReliabilityBin(series, *numbers) for numbers in zip(*listed, strict=True))

    def calibration_error(self, level: float) -> Measure:
        """The mean over rows of |share come true - mean probability| of their bin.

        Chance alone moves a bin's share by some e, and so the whole by at most the mean of |e|: the
        interval reaches as far as that mean does at the stated level, drawn from normal curves. So it holds
        at least as often as it says.
        """
        share = self.weight / self.weight.sum()
        value = float((share * np.abs(self.observed - self.predicted)).sum())
        # One row more that came true and one that did not: a share of 0 or 1 is no certainty.
        middle = (self.observed * self.effective + 1.0) / (self.effective + 2.0)
        error = np.sqrt(middle * (1.0 - middle) / self.effective)
        drawn = np.random.default_rng(BOOTSTRAP_SEED).normal(size=(BOOTSTRAP_SAMPLES, len(error)))
        reach = float(np.quantile(np.abs(drawn) @ (share * error), level))
        return Measure("calibration_error", value, max(value - reach, 0.0), min(value + reach, 1.0))


def bin_probabilities(probability: Floats, is_so: npt.NDArray[np.bool_], weights: Floats) -> ProbabilityBins:
    """Cut rows of positive weight into bins by their probability."""
    n_bins = min(max(len(probability) // MIN_ROWS_PER_BIN, 1), MAX_BINS)
    limits = np.percentile(probability, np.linspace(0.0, 1.0, n_bins + 1) * 100)
    place = np.searchsorted(limits[1:-1], probability)
    rows = np.bincount(place, minlength=n_bins)
    filled = rows > 0
    weight, squares, predicted, observed = (
        np.asarray(np.bincount(place, values, n_bins)[filled], np.float64)
        for values in (weights, np.square(weights), weights * probability, weights * is_so)
    )
    # Sums of weights round, and a mean of ones must not come out above one.
    predicted, observed = np.minimum(predicted / weight, 1.0), np.minimum(observed / weight, 1.0)
    return ProbabilityBins(rows[filled], weight, weight * (weight / squares), predicted, observed)
