"""One trial: a learner fitted on some rows and judged on others, row by row."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from weigh import errors
from weigh.judge.measures.losses import Floats, brier_of_rows, log_of_rows, of_true_class, squared_of_rows
from weigh.judge.measures.subject import codes_of, listed
from weigh.judge.measures.taken import numbers_per_row, one_per_row, table_per_row, unfit
from weigh.trials.learners import is_regression
from weigh.trials.rows import LabelledRows


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted learner, the seconds its fit took, and the name it goes by."""

    learner: Any
    seconds: float
    name: str

    @property
    def classes(self) -> list[Any]:
        """The classes it knows, in the order of its probabilities."""
        return listed(self.learner.classes_)

    def predict(self, rows: LabelledRows) -> npt.NDArray[Any]:
        """Return its prediction for every row."""
        return one_per_row(self.learner.predict(rows.data), len(rows), self.name)

    def numbers(self, rows: LabelledRows) -> Floats:
        """Return the number that it predicts for every row."""
        found = numbers_per_row(self.learner.predict(rows.data), len(rows), self.name)
        if not np.isfinite(found).all():
            raise unfit(self.name, "predictions", found, "finite numbers")
        return found

    def own_probabilities(self, rows: LabelledRows) -> Floats:
        """Return p(class | row) [rows, classes] for the classes that it knows."""
        return self._table(self.learner.predict_proba(rows.data), rows, "probabilities")

    def log_probabilities(self, rows: LabelledRows) -> Floats:
        """Return log p(class | row) [rows, classes] for the classes that it knows."""
        # A probability of zero is an infinite loss, not a warning of the logarithm.
        with np.errstate(divide="ignore"):
            if not hasattr(self.learner, "predict_log_proba"):
                return np.log(self.own_probabilities(rows))
            return self._table(self.learner.predict_log_proba(rows.data), rows, "log-probabilities")

    def _table(self, values: Any, rows: LabelledRows, what: str) -> Floats:
        found = table_per_row(values, len(rows), len(self.classes), self.name, what)
        if np.isnan(found).any():
            raise unfit(self.name, what, found, "numbers")
        return found

    def probabilities(self, rows: LabelledRows, classes: Sequence[Any]) -> Floats:
        """Return p(class | row) [rows, classes]; zero for a class that it does not know."""
        own = self.own_probabilities(rows)
        column = {label: at for at, label in enumerate(self.classes)}
        found = np.zeros((len(own), len(classes)))
        for at, label in enumerate(classes):
            if label in column:
                found[:, at] = own[:, column[label]]
        return found

    def losses(self, rows: LabelledRows, loss: str) -> Floats:
        """Return the loss of every row, of a name in `LOSSES`."""
        return LOSSES[loss].of_rows(self, rows)


def fitted(learner: Any, rows: LabelledRows, name: str) -> Fitted:
    """Fit a fresh copy of a learner, and take the time."""
    fresh = clone(learner)
    start = time.perf_counter()
    fresh.fit(rows.data, rows.labels)
    return Fitted(fresh, time.perf_counter() - start, name)


def _zero_one(model: Fitted, rows: LabelledRows) -> Floats:
    return np.asarray(model.predict(rows) != rows.labels, np.float64)


def _of_true(model: Fitted, rows: LabelledRows, table: Floats, unseen: float) -> Floats:
    codes = codes_of({label: at for at, label in enumerate(model.classes)}, listed(rows.labels))
    return of_true_class(codes, table, unseen)


def _squared(model: Fitted, rows: LabelledRows) -> Floats:
    return squared_of_rows(_of_true(model, rows, model.own_probabilities(rows), 0.0))


def _log(model: Fitted, rows: LabelledRows) -> Floats:
    return log_of_rows(_of_true(model, rows, model.log_probabilities(rows), -np.inf))


def _brier(model: Fitted, rows: LabelledRows) -> Floats:
    table = model.own_probabilities(rows)
    # A part of the rows may lack classes, and they count all the same.
    table = np.pad(table, [(0, 0), (0, max(0, rows.classes - table.shape[1]))])
    return brier_of_rows(table, _of_true(model, rows, table, 0.0))


def _errors(model: Fitted, rows: LabelledRows) -> Floats:
    return model.numbers(rows) - np.asarray(rows.labels, np.float64)


@dataclass(frozen=True)
class Loss:
    """What a loss is called, what it asks of a learner, and its value for every row."""

    words: str
    of_numbers: bool
    of_probabilities: bool
    of_rows: Callable[[Fitted, LabelledRows], Floats]


LOSSES = {
    "zero_one": Loss("share of errors", False, False, _zero_one),
    "squared": Loss("squared loss, (1 − p)²", False, True, _squared),
    "brier": Loss("Brier score", False, True, _brier),
    "log_loss": Loss("log loss", False, True, _log),
    "squared_error": Loss("squared error", True, False, lambda *given: np.square(_errors(*given))),
    "absolute_error": Loss("absolute error", True, False, lambda *given: np.abs(_errors(*given))),
}


def checked_loss(loss: str | None, learners: dict[str, Any], owner: str) -> str:
    """Return the loss that is asked for, or the usual one; refuse one that a learner cannot be judged by."""
    numbers = {is_regression(learner) for learner in learners.values()}
    if len(numbers) > 1:
        raise errors.Unsupported(
            f"{owner}: {errors.listing(learners)} are classifiers and regressions, which have no loss in "
            f"common. Try them apart."
        )
    of_numbers = numbers.pop()
    if loss is None:
        return "squared_error" if of_numbers else "zero_one"
    fit = [name for name, each in LOSSES.items() if each.of_numbers == of_numbers]
    if loss not in fit:
        kind = "regressions" if of_numbers else "classifiers"
        raise errors.parameter(owner, "loss", f"of {kind} one of {errors.listing(fit)}", loss)
    lacking = _without_probabilities(learners.items()) if LOSSES[loss].of_probabilities else []
    if lacking:
        raise errors.Unsupported(
            f"{owner}: loss={loss!r} needs probabilities, which {errors.listing(lacking)} cannot give. Leave "
            f"them out, or take loss='zero_one'."
        )
    return loss


def _without_probabilities(learners: Iterable[tuple[str, Any]]) -> list[str]:
    return [name for name, learner in learners if not hasattr(learner, "predict_proba")]
