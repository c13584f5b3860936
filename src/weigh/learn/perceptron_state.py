"""A perceptron's run: weights that change while examples go by."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from weigh import _core, errors
from weigh.features.blocks import Floats, Ints, Longs
from weigh.model.counts.count_table import canonical_order_key
from weigh.model.fit import Certificate
from weigh.model.perceptron import PerceptronRecord

AVERAGING_MODES = {"averaged": "examples", "lazy": "updates", "last": "none", "voted": "none"}


@dataclass(frozen=True)
class PerceptronSettings:
    """How a perceptron learns; `keep` and `record` say what is kept of the run."""

    keep: str = "averaged"
    record: bool = False
    margin: float = 0.0
    relative: bool = False
    rate: float = 1.0
    separate: bool = False
    bias: bool = True

    @property
    def averaging(self) -> str:
        """Over what the weights are averaged while learning; of a recorded run the record tells."""
        return "none" if self.keeps_record else AVERAGING_MODES[self.keep]

    @property
    def keeps_record(self) -> bool:
        """Whether the mistaken rows are kept."""
        return self.record or self.keep == "voted"

    def to_native(self, columns: int) -> _core.PerceptronSettings:
        """Return the settings of the native code, which learns in units of the rate."""
        separate = self.separate and columns > 1
        margin = self.margin if self.relative else self.margin / self.rate
        return _core.PerceptronSettings(
            1.0, margin, self.relative, separate, self.bias, self.averaging, columns
        )


class _Updates(NamedTuple):
    """The updates of one pass: the rows that caused them, when, and what they changed."""

    indptr: Longs
    indices: Ints
    values: Floats
    times: Longs
    plus: Ints
    minus: Ints
    amounts: Floats


@dataclass
class PerceptronState:
    """Weights, and all that is known of the way to them.

    Two classes share one column of weights, more have one each. Row 0 of the table is the bias, row
    f + 1 the feature f; beside the weights stand the sums that averages are made of. All of them are in
    units of the rate: of whole numbers they stay whole, whatever the rate.
    """

    settings: PerceptronSettings
    classes: list[Any]
    table: Floats = field(init=False)
    updates: Longs = field(init=False)
    squared_norms: Floats = field(init=False)
    n_examples: int = 0
    mistakes: int = 0
    n_updates: int = 0
    squared_radius: float = 0.0
    passes: int = 0
    converged: bool = False
    n_fits: int = 0  # how often rows were given to learn from
    has_seen_all: bool = True  # whether the last ones are all there are, and not a batch of them
    is_weighted: bool = False
    tracks_radius: bool = True  # whether rows are new, so that their lengths are looked at
    min_margin: float = math.inf
    update_log: list[_Updates] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.table = np.zeros((1, self.columns * self._n_slots))
        self.updates = np.zeros(self.columns, dtype=np.int64)
        self.squared_norms = np.zeros(self.columns)

    @property
    def columns(self) -> int:
        """How many columns of weights there are."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    @property
    def _n_slots(self) -> int:
        return 1 if self.settings.averaging == "none" else 2

    def begin_pass(self) -> None:
        """Start to look for updates, whose absence means that the run has converged."""
        self.passes += 1
        self.converged, self.min_margin = True, math.inf

    def learn(self, examples: _core.Examples, order: Longs | None, width: int) -> int:
        """Learn from examples over so many features, in order; return how many were mistaken."""
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
        mistakes, updates, least, self.squared_radius, record = result
        if self.settings.keeps_record and updates:
            self._log_updates(examples, order, *record)
        self.n_examples += len(examples)
        self.mistakes += mistakes
        self.n_updates += updates
        self.converged = self.converged and updates == 0
        self.min_margin = min(self.min_margin, least)
        return int(mistakes)

    def reserve_features(self, width: int) -> None:
        """Make room for so many features."""
        self.table = grow_table(self.table, width)

    def _log_updates(
        self,
        examples: _core.Examples,
        order: Longs | None,
        at: Longs,
        plus: Ints,
        minus: Ints,
        amounts: Floats,
    ) -> None:
        indptr, indices, values = examples.select(at if order is None else order[at])
        times = self.n_examples + at
        self.update_log.append(_Updates(indptr, indices, values, times, plus, minus, amounts))

    def weights(self, features: Longs) -> tuple[Floats, Floats, float]:
        """Return the kept weights [features, columns] and biases, and what they are to be divided by.

        Undivided means of whole numbers are whole, so that ties stay ties. Of a recorded run these are
        the last weights.
        """
        ticks, divisor = self.updates, 1.0
        if self.settings.averaging == "examples":
            ticks = np.full(self.columns, self.n_examples, dtype=np.int64)
        native = self.settings.to_native(self.columns)
        kept = _core.final_weights(self.table, native, features + 1, ticks)
        biases = _core.final_weights(self.table, native, np.zeros(1, dtype=np.int64), ticks)[0]
        if not (np.isfinite(kept).all() and np.isfinite(biases).all()):
            raise errors.DataError(
                "The weights have become too large for numbers. Divide the columns, or the sample weights, "
                "by their largest values."
            )
        if self.settings.averaging != "none":
            if (ticks == ticks[0]).all():
                divisor = float(max(1, ticks[0]))
            else:
                own = np.maximum(1, ticks)
                kept, biases = kept / own, biases / own
        return kept, biases, divisor

    def certificate(self) -> Certificate:
        """Return what the run proves."""
        margin = augmented = None
        proved = self.converged and self.has_seen_all
        if proved and math.isfinite(self.min_margin):
            last = self.table[:, : self.columns]
            length2, bias2 = float(np.square(last[1:]).sum()), float(np.square(last[0]).sum())
            margin = self.min_margin / math.sqrt(length2) if length2 else 0.0
            augmented = self.min_margin / math.sqrt(length2 + bias2) if length2 + bias2 else 0.0
        return Certificate(
            self.mistakes,
            self.n_updates,
            self.n_examples,
            self.passes,
            proved,
            math.sqrt(self.squared_radius),
            margin,
            augmented,
            self.settings.bias,
            self.is_weighted,
            self.n_fits,
        )

    def record(self, numbers: Ints, width: int) -> PerceptronRecord | None:
        """Return the record of the run, features renumbered as a model has them."""
        if not self.settings.keeps_record:
            return None
        parts = self.update_log or [_NO_UPDATES]
        columns = [np.concatenate(part) for part in zip(*(c[1:] for c in parts), strict=True)]
        indices, values, times, plus, minus, amounts = columns
        sizes = np.concatenate([np.diff(part.indptr) for part in parts])
        indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        lives = np.diff(times, prepend=0, append=self.n_examples).astype(np.int64)
        separate = self.settings.separate and self.columns > 1
        return PerceptronRecord(
            indptr,
            numbers[indices],
            values,
            plus,
            minus,
            amounts,
            lives,
            width,
            self.columns,
            self.settings.bias,
            separate,
        )

    def change_settings(self, settings: PerceptronSettings) -> None:
        """Go on with another rate or margin."""
        share = self.settings.rate / settings.rate
        if share != 1.0:
            self.table *= share
            self.squared_norms *= share * share
            self.update_log = [each._replace(amounts=share * each.amounts) for each in self.update_log]
        self.settings = settings

    def check_settings(self, settings: PerceptronSettings) -> None:
        """Refuse settings that a run cannot change on its way; rate and margin may change."""
        for name in ("keep", "record", "separate", "bias"):
            before, now = getattr(self.settings, name), getattr(settings, name)
            if before != now:
                known = {"separate": "multiclass"}.get(name, name)
                raise errors.ParameterError(
                    f"Perceptron: {known} cannot change while a run goes on. Begin a new one: fit without "
                    f"warm_start, or a new Perceptron."
                )

    def check_new_classes(self, labels: Iterable[Any]) -> None:
        """Refuse labels that the run cannot take up any more."""
        beyond = sorted(set(labels) - set(self.classes), key=canonical_order_key)
        if beyond and self.settings.keeps_record:
            raise errors.LabelError(
                f"y has the label {errors.quote_names(beyond)}, and a recorded perceptron cannot take up a class "
                f"later, for its earlier hypotheses did not know it. Give all classes to the first "
                f"partial_fit: classes=[...]."
            )

    def add_classes(self, classes: Sequence[Any]) -> None:
        """Give classes that are new weights of zero; two classes that shared a column part ways."""
        if list(classes) == self.classes:
            return
        places = np.array([list(classes).index(label) for label in self.classes])
        old, slots = self.columns, self._n_slots
        halves = self.table.reshape(len(self.table), slots, old)
        if old == 1:
            share = 1.0 if self.settings.separate else 0.5
            halves = np.concatenate([-share * halves, share * halves], axis=2)
            self.updates = np.repeat(self.updates, 2)
        table = np.zeros((len(self.table), slots, len(classes)))
        table[:, :, places] = halves
        updates = np.zeros(len(classes), dtype=np.int64)
        updates[places] = self.updates
        if not self.settings.separate:
            updates[:] = self.n_updates
        self.classes, self.updates = list(classes), updates
        self.table = np.ascontiguousarray(table.reshape(len(self.table), -1))
        self.squared_norms = np.square(table[1:, 0]).sum(axis=0)


def grow_table(table: Floats, width: int) -> Floats:
    """Return a table with room for the bias and so many features."""
    if len(table) > width:
        return table
    # Twice as much as needed, so that vocabularies may grow often at little cost.
    room = max(width + 1, 2 * len(table) if len(table) > 1 else 0)
    wide = _core.zeros(room, table.shape[1])
    wide[: len(table)] = table
    return wide


_NO_UPDATES = _Updates(
    np.zeros(1, np.int64),
    np.zeros(0, np.int32),
    np.zeros(0),
    np.zeros(0, np.int64),
    np.zeros(0, np.int32),
    np.zeros(0, np.int32),
    np.zeros(0),
)
