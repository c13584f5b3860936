"""Learners prepared for one set of rows, the losses that judge them, and their baselines."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from weigh import errors
from weigh.advice import Setting
from weigh.deduplicated_warnings import warn
from weigh.estimators.base import BaseLearner, fix_schema
from weigh.judge.metrics.losses import Floats, brier_scores, log_losses, select_true_class, squared_losses
from weigh.judge.metrics.predictor import (
    encode_labels,
    output_error,
    to_python_list,
    to_row_array,
    to_row_matrix,
    to_row_numbers,
)
from weigh.trials.learners import AsNumbers, is_regression, learners_by_name
from weigh.trials.parallel import capture_warnings, record_thread_warnings
from weigh.trials.rows import LabelledRows, RowIndices
from weigh.trials.splits import Codes, Split, encode_groups, find_strata, repeated_folds


@dataclass(frozen=True, eq=False)
class Experiment:
    """Candidates by name, the rows with their strata and groups, and the loss that judges them."""

    candidates: dict[str, Candidate]
    rows: LabelledRows
    strata: Codes
    loss: str
    groups: Codes | None = None

    @classmethod
    def of(
        cls,
        learners: Any,
        X: Any,
        y: Any,
        loss: str | None,
        owner: str,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Experiment:
        """Check learners, rows and loss once, before anything is trained."""
        by_name = learners_by_name(learners, owner)
        loss = resolve_loss(loss, by_name, owner)
        rows = LabelledRows.of(X, y, sample_weight)
        if LOSSES[loss].is_for_regression:
            rows = rows.with_numeric_labels()
        strata = find_strata(rows.labels, LOSSES[loss].is_for_regression)
        codes = None if groups is None else encode_groups(groups, len(rows), owner)
        candidates = {name: Candidate.of(name, learner, rows) for name, learner in by_name.items()}
        return cls(candidates, rows, strata, loss, codes)

    def splits(self, folds: int, repeats: int, seed: int, owner: str) -> list[Split]:
        """Return repeated stratified folds; warns about classes with fewer rows than folds."""
        splits = repeated_folds(self.strata, folds, repeats, seed, owner, self.groups)
        sizes = Counter(self.strata.tolist())
        label = dict(zip(self.strata.tolist(), self.rows.labels.tolist(), strict=True))
        rare = [label[stratum] for stratum, size in sizes.items() if len(sizes) > 1 and size < folds]
        if rare:
            warn(
                errors.OddClasses(
                    f"{owner}: {errors.quote_names(rare)} have fewer rows than there are folds ({folds}), so "
                    "some training or test sets contain none of them.",
                    hint="Add such rows, or use fewer folds.",
                ),
                rare,
            )
        return splits


@dataclass(frozen=True, eq=False)
class Candidate:
    """A learner together with all rows in the form that it accepts.

    `prepared` is the learner with the column kinds that it infers from all rows; subsets do not change them.
    """

    name: str
    learner: Any
    rows: LabelledRows
    prepared: Any

    @classmethod
    def of(cls, name: str, learner: Any, rows: LabelledRows) -> Candidate:
        """Prepare rows for a learner.

        Pipelines and learners of this library get the rows unchanged. Other scikit-learn estimators get one
        matrix if all columns are numeric; `AsNumbers` encodes the rows if they are not, or if values are
        missing that the estimator does not support.
        """
        if not isinstance(learner, BaseLearner | Pipeline):
            matrix = rows.to_matrix()
            if matrix is not None and not (
                _has_missing(matrix) and not get_tags(learner).input_tags.allow_nan
            ):
                return cls(name, learner, rows.with_data(matrix), learner)
            learner = make_pipeline(AsNumbers(scale=None), learner)
        with capture_warnings() as captured, record_thread_warnings(captured):
            return cls(name, learner, rows, fix_schema(learner, rows.data, rows.labels))

    def fit(self, indices: RowIndices) -> FittedLearner:
        """Fit a clone of the learner on the rows at these indices."""
        return fit_learner(self.prepared, self.rows.take(indices), self.name)

    @contextmanager
    def error_context(self, where: str) -> Iterator[None]:
        """Add the learner's name and `where` to errors of other libraries."""
        try:
            yield
        except (errors.WeighError, MemoryError):
            raise
        except Exception as cause:
            raise errors.DataError((f"{self.name} failed in {where}: ", cause)) from cause


