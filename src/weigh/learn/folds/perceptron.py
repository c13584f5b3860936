"""The perceptron of rows in partitions, by iterative parameter mixing (McDonald, Hall and Mann 2010).

In every pass each of the S partitions learns one pass over its rows from the same weights, and the mean of
their weights begins the next pass. If a hyperplane separates the rows with margin γ within radius R, the
mistakes of all passes and partitions are at most S (R / γ)² (their theorem 3 with equal shares).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import _core
from weigh.features.blocks import Floats
from weigh.learn.folds.encoded import EncodedRows, RowSum, Sums
from weigh.learn.linear.matrix import SparseMatrix
from weigh.learn.online_training import pass_order
from weigh.learn.perceptron_state import PerceptronSettings, PerceptronState


@dataclass(frozen=True, eq=False)
class PassSum(RowSum):
    """One pass of each partition over its rows, from the weights [width + 1, columns]."""

    settings: PerceptronSettings
    classes: list[Any]
    weights: Floats
    class_weights: Floats | None
    seed: int | None
    number: int

    def sum_rows(self, rows: EncodedRows) -> Sums:
        """Return the weights after the pass, and what happened in it."""
        assert isinstance(rows.X, SparseMatrix)
        width, n = rows.X.width, len(rows.y)
        examples = _core.Examples()
        weights = None if self.class_weights is None else self.class_weights[rows.y]
        examples.add(*rows.X.rows.csr, rows.y, weights, width)
        state = start_state(self.settings, self.classes, self.weights)
        state.begin_pass()
        state.learn(examples, None if self.seed is None else pass_order(n, self.seed, self.number), width)
        every = np.arange(width)
        sums, biases, _ = state.weights(every)
        return {
            "last": state.table[: width + 1, : state.columns].copy(),
            "sum": np.vstack([biases, sums]),
            "counts": np.array([state.mistakes, state.n_updates, n, 1]),
            "max_squared_radius": np.array([state.squared_radius]),
            "min_margin": np.array([state.min_margin]),
        }


def start_state(settings: PerceptronSettings, classes: list[Any], weights: Floats) -> PerceptronState:
    """Return the state of a training that begins with these weights."""
    state = PerceptronState(settings, classes)
    state.reserve_features(len(weights) - 1)
    state.table[: len(weights), : state.columns] = weights
    state.squared_norms = np.square(weights[1:]).sum(axis=0)
    return state


@dataclass
class MixedTraining:
    """The mean weights after each pass, and the totals of all passes."""

    settings: PerceptronSettings
    classes: list[Any]
    weights: Floats
    sums: Floats
    n_partitions: int = 1
    mistakes: int = 0
    n_updates: int = 0
    n_examples: int = 0
    passes: int = 0
    converged: bool = False
    squared_radius: float = 0.0
    min_margin: float = np.inf

    @classmethod
    def start(cls, settings: PerceptronSettings, classes: list[Any], width: int) -> MixedTraining:
        """Return the training before the first pass."""
        shape = width + 1, 1 if len(classes) == 2 else len(classes)
        return cls(settings, classes, np.zeros(shape), np.zeros(shape))

    def add(self, sums: Sums) -> None:
        """Mix the weights of the partitions after one pass."""
        mistakes, n_updates, n_examples, self.n_partitions = sums["counts"].tolist()
        self.passes += 1
        self.mistakes += mistakes
        self.n_updates += n_updates
        self.n_examples += n_examples
        self.converged = n_updates == 0
        # Without an update all partitions have the same weights, and their mean would only be rounded.
        self.weights = self.weights if self.converged else sums["last"] / self.n_partitions
        self.sums = self.sums + sums["sum"]
        self.squared_radius = max(self.squared_radius, float(sums["max_squared_radius"][0]))
        self.min_margin = float(sums["min_margin"][0])

    def state(self) -> PerceptronState:
        """Return the result as the state of a training, from which a model is built."""
        state = start_state(self.settings, self.classes, self.weights)
        if self.settings.averaging == "examples":
            # The sum of all hypotheses is n w − u, where u is in the second half of the table.
            state.table[: len(self.weights), state.columns :] = self.n_examples * self.weights - self.sums
        state.mistakes, state.n_updates, state.n_examples = self.mistakes, self.n_updates, self.n_examples
        state.passes, state.converged, state.n_fits = self.passes, self.converged, 1
        state.squared_radius, state.min_margin = self.squared_radius, self.min_margin
        return state
