"""Learners that count: they learn and unlearn piece by piece, exactly."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from weigh.engines import run
from weigh.estimators.declared import declared_classes, refuse_beyond
from weigh.estimators.probable import Probable
from weigh.learn import Task
from weigh.source import Source
from weigh.source.missing import marker_list


class Incremental(Probable):
    """A classifier whose model is made of counts.

    Subclasses name two tasks: the one that finds the columns' kinds in a source, and the one that
    counts more rows for the model there is. They have the parameters `missing` and `threads`.
    """

    missing: Any
    threads: int | None

    @abstractmethod
    def _task(self, source: Source) -> Task[Any, Any]:
        """Return the task that learns from a source for the first time."""

    @abstractmethod
    def _next_task(self) -> Task[Any, Any]:
        """Return the task that counts more rows in the model's schema."""

    def _markers(self) -> tuple[Any, ...]:
        return marker_list(self.missing, type(self).__name__)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from labelled rows; y is one label per row or the name of the label column."""
        source = self._source(X, y, sample_weight, self._markers())
        model = run(self._task(source), source, threads=self.threads)
        self.model_ = self._finished(model, source)
        self._remember(source)
        return self

    def _finished(self, model: Any, source: Source) -> Any:
        """Return what becomes of a model that has learned all rows of a source."""
        return model

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows; the result is the model of all rows together.

        The kinds of the columns are those of the first call. Classes and categories may appear
        later; `classes` names classes that exist although no row has shown them yet.
        """
        is_first = not hasattr(self, "model_")
        if is_first:
            source = self._source(X, y, sample_weight, self._markers())
            model = run(self._task(source), source, threads=self.threads)
        else:
            source = self._source(X, self._label(X, y), sample_weight, self.model_.schema.missing)
            source = source.stored(self.model_.storage)
            model = self.model_.uncalibrated.merge(run(self._next_task(), source, threads=self.threads))
        # Only a model that is complete takes the old one's place.
        self._become(model if classes is None else _declaring(model, classes))
        if is_first:
            self._remember(source)
        return self

    def _label(self, X: Any, y: Any) -> Any:
        return self.model_.label if y is None and getattr(X, "label", None) is None else y

    def _become(self, model: Any) -> None:
        self.model_ = model
        self.classes_ = model.labels

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Unlearn rows that were learned: the model becomes the one that never saw them."""
        check_is_fitted(self)
        source = self._source(X, self._label(X, y), sample_weight, self.model_.schema.missing)
        self._become(self.model_.uncalibrated.forget(source))
        return self

    def merge(self, other: Any) -> Self:
        """Add what another learner of this kind has learned: the model of both data sets together."""
        check_is_fitted(self)
        model = getattr(other, "model_", other)
        self._become(self.model_.uncalibrated.merge(getattr(model, "uncalibrated", model)))
        return self


def _declaring(model: Any, classes: Any) -> Any:
    """Return a model with classes that exist even if no row has shown them."""
    declared = declared_classes(classes)
    refuse_beyond(model.classes, declared)
    return replace(model, counts=model.counts.declaring(declared).canonical())
