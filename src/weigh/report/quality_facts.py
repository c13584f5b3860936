"""Facts about the quality of the model: measures, sentences about them, and the confusion matrix."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from weigh.judge.metrics.evaluation import Evaluation
from weigh.judge.metrics.regression import RegressionEvaluation
from weigh.report.facts import format_share
from weigh.report.measure_facts import (
    MeasureFact,
    constant_accuracy,
    data_caveats,
    format_number,
    measure_facts,
    only_label,
)
from weigh.text import format_count, format_quantity, truncate

MAX_NAME_LENGTH = 120
MAX_CONFUSION_CLASSES = 12  # so that a confusion matrix stays readable
MAX_LISTED_CLASSES = 20
STRONG_ERROR_RATIO = 0.5
IMBALANCED_SHARE = 0.9  # above this share of the most frequent class, accuracy is uninformative


@dataclass(frozen=True)
class ClassFact:
    """Precision, recall, F1 and support of one class."""

    label: str
    precision: float
    recall: float
    f1: float
    support: float


@dataclass(frozen=True)
class ConfusionCell:
    """The number of rows of one true class with one predicted class, and their share of the true class."""

    true: str
    predicted: str
    rows: float
    share: float


@dataclass(frozen=True)
class WeakestClass:
    """The class with the lowest recall, its interval, and the recall of all other rows."""

    label: str
    recall: float
    low: float
    high: float
    others: float


@dataclass(frozen=True)
class QualityFacts:
    """Measures, sentences about them, classes, and the confusion matrix or the most frequent confusions.

    `skill` is "sure" if the model is significantly better than always predicting the most frequent class (or
    the mean), "ranks" if only its ranking or its probabilities are, otherwise "none"; "unknown" if there is
    no baseline, and `baseline` is None. `doubts` say why these rows are unsuitable for evaluation.
    """

    n: int
    level: float
    skill: str
    sentences: tuple[str, ...]
    doubts: tuple[str, ...]
    measures: tuple[MeasureFact, ...]
    baseline: float | None
    weakest: WeakestClass | None
    classes: tuple[ClassFact, ...]
    confusion: tuple[ConfusionCell, ...]
    is_whole: bool

    def measure(self, name: str) -> MeasureFact | None:
        """Return the measure of this name, or None."""
        return next((each for each in self.measures if each.name == name), None)

    @property
    def is_imbalanced(self) -> bool:
        """Whether one class has nearly all rows, so that accuracy is uninformative."""
        return self.baseline is not None and self.baseline > IMBALANCED_SHARE


def quality_facts(evaluation: Evaluation | RegressionEvaluation) -> QualityFacts:
    """Return the facts of an evaluation."""
    measures = measure_facts(evaluation)
    skill = _skill_verdict({each.name: each for each in measures})
    doubts = tuple(data_caveats(evaluation))
    if isinstance(evaluation, RegressionEvaluation):
        sentences = tuple(_regression_sentences(evaluation))
        n, level = evaluation.n_rows, evaluation.level
        return QualityFacts(n, level, skill, sentences, doubts, measures, None, None, (), (), True)
    is_whole = len(evaluation.classes) <= MAX_CONFUSION_CLASSES
    baseline = constant_accuracy(evaluation)
    weakest = _weakest_class(evaluation)
    return QualityFacts(
        n=evaluation.n,
        level=evaluation.level,
        skill=skill,
        sentences=tuple(_classifier_sentences(evaluation, baseline, skill, weakest)),
        doubts=doubts,
        measures=measures,
        baseline=baseline,
        weakest=weakest,
        classes=tuple(_class_facts(evaluation)),
        confusion=tuple(_confusion_cells(evaluation) if is_whole else _common_mistakes(evaluation)),
        is_whole=is_whole,
    )


def _skill_verdict(measures: dict[str, MeasureFact]) -> str:
    """Return by which measures the model is significantly better than the baseline."""

    def beats_baseline(name: str, sign: int) -> bool:
        measure = measures.get(name)
        if measure is None or measure.guess is None:
            return False
        limit = measure.low if sign > 0 else measure.high
        return sign * (limit - measure.guess) > 0

    main = measures.get("accuracy") or measures["r2"]
    if main.guess is None or math.isnan(main.low):
        return "unknown"
    if beats_baseline("accuracy", 1) or beats_baseline("r2", 1):
        return "sure"
    return "ranks" if beats_baseline("roc_area", 1) or beats_baseline("log_loss", -1) else "none"


def _weakest_class(evaluation: Evaluation) -> WeakestClass | None:
    """Return the class with the lowest recall; None with a single class or if it is not below the others."""
    rows = [row for row in evaluation.per_class if row.support]
    if len(rows) < 2:
        return None
    weakest = min(rows, key=lambda row: row.recall.value)
    n_correct = sum(row.recall.value * row.support for row in rows if row is not weakest)
    others = n_correct / sum(row.support for row in rows if row is not weakest)
    recall = weakest.recall
    if recall.value >= others:
        return None
    label = truncate(weakest.label, MAX_NAME_LENGTH)
    return WeakestClass(label, recall.value, recall.low, recall.high, others)


def is_strong(quality: QualityFacts) -> bool:
    """Return whether a classifier significantly avoids half of the baseline's errors."""
    accuracy = quality.measure("accuracy")
    if accuracy is None or quality.baseline is None:
        return False
    return 1 - accuracy.low <= STRONG_ERROR_RATIO * (1 - quality.baseline)


