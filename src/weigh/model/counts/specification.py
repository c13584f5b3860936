"""Statements: what is said of one column in every class, and how its numbers are read."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from weigh import errors
from weigh.features import BagOfWordsKind, Category, Flag, Kind, Number, Schema, Text, Tokens, to_kind
from weigh.features.columns import to_codes
from weigh.model.counts.bayes_counts import BayesCounts, PartCounts, encode_labels
from weigh.model.counts.count_table import CountArray, CountTable, WordCountTable
from weigh.model.counts.sufficient_statistics import ExactSum, FlagCounts, NumberCounts
from weigh.model.decision import exact_class_prior
from weigh.priors.exact import MAX_MAGNITUDE, nonnegative_fraction, to_fraction
from weigh.source import Chunk

SUM_TOLERANCE = Fraction(1, 10**9)  # what sums to one but for the rounding of floats
CELLS, FLAG, NUMBER = "cells", "flag", "number"
PROBABILITY_RULE = "be a probability from 0 to 1"
COUNT_RULE = "be a count of 0 or more"
NumberParser = Callable[[object], Fraction | None]


@dataclass(frozen=True)
class ColumnSpecification:
    """What was stated of one column: its kind, and each class's own numbers."""

    owner: str
    name: str
    kind: Kind
    by_class: dict[Any, Any]

    @property
    def is_group(self) -> bool:
        """Whether the statement is about many count columns, one per word."""
        return self.kind.shares_block and self.kind.family == "multinomial"

    @property
    def columns(self) -> list[str]:
        """The columns of the table that the statement is about."""
        return self.names if self.is_group else [self.name]

    @cached_property
    def names(self) -> list[Any]:
        """The levels or words that any class names."""
        found = list(dict.fromkeys(name for cells in self.by_class.values() for name in cells))
        if isinstance(self.kind, Category):
            return _check_levels(self, [*found, *(self.kind.levels or ())])
        self._check_words(found)
        return found

    def _check_words(self, words: list[Any]) -> None:
        if not words or not all(isinstance(word, str) for word in words):
            raise self.error(words, "name words, as strings")
        if isinstance(self.kind, Text):
            block: Any = self.kind.encode({self.name: object_column(words)}, [self.name], ())
            lost = sorted(set(words) - set(block.to_sparse().names))
            if lost:
                raise self.error(lost, f"name words as {self.kind!r} reads them from a text, in lower case")

    def cells(self, read: NumberParser, must: str) -> list[list[Fraction]]:
        """Return the numbers of all names in every class; a name that a class leaves out has 0."""
        return [
            [self.read_number(cells.get(name, 0), label, read, must) for name in self.names]
            for label, cells in self.by_class.items()
        ]

    def read_number(self, given: object, label: Any, read: NumberParser, must: str) -> Fraction:
        """Return one number, read and checked."""
        found = read(given)
        if found is None:
            raise self.error(given, must, label)
        return found

    def error(self, got: object, must: str, label: Any = None) -> errors.ParameterError:
        """Word the refusal of what was stated."""
        where = f"columns[{self.name!r}]" + ("" if label is None else f"[{label!r}]")
        shown = repr(got)
        shown = shown if len(shown) <= 200 else shown[:197] + "..."
        return errors.ParameterError(f"{self.owner}: {where} must {must}, got {shown}.")


class ParameterReader:
    """How stated probabilities, means and spreads are read."""

    owner = "BayesModel.from_parameters"
    forms: Mapping[str, str] = {CELLS: "a mapping from values", FLAG: "a number", NUMBER: "a pair"}
    meaning = "a mapping from values to probabilities, one probability, or a pair (mean, spread)"

    def kind(self, statement: ColumnSpecification) -> Kind:
        """Return a kind under which nothing is estimated, cut off or left out."""
        kind = statement.kind
        if isinstance(kind, Category):
            return replace(kind, levels=tuple(statement.names))
        if isinstance(kind, Number):
            return Number(floor=0.0)
        return replace(kind, min_count=1) if isinstance(kind, (Text, Tokens)) else kind

    def cells(self, statement: ColumnSpecification) -> CountArray:
        """Return the probabilities of levels or words, scaled; they must sum to one."""
        rows = statement.cells(_parse_probability, PROBABILITY_RULE)
        for (label, given), row in zip(statement.by_class.items(), rows, strict=True):
            if abs(sum(row, Fraction(-1))) > SUM_TOLERANCE:
                raise statement.error(given, f"sum to 1 (they sum to {float(sum(row)):.10g})", label)
        return scale_to_integers(rows)

    def flags(
        self, statements: Sequence[ColumnSpecification], rows: CountArray
    ) -> tuple[CountArray, CountArray]:
        """Return the probabilities of flags and the whole they are shares of."""
        columns = [
            [
                each.read_number(given, label, _parse_probability, PROBABILITY_RULE)
                for label, given in each.by_class.items()
            ]
            for each in statements
        ]
        return _scale_with_total(zip(*columns, strict=True))

    def words(self, statement: ColumnSpecification, rows: CountArray) -> tuple[CountArray, CountArray]:
        """Return the probabilities that words occur in a text, and the whole."""
        return _scale_with_total(statement.cells(_parse_probability, PROBABILITY_RULE))

    def numbers(self, statement: ColumnSpecification) -> list[tuple[float, float]]:
        """Return each class's mean and spread."""
        must = "be a pair (mean, spread) of finite numbers, the spread above 0"
        pairs = []
        for label, given in statement.by_class.items():
            mean, spread = (float(statement.read_number(each, label, _parse_finite, must)) for each in given)
            if spread <= 0:
                raise statement.error(given, must, label)
            pairs.append((mean, spread))
        return pairs


