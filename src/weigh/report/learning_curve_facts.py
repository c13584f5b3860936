"""The learning curve: how the losses fall as rows grow, and what that means."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from weigh import errors
from weigh.estimators import (
    JointBayes,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    Perceptron,
    Threshold,
)
from weigh.judge.metrics.confidence_intervals import Measure
from weigh.priors import Penalty
from weigh.report.facts import format_share
from weigh.source import Source
from weigh.text import format_float, format_quantity
from weigh.trials import LearningCurve, learning_curve
from weigh.trials.diagnosis import Diagnosis

LOSS_TITLES = {
    "zero_one": "share of errors",
    "log_loss": "log loss",
    "squared_error": "root mean squared error",
}


@dataclass(frozen=True)
class LearningCurvePointFact:
    """The loss of one series at one size, with its band where one is known."""

    series: str
    rows: float
    loss: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class LearningCurveFacts:
    """The points of the curve, the diagnosis in words, and what to do about it.

    Losses are in the units of the measures: shares of errors, or root mean squared errors.
    """

    loss: str
    verdict: str
    sentence: str
    how: str
    advice: tuple[str, ...]
    points: tuple[LearningCurvePointFact, ...]


def learning_curve_facts(
    model: Any, data: Any, y: Any, label: str | None, say: Callable[[str], None], is_lopsided: bool = False
) -> LearningCurveFacts:
    """Learn parts of the training rows as the model did, and measure the loss on the rest.

    Where one class has nearly all rows the share of errors tells little, and the log loss is measured.
    """
    learner = estimator_like(model)
    name = label or (None if isinstance(data, Source) else model.label)

    def progress(done: int, total: int) -> None:
        say(f"Learning curve, {done} of {total} folds")

    loss = "log_loss" if is_lopsided and model.has_probabilities else None
    # With the settings of `weigh curve`, so that both say the same.
    found = learning_curve(learner, data, name if y is None else y, loss=loss, progress=progress)
    return _describe_curve(found, is_lopsided)


def _describe_curve(found: LearningCurve, is_lopsided: bool) -> LearningCurveFacts:
    curve, unit = found.curves[0], _UNITS.get(found.loss, _DEFAULT_UNIT)
    points = tuple(
        LearningCurvePointFact(words, float(point.rows), *unit.convert_measure(measure))
        for part, words in (("validation", "rows held out"), ("train", "rows learned from"))
        for point in curve.points
        for measure in [getattr(point, part)]
    )
    told, loss = curve.diagnosis, LOSS_TITLES.get(found.loss, found.loss)
    # By the rules of the diagnosis hardly any learner does well where guessing is nearly always right.
    verdict = "" if is_lopsided else f"{told.verdict.capitalize()}: {told.says}. "
    sentence = (
        f"{verdict}After {format_quantity(told.rows, 'row')} the {loss} is "
        f"{unit.to_text(told.train.value)} on the rows learned from and {unit.to_text(told.validation.value)} on "
        f"rows held out; guessing has {unit.to_text(told.baseline.value)}."
    )
    option = f" --loss {found.loss}" if found.loss == "log_loss" else ""
    how = (
        f"Measured by cross-validation within the training rows ({found.folds} folds × {found.repeats}), as "
        f"weigh curve{option} does; so the numbers differ from those above, which are of other rows."
    )
    advice = tuple(_curve_advice(told, verdict, loss, unit))
    return LearningCurveFacts(loss, told.verdict, sentence, how, advice, points)


def _curve_advice(told: Diagnosis, verdict: str, loss: str, unit: _LossUnit) -> Iterator[str]:
    """Yield what the diagnosis advises, and what more rows would bring if they surely help."""
    *others, _ = told.advice
    if others and verdict:
        first, *rest = others
        yield f"{told.verdict.capitalize()}: {' '.join([first[:1].lower() + first[1:], *rest])}"
    if told.rows_help == "yes" and told.tenfold is not None:
        low, high = (unit.to_text(end) for end in (told.tenfold.low, told.tenfold.high))
        yield (
            f"More rows help: with {format_quantity(10 * told.rows, 'row')} expect a {loss} of "
            f"{unit.to_text(told.tenfold.value)} ({low} to {high}) instead of the "
            f"{unit.to_text(told.validation.value)} that {format_quantity(told.rows, 'row')} have in cross-validation."
        )


@dataclass(frozen=True)
class _LossUnit:
    """How a loss is told: brought to the unit of the measures, and written."""

    convert: Callable[[float], float]
    format_number: Callable[[float], str]

    def convert_measure(self, measure: Measure) -> tuple[float, float | None, float | None]:
        """The loss with its band, where one is known."""
        ends = (measure.low, measure.high)
        low, high = (None if math.isnan(end) else self.convert(max(0.0, end)) for end in ends)
        return self.convert(measure.value), low, high

    def to_text(self, loss: float) -> str:
        return self.format_number(self.convert(max(0.0, loss)))


_DEFAULT_UNIT = _LossUnit(float, format_float)
_UNITS = {"zero_one": _LossUnit(float, format_share), "squared_error": _LossUnit(math.sqrt, format_float)}


def estimator_like(model: Any) -> Any:
    """Return an untrained estimator with the settings that a model was learned with."""
    make = ESTIMATOR_FACTORIES.get(getattr(model, "type_name", ""))
    if make is None or getattr(model, "stated", False):
        raise errors.Unsupported(
            f"How {type(model).__name__} was learned is not known, so it cannot be learned again from fewer "
            f"rows."
        )
    return make(model)


def _column_kinds(model: Any) -> Any:
    """The kinds of the columns, as they were found in training."""
    schema = model.schema
    if schema.made:
        raise errors.Unsupported("Columns that were derived by functions are not learned again by a report.")
    return schema.kinds[0] if schema.is_uniform else dict(zip(schema.names, schema.kinds, strict=True))


def _make_naive_bayes(model: Any) -> Any:
    settings = {"prior": model.prior, "class_prior": model.class_prior, "complement": model.complement}
    return NaiveBayes(columns=_column_kinds(model), **settings)


def _make_joint_bayes(model: Any) -> Any:
    return JointBayes(prior=model.prior, class_prior=model.class_prior)


def _make_perceptron(model: Any) -> Any:
    passes = model.certificate.passes
    return Perceptron(columns=_column_kinds(model), keep=model.kept, rate=model.rate, max_iter=passes)


def _make_logistic(model: Any) -> Any:
    return LogisticRegression(
        columns=_column_kinds(model), prior=_make_penalty(model.fit), method=model.fit.method
    )


def _make_linear(model: Any) -> Any:
    noise = "laplace" if model.fit.loss == "absolute" else "normal"
    return LinearRegression(columns=_column_kinds(model), prior=_make_penalty(model.fit), noise=noise)


def _make_penalty(fit: Any) -> Penalty | None:
    if fit.l1 is None or fit.l2 is None:
        raise errors.Unsupported("Features have different penalties, which are not known one by one.")
    return Penalty(l1=fit.l1, l2=fit.l2) if fit.l1 or fit.l2 else None


ESTIMATOR_FACTORIES: dict[str, Callable[[Any], Any]] = {
    "naive-bayes": _make_naive_bayes,
    "joint-bayes": _make_joint_bayes,
    "perceptron": _make_perceptron,
    "voted": _make_perceptron,
    "logistic": _make_logistic,
    "regression": _make_linear,
    "threshold": lambda model: Threshold(),
}
