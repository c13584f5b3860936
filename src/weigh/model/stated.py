"""Models from stated numbers, without any rows: probabilities, means, spreads, or counts.

A statement gives one column's numbers for every class. Its shape tells the column's kind: a mapping
from values is a category; a single probability, or a pair (present, known) of counts, is a flag; a
pair (mean, spread) is a number. `kinds` says otherwise where the shape does not tell, as for words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from weigh import errors
from weigh.features import Category, Flag, Kind, Number, Schema, Wordy, to_kind
from weigh.model.bayes_counts import BayesCounts, PartCounts, encode_labels
from weigh.model.counts import FlagCounts
from weigh.model.decision import stated_shares
from weigh.model.stated_numbers import to_number_counts, to_table
from weigh.model.statement import CELLS, COUNT, FLAG, NUMBER, Parameters, Reading, Statement, Tables, objects
from weigh.model.tally import Table, Tally
from weigh.model.word_tally import WordTally
from weigh.priors.exact import count, fraction
from weigh.source import Chunk

_GUESSES: dict[str, Kind] = {CELLS: Category(), FLAG: Flag(), NUMBER: Number()}
_FORMS: dict[str, Callable[[object], bool]] = {
    "a mapping from values": lambda given: isinstance(given, Mapping),
    "a number": lambda given: fraction(given) is not None,
    "a pair": lambda given: isinstance(given, (tuple, list)) and len(given) == 2,
}


def read_parameters(
    columns: Mapping[str, Any], class_prior: Any, kinds: Mapping[str, Any] | None, label: str | None
) -> tuple[Schema, BayesCounts, Any]:
    """Return the schema, the counts that stand for what is stated, and the checked class prior."""
    reading = Parameters()
    keys = class_prior if isinstance(class_prior, Mapping) else _first(columns, reading)
    statements = _statements(reading, columns, keys, kinds)
    classes = list(statements[0].by_class)
    prior = stated_shares(class_prior, classes, reading.owner)
    if class_prior != "uniform":
        class_prior = dict(zip(classes, prior, strict=True))
    rows = np.ones(len(classes), dtype=np.int64)
    return *_assembled(reading, statements, rows, label), class_prior


def read_counts(
    columns: Mapping[str, Any], class_counts: Any, kinds: Mapping[str, Any] | None, label: str | None
) -> tuple[Schema, BayesCounts]:
    """Return the schema and the counts of stated tables."""
    reading = Tables()
    keys = class_counts if class_counts is not None else _first(columns, reading)
    statements = _statements(reading, columns, keys, kinds)
    return _assembled(reading, statements, _class_rows(reading, statements, class_counts), label)


def _first(columns: Mapping[str, Any], reading: Reading) -> Any:
    if not isinstance(columns, Mapping) or not columns:
        raise errors.parameter(reading.owner, "columns", "a mapping from column names, one at least", columns)
    return next(iter(columns.values()))


def _statements(
    reading: Reading, columns: Mapping[str, Any], keys: Any, kinds: Mapping[str, Any] | None
) -> list[Statement]:
    _first(columns, reading)
    beyond = [name for name in kinds or {} if name not in columns]
    if beyond:
        raise errors.unknown_column(beyond[0], columns, f"{reading.owner}: kinds name columns, but columns")
    classes = _classes(keys, reading.owner)
    found = [_statement(reading, str(name), given, classes, kinds) for name, given in columns.items()]
    _check_columns(found)
    return found


def _classes(keys: Any, owner: str) -> list[Any]:
    if not isinstance(keys, Mapping) or not keys:
        raise errors.parameter(owner, "columns", "{column: {class: what holds in it}}", keys)
    return encode_labels(Chunk({}, len(keys), labels=objects(keys)))[1]


def _statement(
    reading: Reading, name: str, given: Any, classes: list[Any], kinds: Mapping[str, Any] | None
) -> Statement:
    blank = Statement(reading.owner, name, Category(), {})
    if not isinstance(given, Mapping) or set(given) != set(classes):
        raise blank.refuse(given, f"state each of the classes {errors.listing(classes)} and no other")
    by_class = {label: given[label] for label in classes}
    if kinds and name in kinds:
        wanted = to_kind(kinds[name], f"{reading.owner}: kinds[{name!r}]")
        possible = {_shape(wanted, reading): wanted}
    else:
        possible = {shape: _GUESSES[shape] for shape in reading.shapes}
    for shape, kind in possible.items():
        if all(_FORMS[reading.shapes[shape]](value) for value in by_class.values()):
            statement = replace(blank, kind=kind, by_class=by_class)
            return replace(statement, kind=reading.kind(statement))
    meant = reading.shapes[next(iter(possible))] if len(possible) == 1 else reading.meaning
    raise blank.refuse(given, f"give every class the same: {meant}")


def _shape(kind: Kind, reading: Reading) -> str:
    """Return the form in which a column of this kind is stated."""
    shape = FLAG if isinstance(kind, Flag) else NUMBER if isinstance(kind, Number) else CELLS
    if kind.name == "skip" or shape not in reading.shapes or getattr(kind, "bins", None) is not None:
        raise errors.ParameterError(
            f"{reading.owner}: a column of kind {kind!r} cannot be stated. Give {reading.meaning}."
        )
    return shape


def _check_columns(statements: list[Statement]) -> None:
    names = [name for each in statements for name in each.columns]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    owner = statements[0].owner
    if twice:
        raise errors.ParameterError(f"{owner}: the column {errors.listing(twice)} is stated twice.")
    groups = [each.name for each in statements if each.is_group]
    if len(groups) > 1:
        raise errors.ParameterError(
            f"{owner}: all count columns share one distribution over words, but {errors.listing(groups)} "
            f"state one each. State them together as one, or make them text."
        )


def _assembled(
    reading: Reading, statements: list[Statement], rows: Table, label: str | None
) -> tuple[Schema, BayesCounts]:
    of = {name: each for each in statements for name in each.columns}
    schema = Schema(list(of), [each.kind for each in of.values()], True, label)
    classes = list(statements[0].by_class)
    parts = [
        _part(reading, list({of[name].name: of[name] for name in part.names}.values()), rows)
        for part in schema.parts
    ]
    declared = tuple(label for label, n in zip(classes, rows.tolist(), strict=True) if not n)
    return schema, BayesCounts(classes, rows, parts, declared).canonical()


def _part(reading: Reading, statements: list[Statement], rows: Table) -> PartCounts:
    one = statements[0]
    if one.kind.family == "normal":
        return to_number_counts(reading.numbers(one))
    if isinstance(one.kind, Flag):
        present, known = reading.flags(statements, rows)
        return FlagCounts(Tally([each.name for each in statements], present, True), known)
    if one.kind.family == "bernoulli":
        present, known = reading.words(one, rows)
        return FlagCounts(WordTally.of(one.names, present), known)
    if isinstance(one.kind, Wordy):
        return WordTally.of(one.names, reading.cells(one))
    return Tally(one.names, reading.cells(one), one.kind.gathers)


def _class_rows(reading: Tables, statements: list[Statement], given: Any) -> Table:
    totals = {each.name: total for each in statements if (total := reading.totals(each)) is not None}
    if given is not None:
        blank = Statement(reading.owner, "class_counts", Category(), {})
        rows: Table = to_table([[blank.number(n, label, count, COUNT) for label, n in given.items()]])[0]
    elif totals:
        rows = next(iter(totals.values()))
    else:
        must = "given where all columns hold words, {class: number of rows}, for words do not tell it"
        raise errors.parameter(reading.owner, "class_counts", must, given)
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