class CountTableReader:
    """How tables of counts are read."""

    owner = "BayesModel.from_counts"
    forms: Mapping[str, str] = {CELLS: "a mapping from values", FLAG: "a pair"}
    meaning = "a mapping from values to counts, or a pair (present, known) of a flag's counts"

    def kind(self, statement: ColumnSpecification) -> Kind:
        """Return the kind; levels that no row has are declared, for they would vanish."""
        kind = statement.kind
        if isinstance(kind, Category) and not self.cells(statement).any(axis=0).all():
            return replace(kind, levels=tuple(statement.names))
        return kind

    def cells(self, statement: ColumnSpecification) -> CountArray:
        """Return the counts of levels or words."""
        return to_count_array(statement.cells(nonnegative_fraction, COUNT_RULE))

    def flags(
        self, statements: Sequence[ColumnSpecification], rows: CountArray
    ) -> tuple[CountArray, CountArray]:
        """Return how often flags were present, and how often they were known."""
        pairs = [[_read_flag_counts(s, label) for label in s.by_class] for s in statements]
        by_class = list(zip(*pairs, strict=True))
        present, known = ([[pair[at] for pair in row] for row in by_class] for at in (0, 1))
        return to_count_array(present), to_count_array(known)

    def words(self, statement: ColumnSpecification, rows: CountArray) -> tuple[CountArray, CountArray]:
        """Return in how many texts words occur, and how many texts there are."""
        return self.cells(statement), rows[:, None]

    def totals(self, statement: ColumnSpecification) -> CountArray | None:
        """Return in how many rows of each class the column is known; words do not tell."""
        if statement.kind.family == "categorical":
            return np.asarray(self.cells(statement).sum(axis=1))
        return self.flags([statement], np.zeros(0))[1][:, 0] if isinstance(statement.kind, Flag) else None

    def numbers(self, statement: ColumnSpecification) -> list[tuple[float, float]]:
        """Refuse: a mean and a spread are no counts."""
        raise statement.error(statement.by_class, f"give {self.meaning}")


SpecificationReader = ParameterReader | CountTableReader


def object_column(values: Iterable[Any]) -> Any:
    """Return values of any types as a column."""
    found = list(values)
    column = np.empty(len(found), dtype=object)
    for at, value in enumerate(found):
        column[at] = value
    return column


def _scale_with_total(rows: Iterable[Sequence[Fraction]]) -> tuple[CountArray, CountArray]:
    table = scale_to_integers([[*row, Fraction(1)] for row in rows])
    return table[:, :-1], table[:, -1:]


def _read_flag_counts(statement: ColumnSpecification, label: Any) -> tuple[Fraction, Fraction]:
    present, known = (
        statement.read_number(n, label, nonnegative_fraction, COUNT_RULE) for n in statement.by_class[label]
    )
    if present > known:
        raise statement.error(statement.by_class[label], "be (present, known) with present <= known", label)
    return present, known


def _parse_probability(given: object) -> Fraction | None:
    found = to_fraction(given)
    return found if found is not None and 0 <= found <= 1 else None


def _parse_finite(given: object) -> Fraction | None:
    found = to_fraction(given)
    return found if found is not None and abs(found) <= MAX_MAGNITUDE else None


def _check_levels(statement: ColumnSpecification, found: list[Any]) -> list[Any]:
    codes = to_codes(object_column(found), statement.name)
    if not found or (codes.codes < 0).any():
        raise statement.error(found, "name values, none of them missing")
    return list(codes.levels)


