"""The perceptron as a task: read the rows, go through them again and again, finish."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from weigh import errors
from weigh.features import Schema, Value
from weigh.features.columns import to_numbers
from weigh.features.validation import MAX_MAGNITUDE, check_bool, check_finite, check_integer
from weigh.learn.class_weights import check_class_weight, check_class_weight_labels
from weigh.learn.dataset import LabelCheck, Progress, SourceDataset
from weigh.learn.design_matrix import linear_schema
from weigh.learn.online_training import OnlineTraining, TrainingPasses
from weigh.learn.perceptron_state import PerceptronSettings, PerceptronState
from weigh.model import PerceptronModel
from weigh.model.perceptron import check_hypothesis, to_class_columns
from weigh.source import Source
from weigh.source.missing import Marker

ESTIMATOR_NAME = "Perceptron"
MULTICLASS_MODES = ("joint", "one-vs-rest")
MAX_RATE = 1e100
RATE_CONSTRAINT = f"a number above 0, at most {MAX_RATE:g}"


@dataclass
class PerceptronTraining(OnlineTraining[PerceptronState]):
    """A perceptron's run together with the features it is over."""

    cached_model: PerceptronModel | None = None  # of the run as it stands, once it was asked for

    def model(self) -> PerceptronModel:
        """Return the model of the run as it stands."""
        if self.cached_model is None:
            self.cached_model = self._build_model()
        return self.cached_model

    def _build_model(self) -> PerceptronModel:
        run, orders = self.state, self.feature_index.feature_orders()
        order = np.concatenate(orders)
        run.reserve_features(self.feature_index.width)
        table, biases, divisor = run.weights(order)
        terms = self.feature_index.build_terms(orders, to_class_columns(table))
        numbers = np.full(self.feature_index.width + 1, -1, dtype=np.int32)
        numbers[order] = np.arange(len(order), dtype=np.int32)
        record = run.record(numbers, len(order))
        keep = run.settings.keep
        first = keep if record is None else "last"
        base = to_class_columns(biases)[0]
        facts = first, run.certificate(), run.settings.rate, divisor, record
        model = PerceptronModel(self.schema, run.classes, base, terms, *facts)
        return model if keep == first else model.keep(keep)


