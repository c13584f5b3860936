"""Which class was taken for which: a table of (true, predicted) that stays small.

Only the pairs that occur are kept, so thousands of classes need no table of their square.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weigh.judge.measures import confusion_text
from weigh.judge.measures.intervals import clopper_pearson
from weigh.judge.measures.losses import UNSEEN, Codes, Floats


@dataclass(frozen=True, eq=False)
class Shares:
    """What is found of each class: (values, lower limits, upper limits)."""

    precision: tuple[Floats, Floats, Floats]
    recall: tuple[Floats, Floats, Floats]
    f1: tuple[Floats, Floats, Floats]


@dataclass(frozen=True, eq=False, repr=False)
class Confusion:
    """Weight of rows by true and predicted class, for the pairs that occur; prints classes by their codes.

    `true` and `predicted` are codes, sorted; true is `UNSEEN` for labels the model does not know.
    `squares` sums the squared weights: intervals need them for the effective number of rows.
    """

    n_classes: int
    true: npt.NDArray[np.int64]
    predicted: npt.NDArray[np.int64]
    weight: Floats
    squares: Floats

    @classmethod
    def empty(cls, n_classes: int) -> Confusion:
        """Nothing counted yet."""
        codes, sums = np.empty(0, np.int64), np.empty(0, np.float64)
        return cls(n_classes, codes, codes, sums, sums)

    def add(self, labels: Codes, predictions: Codes, weights: Floats) -> Confusion:
        """This table with more rows."""
        old, new = self._keys(self.true, self.predicted), self._keys(labels, predictions)
        pairs, place = np.unique(np.concatenate([old, new]), return_inverse=True)
        weight = _sums(place, np.concatenate([self.weight, weights]), len(pairs))
        squares = _sums(place, np.concatenate([self.squares, weights**2]), len(pairs))
        true, predicted = np.divmod(pairs, self.n_classes)
        return Confusion(self.n_classes, true + UNSEEN, predicted, weight, squares)

    def table(self) -> Floats:
        """The dense table [true, predicted], C x C, without the labels the model does not know."""
        known = self.true != UNSEEN
        dense = np.zeros((self.n_classes, self.n_classes))
        dense[self.true[known], self.predicted[known]] = self.weight[known]
        return dense

    def unseen(self) -> Floats:
        """Weight of the rows whose label the model does not know, by predicted class."""
        strange = self.true == UNSEEN
        return self._sums(self.predicted[strange], self.weight[strange])

    def __str__(self) -> str:
        return confusion_text.text(self, self._codes())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return confusion_text.markup(self, self._codes())

    def _codes(self) -> list[str]:
        return list(map(str, range(self.n_classes)))

    def accuracy(self, level: float) -> tuple[float, float, float]:
        """Share predicted rightly, sum over c of n_cc / n, with its exact interval."""
        return self._part(self._hit(), level)

    def zero_one(self, level: float) -> tuple[float, float, float]:
        """Share predicted wrongly, with its exact interval."""
        return self._part(~self._hit(), level)

    def shares(self, level: float) -> Shares:
        """Precision, recall and F1 of every class."""
        return Shares(self.precision(level), self.recall(level), self.f1(level))

    def precision(self, level: float) -> tuple[Floats, Floats, Floats]:
        """Per class n_cc / (weight predicted as c), with exact intervals; nan if there is none."""
        return _share(self.hits(), self.predictions(), self._sums(self.predicted, self.squares), level)

    def recall(self, level: float) -> tuple[Floats, Floats, Floats]:
        """Per class n_cc / (weight truly c), with exact intervals; nan if there is none."""
        known = self.true != UNSEEN
        squares = self._sums(self.true[known], self.squares[known])
        return _share(self.hits(), self.support(), squares, level)

    def f1(self, level: float) -> tuple[Floats, Floats, Floats]:
        """Per class 2 n_cc / (weight truly c + weight predicted as c), with exact intervals; nan for 0/0.

        Of the rows that are c or were taken for it, the share j that are both has an exact interval, and F1
        is 2 j / (1 + j).
        """
        off = ~self._hit()
        known = off & (self.true != UNSEEN)
        whole, squares = (
            self._sums(self.predicted, values) + self._sums(self.true[known], values[known])
            for values in (self.weight, self.squares)
        )
        shares = _share(self.hits(), whole, squares, level)
        share, low, high = (2.0 * part / (1.0 + part) for part in shares)
        return share, low, high

    def hits(self) -> Floats:
        """Weight of the rows of each class that were predicted rightly."""
        hit = self._hit()
        return self._sums(self.true[hit], self.weight[hit])

    def predictions(self) -> Floats:
        """Weight of the rows that were predicted as each class."""
        return self._sums(self.predicted, self.weight)

    def support(self) -> Floats:
        """Weight of the rows that truly are of each class."""
        known = self.true != UNSEEN
        return self._sums(self.true[known], self.weight[known])

    def mistakes(self, most: int) -> list[tuple[int, int, float]]:
        """The heaviest wrong pairs (true, predicted, weight), heaviest first."""
        wrong = np.flatnonzero(~self._hit())
        worst = wrong[np.argsort(-self.weight[wrong], kind="stable")][:most]
        return [(int(self.true[i]), int(self.predicted[i]), float(self.weight[i])) for i in worst]

    def _part(self, chosen: npt.NDArray[np.bool_], level: float) -> tuple[float, float, float]:
        sums = (self.weight[chosen].sum(), self.weight.sum(), self.squares.sum())
        part, whole, squares = (np.array([number]) for number in sums)
        share, low, high = _share(part, whole, squares, level)
        return float(share[0]), float(low[0]), float(high[0])

    def _keys(self, true: Codes, predicted: Codes) -> npt.NDArray[np.int64]:
        shifted = np.asarray(true, np.int64) - UNSEEN
        return shifted * self.n_classes + np.asarray(predicted, np.int64)

    def _hit(self) -> npt.NDArray[np.bool_]:
        return np.equal(self.true, self.predicted)

    def _sums(self, codes: Codes, values: Floats) -> Floats:
        return _sums(codes, values, self.n_classes)


def _sums(codes: Codes, values: Floats, length: int) -> Floats:
    # For no rows at all bincount gives integers.
    return np.asarray(np.bincount(codes, values, length), np.float64)


def _share(part: Floats, whole: Floats, squares: Floats, level: float) -> tuple[Floats, Floats, Floats]:
    # Scaled by sum w / sum w^2, weights become effective rows; equal to them for weights of one.
    rows = _ratio(whole, squares)
    low, high = clopper_pearson(np.nan_to_num(part * rows), np.nan_to_num(whole * rows), level)
    return _ratio(part, whole), low, high


def _ratio(part: Floats, whole: Floats) -> Floats:
    ratio = np.full(len(whole), np.nan)
    np.divide(part, whole, out=ratio, where=whole > 0)
    return ratio
