"""`diff`: compare the settings, counts and parameters of two models."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats, Longs
from weigh.judge.setting_changes import (
    IDENTICAL_MESSAGE,
    MAX_PLOTTED_CHANGES,
    MAX_PRINTED_CHANGES,
    SettingChange,
    compare_setting,
    line_table,
    schema_changes,
)
from weigh.judge.table_difference import (
    joint_probabilities,
    threshold_probabilities,
    threshold_settings,
)
from weigh.judge.weight_difference import WeightDifference, compare_weights, is_linear
from weigh.model.counts.count_table import have_same_names
from weigh.model.evidence.strengths import Outcomes
from weigh.model.file.loading import load
from weigh.model.joint_bayes import JointModel
from weigh.model.naive_bayes import BayesModel, Distribution
from weigh.model.threshold import ThresholdModel
from weigh.result import Facts, Section, Table, TabularResult
from weigh.text import (
    format_count,
    format_float,
    format_percent,
    format_quantity,
    format_signed,
)

SAME_PROBABILITIES_MESSAGE = "The probabilities are the same."


@dataclass(frozen=True)
class ClassCountChange:
    """The rows of one class in both models; None if the class does not exist."""

    label: Any
    old: float | None
    new: float | None


@dataclass(frozen=True)
class VocabularyChange:
    """Levels or words of a column that appeared or vanished, most frequent first."""

    column: str
    appeared: tuple[Any, ...]
    vanished: tuple[Any, ...]


@dataclass(frozen=True, repr=False)
class Difference(TabularResult):
    """The result of `diff`.

    `settings` are columns, kinds and priors; `moved` the probabilities that changed, sorted by the change of
    their logarithm; `numbers` the means and standard deviations that changed, sorted by the shift of the mean
    in old standard deviations. `same` says that the model files are equal byte for byte.
    """

    same: bool
    settings: tuple[SettingChange, ...]
    classes: tuple[ClassCountChange, ...]
    words: tuple[VocabularyChange, ...]
    moved: tuple[ProbabilityChange, ...]
    numbers: tuple[NumberChange, ...]
    _frames = ("moved", "numbers", "classes", "words", "settings")

    def plot(self) -> Any:
        """Plot the probabilities and the means that changed most."""
        from weigh.pictures import bar_chart
        from weigh.pictures.chart_data import clip_infinite

        moved = [(f"{m.name} in {m.label}", m.nats) for m in self.moved[:MAX_PLOTTED_CHANGES]]
        means = [(f"{m.name} in {m.label}", m.shift) for m in self.numbers[:MAX_PLOTTED_CHANGES]]
        if not moved and not means:
            raise errors.Unsupported("No probability and no mean has moved, so there is nothing to draw.")
        rows = [
            {"group": group, "name": name, "value": size}
            for group, changes in (("probabilities, in nats", moved), ("means, in old spreads", means))
            for (name, _), size in zip(changes, clip_infinite([size for _, size in changes]), strict=True)
        ]
        return bar_chart(rows, x="change from the old model to the new", title="What changed most")

    def sections(self) -> Iterator[Section]:
        """Yield the settings, rows, values, probabilities and numbers that changed."""
        if self.same:
            yield Section("same", [IDENTICAL_MESSAGE])
            return
        if self.settings:
            yield Section("settings", [line_table(map(str, self.settings))], "Settings:")
        yield Section("classes", [_class_table(self.classes)], "Rows:")
        if self.words:
            lines = (line for change in self.words for line in _vocabulary_lines(change))
            yield Section("words", [line_table(lines)], "Values:")
        if self.moved:
            yield Section("moved", [_probability_table(self.moved)], "Probabilities that moved most:")
        if self.numbers:
            yield Section("numbers", [_number_table(self.numbers)], "Numbers that moved most:")
        if not (self.settings or self.words or self.moved or self.numbers):
            yield Section("same", [SAME_PROBABILITIES_MESSAGE])


def diff(old: Any, new: Any, most: int = 100) -> Difference | WeightDifference:
    """Return what changed from one model to another of the same family.

    Parameters
    ----------
    old, new : two naive Bayes models, joint Bayes models, thresholds, linear classifiers (perceptrons too) or
        linear regressions, fitted estimators, or paths of model files
    most : how many of the probabilities and numbers, or of the columns, that changed most to keep
    """
    if most < 1:
        raise errors.parameter_error("diff", "most", "at least 1", most)
    before, after = _load_model(old), _load_model(new)
    same, first, second = before.to_bytes() == after.to_bytes(), _uncalibrated(before), _uncalibrated(after)
    calibration = compare_setting("calibration", _format_calibration(before), _format_calibration(after))
    if is_linear(first) and is_linear(second):
        return compare_weights(first, second, same, most, tuple(calibration))
    if isinstance(first, JointModel) and isinstance(second, JointModel):
        settings = [*_setting_changes(first, second), *calibration]
        return _compare_tables(first, second, same, settings, joint_probabilities(first, second), most)
    if isinstance(first, ThresholdModel) and isinstance(second, ThresholdModel):
        settings = [*threshold_settings(first, second), *calibration]
        return _compare_tables(first, second, same, settings, threshold_probabilities(first, second), most)
    if not (isinstance(first, BayesModel) and isinstance(second, BayesModel)):
        raise _unlike_models_error(first, second)
    return Difference(
        same,
        (*_setting_changes(first, second), *calibration),
        tuple(_class_count_changes(first.classes, second.classes, _class_rows(first), _class_rows(second))),
        tuple(VocabularyChange(*change) for change in vocabulary_changes(first, second)),
        probability_changes(first, second, most),
        number_changes(first, second, most),
    )


def _load_model(model: Any) -> Any:
    return load(model) if isinstance(model, str | os.PathLike) else getattr(model, "model_", model)


def _uncalibrated(model: Any) -> Any:
    return getattr(model, "uncalibrated", model)


def _compare_tables(
    old: Any,
    new: Any,
    same: bool,
    settings: Sequence[SettingChange],
    probabilities: Iterable[tuple[str, Floats, Floats]],
    most: int,
) -> Difference:
    """Return what changed between two models of counted rows whose probabilities have these names."""
    changes = [
        ProbabilityChange(name, old.classes[a], float(p[a]), float(q[b]))
        for name, p, q in probabilities
        for a, b in _shared_classes(old, new)
    ]
    counts = tuple(_class_count_changes(old.classes, new.classes, _class_rows(old), _class_rows(new)))
    return Difference(same, tuple(settings), counts, (), _largest_changes(changes, most), ())


def _class_rows(model: Any) -> Any:
    """Return the number of rows of each class."""
    return model.counts.sum(axis=0) if isinstance(model, ThresholdModel) else model.counts.rows


def _unlike_models_error(old: Any, new: Any) -> errors.Unsupported:
    names = " and ".join(type(model).__name__ for model in (old, new))
    return errors.Unsupported(
        f"{names} have no parameters in common: diff compares two naive Bayes models, two joint models, two "
        "thresholds or two linear models.",
        hint="Compare their predictions on labelled rows, with evaluate.",
    )


def _format_calibration(model: Any) -> str:
    return str(getattr(model, "calibration", ""))


def _setting_changes(old: Any, new: Any) -> Iterator[SettingChange]:
    yield from schema_changes(old.schema, new.schema)
    yield from compare_setting("prior", _format_prior(old.prior), _format_prior(new.prior))
    yield from compare_setting("class_prior", _format_prior(old.class_prior), _format_prior(new.class_prior))
    if isinstance(old, BayesModel):
        yield from compare_setting("complement", str(old.complement), str(new.complement))


def _format_prior(prior: Any) -> str:
    if isinstance(prior, Mapping):
        return "{" + ", ".join(f"{name!r}: {_format_prior(value)}" for name, value in prior.items()) + "}"
    return str(float(prior)) if hasattr(prior, "numerator") else repr(prior)


def _class_count_changes(
    old: Sequence[Any], new: Sequence[Any], old_rows: Any, new_rows: Any
) -> Iterator[ClassCountChange]:
    before = dict(zip(old, old_rows.tolist(), strict=True))
    after = dict(zip(new, new_rows.tolist(), strict=True))
    for label in dict.fromkeys([*before, *after]):
        yield ClassCountChange(label, before.get(label), after.get(label))


def _class_table(classes: Sequence[ClassCountChange]) -> Table:
    rows = [["class", "old", "new", "change"]]
    for row in classes[:MAX_PRINTED_CHANGES]:
        counts = [_format_row_count(row.old), _format_row_count(row.new)]
        rows.append([str(row.label), *counts, _format_count_change(row.old, row.new)])
    if len(classes) > MAX_PRINTED_CHANGES:
        rows.append([f"… and {len(classes) - MAX_PRINTED_CHANGES:,} more", "", "", ""])
    old, new = sum(row.old or 0 for row in classes), sum(row.new or 0 for row in classes)
    rows.append(["all", format_count(old), format_count(new), _format_count_change(old, new)])
    return Table(rows, indent="  ", widths=(30,))


def _format_count_change(old: float | None, new: float | None) -> str:
    change = (new or 0) - (old or 0)
    if not change:
        return "same"
    if old is None:
        return "new"
    return "gone" if new is None else f"{'+' * (change > 0)}{format_count(change)}"


def _format_row_count(number: float | None) -> str:
    return "–" if number is None else format_count(number)


def _vocabulary_lines(change: VocabularyChange) -> Iterator[str]:
    for word, values in (("new", change.appeared), ("gone", change.vanished)):
        if values:
            listed = ", ".join(str(value) for value in values[:8]) + (", …" if len(values) > 8 else "")
            yield f"{change.column}: {format_quantity(len(values), word, word)}: {listed}"


def _probability_table(changes: Sequence[ProbabilityChange]) -> Table:
    rows = [["", "in class", "old", "new", "nats"]]
    for change in changes[:MAX_PRINTED_CHANGES]:
        shares = map(format_percent, (change.old, change.new))
        rows.append([change.name, str(change.label), *shares, format_signed(change.nats)])
    return Table(rows, left=2, indent="  ", widths=(34, 14))


def _number_table(changes: Sequence[NumberChange]) -> Table:
    rows = [["", "in class", "mean", "→", "spread", "→"]]
    for change in changes[:MAX_PRINTED_CHANGES]:
        numbers = (change.old_mean, change.new_mean, change.old_spread, change.new_spread)
        rows.append([change.name, str(change.label), *map(format_float, numbers)])
    return Table(rows, left=2, indent="  ", widths=(28, 14))


@dataclass(frozen=True)
class ProbabilityChange(Facts):
    """A probability within a class that changed."""

    name: str
    label: Any
    old: float
    new: float
    _json = ("name", "label", "old", "new", "nats")

    @property
    def nats(self) -> float:
        """The change of its logarithm."""
        if self.old == self.new:
            return 0.0
        if not self.old or not self.new:
            return math.inf if self.new else -math.inf
        return math.log(self.new) - math.log(self.old)


@dataclass(frozen=True)
class NumberChange(Facts):
    """The normal distribution of a number within a class that changed; spreads are standard deviations."""

    name: str
    label: Any
    old_mean: float
    new_mean: float
    old_spread: float
    new_spread: float
    _json = ("name", "label", "old_mean", "new_mean", "old_spread", "new_spread", "shift")

    @property
    def shift(self) -> float:
        """The change of the mean in old standard deviations."""
        return (self.new_mean - self.old_mean) / self.old_spread if self.old_spread else 0.0

    @property
    def size(self) -> float:
        """The larger of the change of the mean and of the log standard deviation."""
        log_ratio = (
            math.log(self.new_spread / self.old_spread) if self.old_spread and self.new_spread else 0.0
        )
        return max(abs(self.shift), abs(log_ratio))


def probability_changes(old: BayesModel, new: BayesModel, most: int) -> tuple[ProbabilityChange, ...]:
    """Return the probabilities that both models have and that changed, largest change first."""
    changes = list(_prior_changes(old, new))
    pairs = _shared_classes(old, new)
    for first, second in _shared_parts(old, new):
        for before, after in _shared_outcomes(first, second):
            changes += _part_changes(before, after, pairs, old.classes, most)
    return _largest_changes(changes, most)


def _largest_changes(changes: Sequence[ProbabilityChange], most: int) -> tuple[ProbabilityChange, ...]:
    changed = [change for change in changes if abs(change.nats) > 1e-12]
    return tuple(sorted(changed, key=lambda change: (-abs(change.nats), change.name))[:most])


def number_changes(old: BayesModel, new: BayesModel, most: int) -> tuple[NumberChange, ...]:
    """Return the means and standard deviations that changed, largest change first."""
    changes = []
    for first, second in _shared_parts(old, new):
        before, after = first.normal_parameters(), second.normal_parameters()
        for a, b in _shared_classes(old, new) if before and after else ():
            (old_mean, old_spread), (new_mean, new_spread) = before[a], after[b]
            if (old_mean, old_spread) != (new_mean, new_spread):
                name, label = first.part.names[0], old.classes[a]
                changes.append(NumberChange(name, label, old_mean, new_mean, old_spread, new_spread))
    return tuple(sorted(changes, key=lambda change: (-change.size, change.name))[:most])


def vocabulary_changes(
    old: BayesModel, new: BayesModel
) -> Iterator[tuple[str, tuple[Any, ...], tuple[Any, ...]]]:
    """Yield (column, values that appeared, values that vanished), most frequent first."""
    for first, second in _shared_parts(old, new):
        same_family = first.part.kind.family == second.part.kind.family
        for left, right in _shared_outcomes(first, second) if same_family else ():
            if have_same_names(left.keys, right.keys):
                continue
            before, after = left.frequencies(), right.frequencies()
            appeared = _by_frequency({value: n for value, n in after.items() if value not in before})
            vanished = _by_frequency({value: n for value, n in before.items() if value not in after})
            if appeared or vanished:
                yield first.part.title, appeared, vanished


def _by_frequency(counts: dict[Any, float]) -> tuple[Any, ...]:
    return tuple(sorted(counts, key=lambda value: (-counts[value], str(value))))


def _shared_classes(old: Any, new: Any) -> list[tuple[int, int]]:
    new_codes = {label: code for code, label in enumerate(new.classes)}
    return [(code, new_codes[label]) for code, label in enumerate(old.classes) if label in new_codes]


def _shared_outcomes(first: Distribution, second: Distribution) -> Iterator[tuple[Outcomes, Outcomes]]:
    """Yield the outcomes of both distributions; those of absence follow from those of presence."""
    yield from list(zip(first.outcomes(), second.outcomes(), strict=False))[:1]


def _shared_parts(old: BayesModel, new: BayesModel) -> Iterator[tuple[Distribution, Distribution]]:
    """Yield the pairs of distributions that model the same column or block."""
    new_by_key = {_part_key(distribution): distribution for distribution in new.distributions}
    for distribution in old.distributions:
        counterpart = new_by_key.get(_part_key(distribution))
        if counterpart is not None:
            yield distribution, counterpart


def _part_key(distribution: Distribution) -> tuple[bool, str]:
    """Return what a distribution is matched by: its column, or its kind if columns share a block."""
    kind = distribution.part.kind
    return kind.shares_block, str(kind.name if kind.shares_block else distribution.part.names[0])


def _prior_changes(old: BayesModel, new: BayesModel) -> Iterator[ProbabilityChange]:
    for a, b in _shared_classes(old, new):
        p = float(old.class_distribution.exact_probabilities[a])
        q = float(new.class_distribution.exact_probabilities[b])
        yield ProbabilityChange("P(class)", old.classes[a], p, q)


def _part_changes(
    before: Outcomes, after: Outcomes, pairs: list[tuple[int, int]], labels: list[Any], most: int
) -> Iterator[ProbabilityChange]:
    left, right = _shared_keys(before.keys, after.keys)
    for a, b in pairs if len(left) else ():
        p, q = before.probabilities[a, left], after.probabilities[b, right]
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.nan_to_num(np.abs(np.log(q) - np.log(p)), nan=0.0, posinf=np.inf)
        for j in np.argsort(-size, kind="stable")[:most].tolist():
            yield ProbabilityChange(before.title(int(left[j])), labels[a], float(p[j]), float(q[j]))


def _shared_keys(old: Sequence[Any], new: Sequence[Any]) -> tuple[Longs, Longs]:
    """Return the indices of the keys that both have, in the order of the old ones."""
    if have_same_names(old, new):
        return np.arange(len(old)), np.arange(len(new))
    new_index = {key: j for j, key in enumerate(new)}
    shared = [(j, new_index[key]) for j, key in enumerate(old) if key in new_index]
    indices = np.array(shared, dtype=np.int64).reshape(-1, 2)
    return indices[:, 0], indices[:, 1]