@dataclass(frozen=True)
class PerceptronTask:
    """Learning a perceptron: what of the run is kept, and how rows are gone through."""

    schema: Schema
    settings: PerceptronSettings = field(default_factory=PerceptronSettings)
    max_iter: int = 20
    shuffle: bool = True
    seed: int = 0
    class_weight: Any = None
    classes: tuple[Any, ...] = ()  # which exist even if no row has shown them

    @classmethod
    def for_source(
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
        check_integer(ESTIMATOR_NAME, "random_state", random_state, 0)
        settings = PerceptronSettings(
            keep, bool(record), float(margin), bool(relative), float(rate), multiclass != "joint", bool(bias)
        )
        schema = linear_schema(source, columns, scale=scale, missing=missing)
        if not isinstance(columns, Schema):
            warn_unequal_scales(schema, source)
        return cls(schema, settings, int(max_iter), bool(shuffle), int(random_state), class_weight)

    def learn(self, source: Source, *, progress: Progress | None = None) -> PerceptronModel:
        """Return the model of a source."""
        return self.train(source, progress=progress).model()

    def train(
        self,
        source: Source,
        before: PerceptronTraining | None = None,
        *,
        progress: Progress | None = None,
        check: LabelCheck | None = None,
    ) -> PerceptronTraining:
        """Go through the rows until a pass changes nothing, or `max_iter` times.

        A course from before is gone on with, and changed. With a `check` of the labels the rows are one
        batch of several: all of it is learned, or nothing has changed.
        """
        if before is None:
            reading = SourceDataset.read(self.schema, source, progress, check)
            run = PerceptronState(self.settings, self.find_classes(reading))
            course = PerceptronTraining(self.schema, reading.feature_index, run)
        else:
            course = before
            course.state.check_settings(self.settings)
            reading = SourceDataset(course.schema, source, course.feature_index)
            reading.read_all(
                progress, None if check is None else partial(self._check_new_labels, course.state, check)
            )
            self._check_new_labels(course.state, check, reading.labels)
            course.state.change_settings(self.settings)
            course.state.add_classes(reading.classes([*course.state.classes, *self.classes]))
        course.cached_model = None
        course.state.n_fits = 1 if check is None and before is None else course.state.n_fits + 1
        course.state.has_seen_all = check is None
        self.run_passes(course.state, reading, progress)
        return course

    def find_classes(self, reading: SourceDataset) -> list[Any]:
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

    def _check_new_labels(
        self, run: PerceptronState, check: LabelCheck | None, labels: Collection[Any]
    ) -> None:
        if check is not None:
            check(labels)
        run.check_new_classes({*labels, *self.classes})
        check_class_weight_labels(ESTIMATOR_NAME, self.class_weight, {*labels, *run.classes, *self.classes})

    def run_passes(
        self, run: PerceptronState, reading: SourceDataset, progress: Progress | None = None
    ) -> None:
        """Go through the rows of a reading until a pass changes nothing."""
        passes = TrainingPasses(reading, run.classes, self.class_weight, ESTIMATOR_NAME)
        run.is_weighted = run.is_weighted or passes.is_weighted
        for number in range(self.max_iter):
            run.tracks_radius = number == 0
            run.begin_pass()
            for examples, order in passes.examples(self.seed if self.shuffle else None, number):
                run.learn(examples, order, reading.feature_index.width)
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
    owner = ESTIMATOR_NAME
    check_hypothesis(keep)
    for name, value in flags.items():
        check_bool(owner, name, value)
    if check_finite(owner, "margin", margin, "a number of at least 0") < 0:
        raise errors.parameter_error(owner, "margin", "a number of at least 0", margin)
    if not 0 < check_finite(owner, "rate", rate, RATE_CONSTRAINT) <= MAX_RATE:
        raise errors.parameter_error(owner, "rate", RATE_CONSTRAINT, rate)
    if not isinstance(multiclass, str) or multiclass not in MULTICLASS_MODES:
        raise errors.parameter_error(
            owner, "multiclass", " or ".join(map(repr, MULTICLASS_MODES)), multiclass
        )
    check_integer(owner, "max_iter", max_iter, 1)
    check_class_weight(owner, class_weight)


MAX_SCALE_RATIO = 100.0


def warn_unequal_scales(schema: Schema, source: Source) -> None:
    """Warn of a named column whose numbers are some hundred times larger than all other features."""
    if not source.named:
        return
    first: Mapping[str, Any] = source.prefix().columns
    pairs = zip(schema.names, schema.kinds, strict=True)
    names = [name for name, kind in pairs if isinstance(kind, Value) and name in first]
    sizes = {name: _max_abs(to_numbers(first[name], name, schema.missing)) for name in names}
    if not sizes or len(schema.names) < 2:
        return
    largest = max(sizes, key=lambda name: sizes[name])
    # Levels of categories, flags and most words are ones.
    others = [size for name, size in sizes.items() if name != largest]
    rest = max([*others, *([1.0] if len(names) < len(schema.names) else [])])
    # What is beyond all bounds is refused soon.
    if MAX_MAGNITUDE > sizes[largest] > MAX_SCALE_RATIO * rest > 0:
        warnings.warn(
            f"Column {largest!r} has numbers of up to {sizes[largest]:,.6g}, the other features of up to "
            f"{rest:,.6g}: a perceptron listens to the largest. Try scale='unit'.",
            errors.UnlikeScales,
            stacklevel=2,
        )


def _max_abs(values: Any) -> float:
    return float(np.nanmax(np.abs(values), initial=0.0))