_DEFAULT_KINDS: dict[str, Kind] = {CELLS: Category(), FLAG: Flag(), NUMBER: Number()}
_FORM_CHECKS: dict[str, Callable[[object], bool]] = {
    "a mapping from values": lambda given: isinstance(given, Mapping),
    "a number": lambda given: to_fraction(given) is not None,
    "a pair": lambda given: isinstance(given, (tuple, list)) and len(given) == 2,
}


def counts_from_parameters(
    columns: Mapping[str, Any], class_prior: Any, kinds: Mapping[str, Any] | None, label: str | None
) -> tuple[Schema, BayesCounts, Any]:
    """Return the schema, the counts that stand for what is stated, and the checked class prior."""
    reading = ParameterReader()
    keys = class_prior if isinstance(class_prior, Mapping) else _first_column(columns, reading)
    statements = _read_specifications(reading, columns, keys, kinds)
    classes = list(statements[0].by_class)
    prior = exact_class_prior(class_prior, classes, reading.owner)
    if class_prior != "uniform":
        class_prior = dict(zip(classes, prior, strict=True))
    rows = np.ones(len(classes), dtype=np.int64)
    return *_build_counts(reading, statements, rows, label), class_prior


def counts_from_tables(
    columns: Mapping[str, Any], class_counts: Any, kinds: Mapping[str, Any] | None, label: str | None
) -> tuple[Schema, BayesCounts]:
    """Return the schema and the counts of stated tables."""
    reading = CountTableReader()
    keys = class_counts if class_counts is not None else _first_column(columns, reading)
    statements = _read_specifications(reading, columns, keys, kinds)
    return _build_counts(reading, statements, _class_rows(reading, statements, class_counts), label)


def _first_column(columns: Mapping[str, Any], reading: SpecificationReader) -> Any:
    if not isinstance(columns, Mapping) or not columns:
        raise errors.parameter_error(
            reading.owner, "columns", "a mapping from column names, one at least", columns
        )
    return next(iter(columns.values()))


def _read_specifications(
    reading: SpecificationReader, columns: Mapping[str, Any], keys: Any, kinds: Mapping[str, Any] | None
) -> list[ColumnSpecification]:
    _first_column(columns, reading)
    beyond = [name for name in kinds or {} if name not in columns]
    if beyond:
        raise errors.unknown_column_error(
            beyond[0], columns, f"{reading.owner}: kinds name columns, but columns"
        )
    classes = _class_labels(keys, reading.owner)
    found = [
        _read_specification(reading, str(name), given, classes, kinds) for name, given in columns.items()
    ]
    _check_columns(found)
    return found


def _class_labels(keys: Any, owner: str) -> list[Any]:
    if not isinstance(keys, Mapping) or not keys:
        raise errors.parameter_error(owner, "columns", "{column: {class: what holds in it}}", keys)
    return encode_labels(Chunk({}, len(keys), labels=object_column(keys)))[1]


def _read_specification(
    reading: SpecificationReader, name: str, given: Any, classes: list[Any], kinds: Mapping[str, Any] | None
) -> ColumnSpecification:
    blank = ColumnSpecification(reading.owner, name, Category(), {})
    if not isinstance(given, Mapping) or set(given) != set(classes):
        raise blank.error(given, f"state each of the classes {errors.quote_names(classes)} and no other")
    by_class = {label: given[label] for label in classes}
    if kinds and name in kinds:
        wanted = to_kind(kinds[name], f"{reading.owner}: kinds[{name!r}]")
        possible = {_required_form(wanted, reading): wanted}
    else:
        possible = {shape: _DEFAULT_KINDS[shape] for shape in reading.forms}
    for shape, kind in possible.items():
        if all(_FORM_CHECKS[reading.forms[shape]](value) for value in by_class.values()):
            statement = replace(blank, kind=kind, by_class=by_class)
            return replace(statement, kind=reading.kind(statement))
    meant = reading.forms[next(iter(possible))] if len(possible) == 1 else reading.meaning
    raise blank.error(given, f"give every class the same: {meant}")


def _required_form(kind: Kind, reading: SpecificationReader) -> str:
    """Return the form in which a column of this kind is stated."""
    shape = FLAG if isinstance(kind, Flag) else NUMBER if isinstance(kind, Number) else CELLS
    if kind.name == "skip" or shape not in reading.forms or getattr(kind, "bins", None) is not None:
        raise errors.ParameterError(
            f"{reading.owner}: a column of kind {kind!r} cannot be stated. Give {reading.meaning}."
        )
    return shape