def _has_missing(matrix: Any) -> bool:
    values = matrix.data if issparse(matrix) else matrix
    return bool(values.dtype.kind == "f" and np.isnan(values).any())


@dataclass(frozen=True, eq=False)
class FittedLearner:
    """A fitted learner, the seconds its fit took, and its name; its outputs are checked."""

    learner: Any
    seconds: float
    name: str

    @property
    def classes(self) -> list[Any]:
        """The classes in the order of the probability columns."""
        return to_python_list(self.learner.classes_)

    def predict(self, rows: LabelledRows) -> npt.NDArray[Any]:
        """Return the predicted label of every row [n]."""
        return to_row_array(self.learner.predict(rows.data), len(rows), self.name)

    def predict_numbers(self, rows: LabelledRows) -> Floats:
        """Return the predicted number of every row [n]."""
        numbers = to_row_numbers(self.learner.predict(rows.data), len(rows), self.name)
        if not np.isfinite(numbers).all():
            raise output_error(self.name, "predictions", numbers, "finite numbers")
        return numbers

    def predict_proba(self, rows: LabelledRows) -> Floats:
        """Return P(class | row) [n, classes] for `self.classes`."""
        return self._check_table(self.learner.predict_proba(rows.data), rows, "probabilities")

    def predict_log_proba(self, rows: LabelledRows) -> Floats:
        """Return log P(class | row) [n, classes] for `self.classes`."""
        # A probability of zero is an infinite loss, not a warning of the logarithm.
        with np.errstate(divide="ignore"):
            if not hasattr(self.learner, "predict_log_proba"):
                return np.log(self.predict_proba(rows))
            return self._check_table(self.learner.predict_log_proba(rows.data), rows, "log-probabilities")

    def _check_table(self, values: Any, rows: LabelledRows, what: str) -> Floats:
        table = to_row_matrix(values, len(rows), len(self.classes), self.name, what)
        if np.isnan(table).any():
            raise output_error(self.name, what, table, "numbers")
        return table

    def predict_proba_of(self, rows: LabelledRows, classes: Sequence[Any]) -> Floats:
        """Return P(class | row) [n, classes] for these classes; zero if a class was not in training."""
        own_table = self.predict_proba(rows)
        own_column = {label: i for i, label in enumerate(self.classes)}
        table = np.zeros((len(own_table), len(classes)))
        for i, label in enumerate(classes):
            if label in own_column:
                table[:, i] = own_table[:, own_column[label]]
        return table

    def losses(self, rows: LabelledRows, loss: str) -> Floats:
        """Return the loss of every row [n]; `loss` is a key of `LOSSES`."""
        return LOSSES[loss].per_row(self, rows)

    def mean_loss(self, rows: LabelledRows, loss: str) -> float:
        """Return the mean loss of the rows by their weights; NaN if all weights are zero."""
        losses = self.losses(rows, loss)
        if rows.weights is None:
            return float(losses.mean())
        # A row without weight may have an infinite loss.
        counts = rows.weights > 0
        return float(np.average(losses[counts], weights=rows.weights[counts])) if counts.any() else np.nan


def fit_learner(learner: Any, rows: LabelledRows, name: str) -> FittedLearner:
    """Fit a clone of a learner and time it."""
    model = clone(learner)
    weights = {} if rows.weights is None else {_weight_parameter(model, name): rows.weights}
    start = time.perf_counter()
    model.fit(rows.data, rows.labels, **weights)
    return FittedLearner(model, time.perf_counter() - start, name)


def _weight_parameter(learner: Any, name: str) -> str:
    """Return the argument of `fit` for sample weights, which a pipeline passes on to its last step."""
    step, last = learner.steps[-1] if isinstance(learner, Pipeline) else ("", learner)
    if not has_fit_parameter(last, "sample_weight"):
        raise errors.Unsupported(f"{name} takes no sample weights. Leave it out, or give no weights.")
    return f"{step}__sample_weight" if step else "sample_weight"


def _zero_one_loss(model: FittedLearner, rows: LabelledRows) -> Floats:
    return np.asarray(model.predict(rows) != rows.labels, np.float64)


