"""The rate of wrong labels, estimated from how disagreement falls as a model's lead grows.

A model errs less, the further its prediction leads. Wrong labels do not: they disagree with the surest
predictions as often as with any. So the share of disagreements that remains at large leads is the rate of
wrong labels. It is estimated together with the model's own errors:

    P(prediction right | lead m) = σ(a m + b),    P(label wrong) = λ, the same for all rows,

where a wrong label is any of the other classes. The three parameters maximise their posterior density under
weak priors, which decide where the data do not: a model that is no surer of any row than of another says
nothing about labels, and λ is then near zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# Probabilities of naive Bayes are rather too extreme, so a slope below one is usual.
LOG_SLOPE_MEAN, LOG_SLOPE_DEVIATION = -0.7, 1.5
INTERCEPT_DEVIATION = 1.0
RATE_PRIOR = 3.0  # the density of λ is proportional to (1 − λ)³
STARTS = ((0.001, -1.0), (0.05, -1.0), (0.15, 0.0), (0.03, -4.0))  # of λ and log a
MAX_ITERATIONS = 300
TOLERANCE = 1e-8
MAX_LOGIT = 40.0
BINS_PER_OCTAVE = 32


@dataclass(frozen=True)
class LabelNoise:
    """The rate λ of wrong labels, and the log-odds a m + b that a prediction with the lead m is right."""

    rate: float
    slope: float
    intercept: float
    n_classes: int

    def wrong_given_disagreement(self, leads: Floats) -> Floats:
        """Return P(label wrong | lead, label differs from the prediction)."""
        right = _sigmoid(self.slope * leads + self.intercept)
        other = 1.0 - 1.0 / (self.n_classes - 1)  # a wrong label that is not the wrong prediction either
        wrong = self.rate * (right + (1.0 - right) * other)
        return np.asarray(wrong / np.maximum(wrong + (1.0 - self.rate) * (1.0 - right), 1e-300))


class LeadCounts:
    """The number of rows by lead and agreement, in bins of equal ratio, so that any number of rows fits."""

    def __init__(self) -> None:
        self._counts = np.zeros((2, 1))

    def add(self, leads: Floats, agrees: npt.NDArray[np.bool_], weights: Floats) -> None:
        """Count rows."""
        bins = np.floor(BINS_PER_OCTAVE * np.log2(1.0 + np.minimum(leads, 1e300))).astype(np.int64)
        n_bins = max(int(bins.max(initial=0)) + 1, self._counts.shape[1])
        self._counts = np.pad(self._counts, ((0, 0), (0, n_bins - self._counts.shape[1])))
        for row, mask in enumerate((~agrees, agrees)):
            self._counts[row] += np.bincount(bins[mask], weights[mask], n_bins)

    def estimate_noise(self, n_classes: int) -> LabelNoise:
        """Return the estimate for all counted rows."""
        used = np.flatnonzero(self._counts.sum(axis=0))
        leads = np.exp2((used + 0.5) / BINS_PER_OCTAVE) - 1.0
        differ, agree = self._counts[:, used]
        fits = [_maximise(leads, differ, agree, n_classes, *start) for start in STARTS]
        return max(fits, key=lambda fit: fit[0])[1]


def _maximise(
    leads: Floats, differ: Floats, agree: Floats, n_classes: int, rate: float, log_slope: float
) -> tuple[float, LabelNoise]:
    """Return the log posterior density and the parameters that expectation maximisation finds."""
    total, guess, intercept, before = float((differ + agree).sum()), 1.0 / (n_classes - 1), 0.0, -math.inf
    density = before
    for _ in range(MAX_ITERATIONS):
        right = _sigmoid(math.exp(log_slope) * leads + intercept)
        agree_right, agree_wrong = (1.0 - rate) * right, rate * (1.0 - right) * guess
        differ_right, differ_wrong = rate * right, rate * (1.0 - right) * (1.0 - guess)
        p_agree = np.maximum(agree_right + agree_wrong, 1e-300)
        p_differ = np.maximum(differ_right + differ_wrong + (1.0 - rate) * (1.0 - right), 1e-300)
        density = float(agree @ np.log(p_agree) + differ @ np.log(p_differ))
        density += _log_prior(rate, log_slope, intercept)
        if density - before < TOLERANCE * abs(density):
            break
        before = density
        n_wrong = agree @ (agree_wrong / p_agree) + differ @ ((differ_right + differ_wrong) / p_differ)
        rate = float(n_wrong) / (total + RATE_PRIOR)
        n_right = agree * agree_right / p_agree + differ * differ_right / p_differ
        for _ in range(2):
            log_slope, intercept = _newton_step(leads, n_right, differ + agree, log_slope, intercept)
    return density, LabelNoise(rate, math.exp(log_slope), intercept, n_classes)


def _log_prior(rate: float, log_slope: float, intercept: float) -> float:
    slope = (log_slope - LOG_SLOPE_MEAN) / LOG_SLOPE_DEVIATION
    return RATE_PRIOR * math.log1p(-rate) - slope**2 / 2 - (intercept / INTERCEPT_DEVIATION) ** 2 / 2


def _newton_step(
    leads: Floats, n_right: Floats, n: Floats, log_slope: float, intercept: float
) -> tuple[float, float]:
    """Return log a and b after a bounded Newton step for n_right of n right predictions."""
    scaled = math.exp(log_slope) * leads
    right = _sigmoid(scaled + intercept)
    residual, weight = n_right - n * right, n * right * (1.0 - right)
    precision = 1.0 / LOG_SLOPE_DEVIATION**2, 1.0 / INTERCEPT_DEVIATION**2
    gradient = np.array(
        [
            scaled @ residual - (log_slope - LOG_SLOPE_MEAN) * precision[0],
            residual.sum() - intercept * precision[1],
        ]
    )
    cross = scaled @ weight
    curvature = np.array([[scaled**2 @ weight + precision[0], cross], [cross, weight.sum() + precision[1]]])
    step = np.linalg.solve(curvature, gradient).clip([-1.0, -2.0], [1.0, 2.0])
    return log_slope + float(step[0]), intercept + float(step[1])


def _sigmoid(logit: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logit, -MAX_LOGIT, MAX_LOGIT))))
