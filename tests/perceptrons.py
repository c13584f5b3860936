"""The perceptron straight from its definition: full vectors, every hypothesis written out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Floats = Any


@dataclass
class Plain:
    """A run over rows with a constant 1 in front; W has one row per column of weights.

    Two classes are one column: a score of zero or more is the second. Several are one each: the first
    of the greatest scores wins, or (`separate`) each decides by itself.
    """

    columns: int
    width: int
    rate: float = 1.0
    margin: float = 0.0
    relative: bool = False
    separate: bool = False
    bias: bool = True
    trail: list[Floats] = field(default_factory=list)  # W after each example
    made: list[tuple[set[int], Floats]] = field(default_factory=list)  # columns changed, W after each update
    record: list[tuple[int, int, int, float]] = field(default_factory=list)  # example, plus, minus, amount
    mistakes: int = 0
    passes: int = 0
    converged: bool = False
    least: float = np.inf

    def __post_init__(self) -> None:
        self.W = np.zeros((self.columns, self.width + 1))

    def fit(self, X: Floats, codes: Any, passes: int, weights: Any = None, orders: Any = None) -> Plain:
        """Go through the rows until a pass changes nothing."""
        for number in range(passes):
            before, self.least, self.passes = len(self.made), np.inf, self.passes + 1
            order = range(len(X)) if orders is None else orders[number]
            for i in order:
                self.learn(X[i], int(codes[i]), 1.0 if weights is None else float(weights[i]))
            self.converged = len(self.made) == before
            if self.converged:
                break
        return self

    def learn(self, row: Floats, label: int, weight: float = 1.0) -> None:
        """Look at one example."""
        x = np.concatenate([[1.0 if self.bias else 0.0], row])
        scores = [float(w @ x) for w in self.W]
        for plus, minus in self._changes(scores, label):
            for column, sign in ((plus, 1.0), (minus, -1.0)):
                if column >= 0:
                    self.W[column] += sign * self.rate * weight * x
            self.made.append(({plus, minus} - {-1}, self.W.copy()))
            self.record.append((len(self.trail), plus, minus, self.rate * weight))
        self.trail.append(self.W.copy())

    def _changes(self, scores: Sequence[float], label: int) -> Iterator[tuple[int, int]]:
        """Yield the columns that the example is added to and taken from; -1 is none."""
        if self.columns > 1 and not self.separate:
            rival = max((c for c in range(self.columns) if c != label), key=lambda c: (scores[c], -c))
            said = max(range(self.columns), key=lambda c: (scores[c], -c))
            self.mistakes += said != label
            if self._is_thin(scores[label] - scores[rival], self.W) or said != label:
                yield label, rival
            return
        truths = [label == 1] if self.columns == 1 else [c == label for c in range(self.columns)]
        wrong = [(score >= 0) != own for score, own in zip(scores, truths, strict=True)]
        self.mistakes += any(wrong)
        for c, own in enumerate(truths):
            if self._is_thin(scores[c] if own else -scores[c], self.W[[c]]) or wrong[c]:
                yield (c, -1) if own else (-1, c)

    def _is_thin(self, lead: float, own: Floats) -> bool:
        """Whether an example is right by too little; a relative margin is in lengths of these weights."""
        self.least = min(self.least, lead)
        length = float(np.sqrt((own[:, 1:] ** 2).sum())) if self.relative else 1.0
        return self.margin > 0 and lead < self.margin * length

    def weights(self, keep: str) -> Floats:
        """Return W of the last, averaged or lazy hypothesis."""
        if keep == "last":
            return self.W
        if keep == "averaged":
            return np.mean(self.trail, axis=0)
        if not self.separate:
            return np.mean([W for _, W in self.made], axis=0) if self.made else self.W
        rows = []
        for c in range(self.columns):
            own = [W[c] for changed, W in self.made if c in changed]
            rows.append(np.mean(own, axis=0) if own else self.W[c])
        return np.array(rows)

    def votes(self, X: Floats) -> Floats:
        """Return the votes [rows, columns] of the hypotheses after each example."""
        X = np.column_stack([np.ones(len(X)), X])
        votes = np.zeros((len(X), self.columns))
        for W in self.trail:
            scores = X @ W.T
            if self.columns == 1 or self.separate:
                votes += np.where(scores >= 0, 1.0, -1.0)
            else:
                votes[np.arange(len(X)), np.argmax(scores, axis=1)] += 1.0
        return votes

    def predict(self, X: Floats, keep: str) -> Floats:
        """Return the class of each row."""
        if keep == "voted":
            scores = self.votes(X)
        else:
            scores = np.column_stack([np.ones(len(X)), X]) @ self.weights(keep).T
        return (scores[:, 0] >= 0).astype(int) if self.columns == 1 else np.argmax(scores, axis=1)
