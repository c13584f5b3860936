"""Online logistic regression as a task: read the rows, step towards every one of them, finish."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from weigh import _core, errors
from weigh.features import Schema
from weigh.features.blocks import Floats, Longs
from weigh.features.validation import check_bool, check_finite, check_integer
from weigh.learn.class_weights import check_class_weight, check_class_weight_labels
from weigh.learn.dataset import LabelCheck, Progress, SourceDataset
from weigh.learn.design_matrix import linear_schema
from weigh.learn.feature_index import StandardisedIndexer
from weigh.learn.online_training import OnlineTraining, TrainingPasses
from weigh.learn.perceptron_state import grow_table
from weigh.model import Fit, LogisticModel
from weigh.model.perceptron import to_class_columns
from weigh.priors import Normal
from weigh.priors.conversion import check_weight_prior
from weigh.source import Source
from weigh.source.missing import Marker

ESTIMATOR_NAME = "LogisticRegression"
SAFE_RATE = 4.0  # one by the largest curvature of the loss, 1/4
N_STATISTICS_CELLS = (
    2  # cells before the weights of a safe run: how often a feature was met, and the sum of its squares
)


@dataclass(frozen=True)
class SgdSettings:
    """How logistic regression learns online: Σ loss + ½ l2 ‖w‖² is to be small.

    Without a `rate` steps are safe: implicit, every column with its own length, and the weights are the
    mean over all steps. With one they are plain, w ← w + rate · (x (y − g(w·x)) − l2 w / n), and the weights
    are the last.
    """

    l2: float = 1.0
    rate: float | None = None
    bias: bool = True

    @property
    def is_safe(self) -> bool:
        """Whether the lengths of steps are found while learning."""
        return self.rate is None

    def to_native(self, columns: int) -> _core.SgdSettings:
        """Return the settings of the native code."""
        return _core.SgdSettings(SAFE_RATE if self.rate is None else self.rate, self.l2, self.bias, columns)


@dataclass
class SgdState:
    """Weights, and what is known of the way to them.

    Two classes share one column of weights, more have one each. Row 0 of the table is the bias, row f + 1
    the feature f. `rows` is how many different rows there were, which share the penalty.
    """

    settings: SgdSettings
    classes: list[Any]
    table: Floats = field(init=False)
    steps: int = 0
    n_rows: int = 0
    scale: float = 1.0  # of plain steps: what the table's weights are to be multiplied with
    passes: int = 0
    class_totals: dict[Any, float] = field(default_factory=dict)  # the weight of all rows of every class
    objective: float | None = None  # of the last pass over all rows
    converged: bool = False

    def __post_init__(self) -> None:
        self.table = np.zeros((1, self._n_cells(self.columns)))

    @property
    def columns(self) -> int:
        """How many columns of weights there are."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    def _n_cells(self, columns: int) -> int:
        return N_STATISTICS_CELLS + 2 * columns if self.settings.is_safe else columns

    def learn(self, examples: _core.Examples, order: Longs | None, width: int, *, grows: bool) -> float:
        """Learn from examples over so many features, in order; return their loss before each step.

        `grows` says that they are new rows, and not some of the `rows` known already.
        """
        self.reserve_features(width)
        settings = self.settings.to_native(self.columns)
        known = examples, order, settings, self.n_rows, grows, self.table
        if self.settings.is_safe:
            loss = _core.implicit_sgd_pass(*known, self.steps)
        else:
            loss, self.scale = _core.sgd_pass(*known, self.scale)
        self.steps += len(examples)
        self.n_rows += len(examples) if grows else 0
        return float(loss)

    def class_frequencies(self) -> Floats:
        """Return the share of every class among the rows; one that was never seen has next to none."""
        totals = np.array([self.class_totals.get(label, 0.0) for label in self.classes])
        seen = np.maximum(totals, 1e-12 * max(1.0, float(totals.sum())))
        return np.asarray(seen / seen.sum())

    def reserve_features(self, width: int) -> None:
        """Make room for so many features."""
        self.table = grow_table(self.table, width)

    def weights(self, features: Longs) -> tuple[Floats, Floats]:
        """Return the weights [features, columns] of some features, and the biases."""
        if self.settings.is_safe:
            means = (
                self._averaged_weights(self.table[features + 1]),
                self._averaged_weights(self.table[:1])[0],
            )
        else:
            means = self.scale * self.table[features + 1], self.table[0].copy()
        if not all(np.isfinite(part).all() for part in means):
            raise errors.DataError(
                "The weights have become too large for numbers. Leave the rate out, for steps that are safe, "
                "or give a smaller one."
            )
        return means

    def _averaged_weights(self, rows: Floats) -> Floats:
        """The means over all steps, of which the later ones count more: 1, 2, 3, …"""
        weights, sums = (
            rows[:, N_STATISTICS_CELLS : N_STATISTICS_CELLS + self.columns],
            rows[:, N_STATISTICS_CELLS + self.columns :],
        )
        return np.asarray(weights - sums / max(1.0, 0.5 * self.steps * (self.steps + 1)))

    def penalty(self) -> float:
        """Return what the weights cost as they stand."""
        weights, _ = self.weights(np.arange(len(self.table) - 1))
        return 0.5 * self.settings.l2 * float(np.square(weights).sum())

    def check_settings(self, settings: SgdSettings) -> None:
        """Refuse settings that a run cannot change on its way; penalty and rate may change."""
        for name in ("is_safe", "bias"):
            if getattr(self.settings, name) != getattr(settings, name):
                known = {"is_safe": "a rate that is given or left to be found"}.get(name, name)
                raise errors.ParameterError(
                    f"{ESTIMATOR_NAME}: {known} cannot change while a run goes on. Begin a new one: fit, or a new "
                    f"{ESTIMATOR_NAME}."
                )

    def add_classes(self, classes: Sequence[Any]) -> None:
        """Give classes that are new weights of zero; two classes that shared a column part ways."""
        if list(classes) == self.classes:
            return
        places = np.array([list(classes).index(label) for label in self.classes])
        first = N_STATISTICS_CELLS if self.settings.is_safe else 0
        old = self.table[:, first:].reshape(len(self.table), -1, self.columns)
        if self.columns == 1:
            old = np.concatenate([-0.5 * old, 0.5 * old], axis=2)
        cells = np.zeros((len(self.table), old.shape[1], len(classes)))
        cells[:, :, places] = old
        self.classes = list(classes)
        self.table = np.hstack([self.table[:, :first], cells.reshape(len(cells), -1)])


