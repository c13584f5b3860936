"""Detect rows and columns unlike those a model was trained on.

A row is flagged if it has a value that is rarer than the values of nearly all training rows, or words that
are more surprising than those of training texts. Every column is tested for a shift of its distribution
against training.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import errors
from weigh.explain.distribution_shift import ColumnShift, make_shift_counter
from weigh.explain.rarity import FlagRarity, LevelRarity, NumberRarity, RarityThreshold
from weigh.explain.word_surprise import WordSurprise
from weigh.features.blocks import Floats, NumberBlock
from weigh.features.words import Block, as_sparse_block
from weigh.model.distributions.bernoulli import Bernoulli
from weigh.model.distributions.categorical import Categorical
from weigh.model.distributions.gaussian import Gaussian
from weigh.model.distributions.multinomial import Multinomial
from weigh.model.distributions.number_shapes import ShapedNumber
from weigh.model.distributions.weights import format_value
from weigh.model.naive_bayes import BayesModel
from weigh.result import LINE_WIDTH, Facts, Lines, Section, Table, TabularResult
from weigh.source.chunk import Chunk
from weigh.text import escape_control_characters, format_quantity, truncate

FALSE_ALARM_RATE = 0.01  # of rows like the training rows
MAX_LISTED_ROWS = 10
NAME_WIDTH = 22
MAX_PLOTTED_COLUMNS = 20


@dataclass(frozen=True)
class NoveltyReason:
    """Why a row was flagged: the column, its value and the reason.

    `what` is the type of reason: `a value never seen`, `a rare value`, `a rare number`, `a number outside the
    training range`, `a number far from every class` or `unusual words`.
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

    `false_alarm_rate` is the largest share, on average, of rows from the source of the training rows that is
    flagged. It is 1 %, or more if there are too few training rows. For texts it is not a bound but a
    measurement on sets of texts (benchmarks/RESULTS.md): sets of very different texts have more.
    `columns` are the columns with enough rows for a test (20); `shifted` those with a significant (p < 0.001)
    and large enough (effect ≥ 0.1) difference.
    """

    n_rows: int
    rows: tuple[UnfamiliarRow, ...]
    columns: tuple[ColumnShift, ...]
    false_alarm_rate: float = FALSE_ALARM_RATE
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
        return summarise_flagged_rows(len(self.rows), self.n_rows, self.false_alarm_rate)

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


def summarise_flagged_rows(flagged: int, n_rows: int, rate: float) -> str:
    """Return a sentence with the number of flagged rows and the rate of false alarms."""
    rows = format_quantity(flagged, "row")
    return f"{rows} of {n_rows:,} unlike the training rows (false alarms: {format_rate(rate)})."


def format_rate(rate: float) -> str:
    """Format the rate of false alarms as a rounded percentage."""
    return f"up to {100 * rate:.2g} %"


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
        self._finders = make_finders(model)

    @property
    def false_alarm_rate(self) -> float:
        """The share of rows like the training rows that is flagged."""
        return min(1.0, float(sum(finder.rate for finder in self._finders)))

    def flag_rows(self, chunk: Chunk) -> Iterator[UnfamiliarRow]:
        """Yield the flagged rows of a chunk in the schema's names, and count its columns."""
        blocks = self.model.schema.encode(chunk)
        for counter, block in zip(self._counters, blocks, strict=True):
            counter.add(block)
        reasons: dict[int, list[NoveltyReason]] = {}
        for finder in self._finders:
            for row, reason in finder.find(blocks):
                reasons.setdefault(row, []).append(reason)
        self.n_rows += chunk.n_rows
        self.n_flagged += len(reasons)
        for row in sorted(reasons):
            yield UnfamiliarRow(chunk.row_number(row), tuple(reasons[row]))

    def summary(self) -> str:
        """Return the number of flagged rows so far and the shifted columns as text."""
        summary = summarise_flagged_rows(self.n_flagged, self.n_rows, self.false_alarm_rate)
        return f"{summary} {self.result([]).told()}"

    def result(self, rows: list[UnfamiliarRow]) -> Unfamiliar:
        """Return the given flagged rows together with the column tests of all rows seen."""
        shifts = tuple(shift for counter in self._counters for shift in counter.shifts())
        return Unfamiliar(self.n_rows, tuple(rows), shifts, self.false_alarm_rate)


Reasons = Iterator[tuple[int, NoveltyReason]]
Finder = Any  # has `rate` and `find(blocks)`


