"""Compare two linear models: how much the contributions of each column changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.blocks import Floats
from weigh.judge.setting_changes import (
    IDENTICAL_MESSAGE,
    MAX_PLOTTED_CHANGES,
    MAX_PRINTED_CHANGES,
    SettingChange,
    compare_setting,
    line_table,
    schema_changes,
)
from weigh.judge.term_alignment import AlignedTerms, align_terms, separate_columns
from weigh.model.distributions.curve_weights import CurveWeights, PairWeights
from weigh.model.linear import LinearModel
from weigh.model.perceptron import PerceptronModel, VotedModel
from weigh.model.regression import RegressionModel
from weigh.result import Facts, Section, Table, TabularResult
from weigh.text import format_coefficient, format_signed, truncate, use_minus_sign

SAME_WEIGHTS_MESSAGE = "The contributions of all columns are the same."
CHANGE_TOLERANCE = 1e-12

LinearLike = LinearModel | RegressionModel


@dataclass(frozen=True)
class BiasChange(Facts):
    """The bias in both models, for the score of `label` (None for a regression)."""

    label: Any
    old: float
    new: float


@dataclass(frozen=True)
class TermChange(Facts):
    """How much the contributions of a column, or of a pair of columns, changed.

    `largest` is the largest change, of the value or cell `where` and for the score of `label` (None for a
    regression); `mean` is the mean of the absolute changes over the training rows of the new model if their
    counts are known, otherwise over the values. Cells without training rows are left out. A term that is
    `new` or `gone` is compared with no contribution. Strengths are the precisions of the prior, None if
    unknown.
    """

    term: str
    change: str
    where: str
    label: Any
    largest: float
    mean: float
    old_strength: float | None = None
    new_strength: float | None = None


@dataclass(frozen=True, repr=False)
class WeightDifference(TabularResult):
    """The result of `diff` for linear models; contributions are in `unit`.

    With two classes they are those to the score of the second class against the first; with more, those to
    the score of each class against the mean of all.
    """

    same: bool
    settings: tuple[SettingChange, ...]
    biases: tuple[BiasChange, ...]
    terms: tuple[TermChange, ...]
    unit: str
    _frames = ("terms", "biases", "settings")

    def plot(self) -> Any:
        """Plot the largest changes of the columns that changed most."""
        from weigh.pictures import bar_chart

        shown = self.terms[:MAX_PLOTTED_CHANGES]
        if not shown:
            raise errors.Unsupported("No contribution has changed, so there is nothing to draw.")
        rows = [{"name": f"{change.term} {change.where}", "value": change.largest} for change in shown]
        return bar_chart(rows, x=f"largest change in {self.unit}", title="What changed most")

    def sections(self) -> Iterator[Section]:
        """Yield the settings, the bias and the columns that changed."""
        if self.same:
            yield Section("same", [IDENTICAL_MESSAGE])
            return
        if self.settings:
            yield Section("settings", [line_table(map(str, self.settings))], "Settings:")
        if any(change.old != change.new for change in self.biases):
            yield Section("biases", [_bias_table(self.biases)], "Bias:")
        if self.terms:
            yield Section("terms", [self._term_table()], f"Contributions that changed most, in {self.unit}:")
        else:
            yield Section("same", [SAME_WEIGHTS_MESSAGE])

    def _term_table(self) -> Table:
        has_labels = len({change.label for change in self.terms}) > 1
        has_strengths = any(change.old_strength or change.new_strength for change in self.terms)
        header = ["", "largest", "where", *(["for"] if has_labels else []), "mean"]
        rows = [[*header, *(["strength", "→"] if has_strengths else [])]]
        for change in self.terms[:MAX_PRINTED_CHANGES]:
            name = change.term if change.change == "changed" else f"{change.term} ({change.change})"
            label = [truncate(change.label, 12)] if has_labels else []
            strengths = [change.old_strength, change.new_strength] if has_strengths else []
            numbers = [format_coefficient(change.mean), *map(_format_strength, strengths)]
            rows.append([name, _format_change(change.largest), truncate(change.where, 20), *label, *numbers])
        n_hidden = len(self.terms) - len(rows) + 1
        return Table(rows, indent="  ", widths=(30,), n_hidden=n_hidden)


def _format_change(number: float) -> str:
    return format_signed(number, 4) if abs(number) < 1e4 else use_minus_sign(f"{number:+.5g}")


def _format_strength(strength: float | None) -> str:
    return "–" if strength is None else f"{strength:.3g}"


def _bias_table(biases: Sequence[BiasChange]) -> Table:
    rows = [["", "old", "new"]]
    for change in biases[:MAX_PRINTED_CHANGES]:
        name = "bias" if change.label is None else str(change.label)
        rows.append([name, *map(format_coefficient, (change.old, change.new))])
    return Table(rows, indent="  ", widths=(30,), n_hidden=len(biases) - len(rows) + 1)


def is_linear(model: Any) -> bool:
    """Whether a model is a linear classifier or regression, whose contributions can be compared."""
    return isinstance(model, LinearModel | RegressionModel)


def compare_weights(
    old: LinearLike, new: LinearLike, same: bool, most: int, further_settings: Sequence[SettingChange] = ()
) -> WeightDifference:
    """Return what changed from one linear model to another, of at most `most` columns.

    A voted perceptron is represented by its average.
    """
    if isinstance(old, RegressionModel) != isinstance(new, RegressionModel):
        raise errors.Unsupported(
            f"diff compares two classifiers or two regressions, got {type(old).__name__} and "
            f"{type(new).__name__}."
        )
    settings = [*_setting_changes(old, new), *further_settings]
    old, new = (model.keep("averaged") if isinstance(model, VotedModel) else model for model in (old, new))
    labels, to_outputs = _shared_outputs(old, new)
    biases = (to_outputs(model, model.base[None, :])[0].tolist() for model in (old, new))
    return WeightDifference(
        same,
        tuple(settings),
        tuple(BiasChange(*change) for change in zip(labels, *biases, strict=True)),
        tuple(_term_changes(old, new, labels, to_outputs)[:most]),
        _unit(new),
    )


def _unit(model: LinearLike) -> str:
    if isinstance(model, RegressionModel):
        return f"units of {model.label or 'the prediction'}"
    return "nats" if model.has_probabilities else "points"


def _setting_changes(old: LinearLike, new: LinearLike) -> Iterator[SettingChange]:
    yield from compare_setting("model", old.type_name, new.type_name)
    yield from schema_changes(old.schema, new.schema)
    names = [errors.quote_names(getattr(model, "classes", [])) for model in (old, new)]
    yield from compare_setting("classes", *names)
    fits: list[Any] = [getattr(model, "fit", None) for model in (old, new)]
    for what in ("loss", "prior", "rows"):
        yield from compare_setting(what, *(str(getattr(fit, what, "")) for fit in fits))
    yield from compare_setting("kept", *(str(getattr(model, "kept", "")) for model in (old, new)))


ToOutputs = Callable[[Any, Floats], Floats]


def _shared_outputs(old: LinearLike, new: LinearLike) -> tuple[list[Any], ToOutputs]:
    """Return the labels of the outputs that are compared, and how a model's table becomes these outputs."""
    if isinstance(old, RegressionModel) or isinstance(new, RegressionModel):
        return [None], lambda model, table: table
    shared = [label for label in old.classes if label in new.classes]
    if len(shared) < 2:
        raise errors.Unsupported(
            f"diff needs at least two classes that both models have; the old one has "
            f"{errors.quote_names(old.classes)}, the new one {errors.quote_names(new.classes)}."
        )

    def to_outputs(model: Any, table: Floats) -> Floats:
        scale = model.rate / model.divisor if isinstance(model, PerceptronModel) else 1.0
        columns = scale * table[:, [model.classes.index(label) for label in shared]]
        if len(shared) == 2:
            return np.asarray(columns[:, 1:] - columns[:, :1])
        return np.asarray(columns - columns.mean(axis=1, keepdims=True))

    return (shared[1:] if len(shared) == 2 else shared), to_outputs