def _check_columns(statements: list[ColumnSpecification]) -> None:
    names = [name for each in statements for name in each.columns]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    owner = statements[0].owner
    if twice:
        raise errors.ParameterError(f"{owner}: the column {errors.quote_names(twice)} is stated twice.")
    groups = [each.name for each in statements if each.is_group]
    if len(groups) > 1:
        raise errors.ParameterError(
            f"{owner}: all count columns share one distribution over words, but {errors.quote_names(groups)} "
            f"state one each. State them together as one, or make them text."
        )


def _build_counts(
    reading: SpecificationReader, statements: list[ColumnSpecification], rows: CountArray, label: str | None
) -> tuple[Schema, BayesCounts]:
    of = {name: each for each in statements for name in each.columns}
    schema = Schema(list(of), [each.kind for each in of.values()], True, label)
    classes = list(statements[0].by_class)
    parts = [
        _part_counts(reading, list({of[name].name: of[name] for name in part.names}.values()), rows)
        for part in schema.column_groups
    ]
    declared = tuple(label for label, n in zip(classes, rows.tolist(), strict=True) if not n)
    return schema, BayesCounts(classes, rows, parts, declared).canonical()


def _part_counts(
    reading: SpecificationReader, statements: list[ColumnSpecification], rows: CountArray
) -> PartCounts:
    one = statements[0]
    if one.kind.family == "normal":
        return to_number_counts(reading.numbers(one))
    if isinstance(one.kind, Flag):
        present, known = reading.flags(statements, rows)
        return FlagCounts(CountTable([each.name for each in statements], present, True), known)
    if one.kind.family == "bernoulli":
        present, known = reading.words(one, rows)
        return FlagCounts(WordCountTable.of(one.names, present), known)
    if isinstance(one.kind, BagOfWordsKind):
        return WordCountTable.of(one.names, reading.cells(one))
    return CountTable(one.names, reading.cells(one), one.kind.shares_block)


def _class_rows(reading: CountTableReader, statements: list[ColumnSpecification], given: Any) -> CountArray:
    totals = {each.name: total for each in statements if (total := reading.totals(each)) is not None}
    if given is not None:
        blank = ColumnSpecification(reading.owner, "class_counts", Category(), {})
        rows: CountArray = to_count_array(
            [[blank.read_number(n, label, nonnegative_fraction, COUNT_RULE) for label, n in given.items()]]
        )[0]
    elif totals:
        rows = next(iter(totals.values()))
    else:
        must = "given where all columns hold words, {class: number of rows}, for words do not tell it"
        raise errors.parameter_error(reading.owner, "class_counts", must, given)
    for name, total in totals.items():
        # Known in fewer rows than there are means that values are missing, which must be said.
        if (total > rows).any() or (given is None and (total != rows).any()):
            classes = list(statements[0].by_class)
            raise errors.ParameterError(
                f"{reading.owner}: column {name!r} counts {dict(zip(classes, total.tolist(), strict=True))} "
                f"rows, but the classes have {dict(zip(classes, rows.tolist(), strict=True))}. Correct the "
                f"counts, or give class_counts= if values are missing."
            )
    return rows


INT64_LIMIT = 2**63


def scale_to_integers(rows: Sequence[Sequence[Fraction]]) -> CountArray:
    """Return every row times the common denominator of its numbers."""
    scaled = []
    for row in rows:
        below = math.lcm(*(value.denominator for value in row))
        scaled.append([value * below for value in row])
    return to_count_array(scaled if all(sum(row) < INT64_LIMIT for row in scaled) else rows)


def to_count_array(rows: Sequence[Sequence[Fraction]]) -> CountArray:
    """Return numbers as integers if all of them are whole, else as floats."""
    is_whole = all(value.denominator == 1 and value < INT64_LIMIT for row in rows for value in row)
    convert = int if is_whole else float
    return np.array([[convert(value) for value in row] for row in rows], np.int64 if is_whole else np.float64)


def to_number_counts(pairs: Sequence[tuple[float, float]]) -> NumberCounts:
    """Return the sums of one row per class that has the stated mean and spread.

    Σx = mean and Σx² = mean² + spread²; floats are dyadic, so both are exact.
    """
    first = [Fraction(mean) for mean, _ in pairs]
    second = [Fraction(mean) ** 2 + Fraction(spread) ** 2 for mean, spread in pairs]
    return NumberCounts(np.ones(len(pairs), dtype=np.int64), _to_exact_sum(first), _to_exact_sum(second))


def _to_exact_sum(values: Sequence[Fraction]) -> ExactSum:
    below = max(value.denominator for value in values)
    return ExactSum.of([int(value * below) for value in values], 1 - below.bit_length())
