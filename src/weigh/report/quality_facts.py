"""How good the model is: measures with intervals, in words that need no statistics, and the confusion."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from weigh.judge import Evaluation, RegressionEvaluation
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
MAX_CONFUSION_CLASSES = 12  # classes of which a confusion table can be looked at
MAX_LISTED_CLASSES = 20
STRONG_ERROR_RATIO = 0.5
IMBALANCED_SHARE = 0.9  # share of the most frequent class from which accuracy tells little


@dataclass(frozen=True)
class ClassFact:
    """How well one class is found: precision, recall and F1 with the rows that are truly of it."""

    label: str
    precision: float
    recall: float
    f1: float
    support: float


@dataclass(frozen=True)
class ConfusionCell:
    """So many rows of one class that were taken for another, or for itself."""

    true: str
    predicted: str
    rows: float
    share: float


@dataclass(frozen=True)
class WeakestClass:
    """The class of lowest recall, with the interval of its recall and what is found of all other rows."""

    label: str
    recall: float
    low: float
    high: float
    others: float


@dataclass(frozen=True)
class QualityFacts:
    """Measures, words on them, the classes, and the confusion: all pairs, or the commonest mistakes.

    `skill` is "sure" where the model is surely right more often than always giving the most frequent class
    (of a regression: nearer than the mean), "ranks" where only its ranking or its probabilities surely beat
    guessing, else "none"; "unknown" where there is nothing to compare with, and `baseline` is None. `doubts`
    tell why these rows are no good to judge by, and what to do.
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
        """The measure of that name, if there is one."""
        return next((each for each in self.measures if each.name == name), None)

    @property
    def is_imbalanced(self) -> bool:
        """Whether one class has nearly all rows, so that accuracy tells little."""
        return self.baseline is not None and self.baseline > IMBALANCED_SHARE


def quality_facts(found: Evaluation | RegressionEvaluation) -> QualityFacts:
    """Put an evaluation into facts."""
    measures = measure_facts(found)
    skill = _skill_verdict({each.name: each for each in measures})
    if isinstance(found, RegressionEvaluation):
        words, why = tuple(_regression_sentences(found)), tuple(data_caveats(found))
        return QualityFacts(found.n_rows, found.level, skill, words, why, measures, None, None, (), (), True)
    is_whole = len(found.classes) <= MAX_CONFUSION_CLASSES
    baseline = constant_accuracy(found)
    weakest = _weakest_class(found)
    return QualityFacts(
        found.n,
        found.level,
        skill,
        tuple(_classifier_sentences(found, baseline, skill, weakest)),
        tuple(data_caveats(found)),
        measures,
        baseline,
        weakest,
        tuple(_class_facts(found)),
        tuple(_confusion_cells(found) if is_whole else _common_mistakes(found)),
        is_whole,
    )


def _skill_verdict(measures: dict[str, MeasureFact]) -> str:
    """How surely guessing is beaten, by the whole interval of a measure."""

    def beats(name: str, sign: int) -> bool:
        each = measures.get(name)
        end = math.nan if each is None else each.low if sign > 0 else each.high
        return each is not None and each.guess is not None and sign * (end - each.guess) > 0

    main = measures.get("accuracy") or measures["r2"]
    if main.guess is None or math.isnan(main.low):
        return "unknown"
    if beats("accuracy", 1) or beats("r2", 1):
        return "sure"
    return "ranks" if beats("roc_area", 1) or beats("log_loss", -1) else "none"


def _weakest_class(found: Evaluation) -> WeakestClass | None:
    """The class of which least is found; None where there is only one, or unless it is below the others."""
    rows = [row for row in found.per_class if row.support]
    if len(rows) < 2:
        return None
    weak = min(rows, key=lambda row: row.recall.value)
    right = sum(row.recall.value * row.support for row in rows if row is not weak)
    others = right / sum(row.support for row in rows if row is not weak)
    if weak.recall.value >= others:
        return None
    recall = weak.recall
    return WeakestClass(truncate(weak.label, MAX_NAME_LENGTH), recall.value, recall.low, recall.high, others)


def is_strong(quality: QualityFacts) -> bool:
    """Whether a classifier surely avoids half of the errors of always giving the same answer."""
    accuracy = quality.measure("accuracy")
    if accuracy is None or quality.baseline is None:
        return False
    return 1 - accuracy.low <= STRONG_ERROR_RATIO * (1 - quality.baseline)


