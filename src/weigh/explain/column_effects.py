"""The effects of the columns of a linear model: curves, levels, lines and pairs, strongest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from weigh import errors
from weigh.model.base import EncodedRows
from weigh.model.effects.builders import OmittedTerm
from weigh.model.effects.effect import Location, TermEffect
from weigh.model.effects.term_effects import format_extent, output_name, term_effects
from weigh.model.linear import LinearModel
from weigh.model.perceptron import VotedModel
from weigh.model.regression import RegressionModel
from weigh.parameters import check_integer
from weigh.result import Facts, Section, Table, TabularResult
from weigh.text import format_float, format_quantity

if TYPE_CHECKING:
    from weigh.explain.effect_panels import Panel, PanelSettings

MAX_ROWS = 100_000  # more rows say hardly more about importance
MAX_SERIES = 7  # classes with a line of their own in a picture
NORMAL_QUANTILE = 1.96  # of a 95 % interval
OMISSION_REASONS = {
    "rows": "straight lines, whose range the model does not know; with rows given, they are listed",
    "words": "words, which have a weight each",
    "products": "products of columns, which have a weight each",
    "constant": "constant columns",
}


@dataclass(frozen=True)
class EffectFact(Facts):
    """One effect: its kind, importance, least and greatest height, number of cells, and shape in words."""

    name: str
    kind: str
    importance: float
    lowest: float
    highest: float
    n_cells: int
    shape: str


@dataclass(frozen=True)
class EffectCell(Facts):
    """One cell of an effect: its height for an output, the 95 % interval, and the weight of its rows.

    `start` and `stop` are the ends of a cell of a number. `output` is a class, None if there is one output.
    """

    effect: str
    cell: str
    start: float | None
    stop: float | None
    output: str | None
    height: float
    low: float | None
    high: float | None
    rows: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Effects(TabularResult):
    """The result of `effects`: what each column adds to the `target`, strongest first.

    `classes` are the outputs of a model of more than two classes. `n_rows` is the number of rows that were
    given, None if the training rows count. `n_effects` is the number of all effects, of which the strongest
    may be left. `omitted` are terms without an effect to list.
    """

    target: str
    classes: tuple[str, ...]
    n_rows: int | None
    n_effects: int
    omitted: tuple[OmittedTerm, ...]
    _effects: tuple[TermEffect, ...]
    _model: Any
    _json = ("target", "classes", "n_rows", "n_effects", "effects", "cells", "omitted")
    _frames = ("effects", "cells")

    @cached_property
    def effects(self) -> tuple[EffectFact, ...]:
        """The effects, strongest first."""
        return tuple(
            EffectFact(e.name, e.kind, e.importance, *e.extent, e.n_cells, self._shape(e))
            for e in self._effects
        )

    def _shape(self, effect: TermEffect) -> str:
        output = effect.main_output
        shape = effect.describe(output)
        return f"{self.classes[output]}: {shape}" if self.classes else shape

    @property
    def cells(self) -> list[EffectCell]:
        """The cells of all effects."""
        return [cell for effect in self._effects for cell in _effect_cells(effect, self.classes)]

    @property
    def headline(self) -> str:
        """What the effects are of."""
        return f"Effects on {self.target}, strongest first"

    def sections(self) -> Iterator[Section]:
        """Yield the table of effects and notes about it."""
        rows = [["effect", "shape", "importance", "from … to", "cells"]]
        for fact, effect in zip(self.effects, self._effects, strict=True):
            extent = format_extent(effect)
            rows.append([fact.name, fact.shape, format_float(fact.importance), extent, f"{fact.n_cells:,}"])
        if self._effects:
            bars = [fact.importance for fact in self.effects]
            n_hidden = self.n_effects - len(self._effects)
            yield Section("effects", [Table(rows, 2, widths=(24, 28), bars=bars, n_hidden=n_hidden)])
        yield Section("notes", list(self._notes()))

    def _notes(self) -> Iterator[str]:
        if not self._effects:
            yield "There is no effect to list."
        else:
            rows = "the training rows" if self.n_rows is None else format_quantity(self.n_rows, "given row")
            average = ", on average over the classes" if self.classes else ""
            yield f"Importance is the standard deviation of the contribution over {rows}{average}."
        if any(effect.counts is None for effect in self._effects if effect.kind in ("levels", "flag")):
            yield "Levels and flags count as equally frequent, because their rows are not known."
        for why in dict.fromkeys(term.why for term in self.omitted):
            names = errors.quote_names([term.name for term in self.omitted if term.why == why])
            yield f"Not listed: {names} ({OMISSION_REASONS.get(why, why)})."

    def plot(self, row: Any = None, top: int = 10, label: Any = None) -> Any:
        """Plot the strongest effects on one page, with the values of a row marked.

        Parameters
        ----------
        row : one row, such as a dict; its values are marked
        top : the maximum number of effects
        label : of more than two classes, the only one to draw
        """
        from weigh.explain.effect_panels import draw_page

        check_integer("plot", "top", top, 1)
        return draw_page(self._panel_settings(label), self._effects[:top], self.n_effects, self._locate(row))

    def shortened(self, top: int) -> Effects:
        """Return the same result with the `top` strongest effects only."""
        check_integer("shortened", "top", top, 1)
        return replace(self, _effects=self._effects[:top])

    def plot_effect(self, name: str, row: Any = None, label: Any = None) -> Any:
        """Plot one effect by its name, such as "age" or "age × income", with the value of a row marked."""
        from weigh.explain.effect_panels import draw_effect

        names = [effect.name for effect in self._effects]
        if name not in names:
            raise errors.ColumnError(f"There is no effect {name!r}.{errors.did_you_mean(name, names)}")
        k, located = names.index(name), self._locate(row)
        location = None if located is None else located[k]
        return draw_effect(self._panel_settings(label), self._effects[k], location)

    def panels(self, rows: Sequence[Any] = (), names: Sequence[str] = (), top: int = 10) -> list[Panel]:
        """Return the strongest effects as panels to draw; rows, batches of one, are marked by their names."""
        from weigh.explain.effect_panels import effect_panel

        located, settings = [self.locate_rows(row)[0] for row in rows], self._panel_settings(None)
        return [
            effect_panel(
                settings, effect, [(row[k], name) for row, name in zip(located, names, strict=True)],
                is_small=True,
            )
            for k, effect in enumerate(self._effects[:top])
        ]  # fmt: skip

    def _panel_settings(self, label: Any) -> PanelSettings:
        from weigh.explain.effect_panels import PanelSettings

        if label is not None and str(label) not in self.classes:
            known = f"it has {errors.quote_names(self.classes)}" if self.classes else "leave the class out"
            raise errors.LabelError(f"The effects have no class {label!r}; {known}.")
        return PanelSettings(
            self.target, self.classes, None if label is None else self.classes.index(str(label))
        )

    def _locate(self, row: Any) -> list[Location] | None:
        """Return where a row is in each effect; None without a row."""
        if row is None:
            return None
        located = self.locate_rows(row)
        if len(located) != 1:
            raise errors.parameter_error("plot", "row", "one row", f"{len(located):,} rows")
        return located[0]

    def locate_rows(self, rows: Any) -> list[list[Location]]:
        """Return where each row is in each effect, in the order of `effects`."""
        located = []
        for chunk in self._model.chunks(rows):
            encoded = self._model.encode(chunk)
            for i in range(encoded.n_rows):
                blocks = [block.row(i) for block in encoded.blocks]
                located.append([effect.locate(blocks[effect.term]) for effect in self._effects])
        return located

    def __repr__(self) -> str:
        return f"<Effects on {self.target}: {format_quantity(len(self._effects), 'effect')}>"


def _effect_cells(effect: TermEffect, classes: Sequence[str]) -> Iterator[EffectCell]:
    names, ends = effect.cell_names(), effect.cell_ends
    counts = [None] * len(names) if effect.counts is None else effect.counts.tolist()
    for output, label in enumerate(classes or [None]):
        for k, name in enumerate(names):
            (start, stop), height = ends[k], float(effect.heights[k, output])
            half = None if effect.errors is None else NORMAL_QUANTILE * float(effect.errors[k, output])
            low, high = (None, None) if half is None else (height - half, height + half)
            yield EffectCell(effect.name, name, start, stop, label, height, low, high, counts[k])


def effects(model: Any, rows: Any = None) -> Effects:
    """Return what each column of a linear model adds to its outputs: curves, levels, lines and pairs.

    An effect is the contribution to the log-odds of the second of two classes, to the prediction of a
    regression, or, of more classes, to the score of each class relative to their mean. Its importance is the
    standard deviation of the contribution over the training rows, or over the given rows. Contributions are
    those of `explain`; only straight lines are drawn relative to the mean of the rows.

    Parameters
    ----------
    model : a logistic or linear regression, another linear model, or a fitted estimator
    rows : rows of any storage (of more than 100,000 the first); they are counted instead of the training rows
    """
    fitted = getattr(model, "model_", model)
    fitted = getattr(fitted, "uncalibrated", fitted)
    if isinstance(fitted, VotedModel):
        fitted = fitted.keep("averaged")
    if not isinstance(fitted, LinearModel | RegressionModel):
        raise errors.Unsupported(
            "effects needs a linear model, such as a logistic or linear regression, got "
            f"{type(fitted).__name__}."
        )
    counter = _RowCounter(fitted)
    found, omitted = term_effects(fitted, () if rows is None else counter.encode(rows))
    classes = tuple(map(str, fitted.classes)) if isinstance(fitted, LinearModel) else ()
    n_rows = None if rows is None else counter.n_rows
    many = classes if len(classes) > 2 else ()
    return Effects(output_name(fitted), many, n_rows, len(found), tuple(omitted), tuple(found), fitted)


class _RowCounter:
    """Encodes the first rows, and counts them."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.n_rows = 0

    def encode(self, rows: Any) -> Iterator[EncodedRows]:
        """Yield the encoded rows of each chunk."""
        for chunk in self.model.chunks(rows):
            used = chunk.slice(0, min(chunk.n_rows, MAX_ROWS - self.n_rows))
            self.n_rows += used.n_rows
            yield self.model.encode(used)
            if self.n_rows >= MAX_ROWS:
                return
