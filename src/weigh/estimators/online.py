"""Learners that go through their rows in order, and may go on when more rows come."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from weigh import errors
from weigh.estimators.base import BaseClassifier, check_classes, check_declared_labels
from weigh.features.blocks import Floats
from weigh.model.decision import label_array
from weigh.source import Source
from weigh.source.missing import to_markers

SAMPLE_WEIGHT_CHECKS = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "a row of weight 2 is one larger step, not two steps",
)


class OnlineClassifier(BaseClassifier):
    """A classifier whose model comes of a course: a run, with the features it is over.

    Subclasses have the parameters `columns`, `scale`, `random_state` and `missing`, and name the task that
    goes on from a course, or begins one.
    """

    columns: Any
    scale: str | None
    random_state: Any
    missing: Any
    _training_state: Any
    _state_parameters: tuple[Any, Any]

    @abstractmethod
    def _online_task(self, source: Source, before: Any) -> Any:
        """Return the task for a source; one that goes on keeps the columns it has."""

    def _check_unchanged_columns(self, before: Any) -> None:
        if before is not None and self._state_parameters != (self.columns, self.scale):
            name = type(self).__name__
            anew = "fit without warm_start" if hasattr(self, "warm_start") else "fit"
            raise errors.ParameterError(
                f"{name}: columns and scale cannot change while a run goes on. Begin a new one: {anew}, or a "
                f"new {name}."
            )

    def _resolve_seed(self) -> int:
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(2**31 - 1)
        return int(seed)

    def __copy__(self) -> Self:
        # A run changes as it goes on: each copy needs its own.
        other = type(self).__new__(type(self))
        other.__dict__ |= self.__dict__
        if hasattr(self, "_training_state"):
            other._training_state = self._training_state.copy()
        return other

    def _fit_online(self, source: Source, before: Any = None) -> None:
        """Learn from all rows, perhaps going on from a course."""
        if before is not None:
            source = source.with_storage(before.storage())
        self._set_training_state(self._online_task(source, before).train(source, before), source)

    def _partial_fit_online(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        """Go once through more rows, in their order; all of them are learned, or none."""
        before = getattr(self, "_training_state", None)
        if before is None:
            source = self._source(X, y, sample_weight, to_markers(self.missing, type(self).__name__))
        else:
            label = before.schema.label if y is None and getattr(X, "label", None) is None else y
            source = self._source(X, label, sample_weight, before.schema.missing).with_storage(
                before.storage()
            )
        declared = () if classes is None else tuple(check_classes(classes))
        task = replace(self._online_task(source, before), max_iter=1, shuffle=False, classes=declared)

        def check(labels: Any) -> None:
            if declared:
                check_declared_labels([*labels, *(before.state.classes if before else ())], declared)

        run_uninterrupted(lambda: self._set_training_state(task.train(source, before, check=check), source))

    def _set_training_state(self, course: Any, source: Source) -> None:
        self._training_state = course
        self._state_parameters = (self.columns, self.scale)
        self._set_fitted_attributes(source)

    def _labels(self) -> Any:
        return label_array(self._training_state.state.classes)

    def decision_function(self, X: Any) -> Floats:
        """Return the score of the second of two classes, else one score per class."""
        check_is_fitted(self)
        scores = self.model_.scores(X)
        return np.asarray(scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores)

    @property
    def coef_(self) -> Floats:
        """The weights: one row for two classes, else one per class."""
        check_is_fitted(self)
        return np.atleast_2d(self.model_.coef)

    @property
    def intercept_(self) -> Floats:
        """The bias of each row of `coef_`."""
        check_is_fitted(self)
        return np.atleast_1d(self.model_.intercept)


def run_uninterrupted(work: Callable[[], None]) -> None:
    """Do work in a thread of its own, for an interrupt reaches only the main one.

    An interrupt before the work has begun leaves it undone; a later one waits until it is done.
    """
    begin, done, is_wanted = threading.Event(), threading.Event(), [False]
    failure: list[BaseException] = []

    def run() -> None:
        begin.wait()
        try:
            if is_wanted[0]:
                work()
        except BaseException as cause:
            failure.append(cause)
        finally:
            done.set()

    thread = threading.Thread(target=run)
    try:
        thread.start()
        is_wanted[0] = True
        begin.set()
        done.wait()
    except BaseException:
        # Even the start of a thread can be interrupted: until it is wanted, it does nothing.
        begin.set()
        # A thread that was joined once may be taken for ended though it is not: its own word counts.
        if is_wanted[0]:
            done.wait()
        raise
    if failure:
        raise failure[0]
