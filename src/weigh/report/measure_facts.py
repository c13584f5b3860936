"""Measures of a report: named as `evaluate` names them, with what they mean and what guessing would have."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.judge import Evaluation, RegressionEvaluation
from weigh.judge.metrics.evaluation_format import EQUIVALENT_MEASURES, EQUIVALENT_TITLES, MEASURE_TITLES
from weigh.judge.metrics.regression import REGRESSION_TITLES as NUMBER_TITLES
from weigh.report.facts import format_share
from weigh.text import format_float, format_quantity, truncate

AREA_TITLES = {"roc_area": "ROC area", "pr_area": "PR area"}
REPORT_TITLES = {**MEASURE_TITLES, **AREA_TITLES, **NUMBER_TITLES}

# What a measure means to people.
MEASURE_MEANINGS = {
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
SHARE_MEASURES = (
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
    guesses = (
        _regression_baselines(found)
        if isinstance(found, RegressionEvaluation)
        else _classifier_baselines(found)
    )
    values = {each.name: each.value for each in found.measures}
    order = sorted(found.measures, key=lambda each: each.name in AREA_TITLES)
    return tuple(_measure_fact(each, guesses.get(each.name), values) for each in order)


def _measure_fact(measure: Any, guess: float | None, values: dict[str, float]) -> MeasureFact:
    name = measure.name
    write = format_share if name in SHARE_MEASURES else format_number
    numbers = (measure.value, measure.low, measure.high)
    first, low, high = ("–" if math.isnan(each) else write(each) for each in numbers)
    told = "–" if guess is None else write(guess)
    title = REPORT_TITLES.get(name, name.replace("_", " "))
    for twin in _equal_measures(name, values):
        title += f" {EQUIVALENT_TITLES[twin]}" if twin in EQUIVALENT_TITLES else ""
    is_repeated = name in EQUIVALENT_MEASURES and name in _equal_measures(EQUIVALENT_MEASURES[name], values)
    return MeasureFact(
        name, title, MEASURE_MEANINGS.get(name, ""), *numbers, (first, low, high), guess, told, is_repeated
    )


def _equal_measures(name: str, values: dict[str, float]) -> Iterator[str]:
    """Yield the measures that have the same number as this one, where they are told together."""
    for twin, main in EQUIVALENT_MEASURES.items():
        if main == name and twin in values and math.isclose(values[twin], values[main], rel_tol=1e-9):
            yield twin


def _classifier_baselines(found: Evaluation) -> dict[str, float]:
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


def _regression_baselines(found: RegressionEvaluation) -> dict[str, float]:
    """What is reached by predicting the mean of these rows."""
    r2, rmse = found.r2.value, found.rmse.value
    spread = {"rmse": rmse / math.sqrt(1 - r2)} if r2 < 1 else {}
    return {"r2": 0.0, "bias": 0.0, **spread}


def format_number(value: float) -> str:
    """A number in few signs."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return format_float(value).replace("-", "−")


MIN_COMPARABLE_ROWS = 10  # rows below which nothing is compared
MAX_LABEL_LENGTH = 60
MAX_LISTED_LABELS = 3


def data_caveats(found: Evaluation | RegressionEvaluation) -> Iterator[str]:
    """Yield what speaks against judging by these rows, each with what to do about it."""
    n = found.n_rows if isinstance(found, RegressionEvaluation) else found.n
    if isinstance(found, Evaluation) and found.unseen:
        yield _unknown_labels_caveat(found)
    if n < MIN_COMPARABLE_ROWS:
        are = "is" if n == 1 else "are"
        yield f"Judge it on more rows: {format_quantity(n, 'row')} {are} too few to tell how good it is."
    elif isinstance(found, Evaluation) and only_label(found):
        yield f"Judge it on rows of other classes too: these are all of {only_label(found)}."


def _unknown_labels_caveat(found: Evaluation) -> str:
    rows = sum(rows for _, rows in found.unseen)
    names = ", ".join(truncate(label, MAX_LABEL_LENGTH) for label, _ in found.unseen[:MAX_LISTED_LABELS])
    more = " …" if len(found.unseen) > MAX_LISTED_LABELS else ""
    have, they = ("has a label", "it is a class") if rows == 1 else ("have labels", "they are classes")
    return (
        f"{format_quantity(rows, 'row')} of {found.n:,} {have} that the model does not know ({names}{more}): learn "
        f"from such rows if {they} of their own, or mend the spelling."
    )


def only_label(found: Evaluation) -> str:
    """The one label that all rows have, or nothing."""
    here = [row.label for row in found.per_class if row.support]
    return truncate(here[0], MAX_LABEL_LENGTH) if len(here) == 1 and not found.unseen else ""


def constant_accuracy(found: Evaluation) -> float | None:
    """The accuracy of always giving the label that is most frequent here, whether the model knows it or not.

    None where there is nothing to compare: too few rows, or a single label.
    """
    if found.n < MIN_COMPARABLE_ROWS or only_label(found):
        return None
    strange = max((rows for _, rows in found.unseen), default=0)
    return max(float(found.confusion.support().max()), float(strange)) / found.weight


def check_known_labels(found: Evaluation) -> None:
    """Refuse rows of which not one has a label that the model knows."""
    if found.unseen and not found.confusion.support().any():
        raise errors.LabelError(
            f"The model knows none of the labels of these rows. It knows {errors.quote_names(found.classes)}, "
            f"they have {errors.quote_names(label for label, _ in found.unseen)}. Compare spelling, blanks and "
            f"types, or name another column as label."
        )
