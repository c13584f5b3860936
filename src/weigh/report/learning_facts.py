"""The learning curve: how the losses fall as rows grow, and what that means."""

from __future__ import annotations

from collections.abc import Callable
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
from weigh.priors import Penalty
from weigh.report.wording import share
from weigh.source import Source
from weigh.text import counted, short
from weigh.trials import LearningCurve, learning_curve
from weigh.trials.curves.diagnosis import SAYS

FOLDS = 5
WORDS = {"zero_one": "share of errors", "squared_error": "mean squared error"}


@dataclass(frozen=True)
class CurvePoint:
    """The loss of one series at one size, with its band where one is known."""

    series: str
    rows: float
    loss: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class LearningFacts:
    """The points of the curve, the diagnosis in words, and what to do about it."""

    loss: str
    verdict: str
    sentence: str
    advice: str
    points: tuple[CurvePoint, ...]


def learning_facts(
    model: Any, data: Any, y: Any, label: str | None, say: Callable[[str], None]
) -> LearningFacts:
    """Learn parts of the training rows as the model did, and measure the loss on the rest."""
    learner = learner_of(model)
    name = label or (None if isinstance(data, Source) else model.label)

    def progress(done: int, total: int) -> None:
        say(f"Learning curve, {done} of {total} folds")

    found = learning_curve(learner, data, name if y is None else y, folds=FOLDS, repeats=1, progress=progress)
    return _facts(found)


def _facts(found: LearningCurve) -> LearningFacts:
    curve = found.curves[0]
    points = tuple(
        CurvePoint(words, float(point.rows), measure.value, *_band(measure))
        for part, words in (("validation", "rows held out"), ("train", "rows learned from"))
        for point in curve.points
        for measure in [getattr(point, part)]
    )
    told = curve.diagnosis
    write = share if found.loss == "zero_one" else short
    sentence = (
        f"{told.verdict.capitalize()}: {SAYS[told.verdict]}. After {counted(told.rows, 'row')} the "
        f"{WORDS.get(found.loss, found.loss)} is {write(told.train.value)} on the rows learned from and "
        f"{write(told.validation.value)} on rows held out."
    )
    is_clear = told.verdict in ("overfitting", "underfitting", "both") or told.rows_help == "yes"
    advice = told.advice[0] if told.advice and is_clear else ""
    return LearningFacts(WORDS.get(found.loss, found.loss), told.verdict, sentence, advice, points)


def _band(measure: Any) -> tuple[float | None, float | None]:
    return (None, None) if measure.low != measure.low else (measure.low, measure.high)


def learner_of(model: Any) -> Any:
    """Return an untrained estimator with the settings that a model was learned with."""
    make = _LEARNERS.get(getattr(model, "type_name", ""))
    if make is None or getattr(model, "stated", False):
        raise errors.Unsupported(
            f"How {type(model).__name__} was learned is not known, so it cannot be learned again from fewer "
            f"rows."
        )
    return make(model)


def _columns(model: Any) -> Any:
    """The kinds of the columns, as they were found in training."""
    schema = model.schema
    if schema.made:
        raise errors.Unsupported("Columns that were derived by functions are not learned again by a report.")
    return schema.kinds[0] if schema.is_uniform else dict(zip(schema.names, schema.kinds, strict=True))


def _naive(model: Any) -> Any:
    settings = {"prior": model.prior, "class_prior": model.class_prior, "complement": model.complement}
    return NaiveBayes(columns=_columns(model), **settings)


def _joint(model: Any) -> Any:
    return JointBayes(prior=model.prior, class_prior=model.class_prior)


def _perceptron(model: Any) -> Any:
    passes = model.certificate.passes
    return Perceptron(columns=_columns(model), keep=model.kept, rate=model.rate, max_iter=passes)


def _logistic(model: Any) -> Any:
    return LogisticRegression(columns=_columns(model), prior=_penalty(model.fit), method=model.fit.method)


def _linear(model: Any) -> Any:
    noise = "laplace" if model.fit.loss == "absolute" else "normal"
    return LinearRegression(columns=_columns(model), prior=_penalty(model.fit), noise=noise)


def _penalty(fit: Any) -> Penalty | None:
    if fit.l1 is None or fit.l2 is None:
        raise errors.Unsupported("Features have different penalties, which are not known one by one.")
    return Penalty(l1=fit.l1, l2=fit.l2) if fit.l1 or fit.l2 else None


_LEARNERS: dict[str, Callable[[Any], Any]] = {
    "naive-bayes": _naive,
    "joint-bayes": _joint,
    "perceptron": _perceptron,
    "voted": _perceptron,
    "logistic": _logistic,
    "regression": _linear,
    "threshold": lambda model: Threshold(),
}
