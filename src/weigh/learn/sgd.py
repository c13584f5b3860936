"""The task of online logistic regression: read the rows, make passes of stochastic gradient descent."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from weigh import _core, errors
from weigh.advice import Setting
from weigh.features.blocks import Floats, Longs
from weigh.features.schema import Schema
from weigh.features.width import check_table_memory
from weigh.learn.class_weights import check_class_weight_labels, zero_weight_classes
from weigh.learn.dataset import LabelCheck, Progress, SourceDataset
from weigh.learn.design_matrix import linear_schema, require_no_curves
from weigh.learn.online_training import OnlineTraining, TrainingPasses
from weigh.learn.perceptron_state import grow_table
from weigh.learn.scaling import resolve_regression_scale, warn_unlike_regression_scales
from weigh.model.fit import Fit, OnlineSettings
from weigh.model.logistic import LogisticModel
from weigh.model.perceptron import to_class_columns
from weigh.parameters.learners import LOGISTIC_REGRESSION
from weigh.priors.location_scale import Normal
from weigh.source.base import Source

ONLINE_PARAMETERS = LOGISTIC_REGRESSION.for_method("online")
SAFE_RATE = 4.0  # 1 / (largest curvature of the logistic loss)
N_STATISTICS_CELLS = 2  # of implicit steps, before the weights: count and sum of squares of the feature


@dataclass(frozen=True)
class SgdSettings:
    """How to minimise Σ loss + ½ l2 ‖w‖² by stochastic gradient descent.

    With `rate` None, steps are implicit (stable at any step size) with a step size per feature, and the
    result is a weighted mean over all steps. Otherwise steps are plain, w ← w + rate · (x (y − g(w·x)) − l2 w
    / n), and the result is the last iterate.
    """

    l2: float
    rate: float | None
    bias: bool

    @property
    def is_safe(self) -> bool:
        """Whether steps are implicit, with automatic step sizes."""
        return self.rate is None

    def to_native(self, columns: int) -> _core.SgdSettings:
        """Return the settings of the native code."""
        return _core.SgdSettings(SAFE_RATE if self.rate is None else self.rate, self.l2, self.bias, columns)


@dataclass
class SgdState:
    """Weights and statistics of the training.

    Two classes share one column of weights; several classes have one each. Row 0 of the table is the bias and
    row f + 1 is feature f. `n_rows` is the number of distinct rows, over which the penalty is spread.
    """

    settings: SgdSettings
    classes: list[Any]
    table: Floats = field(init=False)
    steps: int = 0
    n_rows: int = 0
    scale: float = 1.0  # plain steps: common factor of the weights in the table
    passes: int = 0
    class_totals: dict[Any, float] = field(default_factory=dict)  # total weight of the rows of each class
    objective: float | None = None  # in the last pass over all rows
    converged: bool = False

    def __post_init__(self) -> None:
        self.table = np.zeros((1, self._n_cells(self.columns)))

    @property
    def columns(self) -> int:
        """The number of columns of weights."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    def _n_cells(self, columns: int) -> int:
        return N_STATISTICS_CELLS + 2 * columns if self.settings.is_safe else columns

    def learn(self, examples: _core.Examples, order: Longs | None, width: int, *, grows: bool) -> float:
        """Learn from examples with `width` features in the given order; return their loss before each step.

        `grows` means that the rows are new and not yet counted in `n_rows`.
        """
        self.reserve_features(width)
        settings = self.settings.to_native(self.columns)
        arguments = examples, order, settings, self.n_rows, grows, self.table
        if self.settings.is_safe:
            loss = _core.implicit_sgd_pass(*arguments, self.steps)
        else:
            loss, self.scale = _core.sgd_pass(*arguments, self.scale)
        self.steps += len(examples)
        self.n_rows += len(examples) if grows else 0
        return float(loss)

    def class_frequencies(self) -> Floats:
        """Return the class frequencies; classes without rows get a tiny positive one."""
        totals = np.array([self.class_totals.get(label, 0.0) for label in self.classes])
        positive = np.maximum(totals, 1e-12 * max(1.0, float(totals.sum())))
        return np.asarray(positive / positive.sum())

    def reserve_features(self, width: int) -> None:
        """Extend the table to `width` features."""
        check_table_memory(width, len(self.classes))
        self.table = grow_table(self.table, width)

    def weights(self, features: Longs) -> tuple[Floats, Floats]:
        """Return the weights [features, columns] of the given features, and the biases."""
        if self.settings.is_safe:
            weights = self._averaged_weights(self.table[features + 1])
            biases = self._averaged_weights(self.table[:1])[0]
        else:
            weights, biases = self.scale * self.table[features + 1], self.table[0].copy()
        if not (np.isfinite(weights).all() and np.isfinite(biases).all()):
            raise errors.DataError(
                "The weights have overflowed. Leave out rate, for automatic step sizes, or give a smaller "
                "one."
            )
        return weights, biases

    def _averaged_weights(self, rows: Floats) -> Floats:
        """Return the mean over all steps, weighted 1, 2, 3, …"""
        end = N_STATISTICS_CELLS + self.columns
        weights, sums = rows[:, N_STATISTICS_CELLS:end], rows[:, end:]
        return np.asarray(weights - sums / max(1.0, 0.5 * self.steps * (self.steps + 1)))

    def penalty(self) -> float:
        """Return ½ l2 ‖w‖² of the current weights."""
        weights, _ = self.weights(np.arange(len(self.table) - 1))
        return 0.5 * self.settings.l2 * float(np.square(weights).sum())

    def check_settings(self, settings: SgdSettings) -> None:
        """Raise ParameterError for settings that must not change during training; penalty and rate may."""
        changes = {
            "rate cannot change between 'safe' and a number": self.settings.is_safe != settings.is_safe,
            "bias cannot change": self.settings.bias != settings.bias,
        }
        for message, is_changed in changes.items():
            if is_changed:
                owner = ONLINE_PARAMETERS.owner
                raise errors.ParameterError(
                    f"{owner}: {message} when training continues. Start again: fit, or use a new {owner}."
                )

    def add_classes(self, classes: Sequence[Any]) -> None:
        """Add new classes with zero weights; the shared column of two classes becomes one column each."""
        if list(classes) == self.classes:
            return
        indices = np.array([list(classes).index(label) for label in self.classes])
        first = N_STATISTICS_CELLS if self.settings.is_safe else 0
        old_table = self.table[:, first:].reshape(len(self.table), -1, self.columns)
        if self.columns == 1:
            old_table = np.concatenate([-0.5 * old_table, 0.5 * old_table], axis=2)
        table = np.zeros((len(self.table), old_table.shape[1], len(classes)))
        table[:, :, indices] = old_table
        self.classes = list(classes)
        self.table = np.hstack([self.table[:, :first], table.reshape(len(table), -1)])


