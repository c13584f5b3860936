"""The measures of a report, titled as in `evaluate`, with their meaning and the value of the baseline."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.judge.metrics.evaluation import Evaluation
from weigh.judge.metrics.evaluation_format import (
    EQUIVALENT_MEASURES,
    EQUIVALENT_TITLES,
    MEASURE_TITLES,
    MIN_COMPARABLE_ROWS,
    most_frequent_class,
)
from weigh.judge.metrics.regression import REGRESSION_TITLES as NUMBER_TITLES
from weigh.judge.metrics.regression import RegressionEvaluation
from weigh.judge.metrics.training_overlap import TrainingOverlap
from weigh.report.facts import format_share
from weigh.text import format_float, format_quantity, truncate

AREA_TITLES = {"roc_area": "ROC area", "pr_area": "PR area"}
REPORT_TITLES = {**MEASURE_TITLES, **AREA_TITLES, **NUMBER_TITLES}

MEASURE_MEANINGS = {
    "accuracy": "share of correct predictions; 100 % is perfect",
    "zero_one": "share of wrong predictions (error rate)",
    "squared": "mean of (1 − probability of the true class)²; 0 is perfect",
    "log_loss": "mean of −log P(true class) in nats; 0 is perfect, and confident errors cost most",
    "brier": "mean squared difference between probabilities and true classes; 0 is perfect",
    "balanced_accuracy": "mean recall of the classes: rare classes count as much as frequent ones",
    "macro_precision": "share of the rows predicted as a class that belong to it, averaged over classes",
    "macro_recall": "share of the rows of a class that are predicted as it, averaged over classes",
    "macro_f1": "harmonic mean of precision and recall, averaged over classes",
    "roc_area": "probability that a row of a class is ranked above a row of another; 100 % is perfect",
    "pr_area": "average precision over all recalls; 100 % is perfect",
    "calibration_error": "mean gap between predicted probabilities and observed frequencies; 0 is perfect",
    "conditional_log_likelihood": "Σ log P(true class | row)",
    "joint_log_likelihood": "Σ log P(row, true class)",
    "r2": "share of the variance that is explained; 1 is perfect",
    "rmse": "typical size of an error, in which large errors count more",
    "mae": "mean absolute error",
    "bias": "mean of prediction minus true value; 0 is unbiased",
}
SHARE_MEASURES = (
    "accuracy", "zero_one", "balanced_accuracy", "macro_precision", "macro_recall", "macro_f1", "roc_area",
    "pr_area", "calibration_error",
)  # fmt: skip


@dataclass(frozen=True)
class MeasureFact:
    """A measure, its meaning and interval, and `guess`, its value for the baseline if that is known.

    `told` are value and interval as text, `guess_told` is the baseline as text. `is_repeated` measures equal
    another measure, which is shown in their place.
    """

    name: str
    title: str
    meaning: str
    value: float
    low: float
    high: float
    told: tuple[str, str, str]
    guess: float | None
    guess_told: str
    is_repeated: bool


def measure_facts(evaluation: Evaluation | RegressionEvaluation) -> tuple[MeasureFact, ...]:
    """Return the measures in the order of `evaluate`, with areas last."""
    baselines = (
        _regression_baselines(evaluation)
        if isinstance(evaluation, RegressionEvaluation)
        else _classifier_baselines(evaluation)
    )
    values = {each.name: each.value for each in evaluation.measures}
    order = sorted(evaluation.measures, key=lambda each: each.name in AREA_TITLES)
    return tuple(_measure_fact(each, baselines.get(each.name), values) for each in order)


def _measure_fact(measure: Any, baseline: float | None, values: dict[str, float]) -> MeasureFact:
    name = measure.name
    to_text = format_share if name in SHARE_MEASURES else format_number
    numbers = (measure.value, measure.low, measure.high)
    value, low, high = ("–" if math.isnan(number) else to_text(number) for number in numbers)
    title = REPORT_TITLES.get(name, name.replace("_", " "))
    for equal in _equal_measures(name, values):
        title += f" {EQUIVALENT_TITLES[equal]}" if equal in EQUIVALENT_TITLES else ""
    return MeasureFact(
        name,
        title,
        MEASURE_MEANINGS.get(name, ""),
        *numbers,
        told=(value, low, high),
        guess=baseline,
        guess_told="–" if baseline is None else to_text(baseline),
        is_repeated=name in EQUIVALENT_MEASURES
        and name in _equal_measures(EQUIVALENT_MEASURES[name], values),
    )


def _equal_measures(name: str, values: dict[str, float]) -> Iterator[str]:
    """Yield the measures that are shown together with this one because they are equal."""
    for equal, main in EQUIVALENT_MEASURES.items():
        if main == name and equal in values and math.isclose(values[equal], values[main], rel_tol=1e-9):
            yield equal


def _classifier_baselines(evaluation: Evaluation) -> dict[str, float]:
    """Return the measures of always predicting the most frequent class, or the class frequencies."""
    accuracy = constant_accuracy(evaluation)
    if accuracy is None:
        return {}
    support = evaluation.confusion.support()
    shares = support[support > 0] / support.sum()
    squares = float((shares * shares).sum())
    is_binary = len(evaluation.classes) == 2
    halved = 2 if is_binary else 1
    pr_area = float(support[1] / support.sum()) if is_binary else 1 / len(shares)
    return {
        "accuracy": accuracy,
        "zero_one": 1 - accuracy,
        "balanced_accuracy": 1 / len(shares),
        "macro_recall": 1 / len(shares),
        "squared": float((shares * (1 - shares) ** 2).sum()),
        "brier": (1 - squares) / halved,
        "log_loss": 0.0 - float((shares * np.log(shares)).sum()),
        "roc_area": 0.5,
        "pr_area": pr_area,
    }


def _regression_baselines(evaluation: RegressionEvaluation) -> dict[str, float]:
    """Return the measures of always predicting the mean of these rows."""
    r2, rmse = evaluation.r2.value, evaluation.rmse.value
    standard_deviation = {"rmse": rmse / math.sqrt(1 - r2)} if r2 < 1 else {}
    return {"r2": 0.0, "bias": 0.0, **standard_deviation}


def format_number(value: float) -> str:
    """Return a number as short text."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return format_float(value).replace("-", "−")


