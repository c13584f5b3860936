"""The log-linear law of accuracy over the size of the text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from weigh.apps.spelling.trial.scoring import error_over_sets
from weigh.judge.measures.losses import Floats
from weigh.text import minus, plain

FEWEST = 3  # sizes
TINY = 1e-24  # what rounding leaves of a variance of zero


@dataclass(frozen=True)
class LogLaw:
    """The accuracy a + b · log10(words), fitted by least squares to the mean over the sets.

    `error` is the standard error of b over the sets, each of which has a slope of its own, b their mean; with
    one set it is nan. Errors around the line would tell less: texts of all sizes are judged by the same
    occurrences, and the larger ones contain the smaller. `r2` is the share of the variance of the mean over
    the sizes that the line explains.
    """

    a: float
    b: float
    error: float
    r2: float

    def at(self, words: float) -> float:
        """The accuracy that the law gives to so many words."""
        return self.a + self.b * math.log10(words)

    @property
    def gain(self) -> str:
        """What ten times the text brings, in points."""
        known = "" if math.isnan(self.error) else f" ± {100 * self.error:.1f}"
        # Zero has no sign to tell, nor has what is rounded to it.
        return minus(f"{round(100 * self.b, 1) + 0.0:+.1f}{known}")

    def to_dict(self) -> dict[str, Any]:
        """The law for JSON."""
        return {name: plain(value) for name, value in asdict(self).items()}

    def __str__(self) -> str:
        known = "" if math.isnan(self.error) else f" (± {self.error:.4f})"
        told = "" if math.isnan(self.r2) else f", R² {self.r2:.3f}"
        sign = "−" if round(self.b, 4) < 0 else "+"
        return minus(f"{self.a:.3f} {sign} {abs(self.b):.4f}{known} · log10(words){told}")


def log_law(words: Sequence[int], accuracies: Floats) -> LogLaw | None:
    """Return the law of accuracies [sizes, sets], or None of fewer than three sizes."""
    x = np.log10(np.asarray(words, np.float64))
    if len(x) < FEWEST:
        return None
    away = x - x.mean()
    slopes = away @ accuracies / float(away @ away)
    means = accuracies.mean(axis=1)
    b = float(slopes.mean())
    a = float(means.mean() - b * x.mean())
    total = float(np.square(means - means.mean()).sum())
    rest = float(np.square(means - a - b * x).sum())
    return LogLaw(a, b, float(error_over_sets(slopes)), 1.0 - rest / total if total > TINY else math.nan)
