"""Detect rows and columns unlike those a model was trained on.

A row is flagged if it has a value that is rarer than the values of nearly all training rows, or words that
are more surprising than those of training texts. Every column is tested for a shift of its distribution
against training.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from weigh import errors
from weigh.explain.distribution_shift import ColumnShift, make_shift_counter
from weigh.explain.novelty_finders import NoveltyReason, make_finders
from weigh.explain.training_inputs import read_inputs
from weigh.explain.weight_unit import WeightUnit, find_weight_unit
from weigh.model.naive_bayes import BayesModel
from weigh.result import LINE_WIDTH, Facts, Lines, Section, Table, TabularResult
from weigh.source.chunk import Chunk
from weigh.text import format_quantity, truncate

FALSE_ALARM_RATE = 0.01  # of rows like the training rows
MAX_LISTED_ROWS = 10
MAX_LISTED_NAMES = 3
NAME_WIDTH = 22
MAX_PLOTTED_COLUMNS = 20


@dataclass(frozen=True)
class UnfamiliarRow(Facts):
    """The number of a flagged row (the first is 0), and the reasons."""

    row: int
    reasons: tuple[NoveltyReason, ...]


@dataclass(frozen=True, repr=False)
class Unfamiliar(TabularResult):
    """The result of `unfamiliar`: flagged rows, and how each column compares with training.

    `false_alarm_rate` is about the share of rows from the source of the training rows that is flagged, or
    less: 1 %, or more if there are too few training rows. For texts it was measured on sets of texts
    (benchmarks/RESULTS.md): sets of very different texts have more. It is None if the weights of the training
    rows differ, or if no column is examined. `not_examined` are the columns of which the model keeps too
    little: columns of counts, and numbers of arrays if every class has fewer than 10 rows.
    `columns` are the columns with enough rows for a test (20); `shifted` those with a significant (p < 0.001)
    and large enough (effect ≥ 0.1) difference.
    """

    n_rows: int
    rows: tuple[UnfamiliarRow, ...]
    columns: tuple[ColumnShift, ...]
    false_alarm_rate: float | None = FALSE_ALARM_RATE
    not_examined: tuple[str, ...] = ()
    is_examined: bool = True
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
        return self.summarise(len(self.rows))

    def summarise(self, n_flagged: int) -> str:
        """Return a sentence with a number of flagged rows and the rate of false alarms."""
        if not self.is_examined:
            names = f" of {self.format_unexamined_columns()}" if self.not_examined else ""
            return f"No row of {self.n_rows:,} can be examined: the model keeps too little{names}."
        rate, rows = format_rate(self.false_alarm_rate), format_quantity(n_flagged, "row")
        without = f"; not examined: {self.format_unexamined_columns()}" if self.not_examined else ""
        return f"{rows} of {self.n_rows:,} unlike the training rows (false alarms: {rate}{without})."

    def format_unexamined_columns(self) -> str:
        """Return the names of the first columns that are not examined, and the number of the others."""
        listed = ", ".join(truncate(name, NAME_WIDTH) for name in self.not_examined[:MAX_LISTED_NAMES])
        more = len(self.not_examined) - MAX_LISTED_NAMES
        return f"{listed} and {more:,} more" if more > 0 else listed

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

    def format_shifts(self) -> str:
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


def format_rate(rate: float | None) -> str:
    """Format the rate of false alarms as a rounded percentage."""
    return "not known for weighted rows" if rate is None else f"about {100 * rate:.2g} %"


def unfamiliar(model: Any, rows: Any) -> Unfamiliar:
    """Find rows and columns unlike those a model was trained on (labels are ignored).

    Parameters
    ----------
    model : a model or fitted estimator of any learner
    rows : rows of any storage, or a source
    """
    detector = NoveltyDetector(getattr(model, "model_", model))
    flagged = [row for chunk in detector.model.chunks(rows) for row in detector.flag_rows(chunk)]
    return detector.result(flagged)


class NoveltyDetector:
    """Flags rows chunk by chunk and accumulates column counts, in bounded memory."""

    def __init__(self, model: Any) -> None:
        self.model = getattr(model, "uncalibrated", model)
        self._inputs = read_inputs(self.model)
        self.n_rows = 0
        self.n_flagged = 0
        self._counters = [make_shift_counter(part) for part in self._inputs.parts]
        is_counted = isinstance(self.model, BayesModel)
        self._unit = find_weight_unit(self.model) if is_counted else WeightUnit()
        self._finders, self._not_examined = make_finders(self._inputs, self._unit.value, FALSE_ALARM_RATE)

    @property
    def is_examining(self) -> bool:
        """Whether the model keeps enough to examine any column."""
        return bool(self._finders)

    @property
    def false_alarm_rate(self) -> float | None:
        """The share of rows like the training rows that is flagged, or None if it is not known."""
        if not self._finders or not self._unit.is_known:
            return None
        return min(1.0, float(sum(finder.rate for finder in self._finders)))

    def flag_rows(self, chunk: Chunk) -> Iterator[UnfamiliarRow]:
        """Yield the flagged rows of a chunk in the schema's names, and count its columns."""
        blocks = self._inputs.encode(chunk)
        for counter, block in zip(self._counters, blocks, strict=True):
            counter.add(block)
        reasons = self._find_reasons(blocks)
        self.n_rows += chunk.n_rows
        self.n_flagged += len(reasons)
        for row in sorted(reasons):
            yield UnfamiliarRow(chunk.row_number(row), tuple(reasons[row]))

    def find_reasons(self, chunk: Chunk) -> dict[int, list[NoveltyReason]]:
        """Return the reasons for each flagged row of a chunk, without counting its columns."""
        return self._find_reasons(self._inputs.encode(chunk))

    def _find_reasons(self, blocks: Sequence[Any]) -> dict[int, list[NoveltyReason]]:
        reasons: dict[int, list[NoveltyReason]] = {}
        for finder in self._finders:
            for row, reason in finder.find(blocks):
                reasons.setdefault(row, []).append(reason)
        return reasons

    def reasons_by_row(self, chunk: Chunk) -> list[list[str]]:
        """Return the reasons for each row of a chunk as text, and count its columns."""
        found: list[list[str]] = [[] for _ in range(chunk.n_rows)]
        for row in self.flag_rows(chunk):
            found[row.row - chunk.first_row] = [str(reason) for reason in row.reasons]
        return found

    def summary(self) -> str:
        """Return the number of flagged rows so far and the shifted columns as text."""
        result = self.result([])
        return f"{result.summarise(self.n_flagged)}\n{result.format_shifts()}"

    def result(self, rows: list[UnfamiliarRow]) -> Unfamiliar:
        """Return the given flagged rows together with the column tests of all rows seen."""
        shifts = tuple(shift for counter in self._counters for shift in counter.shifts())
        return Unfamiliar(
            self.n_rows,
            tuple(rows),
            shifts,
            self.false_alarm_rate,
            self._not_examined,
            is_examined=self.is_examining,
        )
