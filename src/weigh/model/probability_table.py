"""A table of joint probabilities, and the questions it answers exactly."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from weigh import errors
from weigh.priors import exact
from weigh.text import html_paragraph, html_table, text_table

Cell = tuple[Hashable, ...]
Cells = dict[Cell, Fraction]

# How far from 1 the sum may be before it is an error and no longer the rounding of floats.
SUM_TOLERANCE = Fraction(1, 10**9)
MAX_PRINTED_CELLS = 60
MAX_PLOTTED_CELLS = 400


@dataclass(frozen=True, init=False, repr=False)
class ProbabilityTable:
    """The joint probability of several variables, cell by cell.

    `probabilities` maps the values of the variables, in order, to their probability; a cell that
    is left out has probability 0. Probabilities are read exactly, a float by its decimal text, and
    every answer is an exact fraction.

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
        for key, given in probabilities.items():
            cell = key if isinstance(key, tuple) else (key,)
            _add_cell(cells, names, cell, given)
        self._initialise(names, cells)

    @classmethod
    def from_rows(cls, variables: Sequence[str], rows: Iterable[Sequence[object]]) -> ProbabilityTable:
        """A table from rows that hold the values in order and then the probability."""
        names = _check_variables(variables)
        cells: Cells = {}
        for row in rows:
            _add_cell(cells, names, tuple(row)[:-1], row[-1] if len(row) else None)
        made = cls.__new__(cls)
        made._initialise(names, cells)
        return made

    @classmethod
    def from_columns(
        cls, columns: Mapping[str, Iterable[object]], probability: str = "P"
    ) -> ProbabilityTable:
        """A table from columns of values and one, named `probability`, of probabilities."""
        listed = {str(name): list(column) for name, column in columns.items()}
        if probability not in listed:
            raise errors.unknown_column_error(probability, listed, "The table of probabilities")
        numbers = listed.pop(probability)
        for name, column in listed.items():
            if len(column) != len(numbers):
                raise errors.ColumnError(
                    f"Column {name!r} has {len(column):,} rows, but {probability!r} has {len(numbers):,}."
                )
        return cls.from_rows(list(listed), list(zip(*listed.values(), numbers, strict=True)))

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
        """How many numbers may be chosen freely: one per possible cell, less one."""
        return math.prod(len(levels) for levels in self.values) - 1

    def probability(
        self,
        event: Mapping[str, Hashable] | None = None,
        /,
        *,
        given: Mapping[str, Hashable] | None = None,
        **values: Hashable,
    ) -> Fraction:
        """The probability of an event, `G="C"` or {"G": "C"}, summed over what is not named.

        With `given`, the probability of the event among the cells where that holds.
        """
        for name in values:
            if event and name in event:
                raise errors.ColumnError(f"Variable {name!r} is given twice; give it once.")
        wanted = self._values_by_index({**(event or {}), **values})
        among = self._conditional_cells(given or {})
        return sum((p for cell, p in among.items() if _matches(cell, wanted)), Fraction(0))

    def marginal(self, *variables: str) -> ProbabilityTable:
        """The table of these variables alone, in this order."""
        return self.conditional(*variables)

    def conditional(self, *variables: str, given: Mapping[str, Hashable] | None = None) -> ProbabilityTable:
        """The table of these variables where `given` holds, in this order."""
        places = [self._variable_index(name) for name in _check_variables(variables)]
        among = self._conditional_cells(given or {})
        # Cells that do not fit stay with probability 0, so that no variable loses a value.
        cells: Cells = {}
        for cell in self._cells:
            kept = tuple(cell[place] for place in places)
            cells[kept] = cells.get(kept, Fraction(0)) + among.get(cell, Fraction(0))
        made = ProbabilityTable.__new__(ProbabilityTable)
        made._initialise(tuple(variables), cells)
        return made

    def independent(self, first: str, second: str, *, given: Mapping[str, Hashable] | None = None) -> bool:
        """Whether P(first, second) = P(first) P(second) in every cell, exactly."""
        joint = self.conditional(first, second, given=given)
        left, right = joint.marginal(first)._cells, joint.marginal(second)._cells
        return all(
            joint._cells.get((*x, *y), Fraction(0)) == p * q
            for x, p in left.items()
            for y, q in right.items()
        )

    def to_dict(self, probability: str = "P", *, exactly: bool = False) -> dict[str, list[object]]:
        """The table as columns, ready for `from_columns` or a data frame.

        Probabilities are floats, or with `exactly` texts such as '1/3' that lose nothing.
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

    def __repr__(self) -> str:
        return f"<ProbabilityTable of {', '.join(self.variables)}: {len(self._cells):,} cells>"

    def __str__(self) -> str:
        rows = [[*self.variables, "P"], *self._rows()]
        return "\n".join([text_table(rows, left=len(rows[0])), *self._notes()])

    def plot(self) -> Any:
        """Return a picture of the cells: the last variable across, all others together down."""
        from weigh.pictures import heatmap

        if len(self._cells) > MAX_PLOTTED_CELLS:
            raise errors.Unsupported(
                f"A picture shows at most {MAX_PLOTTED_CELLS:,} cells, the table has {len(self._cells):,}. Draw a "
                f"part of it, such as .marginal({self.variables[0]!r})."
            )
        most = max(self._cells.values())
        rows = [
            {
                "row": ", ".join(map(_one_line, cell[:-1])) or "P",
                "column": _one_line(cell[-1]),
                "value": float(p),
                "shade": float(p / most),
            }
            for cell, p in self._cells.items()
        ]
        return heatmap(
            rows, x=self.variables[-1], y=", ".join(self.variables[:-1]), title="Joint probability"
        )

    def _repr_html_(self) -> str:
        notes = "".join(map(html_paragraph, self._notes()))
        table = html_table("", [[*self.variables, "P"], *self._rows()], len(self.variables))
        return f"<div>{table}{notes}</div>"

    def _rows(self) -> list[list[str]]:
        shown = list(self._cells.items())[:MAX_PRINTED_CELLS]
        return [[*(_one_line(value) for value in cell), exact.format_fraction(p)] for cell, p in shown]

    def _notes(self) -> list[str]:
        notes = []
        if len(self._cells) > MAX_PRINTED_CELLS:
            notes.append(f"... and {len(self._cells) - MAX_PRINTED_CELLS:,} more cells")
        if self.given_total != 1:
            off = float(self.given_total - 1)
            notes.append(f"The probabilities given sum to 1{off:+.1e}; each was divided by that.")
        return notes

    def _variable_index(self, name: str) -> int:
        if name not in self.variables:
            raise errors.unknown_column_error(name, self.variables, "The table of probabilities")
        return self.variables.index(name)

    def _values_by_index(self, named: Mapping[str, Hashable]) -> dict[int, Hashable]:
        places = {self._variable_index(name): value for name, value in named.items()}
        for place, value in places.items():
            known = self.values[place]
            if value not in known:
                texts = [level for level in known if isinstance(level, str)]
                raise errors.DataError(
                    f"Variable {self.variables[place]!r} has no value {value!r}; it has "
                    f"{errors.quote_names(known)}.{errors.did_you_mean(str(value), texts)}"
                )
        return places

    def _conditional_cells(self, given: Mapping[str, Hashable]) -> Cells:
        known = self._values_by_index(given)
        among = {cell: p for cell, p in self._cells.items() if _matches(cell, known)}
        mass = sum(among.values(), Fraction(0))
        if not mass:
            said = ", ".join(f"{name}={value!r}" for name, value in given.items())
            raise errors.ImpossibleEvidence(f"P({said}) is 0, so nothing is known where it holds.")
        return {cell: p / mass for cell, p in among.items()}


def _matches(cell: Cell, known: Mapping[int, Hashable]) -> bool:
    return all(cell[place] == value for place, value in known.items())


def _check_variables(names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str) or not names or not all(isinstance(name, str) for name in names):
        raise errors.ColumnError(f"A table needs a list of variable names, got {names!r}.")
    for name in names:
        if list(names).count(name) > 1:
            raise errors.ColumnError(f"Variable {name!r} is named twice; name it once.")
    return tuple(names)


def _add_cell(cells: Cells, names: tuple[str, ...], given: Sequence[object], number: object) -> None:
    if len(given) != len(names):
        raise errors.DataError(
            f"The cell {tuple(given)!r} has {len(given)} values, but the table has {len(names)} "
            f"variables, {errors.quote_names(names)}."
        )
    cell = tuple(_check_value(value) for value in given)
    if cell in cells:
        raise errors.DataError(f"The cell {cell!r} is given twice; give each cell once.")
    p = exact.parse_fraction(number) if isinstance(number, str) else exact.to_fraction(number)
    if p is None or p < 0:
        raise errors.DataError(
            f"The probability of cell {cell!r} must be a number of zero or more, got {number!r}."
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
