"""The classifier or regression being judged, whoever made it: what it answers for a batch of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from weigh import errors
from weigh.judge.measures.losses import UNSEEN, Codes, Floats
from weigh.judge.measures.taken import numbers_per_row, one_per_row, table_per_row
from weigh.model import RegressionModel
from weigh.model.decision import best, normalised

SMALLEST = 1e-290
SLACK = 1e-4  # of a sum of probabilities: those of many classes may be kept in few digits
SHOWN = 4


@dataclass(frozen=True, eq=False)
class Answer:
    """Predictions as codes [n]; log p(y | x), p(y | x) and log p(x, y), [n, C], where the model has them.

    `scores` [n, C] rank rows where there are no probabilities: the higher, the more the class is meant.
    """

    predictions: Codes
    log_posterior: Floats | None = None
    log_joint: Floats | None = None
    posterior: Floats | None = None
    scores: Floats | None = None

    def refuse_improbable(self, first: int) -> None:
        """Refuse probabilities that are none and scores that are no numbers; rows count from `first`."""
        if self.posterior is not None:
            is_share = (self.posterior >= -SLACK).all(axis=1)
            is_whole = np.abs(self.posterior.sum(axis=1) - 1.0) <= SLACK
            is_fit = is_share & is_whole
            refuse_unfit("classifier", "probabilities", self.posterior, is_fit, "shares that sum to 1", first)
        if self.scores is not None:
            is_fit = ~np.isnan(self.scores).any(axis=1)
            refuse_unfit("classifier", "scores", self.scores, is_fit, "numbers", first)

    def take(self, rows: Codes) -> Answer:
        """The answers for some of the rows."""
        tables = (self.log_posterior, self.log_joint, self.posterior, self.scores)
        return Answer(self.predictions[rows], *(None if each is None else each[rows] for each in tables))


def refuse_unfit(who: str, what: str, table: Floats, is_fit: Any, must: str, first: int) -> None:
    """Refuse the first row of a table of answers that is not fit to be judged."""
    if not is_fit.all():
        row = int(np.argmin(is_fit))
        shown = ", ".join(f"{number:.4g}" for number in table[row, :SHOWN].tolist())
        more = ", …" if table.shape[1] > SHOWN else ""
        raise errors.DataError(
            f"The {who} gave row {first + row:,} (the first is 0) the {what} {shown}{more}; they must be "
            f"{must}. Mend the {who}, or leave such rows out."
        )


@dataclass(frozen=True, eq=False)
class Subject:
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
    takes_chunks: bool
    answer: Callable[[Any], Any]
    named: bool = False
    kinds: Mapping[str, str] | None = None
    schema: Any = None
    missing: tuple[Any, ...] = ()
    storage: Mapping[str, str] = field(default_factory=dict)
    of_pairs: bool = False


def codes_of(classes: dict[Any, int], labels: Sequence[Any]) -> npt.NDArray[np.int64]:
    """The code of each label, `UNSEEN` where it is no class of the model."""
    try:
        found = [classes.get(label, UNSEEN) for label in labels]
    except TypeError:
        raise errors.LabelError(
            "A row has several labels, or a label that is a list; evaluate takes one label per "
            "row. Evaluate one model per label."
        ) from None
    return np.array(found, dtype=np.int64)


def subject(model: Any) -> Subject:
    """Recognise a model of this library, one of its estimators, or one of scikit-learn's."""
    ours = getattr(model, "model_", model)
    if isinstance(ours, RegressionModel):
        return _asked(ours, {}, ours.predict)
    if hasattr(ours, "classes") and (hasattr(ours, "log_proba") or hasattr(ours, "predict")):
        return _of_model(ours)
    if hasattr(model, "classes_") and hasattr(model, "predict"):
        return _of_sklearn(model)
    if is_regression(model):
        return Subject({}, None, False, model.predict, hasattr(model, "feature_names_in_"))
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


def _of_model(model: Any) -> Subject:
    classes = {value: code for code, value in enumerate(listed(model.classes))}
    tie = getattr(model, "tie", "first")

    def answer(rows: Any) -> Answer:
        if hasattr(model, "scores"):
            scores = model.scores(rows)
            if not getattr(model, "probable", True):
                return Answer(model.best(scores), scores=_against(scores))
            # Without a finite score no posterior exists: the model itself says why.
            is_known = np.isfinite(scores.max(axis=1)).all()
            posterior = normalised(scores) if is_known else model.log_proba(rows)
            is_joint = getattr(model, "generative", True)
            return Answer(best(scores, tie), posterior, scores if is_joint else None, np.exp(posterior))
        if hasattr(model, "log_proba"):
            posterior = model.log_proba(rows)
            return Answer(best(posterior, tie), posterior, posterior=np.exp(posterior))
        return Answer(codes_of(classes, listed(model.predict(rows))))

    return _asked(model, classes, answer)


