"""Measures of a report: named as `evaluate` names them, with what they mean and what guessing would have."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.judge import Evaluation, RegressionEvaluation
from weigh.judge.measures.printing import ALIKE, TITLES, TWINS
from weigh.judge.measures.regression import TITLES as NUMBER_TITLES
from weigh.report.doubts import constant_accuracy
from weigh.report.wording import share
from weigh.text import short

AREAS = {"roc_area": "ROC area", "pr_area": "PR area"}
NAMES = {**TITLES, **AREAS, **NUMBER_TITLES}

# What a measure means to people.
MEANS = {
    "accuracy": "share of rows that were predicted rightly; 100 % is perfect",
    "zero_one": "share of rows that were predicted wrongly",
    "squared": "mean of (1 − probability of the true class)²; 0 is perfect",
    "log_loss": "mean surprise at the true class, in nats; 0 is perfect, and sure errors cost most",
    "brier": "mean squared distance of the probabilities from the truth; 0 is perfect",
    "balanced_accuracy": "mean recall of the classes: every class counts alike, however rare",
    "macro_precision": "of the rows given a class, the share truly of it",
    "macro_recall": "of the rows of a class, the share that is found",
    "macro_f1": "precision and recall in one",
    "roc_area": "chance that a row of a class is ranked above another; 100 % is perfect",
    "pr_area": "precision averaged over all recalls; 100 % is perfect",
    "calibration_error": "mean distance of stated from observed shares; 0 is perfect",
    "conditional_log_likelihood": "Σ log P(true class | row)",
    "joint_log_likelihood": "Σ log P(row, true class)",
    "r2": "share of the differences between rows that is explained; 1 is perfect",
    "rmse": "typical size of an error, large ones weighing more",
    "mae": "mean size of an error",
    "bias": "how much too high predictions are on average; 0 is fair",
}
SHARES = (
    "accuracy", "zero_one", "balanced_accuracy", "macro_precision", "macro_recall", "macro_f1", "roc_area",
    "pr_area", "calibration_error",
)  # fmt: skip


@dataclass(frozen=True)
class MeasureFact:
    """A measure, what it means, its interval, and `guess`, what it is without a model, where that is known.

    `told` are value and interval as texts, `guess_told` is that of the guess. `is_repeated` measures have
    the number of another one, which is told in their place.
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


def measure_facts(found: Evaluation | RegressionEvaluation) -> tuple[MeasureFact, ...]:
    """The measures in the order of `evaluate`: areas come last."""
    guesses = _numbers_guessed(found) if isinstance(found, RegressionEvaluation) else _guessed(found)
    values = {each.name: each.value for each in found.measures}
    order = sorted(found.measures, key=lambda each: each.name in AREAS)
    return tuple(_measure(each, guesses.get(each.name), values) for each in order)


def _measure(measure: Any, guess: float | None, values: dict[str, float]) -> MeasureFact:
    name = measure.name
    write = share if name in SHARES else number
    numbers = (measure.value, measure.low, measure.high)
    first, low, high = ("–" if math.isnan(each) else write(each) for each in numbers)
    told = "–" if guess is None else write(guess)
    title = NAMES.get(name, name.replace("_", " "))
    for twin in _twins(name, values):
        title += f" {ALIKE[twin]}" if twin in ALIKE else ""
    is_repeated = name in TWINS and name in _twins(TWINS[name], values)
    return MeasureFact(
        name, title, MEANS.get(name, ""), *numbers, (first, low, high), guess, told, is_repeated
    )


def _twins(name: str, values: dict[str, float]) -> Iterator[str]:
    """Yield the measures that have the same number as this one, where they are told together."""
    for twin, main in TWINS.items():
        if main == name and twin in values and math.isclose(values[twin], values[main], rel_tol=1e-9):
            yield twin


def _guessed(found: Evaluation) -> dict[str, float]:
    """What is reached without a model: by the most frequent class, or by stating the classes' shares."""
    most = constant_accuracy(found)
    if most is None:
        return {}
    support = found.confusion.support()
    shares = support[support > 0] / support.sum()
    squares = float((shares * shares).sum())
    halved = 2 if len(found.classes) == 2 else 1
    ranked = float(support[1] / support.sum()) if len(found.classes) == 2 else 1 / len(shares)
    return {
        "accuracy": most,
        "zero_one": 1 - most,
        "balanced_accuracy": 1 / len(shares),
        "macro_recall": 1 / len(shares),
        "squared": float((shares * (1 - shares) ** 2).sum()),
        "brier": (1 - squares) / halved,
        "log_loss": 0.0 - float((shares * np.log(shares)).sum()),
        "roc_area": 0.5,
        "pr_area": ranked,
    }


def _numbers_guessed(found: RegressionEvaluation) -> dict[str, float]:
    """What is reached by predicting the mean of these rows."""
    r2, rmse = found.r2.value, found.rmse.value
    spread = {"rmse": rmse / math.sqrt(1 - r2)} if r2 < 1 else {}
    return {"r2": 0.0, "bias": 0.0, **spread}


def number(value: float) -> str:
    """A number in few signs."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return short(value).replace("-", "−")