def _term_changes(
    old: LinearLike, new: LinearLike, labels: Sequence[Any], to_outputs: ToOutputs
) -> list[TermChange]:
    """Return the columns whose contributions changed, largest change first."""
    before, after = (_terms_by_column(model) for model in (old, new))
    changes = []
    for name in dict.fromkeys([*before, *after]):
        first, second = before.get(name), after.get(name)
        for a, b in _comparable(first, second):
            aligned = align_terms(a, b)
            if aligned is not None and len(aligned.names):
                sides = [
                    np.zeros((len(table), len(labels))) if term is None else to_outputs(model, table)
                    for model, term, table in ((old, a, aligned.old), (new, b, aligned.new))
                ]
                strengths = _strength(old, name, a), _strength(new, name, b)
                word = "new" if a is None else "gone" if b is None else "changed"
                changes.append(_describe_change(name, word, aligned, sides, labels, strengths))
    changed = [change for change in changes if change.change != "changed" or _is_change(change)]
    return sorted(changed, key=lambda change: (-abs(change.largest), change.term))


def _is_change(change: TermChange) -> bool:
    return abs(change.largest) > CHANGE_TOLERANCE or change.old_strength != change.new_strength


def _comparable(old: Any, new: Any) -> list[tuple[Any, Any]]:
    """Return the pairs of terms to compare; a column that became another kind is gone and new."""
    if old is None or new is None or align_terms(old, new) is not None:
        return [(old, new)]
    return [(old, None), (None, new)]


def _terms_by_column(model: LinearLike) -> dict[str, Any]:
    groups = zip(model.schema.column_groups, model.terms, strict=True)
    return dict(column for group, term in groups for column in separate_columns(group, term))


def _strength(model: LinearLike, name: str, term: Any) -> float | None:
    """Return the precision of a term's prior in an additive model, None if it has none."""
    if isinstance(term, CurveWeights | PairWeights):
        return float(term.strengths[0])
    strengths = getattr(getattr(model, "fit", None), "strengths", None) or {}
    return None if term is None else strengths.get(name)


def _describe_change(
    name: str,
    word: str,
    aligned: AlignedTerms,
    sides: Sequence[Floats],
    labels: Sequence[Any],
    strengths: tuple[float | None, float | None],
) -> TermChange:
    change, counts = sides[1] - sides[0], aligned.counts
    if counts is None or not counts.any():
        counts = np.ones(len(change))
    sizes = np.where(counts[:, None] > 0, np.abs(change), 0.0)
    at, output = map(int, np.unravel_index(int(np.argmax(sizes)), change.shape))
    mean = float(np.average(sizes.max(axis=1), weights=counts))
    return TermChange(
        name, word, aligned.names[at], labels[output], float(change[at, output]), mean, *strengths
    )