@dataclass
class SgdTraining(OnlineTraining[SgdState, LogisticModel]):
    """The training of an online logistic regression, which can be continued with further rows."""

    def build_model(self) -> LogisticModel:
        """Build the model of the current state."""
        state, orders = self.state, self.feature_index.feature_orders()
        state.reserve_features(self.feature_index.width)
        table, biases = state.weights(np.concatenate(orders))
        terms = self.feature_index.build_terms(orders, to_class_columns(table))
        l2, bias = state.settings.l2, state.settings.bias
        prior = "None" if not l2 else repr(Normal(1 / math.sqrt(l2)))
        # The penalty of standardised numbers is per standard deviation, not per unit.
        is_standardised = bool(self.feature_index.standardisations())
        fit = Fit(
            "log",
            prior,
            None if is_standardised else 0.0,
            None if is_standardised else l2,
            sum(state.class_totals.values()),
            state.n_rows,
            bias,
            classes=len(state.classes),
            units=(0.0, l2) if is_standardised else None,
            scaling="kind" if is_standardised else None,
            method="online",
        )
        intercepts = to_class_columns(biases)[0]
        details = state.class_frequencies(), fit, None, None, self.online
        rows = self.finished_rows(orders)
        return LogisticModel(self.schema, state.classes, intercepts, terms, *details, training_rows=rows)