def make_finders(model: BayesModel) -> list[Finder]:
    """Return what finds unusual rows; all together have the rate of false alarms."""
    n_rows = float(model.counts.rows.sum())
    tables, normals, texts = {}, {}, {}
    for at, part in enumerate(model.distributions):
        rarity = make_rarity(part)
        if rarity is not None:
            tables[at] = rarity
        elif isinstance(part, Gaussian) and len(part.weights.mean):
            normals[at] = part
        elif isinstance(part, Multinomial | Bernoulli) and any(True for _ in part.training_names()):
            texts[at] = WordSurprise(part, n_rows)
    rate = FALSE_ALARM_RATE / max(1, bool(tables) + bool(normals) + len(texts))
    finders: list[Finder] = [TextFinder(at, texts[at], rate) for at in texts]
    if normals:
        finders.insert(0, NormalFinder(normals, n_rows, rate))
    if tables:
        finders.insert(0, TableFinder(tables, n_rows, rate))
    return finders


def make_rarity(part: Any) -> LevelRarity | FlagRarity | NumberRarity | None:
    """Return the rarity of a column's values, or None if the model does not keep their counts."""
    if isinstance(part, Categorical):
        return LevelRarity(part)
    if isinstance(part, Bernoulli) and part.counts.present.fixed:
        return FlagRarity(part)
    if isinstance(part, Gaussian | ShapedNumber) and part.counts.grid is not None:
        return NumberRarity(part) if len(part.counts.grid.cells) else None
    return None


class TableFinder:
    """Finds rare categories, flags and numbers."""

    def __init__(self, columns: dict[int, Any], n_rows: float, rate: float) -> None:
        self._columns = columns
        training = [column.training for column in columns.values()]
        self._threshold = RarityThreshold(training, n_rows, rate)
        self.rate = self._threshold.rate

    def find(self, blocks: Sequence[Block]) -> Reasons:
        """Yield the rows with rare values."""
        for at, column in self._columns.items():
            block: Any = blocks[at]
            if isinstance(column, FlagRarity):
                yield from self._find_flags(column, as_sparse_block(block))
                continue
            for row in np.flatnonzero(self._threshold.is_rare(column.scores(block))).tolist():
                reason = column.reason(block, row)
                yield row, NoveltyReason(column.name, column.value(block, row), reason.why, reason.what)

    def _find_flags(self, column: FlagRarity, block: Any) -> Reasons:
        for row, flags in column.rare_flags(block, self._threshold).items():
            for flag, value in flags:
                reason = column.reason(flag, value)
                yield row, NoveltyReason(column.names[flag], str(value), reason.why, reason.what)


class NormalFinder:
    """Finds rows far from every class, in numbers of which only means and standard deviations are kept.

    The mean of z² over the training rows is 1 in each of k columns, so by Markov's inequality at most a share
    r of them have Σ z² ≥ k / r, whatever their distribution.
    """

    def __init__(self, columns: dict[int, Gaussian], n_rows: float, rate: float) -> None:
        self._columns = columns
        self.rate = max(rate, 1 / (n_rows + 1))

    def find(self, blocks: Sequence[Block]) -> Reasons:
        """Yield the rows far from every class, with the farthest column."""
        squares: list[Floats] = []
        for at, part in self._columns.items():
            block, term = blocks[at], part.weights
            assert isinstance(block, NumberBlock)
            z = ((block.values[:, None] - term.mean) - term.mean_residual) / term.deviation
            squares.append(np.nan_to_num(z, nan=0.0, posinf=1e150, neginf=-1e150) ** 2)
        distance = np.sum(squares, axis=0)
        nearest = distance.argmin(axis=1)
        for row in np.flatnonzero(distance.min(axis=1) * self.rate >= len(squares)).tolist():
            z2 = [float(square[row, nearest[row]]) for square in squares]
            at = list(self._columns)[int(np.argmax(z2))]
            why = f"{math.sqrt(max(z2)):,.1f} standard deviations from the nearest class"
            number: Any = blocks[at]
            value = format_value(float(number.values[row]))
            name = self._columns[at].part.title
            yield row, NoveltyReason(name, value, why, "a number far from every class")


class TextFinder:
    """Finds texts with surprising words."""

    def __init__(self, at: int, words: WordSurprise, rate: float) -> None:
        self._at, self._words, self.rate = at, words, rate

    def find(self, blocks: Sequence[Block]) -> Reasons:
        """Yield the texts with surprising words."""
        block: Any = blocks[self._at]
        for row, value, why in self._words.find(block):
            yield row, NoveltyReason(self._words.name, value, why, "unusual words")