def _classifier_sentences(
    evaluation: Evaluation, baseline: float | None, skill: str, weakest: WeakestClass | None
) -> Iterator[str]:
    accuracy = evaluation.measure("accuracy")
    n_correct = format_count(round(accuracy.value * evaluation.weight))
    yield (
        f"It is correct on {format_share(accuracy.value)} of the rows: {n_correct} of "
        f"{format_count(evaluation.weight)}. On new rows like these, expect between "
        f"{format_share(accuracy.low)} and {format_share(accuracy.high)}."
    )
    yield _baseline_sentence(evaluation, baseline, skill)
    if weakest is not None:
        yield _weakest_class_sentence(evaluation, weakest)
    if evaluation.unseen:
        rows = sum(rows for _, rows in evaluation.unseen)
        yield f"{format_quantity(rows, 'row')} with labels that the model does not know count as errors."


def _weakest_class_sentence(evaluation: Evaluation, weakest: WeakestClass) -> str:
    support = next(
        row.support for row in evaluation.per_class if truncate(row.label, MAX_NAME_LENGTH) == weakest.label
    )
    return (
        f"It is weakest on {truncate(weakest.label, 60)}: it finds {format_share(weakest.recall)} of "
        f"{format_quantity(support, 'such row')} (expect between {format_share(weakest.low)} and "
        f"{format_share(weakest.high)}), compared with {format_share(weakest.others)} of all others."
    )


def _baseline_sentence(evaluation: Evaluation, baseline: float | None, skill: str) -> str:
    """Compare the model with always predicting the most frequent class."""
    if baseline is None:
        label = only_label(evaluation)
        reason = f"all rows are {label}" if label else "there are too few rows"
        return f"It cannot be compared with a constant prediction: {reason}."
    accuracy = evaluation.measure("accuracy")
    constant = f"Always predicting the most frequent class would be correct on {format_share(baseline)}"
    if skill == "sure":
        avoided = 1 - (1 - accuracy.value) / (1 - baseline)
        return f"{constant}; the model avoids {format_share(avoided)} of its errors."
    comparison = "significantly worse" if accuracy.high < baseline else "not significantly better"
    if skill == "ranks":
        return f"{constant}, so the accuracy of the model is {comparison}; {_ranking_clause(evaluation)}."
    return f"{constant}, so the model is {comparison}."


def _ranking_clause(evaluation: Evaluation) -> str:
    names = [each.name for each in evaluation.measures]
    if "roc_area" not in names or math.isnan(evaluation.measure("roc_area").value):
        return "but its probabilities are better than the class frequencies"
    area = format_share(evaluation.measure("roc_area").value)
    return f"but it ranks rows better than chance (ROC area {area})"


def _regression_sentences(evaluation: RegressionEvaluation) -> Iterator[str]:
    r2, mae, bias = evaluation.r2, evaluation.mae, evaluation.bias
    value, low, high = map(_format_signed_share, (r2.value, r2.low, r2.high))
    interval = "" if math.isnan(r2.low) else f"; expect between {low} and {high} on new rows like these"
    if math.isnan(r2.value):
        yield "R² is undefined: all rows have the same true value."
    elif r2.value < 0:
        yield f"It is worse than always predicting the mean of these rows (R² {value}{interval})."
    else:
        yield f"It explains {value} of the variance of the rows (R²{interval})."
    yield f"Its mean absolute error is {format_number(mae.value)}."
    if bias.low > 0 or bias.high < 0:
        side = "high" if bias.value > 0 else "low"
        yield f"Predictions are significantly too {side}: by {format_number(abs(bias.value))} on average."
    else:
        yield "Predictions are not significantly too high or too low on average."


def _format_signed_share(share: float) -> str:
    """Return a share that may be negative as a percentage."""
    return format_share(share) if share >= 0 else f"−{-100 * share:.1f} %"


def _class_facts(evaluation: Evaluation) -> Iterator[ClassFact]:
    """Yield the facts of all classes, or of those with the lowest F1 if there are many."""
    rows = evaluation.per_class
    if len(rows) > MAX_LISTED_CLASSES:
        rows = tuple(
            sorted(rows, key=lambda row: math.inf if math.isnan(row.f1) else row.f1)[:MAX_LISTED_CLASSES]
        )
    for row in rows:
        name = truncate(row.label, MAX_NAME_LENGTH)
        yield ClassFact(name, row.precision.value, row.recall.value, row.f1, row.support)


def _confusion_cells(evaluation: Evaluation) -> Iterator[ConfusionCell]:
    names = [truncate(label, MAX_NAME_LENGTH) for label in evaluation.classes]
    for true, row in zip(names, evaluation.confusion.table().tolist(), strict=True):
        total = sum(row) or 1.0
        for predicted, weight in zip(names, row, strict=True):
            yield ConfusionCell(true, predicted, weight, weight / total)


def _common_mistakes(evaluation: Evaluation) -> Iterator[ConfusionCell]:
    names = [truncate(label, MAX_NAME_LENGTH) for label in evaluation.classes]
    support = evaluation.confusion.support().tolist()
    for true, predicted, weight in evaluation.confusion.mistakes(MAX_LISTED_CLASSES):
        label, total = ("(unknown label)", weight) if true < 0 else (names[true], support[true])
        yield ConfusionCell(label, names[predicted], weight, weight / total)
