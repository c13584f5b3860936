"""Nested columns, whose values have named fields: each field becomes a column such as 'method.type'.

The fields take the place of their column, in their own order; those of dicts are in order of appearance.
Below `MAX_DEPTH` levels fields stay together, and lists of structs stay as they are; neither can be read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from weigh.source.values import array_from_list

MAX_DEPTH = 4

Path = tuple[str, ...]


def flatten_types(types: Iterable[tuple[str, Any]]) -> Iterator[tuple[Path, Any]]:
    """Yield the path and type of every Arrow field that is not a struct itself."""
    yield from _flatten_types((), types)


def _flatten_types(parent: Path, types: Iterable[tuple[str, Any]]) -> Iterator[tuple[Path, Any]]:
    for name, arrow_type in types:
        path = (*parent, name)
        if is_struct(arrow_type) and len(path) < MAX_DEPTH:
            yield from _flatten_types(path, _list_fields(arrow_type))
        else:
            yield path, arrow_type


def is_struct(arrow_type: Any) -> bool:
    """Whether an Arrow type has named fields."""
    return str(arrow_type).startswith("struct<") and bool(arrow_type.num_fields)


def _list_fields(arrow_type: Any) -> list[tuple[str, Any]]:
    return [(arrow_type.field(at).name, arrow_type.field(at).type) for at in range(arrow_type.num_fields)]


def nest_types(types: Mapping[Path, Any]) -> list[tuple[str, Any]]:
    """Return the columns of a file, structs with the wanted fields, from the paths and types of fields."""
    import pyarrow as pa

    fields: dict[str, Any] = {}
    for (name, *rest), arrow_type in types.items():
        if rest:
            fields.setdefault(name, {})[tuple(rest)] = arrow_type
        else:
            fields[name] = arrow_type
    return [
        (name, pa.struct(nest_types(each)) if isinstance(each, dict) else each)
        for name, each in fields.items()
    ]


def read_field(batch: Any, path: Path) -> Any:
    """Return the field of an Arrow batch or table at a path; it is missing where a struct around it is."""
    column = batch.column(path[0])
    if len(path) == 1:
        return column
    import pyarrow.compute as pc

    return pc.struct_field(column, list(path[1:]))


def flatten_array(name: str, values: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields of an Arrow array of structs."""
    import pyarrow as pa

    table = pa.table({name: values})
    for path, _ in flatten_types([(name, values.type)]):
        yield ".".join(path), read_field(table, path)


def flatten_dicts(name: str, values: NDArray[Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield an array of Python values, or one for each key if all values are dicts or missing."""
    yield from _flatten_dicts((name,), values)


def _flatten_dicts(path: Path, values: NDArray[Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    keys = _find_keys(values) if values.dtype.kind == "O" and len(path) < MAX_DEPTH else ()
    if not keys:
        yield ".".join(path), values
    for key in keys:
        column = [value.get(key) if isinstance(value, Mapping) else None for value in values]
        yield from _flatten_dicts((*path, str(key)), array_from_list(column))


def _find_keys(values: NDArray[Any]) -> Collection[Any]:
    """Return the keys of dicts in order of appearance; none if a value is neither a dict nor missing."""
    keys: dict[Any, None] = {}
    for value in values:
        if isinstance(value, Mapping):
            keys |= dict.fromkeys(value)
        elif value is not None and value == value:
            return ()
    return keys
