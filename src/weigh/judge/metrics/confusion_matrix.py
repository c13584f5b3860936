"""Which class was taken for which: a table of (true, predicted) that stays small.

Only the pairs that occur are kept, so thousands of classes need no table of their square.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weigh.judge.metrics.confidence_intervals import Measure, average_share_interval, clopper_pearson
from weigh.judge.metrics.losses import UNSEEN, Codes, Floats
from weigh.text import format_count, html_paragraph, html_table, text_table, truncate


@dataclass(frozen=True, eq=False)
class ClassShares:
    """What is found of each class: (values, lower limits, upper limits)."""

    precision: tuple[Floats, Floats, Floats]
    recall: tuple[Floats, Floats, Floats]
    f1: tuple[Floats, Floats, Floats]


@dataclass(frozen=True, eq=False, repr=False)
class ConfusionMatrix:
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
    def empty(cls, n_classes: int) -> ConfusionMatrix:
        """Nothing counted yet."""
        codes, sums = np.empty(0, np.int64), np.empty(0, np.float64)
        return cls(n_classes, codes, codes, sums, sums)

    def add(self, labels: Codes, predictions: Codes, weights: Floats) -> ConfusionMatrix:
        """This table with more rows."""
        old, new = self._pair_keys(self.true, self.predicted), self._pair_keys(labels, predictions)
        pairs, place = np.unique(np.concatenate([old, new]), return_inverse=True)
        weight = _sum_by_code(place, np.concatenate([self.weight, weights]), len(pairs))
        squares = _sum_by_code(place, np.concatenate([self.squares, weights**2]), len(pairs))
        true, predicted = np.divmod(pairs, self.n_classes)
        return ConfusionMatrix(self.n_classes, true + UNSEEN, predicted, weight, squares)

    def table(self) -> Floats:
        """The dense table [true, predicted], C x C, without the labels the model does not know."""
        known = self.true != UNSEEN
        dense = np.zeros((self.n_classes, self.n_classes))
        dense[self.true[known], self.predicted[known]] = self.weight[known]
        return dense

    def unseen(self) -> Floats:
        """Weight of the rows whose label the model does not know, by predicted class."""
        strange = self.true == UNSEEN
        return self._sum_by_class(self.predicted[strange], self.weight[strange])

    def __str__(self) -> str:
        return format_confusion_matrix(self, self._code_names())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return confusion_matrix_html(self, self._code_names())

    def _code_names(self) -> list[str]:
        return list(map(str, range(self.n_classes)))

    def accuracy(self, level: float) -> tuple[float, float, float]:
        """Share predicted rightly, sum over c of n_cc / n, with its exact interval."""
        return self._share_with_interval(self._is_correct(), level)

    def zero_one(self, level: float) -> tuple[float, float, float]:
        """Share predicted wrongly, with its exact interval."""
        return self._share_with_interval(~self._is_correct(), level)

    def shares(self, level: float) -> ClassShares:
        """Precision, recall and F1 of every class."""
        return ClassShares(self.precision(level), self.recall(level), self.f1(level))

    def precision(self, level: float) -> tuple[Floats, Floats, Floats]:
        """Per class n_cc / (weight predicted as c), with exact intervals; nan if there is none."""
        return _shares_with_intervals(
            self.hits(), self.predictions(), self._sum_by_class(self.predicted, self.squares), level
        )

    def recall(self, level: float) -> tuple[Floats, Floats, Floats]:
        """Per class n_cc / (weight truly c), with exact intervals; nan if there is none."""
        known = self.true != UNSEEN
        squares = self._sum_by_class(self.true[known], self.squares[known])
        return _shares_with_intervals(self.hits(), self.support(), squares, level)

    def f1(self, level: float) -> tuple[Floats, Floats, Floats]:
        """Per class 2 n_cc / (weight truly c + weight predicted as c), with exact intervals; nan for 0/0.

        Of the rows that are c or were taken for it, the share j that are both has an exact interval, and F1
        is 2 j / (1 + j).
        """
        off = ~self._is_correct()
        known = off & (self.true != UNSEEN)
        whole, squares = (
            self._sum_by_class(self.predicted, values) + self._sum_by_class(self.true[known], values[known])
            for values in (self.weight, self.squares)
        )
        shares = _shares_with_intervals(self.hits(), whole, squares, level)
        share, low, high = (2.0 * part / (1.0 + part) for part in shares)
        return share, low, high

    def hits(self) -> Floats:
        """Weight of the rows of each class that were predicted rightly."""
        hit = self._is_correct()
        return self._sum_by_class(self.true[hit], self.weight[hit])

    def predictions(self) -> Floats:
        """Weight of the rows that were predicted as each class."""
        return self._sum_by_class(self.predicted, self.weight)

    def support(self) -> Floats:
        """Weight of the rows that truly are of each class."""
        known = self.true != UNSEEN
        return self._sum_by_class(self.true[known], self.weight[known])

    def mistakes(self, most: int) -> list[tuple[int, int, float]]:
        """The heaviest wrong pairs (true, predicted, weight), heaviest first."""
        wrong = np.flatnonzero(~self._is_correct())
        worst = wrong[np.argsort(-self.weight[wrong], kind="stable")][:most]
        return [(int(self.true[i]), int(self.predicted[i]), float(self.weight[i])) for i in worst]

    def _share_with_interval(self, chosen: npt.NDArray[np.bool_], level: float) -> tuple[float, float, float]:
        sums = (self.weight[chosen].sum(), self.weight.sum(), self.squares.sum())
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
    # For no rows at all bincount gives integers.
    return np.asarray(np.bincount(codes, values, length), np.float64)


def _shares_with_intervals(
    part: Floats, whole: Floats, squares: Floats, level: float
) -> tuple[Floats, Floats, Floats]:
    # Scaled by sum w / sum w^2, weights become effective rows; equal to them for weights of one.
    rows = _ratio_or_nan(whole, squares)
    low, high = clopper_pearson(np.nan_to_num(part * rows), np.nan_to_num(whole * rows), level)
    return _ratio_or_nan(part, whole), low, high


def _ratio_or_nan(part: Floats, whole: Floats) -> Floats:
    ratio = np.full(len(whole), np.nan)
    np.divide(part, whole, out=ratio, where=whole > 0)
    return ratio


LINE_WIDTH = 80
MAX_TABLE_CLASSES = 10
UNSEEN_NAME = "(never seen)"


def format_confusion_matrix(confusion: ConfusionMatrix, names: Sequence[str]) -> str:
    """The whole table where it fits, else the most frequent mistakes."""
    if len(names) <= MAX_TABLE_CLASSES:
        drawn = text_table(_matrix_rows(confusion, names))
        if max(map(len, drawn.splitlines())) <= LINE_WIDTH:
            return drawn
    rows = _mistake_rows(confusion, names)
    if len(rows) == 1:
        return "No mistakes."
    title = f"{_mistakes_title(rows)}:\n" if len(rows) > 2 else ""
    return title + text_table(rows, left=2)


def confusion_matrix_html(confusion: ConfusionMatrix, names: Sequence[str]) -> str:
    """The whole table of few classes, else the most frequent mistakes, as HTML."""
    if len(names) <= MAX_TABLE_CLASSES:
        return html_table("Who is taken for whom", _matrix_rows(confusion, names))
    rows = _mistake_rows(confusion, names)
    return html_table(_mistakes_title(rows), rows, 2) if len(rows) > 1 else html_paragraph("No mistakes.")


def _matrix_rows(confusion: ConfusionMatrix, names: Sequence[str]) -> list[list[str]]:
    head = ["true \\ predicted", *(truncate(name, 12) for name in names)]
    pairs = zip(names, confusion.table().tolist(), strict=True)
    rows = [[truncate(name, 20), *map(format_count, row)] for name, row in pairs]
    if UNSEEN in confusion.true:
        rows.append([UNSEEN_NAME, *map(format_count, confusion.unseen().tolist())])
    return [head, *rows]


def _mistake_rows(confusion: ConfusionMatrix, names: Sequence[str]) -> list[list[str]]:
    rows = [
        [
            truncate(UNSEEN_NAME if true == UNSEEN else names[true], 28),
            truncate(names[said], 28),
            format_count(weight),
        ]
        for true, said, weight in confusion.mistakes(MAX_TABLE_CLASSES)
    ]
    return [["true", "predicted", "rows"], *rows]


def _mistakes_title(rows: Sequence[Sequence[str]]) -> str:
    many = len(rows) - 1
    return f"The {many} most frequent mistakes" if many > 1 else "The only mistake"


def macro_measures(confusion: ConfusionMatrix, shares: ClassShares, n_unseen: int) -> Iterator[Measure]:
    """Yield the means with their intervals."""
    labelled, predicted = confusion.support() > 0, confusion.predictions() > 0
    n_labelled, n_classes = int(labelled.sum()) + n_unseen, int((labelled | predicted).sum()) + n_unseen
    yield Measure("balanced_accuracy", *average_share_interval(*shares.recall, n_labelled))
    yield Measure("macro_precision", *average_share_interval(*shares.precision, n_classes))
    yield Measure("macro_recall", *average_share_interval(*shares.recall, n_classes))
    yield Measure(
        "macro_f1", *average_share_interval(*shares.f1, n_classes, _f1_variance_inflation(confusion))
    )


def _f1_variance_inflation(confusion: ConfusionMatrix) -> float:
    """Return how much more the F1 of all classes vary together than apart: a mistake costs two of them.

    A row changes F1 = 2 n_cc / s by (2 - 2 F1) / s if rightly of the class, by -F1 / s if it is otherwise
    of the class or taken for it.
    """
    whole = confusion.support() + confusion.predictions()
    f1, once = np.zeros(len(whole)), np.zeros(len(whole))
    np.divide(2.0 * confusion.hits(), whole, out=f1, where=whole > 0)
    np.divide(1.0, whole, out=once, where=whole > 0)
    true, said, squares = confusion.true, confusion.predicted, confusion.squares
    hit, known = true == said, true != UNSEEN
    of_said = np.where(hit, 2.0 - 2.0 * f1[said], -f1[said]) * once[said]
    of_true = np.where(hit | ~known, 0.0, -f1[true] * once[true])
    apart = float((squares * (np.square(of_said) + np.square(of_true))).sum())
    return float((squares * np.square(of_said + of_true)).sum()) / apart if apart > 0 else 1.0
