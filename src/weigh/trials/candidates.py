"""One trial: a learner fitted on some rows and judged on others, row by row."""

from __future__ import annotations

import time
import warnings
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

from weigh import errors
from weigh.estimators.base import BaseLearner
from weigh.judge.metrics.losses import Floats, brier_scores, log_losses, select_true_class, squared_losses
from weigh.judge.metrics.predictor import (
    check_numbers_per_row,
    check_one_per_row,
    check_table_per_row,
    encode_labels,
    output_error,
    to_python_list,
)
from weigh.trials.learners import AsNumbers, is_regression, learners_by_name
from weigh.trials.rows import LabelledRows, RowIndices
from weigh.trials.splits import Groups, Split, repeated_folds, stratification_groups


@dataclass(frozen=True, eq=False)
class FittedLearner:
    """A fitted learner, the seconds its fit took, and the name it goes by."""

    learner: Any
    seconds: float
    name: str

    @property
    def classes(self) -> list[Any]:
        """The classes it knows, in the order of its probabilities."""
        return to_python_list(self.learner.classes_)

    def predict(self, rows: LabelledRows) -> npt.NDArray[Any]:
        """Return its prediction for every row."""
        return check_one_per_row(self.learner.predict(rows.data), len(rows), self.name)

    def predict_numbers(self, rows: LabelledRows) -> Floats:
        """Return the number that it predicts for every row."""
        found = check_numbers_per_row(self.learner.predict(rows.data), len(rows), self.name)
        if not np.isfinite(found).all():
            raise output_error(self.name, "predictions", found, "finite numbers")
        return found

    def predict_proba(self, rows: LabelledRows) -> Floats:
        """Return p(class | row) [rows, classes] for the classes that it knows."""
        return self._check_table(self.learner.predict_proba(rows.data), rows, "probabilities")

    def predict_log_proba(self, rows: LabelledRows) -> Floats:
        """Return log p(class | row) [rows, classes] for the classes that it knows."""
        # A probability of zero is an infinite loss, not a warning of the logarithm.
        with np.errstate(divide="ignore"):
            if not hasattr(self.learner, "predict_log_proba"):
                return np.log(self.predict_proba(rows))
            return self._check_table(self.learner.predict_log_proba(rows.data), rows, "log-probabilities")

    def _check_table(self, values: Any, rows: LabelledRows, what: str) -> Floats:
        found = check_table_per_row(values, len(rows), len(self.classes), self.name, what)
        if np.isnan(found).any():
            raise output_error(self.name, what, found, "numbers")
        return found

    def predict_proba_of(self, rows: LabelledRows, classes: Sequence[Any]) -> Floats:
        """Return p(class | row) [rows, classes]; zero for a class that it does not know."""
        own = self.predict_proba(rows)
        column = {label: at for at, label in enumerate(self.classes)}
        found = np.zeros((len(own), len(classes)))
        for at, label in enumerate(classes):
            if label in column:
                found[:, at] = own[:, column[label]]
        return found

    def losses(self, rows: LabelledRows, loss: str) -> Floats:
        """Return the loss of every row, of a name in `LOSSES`."""
        return LOSSES[loss].per_row(self, rows)


def fit_learner(learner: Any, rows: LabelledRows, name: str) -> FittedLearner:
    """Fit a fresh copy of a learner, and take the time."""
    fresh = clone(learner)
    start = time.perf_counter()
    fresh.fit(rows.data, rows.labels)
    return FittedLearner(fresh, time.perf_counter() - start, name)


def _zero_one_loss(model: FittedLearner, rows: LabelledRows) -> Floats:
    return np.asarray(model.predict(rows) != rows.labels, np.float64)


def _true_class_column(model: FittedLearner, rows: LabelledRows, table: Floats, unseen: float) -> Floats:
    codes = encode_labels({label: at for at, label in enumerate(model.classes)}, to_python_list(rows.labels))
    return select_true_class(codes, table, unseen)


def _squared_loss(model: FittedLearner, rows: LabelledRows) -> Floats:
    return squared_losses(_true_class_column(model, rows, model.predict_proba(rows), 0.0))


def _log_loss(model: FittedLearner, rows: LabelledRows) -> Floats:
    return log_losses(_true_class_column(model, rows, model.predict_log_proba(rows), -np.inf))


def _brier_score(model: FittedLearner, rows: LabelledRows) -> Floats:
    table = model.predict_proba(rows)
    # A part of the rows may lack classes, and they count all the same.
    table = np.pad(table, [(0, 0), (0, max(0, rows.n_classes - table.shape[1]))])
    return brier_scores(table, _true_class_column(model, rows, table, 0.0))


def _residuals(model: FittedLearner, rows: LabelledRows) -> Floats:
    return model.predict_numbers(rows) - np.asarray(rows.labels, np.float64)


@dataclass(frozen=True)
class RowLoss:
    """What a loss is called, what it asks of a learner, and its value for every row."""

    title: str
    is_for_regression: bool
    needs_probabilities: bool
    per_row: Callable[[FittedLearner, LabelledRows], Floats]


LOSSES = {
    "zero_one": RowLoss("share of errors", False, False, _zero_one_loss),
    "squared": RowLoss("squared loss, (1 − p)²", False, True, _squared_loss),
    "brier": RowLoss("Brier score", False, True, _brier_score),
    "log_loss": RowLoss("log loss", False, True, _log_loss),
    "squared_error": RowLoss("squared error", True, False, lambda *given: np.square(_residuals(*given))),
    "absolute_error": RowLoss("absolute error", True, False, lambda *given: np.abs(_residuals(*given))),
}


