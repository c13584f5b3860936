"""The classifier or regression being judged, whoever made it: what it answers for a batch of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh import errors
from weigh.judge.metrics.losses import UNSEEN, Codes, Floats
from weigh.model import RegressionModel
from weigh.model.decision import best_class, log_softmax

MIN_PRECISE_PROBABILITY = 1e-290
PROBABILITY_TOLERANCE = 1e-4  # of a sum of probabilities: those of many classes may be kept in few digits
MAX_SHOWN_VALUES = 4


@dataclass(frozen=True, eq=False)
class ClassPredictions:
    """Predictions as codes [n]; log p(y | x), p(y | x) and log p(x, y), [n, C], where the model has them.

    `scores` [n, C] rank rows where there are no probabilities: the higher, the more the class is meant.
    """

    predictions: Codes
    log_posterior: Floats | None = None
    log_joint: Floats | None = None
    posterior: Floats | None = None
    scores: Floats | None = None

    def check_probabilities(self, first: int) -> None:
        """Refuse probabilities that are none and scores that are no numbers; rows count from `first`."""
        if self.posterior is not None:
            is_share = (self.posterior >= -PROBABILITY_TOLERANCE).all(axis=1)
            is_whole = np.abs(self.posterior.sum(axis=1) - 1.0) <= PROBABILITY_TOLERANCE
            is_fit = is_share & is_whole
            check_outputs(
                "classifier", "probabilities", self.posterior, is_fit, "shares that sum to 1", first
            )
        if self.scores is not None:
            is_fit = ~np.isnan(self.scores).any(axis=1)
            check_outputs("classifier", "scores", self.scores, is_fit, "numbers", first)

    def take(self, rows: Codes) -> ClassPredictions:
        """The answers for some of the rows."""
        tables = (self.log_posterior, self.log_joint, self.posterior, self.scores)
        return ClassPredictions(
            self.predictions[rows], *(None if each is None else each[rows] for each in tables)
        )


def check_outputs(who: str, what: str, table: Floats, is_fit: Any, must: str, first: int) -> None:
    """Refuse the first row of a table of answers that is not fit to be judged."""
    if not is_fit.all():
        row = int(np.argmin(is_fit))
        shown = ", ".join(f"{number:.4g}" for number in table[row, :MAX_SHOWN_VALUES].tolist())
        more = ", …" if table.shape[1] > MAX_SHOWN_VALUES else ""
        raise errors.DataError(
            f"The {who} gave row {first + row:,} (the first is 0) the {what} {shown}{more}; they must be "
            f"{must}. Mend the {who}, or leave such rows out."
        )


@dataclass(frozen=True, eq=False)
class Predictor:
    """A classifier's classes, its label column, and how to ask it; a regression has no classes.

    `classes` maps each class to its code, in the order of the columns of an answer, which of a regression
    is a number per row.
    `takes_chunks` tells whether it reads chunks of a source or the rows as they were given;
    `named` whether it was trained on named columns and expects them again; `kinds` what each
    column holds, for a source that can read it as such; `storage` how text files must be read to
    match what was learned; `missing` the markers of missing values that it was trained with;
    `of_pairs` whether its scores are of pairs of classes, and so rank no class.
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
    """The code of each label, `UNSEEN` where it is no class of the model."""
    try:
        found = [classes.get(label, UNSEEN) for label in labels]
    except TypeError:
        raise errors.LabelError(
            "A row has several labels, or a label that is a list; evaluate takes one label per "
            "row. Evaluate one model per label."
        ) from None
    return np.array(found, dtype=np.int64)


def make_predictor(model: Any) -> Predictor:
    """Recognise a model of this library, one of its estimators, or one of scikit-learn's."""
    ours = getattr(model, "model_", model)
    if isinstance(ours, RegressionModel):
        return _library_predictor(ours, {}, ours.predict)
    if hasattr(ours, "classes") and (hasattr(ours, "log_proba") or hasattr(ours, "predict")):
        return _model_predictor(ours)
    if hasattr(model, "classes_") and hasattr(model, "predict"):
        return _sklearn_predictor(model)
    if is_regression(model):
        return Predictor({}, None, False, model.predict, hasattr(model, "feature_names_in_"))
    raise errors.Unsupported(
        f"evaluate needs a trained classifier or regression, got {type(model).__name__} without classes. "
        "Fit it first."
    )


