"""A common interface to the classifiers and regressions that are evaluated, ours or scikit-learn's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh import errors
from weigh.judge.metrics.losses import UNSEEN, Codes, Floats
from weigh.model.decision import best_class, log_softmax
from weigh.model.regression import RegressionModel

MIN_PRECISE_PROBABILITY = 1e-290
PROBABILITY_TOLERANCE = 1e-4  # of a sum of probabilities: many classes may be stored in single precision
MAX_SHOWN_VALUES = 4


@dataclass(frozen=True, eq=False)
class ClassPredictions:
    """Predicted class codes [n]; log p(y | x), p(y | x) and log p(x, y), [n, C], if the model has them.

    `scores` [n, C] rank the rows if there are no probabilities: a higher score favours the class.
    """

    predictions: Codes
    log_posterior: Floats | None = None
    log_joint: Floats | None = None
    posterior: Floats | None = None
    scores: Floats | None = None

    def check_probabilities(self, first: int) -> None:
        """Raise DataError for invalid probabilities or nan scores; rows count from `first`."""
        if self.posterior is not None:
            is_nonnegative = (self.posterior >= -PROBABILITY_TOLERANCE).all(axis=1)
            sums_to_one = np.abs(self.posterior.sum(axis=1) - 1.0) <= PROBABILITY_TOLERANCE
            is_valid, must = is_nonnegative & sums_to_one, "shares that sum to 1"
            check_outputs("classifier", "probabilities", self.posterior, is_valid, must, first)
        if self.scores is not None:
            is_valid = ~np.isnan(self.scores).any(axis=1)
            check_outputs("classifier", "scores", self.scores, is_valid, "numbers", first)

    def take(self, rows: Codes) -> ClassPredictions:
        """Return the predictions for the given row indices."""
        tables = (self.log_posterior, self.log_joint, self.posterior, self.scores)
        return ClassPredictions(
            self.predictions[rows], *(None if table is None else table[rows] for table in tables)
        )


def check_outputs(who: str, what: str, table: Floats, is_valid: Any, must: str, first: int) -> None:
    """Raise DataError for the first row of a model's output [n, k] that is not valid."""
    if not is_valid.all():
        row = int(np.argmin(is_valid))
        shown = ", ".join(f"{number:.4g}" for number in table[row, :MAX_SHOWN_VALUES].tolist())
        more = ", …" if table.shape[1] > MAX_SHOWN_VALUES else ""
        raise errors.DataError(
            f"The {who} gave row {first + row:,} (the first is 0) the {what} {shown}{more}; they must be "
            f"{must}. Fix the {who}, or leave such rows out."
        )


@dataclass(frozen=True, eq=False)
class Predictor:
    """The model under evaluation: its classes, its label column and its prediction function.

    `classes` maps each class to its code, the column index of the scores; it is empty for a regression, whose
    `predict` returns one number per row. `reads_chunks` says whether `predict` takes chunks of a source or
    the rows as given; `has_named_columns` whether the model was trained on named columns and expects them
    again. `kinds`, `schema`, `storage` and `missing` say how a source must read its columns to match the
    training data. `has_pairwise_scores` marks one-vs-one scores, which cannot rank the rows of a class.
    """

    classes: dict[Any, int]
    label: str | None
    reads_chunks: bool
    predict: Callable[[Any], Any]
    has_named_columns: bool = False
    kinds: Mapping[str, str] | None = None
    schema: Any = None
    missing: tuple[Any, ...] = ()
    storage: Mapping[str, str] = field(default_factory=dict)
    has_pairwise_scores: bool = False


def encode_labels(classes: dict[Any, int], labels: Sequence[Any]) -> npt.NDArray[np.int64]:
    """Return the code of each label, `UNSEEN` for labels that are not a class of the model."""
    try:
        codes = [classes.get(label, UNSEEN) for label in labels]
    except TypeError:
        raise errors.LabelError(
            "A row has several labels, or a label that is a list; evaluate takes one label per "
            "row. Evaluate one model per label."
        ) from None
    return np.array(codes, dtype=np.int64)