@dataclass(frozen=True)
class OnlineLogisticTask:
    """Trains a logistic regression by stochastic gradient descent.

    Training stops after a pass that decreases the objective by less than the fraction `tol` (None: never).
    The objective of a pass is the loss of each row just before its step, plus the penalty of the final
    weights.
    """

    schema: Schema
    settings: SgdSettings
    max_iter: int
    tol: float | None
    shuffle: bool
    seed: int
    class_weight: Any
    classes: tuple[Any, ...] = ()  # declared classes, which may have no rows yet

    @classmethod
    def for_source(cls, source: Source, columns: object = "auto", **parameters: Any) -> OnlineLogisticTask:
        """Return the task for a source: check the parameters and infer the kinds of the columns."""
        values = ONLINE_PARAMETERS.check(parameters)
        rate = None if values["rate"] == "safe" else values["rate"]
        settings = SgdSettings(_online_penalty(values, parameters), rate, values["bias"])
        prior = parameters.get("prior", ONLINE_PARAMETERS.defaults["prior"])
        scale = resolve_regression_scale(values["scale"], source, prior, is_online=True)
        # Steps of one row at a time learn little from values as small as those of weighted words.
        kinds = {"missing": values["missing"], "whole_numbers": True, "weighs_text": False}
        schema = linear_schema(source, columns, scale=scale, **kinds)
        require_no_curves(schema)
        if (scale, values["scale"]) == (None, "auto") and settings.l2 and not isinstance(columns, Schema):
            warn_unlike_regression_scales(schema, source)
        passes = values["max_iter"], values["tol"] or None, values["shuffle"], values["random_state"]
        return cls(schema, settings, *passes, values["class_weight"])

    def learn(self, source: Source, *, progress: Progress | None = None) -> LogisticModel:
        """Fit the model to the rows of a source."""
        return self.train(source, progress=progress).model()

    def train(
        self,
        source: Source,
        before: SgdTraining | None = None,
        *,
        progress: Progress | None = None,
        check: LabelCheck | None = None,
    ) -> SgdTraining:
        """Make passes over the rows until the objective stops decreasing, at most `max_iter`.

        `before` is continued in place. With a label `check` the rows are one batch of several, which is
        learned completely or not at all.
        """
        ignored = zero_weight_classes(self.class_weight)
        if before is None:
            dataset = SourceDataset.read(self.schema, source, progress, check, ignored)
            classes = self._find_classes(dataset)
            state = SgdState(self.settings, classes)
            training = SgdTraining(self.schema, dataset.feature_index, state)
        else:
            training, state = before, before.state
            state.check_settings(self.settings)
            dataset = SourceDataset(training.schema, source, training.feature_index, ignored_classes=ignored)
            dataset.read_all(
                progress, None if check is None else partial(self._check_new_labels, state, check)
            )
            self._check_new_labels(state, check, dataset.labels)
            classes = dataset.classes([*state.classes, *self.classes])
        # First, because rows that cannot be learned must leave the state as it was.
        passes = TrainingPasses(dataset, classes, self.class_weight, ONLINE_PARAMETERS.owner)
        check_table_memory(dataset.feature_index.width, len(classes))
        if before is not None:
            state.settings = self.settings
            state.add_classes(classes)
        if check is None and dataset.n_rows:
            state.n_rows, state.class_totals = dataset.n_rows, {}
        for label, weight in dataset.class_totals().items():
            state.class_totals[label] = state.class_totals.get(label, 0.0) + weight
        self._run_passes(state, passes, dataset.feature_index.width, progress, is_batch=check is not None)
        can_repeat = before is None and check is None
        training.online = self._online_settings(state, passes) if can_repeat else None
        training.add_rows(dataset.training_rows)
        return training

    def _online_settings(self, state: SgdState, passes: TrainingPasses) -> OnlineSettings | None:
        return passes.settings(
            self.seed if self.shuffle else None,
            passes=state.passes,
            is_limited=not state.converged,
            rate=self.settings.rate,
            tol=self.tol,
        )

    def _find_classes(self, dataset: SourceDataset) -> list[Any]:
        """Return the classes, or raise LabelError if there are fewer than two."""
        if not dataset.n_rows:
            raise errors.DataError("There are no rows to learn from.")
        classes = dataset.classes(self.classes)
        if len(classes) < 2:
            raise errors.LabelError(
                f"Logistic regression needs at least two classes, but all {dataset.n_rows:,} rows are of "
                f"one class, {classes[0]!r}. Give rows of another class too."
            )
        return classes

    def _check_new_labels(self, state: SgdState, check: LabelCheck | None, labels: Collection[Any]) -> None:
        if check is not None:
            check(labels)
        check_class_weight_labels(
            ONLINE_PARAMETERS.owner, self.class_weight, {*labels, *state.classes, *self.classes}
        )

    def _run_passes(
        self,
        state: SgdState,
        passes: TrainingPasses,
        width: int,
        progress: Progress | None,
        *,
        is_batch: bool,
    ) -> None:
        state.objective, state.converged = None, False
        for number in range(self.max_iter):
            state.passes, loss = state.passes + 1, 0.0
            for examples, order in passes.examples(self.seed if self.shuffle else None, number):
                loss += state.learn(examples, order, width, grows=is_batch and number == 0)
                if progress is not None and number:
                    progress(0)
            # The penalty visits every weight, which would dominate the cost of a small batch.
            if not is_batch and self._has_converged(state, loss + state.penalty()):
                break

    def _has_converged(self, state: SgdState, objective: float) -> bool:
        previous, state.objective = state.objective, objective
        if previous is not None and self.tol is not None:
            state.converged = previous - objective <= self.tol * previous
        return state.converged


def _online_penalty(values: Mapping[str, Any], given: Mapping[str, Any]) -> float:
    """Return the l2 penalty of the prior, or raise ParameterError if online learning does not support it."""
    prior = values["prior"]
    is_supported = prior is None or (
        not isinstance(prior, Mapping)
        and not prior.is_scale_automatic
        and prior.is_centred
        and prior.penalty()[0] == 0
    )
    if not is_supported:
        raise errors.ParameterError(
            (
                f"{ONLINE_PARAMETERS.owner}: ",
                Setting("method", "online"),
                " supports one Normal prior with mean zero for all columns, or None, got ",
                Setting("prior", given["prior"]),
                ".",
            ),
            hint=("Give a number, or ", Setting("method", "exact"), "."),
        )
    if values["offset"] is not None:
        raise errors.ParameterError(
            (f"{ONLINE_PARAMETERS.owner}: ", Setting("method", "online"), " does not support offset."),
            hint=("Use ", Setting("method", "exact"), "."),
        )
    return 0.0 if prior is None else float(prior.penalty()[1])
