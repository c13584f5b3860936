"""The confusion matrix: accuracy, precision, recall and F1 with intervals, macro averages, text and HTML.

Only the (true, predicted) pairs that occur are stored, so thousands of classes need no dense matrix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from weigh.judge.metrics.confidence_intervals import Measure, average_share_interval, clopper_pearson
from weigh.judge.metrics.losses import UNSEEN, Codes, Floats
from weigh.result import LINE_WIDTH, Result, Section, Table
from weigh.text import format_count, truncate


@dataclass(frozen=True, eq=False)
class ClassShares:
    """Precision, recall and F1 of every class, each as (values, lower limits, upper limits)."""

    precision: tuple[Floats, Floats, Floats]
    recall: tuple[Floats, Floats, Floats]
    f1: tuple[Floats, Floats, Floats]


@dataclass(frozen=True, eq=False, repr=False)
class ConfusionMatrix(Result):
    """Sum of row weights by true and predicted class, for the pairs that occur; prints class codes.

    `true` and `predicted` are codes, sorted; true is `UNSEEN` for labels that are not a class of the model.
    `squares` sums the squared weights, from which intervals take the effective number of rows.
    """

    n_classes: int
    true: npt.NDArray[np.int64]
    predicted: npt.NDArray[np.int64]
    weight: Floats
    squares: Floats
    _json = ("true", "predicted", "weight")

    @classmethod
    def empty(cls, n_classes: int) -> ConfusionMatrix:
        """Return a matrix without rows."""
        codes, sums = np.empty(0, np.int64), np.empty(0, np.float64)
        return cls(n_classes, codes, codes, sums, sums)

    def add(self, labels: Codes, predictions: Codes, weights: Floats) -> ConfusionMatrix:
        """Return this matrix with more rows added."""
        added = np.asarray(labels, np.int64), np.asarray(predictions, np.int64)
        return self.merge(ConfusionMatrix(self.n_classes, *added, weights, weights**2))

    def merge(self, other: ConfusionMatrix) -> ConfusionMatrix:
        """Return the matrix of the rows of both; the pairs of the other one may repeat."""
        old, new = (matrix._pair_keys(matrix.true, matrix.predicted) for matrix in (self, other))
        pairs, index = np.unique(np.concatenate([old, new]), return_inverse=True)
        weight = _sum_by_code(index, np.concatenate([self.weight, other.weight]), len(pairs))
        squares = _sum_by_code(index, np.concatenate([self.squares, other.squares]), len(pairs))
        true, predicted = np.divmod(pairs, self.n_classes)
        return ConfusionMatrix(self.n_classes, true + UNSEEN, predicted, weight, squares)

    def table(self) -> Floats:
        """Return the dense matrix [true, predicted], C x C, without unseen labels."""
        known = self.true != UNSEEN
        dense = np.zeros((self.n_classes, self.n_classes))
        dense[self.true[known], self.predicted[known]] = self.weight[known]
        return dense

    def unseen(self) -> Floats:
        """Return the weight of the rows with unseen labels, by predicted class."""
        unseen = self.true == UNSEEN
        return self._sum_by_class(self.predicted[unseen], self.weight[unseen])

    def sections(self) -> list[Section]:
        """Return the matrix with class codes."""
        return [confusion_section(self, list(map(str, range(self.n_classes))))]

    def accuracy(self, level: float) -> tuple[float, float, float]:
        """Return the accuracy, sum over c of n_cc / n, with its exact interval."""
        return self._share_with_interval(self._is_correct(), level)

    def zero_one(self, level: float) -> tuple[float, float, float]:
        """Return the zero-one loss, 1 - accuracy, with its exact interval."""
        return self._share_with_interval(~self._is_correct(), level)

    def shares(self, level: float) -> ClassShares:
        """Return precision, recall and F1 of every class."""
        return ClassShares(self.precision(level), self.recall(level), self.f1(level))

    def precision(self, level: float) -> tuple[Floats, Floats, Floats]:
        """Return n_cc / (weight predicted as c) per class, with exact intervals; nan for 0/0."""
        return _shares_with_intervals(
            self.hits(), self.predictions(), self._sum_by_class(self.predicted, self.squares), level
        )

    def recall(self, level: float) -> tuple[Floats, Floats, Floats]:
        """Return n_cc / (weight truly c) per class, with exact intervals; nan for 0/0."""
        known = self.true != UNSEEN
        squares = self._sum_by_class(self.true[known], self.squares[known])
        return _shares_with_intervals(self.hits(), self.support(), squares, level)

    def f1(self, level: float) -> tuple[Floats, Floats, Floats]:
        """Return 2 n_cc / (weight truly c + weight predicted as c), with exact intervals; nan for 0/0.

        F1 = 2 J / (1 + J), where the Jaccard index J, the share of correct rows among those that are or were
        predicted as c, has an exact interval.
        """
        missed = ~self._is_correct() & (self.true != UNSEEN)
        union, squares = (
            self._sum_by_class(self.predicted, values) + self._sum_by_class(self.true[missed], values[missed])
            for values in (self.weight, self.squares)
        )
        jaccard = _shares_with_intervals(self.hits(), union, squares, level)
        f1, low, high = (2.0 * values / (1.0 + values) for values in jaccard)
        return f1, low, high

    def hits(self) -> Floats:
        """Return the weight of the correctly predicted rows of each class."""
        hit = self._is_correct()
        return self._sum_by_class(self.true[hit], self.weight[hit])

    def predictions(self) -> Floats:
        """Return the weight of the rows predicted as each class."""
        return self._sum_by_class(self.predicted, self.weight)

    def support(self) -> Floats:
        """Return the weight of the rows whose true label is each class."""
        known = self.true != UNSEEN
        return self._sum_by_class(self.true[known], self.weight[known])

    def mistakes(self, limit: int) -> list[tuple[int, int, float]]:
        """Return the largest off-diagonal entries (true, predicted, weight), largest first."""
        wrong = np.flatnonzero(~self._is_correct())
        worst = wrong[np.argsort(-self.weight[wrong], kind="stable")][:limit]
        return [(int(self.true[i]), int(self.predicted[i]), float(self.weight[i])) for i in worst]

    def _share_with_interval(self, mask: npt.NDArray[np.bool_], level: float) -> tuple[float, float, float]:
        sums = (self.weight[mask].sum(), self.weight.sum(), self.squares.sum())
        part, whole, squares = (np.array([number]) for number in sums)
        share, low, high = _shares_with_intervals(part, whole, squares, level)
        return float(share[0]), float(low[0]), float(high[0])

    def _pair_keys(self, true: Codes, predicted: Codes) -> npt.NDArray[np.int64]:
        shifted = np.asarray(true, np.int64) - UNSEEN
        return shifted * self.n_classes + np.asarray(predicted, np.int64)

    def _is_correct(self) -> npt.NDArray[np.bool_]:
        return np.equal(self.true, self.predicted)

    def _sum_by_class(self, codes: Codes, values: Floats) -> Floats:
        return _sum_by_code(codes, values, self.n_classes)


def _sum_by_code(codes: Codes, values: Floats, length: int) -> Floats:
    # bincount returns integers for empty input.
    return np.asarray(np.bincount(codes, values, length), np.float64)


def _shares_with_intervals(
    part: Floats, whole: Floats, squares: Floats, level: float
) -> tuple[Floats, Floats, Floats]:
    # Multiplying by sum w / sum w^2 turns weights into effective rows.
    scale = _ratio_or_nan(whole, squares)
    low, high = clopper_pearson(np.nan_to_num(part * scale), np.nan_to_num(whole * scale), level)
    return _ratio_or_nan(part, whole), low, high


def _ratio_or_nan(part: Floats, whole: Floats) -> Floats:
    ratio = np.full(len(whole), np.nan)
    np.divide(part, whole, out=ratio, where=whole > 0)
    return ratio


MAX_TABLE_CLASSES = 10
UNSEEN_NAME = "(never seen)"


def confusion_section(confusion: ConfusionMatrix, names: Sequence[str]) -> Section:
    """Return the matrix if it fits into a line of text, otherwise the most frequent mistakes."""
    if len(names) <= MAX_TABLE_CLASSES:
        matrix = Table(_matrix_rows(confusion, names), caption="Confusion matrix")
        if matrix.width <= LINE_WIDTH:
            return Section("confusion", [matrix])
    rows = [
        [UNSEEN_NAME if true == UNSEEN else names[true], names[predicted], format_count(weight)]
        for true, predicted, weight in confusion.mistakes(MAX_TABLE_CLASSES)
    ]
    if not rows:
        return Section("confusion", ["No mistakes."])
    title = f"The {len(rows)} most frequent mistakes:" if len(rows) > 1 else ""
    table = Table([["true", "predicted", "rows"], *rows], left=2, widths=(28, 28))
    return Section("confusion", [table if title else replace(table, caption="The only mistake")], title)


def _matrix_rows(confusion: ConfusionMatrix, names: Sequence[str]) -> list[list[str]]:
    head = ["true \\ predicted", *(truncate(name, 12) for name in names)]
    pairs = zip(names, confusion.table().tolist(), strict=True)
    rows = [[truncate(name, 20), *map(format_count, row)] for name, row in pairs]
    if UNSEEN in confusion.true:
        rows.append([UNSEEN_NAME, *map(format_count, confusion.unseen().tolist())])
    return [head, *rows]


def macro_measures(confusion: ConfusionMatrix, shares: ClassShares, n_unseen: int) -> Iterator[Measure]:
    """Yield the means over classes with their intervals.

    The precision of a class that was never predicted counts as zero, but may be anything, and so may the
    recall of a predicted class that no row is of.
    """
    labelled, predicted = confusion.support() > 0, confusion.predictions() > 0
    n_labelled, n_classes = int(labelled.sum()) + n_unseen, int((labelled | predicted).sum()) + n_unseen
    n_unpredicted, n_unlabelled = int((labelled & ~predicted).sum()), int((predicted & ~labelled).sum())
    yield Measure("balanced_accuracy", *average_share_interval(*shares.recall, n_labelled))
    precision = average_share_interval(*shares.precision, n_classes, n_unknown=n_unpredicted)
    yield Measure("macro_precision", *precision)
    recall = average_share_interval(*shares.recall, n_classes, n_unknown=n_unlabelled)
    yield Measure("macro_recall", *recall)
    mean, low, high = average_share_interval(*shares.f1, n_classes, _f1_variance_inflation(confusion))
    # The F1 of few rows is too low on average: see _f1_bias.
    yield Measure("macro_f1", mean, low, min(1.0, high + float(_f1_bias(confusion).sum()) / n_classes))


def _f1_bias(confusion: ConfusionMatrix) -> Floats:
    """Return by how much the F1 of each class is expected to be too low.

    F1 = 2 J / (1 + J) is concave in the Jaccard index J, whose estimate from n rows has the variance
    J (1 − J) / n, so that its mean is lower by ½ |F1''| J (1 − J) / n = 2 J (1 − J) / (n (1 + J)³). For J the
    index of all classes together is taken, because that of a class with few rows says little.
    """
    hits = confusion.hits()
    union = confusion.support() + confusion.predictions() - hits
    index = float(hits.sum()) / max(float(union.sum()), 1.0)
    curvature = 2.0 * index * (1.0 - index) / (1.0 + index) ** 3
    present = union > 0
    # One row is either right or wrong: then the difference is J (1 − J) / (1 + J), the most that it can be.
    most = index * (1.0 - index) / (1.0 + index)
    return np.where(present, np.minimum(curvature / np.maximum(union, 1.0) * 2.0, most), 0.0)


def _f1_variance_inflation(confusion: ConfusionMatrix) -> float:
    """Return Var(sum of F1 over classes) / sum of Var(F1); a mistake lowers the F1 of two classes.

    The influence of a row on F1 = 2 n_cc / s is (2 - 2 F1) / s if it is of class c and predicted correctly,
    and -F1 / s if it is either of class c or predicted as c.
    """
    total = confusion.support() + confusion.predictions()
    f1, inverse = np.zeros(len(total)), np.zeros(len(total))
    np.divide(2.0 * confusion.hits(), total, out=f1, where=total > 0)
    np.divide(1.0, total, out=inverse, where=total > 0)
    true, predicted, squares = confusion.true, confusion.predicted, confusion.squares
    is_correct, is_unseen = true == predicted, true == UNSEEN
    on_predicted = np.where(is_correct, 2.0 - 2.0 * f1[predicted], -f1[predicted]) * inverse[predicted]
    on_true = np.where(is_correct | is_unseen, 0.0, -f1[true] * inverse[true])
    independent = float((squares * (np.square(on_predicted) + np.square(on_true))).sum())
    joint = float((squares * np.square(on_predicted + on_true)).sum())
    return joint / independent if independent > 0 else 1.0