def _true_class_column(model: FittedLearner, rows: LabelledRows, table: Floats, unseen: float) -> Floats:
    codes = encode_labels({label: i for i, label in enumerate(model.classes)}, to_python_list(rows.labels))
    return select_true_class(codes, table, unseen)


def _squared_loss(model: FittedLearner, rows: LabelledRows) -> Floats:
    return squared_losses(_true_class_column(model, rows, model.predict_proba(rows), 0.0))


def _log_loss(model: FittedLearner, rows: LabelledRows) -> Floats:
    return log_losses(_true_class_column(model, rows, model.predict_log_proba(rows), -np.inf))


def _brier_score(model: FittedLearner, rows: LabelledRows) -> Floats:
    table = model.predict_proba(rows)
    # The Brier score of two classes is halved, so classes that the training rows lack must be counted too.
    table = np.pad(table, [(0, 0), (0, max(0, rows.n_classes - table.shape[1]))])
    return brier_scores(table, _true_class_column(model, rows, table, 0.0))


def _residuals(model: FittedLearner, rows: LabelledRows) -> Floats:
    return model.predict_numbers(rows) - np.asarray(rows.labels, np.float64)


@dataclass(frozen=True)
class RowLoss:
    """A loss: its title, the kind of learner it is for, and its value for every row."""

    title: str
    is_for_regression: bool
    needs_probabilities: bool
    per_row: Callable[[FittedLearner, LabelledRows], Floats]


LOSSES = {
    "zero_one": RowLoss("error rate", False, False, _zero_one_loss),
    "squared": RowLoss("squared loss, (1 − p)²", False, True, _squared_loss),
    "brier": RowLoss("Brier score", False, True, _brier_score),
    "log_loss": RowLoss("log loss", False, True, _log_loss),
    "squared_error": RowLoss("squared error", True, False, lambda *args: np.square(_residuals(*args))),
    "absolute_error": RowLoss("absolute error", True, False, lambda *args: np.abs(_residuals(*args))),
}


def resolve_loss(loss: str | None, learners: dict[str, Any], owner: str, parameter: str = "loss") -> str:
    """Return the loss, or the default for None; raises if a learner does not support it."""
    kinds = {is_regression(learner) for learner in learners.values()}
    if len(kinds) > 1:
        raise errors.Unsupported(
            f"{owner}: {errors.quote_names(learners)} are classifiers and regressions, which have no loss in "
            f"common. Evaluate them separately."
        )
    are_regressions = kinds.pop()
    if loss is None:
        return "squared_error" if are_regressions else "zero_one"
    allowed = [name for name, each in LOSSES.items() if each.is_for_regression == are_regressions]
    if loss not in allowed:
        kind = "regressions" if are_regressions else "classifiers"
        raise errors.parameter_error(
            owner, parameter, f"for {kind} one of {errors.quote_names(allowed)}", loss
        )
    unsuitable = _without_probabilities(learners.items()) if LOSSES[loss].needs_probabilities else []
    if unsuitable:
        raise errors.Unsupported(
            (
                f"{owner}: ",
                Setting(parameter, loss),
                f" needs probabilities, which {errors.quote_names(unsuitable)} cannot give.",
            ),
            hint=("Leave them out, or use ", Setting(parameter, "zero_one"), "."),
        )
    return loss


def _without_probabilities(learners: Iterable[tuple[str, Any]]) -> list[str]:
    return [name for name, learner in learners if not hasattr(learner, "predict_proba")]


BASELINES = {
    "zero_one": ("majority", DummyClassifier()),
    "squared_error": ("mean", DummyRegressor(strategy="mean")),
    "absolute_error": ("median", DummyRegressor(strategy="median")),
}
# The best constant probabilities for log loss and Brier score, and close to the best for (1 − p)².
CLASS_FREQUENCIES = ("frequencies", DummyClassifier(strategy="prior"))


def baseline_candidate(loss: str, rows: LabelledRows) -> Candidate:
    """Return the usual constant prediction for a loss, on a single column of zeros."""
    strategy, learner = BASELINES.get(loss, CLASS_FREQUENCIES)
    zeros = rows.with_data(np.zeros((len(rows), 1)))
    return Candidate(f"baseline ({strategy})", learner, zeros, learner)
