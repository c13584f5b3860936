"""Facts of the learning curve: losses by training rows, and their diagnosis."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from weigh import errors
from weigh.estimators.bayes import JointBayes, NaiveBayes
from weigh.estimators.linear_model import LinearRegression, LogisticRegression
from weigh.estimators.perceptron import Perceptron
from weigh.estimators.threshold import Threshold
from weigh.features.kinds import Number, Value
from weigh.judge.metrics.confidence_intervals import Measure
from weigh.priors.penalty import Penalty
from weigh.report.facts import format_share
from weigh.source.base import Source
from weigh.text import format_float, format_quantity
from weigh.trials.diagnosis import Diagnosis
from weigh.trials.learning_curves import LearningCurve, learning_curve

LOSS_TITLES = {
    "zero_one": "error rate",
    "log_loss": "log loss",
    "squared_error": "root mean squared error",
}


@dataclass(frozen=True)
class LearningCurvePointFact:
    """The loss of one series at one size, with its interval if it is known."""

    series: str
    rows: float
    loss: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class LearningCurveFacts:
    """The points of the curve, the diagnosis as a sentence, and advice.

    Losses are in the units of the measures: error rate, or root mean squared error.
    """

    loss: str
    verdict: str
    sentence: str
    how: str
    advice: tuple[str, ...]
    points: tuple[LearningCurvePointFact, ...]


def learning_curve_facts(
    model: Any,
    data: Any,
    y: Any,
    label: str | None,
    say: Callable[[str], None],
    is_imbalanced: bool = False,
    diagnoses: bool = True,
) -> LearningCurveFacts:
    """Measure the learning curve of the model's learner, with its settings, on the training rows.

    If one class has nearly all rows, the error rate is uninformative, and the log loss is used instead.
    Without `diagnoses` there is no verdict, because the cause of the losses is known.
    """
    learner = estimator_like(model)
    name = label or (None if isinstance(data, Source) else model.label)

    def progress(done: int, total: int) -> None:
        say(f"Learning curve, {done} of {total} folds")

    loss = "log_loss" if is_imbalanced and model.has_probabilities else None
    # With the settings of `weigh curve`, so that both give the same numbers.
    result = learning_curve(learner, data, name if y is None else y, loss=loss, progress=progress)
    # With a baseline that is nearly always right, the rules of the diagnosis would criticise every learner.
    return _describe_curve(result, diagnoses and not is_imbalanced)


def _describe_curve(result: LearningCurve, diagnoses: bool) -> LearningCurveFacts:
    curve, unit = result.curves[0], _UNITS.get(result.loss, _DEFAULT_UNIT)
    points = tuple(
        LearningCurvePointFact(series, float(point.rows), *unit.convert_measure(getattr(point, name)))
        for name, series in (("validation", "held-out rows"), ("train", "training rows"))
        for point in curve.points
    )
    diagnosis, loss = curve.diagnosis, LOSS_TITLES.get(result.loss, result.loss)
    verdict = f"{diagnosis.verdict.capitalize()}: {diagnosis.says}. " if diagnoses else ""
    measures = (diagnosis.train, diagnosis.validation, diagnosis.baseline)
    train, validation, baseline = (unit.to_text(measure.value) for measure in measures)
    sentence = (
        f"{verdict}With {format_quantity(diagnosis.rows, 'training row')} the {loss} is {train} on the "
        f"training rows and {validation} on held-out rows; that of the baseline is {baseline}."
    )
    option = f" --loss {result.loss}" if result.loss == "log_loss" else ""
    how = (
        f"Measured by cross-validation on the training rows ({result.folds} folds × {result.repeats}), as in "
        f"weigh curve{option}; therefore the numbers differ from those above, which are for other rows."
    )
    advice = tuple(_curve_advice(diagnosis, verdict, loss, unit))
    return LearningCurveFacts(loss, diagnosis.verdict, sentence, how, advice, points)


def _curve_advice(diagnosis: Diagnosis, verdict: str, loss: str, unit: _LossUnit) -> Iterator[str]:
    """Yield the advice of the diagnosis, and the predicted gain if more rows help significantly."""
    *advice, _ = diagnosis.advice
    if advice and verdict:
        text = " ".join(advice)
        if diagnosis.comparison is not None:
            yield f"Another learner does better: {diagnosis.rival} {diagnosis.comparison}. {text}"
        else:
            yield f"{diagnosis.verdict.capitalize()}: {text[:1].lower()}{text[1:]}"
    tenfold = diagnosis.tenfold
    if diagnosis.rows_help == "yes" and tenfold is not None:
        value, low, high = map(unit.to_text, (tenfold.value, tenfold.low, tenfold.high))
        yield (
            f"More rows help: with {format_quantity(10 * diagnosis.rows, 'row')} expect a cross-validated "
            f"{loss} of {value} ({low} to {high}) instead of {unit.to_text(diagnosis.validation.value)} with "
            f"{format_quantity(diagnosis.rows, 'row')}."
        )


@dataclass(frozen=True)
class _LossUnit:
    """Conversion of a loss to the unit of the measures, and its number format."""

    convert: Callable[[float], float]
    format_number: Callable[[float], str]

    def convert_measure(self, measure: Measure) -> tuple[float, float | None, float | None]:
        """Return the loss with its interval, or None for unknown limits."""
        ends = (measure.low, measure.high)
        low, high = (None if math.isnan(end) else self.convert(max(0.0, end)) for end in ends)
        return self.convert(measure.value), low, high

    def to_text(self, loss: float) -> str:
        return self.format_number(self.convert(max(0.0, loss)))


_DEFAULT_UNIT = _LossUnit(float, format_float)
_UNITS = {"zero_one": _LossUnit(float, format_share), "squared_error": _LossUnit(math.sqrt, format_float)}


def estimator_like(model: Any) -> Any:
    """Return an unfitted estimator with the settings that the model was trained with."""
    make = ESTIMATOR_FACTORIES.get(getattr(model, "type_name", ""))
    if make is None or getattr(model, "stated", False):
        raise errors.Unsupported(
            f"It is not known how {type(model).__name__} was trained, so it cannot be trained on fewer rows."
        )
    return make(model)


def _column_kinds(model: Any) -> Any:
    """Return the column kinds that were inferred in training."""
    schema = model.schema
    if schema.made:
        raise errors.Unsupported(
            "A report cannot compute derived columns again, so it has no learning curve."
        )
    if schema.is_uniform:
        return schema.kinds[0]
    # A regression standardises by a rule of its own, which its numbers state here.
    scaling = getattr(getattr(model, "fit", None), "scaling", None)
    number = Number(scale="auto") if scaling == "auto" else Value()
    pairs = zip(schema.names, schema.kinds, strict=True)
    return {name: number if isinstance(kind, Value) else kind for name, kind in pairs}


def _make_naive_bayes(model: Any) -> Any:
    settings = {"prior": model.prior, "class_prior": model.class_prior, "complement": model.complement}
    return NaiveBayes(columns=_column_kinds(model), **settings)


def _make_joint_bayes(model: Any) -> Any:
    return JointBayes(prior=model.prior, class_prior=model.class_prior)


def _make_perceptron(model: Any) -> Any:
    passes = model.certificate.passes
    settings = {"keep": model.kept, "rate": model.rate, "max_iter": passes}
    return Perceptron(columns=_column_kinds(model), scale=None, **settings)


def _make_logistic(model: Any) -> Any:
    columns, scale = _column_kinds(model), _unit_scale(model.fit)
    return LogisticRegression(_make_penalty(model.fit), model.fit.method, columns=columns, scale=scale)


def _make_linear(model: Any) -> Any:
    noise = "laplace" if model.fit.loss == "absolute" else "normal"
    columns, scale = _column_kinds(model), _unit_scale(model.fit)
    return LinearRegression(_make_penalty(model.fit), noise, columns=columns, scale=scale)


def _unit_scale(fit: Any) -> str | None:
    """Return the scale of a regression if its columns' kinds do not state it."""
    return "unit" if fit.scaling == "unit" else None


def _make_penalty(fit: Any) -> Penalty | None:
    l1, l2 = (fit.l1, fit.l2) if fit.units is None else fit.units
    if l1 is None or l2 is None:
        raise errors.Unsupported("Features have different penalties, which the model does not store.")
    return Penalty(l1=l1, l2=l2) if l1 or l2 else None


ESTIMATOR_FACTORIES: dict[str, Callable[[Any], Any]] = {
    "naive-bayes": _make_naive_bayes,
    "joint-bayes": _make_joint_bayes,
    "perceptron": _make_perceptron,
    "voted": _make_perceptron,
    "logistic": _make_logistic,
    "regression": _make_linear,
    "threshold": lambda model: Threshold(),
}
