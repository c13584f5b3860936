"""The perceptron as a task: read the rows, go through them again and again, finish."""

from __future__ import annotations

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
from weigh.learn.online import OnlineRun, OnlineSettings
from weigh.learn.passes import OnlineCourse, Passes
from weigh.learn.reading import Check, Progress, Reading
from weigh.learn.unlike_scales import warn_of_unlike_scales
from weigh.model import PerceptronModel
from weigh.model.perceptron import as_classes
from weigh.model.record import check_kept
from weigh.source import Source
from weigh.source.missing import Marker

OWNER = "Perceptron"
MULTICLASS = ("joint", "one-vs-rest")
LARGEST_RATE = 1e100
RATE = f"a number above 0, at most {LARGEST_RATE:g}"


@dataclass
class Course(OnlineCourse[OnlineRun]):
    """A perceptron's run together with the features it is over."""

    made: PerceptronModel | None = None  # of the run as it stands, once it was asked for

    def model(self) -> PerceptronModel:
        """Return the model of the run as it stands."""
        if self.made is None:
            self.made = self._model()
        return self.made

    def _model(self) -> PerceptronModel:
        run, orders = self.run, self.space.orders()
        order = np.concatenate(orders)
        run.widen(self.space.width)
        table, biases, divisor = run.weights(order)
        terms = self.space.terms(orders, as_classes(table))
        numbers = np.full(self.space.width + 1, -1, dtype=np.int32)
        numbers[order] = np.arange(len(order), dtype=np.int32)
        record = run.record(numbers, len(order))
        keep = run.settings.keep
        first = keep if record is None else "last"
        base = as_classes(biases)[0]
        facts = first, run.certificate(), run.settings.rate, divisor, record
        model = PerceptronModel(self.schema, run.classes, base, terms, *facts)
        return model if keep == first else model.keep(keep)


@dataclass(frozen=True)
class PerceptronTask:
    """Learning a perceptron: what of the run is kept, and how rows are gone through."""

    schema: Schema
    settings: OnlineSettings = field(default_factory=OnlineSettings)
    max_iter: int = 20
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
        keep: str = "averaged",
        record: bool = False,
        margin: float = 0.0,
        relative: bool = False,
        rate: float = 1.0,
        max_iter: int = 20,
        shuffle: bool = True,
        random_state: int = 0,
        multiclass: str = "joint",
        bias: bool = True,
        scale: str | None = None,
        class_weight: Any = None,
        missing: Sequence[Marker] = (),
    ) -> PerceptronTask:
        """Return the task for a source: parameters checked, kinds found."""
        check_parameters(
            keep=keep,
            margin=margin,
            rate=rate,
            max_iter=max_iter,
            multiclass=multiclass,
            class_weight=class_weight,
            flags={"record": record, "relative": relative, "shuffle": shuffle, "bias": bias},
        )
        whole(OWNER, "random_state", random_state, 0)
        settings = OnlineSettings(
            keep, bool(record), float(margin), bool(relative), float(rate), multiclass != "joint", bool(bias)
        )
        schema = linear_schema(source, columns, scale=scale, missing=missing)
        if not isinstance(columns, Schema):
            warn_of_unlike_scales(schema, source)
        return cls(schema, settings, int(max_iter), bool(shuffle), int(random_state), class_weight)

    def learn(self, source: Source, *, progress: Progress | None = None) -> PerceptronModel:
        """Return the model of a source."""
        return self.course(source, progress=progress).model()

    def course(
        self,
        source: Source,
        before: Course | None = None,
        *,
        progress: Progress | None = None,
        check: Check | None = None,
    ) -> Course:
        """Go through the rows until a pass changes nothing, or `max_iter` times.

        A course from before is gone on with, and changed. With a `check` of the labels the rows are one
        batch of several: all of it is learned, or nothing has changed.
        """
        if before is None:
            reading = Reading.of(self.schema, source, progress, check)
            run = OnlineRun(self.settings, self.classes_of(reading))
            course = Course(self.schema, reading.space, run)
        else:
            course = before
            course.run.check_settings(self.settings)
            reading = Reading(course.schema, source, course.space)
            reading.first(progress, None if check is None else partial(self._check_more, course.run, check))
            self._check_more(course.run, check, reading.labels)
            course.run.change_settings(self.settings)
            course.run.declare(reading.classes([*course.run.classes, *self.classes]))
        course.made = None
        course.run.readings = 1 if check is None and before is None else course.run.readings + 1
        course.run.has_seen_all = check is None
        self.run(course.run, reading, progress)
        return course

    def classes_of(self, reading: Reading) -> list[Any]:
        """Return the classes of rows, two at least."""
        if not reading.n_rows:
            raise errors.DataError("There are no rows to learn from.")
        classes = reading.classes(self.classes)
        if len(classes) < 2:
            raise errors.LabelError(
                f"A perceptron separates classes, and all {reading.n_rows:,} rows are of one class, "
                f"{classes[0]!r}. Give rows of another class too."
            )
        return classes

    def _check_more(self, run: OnlineRun, check: Check | None, labels: Collection[Any]) -> None:
        if check is not None:
            check(labels)
        run.check_classes({*labels, *self.classes})
        check_named_classes(OWNER, self.class_weight, {*labels, *run.classes, *self.classes})

    def run(self, run: OnlineRun, reading: Reading, progress: Progress | None = None) -> None:
        """Go through the rows of a reading until a pass changes nothing."""
        passes = Passes(reading, run.classes, self.class_weight, OWNER)
        run.weighted = run.weighted or passes.is_weighted
        for number in range(self.max_iter):
            run.measures = number == 0
            run.begin_pass()
            for examples, order in passes.examples(self.seed if self.shuffle else None, number):
                run.learn(examples, order, reading.space.width)
                if progress is not None and number:
                    progress(0)
            if run.converged:
                break


def check_parameters(
    *,
    keep: object,
    margin: Any,
    rate: Any,
    max_iter: Any,
    multiclass: object,
    class_weight: Any,
    flags: Mapping[str, Any],
) -> None:
    """Refuse the first parameter that is none of a perceptron's."""
    owner = OWNER
    check_kept(keep)
    for name, value in flags.items():
        truth(owner, name, value)
    if finite(owner, "margin", margin, "a number of at least 0") < 0:
        raise errors.parameter(owner, "margin", "a number of at least 0", margin)
    if not 0 < finite(owner, "rate", rate, RATE) <= LARGEST_RATE:
        raise errors.parameter(owner, "rate", RATE, rate)
    if not isinstance(multiclass, str) or multiclass not in MULTICLASS:
        raise errors.parameter(owner, "multiclass", " or ".join(map(repr, MULTICLASS)), multiclass)
    whole(owner, "max_iter", max_iter, 1)
    check_class_weight(owner, class_weight)
