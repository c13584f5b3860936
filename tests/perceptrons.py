"""A reference perceptron written from the definition: dense vectors, all hypotheses stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Floats = Any


@dataclass
class ReferencePerceptron:
    """A perceptron over rows with a leading constant 1; W [columns, width + 1] holds the weights.

    Two classes share one column: a score of zero or more predicts the second. Several classes have one column
    each: the first of the highest scores wins, or (`separate`) each column is trained by itself.
    """

    columns: int
    width: int
    rate: float = 1.0
    margin: float = 0.0
    relative: bool = False
    separate: bool = False
    bias: bool = True
    history: list[Floats] = field(default_factory=list)  # W after each example
    updates: list[tuple[set[int], Floats]] = field(
        default_factory=list
    )  # changed columns, W after each update
    record: list[tuple[int, int, int, float]] = field(default_factory=list)  # example, plus, minus, amount
    mistakes: int = 0
    passes: int = 0
    added_passes: int = 0
    examples: int = 0  # of the passes that were made
    converged: bool = False
    min_margin: float = np.inf

    def __post_init__(self) -> None:
        self.W = np.zeros((self.columns, self.width + 1))

    def fit(
        self, X: Floats, codes: Any, passes: int, weights: Any = None, orders: Any = None
    ) -> ReferencePerceptron:
        """Make passes over the rows until one changes nothing."""
        for number in range(passes):
            before, self.min_margin, self.passes = len(self.updates), np.inf, self.passes + 1
            order = range(len(X)) if orders is None else orders[number]
            for i in order:
                self.learn(X[i], int(codes[i]), 1.0 if weights is None else float(weights[i]))
            self.converged = len(self.updates) == before
            self.examples = len(self.history)
            if self.converged:
                self._continue_averaging(X, codes, passes - number - 1)
                break
        return self

    def _continue_averaging(self, X: Floats, codes: Any, most: int) -> None:
        """Repeat the last pass, which changes nothing, until the average makes no errors."""
        for _ in range(most):
            if (self._classes(X, np.sum(self.history, axis=0)) == codes).all():
                break
            self.history += [self.W.copy() for _ in range(len(X))]
            self.added_passes += 1

    def learn(self, row: Floats, label: int, weight: float = 1.0) -> None:
        """Process one example."""
        x = np.concatenate([[1.0 if self.bias else 0.0], row])
        scores = [float(w @ x) for w in self.W]
        for plus, minus in self._changes(scores, label):
            for column, sign in ((plus, 1.0), (minus, -1.0)):
                if column >= 0:
                    self.W[column] += sign * self.rate * weight * x
            self.updates.append(({plus, minus} - {-1}, self.W.copy()))
            self.record.append((len(self.history), plus, minus, self.rate * weight))
        self.history.append(self.W.copy())

    def _changes(self, scores: Sequence[float], label: int) -> Iterator[tuple[int, int]]:
        """Yield the columns that the example is added to and subtracted from; −1 means none."""
        if self.columns > 1 and not self.separate:
            rival = max((c for c in range(self.columns) if c != label), key=lambda c: (scores[c], -c))
            predicted = max(range(self.columns), key=lambda c: (scores[c], -c))
            self.mistakes += predicted != label
            if self._is_within_margin(scores[label] - scores[rival], self.W) or predicted != label:
                yield label, rival
            return
        truths = [label == 1] if self.columns == 1 else [c == label for c in range(self.columns)]
        is_wrong = [(score >= 0) != truth for score, truth in zip(scores, truths, strict=True)]
        self.mistakes += any(is_wrong)
        for c, truth in enumerate(truths):
            if self._is_within_margin(scores[c] if truth else -scores[c], self.W[[c]]) or is_wrong[c]:
                yield (c, -1) if truth else (-1, c)

    def _is_within_margin(self, margin: float, W: Floats) -> bool:
        """Whether the margin of an example is too small; a relative threshold is in units of ‖W‖."""
        self.min_margin = min(self.min_margin, margin)
        norm = float(np.sqrt((W[:, 1:] ** 2).sum())) if self.relative else 1.0
        return self.margin > 0 and margin < self.margin * norm

    def weights(self, keep: str) -> Floats:
        """Return W of the "last", "averaged" or "lazy" hypothesis."""
        if keep == "last":
            return self.W
        if keep == "averaged":
            return np.mean(self.history, axis=0)
        if not self.separate:
            return np.mean([W for _, W in self.updates], axis=0) if self.updates else self.W
        rows = []
        for c in range(self.columns):
            vectors = [W[c] for changed, W in self.updates if c in changed]
            rows.append(np.mean(vectors, axis=0) if vectors else self.W[c])
        return np.array(rows)

    def votes(self, X: Floats) -> Floats:
        """Return the votes [rows, columns] of the hypotheses after each example."""
        X = np.column_stack([np.ones(len(X)), X])
        votes = np.zeros((len(X), self.columns))
        for W in self.history:
            scores = X @ W.T
            if self.columns == 1 or self.separate:
                votes += np.where(scores >= 0, 1.0, -1.0)
            else:
                votes[np.arange(len(X)), np.argmax(scores, axis=1)] += 1.0
        return votes

    def predict(self, X: Floats, keep: str) -> Floats:
        """Return the class of each row."""
        if keep == "voted":
            return self._best(self.votes(X))
        return self._classes(X, self.weights(keep))

    def _classes(self, X: Floats, W: Floats) -> Floats:
        return self._best(np.column_stack([np.full(len(X), float(self.bias)), X]) @ W.T)

    def _best(self, scores: Floats) -> Floats:
        return (scores[:, 0] >= 0).astype(int) if self.columns == 1 else np.argmax(scores, axis=1)