def resolve_loss(loss: str | None, learners: dict[str, Any], owner: str) -> str:
    """Return the loss that is asked for, or the usual one; refuse one that a learner cannot be judged by."""
    numbers = {is_regression(learner) for learner in learners.values()}
    if len(numbers) > 1:
        raise errors.Unsupported(
            f"{owner}: {errors.quote_names(learners)} are classifiers and regressions, which have no loss in "
            f"common. Try them apart."
        )
    of_numbers = numbers.pop()
    if loss is None:
        return "squared_error" if of_numbers else "zero_one"
    fit = [name for name, each in LOSSES.items() if each.is_for_regression == of_numbers]
    if loss not in fit:
        kind = "regressions" if of_numbers else "classifiers"
        raise errors.parameter_error(owner, "loss", f"of {kind} one of {errors.quote_names(fit)}", loss)
    lacking = _without_probabilities(learners.items()) if LOSSES[loss].needs_probabilities else []
    if lacking:
        raise errors.Unsupported(
            f"{owner}: loss={loss!r} needs probabilities, which {errors.quote_names(lacking)} cannot give. Leave "
            f"them out, or take loss='zero_one'."
        )
    return loss


def _without_probabilities(learners: Iterable[tuple[str, Any]]) -> list[str]:
    return [name for name, learner in learners if not hasattr(learner, "predict_proba")]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A learner that was made ready for all rows, before they are cut into parts."""

    name: str
    learner: Any
    rows: LabelledRows

    @classmethod
    def of(cls, name: str, learner: Any, rows: LabelledRows) -> Candidate:
        """Make a learner and rows fit each other.

        A pipeline, and a learner of ours, takes the rows as they are. Any other learner of scikit-learn gets
        them as one matrix if all columns are numbers, whatever the rows are stored in; else, and where
        numbers are missing that it has no use for, they are turned into numbers first.
        """
        if isinstance(learner, BaseLearner | Pipeline):
            return cls(name, learner, rows)
        numbers = rows.to_matrix()
        if numbers is None or (_has_missing(numbers) and not get_tags(learner).input_tags.allow_nan):
            return cls(name, make_pipeline(AsNumbers(scale=None), learner), rows)
        return cls(name, learner, rows.with_data(numbers))

    def fit(self, places: RowIndices) -> FittedLearner:
        """Return a fresh copy of the learner, fitted on the rows of these places."""
        return fit_learner(self.learner, self.rows.take(places), self.name)

    @contextmanager
    def error_context(self, where: str) -> Iterator[None]:
        """Say who failed, and where; errors of this library tell what to do by themselves."""
        try:
            yield
        except (errors.WeighError, MemoryError):
            raise
        except Exception as cause:
            raise errors.DataError(f"{self.name} failed in {where}: {cause}") from cause


def _has_missing(numbers: Any) -> bool:
    values = numbers.data if issparse(numbers) else numbers
    return bool(values.dtype.kind == "f" and np.isnan(values).any())


BASELINES = {
    "zero_one": ("majority", DummyClassifier()),
    "squared_error": ("mean", DummyRegressor(strategy="mean")),
    "absolute_error": ("median", DummyRegressor(strategy="median")),
}
# Of the losses of probabilities: the best for log loss and Brier score, near it for (1 − p)².
CLASS_FREQUENCIES = ("frequencies", DummyClassifier(strategy="prior"))


def baseline_candidate(loss: str, rows: LabelledRows) -> Candidate:
    """Return the guess that is usual for a loss, and rows that say nothing, as quick as there are."""
    word, learner = BASELINES.get(loss, CLASS_FREQUENCIES)
    return Candidate(f"baseline ({word})", learner, rows.with_data(np.zeros((len(rows), 1))))


@dataclass(frozen=True, eq=False)
class Experiment:
    """Learners by name, each ready for the rows, the groups of the rows, and the loss they are judged by."""

    candidates: dict[str, Candidate]
    rows: LabelledRows
    groups: Groups
    loss: str

    @classmethod
    def of(cls, learners: Any, X: Any, y: Any, loss: str | None, owner: str) -> Experiment:
        """Look once, before any trial, whether learners, rows and loss go together."""
        tried = learners_by_name(learners, owner)
        judged = resolve_loss(loss, tried, owner)
        rows = LabelledRows.of(X, y)
        if LOSSES[judged].is_for_regression:
            rows = rows.with_numeric_labels()
        groups = stratification_groups(rows.labels, LOSSES[judged].is_for_regression)
        entrants = {name: Candidate.of(name, learner, rows) for name, learner in tried.items()}
        return cls(entrants, rows, groups, judged)

    def splits(self, folds: int, repeats: int, seed: int, owner: str) -> list[Split]:
        """Cut the rows into folds, `repeats` times anew, and warn of classes that some folds lack."""
        found = repeated_folds(self.groups, folds, repeats, seed, owner)
        sizes = Counter(self.groups.tolist())
        label = dict(zip(self.groups.tolist(), self.rows.labels.tolist(), strict=True))
        rare = [label[group] for group, size in sizes.items() if len(sizes) > 1 and size < folds]
        if rare:
            warnings.warn(
                f"{owner}: of {errors.quote_names(rare)} there are fewer rows than the {folds} folds, so some "
                f"folds hold out none of them, or leave none to learn from. Give more of them, or fewer "
                f"folds.",
                errors.OddClasses,
                stacklevel=3,
            )
        return found
