"""Calibration of a classifier's probabilities on held-out or leave-one-out scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.isotonic import IsotonicRegression

from weigh import errors
from weigh.advice import Setting, Step
from weigh.deduplicated_warnings import warn
from weigh.features.blocks import Floats
from weigh.learn.calibration import (
    CalibrationData,
    CalibrationFit,
    ClassCodes,
    fit_platt,
    fit_temperature,
    smoothed_error_rate,
)
from weigh.model.base import Model
from weigh.model.calibrated import CalibratedModel
from weigh.model.calibration import (
    Calibration,
    Isotonic,
    IsotonicCurve,
    log_odds,
    n_isotonic_curves,
)
from weigh.model.count_model import CountModel
from weigh.model.regression import RegressionModel
from weigh.parameters import OneOf
from weigh.parameters.learners import CALIBRATION_METHODS
from weigh.source.base import Source
from weigh.source.chunk import Chunk, to_pylist
from weigh.source.memory.table import rows as rows_of

DERIVATIVE_TOLERANCE = 1e-8  # of the loss per row at its minimum


def calibrate(
    model: Any,
    data: Any,
    y: Any = None,
    *,
    method: str = "temperature",
    label: str | None = None,
    sample_weight: Any = None,
) -> CalibratedModel:
    """Return a classifier whose probabilities are calibrated on rows it has not seen.

    Naive Bayes is overconfident if its columns depend on each other, and a perceptron has no probabilities at
    all. A map from scores to probabilities, fitted to labelled rows and saved with the model, corrects both.
    Do not use the training rows, on which a model looks better than it is.

    Parameters
    ----------
    model : a classifier of this library, or an estimator that holds one
        An existing calibration is replaced.
    data : rows as for `fit`, or a source; none of the rows the model was trained on
    y : array of labels, or the name of the label column, or None
        None uses the labels of the source, otherwise the column that the model was trained to predict.
    method : "temperature", "platt" or "isotonic"
        "temperature" divides all scores by one number, which changes no prediction. "platt" also shifts the
        score of each class. "isotonic" fits any increasing curve and needs a thousand rows or more.
    label : name of the label column; the same as a name given as `y`
    sample_weight : array of weights, one per row, or None

    Examples
    --------
    >>> import weigh
    >>> model = weigh.NaiveBayes(columns="category").fit([["a", "a"], ["b", "b"]], [1, 2]).model_
    >>> weigh.calibrate(model, [["a", "a"], ["a", "a"], ["b", "b"]], [1, 2, 2]).calibration.T > 1
    True
    """
    OneOf(CALIBRATION_METHODS).check("calibrate", "method", method)
    if y is not None and label is not None:
        raise errors.parameter_error("calibrate", "label", "left out when y is given", label)
    inner = _unwrap_classifier(model)
    source = _labelled_source(inner, data, label if y is None else y, sample_weight)
    rows = _score_rows(inner, source.with_missing(inner.schema.missing))
    if isinstance(inner, CountModel) and _are_training_rows(inner, source, rows):
        warn(
            errors.SeenRows(
                "The model was trained on these very rows, on which it looks better than it is.",
                hint=(
                    "Give rows that it has not seen, or fit naive Bayes with ",
                    Setting("calibration"),
                    ", which uses leave-one-out scores.",
                ),
            )
        )
    return fit_calibrated_model(inner, rows, method)


def fit_calibrated_model(model: Model, data: CalibrationData, method: str) -> CalibratedModel:
    """Fit a calibration map to the scores of labelled rows and return the calibrated model."""
    is_infinite = data.has_zero_probability() & (data.weights > 0)
    if is_infinite.any():
        raise errors.Unsupported(
            f"Row {int(np.argmax(is_infinite)):,} has probability 0 in some class, which calibration cannot "
            "change.",
            hint=("Train with a prior above 0 (", Setting("prior", 1), ")."),
        )
    data = data.select_rows(data.weights > 0)
    return CalibratedModel(model, _FIT_BY_METHOD[method](data), data.class_frequencies())


def _unwrap_classifier(learner: Any) -> Model:
    """Return the uncalibrated classifier of a model or estimator."""
    model = getattr(learner, "model_", learner)
    model = getattr(model, "uncalibrated", model)
    if isinstance(model, RegressionModel):
        raise errors.Unsupported(
            "calibrate corrects class probabilities, but a regression predicts numbers.",
            hint=Step("standard deviation", "How sure it is of them: model.predict(rows, return_std=True)."),
        )
    if not isinstance(model, Model):
        raise errors.Unsupported(
            f"calibrate takes a trained classifier of weigh, got {type(learner).__name__}. For other "
            f"classifiers use scikit-learn's CalibratedClassifierCV."
        )
    return model


def _labelled_source(model: Model, data: Any, y: Any, sample_weight: Any) -> Source:
    if y is None and isinstance(data, Source) and (data.label or data.prefix(1).labels is not None):
        return data
    y = model.label if y is None else y
    if y is None:
        raise errors.LabelError(
            "The rows have no labels to calibrate on. Give y: one label per row, or the name of the label "
            "column."
        )
    return rows_of(data, y, sample_weight, missing=model.schema.missing)


def _score_rows(model: Model, source: Source) -> CalibrationData:
    """Score labelled rows; needs memory for n × C scores."""
    class_codes = {label: code for code, label in enumerate(model.classes)}

    def score(chunk: Chunk) -> tuple[Floats, ClassCodes, Floats]:
        return model.score_chunk(chunk), *encode_labels(chunk, class_codes)

    return concatenate_scores(model.map_chunks(score, source))


def _are_training_rows(model: CountModel, source: Source, data: CalibrationData) -> bool:
    # Different class totals rule it out cheaply; only otherwise is the source read again.
    return np.array_equal(data.class_totals, model.counts.rows) and model.has_learned(source) is True


def concatenate_scores(parts: Iterable[tuple[Floats, ClassCodes, Floats]]) -> CalibrationData:
    """Return the scores, class codes and weights of all chunks."""
    return CalibrationData(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def encode_labels(chunk: Chunk, class_codes: dict[Any, int]) -> tuple[ClassCodes, Floats]:
    """Return the class codes [n] and weights [n] of a chunk."""
    labels = to_pylist(chunk.labels)
    weights = np.ones(len(labels)) if chunk.weights is None else np.asarray(chunk.weights, np.float64)
    codes = np.array([class_codes.get(label, -1) for label in labels], dtype=np.intp)
    unknown = np.flatnonzero((codes < 0) & (weights > 0))
    if len(unknown):
        if labels[unknown[0]] is None:
            row = chunk.row_number(int(unknown[0]))
            raise errors.LabelError(
                f"Row {row:,} (the first is 0) has no label.", hint=errors.DROP_MISSING_LABELS
            )
        raise errors.LabelError(
            f"The rows have the label {labels[unknown[0]]!r}, which is not a class of the model; it has "
            f"{errors.quote_names(class_codes)}. Leave such rows out."
        )
    return codes, weights


def _warn_unless_converged(
    fit: Callable[[CalibrationData], CalibrationFit],
) -> Callable[[CalibrationData], Calibration]:
    """Wrap a fit so that it returns the map and warns if the fit is useless or not optimal."""

    def fit_map(data: CalibrationData) -> Calibration:
        result = fit(data)
        if result.derivative is None:
            warn(
                errors.UselessScores(
                    "The model's scores are unrelated or opposite to the labels of these rows, so its "
                    "probabilities were made nearly equal.",
                    hint=Step("evaluation", "Look at weigh.evaluate(model, rows)."),
                )
            )
        elif result.derivative > DERIVATIVE_TOLERANCE:
            warn(
                errors.NotOptimal(
                    "The calibration did not converge: the derivative of the loss per row is "
                    f"{result.derivative:.1g}.",
                    hint="Give rows whose scores differ less in magnitude.",
                )
            )
        return result.map

    return fit_map


def _fit_isotonic(data: CalibrationData) -> Isotonic:
    """Fit an increasing curve for each class against all others, with the same smoothed targets."""
    odds, n_classes = log_odds(data.scores), data.scores.shape[1]
    curves = []
    for c in range(n_classes - n_isotonic_curves(n_classes), n_classes):
        total = data.class_totals[c]
        error_rates = smoothed_error_rate(np.array([total, data.class_totals.sum() - total]), n_classes)
        targets = np.where(data.codes == c, 1.0 - error_rates[0], error_rates[1])
        curve = IsotonicRegression().fit(odds[:, c], targets, data.weights)
        curves.append(IsotonicCurve(tuple(curve.X_thresholds_.tolist()), tuple(curve.y_thresholds_.tolist())))
    return Isotonic(tuple(curves))


_FIT_BY_METHOD: dict[str, Callable[[CalibrationData], Calibration]] = {
    "temperature": _warn_unless_converged(fit_temperature),
    "platt": _warn_unless_converged(fit_platt),
    "isotonic": _fit_isotonic,
}
