"""How well a classifier does on labelled rows: losses, intervals, confusion, classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.judge import printing
from weigh.judge.batches import batches, checked_weights
from weigh.judge.confusion import Confusion
from weigh.judge.measure import Measure
from weigh.judge.regression import RegressionEvaluation, judged_numbers
from weigh.judge.subject import is_regression, subject
from weigh.judge.tally import Tally
from weigh.text import plain


@dataclass(frozen=True)
class ClassRow:
    """One class: precision, recall, F1 and the weight of its rows; 0/0 is nan."""

    label: Any
    precision: Measure
    recall: Measure
    f1: float
    support: float

    def to_dict(self) -> dict[str, Any]:
        """The row for JSON."""
        return {
            "class": plain(self.label),
            "precision": self.precision.to_dict(),
            "recall": self.recall.to_dict(),
            "f1": plain(self.f1),
            "support": self.support,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """The result of `evaluate`; prints as tables of at most 80 columns.

    `measures` are, by name: `accuracy`, `zero_one`; where the classifier gives probabilities,
    `squared`, `log_loss` and `conditional_log_likelihood` = sum w log p(y | x); where it models
    the rows too, `joint_log_likelihood` = sum w log p(x, y). Without sample weights w is 1.
    `confusion.table()` is the array [true, predicted] in the order of `classes`.
    `unseen` lists labels that are no class of the model, with their rows: they count as errors
    with probability zero. `impossible` counts the rows whose true class is known to the model and
    was given probability zero: with either, the log loss is infinite.

    Shares (accuracy, zero-one, precision, recall) have exact Clopper-Pearson intervals, mean
    losses the normal interval of a mean. Weighted rows count by their effective number,
    (sum w)^2 / sum w^2.
    """

    classes: tuple[Any, ...]
    n: int
    weight: float
    level: float
    measures: tuple[Measure, ...]
    confusion: Confusion
    per_class: tuple[ClassRow, ...]
    unseen: tuple[tuple[Any, int], ...] = ()
    impossible: int = 0

    def measure(self, name: str) -> Measure:
        """The measure of that name."""
        for measure in self.measures:
            if measure.name == name:
                return measure
        known = [measure.name for measure in self.measures]
        raise errors.Unsupported(
            f"This evaluation has no measure {name!r}; it has {errors.listing(known)}."
            f"{errors.hint(name, known)}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON; `confusion` lists the pairs that occur, true None if unseen."""
        names = [plain(value) for value in self.classes]
        pairs = zip(
            self.confusion.true.tolist(),
            self.confusion.predicted.tolist(),
            self.confusion.weight.tolist(),
            strict=True,
        )
        return {
            "classes": names,
            "n": self.n,
            "weight": self.weight,
            "level": self.level,
            "measures": [measure.to_dict() for measure in self.measures],
            "confusion": [
                {"true": names[t] if t >= 0 else None, "predicted": names[p], "weight": w}
                for t, p, w in pairs
            ],
            "per_class": [row.to_dict() for row in self.per_class],
            "unseen": [{"label": plain(label), "rows": rows} for label, rows in self.unseen],
            "impossible": self.impossible,
        }

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """Print measures, confusion table and classes."""
        return printing.text(self)

    def _repr_html_(self) -> str:
        return printing.markup(self)


def evaluate(
    model: Any,
    data: Any,
    y: Any = None,
    *,
    label: str | None = None,
    sample_weight: Any = None,
    level: float = 0.95,
) -> Evaluation | RegressionEvaluation:
    """Judge a trained classifier or regression on labelled rows.

    Parameters
    ----------
    model : a model or estimator of this library, or any fitted scikit-learn classifier or regressor
        A classifier without probabilities gets the measures of its predictions only.
    data : rows as `fit` takes them, or a source; read in batches, so memory stays bounded
    y : array of labels, or the name of the label column, or None
        None takes the source's own labels, else the column that the model was trained to predict.
    label : name of the label column, the same as a name given as `y`
    sample_weight : array of weights, one per row, or None
    level : confidence level of the intervals

    Returns
    -------
    Evaluation, or of a regression RegressionEvaluation
    """
    y, label = _labels(y, label)
    if not (isinstance(level, int | float) and 0.0 < level < 1.0):
        raise errors.parameter("evaluate", "level", "a number between 0 and 1", level)
    judged, weights = subject(model), checked_weights(sample_weight)
    if is_regression(model):
        return judged_numbers(judged, data, y, label, weights, float(level))
    tally = Tally(judged)
    for batch in batches(judged, data, y, label, weights):
        tally.add(batch)
    return _evaluation(tally, tuple(judged.classes), float(level))


def _labels(y: Any, label: str | None) -> tuple[Any, str | None]:
    if y is not None and label is not None:
        raise errors.parameter("evaluate", "label", "left out when y is given", label)
    if isinstance(y, str):
        return None, y
    shape: tuple[int, ...] = getattr(y, "shape", (0,))
    if len(shape) == 2 and shape[1] == 1:
        return np.asarray(y)[:, 0], None
    if len(shape) != 1:
        raise errors.LabelError(
            f"y has the shape {tuple(shape)}; evaluate takes one label per row, a 1-D array."
        )
    return y, label


def _evaluation(tally: Tally, classes: tuple[Any, ...], level: float) -> Evaluation:
    confusion = tally.confusion()
    weight = float(confusion.weight.sum())
    if weight == 0.0:
        raise errors.DataError("The sample weights sum to zero; give some row a positive weight.")
    return Evaluation(
        classes,
        tally.n,
        weight,
        level,
        _measures(tally, confusion, level),
        confusion,
        _per_class(confusion, classes, level),
        tuple(sorted(tally.unseen.items(), key=lambda item: (-item[1], str(item[0])))),
        tally.impossible,
    )


def _measures(tally: Tally, confusion: Confusion, level: float) -> tuple[Measure, ...]:
    found = [
        Measure("accuracy", *confusion.accuracy(level)),
        Measure("zero_one", *confusion.zero_one(level)),
    ]
    if tally.squared is not None and tally.log is not None:
        found.append(Measure("squared", *tally.squared.interval(level, 1.0)))
        found.append(Measure("log_loss", *tally.log.interval(level)))
        found.append(Measure("conditional_log_likelihood", 0.0 - tally.log.total()))
    if tally.joint is not None:
        found.append(Measure("joint_log_likelihood", tally.joint))
    return tuple(found)


def _per_class(confusion: Confusion, classes: tuple[Any, ...], level: float) -> tuple[ClassRow, ...]:
    precision = zip(*(part.tolist() for part in confusion.precision(level)), strict=True)
    recall = zip(*(part.tolist() for part in confusion.recall(level)), strict=True)
    rest = zip(confusion.f1().tolist(), confusion.support().tolist(), strict=True)
    return tuple(
        ClassRow(label, Measure("precision", *p), Measure("recall", *r), f1, support)
        for label, p, r, (f1, support) in zip(classes, precision, recall, rest, strict=True)
    )
