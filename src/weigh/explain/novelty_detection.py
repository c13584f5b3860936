"""Detect rows and columns unlike those a model was trained on.

A row is flagged if it has an unseen category, a number far from every class, or mostly unseen words. Every
column is tested for a shift of its distribution against training.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.explain.distribution_shift import ColumnShift, make_shift_counter
from weigh.features.blocks import CategoryBlock, NumberBlock, SparseBlock
from weigh.features.words import Block, as_sparse_block
from weigh.model.distributions.gaussian import Gaussian
from weigh.model.distributions.number_shapes import ShapedNumber
from weigh.model.distributions.weights import format_value
from weigh.model.naive_bayes import BayesModel
from weigh.result import LINE_WIDTH, Facts, Lines, Section, Table, TabularResult
from weigh.source.chunk import Chunk
from weigh.text import escape_control_characters, format_quantity, truncate

MAX_FAMILIAR_DEVIATIONS = 6.0  # standard deviations from the mean of the nearest class
MIN_UNKNOWN_WORD_SHARE = 0.5  # of the words of a text
MAX_LISTED_ROWS = 10
NAME_WIDTH = 22
MAX_PLOTTED_COLUMNS = 20


@dataclass(frozen=True)
class NoveltyReason:
    """Why a row was flagged: the column, its value and the reason.

    `what` is the type of reason: `a value never seen`, `a number far from every class` (which may occur in
    training nevertheless) or `mostly new words`.
    """

    column: str
    value: str
    why: str
    what: str = "a value never seen"

    def __str__(self) -> str:
        return escape_control_characters(f"{self.column} = {truncate(self.value, 30)}: {self.why}")


@dataclass(frozen=True)
class UnfamiliarRow(Facts):
    """The number of a flagged row (the first is 0), and the reasons."""

    row: int
    reasons: tuple[NoveltyReason, ...]


@dataclass(frozen=True, repr=False)
class Unfamiliar(TabularResult):
    """The result of `unfamiliar`: flagged rows, and how each column compares with training.

    `columns` are the columns with enough rows for a test (20); `shifted` those with a significant (p < 0.001)
    and large enough (effect ≥ 0.1) difference.
    """

    n_rows: int
    rows: tuple[UnfamiliarRow, ...]
    columns: tuple[ColumnShift, ...]
    _frames = ("columns",)

    @property
    def shifted(self) -> tuple[ColumnShift, ...]:
        """The columns whose distribution has shifted, largest effect first."""
        return tuple(sorted((c for c in self.columns if c.shifted), key=lambda c: -c.effect))

    @property
    def kinds(self) -> dict[str, int]:
        """The number of rows per type of reason, most frequent first."""
        counts = Counter(what for row in self.rows for what in {reason.what for reason in row.reasons})
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    @property
    def headline(self) -> str:
        """The number of flagged rows."""
        return summarise_flagged_rows(len(self.rows), self.n_rows)

    def sections(self) -> list[Section]:
        """Return the first reasons and the shifted columns."""
        reasons = [(f"{row.row:,}", reason) for row in self.rows for reason in row.reasons]
        if not reasons:
            return [self._shift_section()]
        lines = [[f"row {row}: {reason}"] for row, reason in reasons]
        widths = (LINE_WIDTH - 2,)
        text = Table(lines, indent="  ", widths=widths, most=MAX_LISTED_ROWS, has_header=False).to_text()
        cells = [[row, reason.column, reason.value, reason.why] for row, reason in reasons]
        header = ["row", "column", "value", "why"]
        table = Table([header, *cells], left=4, widths=4 * (NAME_WIDTH,), most=MAX_LISTED_ROWS)
        return [Section("rows", [Lines(text, table)]), self._shift_section()]

    def told(self) -> str:
        """Return the shifted columns as text."""
        return self._shift_section().to_text()

    def _shift_section(self) -> Section:
        if not self.shifted:
            return Section("columns", [self._shift_title])
        rows = [["column", "training", "these rows", "effect", "p"]]
        for shift in self.shifted[:MAX_LISTED_ROWS]:
            now = truncate(shift.now, 18)
            rows.append([shift.column, truncate(shift.before, 18), now, f"{shift.effect:.2f}", shift.p_text])
        return Section("columns", [Table(rows, indent="  ", widths=(NAME_WIDTH,))], self._shift_title)

    @property
    def _shift_title(self) -> str:
        if not self.columns:
            return "Too few rows to test the columns."
        if not self.shifted:
            return f"No column of {len(self.columns):,} has shifted."
        return f"{format_quantity(len(self.shifted), 'column')} of {len(self.columns):,} shifted:"

    def plot(self) -> Any:
        """Plot the effect of each column, largest first."""
        from weigh.pictures import bar_chart

        if not self.columns:
            raise errors.Unsupported(
                f"{self._shift_title} There is nothing to draw; flagged rows are in `rows`."
            )
        largest = sorted(self.columns, key=lambda column: -column.effect)[:MAX_PLOTTED_COLUMNS]
        groups = {True: "shifted", False: "as in training"}
        rows = [
            {"group": groups[column.shifted], "name": column.column, "value": round(column.effect, 9)}
            for shifted in (True, False)
            for column in largest
            if column.shifted is shifted
        ]
        return bar_chart(
            rows,
            x="effect: share of rows, or standard deviations of the mean",
            title=self.headline,
        )


def summarise_flagged_rows(flagged: int, n_rows: int) -> str:
    """Return a sentence with the number of flagged rows."""
    return f"{format_quantity(flagged, 'row')} of {n_rows:,} unlike the training rows."


def unfamiliar(model: Any, rows: Any) -> Unfamiliar:
    """Find rows and columns unlike those a naive Bayes model was trained on (labels are ignored).

    Parameters
    ----------
    model : a naive Bayes model or fitted estimator
    rows : rows of any storage, or a source
    """
    detector = NoveltyDetector(getattr(model, "model_", model))
    flagged = [row for chunk in detector.model.chunks(rows) for row in detector.flag_rows(chunk)]
    return detector.result(flagged)


class NoveltyDetector:
    """Flags rows chunk by chunk and accumulates column counts, in bounded memory."""

    def __init__(self, model: Any) -> None:
        model = getattr(model, "uncalibrated", model)
        if not isinstance(model, BayesModel):
            raise errors.Unsupported(
                f"Unfamiliar rows are found by naive Bayes models, got {type(model).__name__}, which does "
                f"not remember what its training rows were like."
            )
        if model.stated:
            raise errors.Unsupported("A model from stated numbers has no training rows to compare with.")
        self.model = model
        self.n_rows = 0
        self.n_flagged = 0
        self._counters = [make_shift_counter(part) for part in model.distributions]
        self._known_values = [frozenset(part.training_names()) for part in model.distributions]

    def flag_rows(self, chunk: Chunk) -> Iterator[UnfamiliarRow]:
        """Yield the flagged rows of a chunk in the schema's names, and count its columns."""
        blocks = self.model.schema.encode(chunk)
        reasons: dict[int, list[NoveltyReason]] = {}
        for part, known, counter, block in zip(
            self.model.distributions, self._known_values, self._counters, blocks, strict=True
        ):
            counter.add(block)
            for row, reason in _find_unusual_values(part, known, block):
                reasons.setdefault(row, []).append(reason)
        self.n_rows += chunk.n_rows
        self.n_flagged += len(reasons)
        for row in sorted(reasons):
            yield UnfamiliarRow(chunk.row_number(row), tuple(reasons[row]))

    def summary(self) -> str:
        """Return the number of flagged rows so far and the shifted columns as text."""
        return f"{summarise_flagged_rows(self.n_flagged, self.n_rows)} {self.result([]).told()}"

    def result(self, rows: list[UnfamiliarRow]) -> Unfamiliar:
        """Return the given flagged rows together with the column tests of all rows seen."""
        shifts = tuple(shift for counter in self._counters for shift in counter.shifts())
        return Unfamiliar(self.n_rows, tuple(rows), shifts)


