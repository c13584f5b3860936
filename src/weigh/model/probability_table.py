"""Tables of joint probabilities with exact marginals and conditionals."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from weigh import errors
from weigh.priors import exact
from weigh.result import Part, Result, Section, Table, to_frame
from weigh.text import escape_control_characters

Cell = tuple[Hashable, ...]
Cells = dict[Cell, Fraction]

SUM_TOLERANCE = Fraction(1, 10**9)  # a larger deviation of the sum from 1 is not rounding
MAX_PRINTED_CELLS = 60
MAX_PLOTTED_CELLS = 400


@dataclass(frozen=True, init=False, repr=False)
class ProbabilityTable(Result):
    """The joint distribution of several discrete variables.

    `probabilities` maps each tuple of values, in the order of the variables, to its probability; omitted
    cells have probability 0. Floats are read by their decimal text, and all results are exact fractions.

    >>> table = ProbabilityTable(
    ...     ["rain", "wind"],
    ...     {
    ...         (True, True): 0.1,
    ...         (True, False): 0.2,
    ...         (False, True): 0.3,
    ...         (False, False): 0.4,
    ...     },
    ... )
    >>> table.probability(rain=True)
    Fraction(3, 10)
    >>> table.probability(rain=True, given={"wind": True})
    Fraction(1, 4)
    """

    variables: tuple[str, ...]
    values: tuple[tuple[Hashable, ...], ...]
    given_total: Fraction = field(compare=False)
    _cells: Cells = field(hash=False)

    def __init__(self, variables: Sequence[str], probabilities: Mapping[Hashable, object]) -> None:
        names = _check_variables(variables)
        cells: Cells = {}
        for key, number in probabilities.items():
            cell = key if isinstance(key, tuple) else (key,)
            _add_cell(cells, names, cell, number)
        self._initialise(names, cells)

    @classmethod
    def from_rows(cls, variables: Sequence[str], rows: Iterable[Sequence[object]]) -> ProbabilityTable:
        """Return a table from rows of values, in the order of the variables, followed by the probability."""
        names = _check_variables(variables)
        cells: Cells = {}
        for row in rows:
            _add_cell(cells, names, tuple(row)[:-1], row[-1] if len(row) else None)
        table = cls.__new__(cls)
        table._initialise(names, cells)
        return table

    @classmethod
    def from_columns(
        cls, columns: Mapping[str, Iterable[object]], probability: str = "P"
    ) -> ProbabilityTable:
        """Return a table from columns of values and a column of probabilities named `probability`."""
        lists = {str(name): list(column) for name, column in columns.items()}
        if probability not in lists:
            raise errors.unknown_column_error(probability, lists, "The table of probabilities")
        numbers = lists.pop(probability)
        for name, column in lists.items():
            if len(column) != len(numbers):
                raise errors.ColumnError(
                    f"Column {name!r} has {len(column):,} rows, but {probability!r} has {len(numbers):,}."
                )
        return cls.from_rows(list(lists), list(zip(*lists.values(), numbers, strict=True)))

    def _initialise(self, names: tuple[str, ...], cells: Cells) -> None:
        total = sum(cells.values(), Fraction(0))
        if abs(total - 1) > SUM_TOLERANCE:
            raise errors.DataError(
                f"The probabilities of a table must sum to 1; these sum to {float(total):.10g}."
            )
        values = tuple(tuple(dict.fromkeys(column)) for column in zip(*cells, strict=True))
        object.__setattr__(self, "variables", names)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "given_total", total)
        object.__setattr__(self, "_cells", {cell: p / total for cell, p in cells.items()})

    @property
    def n_parameters(self) -> int:
        """The number of free parameters: one per possible cell, minus one."""
        return math.prod(len(levels) for levels in self.values) - 1

    def probability(
        self,
        event: Mapping[str, Hashable] | None = None,
        /,
        *,
        given: Mapping[str, Hashable] | None = None,
        **values: Hashable,
    ) -> Fraction:
        """Return the probability of an event, `G="C"` or {"G": "C"}, summed over the other variables.

        With `given`, return the conditional probability.
        """
        for name in values:
            if event and name in event:
                raise errors.ColumnError(f"Variable {name!r} is given twice; give it once.")
        values_by_index = self._values_by_index({**(event or {}), **values})
        conditional = self._conditional_cells(given or {})
        return sum((p for cell, p in conditional.items() if _matches(cell, values_by_index)), Fraction(0))

    def marginal(self, *variables: str) -> ProbabilityTable:
        """Return the marginal distribution of these variables, in this order."""
        return self.conditional(*variables)

    def conditional(self, *variables: str, given: Mapping[str, Hashable] | None = None) -> ProbabilityTable:
        """Return the distribution of these variables, in this order, conditional on `given`."""
        indices = [self._variable_index(name) for name in _check_variables(variables)]
        conditional = self._conditional_cells(given or {})
        # Impossible cells stay, with probability 0, so that no variable loses a value.
        cells: Cells = {}
        for cell in self._cells:
            projected = tuple(cell[i] for i in indices)
            cells[projected] = cells.get(projected, Fraction(0)) + conditional.get(cell, Fraction(0))
        table = ProbabilityTable.__new__(ProbabilityTable)
        table._initialise(tuple(variables), cells)
        return table

    def independent(self, first: str, second: str, *, given: Mapping[str, Hashable] | None = None) -> bool:
        """Return whether P(first, second) = P(first) P(second) exactly in every cell."""
        joint = self.conditional(first, second, given=given)
        left, right = joint.marginal(first)._cells, joint.marginal(second)._cells
        return all(
            joint._cells.get((*x, *y), Fraction(0)) == p * q
            for x, p in left.items()
            for y, q in right.items()
        )

    def to_dict(self, probability: str = "P", *, exactly: bool = False) -> dict[str, list[object]]:
        """Return the table as columns, ready for `from_columns` or a data frame.

        Probabilities are floats, or with `exactly` strings such as '1/3'.
        """
        if probability in self.variables:
            must = f"other than the variables {errors.quote_names(self.variables)}"
            raise errors.parameter_error("to_dict", "probability", must, probability)
        columns: dict[str, list[object]] = {
            name: [cell[i] for cell in self._cells] for i, name in enumerate(self.variables)
        }
        numbers = self._cells.values()
        columns[probability] = [str(p) if exactly else float(p) for p in numbers]
        return columns

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame with one row per cell."""
        columns = self.to_dict()
        return to_frame([dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)])

    def __repr__(self) -> str:
        names = escape_control_characters(", ".join(self.variables))
        return f"<ProbabilityTable of {names}: {len(self._cells):,} cells>"

    def sections(self) -> list[Section]:
        """Return the first cells, and a note if the probabilities were rescaled."""
        shown = islice(self._cells.items(), MAX_PRINTED_CELLS)
        rows = [[*map(_one_line, cell), exact.format_fraction(p)] for cell, p in shown]
        header, n_hidden = [*self.variables, "P"], len(self._cells) - len(rows)
        parts: list[Part] = [Table([header, *rows], left=len(header), n_hidden=n_hidden)]
        if self.given_total != 1:
            deviation = float(self.given_total - 1)
            parts.append(f"The probabilities sum to 1{deviation:+.1e}; each was divided by this sum.")
        return [Section("cells", parts)]

    def plot(self) -> Any:
        """Plot the cells as a heatmap: the last variable across, the others together down."""
        from weigh.pictures import heatmap

        if len(self._cells) > MAX_PLOTTED_CELLS:
            raise errors.Unsupported(
                f"A plot shows at most {MAX_PLOTTED_CELLS:,} cells; the table has {len(self._cells):,}. Plot "
                f"a part of it, such as .marginal({self.variables[0]!r})."
            )
        max_probability = max(self._cells.values())
        rows = [
            {
                "row": ", ".join(map(_one_line, cell[:-1])) or "P",
                "column": _one_line(cell[-1]),
                "value": float(p),
                "shade": float(p / max_probability),
            }
            for cell, p in self._cells.items()
        ]
        return heatmap(
            rows, x=self.variables[-1], y=", ".join(self.variables[:-1]), title="Joint probability"
        )

    def _variable_index(self, name: str) -> int:
        if name not in self.variables:
            raise errors.unknown_column_error(name, self.variables, "The table of probabilities")
        return self.variables.index(name)

    def _values_by_index(self, named: Mapping[str, Hashable]) -> dict[int, Hashable]:
        values_by_index = {self._variable_index(name): value for name, value in named.items()}
        for i, value in values_by_index.items():
            levels = self.values[i]
            if value not in levels:
                texts = [level for level in levels if isinstance(level, str)]
                raise errors.DataError(
                    f"Variable {self.variables[i]!r} has no value {value!r}; it has "
                    f"{errors.quote_names(levels)}.{errors.did_you_mean(str(value), texts)}"
                )
        return values_by_index

    def _conditional_cells(self, given: Mapping[str, Hashable]) -> Cells:
        values_by_index = self._values_by_index(given)
        matching = {cell: p for cell, p in self._cells.items() if _matches(cell, values_by_index)}
        total = sum(matching.values(), Fraction(0))
        if not total:
            condition = ", ".join(f"{name}={value!r}" for name, value in given.items())
            raise errors.ImpossibleEvidence(
                f"P({condition}) is 0, so the conditional probability is undefined."
            )
        return {cell: p / total for cell, p in matching.items()}


