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
from weigh.trials.learners import is_regression
from weigh.trials.rows import LabelledRows


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted learner, and the seconds its fit took."""

    learner: Any
    seconds: float

    @property
    def classes(self) -> list[Any]:
        """The classes it knows, in the order of its probabilities."""
        return listed(self.learner.classes_)

    def predict(self, rows: LabelledRows) -> npt.NDArray[Any]:
        """Return its prediction for every row."""
        return np.asarray(self.learner.predict(rows.data))

    def probabilities(self, rows: LabelledRows, classes: Sequence[Any]) -> Floats:
        """Return p(class | row) [rows, classes]; zero for a class that it does not know."""
        own = np.asarray(self.learner.predict_proba(rows.data), np.float64)
        column = {label: at for at, label in enumerate(self.classes)}
        found = np.zeros((len(own), len(classes)))
        for at, label in enumerate(classes):
            if label in column:
                found[:, at] = own[:, column[label]]
        return found

    def losses(self, rows: LabelledRows, loss: str) -> Floats:
        """Return the loss of every row, of a name in `LOSSES`."""
        return LOSSES[loss].of_rows(self, rows)


def fitted(learner: Any, rows: LabelledRows) -> Fitted:
    """Fit a fresh copy of a learner, and take the time."""
    fresh = clone(learner)
    start = time.perf_counter()
    fresh.fit(rows.data, rows.labels)
    return Fitted(fresh, time.perf_counter() - start)


def _zero_one(model: Fitted, rows: LabelledRows) -> Floats:
    return np.asarray(model.predict(rows) != rows.labels, np.float64)


def _of_true(model: Fitted, rows: LabelledRows, table: Any, unseen: float) -> Floats:
    codes = codes_of({label: at for at, label in enumerate(model.classes)}, listed(rows.labels))
    return of_true_class(codes, np.asarray(table, np.float64), unseen)


def _squared(model: Fitted, rows: LabelledRows) -> Floats:
    return squared_of_rows(_of_true(model, rows, model.learner.predict_proba(rows.data), 0.0))


def _log(model: Fitted, rows: LabelledRows) -> Floats:
    # A probability of zero is an infinite loss, not a warning of the logarithm.
    with np.errstate(divide="ignore"):
        if hasattr(model.learner, "predict_log_proba"):
            table = model.learner.predict_log_proba(rows.data)
        else:
            table = np.log(model.learner.predict_proba(rows.data))
    return log_of_rows(_of_true(model, rows, table, -np.inf))


def _brier(model: Fitted, rows: LabelledRows) -> Floats:
    table = np.asarray(model.learner.predict_proba(rows.data), np.float64)
    # A part of the rows may lack classes, and they count all the same.
    table = np.pad(table, [(0, 0), (0, max(0, rows.classes - table.shape[1]))])
    return brier_of_rows(table, _of_true(model, rows, table, 0.0))


def _errors(model: Fitted, rows: LabelledRows) -> Floats:
    return np.asarray(model.predict(rows), np.float64) - np.asarray(rows.labels, np.float64)


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
