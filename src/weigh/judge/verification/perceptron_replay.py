"""Make the passes of a perceptron again, from the definition and apart from the learner's code."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from weigh.features.blocks import Floats
from weigh.judge.verification.online_rows import OnlineRows

ROUNDING = 1e-12  # of a sum, relative to the sum of the sizes of its terms


class Update(NamedTuple):
    """A row is added `amount` times to column `plus` and taken from `minus`, at example `time` (from 0)."""

    time: int
    row: int
    plus: int
    minus: int
    amount: float


class Hypothesis(NamedTuple):
    """Undivided weights [1 + width, columns], bias first, the sizes of what was summed, and the divisors."""

    sums: Floats
    sizes: Floats
    divisors: Floats


@dataclass
class PerceptronReplay:
    """A perceptron in units of the rate; a single column of weights for two classes, else one per class.

    Scores are summed in the order of the features, starting with the bias, because the decision about a row
    near the plane depends on the last bit.
    """

    rows: OnlineRows
    n_classes: int
    margin: float
    bias: bool
    mistakes: int = 0
    passes: int = 0
    added_passes: int = 0
    converged: bool = False
    updates: list[Update] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.columns = 1 if self.n_classes == 2 else self.n_classes
        self.separate = self.rows.settings.separate and self.columns > 1
        self.W = np.zeros((self.rows.width, self.columns))
        self.b = np.zeros(self.columns)
        self.squared_norms = np.zeros(self.columns)

    def run(self, max_passes: int) -> None:
        """Make passes until one changes nothing, at most `max_passes`."""
        while not self.converged and self.passes < max_passes:
            n_before = len(self.updates)
            time = self.passes * len(self.rows.rows)
            for position, row in enumerate(self.rows.order(self.passes)):
                self._learn(time + position, row)
            self.passes += 1
            self.converged = len(self.updates) == n_before

    def _learn(self, time: int, row: int) -> None:
        (features, values), code = self.rows.rows[row], self.rows.codes[row]
        terms = self.W[features]
        terms *= values[:, None]
        if len(terms):
            terms[0] += self.b
        # An accumulated sum adds from left to right; other sums of NumPy add pairs.
        scores = np.add.accumulate(terms)[-1] if len(terms) else self.b
        changes, is_wrong = self._changes(scores, code)
        self.mistakes += is_wrong
        for plus, minus in changes:
            amount = self.rows.weights[row]
            for column, step in ((plus, amount), (minus, -amount)):
                if column >= 0:
                    self._add(features, values, column, step, float(scores[column]))
            self.updates.append(Update(time, row, plus, minus, amount))

    def _changes(self, scores: Floats, code: int) -> tuple[list[tuple[int, int]], bool]:
        """Return the columns to which a row is added and from which it is taken, and whether it was wrong."""
        if self.columns > 1 and not self.separate:
            others = np.where(np.arange(self.columns) == code, -np.inf, scores)
            rival = int(np.argmax(others))
            lead = float(scores[code] - scores[rival])
            is_wrong = lead < 0 or (lead == 0 and rival < code)
            changes = [(code, rival)] if is_wrong or lead < self._margin(code) else []
            return changes, is_wrong
        changes, is_wrong = [], False
        for column, score in enumerate(scores.tolist()):
            is_own = code == (1 if self.columns == 1 else column)
            is_column_wrong = (score >= 0) != is_own
            is_wrong = is_wrong or is_column_wrong
            if is_column_wrong or (score if is_own else -score) < self._margin(column):
                changes.append((column, -1) if is_own else (-1, column))
        return changes, is_wrong

    def _margin(self, column: int) -> float:
        if not self.rows.settings.is_relative or not self.margin:
            return self.margin or -math.inf
        is_alone = self.columns == 1 or self.separate
        square = float(self.squared_norms[column] if is_alone else self.squared_norms.sum())
        return self.margin * math.sqrt(max(0.0, square))

    def _add(self, features: Any, values: Floats, column: int, step: float, score: float) -> None:
        if self.rows.settings.is_relative:
            square = float(np.add.accumulate(values * values)[-1]) if len(values) else 0.0
            self.squared_norms[column] += 2 * step * (score - self.b[column]) + step * step * square
        self.W[features, column] += step * values
        self.b[column] += step * self.bias

    @property
    def n_examples(self) -> int:
        """The examples of all passes, also of those that were added without making them."""
        return (self.passes + self.added_passes) * len(self.rows.rows)

    def survival_counts(self) -> list[int]:
        """Return the number of examples that each hypothesis decided."""
        times = [0, *(update.time for update in self.updates), self.n_examples]
        return [after - before for before, after in pairwise(times)]

    def hypothesis(self, how: str) -> Hypothesis:
        """Return the last, averaged or lazy hypothesis."""
        sums, sizes = np.zeros((2, self.rows.width + 1, self.columns))
        n_later = np.zeros(self.columns)  # updates from this one on, per column with separate classes
        for update in reversed(self.updates):
            changed = [c for c in (update.plus, update.minus) if c >= 0]
            n_later[changed if self.separate else slice(None)] += 1
            for column, sign in ((update.plus, 1.0), (update.minus, -1.0)):
                if column >= 0:
                    count = {"last": 1, "averaged": self.n_examples - update.time, "lazy": n_later[column]}[
                        how
                    ]
                    features, values = self.rows.rows[update.row]
                    x = np.append(float(self.bias), values)
                    at = np.append(0, features + 1)
                    sums[at, column] += sign * update.amount * count * x
                    sizes[at, column] += abs(update.amount) * max(count, self.n_examples) * np.abs(x)
        divisors = {"last": np.ones(self.columns), "averaged": np.full(self.columns, self.n_examples)}
        return Hypothesis(sums, sizes, np.maximum(1, divisors.get(how, n_later)))

    def needed_passes(self) -> tuple[float, float]:
        """Return bounds, apart by rounding only, of the passes that the average needs to make no errors."""
        averaged, last = self.hypothesis("averaged"), self.hypothesis("last")
        tolerance = 0.0 if self._is_exact() else ROUNDING
        low = high = 0.0
        for (features, values), code in zip(self.rows.rows, self.rows.codes, strict=True):
            at, x = np.append(0, features + 1), np.append(1.0, values)
            total, gain = x @ averaged.sums[at], x @ last.sums[at] * len(self.rows.rows)
            slack = tolerance * float((np.abs(x) @ averaged.sizes[at]).max())
            for lead, rise, wins_tie in _leads(total, gain, code):
                low = max(low, _passes_until_right(lead + slack, rise, wins_tie))
                high = max(high, _passes_until_right(lead - slack, rise, wins_tie))
        return low, high

    def _is_exact(self) -> bool:
        """Whether all sums are sums of whole numbers."""
        values = (values for _, values in self.rows.rows)
        return all(w.is_integer() for w in self.rows.weights) and all((v == np.rint(v)).all() for v in values)


def _leads(total: Floats, gain: Floats, code: int) -> Iterator[tuple[float, float, bool]]:
    """Yield the lead over each other class, its rise per pass, and whether a tie is won."""
    if len(total) == 1:
        sign = 1.0 if code else -1.0
        yield sign * float(total[0]), sign * float(gain[0]), code == 1
        return
    for c in range(len(total)):
        if c != code:
            yield float(total[code] - total[c]), float(gain[code] - gain[c]), code < c


def _passes_until_right(lead: float, rise: float, wins_tie: bool) -> float:
    """Return the smallest number k of passes after which lead + k · rise is right."""
    if lead > 0 or (lead == 0 and wins_tie):
        return 0.0
    if rise <= 0:
        return math.inf
    k = math.ceil(-lead / rise)
    return float(k + (lead + k * rise == 0 and not wins_tie))
