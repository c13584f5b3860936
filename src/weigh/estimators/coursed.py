"""Learners that go through their rows in order, and may go on when more rows come."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from weigh import errors
from weigh.estimators.base import Classifier
from weigh.estimators.declared import declared_classes, refuse_beyond
from weigh.estimators.uninterrupted import uninterrupted
from weigh.features.blocks import Floats
from weigh.model.decision import to_labels
from weigh.source import Source
from weigh.source.missing import marker_list

UNWEIGHTED = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "a row of weight 2 is one larger step, not two steps",
)


class Coursed(Classifier):
    """A classifier whose model comes of a course: a run, with the features it is over.

    Subclasses have the parameters `columns`, `scale`, `random_state` and `missing`, and name the task that
    goes on from a course, or begins one.
    """

    columns: Any
    scale: str | None
    random_state: Any
    missing: Any
    _course: Any
    _given: tuple[Any, Any]

    @abstractmethod
    def _course_task(self, source: Source, before: Any) -> Any:
        """Return the task for a source; one that goes on keeps the columns it has."""

    def _check_going_on(self, before: Any) -> None:
        if before is not None and self._given != (self.columns, self.scale):
            name = type(self).__name__
            anew = "fit without warm_start" if hasattr(self, "warm_start") else "fit"
            raise errors.ParameterError(
                f"{name}: columns and scale cannot change while a run goes on. Begin a new one: {anew}, or a "
                f"new {name}."
            )

    def _seed(self) -> int:
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(2**31 - 1)
        return int(seed)

    def __copy__(self) -> Self:
        # A run changes as it goes on: each copy needs its own.
        other = type(self).__new__(type(self))
        other.__dict__ |= self.__dict__
        if hasattr(self, "_course"):
            other._course = self._course.copy()
        return other

    def _begin(self, source: Source, before: Any = None) -> None:
        """Learn from all rows, perhaps going on from a course."""
        if before is not None:
            source = source.stored(before.storage())
        self._become(self._course_task(source, before).course(source, before), source)

    def _go_on(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        """Go once through more rows, in their order; all of them are learned, or none."""
        before = getattr(self, "_course", None)
        if before is None:
            source = self._source(X, y, sample_weight, marker_list(self.missing, type(self).__name__))
        else:
            label = before.schema.label if y is None and getattr(X, "label", None) is None else y
            source = self._source(X, label, sample_weight, before.schema.missing).stored(before.storage())
        declared = () if classes is None else tuple(declared_classes(classes))
        task = replace(self._course_task(source, before), max_iter=1, shuffle=False, classes=declared)

        def check(labels: Any) -> None:
            if declared:
                refuse_beyond([*labels, *(before.run.classes if before else ())], declared)

        uninterrupted(lambda: self._become(task.course(source, before, check=check), source))

    def _become(self, course: Any, source: Source) -> None:
        self._course = course
        self._given = (self.columns, self.scale)
        self._remember(source)

    def _labels(self) -> Any:
        return to_labels(self._course.run.classes)

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
