"""Statements: what is said of one column in every class, and how its numbers are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from weigh import errors
from weigh.features import Category, Flag, Kind, Number, Text, Tokens
from weigh.features.columns import to_codes
from weigh.model.stated_numbers import to_scaled_table, to_table
from weigh.model.tally import Table
from weigh.priors.exact import LARGEST, count, fraction

TOLERANCE = Fraction(1, 10**9)  # what sums to one but for the rounding of floats
CELLS, FLAG, NUMBER = "cells", "flag", "number"
PROBABILITY = "be a probability from 0 to 1"
COUNT = "be a count of 0 or more"
Reader = Callable[[object], Fraction | None]


@dataclass(frozen=True)
class Statement:
    """What was stated of one column: its kind, and each class's own numbers."""

    owner: str
    name: str
    kind: Kind
    by_class: dict[Any, Any]

    @property
    def is_group(self) -> bool:
        """Whether the statement is about many count columns, one per word."""
        return self.kind.gathers and self.kind.family == "multinomial"

    @property
    def columns(self) -> list[str]:
        """The columns of the table that the statement is about."""
        return self.names if self.is_group else [self.name]

    @cached_property
    def names(self) -> list[Any]:
        """The levels or words that any class names."""
        found = list(dict.fromkeys(name for cells in self.by_class.values() for name in cells))
        if isinstance(self.kind, Category):
            return _levels(self, [*found, *(self.kind.levels or ())])
        self._check_words(found)
        return found

    def _check_words(self, words: list[Any]) -> None:
        if not words or not all(isinstance(word, str) for word in words):
            raise self.refuse(words, "name words, as strings")
        if isinstance(self.kind, Text):
            block: Any = self.kind.encode({self.name: objects(words)}, [self.name], ())
            lost = sorted(set(words) - set(block.entries().names))
            if lost:
                raise self.refuse(lost, f"name words as {self.kind!r} reads them from a text, in lower case")

    def cells(self, read: Reader, must: str) -> list[list[Fraction]]:
        """Return the numbers of all names in every class; a name that a class leaves out has 0."""
        return [
            [self.number(cells.get(name, 0), label, read, must) for name in self.names]
            for label, cells in self.by_class.items()
        ]

    def number(self, given: object, label: Any, read: Reader, must: str) -> Fraction:
        """Return one number, read and checked."""
        found = read(given)
        if found is None:
            raise self.refuse(given, must, label)
        return found

    def refuse(self, got: object, must: str, label: Any = None) -> errors.ParameterError:
        """Word the refusal of what was stated."""
        where = f"columns[{self.name!r}]" + ("" if label is None else f"[{label!r}]")
        shown = repr(got)
        shown = shown if len(shown) <= 200 else shown[:197] + "..."
        return errors.ParameterError(f"{self.owner}: {where} must {must}, got {shown}.")


class Parameters:
    """How stated probabilities, means and spreads are read."""

    owner = "BayesModel.from_parameters"
    shapes: Mapping[str, str] = {CELLS: "a mapping from values", FLAG: "a number", NUMBER: "a pair"}
    meaning = "a mapping from values to probabilities, one probability, or a pair (mean, spread)"

    def kind(self, statement: Statement) -> Kind:
        """Return a kind under which nothing is estimated, cut off or left out."""
        kind = statement.kind
        if isinstance(kind, Category):
            return replace(kind, levels=tuple(statement.names))
        if isinstance(kind, Number):
            return Number(floor=0.0)
        return replace(kind, min_count=1) if isinstance(kind, (Text, Tokens)) else kind

    def cells(self, statement: Statement) -> Table:
        """Return the probabilities of levels or words, scaled; they must sum to one."""
        rows = statement.cells(_probability, PROBABILITY)
        for (label, given), row in zip(statement.by_class.items(), rows, strict=True):
            if abs(sum(row, Fraction(-1))) > TOLERANCE:
                raise statement.refuse(given, f"sum to 1 (they sum to {float(sum(row)):.10g})", label)
        return to_scaled_table(rows)

    def flags(self, statements: Sequence[Statement], rows: Table) -> tuple[Table, Table]:
        """Return the probabilities of flags and the whole they are shares of."""
        columns = [
            [each.number(given, label, _probability, PROBABILITY) for label, given in each.by_class.items()]
            for each in statements
        ]
        return _with_whole(zip(*columns, strict=True))

    def words(self, statement: Statement, rows: Table) -> tuple[Table, Table]:
        """Return the probabilities that words occur in a text, and the whole."""
        return _with_whole(statement.cells(_probability, PROBABILITY))

    def numbers(self, statement: Statement) -> list[tuple[float, float]]:
        """Return each class's mean and spread."""
        must = "be a pair (mean, spread) of finite numbers, the spread above 0"
        pairs = []
        for label, given in statement.by_class.items():
            mean, spread = (float(statement.number(each, label, _finite, must)) for each in given)
            if spread <= 0:
                raise statement.refuse(given, must, label)
            pairs.append((mean, spread))
        return pairs


