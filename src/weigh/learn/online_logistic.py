"""Online logistic regression as a task: read the rows, step towards every one of them, finish."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from weigh import errors
from weigh.features import Schema
from weigh.features.settings import finite, truth, whole
from weigh.learn.class_weights import check_class_weight, check_named_classes
from weigh.learn.linear_kinds import linear_schema
from weigh.learn.logistic_run import OWNER, LogisticRun, LogisticSettings
from weigh.learn.numbered_parts import Scaled
from weigh.learn.passes import OnlineCourse, Passes
from weigh.learn.reading import Check, Progress, Reading
from weigh.model import Fit, LogisticModel
from weigh.model.perceptron import as_classes
from weigh.priors import Normal
from weigh.priors.weights import check_weight_prior
from weigh.source import Source
from weigh.source.missing import Marker

LARGEST_RATE = 1e100
RATE = f"'safe' or a number above 0, at most {LARGEST_RATE:g}"


@dataclass
class LogisticCourse(OnlineCourse[LogisticRun]):
    """A run of logistic regression together with the features it is over."""

    def model(self) -> LogisticModel:
        """Return the model of the run as it stands."""
        run, orders = self.run, self.space.orders()
        run.widen(self.space.width)
        table, biases = run.weights(np.concatenate(orders))
        terms = self.space.terms(orders, as_classes(table))
        l2, bias = run.settings.l2, run.settings.bias
        prior = "None" if not l2 else repr(Normal(1 / math.sqrt(l2)))
        # Numbers that were scaled have the penalty per standard deviation.
        scaled = any(isinstance(part, Scaled) for part in self.space.parts)
        fit = Fit(
            "log",
            prior,
            None if scaled else 0.0,
            None if scaled else l2,
            sum(run.totals.values()),
            run.rows,
            bias,
            classes=len(run.classes),
            units=(0.0, l2) if scaled else None,
            method="online",
        )
        return LogisticModel(self.schema, run.classes, as_classes(biases)[0], terms, run.shares(), fit)


@dataclass(frozen=True)
class OnlineLogisticTask:
    """Learning logistic regression by stochastic gradient, and how rows are gone through.

    `tol` ends it after a pass whose objective is not below the one before by such a share of it; None
    never does. The objective of a pass is the loss of every row just before the step towards it, and the
    penalty of the weights at the end.
    """

    schema: Schema
    settings: LogisticSettings = field(default_factory=LogisticSettings)
    max_iter: int = 20
    tol: float | None = 1e-3
    shuffle: bool = True
    seed: int = 0
    class_weight: Any = None
    classes: tuple[Any, ...] = ()  # which exist even if no row has shown them

    @classmethod
    def over(
        cls,
        source: Source,
        columns: object = "auto",
        *,
        l2: float = 1.0,
        rate: float | str = "safe",
        max_iter: int = 20,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        random_state: int = 0,
        bias: bool = True,
        scale: str | None = None,
        class_weight: Any = None,
        missing: Sequence[Marker] = (),
    ) -> OnlineLogisticTask:
        """Return the task for a source: parameters checked, kinds found."""
        settings = LogisticSettings(_at_least_0("l2", l2), _rate(rate), truth(OWNER, "bias", bias))
        max_iter = whole(OWNER, "max_iter", max_iter, 1)
        tol = None if tol is None else _at_least_0("tol", tol)
        shuffle, seed = truth(OWNER, "shuffle", shuffle), whole(OWNER, "random_state", random_state, 0)
        check_class_weight(OWNER, class_weight)
        schema = linear_schema(source, columns, scale=scale, missing=missing, owner=OWNER, whole_numbers=True)
        return cls(schema, settings, max_iter, tol, shuffle, seed, class_weight)

    def learn(self, source: Source, *, progress: Progress | None = None) -> LogisticModel:
        """Return the model of a source."""
        return self.course(source, progress=progress).model()

    def course(
        self,
        source: Source,
        before: LogisticCourse | None = None,
        *,
        progress: Progress | None = None,
        check: Check | None = None,
    ) -> LogisticCourse:
        """Go through the rows until the objective falls no more, or `max_iter` times.

        A course from before is gone on with, and changed. With a `check` of the labels the rows are one
        batch of several: all of it is learned, or nothing has changed.
        """
        if before is None:
            reading = Reading.of(self.schema, source, progress, check)
            course = LogisticCourse(
                self.schema, reading.space, LogisticRun(self.settings, self._classes(reading))
            )
        else:
            course = before
            course.run.check_settings(self.settings)
            reading = Reading(course.schema, source, course.space)
            reading.first(progress, None if check is None else partial(self._check_more, course.run, check))
            self._check_more(course.run, check, reading.labels)
            course.run.settings = self.settings
            course.run.declare(reading.classes([*course.run.classes, *self.classes]))
        if check is None and reading.n_rows:
            course.run.rows, course.run.totals = reading.n_rows, {}
        for label, weight in reading.totals().items():
            course.run.totals[label] = course.run.totals.get(label, 0.0) + weight
        self._go(course.run, reading, progress, is_batch=check is not None)
        return course

    def _classes(self, reading: Reading) -> list[Any]:
        """Return the classes of rows, two at least."""
        if not reading.n_rows:
            raise errors.DataError("There are no rows to learn from.")
        classes = reading.classes(self.classes)
        if len(classes) < 2:
            raise errors.LabelError(
                f"Logistic regression tells classes apart, and all {reading.n_rows:,} rows are of one class, "
                f"{classes[0]!r}. Give rows of another class too."
            )
        return classes

    def _check_more(self, run: LogisticRun, check: Check | None, labels: Collection[Any]) -> None:
        if check is not None:
            check(labels)
        check_named_classes(OWNER, self.class_weight, {*labels, *run.classes, *self.classes})

    def _go(self, run: LogisticRun, reading: Reading, progress: Progress | None, *, is_batch: bool) -> None:
        passes = Passes(reading, run.classes, self.class_weight, OWNER)
        run.objective, run.converged = None, False
        for number in range(self.max_iter):
            run.passes, loss = run.passes + 1, 0.0
            for examples, order in passes.examples(self.seed if self.shuffle else None, number):
                loss += run.learn(examples, order, reading.space.width, grows=is_batch and number == 0)
                if progress is not None and number:
                    progress(0)
            # A small batch must not cost as much as all weights there are.
            if not is_batch and self._has_settled(run, loss + run.penalty()):
                break

    def _has_settled(self, run: LogisticRun, objective: float) -> bool:
        before, run.objective = run.objective, objective
        if before is not None and self.tol is not None:
            run.converged = before - objective <= self.tol * before
        return run.converged


def _at_least_0(name: str, value: Any) -> float:
    must = "a number of at least 0"
    if finite(OWNER, name, value, must) < 0:
        raise errors.parameter(OWNER, name, must, value)
    return float(value)


def _rate(given: Any) -> float | None:
    if isinstance(given, str) and given == "safe":
        return None
    if not 0 < finite(OWNER, "rate", given, RATE) <= LARGEST_RATE:
        raise errors.parameter(OWNER, "rate", RATE, given)
    return float(given)


def online_penalty(prior: Any, offset: Any = None) -> float:
    """Return the l2 of a prior that can be learned with online: one Normal for all columns, or none."""
    found = None if isinstance(prior, Mapping) else check_weight_prior(prior, OWNER, "prior")
    plain = not isinstance(prior, Mapping) and (
        found is None or (not found.is_chosen and found.is_centred and found.penalty()[0] == 0)
    )
    if not plain:
        raise errors.ParameterError(
            f"{OWNER}: method='online' learns with one Normal prior around zero for all columns, or none, "
            f"got prior={prior!r}. Give a number, or method='exact'."
        )
    if offset is not None:
        raise errors.ParameterError(f"{OWNER}: method='online' has no offset. Use method='exact'.")
    return 0.0 if found is None else found.penalty()[1]