def is_regression(model: Any) -> bool:
    """Whether a model or an estimator, whoever made it, predicts numbers."""
    if isinstance(getattr(model, "model_", model), RegressionModel):
        return True
    if not hasattr(model, "__sklearn_tags__") or isinstance(model, type):
        return getattr(model, "_estimator_type", None) == "regressor"
    return bool(model.__sklearn_tags__().estimator_type == "regressor")


def _model_predictor(model: Any) -> Predictor:
    classes = {value: code for code, value in enumerate(to_python_list(model.classes))}
    tie = getattr(model, "tie", "first")

    def answer(rows: Any) -> ClassPredictions:
        if hasattr(model, "scores"):
            scores = model.scores(rows)
            if not getattr(model, "has_probabilities", True):
                return ClassPredictions(model.best(scores), scores=_score_leads(scores))
            # Without a finite score no posterior exists: the model itself says why.
            is_known = np.isfinite(scores.max(axis=1)).all()
            posterior = log_softmax(scores) if is_known else model.log_proba(rows)
            is_joint = getattr(model, "is_generative", True)
            return ClassPredictions(
                best_class(scores, tie), posterior, scores if is_joint else None, np.exp(posterior)
            )
        if hasattr(model, "log_proba"):
            posterior = model.log_proba(rows)
            return ClassPredictions(best_class(posterior, tie), posterior, posterior=np.exp(posterior))
        return ClassPredictions(encode_labels(classes, to_python_list(model.predict(rows))))

    return _library_predictor(model, classes, answer)


def _library_predictor(model: Any, classes: dict[Any, int], answer: Callable[[Any], Any]) -> Predictor:
    """Return a model of this library with how to ask it, and how its rows are read."""
    schema = getattr(model, "schema", None)
    kinds, missing = (None, ()) if schema is None else (schema.storage(), schema.missing)
    label, storage = getattr(model, "label", None), getattr(model, "storage", {})
    return Predictor(
        classes, label, True, answer, kinds=kinds, schema=schema, missing=missing, storage=storage
    )


def _sklearn_predictor(model: Any) -> Predictor:
    who = type(model).__name__
    found = to_python_list(model.classes_) if np.ndim(model.classes_) else []
    if any(isinstance(value, list | np.ndarray) for value in found):
        raise errors.Unsupported(
            f"{who} predicts several labels per row; evaluate takes one label "
            "per row. Evaluate one model per label."
        )
    classes = {value: code for code, value in enumerate(found)}
    if not classes or len(classes) < len(found):
        raise errors.Unsupported(
            f"{who} has the classes {errors.one_line_repr(model.classes_)}; evaluate takes a classifier of one "
            f"class or more, all different."
        )
    of_pairs = len(classes) > 2 and _is_one_vs_one(model)

    def answer(rows: Any) -> ClassPredictions:
        n = row_count(rows)
        shape = n, len(classes), who
        predictions = encode_labels(classes, to_python_list(check_one_per_row(model.predict(rows), n, who)))
        if hasattr(model, "predict_proba"):
            posterior = check_table_per_row(model.predict_proba(rows), *shape, "probabilities")
            return ClassPredictions(
                predictions, _log_probabilities(model, rows, posterior), posterior=posterior
            )
        if hasattr(model, "predict_log_proba"):
            logarithms = check_table_per_row(model.predict_log_proba(rows), *shape, "log-probabilities")
            return ClassPredictions(predictions, logarithms, posterior=np.exp(logarithms))
        return ClassPredictions(
            predictions, scores=None if of_pairs else _decision_scores(model, rows, len(classes))
        )

    return Predictor(
        classes, None, False, answer, hasattr(model, "feature_names_in_"), has_pairwise_scores=of_pairs
    )