def _matches(cell: Cell, values_by_index: Mapping[int, Hashable]) -> bool:
    return all(cell[i] == value for i, value in values_by_index.items())


def _check_variables(names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str) or not names or not all(isinstance(name, str) for name in names):
        raise errors.ColumnError(f"A table needs a list of variable names, got {names!r}.")
    for name in names:
        if list(names).count(name) > 1:
            raise errors.ColumnError(f"Variable {name!r} is named twice; name it once.")
    return tuple(names)


def _add_cell(cells: Cells, names: tuple[str, ...], values: Sequence[object], number: object) -> None:
    if len(values) != len(names):
        raise errors.DataError(
            f"The cell {tuple(values)!r} has {len(values)} values, but the table has {len(names)} "
            f"variables, {errors.quote_names(names)}."
        )
    cell = tuple(_check_value(value) for value in values)
    if cell in cells:
        raise errors.DataError(f"The cell {cell!r} is given twice; give each cell once.")
    p = exact.parse_fraction(number) if isinstance(number, str) else exact.to_fraction(number)
    if p is None or p < 0:
        raise errors.DataError(
            f"The probability of cell {cell!r} must be a number of at least 0, got {number!r}."
        )
    cells[cell] = p


def _check_value(value: object) -> Hashable:
    plain = value.item() if isinstance(value, np.generic) else value
    try:
        hash(plain)
    except TypeError:
        plain = math.nan
    if not isinstance(plain, Hashable) or plain != plain:
        raise errors.DataError(f"A variable cannot have the value {value!r}; use text or numbers.")
    return plain


def _one_line(value: Hashable) -> str:
    text = str(value)
    return text if text.isprintable() else repr(value)