class Tables:
    """How tables of counts are read."""

    owner = "BayesModel.from_counts"
    shapes: Mapping[str, str] = {CELLS: "a mapping from values", FLAG: "a pair"}
    meaning = "a mapping from values to counts, or a pair (present, known) of a flag's counts"

    def kind(self, statement: Statement) -> Kind:
        """Return the kind; levels that no row has are declared, for they would vanish."""
        kind = statement.kind
        if isinstance(kind, Category) and not self.cells(statement).any(axis=0).all():
            return replace(kind, levels=tuple(statement.names))
        return kind

    def cells(self, statement: Statement) -> Table:
        """Return the counts of levels or words."""
        return to_table(statement.cells(count, COUNT))

    def flags(self, statements: Sequence[Statement], rows: Table) -> tuple[Table, Table]:
        """Return how often flags were present, and how often they were known."""
        pairs = [[_present_and_known(s, label) for label in s.by_class] for s in statements]
        by_class = list(zip(*pairs, strict=True))
        present, known = ([[pair[at] for pair in row] for row in by_class] for at in (0, 1))
        return to_table(present), to_table(known)

    def words(self, statement: Statement, rows: Table) -> tuple[Table, Table]:
        """Return in how many texts words occur, and how many texts there are."""
        return self.cells(statement), rows[:, None]

    def totals(self, statement: Statement) -> Table | None:
        """Return in how many rows of each class the column is known; words do not tell."""
        if statement.kind.family == "categorical":
            return np.asarray(self.cells(statement).sum(axis=1))
        return self.flags([statement], np.zeros(0))[1][:, 0] if isinstance(statement.kind, Flag) else None

    def numbers(self, statement: Statement) -> list[tuple[float, float]]:
        """Refuse: a mean and a spread are no counts."""
        raise statement.refuse(statement.by_class, f"give {self.meaning}")


Reading = Parameters | Tables


def objects(values: Iterable[Any]) -> Any:
    """Return values of any types as a column."""
    found = list(values)
    column = np.empty(len(found), dtype=object)
    for at, value in enumerate(found):
        column[at] = value
    return column


def _with_whole(rows: Iterable[Sequence[Fraction]]) -> tuple[Table, Table]:
    table = to_scaled_table([[*row, Fraction(1)] for row in rows])
    return table[:, :-1], table[:, -1:]


def _present_and_known(statement: Statement, label: Any) -> tuple[Fraction, Fraction]:
    present, known = (statement.number(n, label, count, COUNT) for n in statement.by_class[label])
    if present > known:
        raise statement.refuse(statement.by_class[label], "be (present, known) with present <= known", label)
    return present, known


def _probability(given: object) -> Fraction | None:
    found = fraction(given)
    return found if found is not None and 0 <= found <= 1 else None


def _finite(given: object) -> Fraction | None:
    found = fraction(given)
    return found if found is not None and abs(found) <= LARGEST else None


def _levels(statement: Statement, found: list[Any]) -> list[Any]:
    codes = to_codes(objects(found), statement.name)
    if not found or (codes.codes < 0).any():
        raise statement.refuse(found, "name values, none of them missing")
    return list(codes.levels)
