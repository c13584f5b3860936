"""The law of a learning curve: validation loss a + b n^(−c) after n rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.settings import finite
from weigh.judge.measures.losses import Floats
from weigh.judge.measures.measure import Measure
from weigh.text import amount, plain, short
from weigh.trials.corrected import Corrected
from weigh.trials.curves.law_fit import fit_laws

DRAWS = 1_000
SEED = 0
FEWEST = 4  # sizes, one more than the law has parameters
AHEAD = (2, 4, 10)  # times the rows there are


@dataclass(frozen=True)
class Needed:
    """How many rows bring a loss down to a target, by a law; infinity where no number does."""

    target: float
    rows: float
    low: float
    high: float
    asymptote: Measure

    def to_dict(self) -> dict[str, Any]:
        """The answer for JSON; endlessly many rows are "inf"."""
        numbers = {"target": self.target, "rows": self.rows, "low": self.low, "high": self.high}
        return {name: plain(value) for name, value in numbers.items()} | {
            "asymptote": self.asymptote.to_dict()
        }

    def __str__(self) -> str:
        if math.isinf(self.rows):
            return (
                f"No number of rows brings the loss to {short(self.target)}: by the fitted law it stays "
                f"above {spanned(self.asymptote)}."
            )
        return f"{_rows(self.rows)} rows ({_rows(self.low)} to {_rows(self.high)}) for {short(self.target)}."


@dataclass(frozen=True, eq=False, repr=False)
class PowerLaw:
    """The validation loss after n rows, a + b n^(−c), with a, b ≥ 0 and 0.02 ≤ c ≤ 2.

    Fitted by least squares to the measured means from `first` rows on, weighted by one over their variance.
    Intervals come from a parametric bootstrap: the law's own curve with errors as the folds have them
    (corrected for their overlap) is fitted again 1,000 times. Where the training loss surely rises with the
    rows, a is at least the training loss at the last size: both end at the same loss. `is_bound` tells that a
    is this bound, and no estimate of its own. Beyond `last` rows it is an extrapolation, which holds as long
    as the loss goes on falling as it did.
    """

    a: Measure
    b: Measure
    c: Measure
    first: int
    last: int
    level: float
    is_bound: bool
    draws: Floats = field(repr=False)

    @property
    def asymptote(self) -> Measure:
        """The loss that no number of rows gets below."""
        return self.a

    def at(self, n: float) -> Measure:
        """Return the loss expected after n rows, with its interval."""
        rows = finite("at", "n", n, "a number of rows of at least 1")
        if rows < 1:
            raise errors.parameter("at", "n", "a number of rows of at least 1", n)
        return self._measure("loss", self.values([rows])[0], self.drawn([rows])[:, 0])

    def values(self, sizes: Sequence[float] | Floats) -> Floats:
        """Return the law's loss after each number of rows."""
        return np.asarray(self.a.value + self.b.value * np.asarray(sizes, np.float64) ** -self.c.value)

    def drawn(self, sizes: Sequence[float] | Floats) -> Floats:
        """Return the losses [draws, sizes] of the laws of the bootstrap."""
        a, b, c = self.draws.T[:, :, None]
        return np.asarray(a + b * np.asarray(sizes, np.float64) ** -c)

    def size_for(self, loss: float) -> Needed:
        """Return how many rows bring the loss down to `loss`."""
        target = finite("size_for", "loss", loss, "a loss of at least 0")
        if target < 0:
            raise errors.parameter("size_for", "loss", "a loss of at least 0", loss)
        own = np.array([[self.a.value, self.b.value, self.c.value]])
        rows = float(_rows_for(own, target)[0])
        low, high = _limits(_rows_for(self.draws, target), self.level)
        return Needed(target, rows, low, high, self.a)

    def _measure(self, name: str, value: float, draws: Floats) -> Measure:
        return Measure(name, float(value), *_limits(draws, self.level))

    def ahead(self) -> list[tuple[int, Measure]]:
        """Return the loss expected after 2, 4 and 10 times the rows there are."""
        return [(times * self.last, self.at(times * self.last)) for times in AHEAD]

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON but the draws."""
        return {
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
            "c": self.c.to_dict(),
            "is_bound": self.is_bound,
            "first": self.first,
            "last": self.last,
            "ahead": [{"rows": rows, "loss": loss.to_dict()} for rows, loss in self.ahead()],
        }

    def __str__(self) -> str:
        formula = f"{short(self.a.value)} + {short(self.b.value)} · rows^−{self.c.value:.2f}"
        lines = [f"law: {formula}, fitted from {self.first:,} rows on"]
        lines.append(f"  with endlessly many rows  {'at least ' * self.is_bound}{spanned(self.a)}")
        if self.is_bound:
            lines.append("    (the training loss, a bound and no estimate)")
        for rows, loss in self.ahead():
            lines.append(f"  with {rows:,} rows".ljust(28) + spanned(loss))
        return "\n".join(lines)

    __repr__ = __str__


def spanned(measure: Measure) -> str:
    """A measured value with its interval in words."""
    if math.isnan(measure.low):
        return short(measure.value)
    return f"{short(measure.value)} ({short(measure.low)} to {short(measure.high)})"


def _rows(number: float) -> str:
    return "never" if math.isinf(number) else amount(float(math.ceil(number)))


def _limits(draws: Floats, level: float) -> tuple[float, float]:
    tail = (1.0 - level) / 2.0
    # Draws without an answer are infinite, and between two infinities nothing can be interpolated.
    low, high = np.quantile(draws, [tail, 1.0 - tail], method="nearest")
    return float(low), float(high)


def _rows_for(laws: Floats, target: float) -> Floats:
    """Return the rows after which each law [k, 3] is at the target; 1 at least, infinity if never."""
    a, b, c = laws.T
    with np.errstate(divide="ignore", over="ignore"):
        rows = (np.maximum(target - a, 0.0) / np.where(b > 0, b, 1.0)) ** (-1.0 / c)
    return np.asarray(np.where(b > 0, np.maximum(rows, 1.0), np.where(a <= target, 1.0, np.inf)))


def power_law(
    sizes: Sequence[int], losses: Floats, corrected: Corrected, train: Floats | None = None
) -> PowerLaw | str:
    """Return the law of validation losses [folds, sizes], or the reason why there is none.

    `train` are the training losses at the same sizes. The smallest sizes are left out one by one, down to
    four, as long as the law misses the intervals of two sizes or more: what is ahead is told by the later
    part of a curve.
    """
    if len(sizes) < FEWEST:
        return f"{FEWEST} sizes at least are needed, and there are {len(sizes)}"
    if not np.isfinite(losses).all():
        return "some losses are infinite"
    floor = _floor(train, corrected)
    for start in range(len(sizes) - FEWEST + 1):
        found = _fitted(np.asarray(sizes[start:], np.float64), losses[:, start:], floor, corrected)
        if found is not None:
            return found
    fall = corrected.measure("fall", losses[:, 0] - losses[:, -1])
    if not fall.low > 0:
        return f"the loss does not fall beyond chance from {sizes[0]:,} to {sizes[-1]:,} rows"
    return "the measured losses do not follow a power law"


def _floor(train: Floats | None, corrected: Corrected) -> float:
    """Return what no loss gets below: the last training loss if it rises, else zero."""
    if train is None or not np.isfinite(train).all():
        return 0.0
    rise = corrected.measure("rise", train[:, -1] - train[:, 0])
    return float(train[:, -1].mean()) if rise.low > 0 else 0.0


def _fitted(sizes: Floats, losses: Floats, floor: float, corrected: Corrected) -> PowerLaw | None:
    """Return the law of these sizes if it falls and goes through their intervals."""
    fall = corrected.measure("fall", losses[:, 0] - losses[:, -1])
    if not fall.low > 0:
        return None
    mean, low, high, scale = corrected.means(losses)
    weights = _weights(np.square(scale))
    a, b, c = _above(sizes, mean[None, :], weights, np.array([floor]))[0]
    values = a + b * sizes**-c
    slack = 1e-6 * float(np.abs(mean).max())
    if np.sum((values < low - slack) | (values > high + slack)) > 1:
        return None
    noise = corrected.noise(losses, DRAWS, SEED)
    # Training and validation rows are the same rows in other folds, and are off together.
    floors = floor + corrected.shared * noise[:, -1] if floor else np.zeros(DRAWS)
    draws = _above(sizes, values + noise, weights, floors)
    limits = [_limits(column, corrected.level) for column in draws.T]
    return PowerLaw(
        a=Measure("a", float(a), *limits[0]),
        b=Measure("b", float(b), *limits[1]),
        c=Measure("c", float(c), *limits[2]),
        first=int(sizes[0]),
        last=int(sizes[-1]),
        level=corrected.level,
        is_bound=bool(0.0 < a <= floor),
        draws=draws,
    )


def _above(sizes: Floats, losses: Floats, weights: Floats, floors: Floats) -> Floats:
    """Return the laws of losses [k, sizes] that stay above their floors [k]."""
    floors = np.maximum(floors, 0.0)
    found = fit_laws(sizes, losses - floors[:, None], weights)
    found[:, 0] += floors
    return found


def _weights(variances: Floats) -> Floats:
    """Return one over the variances; a few equal losses by chance do not make a size all that counts."""
    usual = float(np.median(variances))
    if usual == 0.0:
        return np.ones_like(variances)
    return np.asarray(1.0 / np.maximum(variances, usual / 10.0))
