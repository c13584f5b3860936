"""The state of a perceptron during training: weights, sums for averaging, and the log of updates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from weigh import _core, errors
from weigh.features.blocks import Floats, Ints, Longs
from weigh.features.width import check_table_memory
from weigh.model.counts.count_table import canonical_order_key
from weigh.model.fit import Certificate
from weigh.model.perceptron import PerceptronRecord
from weigh.source.sparse_rows import SparseRows

AVERAGING_MODES = {"averaged": "examples", "lazy": "updates", "last": "none", "voted": "none"}


@dataclass(frozen=True)
class PerceptronSettings:
    """How a perceptron learns; `keep` selects the hypothesis, `record` keeps the misclassified rows."""

    keep: str
    record: bool
    margin: float
    relative: bool
    rate: float
    separate: bool
    bias: bool

    @property
    def averaging(self) -> str:
        """What the weights are averaged over during training: "examples", "updates" or "none"."""
        return "none" if self.keeps_record else AVERAGING_MODES[self.keep]

    @property
    def keeps_record(self) -> bool:
        """Whether the misclassified rows are kept."""
        return self.record or self.keep == "voted"

    def to_native(self, columns: int) -> _core.PerceptronSettings:
        """Return the settings of the native code, which measures weights in units of the rate."""
        separate = self.separate and columns > 1
        margin = self.margin if self.relative else self.margin / self.rate
        return _core.PerceptronSettings(
            1.0, margin, self.relative, separate, self.bias, self.averaging, columns
        )


class _Updates(NamedTuple):
    """A batch of updates: their rows, example numbers, increased and decreased classes, amounts."""

    rows: SparseRows
    times: Longs
    plus: Ints
    minus: Ints
    amounts: Floats


@dataclass
class PerceptronState:
    """Weights, statistics of the training and, if recorded, its updates.

    Two classes share one column of weights; several classes have one each. Row 0 of the table is the bias and
    row f + 1 is feature f; the sums for averaging follow in further columns. All are in units of the rate, so
    that integer data keep integer weights at any rate.
    """

    settings: PerceptronSettings
    classes: list[Any]
    table: Floats = field(init=False)
    updates: Longs = field(init=False)
    squared_norms: Floats = field(init=False)
    n_examples: int = 0
    n_added_examples: int = 0  # of these, examples of passes that were not made because they change nothing
    added_passes: int = 0
    mistakes: int = 0
    n_updates: int = 0
    squared_radius: float = 0.0
    passes: int = 0
    converged: bool = False
    n_fits: int = 0  # calls of fit and partial_fit
    has_seen_all: bool = True  # whether the last rows were the whole data set, not a batch
    is_weighted: bool = False
    tracks_radius: bool = True  # only needed in the first pass over new rows
    min_margin: float = math.inf
    update_log: list[_Updates] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.table = np.zeros((1, self.columns * self._n_slots))
        self.updates = np.zeros(self.columns, dtype=np.int64)
        self.squared_norms = np.zeros(self.columns)

    @property
    def columns(self) -> int:
        """The number of columns of weights."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    @property
    def keeps_average(self) -> bool:
        """Whether the average over all examples is known."""
        return self.settings.keeps_record or self.settings.averaging == "examples"

    @property
    def _n_slots(self) -> int:
        return 1 if self.settings.averaging == "none" else 2

    def begin_pass(self) -> None:
        """Start a pass; training has converged if the pass makes no update."""
        self.passes += 1
        self.converged, self.min_margin = True, math.inf

    def learn(self, examples: _core.Examples, order: Longs | None, width: int) -> int:
        """Learn from examples with `width` features in the given order; return the number of mistakes."""
        self.reserve_features(width)
        result = _core.perceptron_pass(
            examples,
            order,
            self.settings.to_native(self.columns),
            self.table,
            self.updates,
            self.squared_norms,
            self.n_examples,
            self.tracks_radius,
            self.squared_radius,
            self.settings.keeps_record,
        )
        mistakes, updates, min_margin, self.squared_radius, record = result
        if self.settings.keeps_record and updates:
            self._log_updates(examples, order, *record)
        self.n_examples += len(examples)
        self.mistakes += mistakes
        self.n_updates += updates
        self.converged = self.converged and updates == 0
        self.min_margin = min(self.min_margin, min_margin)
        return int(mistakes)

    def reserve_features(self, width: int) -> None:
        """Extend the table to `width` features."""
        check_table_memory(width, len(self.classes))
        self.table = grow_table(self.table, width)

    def _log_updates(
        self,
        examples: _core.Examples,
        order: Longs | None,
        positions: Longs,
        plus: Ints,
        minus: Ints,
        amounts: Floats,
    ) -> None:
        csr = examples.select(positions if order is None else order[positions])
        rows, times = SparseRows(*csr, len(self.table) - 1), self.n_examples + positions
        self.update_log.append(_Updates(rows, times, plus, minus, amounts))

    def weights(self, features: Longs) -> tuple[Floats, Floats, float]:
        """Return the weights [features, columns] and biases of the kept hypothesis, and their common divisor.

        Averages are returned as undivided sums, because sums of integers are exact and ties stay ties. With a
        record these are the last weights.
        """
        ticks, divisor = self.updates, 1.0
        if self.settings.averaging == "examples":
            ticks = np.full(self.columns, self.n_examples, dtype=np.int64)
        native = self.settings.to_native(self.columns)
        weights = _core.final_weights(self.table, native, features + 1, ticks)
        biases = _core.final_weights(self.table, native, np.zeros(1, dtype=np.int64), ticks)[0]
        if not (np.isfinite(weights).all() and np.isfinite(biases).all()):
            raise errors.DataError(
                "The weights have overflowed. Divide the columns, or the sample weights, by their largest "
                "values."
            )
        if self.settings.averaging != "none":
            if (ticks == ticks[0]).all():
                divisor = float(max(1, ticks[0]))
            else:
                divisors = np.maximum(1, ticks)
                weights, biases = weights / divisors, biases / divisors
        return weights, biases, divisor

    def hypothesis(self, how: str, width: int) -> tuple[Floats, Floats]:
        """Return the weights [width, columns] and biases of the last or, undivided, the averaged hypothesis.

        The average is that of a record or of training with `keep` "averaged".
        """
        self.reserve_features(width)
        if how == "last":
            return self.table[1 : width + 1, : self.columns], self.table[0, : self.columns]
        record = self.record(np.arange(width, dtype=np.int32), width)
        return (self.weights(np.arange(width)) if record is None else record.weights(how))[:2]

    def add_passes(self, n_passes: int, n_rows: int) -> None:
        """Let the last hypothesis survive further passes, which change nothing."""
        self.added_passes += n_passes
        self.n_added_examples += n_passes * n_rows
        self.n_examples += n_passes * n_rows

    def certificate(self) -> Certificate:
        """Return the mistakes and radius and, if training converged on all rows, the margin."""
        margin = augmented_margin = None
        is_separating = self.converged and self.has_seen_all
        if is_separating and math.isfinite(self.min_margin):
            last = self.table[:, : self.columns]
            w2, b2 = float(np.square(last[1:]).sum()), float(np.square(last[0]).sum())
            margin = self.min_margin / math.sqrt(w2) if w2 else 0.0
            augmented_margin = self.min_margin / math.sqrt(w2 + b2) if w2 + b2 else 0.0
        return Certificate(
            self.mistakes,
            self.n_updates,
            self.n_examples - self.n_added_examples,
            self.passes,
            is_separating,
            math.sqrt(self.squared_radius),
            margin,
            augmented_margin,
            self.settings.bias,
            self.is_weighted,
            self.n_fits,
            added_passes=self.added_passes,
        )

    def record(self, model_indices: Ints, width: int) -> PerceptronRecord | None:
        """Return all updates, with features renumbered by `model_indices`; None if not recorded."""
        if not self.settings.keeps_record:
            return None
        batches = self.update_log or [_NO_UPDATES]
        arrays = [np.concatenate(parts) for parts in zip(*(batch[1:] for batch in batches), strict=True)]
        times, plus, minus, amounts = arrays
        rows = SparseRows.concatenate([batch.rows for batch in batches], width)
        survival = np.diff(times, prepend=0, append=self.n_examples).astype(np.int64)
        separate = self.settings.separate and self.columns > 1
        return PerceptronRecord(
            replace(rows, indices=model_indices[rows.indices]),
            plus,
            minus,
            amounts,
            survival,
            self.columns,
            self.settings.bias,
            separate,
        )

    def change_settings(self, settings: PerceptronSettings) -> None:
        """Continue with another rate or margin; weights are rescaled to units of the new rate."""
        ratio = self.settings.rate / settings.rate
        if ratio != 1.0:
            self.table *= ratio
            self.squared_norms *= ratio * ratio
            self.update_log = [batch._replace(amounts=ratio * batch.amounts) for batch in self.update_log]
        self.settings = settings

    def check_settings(self, settings: PerceptronSettings) -> None:
        """Raise ParameterError for settings that must not change during training; rate and margin may."""
        for name in ("keep", "record", "separate", "bias"):
            if getattr(self.settings, name) != getattr(settings, name):
                parameter = {"separate": "multiclass"}.get(name, name)
                raise errors.ParameterError(
                    f"Perceptron: {parameter} cannot change when training continues. Start again: fit "
                    f"without warm_start, or use a new Perceptron."
                )

    def check_new_classes(self, labels: Iterable[Any]) -> None:
        """Raise LabelError for new classes if updates are recorded."""
        unknown = sorted(set(labels) - set(self.classes), key=canonical_order_key)
        if unknown and self.settings.keeps_record:
            raise errors.LabelError(
                f"y has the new label {errors.quote_names(unknown)}, but a recorded perceptron cannot add "
                f"classes later, because its earlier hypotheses have no weights for them. Give all classes "
                f"to the first partial_fit: classes=[...]."
            )

    def add_classes(self, classes: Sequence[Any]) -> None:
        """Add new classes with zero weights; the shared column of two classes becomes one column each."""
        if list(classes) == self.classes:
            return
        indices = np.array([list(classes).index(label) for label in self.classes])
        n_slots = self._n_slots
        old_table = self.table.reshape(len(self.table), n_slots, self.columns)
        if self.columns == 1:
            share = 1.0 if self.settings.separate else 0.5
            old_table = np.concatenate([-share * old_table, share * old_table], axis=2)
            self.updates = np.repeat(self.updates, 2)
        table = np.zeros((len(self.table), n_slots, len(classes)))
        table[:, :, indices] = old_table
        updates = np.zeros(len(classes), dtype=np.int64)
        updates[indices] = self.updates
        if not self.settings.separate:
            updates[:] = self.n_updates
        self.classes, self.updates = list(classes), updates
        self.table = np.ascontiguousarray(table.reshape(len(self.table), -1))
        self.squared_norms = np.square(table[1:, 0]).sum(axis=0)


def grow_table(table: Floats, width: int) -> Floats:
    """Return a table with rows for the bias and at least `width` features."""
    if len(table) > width:
        return table
    # Doubling keeps the amortised cost of growing vocabularies constant per feature.
    n_rows = max(width + 1, 2 * len(table) if len(table) > 1 else 0)
    grown = _core.zeros(n_rows, table.shape[1])
    grown[: len(table)] = table
    return grown


_NO_UPDATES = _Updates(
    SparseRows(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0), 0),
    np.zeros(0, np.int64),
    np.zeros(0, np.int32),
    np.zeros(0, np.int32),
    np.zeros(0),
)