def make_predictor(model: Any) -> Predictor:
    """Return the predictor of a model or estimator of this library, or of a scikit-learn estimator."""
    fitted = getattr(model, "model_", model)
    if isinstance(fitted, RegressionModel):
        return _library_predictor(fitted, {}, fitted.predict)
    if hasattr(fitted, "classes") and (hasattr(fitted, "log_proba") or hasattr(fitted, "predict")):
        return _model_predictor(fitted)
    if hasattr(model, "classes_") and hasattr(model, "predict"):
        return _sklearn_predictor(model)
    if is_regression(model):
        return Predictor({}, None, False, model.predict, hasattr(model, "feature_names_in_"))
    raise errors.Unsupported(
        f"evaluate needs a trained classifier or regression, got {type(model).__name__} without classes. "
        "Fit it first."
    )


def is_regression(model: Any) -> bool:
    """Return whether a model or estimator, of this library or scikit-learn's, is a regression."""
    if isinstance(getattr(model, "model_", model), RegressionModel):
        return True
    if not hasattr(model, "__sklearn_tags__") or isinstance(model, type):
        return getattr(model, "_estimator_type", None) == "regressor"
    return bool(model.__sklearn_tags__().estimator_type == "regressor")


def _model_predictor(model: Any) -> Predictor:
    classes = {value: code for code, value in enumerate(to_python_list(model.classes))}
    tie = getattr(model, "tie", "first")

    def predict(rows: Any) -> ClassPredictions:
        if hasattr(model, "scores"):
            scores = model.scores(rows)
            if not getattr(model, "has_probabilities", True):
                return ClassPredictions(model.best(scores), scores=_score_leads(scores))
            # If all scores of a row are infinite, `log_proba` raises the model's own error.
            is_finite = np.isfinite(scores.max(axis=1)).all()
            log_posterior = log_softmax(scores) if is_finite else model.log_proba(rows)
            log_joint = scores if getattr(model, "is_generative", True) else None
            return ClassPredictions(best_class(scores, tie), log_posterior, log_joint, np.exp(log_posterior))
        if hasattr(model, "log_proba"):
            log_posterior = model.log_proba(rows)
            return ClassPredictions(
                best_class(log_posterior, tie), log_posterior, posterior=np.exp(log_posterior)
            )
        return ClassPredictions(encode_labels(classes, to_python_list(model.predict(rows))))

    return _library_predictor(model, classes, predict)


def _library_predictor(model: Any, classes: dict[Any, int], predict: Callable[[Any], Any]) -> Predictor:
    """Return the predictor of a model of this library, which reads sources in the model's schema."""
    schema = getattr(model, "schema", None)
    kinds, missing = (None, ()) if schema is None else (schema.kinds_by_column, schema.missing)
    label, storage = getattr(model, "label", None), getattr(model, "storage", {})
    return Predictor(
        classes, label, True, predict, kinds=kinds, schema=schema, missing=missing, storage=storage
    )


def _sklearn_predictor(model: Any) -> Predictor:
    who = type(model).__name__
    values = to_python_list(model.classes_) if np.ndim(model.classes_) else []
    if any(isinstance(value, list | np.ndarray) for value in values):
        raise errors.Unsupported(
            f"{who} predicts several labels per row; evaluate takes one label "
            "per row. Evaluate one model per label."
        )
    classes = {value: code for code, value in enumerate(values)}
    if not classes or len(classes) < len(values):
        raise errors.Unsupported(
            f"{who} has the classes {errors.one_line_repr(model.classes_)}; evaluate takes a classifier with "
            "one or more distinct classes."
        )
    is_pairwise = len(classes) > 2 and _is_one_vs_one(model)

    def predict(rows: Any) -> ClassPredictions:
        n = row_count(rows)
        predictions = encode_labels(classes, to_python_list(to_row_array(model.predict(rows), n, who)))
        if hasattr(model, "predict_proba"):
            posterior = to_row_matrix(model.predict_proba(rows), n, len(classes), who, "probabilities")
            return ClassPredictions(
                predictions, _log_probabilities(model, rows, posterior), posterior=posterior
            )
        if hasattr(model, "predict_log_proba"):
            log_posterior = to_row_matrix(
                model.predict_log_proba(rows), n, len(classes), who, "log-probabilities"
            )
            return ClassPredictions(predictions, log_posterior, posterior=np.exp(log_posterior))
        return ClassPredictions(
            predictions, scores=None if is_pairwise else _decision_scores(model, rows, len(classes))
        )

    has_names = hasattr(model, "feature_names_in_")
    return Predictor(classes, None, False, predict, has_names, has_pairwise_scores=is_pairwise)


