"""Calibrating a model: rows that it has not seen say how sure it may be."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.isotonic import IsotonicRegression

from weigh import errors
from weigh.features.blocks import Floats
from weigh.learn.calibration import (
    CalibrationData,
    CalibrationFit,
    ClassCodes,
    fit_platt,
    fit_temperature,
    smoothed_error_rate,
)
from weigh.model import CalibratedModel, Isotonic, Model, RegressionModel
from weigh.model.calibration import (
    CALIBRATION_METHODS,
    Calibration,
    IsotonicCurve,
    log_odds,
    n_isotonic_curves,
)
from weigh.model.count_model import CountModel
from weigh.source import Chunk, Source
from weigh.source import rows as rows_of
from weigh.source.chunk import to_pylist

DERIVATIVE_TOLERANCE = 1e-8  # what a derivative of the loss per row may be at its minimum


def calibrate(
    model: Any,
    data: Any,
    y: Any = None,
    *,
    method: str = "temperature",
    label: str | None = None,
    sample_weight: Any = None,
) -> CalibratedModel:
    """Return a classifier whose probabilities agree with the labels of rows it has not seen.

    Naive Bayes is over-sure where its columns depend on each other; a perceptron has no probabilities at
    all. A map from scores to probabilities, fitted to labelled rows, sets both right and is kept in the
    model file. Training rows would not do: on them a model is better than it is.

    Parameters
    ----------
    model : a classifier of this library, or an estimator that holds one
        Of a model that is calibrated already the old calibration is dropped.
    data : rows as `fit` takes them, or a source, none of which the model was trained on
    y : array of labels, or the name of the label column, or None
        None takes the source's own labels, else the column that the model was trained to predict.
    method : "temperature", "platt" or "isotonic"
        Temperature divides all scores by one number and changes no verdict. Platt's logistic curve also
        shifts every class. Isotonic is any rising curve, which wants a thousand rows or more.
    label : name of the label column, the same as a name given as `y`
    sample_weight : array of weights, one per row, or None

    Examples
    --------
    >>> import weigh
    >>> model = weigh.NaiveBayes(columns="category").fit([["a", "a"], ["b", "b"]], [1, 2]).model_
    >>> weigh.calibrate(model, [["a", "a"], ["a", "a"], ["b", "b"]], [1, 2, 2]).calibration.T > 1
    True
    """
    check_calibration_method(method, "calibrate")
    if y is not None and label is not None:
        raise errors.parameter_error("calibrate", "label", "left out when y is given", label)
    inner = _unwrap_classifier(model)
    source = _labelled_source(inner, data, label if y is None else y, sample_weight)
    rows = _score_rows(inner, source.with_missing(inner.schema.missing))
    if isinstance(inner, CountModel) and _are_training_rows(inner, source, rows):
        warnings.warn(
            "The model has learned these very rows, on which it is better than it is. Give rows that it has "
            "not seen, or fit naive Bayes with calibration=, which forgets each row in turn.",
            errors.SeenRows,
            stacklevel=2,
        )
    return fit_calibrated_model(inner, rows, method)


def calibrate_leave_one_out(model: CountModel, source: Source, method: str) -> CalibratedModel:
    """Return a model calibrated on the rows it has learned, each scored as if it had been forgotten.

    A row of weight 2 counts as two rows, of which one is forgotten. A row that is all of its class tells
    nothing, for without it the class is not there.
    """
    places = {label: code for code, label in enumerate(model.classes)}

    def scored(chunk: Chunk) -> tuple[Floats, ClassCodes, Floats]:
        codes, weights = encode_labels(chunk, places)
        scores = model.leave_one_out_chunk(replace(chunk, weights=np.minimum(weights, 1.0)))
        return scores, codes, weights

    rows = _concatenate_parts(model.map_chunks(scored, source))
    own = rows.scores[np.arange(len(rows.codes)), rows.codes]
    kept = ~(np.isneginf(own) & (np.isneginf(rows.scores).sum(axis=1) == 1))
    if not (rows.weights[kept] > 0).any():
        raise errors.DataError(
            "No class has more than one sample, so that no row can be judged by the others. Give more rows, "
            "or leave calibration out."
        )
    return fit_calibrated_model(model, rows.select_rows(kept), method)


def check_calibration_method(method: object, owner: str, name: str = "method", or_none: str = "") -> None:
    """Refuse a method that does not exist."""
    if method not in CALIBRATION_METHODS:
        must = f"{or_none}{', '.join(map(repr, CALIBRATION_METHODS[:-1]))} or {CALIBRATION_METHODS[-1]!r}"
        raise errors.parameter_error(owner, name, must, method)


def fit_calibrated_model(model: Model, rows: CalibrationData, method: str) -> CalibratedModel:
    """Return a model with the map that its scores of labelled rows call for."""
    wrong = ~np.isfinite(rows.scores).all(axis=1) & (rows.weights > 0)
    if wrong.any():
        raise errors.Unsupported(
            f"Row {int(np.argmax(wrong)):,} has probability 0 in some class, which no calibration changes. "
            f"Train with a prior above 0 (prior=1)."
        )
    rows = rows.select_rows(rows.weights > 0)
    return CalibratedModel(model, _FIT_BY_METHOD[method](rows), rows.class_frequencies())


def _unwrap_classifier(given: Any) -> Model:
    model = getattr(given, "model_", given)
    model = getattr(model, "uncalibrated", model)
    if isinstance(model, RegressionModel):
        raise errors.Unsupported(
            "calibrate corrects probabilities of classes, and a regression predicts numbers. How sure it is "
            "of them: model.predict(rows, return_std=True)."
        )
    if not isinstance(model, Model):
        raise errors.Unsupported(
            f"calibrate takes a trained classifier of weigh, got {type(given).__name__}. Others are "
            f"calibrated by scikit-learn's CalibratedClassifierCV."
        )
    return model


def _labelled_source(model: Model, data: Any, y: Any, sample_weight: Any) -> Source:
    if y is None and isinstance(data, Source) and (data.label or data.prefix(1).labels is not None):
        return data
    y = model.label if y is None else y
    if y is None:
        raise errors.LabelError(
            "The rows have no labels to calibrate by. Give y: one label per row, or its column."
        )
    return rows_of(data, y, sample_weight, missing=model.schema.missing)


def _score_rows(model: Model, source: Source) -> CalibrationData:
    """Read labelled rows and keep their scores: as many numbers as rows times classes."""
    places = {label: code for code, label in enumerate(model.classes)}

    def scored(chunk: Chunk) -> tuple[Floats, ClassCodes, Floats]:
        return model.compute_scores(chunk), *encode_labels(chunk, places)

    return _concatenate_parts(model.map_chunks(scored, source))


def _are_training_rows(model: CountModel, source: Source, rows: CalibrationData) -> bool:
    # Rows of other numbers are others: only where they agree is the source read once more.
    return np.array_equal(rows.class_totals, model.counts.rows) and model.has_learned(source) is True


def _concatenate_parts(parts: Iterable[tuple[Floats, ClassCodes, Floats]]) -> CalibrationData:
    return CalibrationData(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def encode_labels(chunk: Chunk, places: dict[Any, int]) -> tuple[ClassCodes, Floats]:
    """Return the class number and the weight of every row of a chunk."""
    labels = to_pylist(chunk.labels)
    weights = np.ones(len(labels)) if chunk.weights is None else np.asarray(chunk.weights, np.float64)
    codes = np.array([places.get(label, -1) for label in labels], dtype=np.intp)
    unknown = np.flatnonzero((codes < 0) & (weights > 0))
    if len(unknown):
        raise errors.LabelError(
            f"The rows have the label {labels[unknown[0]]!r}, which is no class of the model; it has "
            f"{errors.quote_names(places)}. Leave such rows out."
        )
    return codes, weights


def _warn_unless_converged(
    fit: Callable[[CalibrationData], CalibrationFit],
) -> Callable[[CalibrationData], Calibration]:
    def fitted(rows: CalibrationData) -> Calibration:
        found = fit(rows)
        if found.derivative is None:
            warnings.warn(
                "The model's scores say nothing of the labels of these rows, or the opposite, so that its "
                "probabilities were made nearly equal. Look at weigh.evaluate(model, rows).",
                errors.UselessScores,
                stacklevel=4,
            )
        elif found.derivative > DERIVATIVE_TOLERANCE:
            warnings.warn(
                f"The calibration stopped where the loss still changes by {found.derivative:.1g} per row. "
                f"Give rows whose scores differ less in size.",
                errors.NotOptimal,
                stacklevel=4,
            )
        return found.map

    return fitted


def _fit_isotonic(rows: CalibrationData) -> Isotonic:
    """Fit a rising curve to each class against all others, with the same smoothed targets."""
    odds, classes = log_odds(rows.scores), rows.scores.shape[1]
    curves = []
    for c in range(classes - n_isotonic_curves(classes), classes):
        own = rows.class_totals[c]
        doubts = smoothed_error_rate(np.array([own, rows.class_totals.sum() - own]), classes)
        targets = np.where(rows.codes == c, 1.0 - doubts[0], doubts[1])
        found = IsotonicRegression().fit(odds[:, c], targets, rows.weights)
        curves.append(IsotonicCurve(tuple(found.X_thresholds_.tolist()), tuple(found.y_thresholds_.tolist())))
    return Isotonic(tuple(curves))


_FIT_BY_METHOD: dict[str, Callable[[CalibrationData], Calibration]] = {
    "temperature": _warn_unless_converged(fit_temperature),
    "platt": _warn_unless_converged(fit_platt),
    "isotonic": _fit_isotonic,
}
