"""Base class of the online classifiers, which learn row by row and can continue with further rows."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from weigh import errors
from weigh.deduplicated_warnings import Origin, find_origin
from weigh.engines import run
from weigh.estimators.base import (
    BaseClassifier,
    check_classes,
    check_declared_labels,
    lock_of,
    serialised,
)
from weigh.features.blocks import Floats
from weigh.immutable import make_read_only
from weigh.learn.online_training import OnlineTraining
from weigh.learn.scaling import warn_frozen_scales
from weigh.model.decision import label_array
from weigh.source.base import Source
from weigh.source.partitioned.rows import PartitionedSource

SAMPLE_WEIGHT_CHECKS = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "a row of weight 2 is one larger step, not two steps",
)


class OnlineClassifier(BaseClassifier):
    """A classifier trained online; `_fitted` is its training, or the model of an exact fit.

    Subclasses have the parameters `columns`, `scale` and `random_state`, and provide the task.
    """

    columns: Any
    scale: str | None
    random_state: Any
    _fitted: Any
    _training_parameters: tuple[Any, Any]

    @abstractmethod
    def _online_task(self, source: Source, before: Any, *, is_batch: bool = False) -> Any:
        """Return the task for a source or a batch; with a training to continue, it keeps its schema."""

    def _infer_online_columns(self, source: Source) -> dict[str, Any]:
        """Return parameters that state the kinds of the columns; numbers with a scale are among the kinds."""
        return {"columns": self._online_task(source, None).schema, "scale": None}

    def _continue_from(self, before: Any, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters of a task; with a training to continue, it keeps schema and scaling."""
        if before is None:
            return parameters
        if self._training_parameters != (self.columns, self.scale):
            name = type(self).__name__
            fit = "fit without warm_start" if hasattr(self, "warm_start") else "fit"
            raise errors.ParameterError(
                f"{name}: columns and scale cannot change when training continues. Start again: {fit}, or "
                f"use a new {name}."
            )
        return parameters | {"columns": before.schema, "scale": None}

    def _resolve_seed(self) -> int:
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(2**31 - 1)
        return int(seed)

    @property
    def _training(self) -> Any:
        """The training that further rows continue; None if there is none."""
        fitted = getattr(self, "_fitted", None)
        return fitted if isinstance(fitted, OnlineTraining) else None

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    @property
    def model_(self) -> Any:
        """The model, which predicts, explains and can be saved without scikit-learn.

        After `partial_fit` it is built on first access, which waits for a call of `partial_fit` that is
        running in another thread.
        """
        check_is_fitted(self)
        fitted = self._fitted
        if not isinstance(fitted, OnlineTraining):
            return fitted
        model = fitted.cached_model
        if model is None:
            # Training changes its state in place, which must not be read meanwhile.
            with lock_of(self):
                model = fitted.model()
        return model

    @serialised
    def __getstate__(self) -> dict[str, Any]:
        # Training changes its state in place, so copies must not share it.
        training, state = self._training, super().__getstate__()
        return state if training is None else state | {"_fitted": training.copy()}

    def _fit_online(self, source: Source, before: Any = None) -> None:
        """Train on all rows, continuing from `before` if given."""
        if before is not None:
            source = source.with_storage(before.storage())
        task = self._online_task(source, before)
        if isinstance(source, PartitionedSource):
            model: Any = run(task, source)
            self._warn_of_labels(source, model.schema, model.labels)
            self._set_fitted_attributes(source, _fitted=model, classes_=model.labels)
            return
        training = task.train(source, before)
        self._warn_of_labels(source, training.schema, training.state.classes)
        self._set_training(training, source)

    def _partial_fit_online(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, label: str | None
    ) -> None:
        """Make one pass over further rows in their order; on an error nothing is learned."""
        before = self._training
        if before is None:
            source = self._source(X, self._labels(y, label), sample_weight, self._missing_markers())
        else:
            y = self._further_labels(X, y, label, before.schema.label)
            source = self._source(X, y, sample_weight, before.schema.missing)
            before.schema.align_source(source, type(self).__name__)
            source = source.with_storage(before.storage())
        declared = () if classes is None else tuple(check_classes(classes))
        task = self._online_task(source, before, is_batch=True)
        task = replace(task, max_iter=1, shuffle=False, classes=declared)

        def check(labels: Any) -> None:
            if declared:
                check_declared_labels([*labels, *(before.state.classes if before else ())], declared)

        origin = find_origin()  # another thread does not know the user's line

        def learn() -> None:
            training = task.train(source, before, check=check)
            if before is None:
                self._warn_frozen_scales(training, origin)
            self._set_training(training, source)

        run_uninterrupted(learn)

    def _warn_frozen_scales(self, training: Any, origin: Origin) -> None:
        """Warn that later batches keep the scale of the first one, unless the user chose the scale."""
        if self.scale == "auto":
            warn_frozen_scales(list(training.feature_index.standardisations()), origin)

    def _set_training(self, training: Any, source: Source) -> None:
        self._set_fitted_attributes(
            source,
            _fitted=training,
            _training_parameters=(self.columns, self.scale),
            classes_=make_read_only(label_array(training.state.classes)),
        )

    def decision_function(self, X: Any) -> Floats:
        """Return the score difference [n] of two classes, or the scores [n, C] of several."""
        check_is_fitted(self)
        scores = self.model_.scores(X)
        return np.asarray(scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores)

    @property
    def coef_(self) -> Floats:
        """The weights: [1, d] for two classes, [C, d] for several."""
        check_is_fitted(self)
        return np.atleast_2d(self.model_.coef)

    @property
    def intercept_(self) -> Floats:
        """The bias of each row of `coef_`."""
        check_is_fitted(self)
        return np.atleast_1d(self.model_.intercept)


def run_uninterrupted(work: Callable[[], None]) -> None:
    """Run work in a separate thread, because interrupts reach only the main thread.

    An interrupt before the work has started cancels it; a later one is raised after the work is done.
    """
    start, done, is_started = threading.Event(), threading.Event(), [False]
    failures: list[BaseException] = []

    def run() -> None:
        start.wait()
        try:
            if is_started[0]:
                work()
        except BaseException as cause:
            failures.append(cause)
        finally:
            done.set()

    thread = threading.Thread(target=run)
    try:
        thread.start()
        is_started[0] = True
        start.set()
        done.wait()
    except BaseException:
        # Even Thread.start can be interrupted; the thread then exits without working.
        start.set()
        # Wait for the event: after an interrupted join, is_alive and join are not reliable.
        if is_started[0]:
            done.wait()
        raise
    if failures:
        raise failures[0]