def _log_probabilities(model: Any, rows: Any, posterior: Floats) -> Floats:
    """Return log p(y | x), from predict_log_proba if probabilities are close to underflow."""
    # A zero probability is reported as an infinite loss and a negative one as an error: no warning is needed.
    with np.errstate(divide="ignore", invalid="ignore"):
        if posterior.min() < MIN_PRECISE_PROBABILITY and hasattr(model, "predict_log_proba"):
            return np.asarray(model.predict_log_proba(rows), np.float64)
        return np.log(posterior)


def _decision_scores(model: Any, rows: Any, n_classes: int) -> Floats | None:
    """Return decision scores [n, C], or None if the classifier does not give one per class."""
    if not hasattr(model, "decision_function"):
        return None
    scores, n = model.decision_function(rows), row_count(rows)
    if n_classes == 2 and np.shape(scores) != (n, 2):
        decision = to_row_numbers(scores, n, type(model).__name__, "scores")
        return np.column_stack([-decision, decision])
    # Any other number of columns means one-vs-one scores or a convention of the classifier.
    return np.asarray(scores, np.float64) if np.shape(scores) == (n, n_classes) else None


def _is_one_vs_one(model: Any) -> bool:
    """Return whether a classifier, or one inside it, has decision_function_shape="ovo".

    The number of columns does not show it: three classes have three pairs.
    """
    model = getattr(model, "best_estimator_", model)
    params = model.get_params() if hasattr(model, "get_params") else {}
    return any(
        name.split("__")[-1] == "decision_function_shape" and value == "ovo" for name, value in params.items()
    )


def _score_leads(scores: Floats) -> Floats:
    """Return score differences for two classes; more classes are unchanged."""
    return scores - scores[:, ::-1] if scores.shape[1] == 2 else scores


def row_count(rows: Any) -> int:
    """Return the number of rows of a table or sequence; raises DataError if it has no length."""
    if hasattr(rows, "shape") and len(rows.shape):
        return int(rows.shape[0])
    if not hasattr(rows, "__len__"):
        raise errors.DataError(
            f"Expected rows or labels that have a length, got {type(rows).__name__}. Give a table or an "
            f"array."
        )
    return len(rows)


def to_python_list(values: Any) -> list[Any]:
    """Convert a NumPy, pandas, polars or Arrow array, or any sequence, to a list of Python values."""
    for method in ("to_pylist", "tolist", "to_list"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


def to_row_array(values: Any, n: int, who: str, what: str = "predictions") -> npt.NDArray[Any]:
    """Return a model's output as an array [n]; raises DataError unless its shape is [n] or [n, 1]."""
    array = _to_array(values)
    if array.shape not in ((n,), (n, 1)):
        raise output_error(who, what, values, f"one for each of the {n:,} rows")
    return array.reshape(n)


def to_row_numbers(values: Any, n: int, who: str, what: str = "predictions") -> Floats:
    """Return a model's output as numbers [n]; raises DataError for anything else."""
    array = to_row_array(values, n, who, what)
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        raise output_error(who, what, array, "numbers") from None


def to_row_matrix(values: Any, n: int, n_columns: int, who: str, what: str) -> Floats:
    """Return a model's output as numbers [n, n_columns]; raises DataError for anything else."""
    try:
        table = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.shape != (n, n_columns):
        raise output_error(who, what, values, f"numbers, {n_columns:,} for each of the {n:,} rows")
    return table


def _to_array(values: Any) -> npt.NDArray[Any]:
    if hasattr(values, "shape") or hasattr(values, "__array__") or not isinstance(values, list | tuple):
        return np.asarray(values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def output_error(who: str, what: str, values: Any, must: str) -> errors.DataError:
    """Return the error for model output of the wrong shape or type."""
    shape = f" of shape {np.shape(values)}" if hasattr(values, "shape") else ""
    return errors.DataError(
        f"The {what} of {who} are {errors.one_line_repr(values, 60)}{shape}; they must be {must}. "
        "Fix the learner."
    )