def _classifier_sentences(
    found: Evaluation, baseline: float | None, skill: str, weakest: WeakestClass | None
) -> Iterator[str]:
    accuracy = found.measure("accuracy")
    right = accuracy.value * found.weight
    yield (
        f"It is right on {format_share(accuracy.value)} of the rows: {format_count(round(right))} of "
        f"{format_count(found.weight)}. On other rows like these, expect between {format_share(accuracy.low)} and "
        f"{format_share(accuracy.high)}."
    )
    yield _baseline_sentence(found, baseline, skill)
    if weakest is not None:
        support = next(
            row.support for row in found.per_class if truncate(row.label, MAX_NAME_LENGTH) == weakest.label
        )
        yield (
            f"It is weakest on {truncate(weakest.label, 60)}: of {format_quantity(support, 'such row')} it finds "
            f"{format_share(weakest.recall)} (expect between {format_share(weakest.low)} and {format_share(weakest.high)}), of "
            f"all others {format_share(weakest.others)}."
        )
    if found.unseen:
        rows = sum(rows for _, rows in found.unseen)
        yield f"{format_quantity(rows, 'row')} with labels that the model does not know count as errors."


def _baseline_sentence(found: Evaluation, baseline: float | None, skill: str) -> str:
    """How the model does against always giving the same answer."""
    if baseline is None:
        why = f"all rows are of {only_label(found)}" if only_label(found) else "there are too few rows"
        return f"It cannot be compared with always giving the same answer: {why}."
    accuracy = found.measure("accuracy")
    same = f"Always answering the most frequent class would be right on {format_share(baseline)}"
    if skill == "sure":
        wrong = 1 - (1 - accuracy.value) / (1 - baseline)
        return f"{same}; the model avoids {format_share(wrong)} of the errors that this would make."
    how = "surely worse" if accuracy.high < baseline else "not surely better"
    if skill == "ranks":
        return f"{same}, so by accuracy the model is {how} than that; {_ranking_clause(found)}."
    return f"{same}, so the model is {how} than that."


def _ranking_clause(found: Evaluation) -> str:
    names = [each.name for each in found.measures]
    if "roc_area" not in names or math.isnan(found.measure("roc_area").value):
        return "its probabilities tell more than the shares of the classes do"
    return (
        f"but it ranks rows better than guessing (ROC area {format_share(found.measure('roc_area').value)})"
    )


def _regression_sentences(found: RegressionEvaluation) -> Iterator[str]:
    r2, mae = found.r2, found.mae
    bounds = (
        f"between {_format_signed_share(r2.low)} and {_format_signed_share(r2.high)} on other rows like these"
    )
    told = "" if math.isnan(r2.low) else f"; {bounds}"
    if math.isnan(r2.value):
        yield "How much of the differences between rows it explains cannot be told: these rows do not differ."
    elif r2.value < 0:
        yield f"It is worse than always predicting the mean of these rows (R² {_format_signed_share(r2.value)}{told})."
    else:
        yield f"It explains {_format_signed_share(r2.value)} of the differences between the rows (R²{told})."
    yield f"A prediction is off by {format_number(mae.value)} on average."
    side = "high" if found.bias.value > 0 else "low"
    if found.bias.low > 0 or found.bias.high < 0:
        off = format_number(abs(found.bias.value))
        yield f"Predictions are too {side} by {off} on average, which is no accident."
    else:
        yield "Predictions are neither too high nor too low on average, as far as these rows can tell."


def _format_signed_share(part: float) -> str:
    """A share that may be negative."""
    return format_share(part) if part >= 0 else f"−{-100 * part:.1f} %"


def _class_facts(found: Evaluation) -> Iterator[ClassFact]:
    shown = found.per_class
    if len(shown) > MAX_LISTED_CLASSES:
        shown = tuple(
            sorted(shown, key=lambda row: math.inf if math.isnan(row.f1) else row.f1)[:MAX_LISTED_CLASSES]
        )
    for row in shown:
        name = truncate(row.label, MAX_NAME_LENGTH)
        yield ClassFact(name, row.precision.value, row.recall.value, row.f1, row.support)


def _confusion_cells(found: Evaluation) -> Iterator[ConfusionCell]:
    names = [truncate(label, MAX_NAME_LENGTH) for label in found.classes]
    for true, row in zip(names, found.confusion.table().tolist(), strict=True):
        total = sum(row) or 1.0
        for predicted, weight in zip(names, row, strict=True):
            yield ConfusionCell(true, predicted, weight, weight / total)


def _common_mistakes(found: Evaluation) -> Iterator[ConfusionCell]:
    support = found.confusion.support().tolist()
    for true, predicted, weight in found.confusion.mistakes(MAX_LISTED_CLASSES):
        known = "(never seen)" if true < 0 else truncate(found.classes[true], MAX_NAME_LENGTH)
        whole = weight if true < 0 else support[true]
        yield ConfusionCell(
            known, truncate(found.classes[predicted], MAX_NAME_LENGTH), weight, weight / whole
        )