MAX_RATE = 1e100
RATE_CONSTRAINT = f"'safe' or a number above 0, at most {MAX_RATE:g}"


@dataclass
class SgdTraining(OnlineTraining[SgdState]):
    """A run of logistic regression together with the features it is over."""

    def model(self) -> LogisticModel:
        """Return the model of the run as it stands."""
        run, orders = self.state, self.feature_index.feature_orders()
        run.reserve_features(self.feature_index.width)
        table, biases = run.weights(np.concatenate(orders))
        terms = self.feature_index.build_terms(orders, to_class_columns(table))
        l2, bias = run.settings.l2, run.settings.bias
        prior = "None" if not l2 else repr(Normal(1 / math.sqrt(l2)))
        # Numbers that were scaled have the penalty per standard deviation.
        scaled = any(isinstance(part, StandardisedIndexer) for part in self.feature_index.indexers)
        fit = Fit(
            "log",
            prior,
            None if scaled else 0.0,
            None if scaled else l2,
            sum(run.class_totals.values()),
            run.n_rows,
            bias,
            classes=len(run.classes),
            units=(0.0, l2) if scaled else None,
            method="online",
        )
        return LogisticModel(
            self.schema, run.classes, to_class_columns(biases)[0], terms, run.class_frequencies(), fit
        )