def _asked(model: Any, classes: dict[Any, int], answer: Callable[[Any], Any]) -> Subject:
    """Return a model of this library with how to ask it, and how its rows are read."""
    schema = getattr(model, "schema", None)
    kinds, missing = (None, ()) if schema is None else (schema.storage(), schema.missing)
    label, storage = getattr(model, "label", None), getattr(model, "storage", {})
    return Subject(classes, label, True, answer, kinds=kinds, schema=schema, missing=missing, storage=storage)


def _of_sklearn(model: Any) -> Subject:
    who = type(model).__name__
    found = listed(model.classes_) if np.ndim(model.classes_) else []
    if any(isinstance(value, list | np.ndarray) for value in found):
        raise errors.Unsupported(
            f"{who} predicts several labels per row; evaluate takes one label "
            "per row. Evaluate one model per label."
        )
    classes = {value: code for code, value in enumerate(found)}
    if not classes or len(classes) < len(found):
        raise errors.Unsupported(
            f"{who} has the classes {errors.told(model.classes_)}; evaluate takes a classifier of one "
            f"class or more, all different."
        )
    of_pairs = len(classes) > 2 and _scores_pairs(model)

    def answer(rows: Any) -> Answer:
        n = length(rows)
        shape = n, len(classes), who
        predictions = codes_of(classes, listed(one_per_row(model.predict(rows), n, who)))
        if hasattr(model, "predict_proba"):
            posterior = table_per_row(model.predict_proba(rows), *shape, "probabilities")
            return Answer(predictions, _logarithms(model, rows, posterior), posterior=posterior)
        if hasattr(model, "predict_log_proba"):
            logarithms = table_per_row(model.predict_log_proba(rows), *shape, "log-probabilities")
            return Answer(predictions, logarithms, posterior=np.exp(logarithms))
        return Answer(predictions, scores=None if of_pairs else _decisions(model, rows, len(classes)))

    return Subject(classes, None, False, answer, hasattr(model, "feature_names_in_"), of_pairs=of_pairs)


def _logarithms(model: Any, rows: Any, posterior: Floats) -> Floats:
    """Return log p(y | x), from the model itself where probabilities are too small to be told from zero."""
    # A probability of zero is reported as an infinite loss, one below zero refused: neither needs a warning.
    with np.errstate(divide="ignore", invalid="ignore"):
        if posterior.min() < SMALLEST and hasattr(model, "predict_log_proba"):
            return np.asarray(model.predict_log_proba(rows), np.float64)
        return np.log(posterior)


def _decisions(model: Any, rows: Any, n_classes: int) -> Floats | None:
    """Return the scores of every class, if the classifier gives one each, or one for the second of two."""
    if not hasattr(model, "decision_function"):
        return None
    scores, n = model.decision_function(rows), length(rows)
    if n_classes == 2 and np.shape(scores) != (n, 2):
        lead = numbers_per_row(scores, n, type(model).__name__, "scores")
        return np.column_stack([-lead, lead])
    # Any other number of columns is of pairs of classes, or of what only the classifier knows.
    return np.asarray(scores, np.float64) if np.shape(scores) == (n, n_classes) else None


def _scores_pairs(model: Any) -> bool:
    """Whether a classifier, or one inside it, is set to score pairs: three classes have as many of them."""
    model = getattr(model, "best_estimator_", model)
    settings = model.get_params() if hasattr(model, "get_params") else {}
    return any(
        name.split("__")[-1] == "decision_function_shape" and value == "ovo"
        for name, value in settings.items()
    )


def _against(scores: Floats) -> Floats:
    """Return the scores of two classes as their lead over the other; of more as they are."""
    return scores - scores[:, ::-1] if scores.shape[1] == 2 else scores


def length(rows: Any) -> int:
    """How many rows a table or a sequence has; what has no length is refused."""
    if hasattr(rows, "shape") and len(rows.shape):
        return int(rows.shape[0])
    if not hasattr(rows, "__len__"):
        raise errors.DataError(
            f"Expected rows or labels that can be counted, got {type(rows).__name__}. Give a table or an "
            f"array."
        )
    return len(rows)


def listed(values: Any) -> list[Any]:
    """Python values of a NumPy, pandas, polars or Arrow array, or of any sequence."""
    for method in ("to_pylist", "tolist", "to_list"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)
