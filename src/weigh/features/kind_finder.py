"""Finding the kinds of columns from their types and first rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from weigh import errors
from weigh.features.columns import encode, is_gap, to_objects
from weigh.features.kinds import Category, Flag, Kind, Number
from weigh.features.text_kinds import Text, Tokens
from weigh.source.chunk import Coded, Column, Lists, Texts, is_arrow

FEWEST_NUMERALS = 4  # distinct ones, to speak of a column of numbers
MOST_LOOKED_AT = 200  # distinct values
MOST_CATEGORIES = 20  # integers with more distinct values than this are numbers


def find_kind(column: Column, name: str, number: Number) -> Kind:
    """Return the kind of a column from its type and its first rows.

    Booleans are flags; strings are categories, or text when most of them have several words and
    are distinct; floats are numbers; integers are numbers, or categories with few distinct
    values; lists of strings are tokens.
    """
    found = _storage(column)
    if found == "flag":
        return Flag()
    if found == "float":
        return number
    if found == "integer":
        return _kind_of_integers(column, name, number)
    if found == "string":
        return _kind_of_strings(column, name)
    if found == "list":
        return Tokens()
    if found == "nothing":
        raise errors.ColumnError(
            f"Column {name!r} has no values at all in the first rows, so its kind cannot be found. "
            f"Leave it out with columns={{{name!r}: 'skip'}}, or say its kind."
        )
    raise errors.ColumnError(
        f"Column {name!r} is of type {found}, which has no kind of its own. Leave it out with "
        f"columns={{{name!r}: 'skip'}}, or turn it into numbers or strings."
    )


def _storage(column: Column) -> str:
    if isinstance(column, Coded):
        return _object_storage(column.values)
    if isinstance(column, (Texts, Lists)):
        column = to_objects(column)
    if is_arrow(column):
        if column.null_count == len(column):
            return "nothing"
        return _arrow_storage(str(column.type))
    kind = column.dtype.kind
    if kind == "f":
        return "nothing" if np.isnan(column).all() else "float"
    if kind == "O":
        return _object_storage(column.tolist())
    return {"b": "flag", "i": "integer", "u": "integer", "U": "string"}.get(kind, str(column.dtype))


def _arrow_storage(name: str) -> str:
    if name.startswith("dictionary<values="):
        name = name.removeprefix("dictionary<values=").split(",")[0]
    if name == "bool":
        return "flag"
    if name.startswith(("int", "uint")):
        return "integer"
    if name.startswith(("double", "float", "halffloat", "decimal")):
        return "float"
    if name in ("string", "large_string", "string_view"):
        return "string"
    if name.startswith(("list<", "large_list<", "list_view<")) and "string" in name:
        return "list"
    return name


def _object_storage(values: list[Any]) -> str:
    types = set(map(type, values)) - {type(None)}
    if float in types and all(is_gap(v) for v in values if isinstance(v, float)):
        types.discard(float)
    if not types:
        return "nothing"
    if all(issubclass(t, (bool, np.bool_)) for t in types):
        return "flag"
    if all(issubclass(t, (bool, int, np.integer, np.bool_)) for t in types):
        return "integer"
    if all(issubclass(t, (bool, int, float, np.number, np.bool_)) for t in types):
        return "float"
    if all(issubclass(t, (list, tuple, set, frozenset, np.ndarray)) for t in types):
        return "list"
    if any(issubclass(t, str) for t in types):
        return "string"
    return next(iter(sorted(t.__name__ for t in types)))


def _kind_of_integers(column: Column, name: str, number: Number) -> Kind:
    if isinstance(column, Coded):
        return Category() if len(column.values) <= MOST_CATEGORIES else number
    if is_arrow(column):
        column = to_objects(column.drop_null())
    distinct = {value for value in encode(column, name)[1] if not is_gap(value)}
    return Category() if len(distinct) <= MOST_CATEGORIES else number


def _kind_of_strings(column: Column, name: str) -> Kind:
    codes, values = encode(column, name)
    _warn_of_odd_values(values, name)
    known = codes[codes >= 0]
    several = np.fromiter((_has_several_words(v) for v in values), dtype=bool, count=len(values))
    is_wordy = 2 * several[known].sum() > len(known)
    if 2 * len(values) <= len(known):
        if is_wordy and len(values) > MOST_LOOKED_AT:
            warnings.warn(
                f"Column {name!r} was taken for a category of {len(values):,} values or more, most of them "
                f"of several words. If that is running text, say columns={{{name!r}: 'text'}}.",
                errors.OddValues,
                stacklevel=2,
            )
        return Category()
    return Text() if is_wordy else Category()


def _has_several_words(value: Any) -> bool:
    return isinstance(value, str) and len(value.split(None, 2)) >= 2


def _warn_of_odd_values(values: list[Any], name: str) -> None:
    """Warn of a column that would hold numbers but for one or two words."""
    odd = [value for value in values[:MOST_LOOKED_AT] if not _is_numeral(value)]
    if 1 <= len(odd) <= 2 and len(values) >= FEWEST_NUMERALS + len(odd):
        warnings.warn(
            f"Column {name!r} holds numbers but for {errors.listing(odd)}, and was taken for a category. If "
            f"that means missing, say missing={odd!r}.",
            errors.OddValues,
            stacklevel=2,
        )


def _is_numeral(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