def _log_probabilities(model: Any, rows: Any, posterior: Floats) -> Floats:
    """Return log p(y | x), from the model itself where probabilities are too small to be told from zero."""
    # A probability of zero is reported as an infinite loss, one below zero refused: neither needs a warning.
    with np.errstate(divide="ignore", invalid="ignore"):
        if posterior.min() < MIN_PRECISE_PROBABILITY and hasattr(model, "predict_log_proba"):
            return np.asarray(model.predict_log_proba(rows), np.float64)
        return np.log(posterior)


def _decision_scores(model: Any, rows: Any, n_classes: int) -> Floats | None:
    """Return the scores of every class, if the classifier gives one each, or one for the second of two."""
    if not hasattr(model, "decision_function"):
        return None
    scores, n = model.decision_function(rows), row_count(rows)
    if n_classes == 2 and np.shape(scores) != (n, 2):
        lead = check_numbers_per_row(scores, n, type(model).__name__, "scores")
        return np.column_stack([-lead, lead])
    # Any other number of columns is of pairs of classes, or of what only the classifier knows.
    return np.asarray(scores, np.float64) if np.shape(scores) == (n, n_classes) else None


def _is_one_vs_one(model: Any) -> bool:
    """Whether a classifier, or one inside it, is set to score pairs: three classes have as many of them."""
    model = getattr(model, "best_estimator_", model)
    settings = model.get_params() if hasattr(model, "get_params") else {}
    return any(
        name.split("__")[-1] == "decision_function_shape" and value == "ovo"
        for name, value in settings.items()
    )


def _score_leads(scores: Floats) -> Floats:
    """Return the scores of two classes as their lead over the other; of more as they are."""
    return scores - scores[:, ::-1] if scores.shape[1] == 2 else scores


def row_count(rows: Any) -> int:
    """How many rows a table or a sequence has; what has no length is refused."""
    if hasattr(rows, "shape") and len(rows.shape):
        return int(rows.shape[0])
    if not hasattr(rows, "__len__"):
        raise errors.DataError(
            f"Expected rows or labels that can be counted, got {type(rows).__name__}. Give a table or an "
            f"array."
        )
    return len(rows)


def to_python_list(values: Any) -> list[Any]:
    """Python values of a NumPy, pandas, polars or Arrow array, or of any sequence."""
    for method in ("to_pylist", "tolist", "to_list"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


OutputArray = npt.NDArray[np.float64]


def check_one_per_row(values: Any, n: int, who: str, what: str = "predictions") -> npt.NDArray[Any]:
    """Return predictions [n]; [n, 1] is taken for it, any other shape or number refused."""
    found = _to_array(values)
    if found.shape not in ((n,), (n, 1)):
        raise output_error(who, what, values, f"one for each of the {n:,} rows")
    return found.reshape(n)


def check_numbers_per_row(values: Any, n: int, who: str, what: str = "predictions") -> OutputArray:
    """Return numbers [n]."""
    found = check_one_per_row(values, n, who, what)
    try:
        return found.astype(np.float64)
    except (TypeError, ValueError):
        raise output_error(who, what, found, "numbers") from None


def check_table_per_row(values: Any, n: int, columns: int, who: str, what: str) -> OutputArray:
    """Return a table [n, columns] of numbers, any other shape refused."""
    try:
        found = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (n, columns):
        raise output_error(who, what, values, f"numbers, {columns:,} for each of the {n:,} rows")
    return found


def _to_array(values: Any) -> npt.NDArray[Any]:
    if hasattr(values, "shape") or hasattr(values, "__array__") or not isinstance(values, list | tuple):
        return np.asarray(values)
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def output_error(who: str, what: str, values: Any, must: str) -> errors.DataError:
    """Word the refusal of answers that cannot be judged."""
    of = f" of the shape {np.shape(values)}" if hasattr(values, "shape") else ""
    return errors.DataError(
        f"The {what} of {who} are {errors.one_line_repr(values, 60)}{of}; they must be {must}. Mend the learner."
    )
