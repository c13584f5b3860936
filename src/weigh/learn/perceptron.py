"""The perceptron as a task: read the rows, go through them again and again, finish."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from weigh import _core, errors
from weigh.features import Schema
from weigh.features.blocks import Floats, Longs
from weigh.features.settings import finite, truth, whole
from weigh.learn.linear_kinds import linear_schema
from weigh.learn.online import OnlineRun, OnlineSettings
from weigh.learn.order import pass_order
from weigh.learn.reading import Check, Encoded, EncodedRows, Progress, Reading
from weigh.learn.space import Space
from weigh.learn.unlike_scales import warn_of_unlike_scales
from weigh.model import PerceptronModel
from weigh.model.perceptron import as_classes
from weigh.model.record import check_kept
from weigh.model.tally import name_key
from weigh.source import Source
from weigh.source.missing import Marker

MULTICLASS = ("joint", "one-vs-rest")
LARGEST_RATE = 1e100
RATE = f"a number above 0, at most {LARGEST_RATE:g}"


@dataclass
class Course:
    """A run together with the features it is over: what goes on when more rows come."""

    schema: Schema
    space: Space
    run: OnlineRun
    made: PerceptronModel | None = None  # of the run as it stands, once it was asked for

    def copy(self) -> Course:
        """Return a course that may go on without this one."""
        return Course(self.schema, copy.deepcopy(self.space), copy.deepcopy(self.run), self.made)

    def storage(self) -> dict[str, str]:
        """Return how text files must be read to match what was learned, for `Source.stored`."""
        label = self.schema.label
        named = {} if label is None else {label: self.run.classes}
        return self.schema.spelling({**self.space.levels(), **named})

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
        whole("Perceptron", "random_state", random_state, 0)
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
        check_named_classes(self.class_weight, {*labels, *run.classes, *self.classes})

    def run(self, run: OnlineRun, reading: Reading, progress: Progress | None = None) -> None:
        """Go through the rows of a reading until a pass changes nothing."""
        passes = Passes(reading, run.classes, self.class_weight)
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


class Passes:
    """The examples of a reading, pass by pass: all at once if they are in memory."""

    def __init__(self, reading: EncodedRows, classes: Sequence[Any], class_weight: Any = None) -> None:
        self._reading = reading
        self._places = reading.places(classes)
        self._weights = class_weights(class_weight, classes, reading, self._places)
        self.is_weighted = self._weights is not None or reading.is_weighted
        self._all = self._joined(reading.chunks()) if reading.is_kept else None

    def examples(self, seed: int | None, number: int) -> Iterator[tuple[_core.Examples, Longs | None]]:
        """Yield examples with their order in this pass; without a seed they are in order.

        Rows that are read again for every pass are shuffled among those that are read together.
        """
        if self._all is not None:
            yield self._all, None if seed is None else pass_order(len(self._all), seed, number)
            return
        for at, chunk in enumerate(self._reading.chunks()):
            examples = self._joined(iter([chunk]))
            yield examples, None if seed is None else pass_order(len(examples), seed, number + 1_000_003 * at)

    def _joined(self, chunks: Iterator[Encoded]) -> _core.Examples:
        examples = _core.Examples()
        for chunk in chunks:
            codes, weights = self._places[chunk.codes], chunk.weights
            if self._weights is not None:
                weights = self._weights[codes] * (1.0 if weights is None else weights)
            examples.add(*chunk.rows, codes, weights, self._reading.space.width)
        return examples


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
    owner = "Perceptron"
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
    check_class_weight(class_weight)


def check_class_weight(given: Any) -> None:
    """Refuse class weights that are no weights."""
    if given is None or (isinstance(given, str) and given == "balanced"):
        return
    must = "None, 'balanced' or a mapping from class to a number above 0"
    if not isinstance(given, Mapping):
        raise errors.parameter("Perceptron", "class_weight", must, given)
    for label, weight in given.items():
        if finite("Perceptron", "class_weight", weight, must) <= 0:
            raise errors.parameter("Perceptron", "class_weight", must, {label: weight})


def check_named_classes(given: Any, classes: Collection[Any]) -> None:
    """Refuse weights of classes that do not exist."""
    beyond = [label for label in given if label not in classes] if isinstance(given, Mapping) else []
    if beyond:
        raise errors.ParameterError(
            f"Perceptron: class_weight names the class {errors.listing(beyond)}; the rows have "
            f"{errors.listing(sorted(classes, key=name_key))}."
        )


def class_weights(given: Any, classes: Sequence[Any], reading: EncodedRows, places: Any) -> Floats | None:
    """Return the weight of each class; "balanced" ones are the less the more rows a class has."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        check_named_classes(given, classes)
        return np.array([float(given.get(label, 1.0)) for label in classes])
    counts = np.zeros(len(classes))
    for chunk in reading.chunks():
        counts += np.bincount(places[chunk.codes], chunk.weights, minlength=len(classes))
    balanced: Floats = counts.sum() / (len(classes) * np.maximum(counts, 1e-300))
    return balanced