def _find_unusual_values(
    part: Any, known: frozenset[Any], block: Block
) -> Iterator[tuple[int, NoveltyReason]]:
    name = part.part.title
    if isinstance(block, CategoryBlock):
        yield from _find_unseen_levels(name, known, block)
    elif isinstance(block, NumberBlock):
        yield from _find_distant_numbers(name, part, block)
    elif not part.weights.fixed and known:
        yield from _find_unseen_words(name, known, as_sparse_block(block))


def _find_unseen_levels(
    name: str, known: frozenset[Any], block: CategoryBlock
) -> Iterator[tuple[int, NoveltyReason]]:
    is_new = np.array([level not in known for level in block.levels] + [False], dtype=bool)
    for row in np.flatnonzero(is_new[block.codes]).tolist():
        yield row, NoveltyReason(name, format_value(block.levels[block.codes[row]]), "never seen")


def _find_distant_numbers(
    name: str, part: Gaussian | ShapedNumber, block: NumberBlock
) -> Iterator[tuple[int, NoveltyReason]]:
    term = part.normal.weights
    if not len(term.mean):
        return
    nearest = np.full(block.n_rows, np.inf)
    for mean, residual, deviation in zip(term.mean, term.mean_residual, term.deviation, strict=True):
        np.minimum(nearest, np.abs((block.values - mean) - residual) / deviation, out=nearest)
    for row in np.flatnonzero(nearest > MAX_FAMILIAR_DEVIATIONS).tolist():
        why = f"{nearest[row]:,.1f} standard deviations from the nearest class"
        yield (
            row,
            NoveltyReason(name, format_value(float(block.values[row])), why, "a number far from every class"),
        )


def _find_unseen_words(
    name: str, known: frozenset[Any], block: SparseBlock
) -> Iterator[tuple[int, NoveltyReason]]:
    is_new = np.array([word not in known for word in block.names], dtype=bool)
    if not is_new.any():
        return
    rows, amounts = block.rows, block.rows.entry_values()
    lengths = rows.sum_by_row(amounts)
    n_unseen = rows.sum_by_row(np.where(is_new[rows.indices], amounts, 0.0))
    for row in np.flatnonzero((lengths > 0) & (n_unseen >= MIN_UNKNOWN_WORD_SHARE * lengths)).tolist():
        share = "all" if n_unseen[row] == lengths[row] else f"{n_unseen[row]:,.10g} of {lengths[row]:,.10g}"
        first = block.names[rows.indices[rows.indptr[row]]]
        value = f"{first} …" if lengths[row] > 1 else first
        yield row, NoveltyReason(name, value, f"{share} words never seen", "mostly new words")
