"""A run of online logistic regression: weights that change with every example."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weigh import _core, errors
from weigh.features.blocks import Floats, Longs
from weigh.learn.online import widened

OWNER = "LogisticRegression"
SAFE_RATE = 4.0  # one by the largest curvature of the loss, 1/4
CLOCKS = 2  # cells before the weights of a safe run: how often a feature was met, and the sum of its squares


@dataclass(frozen=True)
class LogisticSettings:
    """How logistic regression learns online: Σ loss + ½ l2 ‖w‖² is to be small.

    Without a `rate` steps are safe: implicit, every column with its own length, and the weights are the
    mean over all steps. With one they are plain, w ← w + rate · (x (y − g(w·x)) − l2 w / n), and the weights
    are the last.
    """

    l2: float = 1.0
    rate: float | None = None
    bias: bool = True

    @property
    def is_safe(self) -> bool:
        """Whether the lengths of steps are found while learning."""
        return self.rate is None

    def native(self, columns: int) -> _core.SgdSettings:
        """Return the settings of the native code."""
        return _core.SgdSettings(SAFE_RATE if self.rate is None else self.rate, self.l2, self.bias, columns)


@dataclass
class LogisticRun:
    """Weights, and what is known of the way to them.

    Two classes share one column of weights, more have one each. Row 0 of the table is the bias, row f + 1
    the feature f. `rows` is how many different rows there were, which share the penalty.
    """

    settings: LogisticSettings
    classes: list[Any]
    table: Floats = field(init=False)
    steps: int = 0
    rows: int = 0
    scale: float = 1.0  # of plain steps: what the table's weights are to be multiplied with
    passes: int = 0
    totals: dict[Any, float] = field(default_factory=dict)  # the weight of all rows of every class
    objective: float | None = None  # of the last pass over all rows
    converged: bool = False

    def __post_init__(self) -> None:
        self.table = np.zeros((1, self._cells(self.columns)))

    @property
    def columns(self) -> int:
        """How many columns of weights there are."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    def _cells(self, columns: int) -> int:
        return CLOCKS + 2 * columns if self.settings.is_safe else columns

    def learn(self, examples: _core.Examples, order: Longs | None, width: int, *, grows: bool) -> float:
        """Learn from examples over so many features, in order; return their loss before each step.

        `grows` says that they are new rows, and not some of the `rows` known already.
        """
        self.widen(width)
        settings = self.settings.native(self.columns)
        known = examples, order, settings, self.rows, grows, self.table
        if self.settings.is_safe:
            loss = _core.implicit_sgd_pass(*known, self.steps)
        else:
            loss, self.scale = _core.sgd_pass(*known, self.scale)
        self.steps += len(examples)
        self.rows += len(examples) if grows else 0
        return float(loss)

    def shares(self) -> Floats:
        """Return the share of every class among the rows; one that was never seen has next to none."""
        totals = np.array([self.totals.get(label, 0.0) for label in self.classes])
        seen = np.maximum(totals, 1e-12 * max(1.0, float(totals.sum())))
        return np.asarray(seen / seen.sum())

    def widen(self, width: int) -> None:
        """Make room for so many features."""
        self.table = widened(self.table, width)

    def weights(self, features: Longs) -> tuple[Floats, Floats]:
        """Return the weights [features, columns] of some features, and the biases."""
        if self.settings.is_safe:
            means = self._means(self.table[features + 1]), self._means(self.table[:1])[0]
        else:
            means = self.scale * self.table[features + 1], self.table[0].copy()
        if not all(np.isfinite(part).all() for part in means):
            raise errors.DataError(
                "The weights have become too large for numbers. Leave the rate out, for steps that are safe, "
                "or give a smaller one."
            )
        return means

    def _means(self, rows: Floats) -> Floats:
        """The means over all steps, of which the later ones count more: 1, 2, 3, …"""
        weights, sums = rows[:, CLOCKS : CLOCKS + self.columns], rows[:, CLOCKS + self.columns :]
        return np.asarray(weights - sums / max(1.0, 0.5 * self.steps * (self.steps + 1)))

    def penalty(self) -> float:
        """Return what the weights cost as they stand."""
        weights, _ = self.weights(np.arange(len(self.table) - 1))
        return 0.5 * self.settings.l2 * float(np.square(weights).sum())

    def check_settings(self, settings: LogisticSettings) -> None:
        """Refuse settings that a run cannot change on its way; penalty and rate may change."""
        for name in ("is_safe", "bias"):
            if getattr(self.settings, name) != getattr(settings, name):
                known = {"is_safe": "a rate that is given or left to be found"}.get(name, name)
                raise errors.ParameterError(
                    f"{OWNER}: {known} cannot change while a run goes on. Begin a new one: fit, or a new "
                    f"{OWNER}."
                )

    def declare(self, classes: Sequence[Any]) -> None:
        """Give classes that are new weights of zero; two classes that shared a column part ways."""
        if list(classes) == self.classes:
            return
        places = np.array([list(classes).index(label) for label in self.classes])
        first = CLOCKS if self.settings.is_safe else 0
        old = self.table[:, first:].reshape(len(self.table), -1, self.columns)
        if self.columns == 1:
            old = np.concatenate([-0.5 * old, 0.5 * old], axis=2)
        cells = np.zeros((len(self.table), old.shape[1], len(classes)))
        cells[:, :, places] = old
        self.classes = list(classes)
        self.table = np.hstack([self.table[:, :first], cells.reshape(len(cells), -1)])
