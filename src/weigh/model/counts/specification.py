"""Models from given numbers: parse stated probabilities or counts into the counts of a naive Bayes model.

Probabilities are scaled to integers by their common denominator where these fit, so that they stay exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.columns import to_codes
from weigh.features.kind_registry import to_kind
from weigh.features.kinds import Category, Flag, Kind, Number
from weigh.features.schema import Schema
from weigh.features.text_kinds import BagOfWordsKind, Text, Tokens
from weigh.model.counts.bayes_counts import BayesCounts, GroupCounts, encode_labels
from weigh.model.counts.count_table import CountArray, CountTable, WordCountTable
from weigh.model.counts.crosstab import read_crosstabs
from weigh.model.counts.sufficient_statistics import ExactSum, FlagCounts, NumberCounts
from weigh.model.decision import exact_class_prior
from weigh.priors.exact import MAX_MAGNITUDE, nonnegative_fraction, to_fraction
from weigh.source.chunk import Chunk

SUM_TOLERANCE = Fraction(1, 10**9)  # for probabilities that sum to one up to rounding
CELLS, FLAG, NUMBER = "cells", "flag", "number"
PROBABILITY_RULE = "be a probability from 0 to 1"
COUNT_RULE = "be a count of 0 or more"
INT64_LIMIT = 2**63
NumberParser = Callable[[object], Fraction | None]


def counts_from_parameters(
    columns: Mapping[str, Any], class_prior: Any, kinds: Mapping[str, Any] | None, label: str | None
) -> tuple[Schema, BayesCounts, Any]:
    """Return the schema, counts that reproduce the given parameters, and the checked class prior."""
    reader = ParameterReader()
    keys = class_prior if isinstance(class_prior, Mapping) else _first_column(columns, reader)
    specs = _read_specifications(reader, columns, keys, kinds)
    classes = list(specs[0].by_class)
    prior = exact_class_prior(class_prior, classes, reader.owner)
    if class_prior != "uniform":
        class_prior = dict(zip(classes, prior, strict=True))
    rows = np.ones(len(classes), dtype=np.int64)
    return *_build_counts(reader, specs, rows, label), class_prior


def counts_from_tables(
    columns: Any, class_counts: Any, kinds: Any, label: str | None
) -> tuple[Schema, BayesCounts]:
    """Return the schema and the counts of the given tables."""
    reader = CountTableReader()
    columns, label = read_crosstabs(columns, label, reader.owner)
    if kinds is not None and not isinstance(kinds, Mapping) and isinstance(columns, Mapping):
        kinds = dict.fromkeys(columns, kinds)
    keys = class_counts if class_counts is not None else _first_column(columns, reader)
    specs = _read_specifications(reader, columns, keys, kinds)
    return _build_counts(reader, specs, _class_rows(reader, specs, class_counts), label)


@dataclass(frozen=True)
class ColumnSpecification:
    """What the user gave for one column: its kind, and the numbers of each class."""

    owner: str
    name: str
    kind: Kind
    by_class: dict[Any, Any]

    @property
    def is_group(self) -> bool:
        """Whether this specifies many count columns, one per word."""
        return self.kind.shares_block and self.kind.family == "multinomial"

    @property
    def columns(self) -> list[str]:
        """The columns of the table that this specifies."""
        return self.names if self.is_group else [self.name]

    @cached_property
    def names(self) -> list[Any]:
        """The levels or words that at least one class names."""
        names = list(dict.fromkeys(name for cells in self.by_class.values() for name in cells))
        if isinstance(self.kind, Category):
            return _check_levels(self, [*names, *(self.kind.levels or ())])
        self._check_words(names)
        return names

    def _check_words(self, words: list[Any]) -> None:
        if not words or not all(isinstance(word, str) for word in words):
            raise self.error(words, "name words, as strings")
        if isinstance(self.kind, Text):
            block: Any = self.kind.encode({self.name: object_column(words)}, [self.name], ())
            changed = sorted(set(words) - set(block.to_sparse().names))
            if changed:
                raise self.error(
                    changed, f"name words as {self.kind!r} reads them from a text, in lower case"
                )

    def cells(self, parse: NumberParser, rule: str) -> list[list[Fraction]]:
        """Return the numbers [classes, names]; a name that a class does not list has 0."""
        return [
            [self.read_number(cells.get(name, 0), label, parse, rule) for name in self.names]
            for label, cells in self.by_class.items()
        ]

    def read_number(self, value: object, label: Any, parse: NumberParser, rule: str) -> Fraction:
        """Parse and check one number of a class."""
        number = parse(value)
        if number is None:
            raise self.error(value, rule, label)
        return number

    def error(self, value: object, rule: str, label: Any = None) -> errors.ParameterError:
        """Return the error for a value that violates a rule."""
        where = f"columns[{self.name!r}]" + ("" if label is None else f"[{label!r}]")
        text = repr(value)
        text = text if len(text) <= 200 else text[:197] + "..."
        return errors.ParameterError(f"{self.owner}: {where} must {rule}, got {text}.")


class ParameterReader:
    """Reads probabilities, means and standard deviations."""

    owner = "BayesModel.from_parameters"
    forms: Mapping[str, str] = {CELLS: "a mapping from values", FLAG: "a number", NUMBER: "a pair"}
    expected = "a mapping from values to probabilities, one probability, or a pair (mean, spread)"

    def kind(self, spec: ColumnSpecification) -> Kind:
        """Return a kind for which nothing is estimated, pruned or floored."""
        kind = spec.kind
        if isinstance(kind, Category):
            return replace(kind, levels=tuple(spec.names))
        if isinstance(kind, Number):
            return Number(floor=0.0)
        return replace(kind, min_count=1) if isinstance(kind, (Text, Tokens)) else kind

    def cells(self, spec: ColumnSpecification) -> CountArray:
        """Return the scaled probabilities of levels or words; they must sum to one."""
        rows = spec.cells(_parse_probability, PROBABILITY_RULE)
        for (label, cells), row in zip(spec.by_class.items(), rows, strict=True):
            if abs(sum(row, Fraction(-1))) > SUM_TOLERANCE:
                raise spec.error(cells, f"sum to 1 (they sum to {float(sum(row)):.10g})", label)
        return scale_to_integers(rows)

    def flags(self, specs: Sequence[ColumnSpecification], rows: CountArray) -> tuple[CountArray, CountArray]:
        """Return the scaled probabilities of flags, and the scale."""
        columns = [
            [
                spec.read_number(value, label, _parse_probability, PROBABILITY_RULE)
                for label, value in spec.by_class.items()
            ]
            for spec in specs
        ]
        return _scale_with_total(zip(*columns, strict=True))

    def words(self, spec: ColumnSpecification, rows: CountArray) -> tuple[CountArray, CountArray]:
        """Return the scaled probabilities that words occur in a text, and the scale."""
        return _scale_with_total(spec.cells(_parse_probability, PROBABILITY_RULE))

    def numbers(self, spec: ColumnSpecification) -> list[tuple[float, float]]:
        """Return the mean and the standard deviation of each class."""
        rule = "be a pair (mean, spread) of finite numbers, the spread above 0"
        pairs = []
        for label, pair in spec.by_class.items():
            mean, spread = (float(spec.read_number(value, label, _parse_finite, rule)) for value in pair)
            if spread <= 0:
                raise spec.error(pair, rule, label)
            pairs.append((mean, spread))
        return pairs


class CountTableReader:
    """Reads tables of counts."""

    owner = "BayesModel.from_counts"
    forms: Mapping[str, str] = {CELLS: "a mapping from values", FLAG: "a pair"}
    expected = "a mapping from values to counts, or a pair (present, known) of a flag's counts"

    def kind(self, spec: ColumnSpecification) -> Kind:
        """Return the kind; levels without counts are declared, otherwise they would be dropped."""
        kind = spec.kind
        if isinstance(kind, Category) and not self.cells(spec).any(axis=0).all():
            return replace(kind, levels=tuple(spec.names))
        return kind

    def cells(self, spec: ColumnSpecification) -> CountArray:
        """Return the counts of levels or words."""
        return to_count_array(spec.cells(nonnegative_fraction, COUNT_RULE))

    def flags(self, specs: Sequence[ColumnSpecification], rows: CountArray) -> tuple[CountArray, CountArray]:
        """Return how often flags were present, and how often they were known."""
        pairs = [[_read_flag_counts(spec, label) for label in spec.by_class] for spec in specs]
        by_class = list(zip(*pairs, strict=True))
        present, known = ([[pair[k] for pair in row] for row in by_class] for k in (0, 1))
        return to_count_array(present), to_count_array(known)

    def words(self, spec: ColumnSpecification, rows: CountArray) -> tuple[CountArray, CountArray]:
        """Return the number of texts in which each word occurs, and the number of texts."""
        return self.cells(spec), rows[:, None]

    def totals(self, spec: ColumnSpecification) -> CountArray | None:
        """Return the rows per class in which the column is known; word counts do not determine it."""
        if spec.kind.family == "categorical":
            return np.asarray(self.cells(spec).sum(axis=1))
        return self.flags([spec], np.zeros(0))[1][:, 0] if isinstance(spec.kind, Flag) else None

    def numbers(self, spec: ColumnSpecification) -> list[tuple[float, float]]:
        """Raise an error: means and standard deviations are not counts."""
        raise spec.error(spec.by_class, f"give {self.expected}")


SpecificationReader = ParameterReader | CountTableReader

_DEFAULT_KINDS: dict[str, Kind] = {CELLS: Category(), FLAG: Flag(), NUMBER: Number()}
_FORM_CHECKS: dict[str, Callable[[object], bool]] = {
    "a mapping from values": lambda value: isinstance(value, Mapping),
    "a number": lambda value: to_fraction(value) is not None,
    "a pair": lambda value: isinstance(value, (tuple, list)) and len(value) == 2,
}


def _first_column(columns: Mapping[str, Any], reader: SpecificationReader) -> Any:
    if not isinstance(columns, Mapping) or not columns:
        raise errors.parameter_error(
            reader.owner, "columns", "a mapping from column names, one at least", columns
        )
    return next(iter(columns.values()))


def _read_specifications(
    reader: SpecificationReader, columns: Mapping[str, Any], keys: Any, kinds: Mapping[str, Any] | None
) -> list[ColumnSpecification]:
    _first_column(columns, reader)
    unknown = [name for name in kinds or {} if name not in columns]
    if unknown:
        raise errors.unknown_column_error(
            unknown[0], columns, f"{reader.owner}: kinds name columns, but columns"
        )
    classes = _class_labels(keys, reader.owner)
    specs = [_read_specification(reader, str(name), given, classes, kinds) for name, given in columns.items()]
    _check_columns(specs)
    return specs


def _class_labels(keys: Any, owner: str) -> list[Any]:
    if not isinstance(keys, Mapping) or not keys:
        raise errors.parameter_error(owner, "columns", "{column: {class: its parameters}}", keys)
    return encode_labels(Chunk({}, len(keys), labels=object_column(keys)), allows_fractions=True)[1]


def _read_specification(
    reader: SpecificationReader, name: str, given: Any, classes: list[Any], kinds: Mapping[str, Any] | None
) -> ColumnSpecification:
    empty = ColumnSpecification(reader.owner, name, Category(), {})
    if not isinstance(given, Mapping) or set(given) != set(classes):
        raise empty.error(given, f"have exactly the classes {errors.quote_names(classes)} as keys")
    by_class = {label: given[label] for label in classes}
    if kinds and name in kinds:
        kind = to_kind(kinds[name], f"{reader.owner}: kinds[{name!r}]")
        candidates = {_required_form(kind, reader): kind}
    else:
        candidates = {form: _DEFAULT_KINDS[form] for form in reader.forms}
    for form, kind in candidates.items():
        if all(_FORM_CHECKS[reader.forms[form]](value) for value in by_class.values()):
            spec = replace(empty, kind=kind, by_class=by_class)
            return replace(spec, kind=reader.kind(spec))
    expected = reader.forms[next(iter(candidates))] if len(candidates) == 1 else reader.expected
    raise empty.error(given, f"give every class the same: {expected}")


def _required_form(kind: Kind, reader: SpecificationReader) -> str:
    """Return the form in which the numbers of a column of this kind are given."""
    form = FLAG if isinstance(kind, Flag) else NUMBER if isinstance(kind, Number) else CELLS
    is_weighted = isinstance(kind, BagOfWordsKind) and kind.is_weighted
    if (
        kind.name == "skip"
        or is_weighted
        or form not in reader.forms
        or getattr(kind, "bins", None) is not None
    ):
        raise errors.ParameterError(
            f"{reader.owner}: a column of kind {kind!r} cannot be specified. Give {reader.expected}."
        )
    return form


def _check_columns(specs: list[ColumnSpecification]) -> None:
    names = [name for spec in specs for name in spec.columns]
    has_duplicates = len(set(names)) < len(names)
    duplicates = sorted({name for name in names if names.count(name) > 1}) if has_duplicates else []
    owner = specs[0].owner
    if duplicates:
        raise errors.ParameterError(f"{owner}: the column {errors.quote_names(duplicates)} is given twice.")
    groups = [spec.name for spec in specs if spec.is_group]
    if len(groups) > 1:
        raise errors.ParameterError(
            f"{owner}: all count columns share one distribution over words, but {errors.quote_names(groups)} "
            f"have one each. Combine them into one, or give them the kind text."
        )


def _build_counts(
    reader: SpecificationReader, specs: list[ColumnSpecification], rows: CountArray, label: str | None
) -> tuple[Schema, BayesCounts]:
    by_column = {name: spec for spec in specs for name in spec.columns}
    schema = Schema(list(by_column), [spec.kind for spec in by_column.values()], True, label)
    classes = list(specs[0].by_class)
    parts = [
        _group_counts(
            reader, list({by_column[name].name: by_column[name] for name in group.names}.values()), rows
        )
        for group in schema.column_groups
    ]
    declared = tuple(label for label, n in zip(classes, rows.tolist(), strict=True) if not n)
    return schema, BayesCounts(classes, rows, parts, declared).canonical()


def _group_counts(
    reader: SpecificationReader, specs: list[ColumnSpecification], rows: CountArray
) -> GroupCounts:
    first = specs[0]
    if first.kind.family == "normal":
        return to_number_counts(reader.numbers(first))
    if isinstance(first.kind, Flag):
        present, known = reader.flags(specs, rows)
        return FlagCounts(CountTable([spec.name for spec in specs], present, True), known)
    if first.kind.family == "bernoulli":
        present, known = reader.words(first, rows)
        return FlagCounts(WordCountTable.from_unsorted(first.names, present), known)
    if isinstance(first.kind, BagOfWordsKind):
        return WordCountTable.from_unsorted(first.names, reader.cells(first))
    return CountTable(first.names, reader.cells(first), first.kind.shares_block)


def _class_rows(reader: CountTableReader, specs: list[ColumnSpecification], class_counts: Any) -> CountArray:
    """Return the rows per class, from `class_counts` or from a column whose counts determine them."""
    totals = {spec.name: total for spec in specs if (total := reader.totals(spec)) is not None}
    if class_counts is not None:
        spec = ColumnSpecification(reader.owner, "class_counts", Category(), {})
        numbers = [spec.read_number(n, c, nonnegative_fraction, COUNT_RULE) for c, n in class_counts.items()]
        rows: CountArray = to_count_array([numbers])[0]
    elif totals:
        rows = next(iter(totals.values()))
    else:
        rule = "given as {class: number of rows}, because word counts do not determine the number of rows"
        raise errors.parameter_error(reader.owner, "class_counts", rule, class_counts)
    for name, total in totals.items():
        # Fewer known values than rows mean missing values; only class_counts can declare those.
        if (total > rows).any() or (class_counts is None and (total != rows).any()):
            classes = list(specs[0].by_class)
            raise errors.ParameterError(
                f"{reader.owner}: column {name!r} counts {dict(zip(classes, total.tolist(), strict=True))} "
                f"rows, but the classes have {dict(zip(classes, rows.tolist(), strict=True))}. Correct the "
                f"counts, or give class_counts= if values are missing."
            )
    return rows


def object_column(values: Iterable[Any]) -> Any:
    """Return values of any types as an object array."""
    items = list(values)
    column = np.empty(len(items), dtype=object)
    for i, value in enumerate(items):
        column[i] = value
    return column


def _read_flag_counts(spec: ColumnSpecification, label: Any) -> tuple[Fraction, Fraction]:
    pair = spec.by_class[label]
    present, known = (spec.read_number(n, label, nonnegative_fraction, COUNT_RULE) for n in pair)
    if present > known:
        raise spec.error(pair, "be (present, known) with present <= known", label)
    return present, known


def _parse_probability(value: object) -> Fraction | None:
    number = to_fraction(value)
    return number if number is not None and 0 <= number <= 1 else None


def _parse_finite(value: object) -> Fraction | None:
    number = to_fraction(value)
    return number if number is not None and abs(number) <= MAX_MAGNITUDE else None


def _check_levels(spec: ColumnSpecification, levels: list[Any]) -> list[Any]:
    codes = to_codes(object_column(levels), spec.name)
    if not levels or (codes.codes < 0).any():
        raise spec.error(levels, "name values, none of them missing")
    return list(codes.levels)


def scale_to_integers(rows: Sequence[Sequence[Fraction]]) -> CountArray:
    """Multiply each row by its common denominator; if the sums overflow int64, return floats unscaled."""
    scaled = []
    for row in rows:
        denominator = math.lcm(*(value.denominator for value in row))
        scaled.append([value * denominator for value in row])
    return to_count_array(scaled if all(sum(row) < INT64_LIMIT for row in scaled) else rows)


def _scale_with_total(rows: Iterable[Sequence[Fraction]]) -> tuple[CountArray, CountArray]:
    table = scale_to_integers([[*row, Fraction(1)] for row in rows])
    return table[:, :-1], table[:, -1:]


def to_count_array(rows: Sequence[Sequence[Fraction]]) -> CountArray:
    """Return an int64 array if all numbers are whole, otherwise float64."""
    is_whole = all(value.denominator == 1 and value < INT64_LIMIT for row in rows for value in row)
    convert = int if is_whole else float
    return np.array([[convert(value) for value in row] for row in rows], np.int64 if is_whole else np.float64)


def to_number_counts(pairs: Sequence[tuple[float, float]]) -> NumberCounts:
    """Return the sums of one pseudo-row per class with the given mean and standard deviation.

    Σx = mean and Σx² = mean² + deviation²; floats are dyadic, so both are exact.
    """
    sum_x = [Fraction(mean) for mean, _ in pairs]
    sum_xx = [Fraction(mean) ** 2 + Fraction(deviation) ** 2 for mean, deviation in pairs]
    return NumberCounts(np.ones(len(pairs), dtype=np.int64), _to_exact_sum(sum_x), _to_exact_sum(sum_xx))


def _to_exact_sum(values: Sequence[Fraction]) -> ExactSum:
    denominator = max(value.denominator for value in values)
    return ExactSum.from_integers(
        [int(value * denominator) for value in values], 1 - denominator.bit_length()
    )