@dataclass(frozen=True)
class OnlineLogisticTask:
    """Learning logistic regression by stochastic gradient, and how rows are gone through.

    `tol` ends it after a pass whose objective is not below the one before by such a share of it; None
    never does. The objective of a pass is the loss of every row just before the step towards it, and the
    penalty of the weights at the end.
    """

    schema: Schema
    settings: SgdSettings = field(default_factory=SgdSettings)
    max_iter: int = 20
    tol: float | None = 1e-3
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
        settings = SgdSettings(
            _check_nonnegative("l2", l2), _check_rate(rate), check_bool(ESTIMATOR_NAME, "bias", bias)
        )
        max_iter = check_integer(ESTIMATOR_NAME, "max_iter", max_iter, 1)
        tol = None if tol is None else _check_nonnegative("tol", tol)
        shuffle, seed = (
            check_bool(ESTIMATOR_NAME, "shuffle", shuffle),
            check_integer(ESTIMATOR_NAME, "random_state", random_state, 0),
        )
        check_class_weight(ESTIMATOR_NAME, class_weight)
        schema = linear_schema(
            source, columns, scale=scale, missing=missing, owner=ESTIMATOR_NAME, whole_numbers=True
        )
        return cls(schema, settings, max_iter, tol, shuffle, seed, class_weight)

    def learn(self, source: Source, *, progress: Progress | None = None) -> LogisticModel:
        """Return the model of a source."""
        return self.train(source, progress=progress).model()

    def train(
        self,
        source: Source,
        before: SgdTraining | None = None,
        *,
        progress: Progress | None = None,
        check: LabelCheck | None = None,
    ) -> SgdTraining:
        """Go through the rows until the objective falls no more, or `max_iter` times.

        A course from before is gone on with, and changed. With a `check` of the labels the rows are one
        batch of several: all of it is learned, or nothing has changed.
        """
        if before is None:
            reading = SourceDataset.read(self.schema, source, progress, check)
            course = SgdTraining(
                self.schema, reading.feature_index, SgdState(self.settings, self._find_classes(reading))
            )
        else:
            course = before
            course.state.check_settings(self.settings)
            reading = SourceDataset(course.schema, source, course.feature_index)
            reading.read_all(
                progress, None if check is None else partial(self._check_new_labels, course.state, check)
            )
            self._check_new_labels(course.state, check, reading.labels)
            course.state.settings = self.settings
            course.state.add_classes(reading.classes([*course.state.classes, *self.classes]))
        if check is None and reading.n_rows:
            course.state.n_rows, course.state.class_totals = reading.n_rows, {}
        for label, weight in reading.class_totals().items():
            course.state.class_totals[label] = course.state.class_totals.get(label, 0.0) + weight
        self._run_passes(course.state, reading, progress, is_batch=check is not None)
        return course

    def _find_classes(self, reading: SourceDataset) -> list[Any]:
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

    def _check_new_labels(self, run: SgdState, check: LabelCheck | None, labels: Collection[Any]) -> None:
        if check is not None:
            check(labels)
        check_class_weight_labels(ESTIMATOR_NAME, self.class_weight, {*labels, *run.classes, *self.classes})

    def _run_passes(
        self, run: SgdState, reading: SourceDataset, progress: Progress | None, *, is_batch: bool
    ) -> None:
        passes = TrainingPasses(reading, run.classes, self.class_weight, ESTIMATOR_NAME)
        run.objective, run.converged = None, False
        for number in range(self.max_iter):
            run.passes, loss = run.passes + 1, 0.0
            for examples, order in passes.examples(self.seed if self.shuffle else None, number):
                loss += run.learn(
                    examples, order, reading.feature_index.width, grows=is_batch and number == 0
                )
                if progress is not None and number:
                    progress(0)
            # A small batch must not cost as much as all weights there are.
            if not is_batch and self._has_converged(run, loss + run.penalty()):
                break

    def _has_converged(self, run: SgdState, objective: float) -> bool:
        before, run.objective = run.objective, objective
        if before is not None and self.tol is not None:
            run.converged = before - objective <= self.tol * before
        return run.converged


def _check_nonnegative(name: str, value: Any) -> float:
    must = "a number of at least 0"
    if check_finite(ESTIMATOR_NAME, name, value, must) < 0:
        raise errors.parameter_error(ESTIMATOR_NAME, name, must, value)
    return float(value)


def _check_rate(given: Any) -> float | None:
    if isinstance(given, str) and given == "safe":
        return None
    if not 0 < check_finite(ESTIMATOR_NAME, "rate", given, RATE_CONSTRAINT) <= MAX_RATE:
        raise errors.parameter_error(ESTIMATOR_NAME, "rate", RATE_CONSTRAINT, given)
    return float(given)


def online_penalty(prior: Any, offset: Any = None) -> float:
    """Return the l2 of a prior that can be learned with online: one Normal for all columns, or none."""
    found = None if isinstance(prior, Mapping) else check_weight_prior(prior, ESTIMATOR_NAME, "prior")
    plain = not isinstance(prior, Mapping) and (
        found is None or (not found.is_scale_automatic and found.is_centred and found.penalty()[0] == 0)
    )
    if not plain:
        raise errors.ParameterError(
            f"{ESTIMATOR_NAME}: method='online' learns with one Normal prior around zero for all columns, or none, "
            f"got prior={prior!r}. Give a number, or method='exact'."
        )
    if offset is not None:
        raise errors.ParameterError(f"{ESTIMATOR_NAME}: method='online' has no offset. Use method='exact'.")
    return 0.0 if found is None else found.penalty()[1]
