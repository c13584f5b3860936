"""How good the model is: measures with intervals, in words that need no statistics, and the confusion."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from weigh.judge import Evaluation, RegressionEvaluation
from weigh.report.doubts import constant_accuracy, doubts, only_label
from weigh.report.measure_facts import MeasureFact, measure_facts, number
from weigh.report.wording import share
from weigh.text import amount, counted, cut

NAME = 120
DRAWN_CLASSES = 12  # classes of which a confusion table can be looked at
LISTED = 20
STRONG = 0.5
RARE = 0.9  # share of the most frequent class from which accuracy tells little


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
class Weakest:
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
    weakest: Weakest | None
    classes: tuple[ClassFact, ...]
    confusion: tuple[Confused, ...]
    is_whole: bool

    def measure(self, name: str) -> MeasureFact | None:
        """The measure of that name, if there is one."""
        return next((each for each in self.measures if each.name == name), None)

    @property
    def is_lopsided(self) -> bool:
        """Whether one class has nearly all rows, so that accuracy tells little."""
        return self.baseline is not None and self.baseline > RARE


def quality_facts(found: Evaluation | RegressionEvaluation) -> QualityFacts:
    """Put an evaluation into facts."""
    measures = measure_facts(found)
    skill = _skill({each.name: each for each in measures})
    if isinstance(found, RegressionEvaluation):
        words, why = tuple(_number_words(found)), tuple(doubts(found))
        return QualityFacts(found.n_rows, found.level, skill, words, why, measures, None, None, (), (), True)
    is_whole = len(found.classes) <= DRAWN_CLASSES
    baseline = constant_accuracy(found)
    weakest = _weakest(found)
    return QualityFacts(
        found.n,
        found.level,
        skill,
        tuple(_class_words(found, baseline, skill, weakest)),
        tuple(doubts(found)),
        measures,
        baseline,
        weakest,
        tuple(_classes(found)),
        tuple(_pairs(found) if is_whole else _mistakes(found)),
        is_whole,
    )


def _skill(measures: dict[str, MeasureFact]) -> str:
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


def _weakest(found: Evaluation) -> Weakest | None:
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
    return Weakest(cut(weak.label, NAME), recall.value, recall.low, recall.high, others)


def is_strong(quality: QualityFacts) -> bool:
    """Whether a classifier surely avoids half of the errors of always giving the same answer."""
    accuracy = quality.measure("accuracy")
    if accuracy is None or quality.baseline is None:
        return False
    return 1 - accuracy.low <= STRONG * (1 - quality.baseline)


def _class_words(
    found: Evaluation, baseline: float | None, skill: str, weakest: Weakest | None
) -> Iterator[str]:
    accuracy = found.measure("accuracy")
    right = accuracy.value * found.weight
    yield (
        f"It is right on {share(accuracy.value)} of the rows: {amount(round(right))} of "
        f"{amount(found.weight)}. On other rows like these, expect between {share(accuracy.low)} and "
        f"{share(accuracy.high)}."
    )
    yield _compared(found, baseline, skill)
    if weakest is not None:
        support = next(row.support for row in found.per_class if cut(row.label, NAME) == weakest.label)
        yield (
            f"It is weakest on {cut(weakest.label, 60)}: of {counted(support, 'such row')} it finds "
            f"{share(weakest.recall)} (expect between {share(weakest.low)} and {share(weakest.high)}), of "
            f"all others {share(weakest.others)}."
        )
    if found.unseen:
        rows = sum(rows for _, rows in found.unseen)
        yield f"{counted(rows, 'row')} with labels that the model does not know count as errors."


def _compared(found: Evaluation, baseline: float | None, skill: str) -> str:
    """How the model does against always giving the same answer."""
    if baseline is None:
        why = f"all rows are of {only_label(found)}" if only_label(found) else "there are too few rows"
        return f"It cannot be compared with always giving the same answer: {why}."
    accuracy = found.measure("accuracy")
    same = f"Always answering the most frequent class would be right on {share(baseline)}"
    if skill == "sure":
        wrong = 1 - (1 - accuracy.value) / (1 - baseline)
        return f"{same}; the model avoids {share(wrong)} of the errors that this would make."
    how = "surely worse" if accuracy.high < baseline else "not surely better"
    if skill == "ranks":
        return f"{same}, so by accuracy the model is {how} than that; {_ranks(found)}."
    return f"{same}, so the model is {how} than that."


def _ranks(found: Evaluation) -> str:
    names = [each.name for each in found.measures]
    if "roc_area" not in names or math.isnan(found.measure("roc_area").value):
        return "its probabilities tell more than the shares of the classes do"
    return f"but it ranks rows better than guessing (ROC area {share(found.measure('roc_area').value)})"


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
    yield f"A prediction is off by {number(mae.value)} on average."
    side = "high" if found.bias.value > 0 else "low"
    if found.bias.low > 0 or found.bias.high < 0:
        off = number(abs(found.bias.value))
        yield f"Predictions are too {side} by {off} on average, which is no accident."
    else:
        yield "Predictions are neither too high nor too low on average, as far as these rows can tell."


def _part(part: float) -> str:
    """A share that may be negative."""
    return share(part) if part >= 0 else f"−{-100 * part:.1f} %"


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