MAX_LABEL_LENGTH = 60
MAX_LISTED_LABELS = 3


def data_caveats(evaluation: Evaluation | RegressionEvaluation) -> Iterator[str]:
    """Yield the reasons why these rows are unsuitable for evaluation, with advice."""
    n = evaluation.n_rows if isinstance(evaluation, RegressionEvaluation) else evaluation.n
    if isinstance(evaluation, Evaluation) and evaluation.unseen:
        yield _unknown_labels_caveat(evaluation)
    if n < MIN_COMPARABLE_ROWS:
        are = "is" if n == 1 else "are"
        yield f"Evaluate it on more rows: {format_quantity(n, 'row')} {are} too few to say how good it is."
    elif isinstance(evaluation, Evaluation) and only_label(evaluation):
        yield f"Evaluate it on rows of other classes too: all of these are {only_label(evaluation)}."
    overlap = TrainingOverlap(evaluation.is_training_data, evaluation.training_share)
    if overlap.is_notable:
        yield f"It was {overlap}, so the measures are too optimistic: evaluate it on new rows."


def _unknown_labels_caveat(evaluation: Evaluation) -> str:
    unseen = evaluation.unseen
    rows = sum(rows for _, rows in unseen)
    names = ", ".join(truncate(label, MAX_LABEL_LENGTH) for label, _ in unseen[:MAX_LISTED_LABELS])
    more = " …" if len(unseen) > MAX_LISTED_LABELS else ""
    have = "has a label" if rows == 1 else "have labels"
    return (
        f"{rows:,} of {format_quantity(evaluation.n, 'row')} {have} that the model does not know "
        f"({names}{more}): correct the spelling, or train on such rows if this is a class of its own."
    )


def only_label(evaluation: Evaluation) -> str:
    """Return the label that all rows have in common, or an empty string."""
    labels = [row.label for row in evaluation.per_class if row.support]
    return truncate(labels[0], MAX_LABEL_LENGTH) if len(labels) == 1 and not evaluation.unseen else ""


def constant_accuracy(evaluation: Evaluation) -> float | None:
    """Return the accuracy of always predicting the most frequent label; None if it says little."""
    baseline = most_frequent_class(evaluation)
    return None if baseline is None else baseline[1]


def check_known_labels(evaluation: Evaluation) -> None:
    """Raise if no row has a label that the model knows."""
    if evaluation.unseen and not evaluation.confusion.support().any():
        classes = errors.quote_names(evaluation.classes)
        labels = errors.quote_names(label for label, _ in evaluation.unseen)
        raise errors.LabelError(
            f"The model knows none of the labels of these rows. Its classes are {classes}, the labels are "
            f"{labels}. Compare spelling, spaces and types, or name another label column."
        )
