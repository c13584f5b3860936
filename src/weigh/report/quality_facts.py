"""How good the model is: measures with intervals, in words that need no statistics, and the confusion."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from weigh.judge import Evaluation, RegressionEvaluation
from weigh.report.doubts import constant_accuracy, doubts, only_label
from weigh.report.wording import share
from weigh.text import amount, counted, cut, short

NAME = 120
DRAWN_CLASSES = 12  # classes of which a confusion table can be looked at
LISTED = 20
STRONG = 0.5

# What a measure is called, and what it means to people.
TITLES = {
    "accuracy": ("accuracy", "share of rows that were predicted rightly; 100 % is perfect"),
    "zero_one": ("error rate", "share of rows that were predicted wrongly"),
    "squared": ("squared loss", "mean of (1 − probability of the true class)²; 0 is perfect"),
    "log_loss": (
        "log loss",
        "mean surprise at the true class, in nats; 0 is perfect, and sure errors cost most",
    ),
    "brier": ("Brier score", "mean squared distance of the probabilities from the truth; 0 is perfect"),
    "balanced_accuracy": ("balanced accuracy", "mean over the classes of the share that is found"),
    "macro_precision": ("mean precision", "mean over the classes of the share rightly given"),
    "macro_recall": ("mean recall", "mean over the classes of the share that is found"),
    "macro_f1": ("mean F1", "mean over the classes of precision and recall in one"),
    "roc_area": ("area under ROC", "chance that a row of a class is ranked above another; 50 % is guessing"),
    "pr_area": ("area under PR", "precision averaged over all recalls; 100 % is perfect"),
    "calibration_error": ("calibration error", "mean distance of stated from observed shares; 0 is perfect"),
    "conditional_log_likelihood": ("conditional log-likelihood", "Σ log P(true class | row)"),
    "joint_log_likelihood": ("joint log-likelihood", "Σ log P(row, true class)"),
    "r2": ("R²", "share of the differences between rows that is explained; 1 is perfect, 0 is the mean"),
    "rmse": ("root mean squared error", "typical size of an error, large ones weighing more"),
    "mae": ("mean absolute error", "mean size of an error"),
    "bias": ("mean error", "how much too high predictions are on average; 0 is fair"),
}
SHARES = (
    "accuracy", "zero_one", "balanced_accuracy", "macro_precision", "macro_recall", "macro_f1", "roc_area",
    "pr_area", "calibration_error",
)  # fmt: skip


@dataclass(frozen=True)
class MeasureFact:
    """A measure, what it means, and its interval; `told` are the three numbers as texts."""

    name: str
    title: str
    meaning: str
    value: float
    low: float
    high: float
    told: tuple[str, str, str]


@dataclass(frozen=True)
class ClassFact:
    """How well one class is found: precision, recall and F1 with the rows that are truly of it."""

    label: str
    precision: float
    recall: float
    f1: float
    support: float


@dataclass(frozen=True)
class Confused:
    """So many rows of one class that were taken for another, or for itself."""

    true: str
    predicted: str
    rows: float
    share: float


@dataclass(frozen=True)
class QualityFacts:
    """Measures, words on them, the classes, and the confusion: all pairs, or the commonest mistakes.

    `doubts` tell why these rows are no good to judge by, and what to do; `baseline` is None where there is
    nothing to compare with.
    """

    n: int
    level: float
    sentences: tuple[str, ...]
    doubts: tuple[str, ...]
    measures: tuple[MeasureFact, ...]
    baseline: float | None
    classes: tuple[ClassFact, ...]
    confusion: tuple[Confused, ...]
    is_whole: bool

    def measure(self, name: str) -> MeasureFact | None:
        """The measure of that name, if there is one."""
        return next((each for each in self.measures if each.name == name), None)


def quality_facts(found: Evaluation | RegressionEvaluation) -> QualityFacts:
    """Put an evaluation into facts."""
    measures = tuple(_measure(each) for each in found.measures)
    if isinstance(found, RegressionEvaluation):
        words, why = tuple(_number_words(found)), tuple(doubts(found))
        return QualityFacts(found.n_rows, found.level, words, why, measures, None, (), (), True)
    baseline = constant_accuracy(found)
    is_whole = len(found.classes) <= DRAWN_CLASSES
    return QualityFacts(
        found.n,
        found.level,
        tuple(_class_words(found, baseline)),
        tuple(doubts(found)),
        measures,
        baseline,
        tuple(_classes(found)),
        tuple(_pairs(found) if is_whole else _mistakes(found)),
        is_whole,
    )


def _measure(measure: Any) -> MeasureFact:
    title, meaning = TITLES.get(measure.name, (measure.name.replace("_", " "), ""))
    write = share if measure.name in SHARES else _number
    numbers = (measure.value, measure.low, measure.high)
    first, low, high = ("–" if math.isnan(number) else write(number) for number in numbers)
    return MeasureFact(measure.name, title, meaning, *numbers, (first, low, high))


def _number(value: float) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return short(value).replace("-", "−")


def is_strong(quality: QualityFacts) -> bool:
    """Whether a classifier surely avoids half of the errors of always giving the same answer."""
    accuracy = quality.measure("accuracy")
    if accuracy is None or quality.baseline is None:
        return False
    return 1 - accuracy.low <= STRONG * (1 - quality.baseline)


def _class_words(found: Evaluation, baseline: float | None) -> Iterator[str]:
    accuracy = found.measure("accuracy")
    right = accuracy.value * found.weight
    yield (
        f"It is right on {share(accuracy.value)} of the rows: {amount(round(right))} of "
        f"{amount(found.weight)}. On other rows like these, expect between {share(accuracy.low)} and "
        f"{share(accuracy.high)}."
    )
    if baseline is None:
        why = f"all rows are of {only_label(found)}" if only_label(found) else "there are too few rows"
        yield f"It cannot be compared with always giving the same answer: {why}."
    elif accuracy.low > baseline:
        wrong = 1 - (1 - accuracy.value) / (1 - baseline)
        yield (
            f"Always answering the most frequent class would be right on {share(baseline)}; the model avoids "
            f"{share(wrong)} of the errors that this would make."
        )
    else:
        yield (
            f"Always answering the most frequent class would be right on {share(baseline)}, so the model is "
            f"{'surely worse' if accuracy.high < baseline else 'not surely better'} than that."
        )
    weak = min((row for row in found.per_class if row.support), key=lambda row: row.recall.value)
    if weak.recall.value < accuracy.value:
        yield (
            f"It is weakest on {cut(weak.label, 60)}: of {counted(weak.support, 'such row')} it finds "
            f"{share(weak.recall.value)}."
        )
    if found.unseen:
        rows = sum(rows for _, rows in found.unseen)
        yield f"{counted(rows, 'row')} with labels that the model does not know count as errors."


def _number_words(found: RegressionEvaluation) -> Iterator[str]:
    r2, mae = found.r2, found.mae
    bounds = f"between {_part(r2.low)} and {_part(r2.high)} on other rows like these"
    told = "" if math.isnan(r2.low) else f"; {bounds}"
    if math.isnan(r2.value):
        yield "How much of the differences between rows it explains cannot be told: these rows do not differ."
    elif r2.value < 0:
        yield f"It is worse than always predicting the mean of these rows (R² {_part(r2.value)}{told})."
    else:
        yield f"It explains {_part(r2.value)} of the differences between the rows (R²{told})."
    yield f"A prediction is off by {_number(mae.value)} on average."
    side = "high" if found.bias.value > 0 else "low"
    if found.bias.low > 0 or found.bias.high < 0:
        off = _number(abs(found.bias.value))
        yield f"Predictions are too {side} by {off} on average, which is no accident."
    else:
        yield "Predictions are neither too high nor too low on average, as far as these rows can tell."


def _part(number: float) -> str:
    """A share that may be negative."""
    return share(number) if number >= 0 else f"−{-100 * number:.1f} %"


def _classes(found: Evaluation) -> Iterator[ClassFact]:
    shown = found.per_class
    if len(shown) > LISTED:
        shown = tuple(sorted(shown, key=lambda row: math.inf if math.isnan(row.f1) else row.f1)[:LISTED])
    for row in shown:
        name = cut(row.label, NAME)
        yield ClassFact(name, row.precision.value, row.recall.value, row.f1, row.support)


def _pairs(found: Evaluation) -> Iterator[Confused]:
    names = [cut(label, NAME) for label in found.classes]
    for true, row in zip(names, found.confusion.table().tolist(), strict=True):
        total = sum(row) or 1.0
        for predicted, weight in zip(names, row, strict=True):
            yield Confused(true, predicted, weight, weight / total)


def _mistakes(found: Evaluation) -> Iterator[Confused]:
    support = found.confusion.support().tolist()
    for true, predicted, weight in found.confusion.mistakes(LISTED):
        known = "(never seen)" if true < 0 else cut(found.classes[true], NAME)
        whole = weight if true < 0 else support[true]
        yield Confused(known, cut(found.classes[predicted], NAME), weight, weight / whole)
